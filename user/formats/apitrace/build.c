// SPDX-License-Identifier: BSD-2-Clause
/*
 * The way back from words to values: what print.c says plainly becomes the flat form again.
 *
 * Tokens come from JSON text (json.c) or from lists and maps of dial9 (dial9_value.c), and one builder
 * serves both. The first key of a map is its type. The length of a list is known only after the list, so
 * counts are five bytes wide and filled in later; the writer shortens them. The input is not trusted: on
 * an error nothing is added to the output.
 *
 * Fields normally describe a call completely. For unusual calls (an argument twice, an argument beyond the
 * signature, a result at the enter) the fields have the usual part, and details as JSON have the exact
 * form. Both conversions of details are here, too.
 */
#include "formats/apitrace/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/apitrace/json.h"

#define COUNT_BYTES 5
/* The details of an event as JSON text. */
#define DETAILS_MAX ((size_t)200 << 20)

static int build(struct apitrace_tokens *t, const struct apitrace_token *first, struct buf *out,
		 unsigned int depth);

static int expect_token(struct apitrace_tokens *t, enum apitrace_token_kind kind,
			struct apitrace_token *tok)
{
	int err = t->next(t, tok);

	return err ? err : tok->kind == kind ? 0 : -EBADMSG;
}

static bool is_text(const struct apitrace_token *tok, const char *s)
{
	return tok->kind == APITRACE_TOKEN_TEXT && tok->text.len == strlen(s) &&
	       !memcmp(tok->text.ptr, s, tok->text.len);
}

static int expect_key(struct apitrace_tokens *t, const char *key)
{
	struct apitrace_token tok;
	int err = expect_token(t, APITRACE_TOKEN_TEXT, &tok);

	return err ? err : is_text(&tok, key) ? 0 : -EBADMSG;
}

static int expect_close(struct apitrace_tokens *t)
{
	struct apitrace_token tok;

	return expect_token(t, APITRACE_TOKEN_CLOSE, &tok);
}

static int key_number(struct apitrace_tokens *t, const char *key, uint64_t *out)
{
	struct apitrace_token tok;
	int err = expect_key(t, key);

	if (!err)
		err = expect_token(t, APITRACE_TOKEN_UINT, &tok);
	if (!err)
		*out = tok.number;
	return err;
}

/* Past whatever comes next. */
static int skip(struct apitrace_tokens *t)
{
	struct apitrace_token tok;
	size_t open = 0;
	int err;

	do {
		err = t->next(t, &tok);
		if (err)
			return err;
		if (tok.kind == APITRACE_TOKEN_LIST || tok.kind == APITRACE_TOKEN_MAP)
			open++;
		else if (tok.kind == APITRACE_TOKEN_CLOSE || tok.kind == APITRACE_TOKEN_END)
			if (!open--)
				return -EBADMSG;
	} while (open);
	return 0;
}

static void put_bits(struct buf *out, uint8_t tag, uint64_t bits, unsigned int bytes)
{
	buf_addch(out, (char)tag);
	for (unsigned int i = 0; i < bytes; i++)
		buf_addch(out, (char)(bits >> (8 * i)));
}

static size_t begin_count(struct buf *out)
{
	size_t at = out->len;

	for (unsigned int i = 0; i < COUNT_BYTES; i++)
		buf_addch(out, 0);
	return at;
}

static void end_count(struct buf *out, size_t at, uint64_t cnt)
{
	for (unsigned int i = 0; i < COUNT_BYTES; i++)
		out->data[at + i] =
			(char)((cnt >> (7 * i) & 0x7f) | (i < COUNT_BYTES - 1 ? 0x80 : 0));
}

static int put_hex(struct buf *out, uint8_t tag, struct dial9_str hex)
{
	if (hex.len % 2)
		return -EBADMSG;
	apitrace_value_put_tagged(out, tag, hex.len / 2);
	for (size_t i = 0; i < hex.len; i += 2) {
		int hi = apitrace_json_hex_digit(hex.ptr[i]),
		    lo = apitrace_json_hex_digit(hex.ptr[i + 1]);

		if (hi < 0 || lo < 0)
			return -EBADMSG;
		buf_addch(out, (char)(hi << 4 | lo));
	}
	return 0;
}

static void put_string(struct buf *out, uint8_t tag, struct dial9_str s)
{
	apitrace_value_put_tagged(out, tag, s.len);
	buf_add(out, s.ptr, s.len);
}

