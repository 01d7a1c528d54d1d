// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lists of records in a temporary file. Owns that file, which has blocks of complete records of one
 * list each, in the order in which they became full. For each list it keeps the positions of its
 * blocks and the last block, which is not full yet. That block grows as needed, because most lists
 * are short.
 */
#include "export/temp_lists.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"

/* initial capacity of a list in bytes */
#define FIRST_ROOM 128u

/* Before each record, which begins at a multiple of 8; 0 ends a block that is not full. */
struct head {
	uint64_t sz;
};

struct list {
	uint32_t *blocks; /* in the file */
	size_t block_cnt, block_cap;
	char *last; /* NULL: nothing yet */
	uint32_t used, room; /* bytes used, and capacity */
};

struct temp_lists {
	int fd, err;
	uint32_t block_cnt;
	struct list *lists;
	size_t list_cap;
};

struct temp_lists *temp_lists_new(void)
{
	struct temp_lists *s = xcalloc(1, sizeof(*s));

	s->fd = -1;
	return s;
}

void temp_lists_free(struct temp_lists *s)
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

int temp_lists_error(const struct temp_lists *s)
{
	return s->err;
}

/* Opens the file on first use: most exports fit into the blocks in memory. */
static void write_block(struct temp_lists *s, struct list *l)
{
	ssize_t n;

	if (s->fd < 0 && !s->err)
		s->fd = file_temp();
	if (s->fd < 0 && !s->err)
		s->err = s->fd;
	if (s->err)
		return;
	n = pwrite(s->fd, l->last, TEMP_LISTS_BLOCK, (off_t)s->block_cnt * TEMP_LISTS_BLOCK);
	if (n != TEMP_LISTS_BLOCK) {
		s->err = n < 0 ? -errno : -ENOSPC;
		return;
	}
	l->blocks = array_reserve(l->blocks, &l->block_cap, l->block_cnt + 1, sizeof(*l->blocks));
	l->blocks[l->block_cnt++] = s->block_cnt++;
}

static void make_room(struct list *l, uint32_t need)
{
	if (need <= l->room)
		return;
	l->room = l->room ?: FIRST_ROOM;
	while (l->room < need)
		l->room *= 2;
	l->last = xrealloc(l->last, l->room);
}

static void end_block(struct temp_lists *s, struct list *l)
{
	make_room(l, TEMP_LISTS_BLOCK);
	memset(l->last + l->used, 0, TEMP_LISTS_BLOCK - l->used);
	write_block(s, l);
	l->used = 0;
}

void temp_lists_add(struct temp_lists *s, uint32_t list, const void *record, size_t sz)
{
	const struct head head = { sz };
	const uint32_t whole = (uint32_t)(sizeof(head) + (sz + 7) / 8 * 8);
	struct list *l;

	s->lists = array_reserve(s->lists, &s->list_cap, (size_t)list + 1, sizeof(*s->lists));
	l = &s->lists[list];
	if (l->used + whole > TEMP_LISTS_BLOCK)
		end_block(s, l);
	make_room(l, l->used + whole);
	memcpy(l->last + l->used, &head, sizeof(head));
	memcpy(l->last + l->used + sizeof(head), record, sz);
	l->used += whole;
}

static void each_of(const char *block, uint32_t used,
		    void (*fn)(void *ctx, const void *record, size_t sz), void *ctx)
{
	struct head head;

	for (uint32_t at = 0; at + sizeof(head) < used; at += (uint32_t)(head.sz + 7) / 8 * 8) {
		memcpy(&head, block + at, sizeof(head));
		if (!head.sz)
			return;
		at += (uint32_t)sizeof(head);
		fn(ctx, block + at, head.sz);
	}
}

void temp_lists_each(struct temp_lists *s, uint32_t list,
		     void (*fn)(void *ctx, const void *record, size_t sz), void *ctx)
{
	const struct list *l = list < s->list_cap ? &s->lists[list] : NULL;
	_Alignas(struct head) char block[TEMP_LISTS_BLOCK];

	for (size_t b = 0; l && b < l->block_cnt; b++) {
		if (pread(s->fd, block, TEMP_LISTS_BLOCK, (off_t)l->blocks[b] * TEMP_LISTS_BLOCK) !=
		    TEMP_LISTS_BLOCK) {
			s->err = s->err ? s->err : -EIO;
			return;
		}
		each_of(block, TEMP_LISTS_BLOCK, fn, ctx);
	}
	if (l && l->last)
		each_of(l->last, l->used, fn, ctx);
}
