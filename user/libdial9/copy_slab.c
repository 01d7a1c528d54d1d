// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory for copies that are released one by one, in any order and by any thread. It does not know
 * what they are.
 *
 * Copies fill a slab one after the other. If all of them are released by the time it is full, it is
 * filled again. So a program that soon releases its copies needs no allocation for them. Slabs are
 * small, because a copy that is kept keeps its whole slab.
 *
 * While a slab is filled, its reference count is far above the number of its copies. So adding a
 * copy needs no atomic operation, and the count reaches 0 only after the slab is closed.
 */
#include "copy_slab.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define SLAB_SZ 4096 /* of a shared one */
#define OPEN (1 << 30) /* references of a slab without copies */

struct copy_slab {
	int refs; /* atomic */
	uint64_t data[];
};

/* Whether these were the last references. */
static bool drop_refs(struct copy_slab *slab, int cnt)
{
	return !__atomic_sub_fetch(&slab->refs, cnt, __ATOMIC_ACQ_REL);
}

void copy_slab_put(struct copy_slab *slab)
{
	if (drop_refs(slab, 1))
		free(slab);
}

void copy_slab_close(struct copy_slabs *s)
{
	if (s->slab && drop_refs(s->slab, OPEN - s->cnt))
		free(s->slab);
	*s = (struct copy_slabs){ 0 };
}

static void open_slab(struct copy_slabs *s, struct copy_slab *slab, size_t sz)
{
	slab->refs = OPEN;
	s->slab = slab;
	s->pos = (uint8_t *)slab->data;
	s->end = s->pos + sz;
	s->cnt = 0;
}

int copy_slab_reserve_alone(struct copy_slabs *s, size_t sz)
{
	struct copy_slab *slab = malloc(sizeof(*slab) + sz);

	if (!slab)
		return -ENOMEM;
	open_slab(s, slab, sz);
	return 0;
}

int copy_slab_reserve(struct copy_slabs *s, size_t sz)
{
	const size_t room = SLAB_SZ - sizeof(struct copy_slab);
	struct copy_slab *slab = s->slab;

	if (slab && (size_t)(s->end - s->pos) >= sz)
		return 0;
	if (slab && drop_refs(slab, OPEN - s->cnt)) {
		open_slab(s, slab, room);
		return 0;
	}
	*s = (struct copy_slabs){ 0 };
	return copy_slab_reserve_alone(s, room);
}
