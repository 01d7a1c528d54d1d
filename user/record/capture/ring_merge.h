/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_RING_MERGE_H
#define D9_RECORD_CAPTURE_RING_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_ring;
struct perf_side;
struct prof_rec;
struct ring;

/* What the sink says of a record that it has not taken: it comes again, first, in the next pass. */
enum { RING_MERGE_LATER = 1 };

/* Who takes what comes out; a non-zero return ends the pass. The records are borrowed. */
struct ring_merge_sink {
	int (*record)(void *ctx, const struct prof_rec *rec);
	int (*side)(void *ctx, const struct perf_side *side);
	void *ctx;
};

struct ring_merge;

/* Reads the rings and the side-band rings given, which must outlive it. Never fails. */
struct ring_merge *ring_merge_new(struct ring *rings, size_t ring_cnt, struct perf_ring **sides,
				  size_t side_cnt);
void ring_merge_free(struct ring_merge *m);

/*
 * Hands over, in order of time, all that is older than mark (CLOCK_MONOTONIC, ns), or max records
 * at most. A side-band record that cannot be used is handed over as PERF_SIDE_DAMAGED, and one that
 * could not be handed over for a second is told of once a second by PERF_SIDE_STALLED. Returns how
 * many there were, or what the sink returned, but for RING_MERGE_LATER.
 */
long ring_merge_pass(struct ring_merge *m, uint64_t mark, size_t max,
		     const struct ring_merge_sink *sink);
/* Whether the last pass ended at a record that was not taken. */
bool ring_merge_waits(const struct ring_merge *m);
/* The time of the last record that was handed over, 0 before the first. */
uint64_t ring_merge_reached(const struct ring_merge *m);

#endif
