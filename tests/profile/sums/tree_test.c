// SPDX-License-Identifier: BSD-2-Clause
/* Call trees of the program in app.h, callers first and inverted. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "profile/sums/tree.h"
#include "tests/profile/app.h"

/* Prints a tree as "depth name self/total" lines. */
static void render(struct profile *p, const struct names *n, bool inverted, uint64_t min, char *out)
{
	uint32_t depth = 0, i = 0;
	struct tree *t;

	cr_assert_eq(tree_new(p, &(struct tree_opts){ .inverted = inverted }, &t), 0);
	*out = '\0';
	while ((i = tree_next(t, i, min, &depth)) != TREE_NONE)
		out += sprintf(out, "%u %s %d/%d\n", depth, names_str(n, t->nodes[i].sym, NULL),
			       (int)t->nodes[i].self, (int)t->nodes[i].total);
	tree_free(t);
}

Test(tree, callers_are_first)
{
	struct names *n = make_names();
	struct profile *p = make_profile(n);
	char text[1024];

	render(p, n, false, 1, text);
	cr_assert_str_eq(text, "1 main 0/10\n"
			       "2 work 0/10\n"
			       "3 hot 6/6\n"
			       "3 cold 3/3\n"
			       "3 work 0/1\n"
			       "4 work 0/1\n"
			       "5 hot 1/1\n");
	render(p, n, false, 2, text);
	cr_assert_str_eq(text, "1 main 0/10\n2 work 0/10\n3 hot 6/6\n3 cold 3/3\n");
	profile_free(p);
	names_free(n);
}

Test(tree, callees_are_first)
{
	struct names *n = make_names();
	struct profile *p = make_profile(n);
	char text[1024];

	render(p, n, true, 2, text);
	cr_assert_str_eq(text, "1 hot 7/7\n"
			       "2 work 0/7\n"
			       "3 main 0/6\n"
			       "1 cold 3/3\n"
			       "2 work 0/3\n"
			       "3 main 0/3\n");
	profile_free(p);
	names_free(n);
}

/* Children with equal weight are sorted by name, then by module; samples without a stack have a node too. */
Test(tree, siblings_have_a_fixed_order)
{
	const uint64_t stacks[][2] = { { at(2, HOT), at(1, MAIN) },
				       { at(2, COLD), at(1, MAIN) },
				       { at(1, HOT), at(1, MAIN) },
				       { at(1, WORK), at(1, MAIN) } };
	struct names *n = make_names();
	uint32_t depth = 0, i = 0;
	struct profile *p;
	char text[1024];
	struct tree *t;

	symbol(n, at(2, HOT), 0, "hot");
	profile_new(n, &p);
	for (int k = 0; k < 3; k++)
		add(p, 11, stacks[k], 2, 2);
	add(p, 11, stacks[3], 2, 3);
	add(p, 11, NULL, 0, 1);
	render(p, n, false, 1, text);
	cr_expect_str_eq(text, "1 main 0/9\n"
			       "2 work 3/3\n"
			       "2 cold 2/2\n"
			       "2 hot 2/2\n"
			       "2 hot 2/2\n"
			       "1  1/1\n");
	cr_assert_eq(tree_new(p, &(struct tree_opts){ 0 }, &t), 0);
	for (int k = 0; k < 4; k++)
		i = tree_next(t, i, 1, &depth);
	cr_expect_eq(t->nodes[i].module, 1);
	i = tree_next(t, i, 1, &depth);
	cr_expect_eq(t->nodes[i].module, 2);
	cr_expect_eq(t->nodes[0].total, 10);
	tree_free(t);
	tree_free(NULL);
	profile_free(p);
	names_free(n);
}

/* In any order of appearance. */
Test(tree, siblings_with_one_name_are_sorted_by_module)
{
	const uint64_t stacks[][2] = { { at(1, HOT), at(1, MAIN) }, { at(2, HOT), at(1, MAIN) } };
	struct names *n = make_names();
	uint32_t depth, i, k;
	struct profile *p;
	struct tree *t;
	int first;

	symbol(n, at(2, HOT), 0, "hot");
	for (first = 0; first < 2; first++) {
		profile_new(n, &p);
		add(p, 11, stacks[first], 2, 2);
		add(p, 11, stacks[!first], 2, 2);
		cr_assert_eq(tree_new(p, &(struct tree_opts){ 0 }, &t), 0);
		depth = 0;
		i = tree_next(t, 0, 1, &depth);
		for (k = 1; k <= 2; k++) {
			i = tree_next(t, i, 1, &depth);
			cr_assert_neq(i, TREE_NONE);
			cr_expect_eq(t->nodes[i].module, k, "module %d first", first + 1);
		}
		cr_expect_eq(tree_next(t, i, 1, &depth), TREE_NONE);
		tree_free(t);
		profile_free(p);
	}
	names_free(n);
}

/* A recording's samples may be few and long. */
Test(tree, weight_determines_the_shown_nodes_and_their_order)
{
	static const uint64_t weight[] = { 1, 100 };
	const uint64_t hot = at(1, HOT), cold = at(2, COLD);
	struct trace_event ev = { .frames = &cold, .frame_cnt = 1, .comm = NAMES_NONE, .part = 1 };
	struct names *n = make_names();
	struct profile *p;
	struct tree *t;
	char text[256];

	profile_new(n, &p);
	add(p, 11, &hot, 1, 99);
	profile_add(p, &ev);
	profile_weigh(p, weight, 2);
	render(p, n, false, 1, text);
	cr_expect_str_eq(text, "1 cold 1/1\n1 hot 99/99\n");
	render(p, n, false, 99, text);
	cr_expect_str_eq(text, "1 cold 1/1\n1 hot 99/99\n");
	render(p, n, false, 100, text);
	cr_expect_str_eq(text, "1 cold 1/1\n");
	render(p, n, false, 101, text);
	cr_expect_str_eq(text, "");
	cr_assert_eq(tree_new(p, &(struct tree_opts){ .inverted = true }, &t), 0);
	cr_expect_eq(t->nodes[0].total_weight, 199);
	cr_expect_eq(t->nodes[t->nodes[0].child].self_weight, 100);
	tree_free(t);
	profile_free(p);
	names_free(n);
}

Test(tree, tasks_can_be_grouped_above_the_functions)
{
	const struct tree_opts opts = { .inverted = true, .keys = 1u << PROFILE_TID };
	struct names *n = make_names();
	struct profile *p = make_profile(n);
	uint32_t depth = 0, i;
	struct tree *t;

	cr_assert_eq(tree_new(p, &opts, &t), 0);
	cr_assert_eq(t->groups.rows.cnt, 2);
	i = tree_next(t, 0, 1, &depth);
	cr_expect_eq(depth, 1);
	cr_assert_neq(t->nodes[i].group, TREE_NONE);
	cr_expect_eq(t->groups.rows.v[t->nodes[i].group].tid, 11);
	cr_expect_eq(t->nodes[i].total, 8);
	cr_expect_eq(t->nodes[i].self, 0);
	i = tree_next(t, i, 1, &depth);
	cr_expect_eq(depth, 2);
	cr_expect_eq(t->nodes[i].group, TREE_NONE);
	cr_expect_str_eq(names_str(n, t->nodes[i].sym, NULL), "hot");
	cr_expect_eq(t->nodes[i].self, 5);
	tree_free(t);
	profile_free(p);
	names_free(n);
}
