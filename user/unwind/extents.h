/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_UNWIND_EXTENTS_H
#define D9_UNWIND_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct extent {
	uint32_t first, cnt;
};

/* Which of many equal places are free, as runs, ascending and apart. {0}: none. */
struct extents {
	struct extent *v;
	size_t cnt, cap;
	uint32_t free; /* places in all of them */
};

void extents_fini(struct extents *e);

/* Takes `cnt` places in one piece, the first that fit; false when no run is so long. */
bool extents_take(struct extents *e, uint32_t cnt, uint32_t *first);
/* Gives places back, or adds new ones. They must not be free. */
void extents_give(struct extents *e, uint32_t first, uint32_t cnt);

#endif /* D9_UNWIND_EXTENTS_H */
