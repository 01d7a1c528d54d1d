/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_STACK_TABLE_H
#define D9_PROFILE_SCHED_STACK_TABLE_H

#include "base/hash.h"

/* Frames beyond this are dropped at the root end. */
#define STACK_TABLE_DEPTH_MAX 1024

struct stack_table_row {
	size_t at; /* in the arena */
	uint32_t len;
};

/* Distinct stacks, numbered from 0 in order of arrival. {0} is empty. */
struct stack_table {
	struct hmap index; /* hash of content -> row + 1 */
	struct stack_table_row *rows;
	size_t cnt, cap;
	uint64_t *arena;
	size_t arena_len, arena_cap;
};

/* The number of a stack; adds it if it is new. */
uint32_t stack_table_add(struct stack_table *t, const uint64_t *frames, uint32_t cnt);
/*
 * NULL and *cnt = 0 for an empty stack or an unknown number. Borrowed until the next
 * stack_table_add().
 */
const uint64_t *stack_table_get(const struct stack_table *t, uint32_t id, uint32_t *cnt);
void stack_table_fini(struct stack_table *t);

#endif /* D9_PROFILE_SCHED_STACK_TABLE_H */
