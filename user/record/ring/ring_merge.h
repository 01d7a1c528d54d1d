/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_RING_RING_MERGE_H
#define D9_RECORD_RING_RING_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_ring;
struct perf_side;
struct prof_rec;
struct ring;

/* The sink's answer for a record that it cannot use yet: the next pass starts with it. */
enum { RING_MERGE_LATER = 1 };

/* The consumer of the merged records; a non-zero return ends the pass. The records are borrowed. */
struct ring_merge_sink {
	int (*record)(void *ctx, const struct prof_rec *rec);
	int (*side)(void *ctx, const struct perf_side *side);
	void *ctx;
};

struct ring_merge;

/* Reads the given rings and process metadata rings, which must outlive it. Never fails. */
struct ring_merge *ring_merge_new(struct ring *rings, size_t ring_cnt, struct perf_ring **sides,
				  size_t side_cnt);
void ring_merge_free(struct ring_merge *m);

/*
 * Passes on, in order of time, all records older than mark (CLOCK_MONOTONIC, ns), or at most max records. An
 * unusable metadata record becomes PERF_SIDE_DAMAGED. A metadata record that the sink has refused for a second is
 * reported by PERF_SIDE_STALLED once per second. Returns the number of records, or the sink's result except
 * RING_MERGE_LATER.
 */
long ring_merge_pass(struct ring_merge *m, uint64_t mark, size_t max,
		     const struct ring_merge_sink *sink);
/* Whether the last pass ended at a record that the sink refused. */
bool ring_merge_waits(const struct ring_merge *m);
/* The time of the last record passed on; 0 before the first. */
uint64_t ring_merge_reached(const struct ring_merge *m);

#endif
