/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_HEPH_OPEN_SPANS_H
#define D9_FORMATS_HEPH_OPEN_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/hmap.h"

/* The most spans that are open at one time, and bytes of their attributes. */
#define HEPH_SPAN_MAX 65536
#define HEPH_SPAN_BYTES_MAX (64u << 20)

/* A span that has started: all but its end. */
struct heph_span {
	bool is_poll;
	uint64_t worker, id; /* what its end is known by; of polls only the worker */
	uint64_t start_ns;
	uint32_t stream;
	uint64_t substream;
	struct buf desc, attrs; /* attrs encoded */
	struct heph_span *below; /* same bucket, started earlier */
	struct heph_span *prev, *next; /* in the order of their starts */
};

/* {0} is empty. */
struct heph_spans {
	struct hmap index;
	struct heph_span *first, *last;
	size_t cnt, bytes;
};

/* A new open span, which the caller fills; NULL when too many are open. */
struct heph_span *heph_span_add(struct heph_spans *s, bool is_poll, uint64_t worker, uint64_t id);

/* Call once its buffers are filled. */
void heph_span_weigh(struct heph_spans *s, const struct heph_span *span);

/*
 * Takes out the youngest that this end is for; NULL when there is none. Free with heph_span_free().
 */
struct heph_span *heph_span_remove(struct heph_spans *s, bool is_poll, uint64_t worker,
				   uint64_t id);

/*
 * At the end of the trace: takes out the oldest of all, NULL when there is none. No _take() after
 * this.
 */
struct heph_span *heph_span_shift(struct heph_spans *s);

void heph_span_free(struct heph_span *span);

/* Frees all that is open. */
void heph_span_fini(struct heph_spans *s);

#endif /* D9_FORMATS_HEPH_OPEN_SPANS_H */
