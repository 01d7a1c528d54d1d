// SPDX-License-Identifier: BSD-2-Clause
/*
 * Numbers of events by values of fields. Owns the rows and where each schema has the fields; independent of text, files
 * and options.
 *
 * While reading, a key has the raw values, and the schema and recording that give them meaning: names of values may
 * come later than the events. counts_finish() looks these up, and joins the keys that then are equal.
 */
#include "profile/counts/counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Words of a key before the values. */
enum { KEY_KIND, KEY_SLOT, KEY_TYPES, KEY_VALUES };
/* The same of a row, which has two words per value. */
enum { ROW_SLOT, ROW_PART, ROW_VALUES };

enum { KIND_SCHEMA, KIND_PLACE, KIND_WORDS };

void counts_init(struct counts *c, const struct counts_opts *opts)
{
	*c = (struct counts){ .opts = *opts };
	c->kind_keys.words = KIND_WORDS;
	c->keys.words = KEY_VALUES + opts->by_cnt;
	c->keys.max = opts->rows_max ? opts->rows_max :
		      opts->hist     ? COUNTS_HISTS_MAX :
				       COUNTS_ROWS_MAX;
	c->row_keys.words = ROW_VALUES + 2 * opts->by_cnt;
}

void counts_clear(struct counts *c)
{
	for (size_t i = 0; c->opts.hist && i < c->keys.cnt; i++)
		free(c->hists[i]);
	free(c->cnt);
	free(c->sums);
	free(c->hists);
	free(c->rows);
	free(c->values);
	key_table_fini(&c->keys);
	key_table_fini(&c->row_keys);
	c->cnt = NULL;
	c->sums = NULL;
	c->hists = NULL;
	c->rows = NULL;
	c->values = NULL;
	c->cnt_cap = c->sum_cap = c->hist_cap = c->row_cnt = 0;
	c->counted = c->lacking = c->untimed = c->beyond = 0;
}

void counts_fini(struct counts *c)
{
	counts_clear(c);
	key_table_fini(&c->kind_keys);
	free(c->kinds);
	*c = (struct counts){ 0 };
}

/* ---- kinds ------------------------------------------------------------------------------------- */

static int32_t find_field(struct counts_kind *k, const char *name)
{
	int32_t at = name ? trace_field_at(k->schema, name) : -1;

	k->lacks_field |= name && at < 0;
	return at;
}

static void kind_init(struct counts *c, struct counts_kind *k, const struct trace_event *ev)
{
	*k = (struct counts_kind){ .schema = ev->schema, .part = ev->part, .source = ev->source };
	k->name = c->opts.name_of(c->opts.ctx, ev);
	for (size_t i = 0; i < c->opts.by_cnt; i++)
		k->at[i] =
			c->opts.by[i].word == COUNT_FIELD ? find_field(k, c->opts.by[i].field) : -1;
	k->sum_at = find_field(k, c->opts.sum);
	k->hist_at = find_field(k, c->opts.hist);
}

static uint32_t find_kind(struct counts *c, const struct trace_event *ev, uint32_t part)
{
	const uint64_t key[KIND_WORDS] = { (uintptr_t)ev->schema,
					   (uint64_t)part << 32 | ev->source };
	const size_t known = c->kind_keys.cnt, at = key_table_at(&c->kind_keys, key);

	if (at == known) {
		c->kinds = array_reserve(c->kinds, &c->kind_cap, at + 1, sizeof(*c->kinds));
		kind_init(c, &c->kinds[at], ev);
	}
	return (uint32_t)at;
}

const struct counts_kind *counts_kind(struct counts *c, const struct trace_event *ev)
{
	const size_t slot = ((uintptr_t)ev->schema >> 5 ^ ev->source) % COUNTS_RECENT;
	/* only samples have names that differ between parts */
	const uint32_t part = ev->kind == TRACE_SAMPLE ? ev->part : 0;
	const struct counts_kind *k;

	if (c->recent[slot].schema != ev->schema || c->recent[slot].part != part ||
	    c->recent[slot].source != ev->source) {
		c->recent[slot].kind = find_kind(c, ev, part);
		c->recent[slot].schema = ev->schema;
		c->recent[slot].part = part;
		c->recent[slot].source = ev->source;
	}
	k = &c->kinds[c->recent[slot].kind];
	return k->name == NAMES_NONE ? NULL : k;
}

