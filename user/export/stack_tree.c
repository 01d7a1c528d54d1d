// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks as a tree of functions, for formats that refer to a stack by number. Owns the tree; a
 * known stack costs one lookup, however deep it is. Functions have the names that are known when
 * their stack is first added.
 */
#include "export/stack_tree.h"

#include <stdlib.h>

#include "base/alloc.h"

static uint32_t func_of(struct stack_tree *t, const struct stack_tree_func *f)
{
	uint64_t key = (uint64_t)f->sym << 32 | f->module << 1 | f->inlined;
	uintptr_t at = (uintptr_t)hmap_get(&t->func_index, key);

	if (at)
		return (uint32_t)(at - 1);
	t->funcs = array_reserve(t->funcs, &t->func_cap, t->func_cnt + 1, sizeof(*t->funcs));
	t->funcs[t->func_cnt++] = *f;
	hmap_set(&t->func_index, key, (void *)t->func_cnt);
	return (uint32_t)(t->func_cnt - 1);
}

static uint32_t node_of(struct stack_tree *t, uint32_t parent, uint32_t func)
{
	uint64_t key = (uint64_t)(parent + 1) << 32 | func;
	uintptr_t at = (uintptr_t)hmap_get(&t->node_index, key);

	if (at)
		return (uint32_t)(at - 1);
	t->nodes = array_reserve(t->nodes, &t->node_cap, t->node_cnt + 1, sizeof(*t->nodes));
	t->nodes[t->node_cnt++] = (struct stack_tree_node){ parent, func };
	hmap_set(&t->node_index, key, (void *)t->node_cnt);
	return (uint32_t)(t->node_cnt - 1);
}

/* The functions of one address, outermost first. */
static uint32_t add_frame(struct stack_tree *t, const struct names *n, uint32_t parent,
			  uint64_t frame)
{
	const struct names_symbol *sym = names_symbol(n, frame);
	const uint32_t cnt = sym && sym->cnt ? sym->cnt : 1, module = names_frame_module(frame);
	struct stack_tree_func f = { .sym = NAMES_NONE,
				     .module = names_module(n, module)->announced ? module : 0,
				     .file = NAMES_NONE,
				     .kernel = frame & PROF_FRAME_KERNEL };

	for (uint32_t depth = 0; depth < cnt; depth++) {
		if (depth && !names_symbol_is_printed(sym, depth))
			continue;
		if (sym && sym->cnt) {
			f.sym = sym->frames[depth].name;
			f.file = names_symbol_line(sym, depth)->file;
		}
		f.inlined = depth;
		parent = node_of(t, parent, func_of(t, &f));
	}
	return parent;
}

uint32_t stack_tree_add(struct stack_tree *t, const struct names *n, const uint64_t *frames,
			uint32_t cnt)
{
	const size_t before = t->stacks.cnt;
	uint32_t id, node = STACK_TREE_NONE;

	if (!cnt)
		return STACK_TREE_NONE;
	id = stack_table_add(&t->stacks, frames, cnt);
	if (t->stacks.cnt == before)
		return t->leaves[id];
	cnt = t->stacks.rows[id].len;
	while (cnt--)
		node = add_frame(t, n, node, frames[cnt]);
	t->leaves = array_reserve(t->leaves, &t->leaves_cap, (size_t)id + 1, sizeof(*t->leaves));
	t->leaves[id] = node;
	return node;
}

void stack_tree_fini(struct stack_tree *t)
{
	stack_table_fini(&t->stacks);
	hmap_fini(&t->node_index);
	hmap_fini(&t->func_index);
	free(t->leaves);
	free(t->nodes);
	free(t->funcs);
}
