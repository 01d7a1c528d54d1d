// SPDX-License-Identifier: BSD-2-Clause
/*
 * The annotations of a type's fields, as far as the stream has been read.
 *
 * Stores the bytes of the entries consecutively, as in frames. So reading them uses the same
 * iterator as a frame, and a decoder whose caller ignores them pays for a copy only.
 */
#include "notes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dial9.h"
#include "wire.h"

#define CAP_MIN 64

void notes_fini(struct notes *n)
{
	free(n->data);
	*n = (struct notes){ 0 };
}

/* Doubles the capacity if `room` allows it. */
static int grow(struct notes *n, size_t sz, size_t *room)
{
	size_t cap = n->cap ? n->cap : CAP_MIN;
	uint8_t *data;

	while (cap < sz)
		cap = cap > SIZE_MAX / 2 ? sz : cap * 2;
	if (cap - n->cap > *room)
		cap = sz;
	if (cap - n->cap > *room)
		return -E2BIG;
	data = realloc(n->data, cap);
	if (!data)
		return -ENOMEM;
	*room -= cap - n->cap;
	n->data = data;
	n->cap = cap;
	return 0;
}

int notes_add(struct notes *n, const uint8_t *entries, size_t sz, uint16_t cnt, size_t *room)
{
	int err = 0;

	if (!cnt)
		return 0;
	if (sz > SIZE_MAX - n->sz || cnt > UINT32_MAX - n->cnt)
		return -E2BIG;
	if (sz > n->cap - n->sz)
		err = grow(n, n->sz + sz, room);
	if (err)
		return err;
	memcpy(n->data + n->sz, entries, sz);
	n->sz += sz;
	n->cnt += cnt;
	return 0;
}

void notes_iter(const struct notes *n, struct dial9_iter *out)
{
	*out = (struct dial9_iter){ n->data, n->data, n->cnt, WIRE_ANNOTATIONS, 0 };
	if (n->sz)
		out->end += n->sz;
}
