// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sums by time and by columns. Owns the groups. The key of a group is a list of numbers: texts are numbers of the trace's
 * names, and are compared as texts only when groups are sorted.
 */
#include "ship/rollup.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "trace/read/names.h"

#define KEYS_MAX 5

struct group {
	int64_t key[KEYS_MAX]; /* texts 0, other columns -1: NULL */
	int64_t max;
	uint64_t sum, count;
	bool any; /* a number that is not NULL */
};

struct rollup {
	struct rollup_opts opts;
	size_t keys[KEYS_MAX], key_cnt; /* columns; the time is the first one */
	size_t number; /* column whose numbers are summed */
	struct group *groups;
	size_t cnt, cap;
	struct hmap index; /* hash of the key -> group + 1 */
};

static bool is_key(const struct ship_column *c)
{
	return c->value == SHIP_LOG2 || c->value == SHIP_STACK ||
	       (c->value == SHIP_COLUMN && c->from);
}

struct rollup *rollup_new(const struct rollup_opts *opts)
{
	const struct ship_table *t = opts->plan->table;
	struct rollup *r = xcalloc(1, sizeof(*r));

	r->opts = *opts;
	for (size_t i = 0; i < t->column_cnt; i++) {
		if (t->columns[i].value == SHIP_TIME)
			r->keys[0] = i;
		if (t->columns[i].value == SHIP_SUM)
			r->number = i;
	}
	r->key_cnt = 1;
	for (size_t i = 0; i < t->column_cnt && r->key_cnt < KEYS_MAX; i++)
		if (is_key(&t->columns[i]))
			r->keys[r->key_cnt++] = i;
	return r;
}

void rollup_free(struct rollup *r)
{
	if (!r)
		return;
	hmap_fini(&r->index);
	free(r->groups);
	free(r);
}

/* ---- groups ----------------------------------------------------------------------------------- */

static int64_t number_of_text(const struct rollup *r, const struct query_value *v)
{
	if (v->type != QUERY_TEXT)
		return 0;
	return v->string ?: (int64_t)names_add(r->opts.names, v->data, v->sz) + 1;
}

static int64_t key_of(const struct rollup *r, const struct ship_column *c,
		      const struct query_value *v)
{
	const int64_t period = (int64_t)r->opts.plan->table->period_ns;

	if (c->type == NATIVE_TEXT)
		return number_of_text(r, v);
	if (v->type != QUERY_INTEGER || v->integer < (c->value == SHIP_LOG2))
		return -1;
	if (c->value == SHIP_TIME)
		return v->integer / period * period;
	if (c->value == SHIP_LOG2)
		return 63 - __builtin_clzll((unsigned long long)v->integer);
	return v->integer;
}

static struct group *find_group(struct rollup *r, const struct group *like)
{
	const size_t sz = r->key_cnt * sizeof(like->key[0]);
	uint64_t h = hash_bytes(like->key, sz);
	uintptr_t at;

	for (; (at = (uintptr_t)hmap_get(&r->index, h)); h++)
		if (!memcmp(r->groups[at - 1].key, like->key, sz))
			return &r->groups[at - 1];
	r->groups = array_reserve(r->groups, &r->cap, r->cnt + 1, sizeof(*r->groups));
	r->groups[r->cnt++] = *like;
	hmap_set(&r->index, h, (void *)(uintptr_t)r->cnt);
	return &r->groups[r->cnt - 1];
}

int rollup_add(struct rollup *r, const struct source_row *row)
{
	const struct source_plan *plan = r->opts.plan;
	struct group like = { .key = { 0 } }, *g;
	struct query_value v;

	for (size_t i = 0; i < r->key_cnt; i++) {
		row->value(row->of, plan->columns[r->keys[i]], &v);
		like.key[i] = key_of(r, &plan->table->columns[r->keys[i]], &v);
	}
	g = find_group(r, &like);
	g->count++;
	row->value(row->of, plan->columns[r->number], &v);
	if (v.type == QUERY_INTEGER) {
		g->max = g->any && g->max > v.integer ? g->max : v.integer;
		g->sum += (uint64_t)v.integer;
		g->any = true;
	}
	return r->cnt < r->opts.groups_max ? 0 : rollup_end(r);
}

/* ---- rows ------------------------------------------------------------------------------------- */

static int compare_texts(const struct names *n, int64_t x, int64_t y)
{
	size_t x_len, y_len;
	const char *a, *b;
	int order;

	if (!x || !y)
		return (x != 0) - (y != 0);
	a = names_str(n, (uint32_t)(x - 1), &x_len);
	b = names_str(n, (uint32_t)(y - 1), &y_len);
	order = memcmp(a, b, x_len < y_len ? x_len : y_len);
	return order ?: (x_len > y_len) - (x_len < y_len);
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct group *x = a, *y = b;
	const struct rollup *r = ctx;
	int order = 0;

	for (size_t i = 0; i < r->key_cnt && !order; i++) {
		const int64_t m = x->key[i], n = y->key[i];

		if (r->opts.plan->table->columns[r->keys[i]].type == NATIVE_TEXT)
			order = compare_texts(r->opts.names, m, n);
		else
			order = (m > n) - (m < n);
	}
	return order;
}

static struct query_value value_of(const struct rollup *r, const struct ship_column *c, int64_t key)
{
	struct query_value v = { .type = QUERY_NULL };
	const char *text;
	size_t len;

	if (c->type != NATIVE_TEXT) {
		if (key >= 0)
			query_value_integer(&v, key);
	} else if (key) {
		text = names_str(r->opts.names, (uint32_t)(key - 1), &len);
		query_value_text(&v, text, len);
		v.string = (uint32_t)key;
	}
	return v;
}

static void put_key(struct rollup *r, struct native_block *b, const struct group *g, size_t i)
{
	const struct ship_table *t = r->opts.plan->table;
	const size_t column = r->keys[i];
	const struct query_value v = value_of(r, &t->columns[column], g->key[i]);

	row_values_put(r->opts.values, b, column, &t->columns[column], &v);
	/* the build follows from the stack */
	for (size_t k = 0; k < t->column_cnt && t->columns[column].value == SHIP_STACK; k++)
		if (t->columns[k].value == SHIP_BUILD)
			row_values_put(r->opts.values, b, k, &t->columns[k], &v);
}

static int put_group(struct rollup *r, const struct group *g)
{
	const struct ship_table *t = r->opts.plan->table;
	struct native_block *b;
	int err = batch_writer_row(r->opts.writer, g->key[0] < 0 ? 0 : ship_tables_day(g->key[0]),
				   &b);

	if (err)
		return err;
	for (size_t i = 0; i < r->key_cnt; i++)
		put_key(r, b, g, i);
	for (size_t i = 0; i < t->column_cnt; i++) {
		if (t->columns[i].value == SHIP_COUNT)
			native_block_put(b, i, g->count);
		else if (t->columns[i].value == SHIP_SUM)
			native_block_put(b, i, g->sum);
		else if (t->columns[i].value == SHIP_MAX)
			native_block_put(b, i, (uint64_t)g->max);
	}
	return batch_writer_end_row(r->opts.writer);
}

int rollup_end(struct rollup *r)
{
	int err = 0;

	if (r->cnt)
		qsort_r(r->groups, r->cnt, sizeof(*r->groups), compare, r);
	for (size_t i = 0; i < r->cnt && !err; i++)
		err = put_group(r, &r->groups[i]);
	hmap_fini(&r->index);
	r->index = (struct hmap){ 0 };
	r->cnt = 0;
	return err;
}
