// SPDX-License-Identifier: BSD-2-Clause
/*
 * The call tree of a profile. Owns the nodes: one array, linked by index, so that it can be moved.
 * Numbers only. tree_next() walks the tree without recursion, because a stack from a file can have
 * any depth.
 */
#include "profile/sums/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* The key of a child within its parent. */
struct child_key {
	uint32_t sym, module, group;
	bool inlined;
};

struct build {
	struct tree *tree;
	struct profile *profile;
	const struct tree_opts *opts;
	struct hmap children; /* hash of parent and key -> node + 1 */
};

static uint32_t node_add(struct tree *t, uint32_t parent, const struct child_key *k)
{
	t->nodes = array_reserve(t->nodes, &t->cap, t->cnt + 1, sizeof(*t->nodes));
	t->nodes[t->cnt] = (struct tree_node){
		.sym = k->sym,
		.module = k->module,
		.group = k->group,
		.inlined = k->inlined,
		.parent = parent,
		.child = TREE_NONE,
		.next = TREE_NONE,
	};
	if (parent != TREE_NONE) {
		t->nodes[t->cnt].next = t->nodes[parent].child;
		t->nodes[parent].child = (uint32_t)t->cnt;
	}
	return (uint32_t)t->cnt++;
}

static bool node_is(const struct tree_node *n, uint32_t parent, const struct child_key *k)
{
	return n->parent == parent && n->sym == k->sym && n->module == k->module &&
	       n->group == k->group && n->inlined == k->inlined;
}

static uint32_t node_child(struct build *b, uint32_t parent, const struct child_key *k)
{
	uint64_t h = hash_u64((uint64_t)k->sym << 32 | k->module);
	uint32_t node;
	uintptr_t at;

	h = hash_u64((h ^ k->group) + ((uint64_t)parent << 1 | k->inlined));
	for (;; h++) {
		at = (uintptr_t)hmap_get(&b->children, h);
		if (!at)
			break;
		if (node_is(&b->tree->nodes[at - 1], parent, k))
			return (uint32_t)(at - 1);
	}
	node = node_add(b->tree, parent, k);
	hmap_set(&b->children, h, (void *)((uintptr_t)node + 1));
	return node;
}

static uint32_t group_of(struct build *b, const struct profile_row *row)
{
	return (uint32_t)(row_table_at(&b->tree->groups, row) - b->tree->groups.rows.v);
}

struct order {
	const struct tree *tree;
	const struct names *names;
};

static int by_total(const void *a, const void *b, void *ctx)
{
	const struct order *o = ctx;
	const struct tree_node *x = &o->tree->nodes[*(const uint32_t *)a];
	const struct tree_node *y = &o->tree->nodes[*(const uint32_t *)b];

	if (x->total_weight != y->total_weight)
		return x->total_weight < y->total_weight ? 1 : -1;
	if (x->sym != y->sym)
		return strcmp(names_str(o->names, x->sym, NULL), names_str(o->names, y->sym, NULL));
	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->inlined != y->inlined)
		return x->inlined ? 1 : -1;
	return x->group < y->group ? -1 : x->group > y->group;
}

static void sort_children(struct tree *t, const struct names *names)
{
	struct order o = { t, names };
	uint32_t *list = NULL;
	size_t cap = 0, cnt;

	for (size_t i = 0; i < t->cnt; i++) {
		cnt = 0;
		for (uint32_t c = t->nodes[i].child; c != TREE_NONE; c = t->nodes[c].next) {
			list = array_reserve(list, &cap, cnt + 1, sizeof(*list));
			list[cnt++] = c;
		}
		if (cnt < 2)
			continue;
		qsort_r(list, cnt, sizeof(*list), by_total, &o);
		t->nodes[i].child = list[0];
		for (size_t k = 0; k < cnt; k++)
			t->nodes[list[k]].next = k + 1 < cnt ? list[k + 1] : TREE_NONE;
	}
	free(list);
}

static void count(struct tree_node *n, uint64_t samples, uint64_t weight)
{
	n->total += samples;
	n->total_weight += weight;
}

static void count_self(struct tree_node *n, uint64_t samples, uint64_t weight)
{
	n->self += samples;
	n->self_weight += weight;
}

static void tree_add(struct build *b, const struct profile_stack *s)
{
	const struct profile_frame none = { .sym = NAMES_NONE };
	struct child_key key = { .sym = NAMES_NONE, .group = TREE_NONE };
	uint64_t weight = profile_stack_weight(b->profile, s);
	bool inverted = b->opts->inverted;
	const struct profile_frame *frames, *f;
	struct profile_row row;
	uint32_t at = 0;
	size_t cnt;

	frames = profile_expand(b->profile, s, &cnt);
	if (!cnt) {
		frames = &none;
		cnt = 1;
	}
	count(&b->tree->nodes[0], s->samples, weight);
	if (b->opts->keys) {
		row = profile_task_row(b->profile, s, b->opts->keys);
		key.group = group_of(b, &row);
		at = node_child(b, at, &key);
		count(&b->tree->nodes[at], s->samples, weight);
	}
	for (size_t i = 0; i < cnt; i++) {
		f = &frames[inverted ? i : cnt - 1 - i];
		key = (struct child_key){ f->sym, f->module, TREE_NONE, f->inlined };
		at = node_child(b, at, &key);
		count(&b->tree->nodes[at], s->samples, weight);
		/* inverted: the leaf is at the top */
		if (i == (inverted ? 0 : cnt - 1))
			count_self(&b->tree->nodes[at], s->samples, weight);
	}
}

int tree_new(struct profile *p, const struct tree_opts *opts, struct tree **out)
{
	const struct child_key root = { .sym = NAMES_NONE, .group = TREE_NONE };
	struct build b = { .tree = xcalloc(1, sizeof(*b.tree)), .profile = p, .opts = opts };
	const struct profile_stack *stacks;
	size_t cnt;

	node_add(b.tree, TREE_NONE, &root);
	stacks = profile_stacks(p, &cnt);
	for (size_t i = 0; i < cnt; i++)
		tree_add(&b, &stacks[i]);
	hmap_fini(&b.children);
	sort_children(b.tree, profile_names(p));
	*out = b.tree;
	return 0;
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	free(t->nodes);
	row_table_fini(&t->groups);
	free(t);
}

/* Siblings are sorted by weight, so the first that is too small ends the list. */
static bool shown(const struct tree *t, uint32_t node, uint64_t min)
{
	return node != TREE_NONE && t->nodes[node].total_weight >= min;
}

uint32_t tree_next(const struct tree *t, uint32_t at, uint64_t min, uint32_t *depth)
{
	if (shown(t, t->nodes[at].child, min)) {
		(*depth)++;
		return t->nodes[at].child;
	}
	while (at) {
		if (shown(t, t->nodes[at].next, min))
			return t->nodes[at].next;
		at = t->nodes[at].parent;
		(*depth)--;
	}
	return TREE_NONE;
}
