// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks as a tree: equal callers share a node, parents come first, inlined functions are below their
 * containing function.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "base/buf.h"
#include "export/stack_tree.h"

static uint64_t at(uint64_t off)
{
	return 1ULL << PROF_FRAME_MODULE_SHIFT | off;
}

static void name(struct names *n, uint64_t frame, uint32_t depth, const char *s)
{
	struct names_frame f = { .name = names_add(n, s, strlen(s)), .file = NAMES_NONE };

	names_symbol_set(n, frame, depth, &f);
}

/* "main;work", of a leaf. */
static void expect(const struct stack_tree *t, const struct names *n, uint32_t leaf,
		   const char *want)
{
	struct buf got = { 0 }, rest;

	for (; leaf != STACK_TREE_NONE; leaf = t->nodes[leaf].parent) {
		const struct stack_tree_func *f = &t->funcs[t->nodes[leaf].func];
		uint32_t parent = t->nodes[leaf].parent;

		cr_expect(parent == STACK_TREE_NONE || parent < leaf);
		rest = got;
		got = (struct buf){ 0 };
		buf_printf(&got, "%s%s%s%s",
			   f->sym == NAMES_NONE ? "?" : names_str(n, f->sym, NULL),
			   f->inlined ? "'" : "", rest.len ? ";" : "", buf_cstr(&rest));
		buf_free(&rest);
	}
	cr_expect_str_eq(buf_cstr(&got), want);
	buf_free(&got);
}

Test(stack_tree, function_inlined_into_itself_is_one_node)
{
	const uint64_t frame = at(0x300);
	struct stack_tree t = { 0 };
	struct names *n;

	names_new(&n);
	name(n, frame, 0, "caller");
	name(n, frame, 1, "twice");
	name(n, frame, 2, "twice");
	name(n, frame, 4, "leaf");
	expect(&t, n, stack_tree_add(&t, n, &frame, 1), "caller;twice';leaf'");
	stack_tree_fini(&t);
	names_free(n);
}

Test(stack_tree, equal_callers_share_a_node)
{
	const uint64_t a[] = { at(0x300), at(0x200), at(0x100) }, b[] = { at(0x310), at(0x100) },
		       c[] = { at(0x900) };
	struct stack_tree t = { 0 };
	struct names *n;
	uint32_t first;

	names_new(&n);
	name(n, at(0x100), 0, "main");
	name(n, at(0x200), 0, "work");
	name(n, at(0x300), 0, "hot");
	name(n, at(0x300), 1, "leaf");
	name(n, at(0x310), 0, "hot");
	first = stack_tree_add(&t, n, a, 3);
	expect(&t, n, first, "main;work;hot;leaf'");
	expect(&t, n, stack_tree_add(&t, n, b, 2), "main;hot");
	expect(&t, n, stack_tree_add(&t, n, c, 1), "?");
	cr_expect_eq(stack_tree_add(&t, n, a, 3), first);
	cr_expect_eq(stack_tree_add(&t, n, NULL, 0), STACK_TREE_NONE);
	/* main, work, hot, leaf and hot below main, and one without a name */
	cr_expect_eq(t.node_cnt, 6);
	cr_expect_eq(t.func_cnt, 5);
	stack_tree_fini(&t);
	names_free(n);
}