bool counts_has_fields(const struct counts *c)
{
	for (size_t i = 0; i < c->kind_keys.cnt; i++)
		if (c->kinds[i].name != NAMES_NONE && !c->kinds[i].lacks_field)
			return true;
	return false;
}

/* ---- events ------------------------------------------------------------------------------------ */

static size_t bucket_of(__int128 v)
{
	if (v < 0)
		return COUNTS_NEGATIVE;
	return v ? COUNTS_POWERS + 63 - (size_t)__builtin_clzll((uint64_t)v) : COUNTS_ZERO;
}

uint64_t counts_bucket_from(size_t bucket)
{
	return bucket < COUNTS_POWERS ? 0 : 1ULL << (bucket - COUNTS_POWERS);
}

static void sum_merge(struct counts_sum *to, const struct counts_sum *from, bool first)
{
	to->sum += from->sum;
	if (first || from->min < to->min)
		to->min = from->min;
	if (first || from->max > to->max)
		to->max = from->max;
}

/* Room for the numbers of a new key. */
static void add_numbers(struct counts *c, size_t at)
{
	c->cnt = array_reserve(c->cnt, &c->cnt_cap, at + 1, sizeof(*c->cnt));
	if (c->opts.sum)
		c->sums = array_reserve(c->sums, &c->sum_cap, at + 1, sizeof(*c->sums));
	if (!c->opts.hist)
		return;
	c->hists = array_reserve(c->hists, &c->hist_cap, at + 1, sizeof(*c->hists));
	c->hists[at] = xcalloc(COUNTS_BUCKETS, sizeof(**c->hists));
}

/* False: text that no key has. */
static bool make_key(const struct counts *c, const struct trace *t, const struct trace_event *ev,
		     const struct counts_kind *k, uint64_t *key)
{
	const bool learn = !key_table_is_full(&c->keys);
	struct count_value v;

	key[KEY_KIND] = (uint64_t)(k - c->kinds) << 32 | ev->part;
	key[KEY_SLOT] = c->opts.interval_ns ? ev->ts / c->opts.interval_ns : 0;
	key[KEY_TYPES] = 0;
	for (size_t i = 0; i < c->opts.by_cnt; i++) {
		event_fields_value(t, ev, c->opts.by[i].word, k->at[i], k->name, learn, &v);
		if (v.type == COUNT_DROPPED)
			return false;
		key[KEY_TYPES] |= (uint64_t)v.type << (8 * i);
		key[KEY_VALUES + i] = v.v;
	}
	return true;
}

static size_t key_at(struct counts *c, const struct trace *t, const struct trace_event *ev,
		     const struct counts_kind *k)
{
	uint64_t key[KEY_VALUES + COUNT_COLUMNS_MAX];
	const size_t known = c->keys.cnt;
	size_t at;

	if (!make_key(c, t, ev, k, key))
		return KEY_TABLE_FULL;
	at = key_table_at(&c->keys, key);
	if (at == known && at != KEY_TABLE_FULL)
		add_numbers(c, at);
	return at;
}

