/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_RANGES_H
#define D9_SYMBOL_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses [lo, hi) that belong to `id`, a number of the owner's. */
struct range {
	uint64_t lo, hi;
	uint64_t max_hi; /* the largest hi up to and including this one, in sorted order */
	uint64_t id;
};

/* Ranges that may overlap, sorted once and then asked. {0} is a valid empty set. */
struct ranges {
	struct range *v;
	size_t cnt, cap;
};

/* Empty ranges are ignored. */
void ranges_add(struct ranges *r, uint64_t lo, uint64_t hi, uint64_t id);
void ranges_sort(struct ranges *r);
void ranges_free(struct ranges *r);

/*
 * The ranges that contain addr, from the one that starts last to the one that starts first: begin
 * with *pos = SIZE_MAX, NULL at the end. Gives up after a bounded number of steps, which only a
 * file made to overlap can reach.
 */
const struct range *ranges_next(const struct ranges *r, uint64_t addr, size_t *pos);

/* The smallest range that contains addr; of equals the one added first; NULL when none does. */
const struct range *ranges_smallest(const struct ranges *r, uint64_t addr);

#endif /* D9_SYMBOL_RANGES_H */
