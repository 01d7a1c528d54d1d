// SPDX-License-Identifier: BSD-2-Clause
/*
 * A decompressed apitrace stream, event by event, in versions 0 to 6.
 *
 * The stream cannot be understood from the middle: a signature is defined where it is first used, deep
 * inside an argument if need be, and only named later. So each event is rewritten while it is read into
 * one flat form in which nothing is defined inline (see struct apitrace_event). That form takes about as
 * many bytes as the file has, whatever it holds: no tree of values is ever built, so a hostile count
 * costs nothing before its elements are there.
 *
 * What each function returns is 0, 1 for "the stream ends here", or -errno; an end inside an event is
 * what a killed program leaves, and the details that are whole are kept.
 */
#include "formats/apitrace/parse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

#define WINDOW (64 * 1024)
#define CUT 1

struct apitrace_parser {
	dial9_read_fn read;
	void *ctx;
	int64_t version, semantic;
	struct apitrace_property *props;
	size_t prop_cnt, prop_cap;
	struct apitrace_sigs sigs;
	uint64_t next_no;
	struct buf details;
	struct buf text; /* the name being read */
	struct apitrace_entry *entries; /* of the signature being read */
	size_t entry_cap;
	bool ended;
	int failed;
	char error[96];
	uint64_t base; /* stream offset of window[0] */
	size_t pos, len;
	uint8_t window[WINDOW];
};

void apitrace_parse_new(dial9_read_fn read, void *ctx, struct apitrace_parser **out)
{
	struct apitrace_parser *p = xcalloc(1, sizeof(*p));

	p->read = read;
	p->ctx = ctx;
	p->version = p->semantic = -1;
	*out = p;
}

void apitrace_parse_free(struct apitrace_parser *p)
{
	if (!p)
		return;
	free(p->props);
	free(p->entries);
	buf_free(&p->details);
	buf_free(&p->text);
	apitrace_sig_fini(&p->sigs);
	free(p);
}

int64_t apitrace_parse_version(const struct apitrace_parser *p)
{
	return p->version;
}

int64_t apitrace_parse_semantic_version(const struct apitrace_parser *p)
{
	return p->semantic;
}

const struct apitrace_property *apitrace_parse_properties(const struct apitrace_parser *p,
							  size_t *cnt)
{
	*cnt = p->prop_cnt;
	return p->props;
}

const char *apitrace_parse_error(const struct apitrace_parser *p)
{
	return p->error;
}

uint64_t apitrace_parse_offset(const struct apitrace_parser *p)
{
	return p->base + p->pos;
}

const struct apitrace_sigs *apitrace_parse_sigs(const struct apitrace_parser *p)
{
	return &p->sigs;
}

static int damaged(struct apitrace_parser *p, const char *what, uint64_t tag, uint64_t at)
{
	snprintf(p->error, sizeof(p->error), "%s %" PRIu64 " at %" PRIu64, what, tag, at);
	return -EBADMSG;
}

static int too_big(struct apitrace_parser *p, const char *what)
{
	snprintf(p->error, sizeof(p->error), "%s at %" PRIu64, what, apitrace_parse_offset(p));
	return -E2BIG;
}

/* ---- primitives -------------------------------------------------------------------------------- */

static int refill(struct apitrace_parser *p)
{
	ssize_t n;

	if (p->ended)
		return CUT;
	p->base += p->len;
	p->pos = p->len = 0;
	n = p->read(p->ctx, p->window, sizeof(p->window));
	if (n < 0)
		return (int)n;
	p->ended = !n;
	p->len = (size_t)n;
	return n ? 0 : CUT;
}

static int get_byte(struct apitrace_parser *p, uint8_t *out)
{
	int err;

	if (p->pos == p->len) {
		err = refill(p);
		if (err)
			return err;
	}
	*out = p->window[p->pos++];
	return 0;
}

