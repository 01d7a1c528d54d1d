/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_SUMMED_H
#define D9_PROFILE_SUMS_SUMMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"
#include "trace/read/trace.h"

enum { SUMMED_KINDS = 3, SUMMED_POWERS = 64, SUMMED_ROWS_MAX = 65536 };

/* Durations of one kind (enum prof_summary_kind): powers[k] were of 2^k up to 2^(k+1) ns. */
struct summed_hist {
	uint64_t cnt, sum_ns, max_ns;
	uint64_t powers[SUMMED_POWERS];
};

/* What the threads of a process did, or of all processes of one name. */
struct summed_row {
	uint32_t pid; /* TRACE_NONE: unknown, or of several */
	uint32_t comm; /* the last name; string id */
	uint32_t part;
	bool other; /* all those that there was no row for, when recording or here */
	uint64_t involuntary, unknown;
	struct summed_hist hists[SUMMED_KINDS];
};

/* SchedSummary events, added up. Start with { .by_comm = ... }. */
struct summed {
	bool by_comm; /* a row for each name and not for each process */
	struct hmap index; /* key -> row + 1 */
	struct summed_row *rows;
	size_t cnt, cap;
	struct summed_row all;
};

/* Takes an event of TRACE_SUMMARY. Whatever it holds, the row it adds is all that it can cost. */
void summed_add(struct summed *s, struct names *n, const struct trace *t,
		const struct trace_event *ev);
/* Most first, by weight: of a row, what it is to be sorted by. */
void summed_sort(struct summed *s, double (*weight)(const struct summed_row *r, int order),
		 int order);
void summed_fini(struct summed *s);

/* What the share @p (0 to 1) of all are not above, for certain: the end of its bucket, or the longest. */
uint64_t summed_at_most(const struct summed_hist *h, double p);

#endif /* D9_PROFILE_SUMS_SUMMED_H */
