// SPDX-License-Identifier: BSD-2-Clause
/*
 * The details of an event, all of them and in order, as one JSON text, and back.
 *
 * A call is normally told by its fields. Where it is told in an unusual way (an argument twice, one beyond
 * the signature, a result at the enter) the fields show what they can and this says exactly how it was.
 */
#include "formats/apitrace/details_json.h"

#include <errno.h>
#include <string.h>

#include "formats/apitrace/build.h"
#include "formats/apitrace/json.h"

#define JSON_MAX ((size_t)200 << 20)

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
	struct apitrace_json json = { .max = JSON_MAX };
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

/* ---- back -------------------------------------------------------------------------------------- */

static int want(struct apitrace_tokens *t, enum apitrace_token_kind kind,
		struct apitrace_token *tok)
{
	int err = t->next(t, tok);

	return err ? err : tok->kind == kind ? 0 : -EBADMSG;
}

static int parse_stack(struct apitrace_tokens *t, struct buf *out)
{
	struct apitrace_token tok;
	struct buf ids = { 0 };
	uint64_t cnt = 0;
	int err = want(t, APITRACE_TOKEN_LIST, &tok);

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

/* One detail behind its opening bracket. */
static int parse_detail(struct apitrace_tokens *t, struct buf *out)
{
	struct apitrace_token tok;
	uint64_t tag;
	int err = want(t, APITRACE_TOKEN_UINT, &tok);

	if (err)
		return err;
	tag = tok.number;
	buf_addch(out, (char)tag);
	if (tag == APITRACE_DETAIL_ARG || tag == APITRACE_DETAIL_FLAGS) {
		err = want(t, APITRACE_TOKEN_UINT, &tok);
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
	return err ? err : want(t, APITRACE_TOKEN_CLOSE, &tok);
}

static int parse_details(struct apitrace_tokens *t, struct buf *out)
{
	struct apitrace_token tok;
	int err = want(t, APITRACE_TOKEN_LIST, &tok);

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
	apitrace_build_json(&t, text.ptr, text.len);
	err = want(&t.base, APITRACE_TOKEN_MAP, &tok);
	while (!err && !(err = t.base.next(&t.base, &tok)) && tok.kind == APITRACE_TOKEN_TEXT) {
		bool is_leave = tok.text.len == 5 && !memcmp(tok.text.ptr, "leave", 5);

		*(is_leave ? has_leave : has_enter) = true;
		err = parse_details(&t.base, is_leave ? leave : enter);
	}
	if (!err && tok.kind != APITRACE_TOKEN_CLOSE)
		err = -EBADMSG;
	apitrace_build_json_fini(&t);
	return err;
}
