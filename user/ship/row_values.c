// SPDX-License-Identifier: BSD-2-Clause
/*
 * Values of `query` as bytes of a block. Owns the texts that rows repeat: each is checked, escaped or replaced by its hash
 * once, until another text takes its place in the cache.
 */
#include "ship/row_values.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/str.h"

/* Texts of each kind, a power of two. */
#define CACHE 1024

struct cached_text {
	uint32_t number; /* 0: free */
	struct buf bytes;
};

/* What a number of a text refers to. */
enum { PUBLIC_NAMES, PRIVATE_NAMES, BUILD_IDS, CACHE_CNT };

struct row_values {
	const struct trace_inputs *all;
	const struct anonymizer *anonymizer;
	struct known_stacks stacks;
	struct cached_text cache[CACHE_CNT][CACHE];
	struct buf text;
};

struct row_values *row_values_new(const struct trace_inputs *all,
				  const struct anonymizer *anonymizer)
{
	struct row_values *r = xcalloc(1, sizeof(*r));

	r->all = all;
	r->anonymizer = anonymizer;
	return r;
}

void row_values_free(struct row_values *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < CACHE_CNT; i++)
		for (size_t k = 0; k < CACHE; k++)
			buf_free(&r->cache[i][k].bytes);
	known_stacks_fini(&r->stacks);
	buf_free(&r->text);
	free(r);
}

struct known_stacks *row_values_stacks(struct row_values *r)
{
	return &r->stacks;
}

/* ---- texts ------------------------------------------------------------------------------------ */

/* The text of a number; true: its bytes are there. Otherwise they are to be made. */
static bool find_text(struct row_values *r, size_t kind, uint32_t number, struct cached_text **out)
{
	*out = &r->cache[kind][number % CACHE];
	if ((*out)->number == number)
		return true;
	(*out)->number = number;
	buf_clear(&(*out)->bytes);
	return false;
}

/* Text of a trace need not be UTF-8; a server takes any bytes, and its clients may not. */
static void make_text(struct row_values *r, enum anonymizer_text kind, const struct query_value *v,
		      struct buf *out)
{
	const struct anonymizer *a = r->anonymizer;

	if ((!a || kind == ANONYMIZER_PUBLIC) && str_is_plain(v->data, v->sz)) {
		native_block_add_text(out, v->data, v->sz);
		return;
	}
	buf_clear(&r->text);
	anonymizer_put(a, kind, v->data, v->sz, &r->text);
	native_block_add_text(out, buf_cstr(&r->text), r->text.len);
}

static void put_text(struct row_values *r, struct native_block *b, size_t column,
		     enum anonymizer_text kind, const struct query_value *v)
{
	struct cached_text *text;

	if (v->type != QUERY_TEXT) {
		native_block_put_text(b, column, "", 0);
		return;
	}
	if (!v->string) {
		make_text(r, kind, v, &b->columns[column].data.plain);
		return;
	}
	if (!find_text(r, kind == ANONYMIZER_PRIVATE ? PRIVATE_NAMES : PUBLIC_NAMES, v->string,
		       &text))
		make_text(r, kind, v, &text->bytes);
	native_block_put_bytes(b, column, text->bytes.data, text->bytes.len);
}

/* ---- stacks ----------------------------------------------------------------------------------- */

static const struct known_stack *find_stack(struct row_values *r, const struct query_value *v)
{
	static const struct known_stack none;
	const struct known_stack *found = NULL;

	if (v->type == QUERY_INTEGER)
		found = known_stacks_get(&r->stacks, r->all, v->integer);
	return found ?: &none;
}

static void put_build(struct row_values *r, struct native_block *b, size_t column, uint32_t module)
{
	const struct names_module *m = names_module(r->all->v[0]->names, module);
	struct cached_text *text;

	if (!module) {
		native_block_put_text(b, column, "", 0);
		return;
	}
	if (!find_text(r, BUILD_IDS, module, &text)) {
		buf_clear(&r->text);
		str_hex(&r->text, m->build_id, m->build_id_sz);
		native_block_add_text(&text->bytes, buf_cstr(&r->text), r->text.len);
	}
	native_block_put_bytes(b, column, text->bytes.data, text->bytes.len);
}

void row_values_put(struct row_values *r, struct native_block *b, size_t column,
		    const struct ship_column *c, const struct query_value *v)
{
	if (c->value == SHIP_STACK)
		native_block_put(b, column, anonymizer_id(r->anonymizer, find_stack(r, v)->id));
	else if (c->value == SHIP_BUILD)
		put_build(r, b, column, find_stack(r, v)->program);
	else if (c->type == NATIVE_TEXT)
		put_text(r, b, column, c->text, v);
	else
		native_block_put(b, column,
				 (uint64_t)(v->type == QUERY_INTEGER ? v->integer : c->none));
}