static int parse_bits(struct dial9_str hex, size_t digits, uint64_t *bits)
{
	uint64_t v = 0;

	if (hex.len != digits)
		return -EBADMSG;
	for (size_t i = 0; i < digits; i++) {
		int d = apitrace_json_hex_digit(hex.ptr[i]);

		if (d < 0)
			return -EBADMSG;
		v = v << 4 | (uint64_t)d;
	}
	*bits = v;
	return 0;
}

/* {"f": number or bits}, {"d": number or bits} */
static int build_real(struct apitrace_tokens *t, struct buf *out, uint8_t tag)
{
	unsigned int bytes = tag == APITRACE_FLOAT ? 4 : 8;
	struct apitrace_token tok;
	uint64_t bits = 0;
	uint32_t bits32;
	float f;
	int err = t->next(t, &tok);

	if (err)
		return err;
	if (tok.kind == APITRACE_TOKEN_TEXT) {
		err = parse_bits(tok.text, bytes * 2, &bits);
	} else if (tok.kind != APITRACE_TOKEN_REAL) {
		err = -EBADMSG;
	} else if (tag == APITRACE_FLOAT) {
		f = (float)tok.real;
		memcpy(&bits32, &f, sizeof(bits32));
		bits = bits32;
	} else {
		memcpy(&bits, &tok.real, sizeof(bits));
	}
	if (err)
		return err;
	put_bits(out, tag, bits, bytes);
	return expect_close(t);
}

/* "hex": bytes, the member of an object */
static int build_hex(struct apitrace_tokens *t, struct buf *out, uint8_t tag)
{
	struct apitrace_token tok;
	int err = expect_key(t, "hex");

	if (!err)
		err = t->next(t, &tok);
	if (err)
		return err;
	if (tok.kind == APITRACE_TOKEN_BYTES)
		put_string(out, tag, tok.text);
	else if (tok.kind == APITRACE_TOKEN_TEXT)
		err = put_hex(out, tag, tok.text);
	else
		err = -EBADMSG;
	return err;
}

/* {"s": {"hex": bytes}}: text that is not UTF-8 */
static int build_odd_string(struct apitrace_tokens *t, struct buf *out)
{
	struct apitrace_token tok;
	int err = expect_token(t, APITRACE_TOKEN_MAP, &tok);

	if (!err)
		err = build_hex(t, out, APITRACE_STRING);
	if (!err)
		err = expect_close(t);
	return err ? err : expect_close(t);
}

/* {"blob": size, "hex": bytes} */
static int build_blob(struct apitrace_tokens *t, struct buf *out)
{
	struct apitrace_token tok;
	int err = expect_token(t, APITRACE_TOKEN_UINT, &tok);

	if (!err)
		err = build_hex(t, out, APITRACE_BLOB);
	return err ? err : expect_close(t);
}

/* A number as enums have it: 5, -5, {"neg": 0} */
static int get_tagged(struct apitrace_tokens *t, uint8_t *tag, uint64_t *v)
{
	struct apitrace_token tok;
	int err = t->next(t, &tok);

	if (err)
		return err;
	*v = tok.number;
	*tag = tok.kind == APITRACE_TOKEN_UINT ? APITRACE_UINT : APITRACE_NEG;
	if (tok.kind == APITRACE_TOKEN_UINT || tok.kind == APITRACE_TOKEN_NEG)
		return 0;
	if (tok.kind != APITRACE_TOKEN_MAP)
		return -EBADMSG;
	err = key_number(t, "neg", v);
	return err ? err : expect_close(t);
}

/* A key whose value repeats the signature, and the signature's id. */
static int key_sig(struct apitrace_tokens *t, const char *key, uint64_t *sig)
{
	int err = expect_key(t, key);

	if (!err)
		err = skip(t);
	return err ? err : key_number(t, "sig", sig);
}

/* {"enum": value, "name": ..., "sig": id} */
static int build_enum(struct apitrace_tokens *t, struct buf *out)
{
	uint64_t v, sig;
	uint8_t tag;
	int err = get_tagged(t, &tag, &v);

	if (!err)
		err = key_sig(t, "name", &sig);
	if (err)
		return err;
	apitrace_value_put_tagged(out, APITRACE_ENUM, sig);
	apitrace_value_put_tagged(out, tag, v);
	return expect_close(t);
}

/* {"mask": value, "names": [...], "sig": id, perhaps "rest": value} */
static int build_mask(struct apitrace_tokens *t, struct buf *out)
{
	struct apitrace_token tok;
	uint64_t v, sig;
	int err = expect_token(t, APITRACE_TOKEN_UINT, &tok);

	v = tok.number;
	if (!err)
		err = key_sig(t, "names", &sig);
	if (err)
		return err;
	apitrace_value_put_tagged(out, APITRACE_MASK, sig);
	apitrace_value_put_uint(out, v);
	err = t->next(t, &tok);
	if (err || tok.kind == APITRACE_TOKEN_CLOSE)
		return err;
	if (!is_text(&tok, "rest"))
		return -EBADMSG;
	err = skip(t);
	return err ? err : expect_close(t);
}

