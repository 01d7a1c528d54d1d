/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_TREE_H
#define D9_PROFILE_SUMS_TREE_H

#include "profile/sums/profile.h"
#include "profile/sums/row_table.h"

#define TREE_NONE UINT32_MAX

/* A function at a place in the tree, or a task at its top. */
struct tree_node {
	uint32_t sym, module; /* as struct profile_frame */
	bool inlined;
	uint32_t group; /* index in groups for a task node; otherwise TREE_NONE */
	uint32_t parent; /* index, TREE_NONE for the root */
	uint32_t child, next; /* first child, next sibling; largest weight first; TREE_NONE ends */
	uint64_t self, total; /* samples */
	uint64_t self_weight, total_weight; /* see profile_weigh() */
};

/*
 * A call tree. Node 0 is the root, for all samples, without a function. Normally the children of a
 * node are its callees; in an inverted tree its callers.
 */
struct tree {
	struct tree_node *nodes;
	size_t cnt, cap;
	struct row_table groups; /* keys only */
};

struct tree_opts {
	bool inverted;
	unsigned int keys; /* of PROFILE_TASK_KEYS: keys of the nodes below the root, if any */
};

/* Builds the tree of all stacks in @p. Free with tree_free(). */
int tree_new(struct profile *p, const struct tree_opts *opts, struct tree **out);
void tree_free(struct tree *t);

/*
 * The next node to print after @at (a node before its children), skipping subtrees with less weight
 * than @min. Start with at = 0, *depth = 0; TREE_NONE at the end. Updates *depth.
 */
uint32_t tree_next(const struct tree *t, uint32_t at, uint64_t min, uint32_t *depth);

#endif /* D9_PROFILE_SUMS_TREE_H */
