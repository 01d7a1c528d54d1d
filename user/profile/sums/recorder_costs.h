/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_RECORDER_COSTS_H
#define D9_PROFILE_SUMS_RECORDER_COSTS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/read/names.h"
#include "trace/read/trace.h"

enum recorder_costs_kind {
	RECORDER_COSTS_COPIES,
	RECORDER_COSTS_LISTS,
	RECORDER_COSTS_TABLES,
	RECORDER_COSTS_SYMBOLS,
	RECORDER_COSTS_KINDS,
};

/* What one process cost the recorder */
struct recorder_costs_row {
	uint32_t pid;
	uint32_t comm; /* string id, NAMES_NONE: not in the event */
	uint32_t part;
	uint64_t ns[RECORDER_COSTS_KINDS];
	uint64_t sum_ns;
};

enum { RECORDER_COSTS_MAX = 16, RECORDER_COSTS_SHOWN = 3 };

/* The most expensive processes of a recording; {0} is empty. */
struct recorder_costs {
	struct recorder_costs_row rows[RECORDER_COSTS_MAX]; /* most expensive first */
	size_t cnt;
};

/* Adds a TRACE_COST event; others change nothing. Memory: bounded, whatever the event has. */
void recorder_costs_add(struct recorder_costs *c, const struct trace *t, struct names *n,
			const struct trace_event *ev);
/* Name of the process, from the event or from any event that names one of its threads; NAMES_NONE: unknown. */
uint32_t recorder_costs_name(const struct names *n, const struct recorder_costs_row *row);
/* Number of rows to show. */
size_t recorder_costs_cnt(const struct recorder_costs *c);

#endif /* D9_PROFILE_SUMS_RECORDER_COSTS_H */
