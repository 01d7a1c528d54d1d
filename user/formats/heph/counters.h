/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_HEPH_COUNTERS_H
#define D9_FORMATS_HEPH_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"

/* How far out of order packets of a stream may be and still count as arrived. */
#define HEPH_COUNTERS_WINDOW 64

/* Streams that are kept account of; what further ones lose is not noticed. */
#define HEPH_COUNTERS_STREAMS_MAX 65536

/* cnt packets of a stream, from the counter `first` on, are missing. 0, or -errno to give up. */
typedef int (*heph_counters_lost_fn)(void *ctx, uint32_t stream, uint32_t first, uint32_t cnt);

struct heph_counters_stream {
	uint32_t id;
	uint32_t head; /* the furthest counter so far */
	uint64_t seen; /* bit i: counter head - i has arrived */
	unsigned int known; /* bits that count */
	uint32_t run_first, run_cnt; /* missing, and perhaps more of the same to come */
};

/* {lost, ctx} is an empty one. */
struct heph_counters {
	heph_counters_lost_fn lost;
	void *ctx;
	struct hmap index; /* stream id to its place in v, plus one */
	struct heph_counters_stream *v;
	size_t cnt, cap;
	uint64_t lost_cnt, twice, restarts;
	uint64_t unwatched; /* packets of streams beyond the limit */
};

/* A packet of that stream with that counter. 0, or what lost() returned. */
int heph_counters_add(struct heph_counters *c, uint32_t stream, uint32_t counter);

/* No more packets: what has not arrived is lost. */
int heph_counters_finish(struct heph_counters *c);
void heph_counters_fini(struct heph_counters *c);

#endif /* D9_FORMATS_HEPH_COUNTERS_H */
