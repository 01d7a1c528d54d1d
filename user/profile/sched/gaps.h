/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_GAPS_H
#define D9_PROFILE_SCHED_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gap {
	uint64_t from, to; /* both ends belong to it */
};

/* Times during which something may be missing: sorted, apart from each other. {0} is empty. */
struct gaps {
	struct gap *v;
	size_t cnt, cap;
};

/* Beyond so many the two that lie closest become one, which only widens doubt. */
#define GAPS_MAX 4096

/* Joins what it touches; one that ends before it begins is passed over. */
void gaps_add(struct gaps *g, uint64_t from, uint64_t to);
/* Whether the time from one to the other, ends included, meets a gap. */
bool gaps_touch(const struct gaps *g, uint64_t from, uint64_t to);
void gaps_fini(struct gaps *g);

#endif /* D9_PROFILE_SCHED_GAPS_H */
