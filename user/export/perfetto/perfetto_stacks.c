// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks in packets of Perfetto's trace: written once with functions and modules, then referred to
 * by id. Owns what was written so far.
 */
#include "export/perfetto/perfetto_stacks.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "export/value_text.h"

enum { INTERNED_FUNCTION = 5, INTERNED_FRAME = 6, INTERNED_STACK = 7, INTERNED_BUILD_ID = 16 };
enum { INTERNED_PATH = 17, INTERNED_MAPPING = 19, INTERNED_TEXT = 29 };
enum { STRING_ID = 1, STRING_TEXT = 2 };
enum { MAPPING_ID = 1, MAPPING_BUILD_ID = 2, MAPPING_PATH = 7 };
enum { FRAME_ID = 1, FRAME_FUNCTION = 2, FRAME_MAPPING = 3, FRAME_PC = 4 };
enum { STACK_ID = 1, STACK_FRAMES = 2 };

uint64_t perfetto_stack_id(uint32_t leaf)
{
	return (uint64_t)leaf + 1;
}

static void put_string(struct export *x, uint32_t table, uint64_t id)
{
	size_t string = proto_begin(&x->out, table);

	proto_u64(&x->out, STRING_ID, id);
	perfetto_put_text(x, STRING_TEXT);
	proto_end(&x->out, string);
}

/* Ids are the module's index + 1: 0 is none, and an unknown module needs an id too. */
static void put_mapping(struct export *x, uint32_t module)
{
	const struct names_module *m = names_module(x->names, module);
	const uint64_t id = (uint64_t)module + 1;
	struct perfetto *p = x->state;
	size_t mapping;

	if (hmap_get(&p->modules, id))
		return;
	hmap_set(&p->modules, id, p);
	value_text_module(&p->text, x->names, module);
	put_string(x, INTERNED_PATH, id);
	/* raw bytes, not hex digits */
	buf_add(&p->text, m->build_id, m->announced ? m->build_id_sz : 0);
	put_string(x, INTERNED_BUILD_ID, id);
	mapping = proto_begin(&x->out, INTERNED_MAPPING);
	proto_u64(&x->out, MAPPING_ID, id);
	proto_u64(&x->out, MAPPING_BUILD_ID, id);
	proto_u64(&x->out, MAPPING_PATH, id);
	proto_end(&x->out, mapping);
}

static void put_functions(struct export *x)
{
	struct perfetto *p = x->state;
	size_t frame;

	for (; p->func_cnt < p->stacks.func_cnt; p->func_cnt++) {
		const struct stack_tree_func *f = &p->stacks.funcs[p->func_cnt];
		const uint64_t id = p->func_cnt + 1;

		put_mapping(x, f->module);
		value_text_function(&p->text, x->names, f->sym, f->inlined);
		put_string(x, INTERNED_FUNCTION, id);
		frame = proto_begin(&x->out, INTERNED_FRAME);
		proto_u64(&x->out, FRAME_ID, id);
		proto_u64(&x->out, FRAME_FUNCTION, id);
		proto_u64(&x->out, FRAME_MAPPING, (uint64_t)f->module + 1);
		/* distinguishes the functions of a module */
		proto_u64(&x->out, FRAME_PC, id);
		proto_end(&x->out, frame);
	}
}

/* Function numbers, outermost first; returns how many. */
static size_t path_of(struct perfetto *p, uint32_t leaf)
{
	size_t cnt = 0, i;

	for (uint32_t at = leaf; at != STACK_TREE_NONE; at = p->stacks.nodes[at].parent)
		cnt++;
	p->ids = array_reserve(p->ids, &p->ids_cap, cnt, sizeof(*p->ids));
	i = cnt;
	for (uint32_t at = leaf; at != STACK_TREE_NONE; at = p->stacks.nodes[at].parent)
		p->ids[--i] = (uint64_t)p->stacks.nodes[at].func + 1;
	return cnt;
}

static void put_callstack(struct export *x, uint32_t leaf)
{
	struct perfetto *p = x->state;
	size_t cnt = path_of(p, leaf), stack;

	stack = proto_begin(&x->out, INTERNED_STACK);
	proto_u64(&x->out, STACK_ID, perfetto_stack_id(leaf));
	for (size_t i = 0; i < cnt; i++)
		proto_u64(&x->out, STACK_FRAMES, p->ids[i]);
	proto_end(&x->out, stack);
}

/* The functions from the outermost on, as in a folded stack. */
static void put_stack_text(struct export *x, uint32_t leaf)
{
	struct perfetto *p = x->state;
	size_t cnt = path_of(p, leaf);

	for (size_t i = 0; i < cnt; i++) {
		const struct stack_tree_func *f = &p->stacks.funcs[p->ids[i] - 1];

		buf_addstr(&p->text, i ? ";" : "");
		value_text_function(&p->text, x->names, f->sym, f->inlined);
	}
	put_string(x, INTERNED_TEXT, perfetto_stack_id(leaf));
}

void perfetto_intern(struct export *x, uint32_t leaf, bool text)
{
	struct perfetto *p = x->state;
	const bool stack = !hmap_get(&p->leaves, perfetto_stack_id(leaf));
	size_t interned;

	text = text && !hmap_get(&p->leaf_texts, perfetto_stack_id(leaf));
	if (!stack && !text)
		return;
	interned = proto_begin(&x->out, PACKET_INTERNED);
	if (stack) {
		hmap_set(&p->leaves, perfetto_stack_id(leaf), p);
		put_functions(x);
		put_callstack(x, leaf);
	}
	if (text) {
		hmap_set(&p->leaf_texts, perfetto_stack_id(leaf), p);
		put_stack_text(x, leaf);
	}
	proto_end(&x->out, interned);
}

void perfetto_stacks_fini(struct perfetto *p)
{
	stack_tree_fini(&p->stacks);
	hmap_fini(&p->modules);
	hmap_fini(&p->leaves);
	hmap_fini(&p->leaf_texts);
	free(p->ids);
}