/* Values up to the end of the list, counted. */
static int build_list(struct apitrace_tokens *t, struct buf *out, unsigned int depth)
{
	struct apitrace_token tok;
	uint64_t cnt = 0;
	size_t at;
	int err;

	buf_addch(out, APITRACE_ARRAY);
	at = begin_count(out);
	while (!(err = t->next(t, &tok)) && tok.kind != APITRACE_TOKEN_CLOSE) {
		err = build(t, &tok, out, depth + 1);
		if (err)
			return err;
		cnt++;
	}
	end_count(out, at, cnt);
	return err;
}

/* {"struct": name, "sig": id, "m": [[name, value]...]} */
static int build_struct(struct apitrace_tokens *t, struct buf *out, unsigned int depth)
{
	struct apitrace_token tok;
	uint64_t sig = 0;
	int err = skip(t);

	if (!err)
		err = key_number(t, "sig", &sig);
	if (!err)
		err = expect_key(t, "m");
	if (!err)
		err = expect_token(t, APITRACE_TOKEN_LIST, &tok);
	if (err)
		return err;
	apitrace_value_put_tagged(out, APITRACE_STRUCT, sig);
	while (!(err = t->next(t, &tok)) && tok.kind != APITRACE_TOKEN_CLOSE) {
		err = tok.kind == APITRACE_TOKEN_LIST ? skip(t) : -EBADMSG;
		if (!err)
			err = t->next(t, &tok);
		if (!err)
			err = build(t, &tok, out, depth + 1);
		if (!err)
			err = expect_close(t);
		if (err)
			return err;
	}
	return err ? err : expect_close(t);
}

/* {"human": value, "machine": value} */
static int build_repr(struct apitrace_tokens *t, struct buf *out, unsigned int depth)
{
	struct apitrace_token tok;
	int err;

	buf_addch(out, APITRACE_REPR);
	err = t->next(t, &tok);
	if (!err)
		err = build(t, &tok, out, depth + 1);
	if (!err)
		err = expect_key(t, "machine");
	if (!err)
		err = t->next(t, &tok);
	if (!err)
		err = build(t, &tok, out, depth + 1);
	return err ? err : expect_close(t);
}

/* One character of valid UTF-8; what is not valid passes as bytes. */
static uint32_t get_char(const unsigned char **p, const unsigned char *end)
{
	unsigned char c = *(*p)++;
	unsigned int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
	uint32_t u = more ? c & (0x3fU >> more) : c;

	for (; more && *p < end; more--)
		u = u << 6 | (*(*p)++ & 0x3f);
	return u;
}

/* {"w": text or [units]} */
static int build_wide(struct apitrace_tokens *t, struct buf *out)
{
	struct apitrace_token tok;
	uint64_t cnt = 0;
	size_t at;
	int err = t->next(t, &tok);

	if (err)
		return err;
	buf_addch(out, APITRACE_WSTRING);
	at = begin_count(out);
	if (tok.kind == APITRACE_TOKEN_TEXT) {
		const unsigned char *p = (const unsigned char *)tok.text.ptr;
		const unsigned char *end = p + tok.text.len;

		for (; p < end; cnt++)
			apitrace_value_put_uint(out, get_char(&p, end));
	} else if (tok.kind == APITRACE_TOKEN_LIST) {
		while (!(err = t->next(t, &tok)) && tok.kind == APITRACE_TOKEN_UINT) {
			apitrace_value_put_uint(out, tok.number);
			cnt++;
		}
		if (err || tok.kind != APITRACE_TOKEN_CLOSE)
			return -EBADMSG;
	} else {
		return -EBADMSG;
	}
	end_count(out, at, cnt);
	return expect_close(t);
}

/* {"p": address}, {"neg": magnitude} */
static int build_number(struct apitrace_tokens *t, struct buf *out, uint8_t tag)
{
	struct apitrace_token tok;
	int err = expect_token(t, APITRACE_TOKEN_UINT, &tok);

	if (err)
		return err;
	apitrace_value_put_tagged(out, tag, tok.number);
	return expect_close(t);
}

