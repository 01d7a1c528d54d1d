/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_UNWIND_EXTENTS_H
#define D9_UNWIND_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct extent {
	uint32_t first, cnt;
};

/* Free places out of many equal places, as ascending, separate runs. {0}: none. */
struct extents {
	struct extent *v;
	size_t cnt, cap;
	uint32_t free; /* number of free places */
};

void extents_fini(struct extents *e);

/* Allocates the first `cnt` consecutive free places; false if no run is long enough. */
bool extents_allocate(struct extents *e, uint32_t cnt, uint32_t *first);
/* Frees places, or adds new ones. They must not be free already. */
void extents_give(struct extents *e, uint32_t first, uint32_t cnt);

#endif /* D9_UNWIND_EXTENTS_H */
