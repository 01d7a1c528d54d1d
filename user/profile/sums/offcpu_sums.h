/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_OFFCPU_SUMS_H
#define D9_PROFILE_SUMS_OFFCPU_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"
#include "trace/read/trace.h"

enum { OFFCPU_SUMS_KINDS = 3, OFFCPU_SUMS_POWERS = 64, OFFCPU_SUMS_ROWS_MAX = 65536 };

/* Durations of one kind (enum prof_summary_kind): powers[k] were of 2^k up to 2^(k+1) ns. */
struct offcpu_sums_hist {
	uint64_t cnt, sum_ns, max_ns;
	uint64_t powers[OFFCPU_SUMS_POWERS];
};

/* What the threads of a process did, or of all processes of one name. */
struct offcpu_sums_row {
	uint32_t pid; /* TRACE_NONE: unknown, or of several */
	uint32_t comm; /* the last name; string id */
	uint32_t part;
	bool other; /* all those that there was no row for, when recording or here */
	uint64_t involuntary, unknown;
	struct offcpu_sums_hist hists[OFFCPU_SUMS_KINDS];
};

/* SchedSummary events, added up. Start with { .by_comm = ... }. */
struct offcpu_sums {
	bool by_comm; /* a row for each name and not for each process */
	struct hmap index; /* key -> row + 1 */
	struct offcpu_sums_row *rows;
	size_t cnt, cap;
	struct offcpu_sums_row all;
};

/* Takes an event of TRACE_SUMMARY. Whatever it holds, the row it adds is all that it can cost. */
void offcpu_sums_add(struct offcpu_sums *s, struct names *n, const struct trace *t,
		     const struct trace_event *ev);
/* Most first, by weight: of a row, what it is to be sorted by. */
void offcpu_sums_sort(struct offcpu_sums *s,
		      double (*weight)(const struct offcpu_sums_row *r, int order), int order);
void offcpu_sums_fini(struct offcpu_sums *s);

/* What the share @p (0 to 1) of all are not above, for certain: the end of its bucket, or the longest. */
uint64_t offcpu_sums_at_most(const struct offcpu_sums_hist *h, double p);

#endif /* D9_PROFILE_SUMS_OFFCPU_SUMS_H */
