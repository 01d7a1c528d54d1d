// SPDX-License-Identifier: BSD-2-Clause
/*
 * The call tree of a profile. Owns the nodes, which lie in one array and name each other by index,
 * so that growing moves nothing that matters. Numbers only; who prints it walks with tree_next(),
 * which needs no recursion: a stack from a file may be as deep as it likes.
 */
#include "profile/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static uint32_t node_add(struct tree *t, uint32_t parent, const struct profile_frame *f)
{
	t->nodes = array_reserve(t->nodes, &t->cap, t->cnt + 1, sizeof(*t->nodes));
	t->nodes[t->cnt] = (struct tree_node){
		.sym = f->sym,
		.module = f->module,
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

static uint32_t node_child(struct tree *t, struct hmap *index, uint32_t parent,
			   const struct profile_frame *f)
{
	uint64_t h = hash_u64((uint64_t)f->sym << 32 | f->module);
	const struct tree_node *n;
	uint32_t node;
	uintptr_t at;

	h = hash_u64(h + parent);
	for (;; h++) {
		at = (uintptr_t)hmap_get(index, h);
		if (!at)
			break;
		n = &t->nodes[at - 1];
		if (n->parent == parent && n->sym == f->sym && n->module == f->module)
			return (uint32_t)(at - 1);
	}
	node = node_add(t, parent, f);
	hmap_set(index, h, (void *)((uintptr_t)node + 1));
	return node;
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
	return x->module < y->module ? -1 : x->module > y->module;
}

/* Puts the children of each node in order. */
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

static void tree_add(struct tree *t, struct hmap *index, struct profile *p,
		     const struct profile_stack *s, bool inverted)
{
	const struct profile_frame none = { .sym = NAMES_NONE };
	const struct profile_frame *frames;
	uint64_t weight = profile_stack_weight(p, s);
	uint32_t at = 0;
	size_t cnt;

	frames = profile_expand(p, s, &cnt);
	if (!cnt) {
		frames = &none;
		cnt = 1;
	}
	t->nodes[0].total += s->samples;
	t->nodes[0].total_weight += weight;
	for (size_t i = 0; i < cnt; i++) {
		at = node_child(t, index, at, &frames[inverted ? i : cnt - 1 - i]);
		t->nodes[at].total += s->samples;
		t->nodes[at].total_weight += weight;
		/* inverted, the function that ran stands at the top */
		if (i == (inverted ? 0 : cnt - 1)) {
			t->nodes[at].self += s->samples;
			t->nodes[at].self_weight += weight;
		}
	}
}

int tree_new(struct profile *p, bool inverted, struct tree **out)
{
	const struct profile_frame root = { .sym = NAMES_NONE };
	struct tree *t = xcalloc(1, sizeof(*t));
	const struct profile_stack *stacks;
	struct hmap index = { 0 };
	size_t cnt;

	hmap_init(&index);
	node_add(t, TREE_NONE, &root);
	stacks = profile_stacks(p, &cnt);
	for (size_t i = 0; i < cnt; i++)
		tree_add(t, &index, p, &stacks[i], inverted);
	hmap_fini(&index);
	sort_children(t, profile_names(p));
	*out = t;
	return 0;
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	free(t->nodes);
	free(t);
}

/* Siblings are in order of weight, so the first that is too small ends the list. */
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
