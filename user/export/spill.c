// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records by list in a temporary file. Owns that file, which has blocks of one list each, one behind the
 * other as they became full, and for each list where its blocks are and the block that is not full yet,
 * which grows with what is in it: most lists are short.
 */
#include "export/spill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"

/* A list begins with room for so many records. */
#define FIRST_ROOM 2

struct list {
	uint32_t *blocks; /* in the file */
	size_t block_cnt, block_cap;
	char *last; /* NULL: nothing yet */
	uint32_t cnt, room; /* records in it, and for how many it has room */
};

struct spill {
	int fd, err;
	size_t record_sz, per_block;
	uint32_t block_cnt;
	struct list *lists;
	size_t list_cap;
};

struct spill *spill_new(size_t record_sz)
{
	struct spill *s = xcalloc(1, sizeof(*s));

	s->record_sz = record_sz;
	s->per_block = SPILL_BLOCK / record_sz;
	s->fd = -1;
	return s;
}

void spill_free(struct spill *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->list_cap; i++) {
		free(s->lists[i].blocks);
		free(s->lists[i].last);
	}
	free(s->lists);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

int spill_error(const struct spill *s)
{
	return s->err;
}

/* Opened when it is needed: most exports fit into the blocks of their lists. */
static void write_block(struct spill *s, struct list *l)
{
	ssize_t n;

	if (s->fd < 0 && !s->err)
		s->fd = file_temp();
	if (s->fd < 0 && !s->err)
		s->err = s->fd;
	if (s->err)
		return;
	n = pwrite(s->fd, l->last, SPILL_BLOCK, (off_t)s->block_cnt * SPILL_BLOCK);
	if (n != SPILL_BLOCK) {
		s->err = n < 0 ? -errno : -ENOSPC;
		return;
	}
	l->blocks = array_reserve(l->blocks, &l->block_cap, l->block_cnt + 1, sizeof(*l->blocks));
	l->blocks[l->block_cnt++] = s->block_cnt++;
}

/* Of a whole block only when the list has that much. */
static void make_room(const struct spill *s, struct list *l)
{
	l->room = l->room ? 2 * l->room : FIRST_ROOM;
	if (l->room > s->per_block)
		l->room = (uint32_t)s->per_block;
	l->last = xrealloc(l->last, l->room == s->per_block ? SPILL_BLOCK : l->room * s->record_sz);
}

void spill_add(struct spill *s, uint32_t list, const void *record)
{
	struct list *l;

	s->lists = array_reserve(s->lists, &s->list_cap, (size_t)list + 1, sizeof(*s->lists));
	l = &s->lists[list];
	if (l->cnt == s->per_block) {
		write_block(s, l);
		l->cnt = 0;
	}
	if (l->cnt == l->room)
		make_room(s, l);
	memcpy(l->last + l->cnt++ * s->record_sz, record, s->record_sz);
}

void spill_each(struct spill *s, uint32_t list, void (*fn)(void *ctx, const void *record),
		void *ctx)
{
	const struct list *l = list < s->list_cap ? &s->lists[list] : NULL;
	char block[SPILL_BLOCK];

	for (size_t b = 0; l && b < l->block_cnt; b++) {
		if (pread(s->fd, block, SPILL_BLOCK, (off_t)l->blocks[b] * SPILL_BLOCK) !=
		    SPILL_BLOCK) {
			s->err = s->err ? s->err : -EIO;
			return;
		}
		for (size_t i = 0; i < s->per_block; i++)
			fn(ctx, block + i * s->record_sz);
	}
	for (size_t i = 0; l && i < l->cnt; i++)
		fn(ctx, l->last + i * s->record_sz);
}
