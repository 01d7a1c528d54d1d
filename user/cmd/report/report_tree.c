// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks in `dial9-prof report`: as a tree either way up, each by itself, or folded into lines for flame
 * graphs. Owns their layout; the tree is user/profile's. A chain is a node of the tree in which samples
 * ended, with all above it, so stacks that look the same are one, whatever their addresses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "cmd/common/report_text.h"
#include "cmd/report/report.h"
#include "export/folded/folded_lines.h"
#include "profile/sums/tree.h"

/* Minimum width of names on a narrow terminal. */
#define PLACE_MIN 12

uint64_t report_tree_min(const struct report *r)
{
	double min = r->percent * (double)r->whole / 100.0;
	uint64_t n = (uint64_t)min;

	return (double)n < min || !n ? n + 1 : n;
}

struct tree *report_tree(const struct report *r)
{
	struct tree_opts opts = { .inverted = r->graph == REPORT_CALLEE,
				  .keys = r->keys & PROFILE_TASK_KEYS };
	struct tree *t = NULL;

	/* whose stack it is: flame graphs begin with it */
	if (r->graph == REPORT_FOLDED && !opts.keys)
		opts.keys = 1u << PROFILE_COMM;
	tree_new(r->profile, &opts, &t);
	return t;
}

/* The task that a node stands for, in one word or several. */
static void put_group(struct buf *out, const struct report *r, const struct profile_row *row)
{
	size_t from = out->len;

	for (size_t k = 0; k < r->key_cnt; k++) {
		if (!(PROFILE_TASK_KEYS & 1u << r->key_order[k]))
			continue;
		if (out->len > from)
			buf_addch(out, ' ');
		report_put_cell(out, r, row, r->key_order[k], 0);
	}
	if (out->len == from)
		report_put_cell(out, r, row, PROFILE_COMM, 0);
}

/* A function with its module, of which the function gives way. */
static void put_place(struct buf *out, const struct report *r, const struct tree *t,
		      const struct tree_node *node, size_t cols)
{
	struct buf dso = { 0 };
	size_t w;

	if (node->group != TREE_NONE) {
		put_group(out, r, &t->groups.rows.v[node->group]);
		return;
	}
	value_text_module_base(&dso, r->names, node->module);
	w = value_text_width(buf_cstr(&dso), dso.len) + strlen(" ()");
	report_put_sym(out, r, node->sym, node->inlined,
		       !r->view.width ? 0 :
		       cols > w	      ? cols - w :
					1);
	buf_printf(out, " (%s)", buf_cstr(&dso));
	buf_free(&dso);
}

/* Ends the line with a node's place, cut to the rest of a terminal's line after @used columns. */
static void print_place(const struct report *r, const struct tree *t, const struct tree_node *node,
			struct buf *line, size_t used)
{
	size_t left = r->view.width > used + PLACE_MIN ? r->view.width - used : PLACE_MIN;
	struct buf place = { 0 };

	put_place(&place, r, t, node, left);
	report_text_column(line, buf_cstr(&place), place.len, left, r->view.width);
	report_end_line(line);
	fwrite(buf_cstr(line), 1, line->len, stdout);
	buf_clear(line);
	buf_free(&place);
}

void report_print_tree(const struct report *r)
{
	uint64_t left = r->opts->limit ? r->opts->limit : UINT64_MAX;
	struct tree *t = report_tree(r);
	struct buf line = { 0 };
	uint32_t depth = 0, at = 0;
	size_t numbers;

	report_put_heads(&line, r, REPORT_TOTAL_SELF);
	numbers = line.len;
	printf("%s  Symbol, calle%ss below\n", buf_cstr(&line),
	       r->graph == REPORT_CALLEE ? "r" : "e");
	buf_clear(&line);
	while (left-- && (at = tree_next(t, at, report_tree_min(r), &depth)) != TREE_NONE) {
		const struct tree_node *node = &t->nodes[at];
		const struct report_numbers n = { .self = node->self,
						  .total = node->total,
						  .self_weight = node->self_weight,
						  .total_weight = node->total_weight };

		report_put_numbers(&line, r, REPORT_TOTAL_SELF, &n);
		for (uint32_t d = 0; d < depth; d++)
			buf_addstr(&line, "  ");
		print_place(r, t, node, &line, numbers + 2 * (size_t)depth);
	}
	tree_free(t);
	buf_free(&line);
}