/* {"json": text}: what nests deeper than the lists of dial9 may */
static int build_nested_json(struct apitrace_tokens *t, struct buf *out, unsigned int depth)
{
	struct apitrace_json_tokens inner;
	struct apitrace_token tok;
	int err = expect_token(t, APITRACE_TOKEN_TEXT, &tok);

	if (err)
		return err;
	apitrace_json_tokens(&inner, tok.text.ptr, tok.text.len);
	err = inner.base.next(&inner.base, &tok);
	if (!err)
		err = build(&inner.base, &tok, out, depth + 1);
	apitrace_json_tokens_fini(&inner);
	return err ? err : expect_close(t);
}

static int build_map(struct apitrace_tokens *t, struct buf *out, unsigned int depth)
{
	struct apitrace_token key;
	int err = t->next(t, &key);

	if (err)
		return err;
	if (key.kind == APITRACE_TOKEN_CLOSE) {
		buf_addch(out, APITRACE_NULL);
		return 0;
	}
	if (is_text(&key, "enum"))
		return build_enum(t, out);
	if (is_text(&key, "mask"))
		return build_mask(t, out);
	if (is_text(&key, "struct"))
		return build_struct(t, out, depth);
	if (is_text(&key, "f"))
		return build_real(t, out, APITRACE_FLOAT);
	if (is_text(&key, "d"))
		return build_real(t, out, APITRACE_DOUBLE);
	if (is_text(&key, "p"))
		return build_number(t, out, APITRACE_POINTER);
	if (is_text(&key, "neg"))
		return build_number(t, out, APITRACE_NEG);
	if (is_text(&key, "s"))
		return build_odd_string(t, out);
	if (is_text(&key, "blob"))
		return build_blob(t, out);
	if (is_text(&key, "w"))
		return build_wide(t, out);
	if (is_text(&key, "human"))
		return build_repr(t, out, depth);
	if (is_text(&key, "json"))
		return build_nested_json(t, out, depth);
	return -EBADMSG;
}

static int build(struct apitrace_tokens *t, const struct apitrace_token *tok, struct buf *out,
		 unsigned int depth)
{
	uint64_t bits;

	if (depth > APITRACE_DEPTH_MAX || out->len > APITRACE_EVENT_MAX)
		return -E2BIG;
	switch (tok->kind) {
	case APITRACE_TOKEN_NULL:
		buf_addch(out, APITRACE_NULL);
		return 0;
	case APITRACE_TOKEN_BOOL:
		buf_addch(out, tok->number ? APITRACE_TRUE : APITRACE_FALSE);
		return 0;
	case APITRACE_TOKEN_UINT:
		apitrace_value_put_tagged(out, APITRACE_UINT, tok->number);
		return 0;
	case APITRACE_TOKEN_NEG:
		apitrace_value_put_tagged(out, APITRACE_NEG, tok->number);
		return 0;
	case APITRACE_TOKEN_REAL:
		memcpy(&bits, &tok->real, sizeof(bits));
		put_bits(out, APITRACE_DOUBLE, bits, 8);
		return 0;
	case APITRACE_TOKEN_TEXT:
		put_string(out, APITRACE_STRING, tok->text);
		return 0;
	case APITRACE_TOKEN_BYTES:
		put_string(out, APITRACE_BLOB, tok->text);
		return 0;
	case APITRACE_TOKEN_LIST:
		return build_list(t, out, depth);
	case APITRACE_TOKEN_MAP:
		return build_map(t, out, depth);
	case APITRACE_TOKEN_CLOSE:
	case APITRACE_TOKEN_END:
		break;
	}
	return -EBADMSG;
}

static int build_from(struct apitrace_tokens *t, const struct apitrace_token *first,
		      struct buf *out)
{
	size_t len = out->len;
	int err = build(t, first, out, 0);

	if (err)
		out->len = len;
	return err;
}

int apitrace_build_value(struct apitrace_tokens *t, struct buf *out)
{
	struct apitrace_token tok;
	int err = t->next(t, &tok);

	return err ? err : build_from(t, &tok, out);
}

/* ---- details ------------------------------------------------------------------------------------- */

static void print_stack(const struct apitrace_sink *k, struct apitrace_detail *det)
{
	k->ops->open(k->s, false);
	for (uint64_t i = 0; i < det->number; i++)
		k->ops->uint(k->s, apitrace_value_uint(&det->value));
	k->ops->close(k->s, false);
}

