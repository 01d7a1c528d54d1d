/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_RANGES_H
#define D9_SYMBOL_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/resumable_sort.h"

struct budget;

/* Addresses [lo, hi) of `id`, which the caller chooses */
struct range {
	uint64_t lo, hi;
	uint64_t id;
	uint64_t rank; /* where ranges overlap, the lowest rank owns the address */
};

/* Addresses from start up to the next span's start belong to v[idx], or to no range. */
struct ranges_span {
	uint64_t start;
	size_t idx; /* SIZE_MAX: none */
};

/* Ranges that may overlap: all are added, then settled, then searched. {0} is a valid empty set. */
struct ranges {
	struct range *v;
	size_t cnt, cap;
	struct ranges_span *spans;
	size_t span_cnt, span_cap;

	/* state of settling */
	struct resumable_sort sort;
	size_t *heap; /* ranges that contain `at`, the owner first */
	size_t heap_cnt, heap_cap;
	size_t next;
	uint64_t at;
	bool sorted, settled;
};

/* Adds a range. Empty ranges are ignored. 0 or -ENOMEM. */
int ranges_add(struct ranges *r, uint64_t lo, uint64_t hi, uint64_t id, uint64_t rank,
	       struct budget *budget);

/*
 * Decides which range owns each address: the range of lowest rank; if equal, the range that starts
 * last, then the range added first. Call once after all are added. 0, -EAGAIN (call again), -ENOMEM
 * or -EDQUOT.
 */
int ranges_settle(struct ranges *r, struct budget *budget);

/* The range that owns addr, or NULL. */
const struct range *ranges_find(const struct ranges *r, uint64_t addr);

void ranges_free(struct ranges *r, struct budget *budget);

#endif /* D9_SYMBOL_RANGES_H */
