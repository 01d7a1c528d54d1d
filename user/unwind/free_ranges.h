/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_UNWIND_FREE_RANGES_H
#define D9_UNWIND_FREE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct free_range {
	uint32_t first, cnt;
};

/* Free places out of many equal places, as ascending, separate runs. {0}: none. */
struct free_ranges {
	struct free_range *v;
	size_t cnt, cap;
	uint32_t free; /* number of free places */
};

void free_ranges_fini(struct free_ranges *e);

/* Allocates the first `cnt` consecutive free places; false if no run is long enough. */
bool free_ranges_allocate(struct free_ranges *e, uint32_t cnt, uint32_t *first);
/* Frees places, or adds new ones. They must not be free already. */
void free_ranges_add(struct free_ranges *e, uint32_t first, uint32_t cnt);

#endif /* D9_UNWIND_FREE_RANGES_H */
