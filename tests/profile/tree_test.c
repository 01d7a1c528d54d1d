// SPDX-License-Identifier: BSD-2-Clause
/* Call trees of the program in app.h, both ways up. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "app.h"
#include "profile/tree.h"

/* Prints a tree as "depth name self/total" lines. */
static void render(struct profile *p, const struct names *n, bool inverted, uint64_t min, char *out)
{
	uint32_t depth = 0, i = 0;
	struct tree *t;

	cr_assert_eq(tree_new(p, inverted, &t), 0);
	*out = '\0';
	while ((i = tree_next(t, i, min, &depth)) != TREE_NONE)
		out += sprintf(out, "%u %s %d/%d\n", depth, names_str(n, t->nodes[i].sym, NULL),
			       (int)t->nodes[i].self, (int)t->nodes[i].total);
	tree_free(t);
}

Test(tree, callers_first)
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

Test(tree, callees_first)
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
