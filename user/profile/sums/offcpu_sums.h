/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_OFFCPU_SUMS_H
#define D9_PROFILE_SUMS_OFFCPU_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"
#include "trace/read/trace.h"

enum { OFFCPU_SUMS_KINDS = 3, OFFCPU_SUMS_POWERS = 64, OFFCPU_SUMS_ROWS_MAX = 65536 };

/* Durations of one kind (enum prof_summary_kind): powers[k] counts 2^k up to 2^(k+1) ns. */
struct offcpu_sums_hist {
	uint64_t cnt, sum_ns, max_ns;
	uint64_t powers[OFFCPU_SUMS_POWERS];
};

/* Sums of a process, or of all processes of one name. */
struct offcpu_sums_row {
	uint32_t pid; /* TRACE_NONE: unknown or several */
	uint32_t comm; /* the last name; string id */
	uint32_t part;
	bool other; /* everything without a row of its own, in the recorder or here */
	uint64_t involuntary, unknown;
	struct offcpu_sums_hist hists[OFFCPU_SUMS_KINDS];
};

/* The sum of SchedSummary events. Start with { .by_comm = ... }. */
struct offcpu_sums {
	bool by_comm; /* one row per name instead of per process */
	struct hmap index; /* key -> row + 1 */
	struct offcpu_sums_row *rows;
	size_t cnt, cap;
	struct offcpu_sums_row all;
};

/* Adds a TRACE_SUMMARY event. Memory: at most one row, whatever the event has. */
void offcpu_sums_add(struct offcpu_sums *s, struct names *n, const struct trace *t,
		     const struct trace_event *ev);
/* Sorts by @weight, largest first. */
void offcpu_sums_sort(struct offcpu_sums *s,
		      double (*weight)(const struct offcpu_sums_row *r, int order), int order);
void offcpu_sums_fini(struct offcpu_sums *s);

/* An upper bound of the quantile @p (0 to 1): the end of its bucket, or the maximum. */
uint64_t offcpu_sums_at_most(const struct offcpu_sums_hist *h, double p);

#endif /* D9_PROFILE_SUMS_OFFCPU_SUMS_H */
