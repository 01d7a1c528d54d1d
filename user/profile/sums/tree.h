/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_TREE_H
#define D9_PROFILE_SUMS_TREE_H

#include "profile/sums/profile.h"
#include "profile/sums/row_table.h"

#define TREE_NONE UINT32_MAX

/* One function at one place in the tree, or a task at its top. */
struct tree_node {
	uint32_t sym, module; /* as struct profile_frame */
	bool inlined;
	uint32_t group; /* index in the groups of a node that stands for a task; else TREE_NONE */
	uint32_t parent; /* index, TREE_NONE for the root */
	uint32_t child, next; /* first child, next sibling; most weight first; TREE_NONE ends */
	uint64_t self, total; /* samples */
	uint64_t self_weight, total_weight; /* see profile_weigh() */
};

/*
 * A call tree. Node 0 is the root, which stands for all samples and has no function. In a tree of
 * callers-first the children of a node are what it called; inverted, what called it.
 */
struct tree {
	struct tree_node *nodes;
	size_t cnt, cap;
	struct row_table groups; /* their keys only */
};

struct tree_opts {
	bool inverted;
	unsigned int
		keys; /* of PROFILE_TASK_KEYS: what nodes below the root are told apart by, if any */
};

/* Builds the tree of all stacks in @p. Free with tree_free(). */
int tree_new(struct profile *p, const struct tree_opts *opts, struct tree **out);
void tree_free(struct tree *t);

/*
 * The node after @at in the order of printing (a node, then its children), leaving out subtrees that
 * weigh less than @min. Start with at = 0, *depth = 0; TREE_NONE at the end. *depth follows.
 */
uint32_t tree_next(const struct tree *t, uint32_t at, uint64_t min, uint32_t *depth);

#endif /* D9_PROFILE_SUMS_TREE_H */