void counts_add(struct counts *c, const struct trace *t, const struct trace_event *ev,
		const struct counts_kind *k)
{
	__int128 sum = 0, hist = 0;
	size_t at;

	if (k->lacks_field || (c->opts.sum && !event_fields_number(ev, k->sum_at, &sum)) ||
	    (c->opts.hist && !event_fields_number(ev, k->hist_at, &hist))) {
		c->lacking++;
		return;
	}
	if (c->opts.interval_ns && !ev->has_ts) {
		c->untimed++;
		return;
	}
	at = key_at(c, t, ev, k);
	if (at == KEY_TABLE_FULL) {
		c->beyond++;
		return;
	}
	if (c->opts.sum)
		sum_merge(&c->sums[at], &(struct counts_sum){ sum, sum, sum }, !c->cnt[at]);
	if (c->opts.hist)
		c->hists[at][bucket_of(hist)]++;
	c->cnt[at]++;
	c->counted++;
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* The values of a key, with names. */
static void load_values(const struct counts *c, const struct trace *t, const uint64_t *key,
			struct count_value *v)
{
	const struct counts_kind *k = &c->kinds[key[KEY_KIND] >> 32];
	struct names *n = (struct names *)trace_names(t);

	for (size_t i = 0; i < c->opts.by_cnt; i++) {
		v[i] = (struct count_value){ .v = key[KEY_VALUES + i],
					     .type = (uint8_t)(key[KEY_TYPES] >> (8 * i)),
					     .text = NAMES_NONE };
		if (c->opts.by[i].word == COUNT_FIELD)
			event_fields_name(t, k->schema, (uint32_t)key[KEY_KIND], k->at[i], n,
					  &v[i]);
	}
}

static size_t row_at(struct counts *c, const uint64_t *key, const struct count_value *v)
{
	uint64_t row_key[ROW_VALUES + 2 * COUNT_COLUMNS_MAX];

	row_key[ROW_SLOT] = key[KEY_SLOT];
	row_key[ROW_PART] = c->by_part ? (uint32_t)key[KEY_KIND] : NAMES_NONE;
	for (size_t i = 0; i < c->opts.by_cnt; i++) {
		row_key[ROW_VALUES + 2 * i] = v[i].v;
		row_key[ROW_VALUES + 2 * i + 1] = (uint64_t)v[i].type << 32 | v[i].text;
	}
	return key_table_at(&c->row_keys, row_key);
}

/* Adds key number @from to a row, which starts with it if it is new. */
static void row_merge(struct counts *c, struct counts_row *row, size_t from)
{
	if (c->opts.sum)
		sum_merge(&row->sum, &c->sums[from], !row->cnt);
	row->cnt += c->cnt[from];
	if (!c->opts.hist)
		return;
	if (!row->hist) {
		row->hist = c->hists[from];
		return;
	}
	for (size_t i = 0; i < COUNTS_BUCKETS; i++)
		((uint64_t *)row->hist)[i] += c->hists[from][i];
}

static int most_first(const void *a, const void *b)
{
	const struct counts_row *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	if (x->cnt != y->cnt)
		return x->cnt < y->cnt ? 1 : -1;
	/* in the order of their first events */
	return x->v < y->v ? -1 : x->v > y->v;
}

/* Intervals of one recording follow each other: another clock has other times. */
static int by_interval(const void *a, const void *b)
{
	const struct counts_row *x = a, *y = b;

	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return most_first(a, b);
}

/* Whether columns mean something else on another host. */
static bool has_ids(const struct counts *c)
{
	for (size_t i = 0; i < c->opts.by_cnt; i++)
		if (c->opts.by[i].word == COUNT_PID || c->opts.by[i].word == COUNT_TID ||
		    c->opts.by[i].word == COUNT_CPU)
			return true;
	return false;
}

static bool needs_parts(const struct counts *c, const struct parts *p)
{
	return (has_ids(c) && !parts_share_ids(p)) || (c->opts.interval_ns && parts_clocks(p) > 1);
}

void counts_finish(struct counts *c, const struct trace *t)
{
	const size_t columns = c->opts.by_cnt;
	struct count_value v[COUNT_COLUMNS_MAX];
	struct counts_row *row;

	c->by_part = needs_parts(c, &trace_names(t)->parts);
	c->rows = xcalloc(c->keys.cnt + 1, sizeof(*c->rows));
	c->values = xcalloc(c->keys.cnt * columns + 1, sizeof(*c->values));
	for (size_t i = 0; i < c->keys.cnt; i++) {
		const uint64_t *key = key_table_key(&c->keys, i);
		size_t at;

		load_values(c, t, key, v);
		at = row_at(c, key, v);
		row = &c->rows[at];
		if (!row->cnt) {
			memcpy(c->values + at * columns, v, columns * sizeof(*v));
			row->v = c->values + at * columns;
			row->slot = key[KEY_SLOT];
			row->part = c->by_part ? (uint32_t)key[KEY_KIND] : NAMES_NONE;
		}
		row_merge(c, row, i);
	}
	c->row_cnt = c->row_keys.cnt;
	if (c->row_cnt)
		qsort(c->rows, c->row_cnt, sizeof(*c->rows),
		      c->opts.interval_ns ? by_interval : most_first);
}
