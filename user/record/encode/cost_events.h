/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_ENCODE_COST_EVENTS_H
#define D9_RECORD_ENCODE_COST_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct emit;
struct tasks;

enum { COST_EVENTS_MAX = 3 };

/* What was written last. */
struct cost_events {
	struct {
		uint32_t pid;
		uint64_t ns;
	} written[COST_EVENTS_MAX];
};

/*
 * Writes the processes that cost the recorder most: all of them at the end of a segment, otherwise those whose cost
 * has grown. 0 or -errno.
 */
int cost_events_write(struct cost_events *c, struct tasks *tasks, struct emit *emit, uint64_t ts,
		      bool all);

#endif
