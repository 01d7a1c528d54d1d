/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_GAPS_H
#define D9_PROFILE_SCHED_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gap {
	uint64_t from, to; /* inclusive */
};

/* Times during which events may be missing: sorted, disjoint. {0} is empty. */
struct gaps {
	struct gap *v;
	size_t cnt, cap;
};

/* Beyond this number, the two closest gaps are joined, which only makes a gap larger. */
#define GAPS_MAX 4096

/* Adds a gap and joins it with those it touches. Ignores a gap that ends before it starts. */
void gaps_add(struct gaps *g, uint64_t from, uint64_t to);
/* Whether the range from @from to @to, inclusive, overlaps a gap. */
bool gaps_touch(const struct gaps *g, uint64_t from, uint64_t to);
void gaps_fini(struct gaps *g);

#endif /* D9_PROFILE_SCHED_GAPS_H */