/* ---- chains ------------------------------------------------------------------------------------ */

static int by_self(const void *a, const void *b, void *ctx)
{
	const struct tree *t = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (t->nodes[x].self_weight != t->nodes[y].self_weight)
		return t->nodes[x].self_weight < t->nodes[y].self_weight ? 1 : -1;
	return x < y ? -1 : x > y;
}

uint32_t *report_chains(const struct report *r, const struct tree *t, size_t *cnt)
{
	uint64_t min = report_tree_min(r);
	uint32_t *v = NULL;
	size_t cap = 0;

	*cnt = 0;
	for (uint32_t i = 1; i < t->cnt; i++) {
		if (!t->nodes[i].self || t->nodes[i].self_weight < min)
			continue;
		v = array_reserve(v, &cap, *cnt + 1, sizeof(*v));
		v[(*cnt)++] = i;
	}
	if (*cnt)
		qsort_r(v, *cnt, sizeof(*v), by_self, (void *)t);
	if (r->opts->limit && r->opts->limit < *cnt)
		*cnt = r->opts->limit;
	return v;
}

void report_print_chains(const struct report *r)
{
	struct tree *t = report_tree(r);
	struct buf line = { 0 };
	size_t cnt, numbers;
	uint32_t *v = report_chains(r, t, &cnt);

	report_put_heads(&line, r, REPORT_SELF);
	numbers = line.len;
	printf("%s  Stack, callers below\n", buf_cstr(&line));
	buf_clear(&line);
	for (size_t i = 0; i < cnt; i++) {
		const struct tree_node *node = &t->nodes[v[i]];
		const struct report_numbers n = { .self = node->self,
						  .self_weight = node->self_weight };

		report_put_numbers(&line, r, REPORT_SELF, &n);
		buf_addstr(&line, "  ");
		for (uint32_t at = v[i]; at; at = t->nodes[at].parent) {
			if (at != v[i])
				buf_printf(&line, "%*s", (int)numbers + 2, "");
			print_place(r, t, &t->nodes[at], &line, numbers + 2);
		}
	}
	free(v);
	tree_free(t);
	buf_free(&line);
}

/* One function or task: a semicolon would end it. */
static void put_folded(struct buf *line, const struct report *r, const struct tree *t, uint32_t at)
{
	size_t from = line->len;

	if (t->nodes[at].group != TREE_NONE)
		put_group(line, r, &t->groups.rows.v[t->nodes[at].group]);
	else
		report_put_sym(line, r, t->nodes[at].sym, t->nodes[at].inlined, 0);
	value_text_fold(line, from);
}

void report_print_folded(const struct report *r)
{
	/* samples of several rates do not add up, and neither do intervals */
	const bool timed = r->weighed || r->wall;
	struct tree *t = report_tree(r);
	struct folded_lines lines = { 0 };
	struct buf text = { 0 };
	uint32_t *v, *path = NULL;
	size_t cnt, cap = 0, n;

	v = report_chains(r, t, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		n = 0;
		for (uint32_t at = v[i]; at; at = t->nodes[at].parent) {
			path = array_reserve(path, &cap, n + 1, sizeof(*path));
			path[n++] = at;
		}
		while (n--) {
			put_folded(&text, r, t, path[n]);
			if (n)
				buf_addch(&text, ';');
		}
		folded_lines_add(&lines, &text,
				 timed ? t->nodes[v[i]].self_weight : t->nodes[v[i]].self);
		buf_clear(&text);
	}
	folded_lines_print(&lines, timed ? 1000 : 1, &text, NULL, NULL);
	fwrite(buf_cstr(&text), 1, text.len, stdout);
	folded_lines_fini(&lines);
	free(path);
	free(v);
	tree_free(t);
	buf_free(&text);
}
