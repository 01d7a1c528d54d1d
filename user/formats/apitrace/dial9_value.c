// SPDX-License-Identifier: BSD-2-Clause
/*
 * Values as the lists and maps of dial9 0.4, and back.
 *
 * A list carries its elements' types, so one LIST field, always with one element, holds any value at all
 * exactly. dial9 has no null among them: an empty map stands for it. Bytes go as bytes and not as hex.
 */
#include "formats/apitrace/dial9_value.h"

#include <errno.h>
#include <string.h>

#include "formats/apitrace/json.h"

#define JSON_MAX ((size_t)200 << 20)

/* ---- to dial9: the encoder keeps the first error, so none is checked here ------------------------- */

static void dyn_open(void *enc, bool map)
{
	if (map)
		dial9_enc_open_map(enc);
	else
		dial9_enc_open_list(enc);
}

static void dyn_close(void *enc, bool map)
{
	dial9_enc_close(enc);
}

static void dyn_null(void *enc)
{
	dial9_enc_open_map(enc);
	dial9_enc_close(enc);
}

static void dyn_boolean(void *enc, bool v)
{
	dial9_enc_put_bool(enc, v);
}

static void dyn_uint(void *enc, uint64_t v)
{
	dial9_enc_put_u64(enc, v);
}

static void dyn_neg(void *enc, uint64_t magnitude)
{
	dial9_enc_put_i64(enc, (int64_t)(0 - magnitude));
}

static void dyn_real(void *enc, double v)
{
	dial9_enc_put_f64(enc, v);
}

static void dyn_text(void *enc, const char *p, size_t len)
{
	dial9_enc_put_str(enc, p, len);
}

static void dyn_key(void *enc, const char *key)
{
	dial9_enc_put_str(enc, key, strlen(key));
}

static void dyn_bytes(void *enc, const uint8_t *p, size_t sz)
{
	dial9_enc_put_bytes(enc, p, sz);
}

static const struct apitrace_sink_ops dyn_ops = {
	.null = dyn_null,
	.boolean = dyn_boolean,
	.uint = dyn_uint,
	.neg = dyn_neg,
	.real = dyn_real,
	.text = dyn_text,
	.key = dyn_key,
	.bytes = dyn_bytes,
	.open = dyn_open,
	.close = dyn_close,
	.all_reals = true,
};

static void put_json(struct dial9_enc *enc, const struct apitrace_sigs *sigs, struct apitrace_cur c)
{
	struct apitrace_json json = { .max = JSON_MAX };
	struct apitrace_sink k = { .ops = &apitrace_json_ops, .s = &json, .plain = true };

	apitrace_print_value(&k, sigs, &c);
	dial9_enc_open_map(enc);
	dyn_key(enc, "json");
	dial9_enc_put_str(enc, buf_cstr(&json.out), json.out.len);
	dial9_enc_close(enc);
	buf_free(&json.out);
}

void apitrace_dial9_put(struct dial9_enc *enc, const struct apitrace_sigs *sigs,
			struct apitrace_cur c)
{
	struct apitrace_sink k = { .ops = &dyn_ops, .s = enc, .plain = true };

	dial9_enc_open_list(enc);
	if (apitrace_print_depth(sigs, c) > APITRACE_DIAL9_DEPTH)
		put_json(enc, sigs, c);
	else
		apitrace_print_value(&k, sigs, &c);
	dial9_enc_close(enc);
}

/* ---- from dial9 -------------------------------------------------------------------------------- */

#define LEVELS 66 /* dial9 goes 64 deep */

struct dyn_tokens {
	struct apitrace_tokens base;
	struct level {
		struct dial9_iter it;
		bool map, has_value;
		struct dial9_value value; /* of the key that was given last */
	} level[LEVELS];
	size_t depth;
};

static int set_token(struct dyn_tokens *t, const struct dial9_value *v, struct apitrace_token *out)
{
	switch (v->type) {
	case DIAL9_VARINT:
	case DIAL9_U8:
	case DIAL9_U16:
	case DIAL9_U32:
		out->kind = APITRACE_TOKEN_UINT;
		out->number = v->u64;
		return 0;
	case DIAL9_I64:
		out->kind = v->i64 < 0 ? APITRACE_TOKEN_NEG : APITRACE_TOKEN_UINT;
		out->number = v->i64 < 0 ? 0 - (uint64_t)v->i64 : (uint64_t)v->i64;
		return 0;
	case DIAL9_F64:
		out->kind = APITRACE_TOKEN_REAL;
		out->real = v->f64;
		return 0;
	case DIAL9_BOOL:
		out->kind = APITRACE_TOKEN_BOOL;
		out->number = v->b;
		return 0;
	case DIAL9_STRING:
	case DIAL9_BYTES:
		out->kind = v->type == DIAL9_BYTES ? APITRACE_TOKEN_BYTES : APITRACE_TOKEN_TEXT;
		out->text = (struct dial9_str){ v->str.ptr, v->str.len };
		return 0;
	case DIAL9_LIST:
	case DIAL9_MAP:
		if (t->depth == LEVELS)
			return -E2BIG;
		out->kind = v->type == DIAL9_MAP ? APITRACE_TOKEN_MAP : APITRACE_TOKEN_LIST;
		t->level[t->depth] = (struct level){ .map = v->type == DIAL9_MAP };
		dial9_iter_init(&t->level[t->depth++].it, v);
		return 0;
	default:
		return -EBADMSG;
	}
}

static int dyn_next(struct apitrace_tokens *base, struct apitrace_token *out)
{
	struct dyn_tokens *t = (struct dyn_tokens *)base;
	struct dial9_value v;
	struct level *l;
	int ret;

	*out = (struct apitrace_token){ .kind = APITRACE_TOKEN_END };
	if (!t->depth)
		return 0;
	l = &t->level[t->depth - 1];
	if (l->has_value) {
		l->has_value = false;
		v = l->value;
		return set_token(t, &v, out);
	}
	ret = l->map ? dial9_map_next(&l->it, &v, &l->value) : dial9_list_next(&l->it, &v);
	if (ret < 0)
		return ret;
	if (!ret) {
		t->depth--;
		out->kind = APITRACE_TOKEN_CLOSE;
		return 0;
	}
	l->has_value = l->map;
	return set_token(t, &v, out);
}

int apitrace_dial9_get(const struct dial9_value *list, struct buf *out)
{
	struct dyn_tokens t = { .base = { dyn_next }, .depth = 1 };

	if (list->type != DIAL9_LIST)
		return -EBADMSG;
	dial9_iter_init(&t.level[0].it, list);
	return apitrace_build_value(&t.base, out);
}
