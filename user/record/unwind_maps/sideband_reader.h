/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_SIDEBAND_READER_H
#define D9_RECORD_UNWIND_MAPS_SIDEBAND_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_ring;
struct perf_side;

/*
 * The side-band as it comes, for what cannot wait until the drain has come to that time: in order of time
 * across rings, as far as what is there allows it.
 */
struct sideband_reader;

/* The rings are borrowed. -errno when there is no descriptor to be had. */
int sideband_reader_new(struct perf_ring **sides, size_t cnt, struct sideband_reader **out);
void sideband_reader_free(struct sideband_reader *l);

/* Readable when records came since it was last polled. Stays the lookout's. */
int sideband_reader_fd(const struct sideband_reader *l);
/*
 * Hands over at most max records, damaged ones as PERF_SIDE_DAMAGED. Returns how many. *more: there are
 * others, or some of the last moment, which may be overtaken by those that are still under way.
 */
size_t sideband_reader_pass(struct sideband_reader *l, size_t max,
			    void (*fn)(void *ctx, const struct perf_side *side), void *ctx,
			    bool *more);
/* Hands over what is held back up to a time: before others give what came behind it. */
void sideband_reader_pass_held(struct sideband_reader *l, uint64_t until,
			       void (*fn)(void *ctx, const struct perf_side *side), void *ctx);

#endif
