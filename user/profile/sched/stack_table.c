// SPDX-License-Identifier: BSD-2-Clause
/* Distinct stacks by number. Owns the frames; does not interpret them. */
#include "profile/sched/stack_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static bool row_is(const struct stack_table *t, uintptr_t at, const uint64_t *frames, uint32_t cnt)
{
	const struct stack_table_row *row = &t->rows[at - 1];

	return row->len == cnt &&
	       (!cnt || !memcmp(t->arena + row->at, frames, cnt * sizeof(*frames)));
}

uint32_t stack_table_add(struct stack_table *t, const uint64_t *frames, uint32_t cnt)
{
	uintptr_t at;
	uint64_t h;

	if (cnt > STACK_TABLE_DEPTH_MAX)
		cnt = STACK_TABLE_DEPTH_MAX;
	h = hash_bytes(frames, cnt * sizeof(*frames));
	for (; (at = (uintptr_t)hmap_get(&t->index, h)); h++)
		if (row_is(t, at, frames, cnt))
			return (uint32_t)at - 1;
	t->arena = array_reserve(t->arena, &t->arena_cap, t->arena_len + cnt, sizeof(*t->arena));
	if (cnt)
		memcpy(t->arena + t->arena_len, frames, cnt * sizeof(*frames));
	t->rows = array_reserve(t->rows, &t->cap, t->cnt + 1, sizeof(*t->rows));
	t->rows[t->cnt++] = (struct stack_table_row){ .at = t->arena_len, .len = cnt };
	t->arena_len += cnt;
	hmap_set(&t->index, h, (void *)(uintptr_t)t->cnt);
	return (uint32_t)t->cnt - 1;
}

const uint64_t *stack_table_get(const struct stack_table *t, uint32_t id, uint32_t *cnt)
{
	*cnt = id < t->cnt ? t->rows[id].len : 0;
	return *cnt ? t->arena + t->rows[id].at : NULL;
}

void stack_table_fini(struct stack_table *t)
{
	hmap_fini(&t->index);
	free(t->rows);
	free(t->arena);
	memset(t, 0, sizeof(*t));
}
