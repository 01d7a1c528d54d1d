/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_STACK_TREE_H
#define D9_EXPORT_STACK_TREE_H

#include "profile/sched/stack_table.h"
#include "trace/read/names.h"

#define STACK_TREE_NONE UINT32_MAX

/* A function, without addresses. */
struct stack_tree_func {
	uint32_t sym; /* string id, or NAMES_NONE */
	uint32_t module; /* index; 0: unknown */
	uint32_t file; /* string id, or NAMES_NONE */
	bool kernel, inlined;
};

/* A function called by its ancestors. */
struct stack_tree_node {
	uint32_t parent; /* index, or STACK_TREE_NONE: the outermost */
	uint32_t func; /* index */
};

/*
 * A tree of functions with the outermost at the root; each stack is a leaf. {0} is empty. Grows
 * with distinct stacks; nodes and functions keep their numbers, and a parent comes before its
 * children.
 */
struct stack_tree {
	struct stack_table stacks;
	uint32_t *leaves; /* by number of the stack */
	size_t leaves_cap;
	struct hmap node_index; /* (parent + 1) << 32 | function -> node + 1 */
	struct stack_tree_node *nodes;
	size_t node_cnt, node_cap;
	struct hmap func_index; /* sym << 32 | module << 1 | inlined -> function + 1 */
	struct stack_tree_func *funcs;
	size_t func_cnt, func_cap;
};

/*
 * The leaf of a stack (frames leaf first, see names_symbol()), or STACK_TREE_NONE for an empty one.
 */
uint32_t stack_tree_add(struct stack_tree *t, const struct names *n, const uint64_t *frames,
			uint32_t cnt);
void stack_tree_fini(struct stack_tree *t);

#endif /* D9_EXPORT_STACK_TREE_H */
