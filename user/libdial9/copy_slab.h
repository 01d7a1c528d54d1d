/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_COPY_SLAB_H
#define D9_LIBDIAL9_COPY_SLAB_H

#include <stddef.h>
#include <stdint.h>

/* Copies of at most this many bytes share slabs. */
#define COPY_SLAB_SHARED 1024

/* Memory of one or more copies. Any thread may release one of them. */
struct copy_slab;

/* The slab that is being filled; all zero: none */
struct copy_slabs {
	struct copy_slab *slab;
	uint8_t *pos, *end; /* room, at a multiple of 8 */
	int cnt; /* copies in the slab so far, released or not */
};

/* Makes room for sz bytes, at most COPY_SLAB_SHARED. 0 or -ENOMEM. */
int copy_slab_reserve(struct copy_slabs *s, size_t sz);

/* Starts a slab of sz bytes, any number. There must be none. 0 or -ENOMEM. */
int copy_slab_reserve_alone(struct copy_slabs *s, size_t sz);

/* The room up to pos is a copy now, for one copy_slab_put() of s->slab. */
static inline void copy_slab_commit(struct copy_slabs *s, uint8_t *pos)
{
	s->pos = pos;
	s->cnt++;
}

/* Stops filling the slab; it is freed with its last copy. */
void copy_slab_close(struct copy_slabs *s);

/* Releases one copy of a slab. */
void copy_slab_put(struct copy_slab *slab);

#endif