static void print_details(const struct apitrace_sink *k, const struct apitrace_sigs *sigs,
			  const char *key, struct apitrace_cur c)
{
	struct apitrace_detail det;

	k->ops->key(k->s, key);
	k->ops->open(k->s, false);
	while (apitrace_value_detail(sigs, &c, &det)) {
		k->ops->open(k->s, false);
		k->ops->uint(k->s, det.tag);
		if (det.tag == APITRACE_DETAIL_ARG || det.tag == APITRACE_DETAIL_FLAGS)
			k->ops->uint(k->s, det.number);
		if (det.tag == APITRACE_DETAIL_STACK)
			print_stack(k, &det);
		else if (det.tag != APITRACE_DETAIL_FLAGS)
			apitrace_print_value(k, sigs, &det.value);
		k->ops->close(k->s, false);
	}
	k->ops->close(k->s, false);
}

int apitrace_details_print(const struct apitrace_sigs *sigs, const struct apitrace_cur *enter,
			   const struct apitrace_cur *leave, struct buf *out)
{
	struct apitrace_json json = { .max = DETAILS_MAX };
	struct apitrace_sink k = { .ops = &apitrace_json_ops, .s = &json, .plain = true };
	int err;

	k.ops->open(k.s, true);
	if (enter)
		print_details(&k, sigs, "enter", *enter);
	if (leave)
		print_details(&k, sigs, "leave", *leave);
	k.ops->close(k.s, true);
	err = json.over ? -E2BIG : 0;
	if (!err)
		buf_add(out, json.out.data, json.out.len);
	buf_free(&json.out);
	return err;
}

static int parse_stack(struct apitrace_tokens *t, struct buf *out)
{
	struct apitrace_token tok;
	struct buf ids = { 0 };
	uint64_t cnt = 0;
	int err = expect_token(t, APITRACE_TOKEN_LIST, &tok);

	while (!err && !(err = t->next(t, &tok)) && tok.kind == APITRACE_TOKEN_UINT) {
		apitrace_value_put_uint(&ids, tok.number);
		cnt++;
	}
	if (!err && tok.kind != APITRACE_TOKEN_CLOSE)
		err = -EBADMSG;
	if (!err) {
		apitrace_value_put_uint(out, cnt);
		if (ids.len)
			buf_add(out, ids.data, ids.len);
	}
	buf_free(&ids);
	return err;
}

/* One detail, after its opening bracket. */
static int parse_detail(struct apitrace_tokens *t, struct buf *out)
{
	struct apitrace_token tok;
	uint64_t tag;
	int err = expect_token(t, APITRACE_TOKEN_UINT, &tok);

	if (err)
		return err;
	tag = tok.number;
	buf_addch(out, (char)tag);
	if (tag == APITRACE_DETAIL_ARG || tag == APITRACE_DETAIL_FLAGS) {
		err = expect_token(t, APITRACE_TOKEN_UINT, &tok);
		if (err)
			return err;
		apitrace_value_put_uint(out, tok.number);
	}
	if (tag == APITRACE_DETAIL_STACK)
		err = parse_stack(t, out);
	else if (tag == APITRACE_DETAIL_ARG || tag == APITRACE_DETAIL_RET)
		err = apitrace_build_value(t, out);
	else if (tag != APITRACE_DETAIL_FLAGS)
		err = -EBADMSG;
	return err ? err : expect_token(t, APITRACE_TOKEN_CLOSE, &tok);
}

static int parse_details(struct apitrace_tokens *t, struct buf *out)
{
	struct apitrace_token tok;
	int err = expect_token(t, APITRACE_TOKEN_LIST, &tok);

	while (!err && !(err = t->next(t, &tok)) && tok.kind == APITRACE_TOKEN_LIST)
		err = parse_detail(t, out);
	return err ? err : tok.kind == APITRACE_TOKEN_CLOSE ? 0 : -EBADMSG;
}

int apitrace_details_parse(struct dial9_str text, struct buf *enter, bool *has_enter,
			   struct buf *leave, bool *has_leave)
{
	struct apitrace_json_tokens t;
	struct apitrace_token tok;
	int err;

	*has_enter = *has_leave = false;
	apitrace_json_tokens(&t, text.ptr, text.len);
	err = expect_token(&t.base, APITRACE_TOKEN_MAP, &tok);
	while (!err && !(err = t.base.next(&t.base, &tok)) && tok.kind == APITRACE_TOKEN_TEXT) {
		bool is_leave = tok.text.len == 5 && !memcmp(tok.text.ptr, "leave", 5);

		*(is_leave ? has_leave : has_enter) = true;
		err = parse_details(&t.base, is_leave ? leave : enter);
	}
	if (!err && tok.kind != APITRACE_TOKEN_CLOSE)
		err = -EBADMSG;
	apitrace_json_tokens_fini(&t);
	return err;
}