/* Overlong forms of any length are accepted, and bits past the 64th dropped, as the tracer's reader does. */
static int get_uint(struct apitrace_parser *p, uint64_t *out)
{
	unsigned int shift = 0;
	uint64_t v = 0;
	uint8_t b;
	int err;

	do {
		err = get_byte(p, &b);
		if (err)
			return err;
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (b & 0x80);
	*out = v;
	return 0;
}

/* sz bytes of the stream to the end of b, as they arrive. */
static int add_bytes(struct apitrace_parser *p, struct buf *b, uint64_t sz)
{
	size_t n;
	int err;

	while (sz) {
		if (p->pos == p->len) {
			err = refill(p);
			if (err)
				return err;
		}
		n = p->len - p->pos < sz ? p->len - p->pos : (size_t)sz;
		if (b->len + n > APITRACE_EVENT_MAX)
			return too_big(p, "event too large");
		buf_add(b, p->window + p->pos, n);
		p->pos += n;
		sz -= n;
	}
	return 0;
}

static int get_text(struct apitrace_parser *p, struct dial9_str *out)
{
	uint64_t len;
	int err;

	err = get_uint(p, &len);
	if (err)
		return err;
	buf_clear(&p->text);
	err = add_bytes(p, &p->text, len);
	if (err)
		return err;
	if (apitrace_sig_full(&p->sigs, 0))
		return too_big(p, "signatures too large");
	*out = apitrace_sig_text(&p->sigs, p->text.data, p->text.len);
	return 0;
}

/* Copies a number to the details; *out may be NULL. */
static int copy_uint(struct apitrace_parser *p, uint64_t *out)
{
	uint64_t v;
	int err = get_uint(p, &v);

	if (err)
		return err;
	apitrace_value_put_uint(&p->details, v);
	if (out)
		*out = v;
	return p->details.len > APITRACE_EVENT_MAX ? too_big(p, "event too large") : 0;
}

/* ---- signatures -------------------------------------------------------------------------------- */

/* The value in an enum's definition or use: a tag 3 or 4 and a number. */
static int get_tagged(struct apitrace_parser *p, uint8_t *tag, uint64_t *value)
{
	uint64_t at = apitrace_parse_offset(p);
	int err = get_byte(p, tag);

	if (err)
		return err;
	if (*tag != APITRACE_NEG && *tag != APITRACE_UINT)
		return damaged(p, "enum value tag", *tag, at);
	return get_uint(p, value);
}

static int get_entry(struct apitrace_parser *p, enum apitrace_sig_kind kind,
		     struct apitrace_entry *e)
{
	int err;

	*e = (struct apitrace_entry){ .tag = APITRACE_UINT };
	err = get_text(p, &e->name);
	if (err)
		return err;
	if (kind == APITRACE_SIG_ENUM)
		return get_tagged(p, &e->tag, &e->value);
	return kind == APITRACE_SIG_MASK ? get_uint(p, &e->value) : 0;
}

static int get_entries(struct apitrace_parser *p, struct apitrace_sig *sig)
{
	uint64_t n = 1;
	int err;

	/* Up to version 2 an enum is one name and its value. */
	if (sig->kind != APITRACE_SIG_ENUM || p->version >= 3) {
		err = get_uint(p, &n);
		if (err)
			return err;
	}
	for (uint64_t i = 0; i < n; i++) {
		if (apitrace_sig_full(&p->sigs, i + 1))
			return too_big(p, "signatures too large");
		p->entries = array_reserve(p->entries, &p->entry_cap, i + 1, sizeof(*p->entries));
		err = get_entry(p, sig->kind, &p->entries[i]);
		if (err)
			return err;
	}
	sig->v = p->entries;
	sig->cnt = n;
	return 0;
}

static int get_frame(struct apitrace_parser *p, struct apitrace_frame *f)
{
	uint64_t at;
	uint8_t tag;
	int err;

	*f = (struct apitrace_frame){ 0 };
	for (;;) {
		at = apitrace_parse_offset(p);
		err = get_byte(p, &tag);
		if (err || !tag)
			return err;
		if (tag <= APITRACE_FRAME_FILE)
			err = get_text(p, &f->text[tag]);
		else if (tag <= APITRACE_FRAME_OFFSET)
			err = get_uint(p, tag == APITRACE_FRAME_LINE ? &f->line : &f->offset);
		else
			err = damaged(p, "frame tag", tag, at);
		if (err)
			return err;
		f->has |= (uint8_t)(1 << tag);
	}
}

/* An id and, at first sight, its definition. */
static int get_sig(struct apitrace_parser *p, enum apitrace_sig_kind kind,
		   const struct apitrace_sig **out)
{
	struct apitrace_sig sig = { .kind = kind };
	struct apitrace_frame frame;
	int err = get_uint(p, &sig.id);

	if (err)
		return err;
	*out = apitrace_sig_get(&p->sigs, kind, sig.id);
	if (*out)
		return 0;
	if (kind == APITRACE_SIG_FRAME) {
		err = get_frame(p, &frame);
		sig.frame = &frame;
	} else {
		if (kind == APITRACE_SIG_FUNCTION || kind == APITRACE_SIG_STRUCT)
			err = get_text(p, &sig.name);
		if (!err)
			err = get_entries(p, &sig);
	}
	if (!err)
		err = apitrace_sig_add(&p->sigs, &sig, out);
	return err == -E2BIG ? too_big(p, "signatures too large") : err;
}

static int copy_sig(struct apitrace_parser *p, enum apitrace_sig_kind kind,
		    const struct apitrace_sig **out)
{
	int err = get_sig(p, kind, out);

	if (!err)
		apitrace_value_put_uint(&p->details, (*out)->id);
	return err;
}

/* ---- values and details ------------------------------------------------------------------------ */

static int copy_value(struct apitrace_parser *p, unsigned int depth);

static int copy_values(struct apitrace_parser *p, uint64_t cnt, unsigned int depth)
{
	int err = 0;

	for (uint64_t i = 0; i < cnt && !err; i++)
		err = copy_value(p, depth + 1);
	return err;
}

static int copy_enum(struct apitrace_parser *p)
{
	const struct apitrace_sig *sig;
	struct apitrace_entry use;
	int err = copy_sig(p, APITRACE_SIG_ENUM, &sig);

	if (err)
		return err;
	if (p->version < 3) {
		use = sig->v[0];
	} else {
		err = get_tagged(p, &use.tag, &use.value);
		if (err)
			return err;
	}
	buf_addch(&p->details, (char)use.tag);
	apitrace_value_put_uint(&p->details, use.value);
	return 0;
}

static int copy_counted(struct apitrace_parser *p, uint8_t tag, unsigned int depth)
{
	const struct apitrace_sig *sig;
	uint64_t n;
	int err;

	if (tag == APITRACE_STRUCT) {
		err = copy_sig(p, APITRACE_SIG_STRUCT, &sig);
		return err ? err : copy_values(p, sig->cnt, depth);
	}
	err = copy_uint(p, &n);
	if (err)
		return err;
	if (tag == APITRACE_ARRAY)
		return copy_values(p, n, depth);
	if (tag != APITRACE_WSTRING)
		return add_bytes(p, &p->details, n);
	for (uint64_t i = 0; i < n && !err; i++)
		err = copy_uint(p, NULL);
	return err;
}

static int copy_value(struct apitrace_parser *p, unsigned int depth)
{
	uint64_t at = apitrace_parse_offset(p);
	const struct apitrace_sig *sig;
	uint8_t tag;
	int err;

	if (depth > APITRACE_DEPTH_MAX) {
		snprintf(p->error, sizeof(p->error), "nesting");
		return -EBADMSG;
	}
	err = get_byte(p, &tag);
	if (err)
		return err;
	buf_addch(&p->details, (char)tag);
	switch (tag) {
	case APITRACE_NULL:
	case APITRACE_FALSE:
	case APITRACE_TRUE:
		return p->details.len > APITRACE_EVENT_MAX ? too_big(p, "event too large") : 0;
	case APITRACE_NEG:
	case APITRACE_UINT:
	case APITRACE_POINTER:
		return copy_uint(p, NULL);
	case APITRACE_FLOAT:
		return add_bytes(p, &p->details, 4);
	case APITRACE_DOUBLE:
		return add_bytes(p, &p->details, 8);
	case APITRACE_STRING:
	case APITRACE_BLOB:
	case APITRACE_WSTRING:
	case APITRACE_ARRAY:
	case APITRACE_STRUCT:
		return copy_counted(p, tag, depth);
	case APITRACE_ENUM:
		return copy_enum(p);
	case APITRACE_MASK:
		err = copy_sig(p, APITRACE_SIG_MASK, &sig);
		return err ? err : copy_uint(p, NULL);
	case APITRACE_REPR:
		return copy_values(p, 2, depth);
	default:
		return damaged(p, "value tag", tag, at);
	}
}

static int copy_stack(struct apitrace_parser *p)
{
	const struct apitrace_sig *sig;
	uint64_t n;
	int err = copy_uint(p, &n);

	for (uint64_t i = 0; i < n && !err; i++) {
		err = copy_sig(p, APITRACE_SIG_FRAME, &sig);
		if (!err && p->details.len > APITRACE_EVENT_MAX)
			err = too_big(p, "event too large");
	}
	return err;
}

/* One detail; *more is false when it was the terminator. */
static int copy_detail(struct apitrace_parser *p, bool *more)
{
	uint64_t at = apitrace_parse_offset(p);
	uint8_t tag;
	int err = get_byte(p, &tag);

	if (err)
		return err;
	*more = tag != APITRACE_DETAIL_END;
	if (!*more)
		return 0;
	buf_addch(&p->details, (char)tag);
	switch (tag) {
	case APITRACE_DETAIL_ARG:
		err = copy_uint(p, NULL);
		return err ? err : copy_value(p, 0);
	case APITRACE_DETAIL_RET:
		return copy_value(p, 0);
	case APITRACE_DETAIL_STACK:
		return copy_stack(p);
	case APITRACE_DETAIL_FLAGS:
		return copy_uint(p, NULL);
	default:
		return damaged(p, "call detail", tag, at);
	}
}

static int copy_details(struct apitrace_parser *p, struct apitrace_event *ev)
{
	bool more = true;
	int err = 0;

	while (more && !err) {
		ev->details_sz = p->details.len;
		err = copy_detail(p, &more);
	}
	return err;
}

/* ---- header and events ------------------------------------------------------------------------- */

static int get_properties(struct apitrace_parser *p)
{
	struct apitrace_property prop;
	int err;

	for (;;) {
		err = get_text(p, &prop.name);
		if (err || !prop.name.len)
			return err;
		err = get_text(p, &prop.value);
		if (err)
			return err;
		if (apitrace_sig_full(&p->sigs, p->prop_cnt))
			return too_big(p, "properties too large");
		p->props =
			array_reserve(p->props, &p->prop_cap, p->prop_cnt + 1, sizeof(*p->props));
		p->props[p->prop_cnt++] = prop;
	}
}

int apitrace_parse_header(struct apitrace_parser *p)
{
	uint64_t v;
	int err = get_uint(p, &v);

	if (!err && v > INT32_MAX)
		err = damaged(p, "version", v, 0);
	if (!err) {
		p->version = p->semantic = (int64_t)v;
		if (v >= 6) {
			p->semantic = -1;
			err = get_uint(p, &v);
			if (!err && v > INT32_MAX)
				err = damaged(p, "semantic version", v, 1);
			if (!err) {
				p->semantic = (int64_t)v;
				err = get_properties(p);
			}
		}
	}
	if (err < 0)
		p->failed = err;
	return err == CUT ? 0 : err ? err : 1;
}

static int get_enter(struct apitrace_parser *p, struct apitrace_event *ev)
{
	int err = 0;

	ev->no = p->next_no++;
	ev->has_no = true;
	if (p->version >= 4)
		err = get_uint(p, &ev->thread);
	ev->has_thread = !err;
	if (!err)
		err = get_sig(p, APITRACE_SIG_FUNCTION, &ev->fn);
	return err;
}

int apitrace_parse_next(struct apitrace_parser *p, struct apitrace_event *ev)
{
	uint8_t tag;
	int err;

	if (p->failed)
		return p->failed;
	*ev = (struct apitrace_event){ .off = apitrace_parse_offset(p) };
	buf_clear(&p->details);
	err = get_byte(p, &tag);
	if (err == CUT)
		return 0;
	if (!err && tag > APITRACE_EVENT_LEAVE)
		err = damaged(p, "event tag", tag, ev->off);
	if (!err) {
		ev->leave = tag == APITRACE_EVENT_LEAVE;
		if (ev->leave) {
			err = get_uint(p, &ev->no);
			ev->has_no = !err;
		} else {
			err = get_enter(p, ev);
		}
	}
	if (!err)
		err = copy_details(p, ev);
	if (err < 0) {
		p->failed = err;
		return err;
	}
	ev->cut = err == CUT;
	ev->details = (const uint8_t *)buf_cstr(&p->details);
	return 1;
}
