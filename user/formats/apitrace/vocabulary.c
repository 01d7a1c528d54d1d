// SPDX-License-Identifier: BSD-2-Clause
/*
 * The vocabulary of import and export: names and fields of dial9 events, as one table; and for export, the
 * signatures in such events.
 *
 * Functions may be defined again with wider kinds; their names and arguments stay. An enumeration comes a row
 * at a time and is complete when something else comes. The events may be anyone's, so an id keeps what it
 * stood for first.
 */
#include "formats/apitrace/vocabulary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/apitrace/build.h"
#include "formats/apitrace/json.h"

#define FIELDS_MAX 12
#define OPT(type) (DIAL9_##type | DIAL9_OPTIONAL)

struct word {
	const char *name;
	struct dial9_field fields[FIELDS_MAX];
};

#define CALL_FIELDS                                                                                   \
	[APITRACE_CALL_SIG] = { "sig", DIAL9_VARINT }, [APITRACE_CALL_NO] = { "call", DIAL9_VARINT }, \
	[APITRACE_CALL_THREAD] = { "thread", DIAL9_VARINT },                                          \
	[APITRACE_CALL_ENTER_SEQ] = { "enter_seq", DIAL9_VARINT },                                    \
	[APITRACE_CALL_LEAVE_SEQ] = { "leave_seq", OPT(VARINT) },                                     \
	[APITRACE_CALL_FRAME] = { "frame", DIAL9_VARINT },                                            \
	[APITRACE_CALL_FLAGS] = { "flags", DIAL9_VARINT }

const struct dial9_field apitrace_vocabulary_call[APITRACE_CALL_FIELDS] = { CALL_FIELDS };

static const struct word words[APITRACE_WORD_CNT] = {
	[APITRACE_WORD_TRACE] = { "apitrace.trace",
				  { { "version", OPT(VARINT) },
				    { "semantic_version", OPT(VARINT) },
				    { "container", DIAL9_POOLED_STRING },
				    { "properties", DIAL9_STRING_MAP },
				    { "tick_ns", OPT(VARINT) },
				    { "time", DIAL9_STRING } } },
	[APITRACE_WORD_FUNCTION] = { "apitrace.function",
				     { { "sig", DIAL9_VARINT },
				       { "name", DIAL9_POOLED_STRING },
				       { "args", DIAL9_STRING_MAP },
				       { "ret", DIAL9_STRING } } },
	[APITRACE_WORD_ENUM] = { "apitrace.enum",
				 { { "sig", DIAL9_VARINT },
				   { "name", DIAL9_POOLED_STRING },
				   { "value", OPT(I64) },
				   { "unsigned", OPT(VARINT) } } },
	[APITRACE_WORD_FLAG] = { "apitrace.flag",
				 { { "sig", DIAL9_VARINT },
				   { "name", DIAL9_POOLED_STRING },
				   { "value", DIAL9_VARINT } } },
	[APITRACE_WORD_STRUCT] = { "apitrace.struct",
				   { { "sig", DIAL9_VARINT },
				     { "name", DIAL9_POOLED_STRING },
				     { "members", DIAL9_STRING } } },
	[APITRACE_WORD_FRAME] = { "apitrace.frame",
				  { { "addr", DIAL9_VARINT },
				    { "id", DIAL9_VARINT },
				    { "module", OPT(POOLED_STRING) },
				    { "function", OPT(POOLED_STRING) },
				    { "file", OPT(POOLED_STRING) },
				    { "line", OPT(VARINT) },
				    { "offset", OPT(VARINT) } } },
	[APITRACE_WORD_SYMBOL] = { "SymbolTableEntry",
				   { { "addr", DIAL9_VARINT },
				     { "size", DIAL9_VARINT },
				     { "symbol_name", DIAL9_POOLED_STRING },
				     { "inline_depth", DIAL9_VARINT },
				     { "source_file", DIAL9_POOLED_STRING },
				     { "source_line", DIAL9_VARINT } } },
	[APITRACE_WORD_CALL] = { "apitrace.call",
				 { CALL_FIELDS,
				   [APITRACE_CALL_FIELDS] = { "function", DIAL9_POOLED_STRING },
				   { APITRACE_FIELD_DETAILS, OPT(STRING) } } },
	[APITRACE_WORD_LEAVE] = { "apitrace.leave",
				  { { "call", DIAL9_VARINT },
				    { "leave_seq", DIAL9_VARINT },
				    { APITRACE_FIELD_DETAILS, OPT(STRING) } } },
	[APITRACE_WORD_SPAN_ENTER] = { "SpanEnter:apitrace",
				       { { "worker_id", DIAL9_VARINT },
					 { "span_id", DIAL9_VARINT },
					 { "parent_span_id", OPT(VARINT) },
					 { "span_name", DIAL9_POOLED_STRING } } },
	[APITRACE_WORD_SPAN_EXIT] = { "SpanExit:apitrace",
				      { { "worker_id", DIAL9_VARINT },
					{ "span_id", DIAL9_VARINT },
					{ "span_name", DIAL9_POOLED_STRING } } },
	[APITRACE_WORD_END] = { "apitrace.end",
				{ { "events", DIAL9_VARINT },
				  { "calls", DIAL9_VARINT },
				  { "open_calls", DIAL9_VARINT },
				  { "stream_bytes", DIAL9_VARINT },
				  { "cut", DIAL9_BOOL },
				  { "damage", OPT(STRING) } } },
};

static size_t field_cnt(const struct word *w)
{
	size_t n = 0;

	while (n < FIELDS_MAX && w->fields[n].name)
		n++;
	return n;
}

int apitrace_vocabulary_schema(enum apitrace_word word, bool has_timestamp,
			       struct dial9_schema **out)
{
	const struct word *w = &words[word];

	return dial9_schema_new(w->name, has_timestamp, w->fields, field_cnt(w), out);
}

static bool same(const struct word *w, const struct dial9_schema *s)
{
	size_t cnt = field_cnt(w);

	if (strcmp(w->name, dial9_schema_name(s)) != 0 || dial9_schema_field_cnt(s) != cnt)
		return false;
	for (size_t i = 0; i < cnt; i++)
		if (strcmp(w->fields[i].name, dial9_schema_field_name(s, i)) != 0 ||
		    w->fields[i].type != dial9_schema_field_type(s, i))
			return false;
	return true;
}

enum apitrace_word apitrace_vocabulary_find(const struct dial9_schema *s)
{
	unsigned int i;

	for (i = 0; i < APITRACE_WORD_CNT; i++)
		if (same(&words[i], s))
			break;
	return (enum apitrace_word)i;
}

/* ---- signatures in events ------------------------------------------------------------------------ */

/* Text of a field, kept; false when there is none. */
static bool text_of(struct apitrace_tables *t, const struct dial9_dec *dec,
		    const struct dial9_value *v, struct dial9_str *out)
{
	struct dial9_str s;

	if (dial9_value_str(dec, v, &s))
		return false;
	*out = apitrace_sig_text(&t->sigs, s.ptr, s.len);
	return true;
}

static void add_row(struct apitrace_tables *t, const struct apitrace_entry *row)
{
	t->rows = array_reserve(t->rows, &t->row_cap, t->row_cnt + 1, sizeof(*t->rows));
	t->rows[t->row_cnt++] = *row;
}

static int add_rows(struct apitrace_tables *t, struct apitrace_sig *sig)
{
	const struct apitrace_sig *added;

	sig->v = t->rows;
	sig->cnt = t->row_cnt;
	t->row_cnt = 0;
	return apitrace_sig_add(&t->sigs, sig, &added);
}

void apitrace_tables_settle(struct apitrace_tables *t)
{
	struct apitrace_sig sig = { .kind = t->open_kind, .id = t->open_id };

	if (t->open)
		add_rows(t, &sig);
	t->open = false;
	t->row_cnt = 0;
}

/* ---- functions --------------------------------------------------------------------------------- */

static bool same_text(struct dial9_str a, struct dial9_str b)
{
	return a.len == b.len && !memcmp(a.ptr, b.ptr, a.len);
}

static bool same_sig(const struct apitrace_sig *a, struct dial9_str name,
		     const struct apitrace_entry *rows, size_t cnt)
{
	if (a->cnt != cnt || !same_text(a->name, name))
		return false;
	for (size_t i = 0; i < cnt; i++)
		if (!same_text(a->v[i].name, rows[i].name))
			return false;
	return true;
}

/* Argument names to rows, kinds to slots (the last one is the result's). */
static int read_args(struct apitrace_tables *t, const struct dial9_dec *dec,
		     const struct dial9_event *ev, struct apitrace_slot *slots)
{
	struct apitrace_entry row = { .tag = APITRACE_UINT };
	struct dial9_value key, value;
	struct dial9_str s;
	struct dial9_iter it;
	size_t n = 0;

	dial9_iter_init(&it, &ev->values[2]);
	for (; dial9_map_next(&it, &key, &value) == 1; n++) {
		if (apitrace_sig_full(&t->sigs, n + 1))
			return -E2BIG;
		row.name = apitrace_sig_text(&t->sigs, key.str.ptr, key.str.len);
		add_row(t, &row);
		s = (struct dial9_str){ value.str.ptr, value.str.len };
		if (apitrace_layout_parse(s, &slots[n]))
			return -EBADMSG;
	}
	if (dial9_value_str(dec, &ev->values[3], &s) || apitrace_layout_parse(s, &slots[n]))
		return -EBADMSG;
	slots[n].out = true;
	return 0;
}

static int add_function(struct apitrace_tables *t, const struct dial9_dec *dec,
			const struct dial9_event *ev)
{
	struct apitrace_sig sig = { .kind = APITRACE_SIG_FUNCTION, .id = ev->values[0].u64 };
	struct apitrace_layout *layout = hmap_get(&t->layouts, sig.id);
	struct apitrace_slot *slots;
	const struct apitrace_sig *fn;
	int err = -EBADMSG;

	/* A pair takes eight bytes of the event at least, so its count is a true one. */
	slots = xcalloc((size_t)ev->values[2].map.cnt + 1, sizeof(*slots));
	t->row_cnt = 0;
	if (text_of(t, dec, &ev->values[1], &sig.name))
		err = read_args(t, dec, ev, slots);
	if (!err && layout && !same_sig(layout->fn, sig.name, t->rows, t->row_cnt))
		err = -EEXIST;
	if (!err && !layout) {
		sig.v = t->rows;
		sig.cnt = t->row_cnt;
		err = apitrace_sig_add(&t->sigs, &sig, &fn);
		if (!err) {
			layout = xcalloc(1, sizeof(*layout));
			layout->fn = fn;
			hmap_set(&t->layouts, sig.id, layout);
		}
	}
	t->row_cnt = 0;
	if (err) {
		free(slots);
		return err;
	}
	free(layout->slots);
	layout->slots = slots;
	return 0;
}

/* ---- the others -------------------------------------------------------------------------------- */

static int add_entry(struct apitrace_tables *t, const struct dial9_dec *dec,
		     enum apitrace_sig_kind kind, const struct dial9_event *ev)
{
	struct apitrace_entry row = { .tag = APITRACE_UINT };
	uint64_t id = ev->values[0].u64;
	const struct dial9_value *v = &ev->values[2];

	if (!t->open || t->open_kind != kind || t->open_id != id) {
		apitrace_tables_settle(t);
		if (apitrace_sig_get(&t->sigs, kind, id))
			return -EEXIST;
		t->open = true;
		t->open_kind = kind;
		t->open_id = id;
	}
	if (apitrace_sig_full(&t->sigs, t->row_cnt + 1))
		return -E2BIG;
	if (!text_of(t, dec, &ev->values[1], &row.name))
		return -EBADMSG;
	if (kind == APITRACE_SIG_MASK) {
		row.value = v->u64;
	} else if (v->type) {
		row.tag = v->i64 < 0 ? APITRACE_NEG : APITRACE_UINT;
		row.value = v->i64 < 0 ? 0 - (uint64_t)v->i64 : (uint64_t)v->i64;
	} else {
		row.value = ev->values[3].u64;
	}
	add_row(t, &row);
	return 0;
}

static int read_members(struct apitrace_tables *t, struct dial9_str json)
{
	struct apitrace_entry row = { .tag = APITRACE_UINT };
	struct apitrace_json_tokens tokens;
	struct apitrace_token tok;
	int err;

	apitrace_json_tokens(&tokens, json.ptr, json.len);
	err = tokens.base.next(&tokens.base, &tok);
	while (!err && !(err = tokens.base.next(&tokens.base, &tok)) &&
	       tok.kind == APITRACE_TOKEN_TEXT) {
		if (apitrace_sig_full(&t->sigs, t->row_cnt + 1)) {
			err = -E2BIG;
			break;
		}
		row.name = apitrace_sig_text(&t->sigs, tok.text.ptr, tok.text.len);
		add_row(t, &row);
	}
	apitrace_json_tokens_fini(&tokens);
	return err ? err : tok.kind == APITRACE_TOKEN_CLOSE ? 0 : -EBADMSG;
}

static int add_struct(struct apitrace_tables *t, const struct dial9_dec *dec,
		      const struct dial9_event *ev)
{
	struct apitrace_sig sig = { .kind = APITRACE_SIG_STRUCT, .id = ev->values[0].u64 };
	struct dial9_str json;
	int err;

	if (apitrace_sig_get(&t->sigs, sig.kind, sig.id))
		return -EEXIST;
	if (!text_of(t, dec, &ev->values[1], &sig.name) ||
	    dial9_value_str(dec, &ev->values[2], &json))
		return -EBADMSG;
	err = read_members(t, json);
	return err ? err : add_rows(t, &sig);
}

static int add_frame(struct apitrace_tables *t, const struct dial9_dec *dec,
		     const struct dial9_event *ev)
{
	struct apitrace_frame f = { 0 };
	struct apitrace_sig sig = { .kind = APITRACE_SIG_FRAME,
				    .id = ev->values[1].u64,
				    .frame = &f };
	const struct apitrace_sig *added;
	int err;

	if (apitrace_sig_get(&t->sigs, sig.kind, sig.id))
		return -EEXIST;
	for (unsigned int part = APITRACE_FRAME_MODULE; part <= APITRACE_FRAME_OFFSET; part++) {
		const struct dial9_value *v = &ev->values[part + 1];

		if (!v->type)
			continue;
		f.has |= (uint8_t)(1 << part);
		if (part == APITRACE_FRAME_LINE)
			f.line = v->u64;
		else if (part == APITRACE_FRAME_OFFSET)
			f.offset = v->u64;
		else if (!text_of(t, dec, v, &f.text[part]))
			return -EBADMSG;
	}
	err = apitrace_sig_add(&t->sigs, &sig, &added);
	if (!err)
		hmap_set(&t->frames, ev->values[0].u64, (void *)added);
	return err;
}

int apitrace_tables_add(struct apitrace_tables *t, const struct dial9_dec *dec,
			enum apitrace_word word, const struct dial9_event *ev)
{
	if (apitrace_sig_full(&t->sigs, 0))
		return -E2BIG;
	if (word == APITRACE_WORD_ENUM)
		return add_entry(t, dec, APITRACE_SIG_ENUM, ev);
	if (word == APITRACE_WORD_FLAG)
		return add_entry(t, dec, APITRACE_SIG_MASK, ev);
	apitrace_tables_settle(t);
	if (word == APITRACE_WORD_FUNCTION)
		return add_function(t, dec, ev);
	return word == APITRACE_WORD_STRUCT ? add_struct(t, dec, ev) : add_frame(t, dec, ev);
}

void apitrace_tables_fini(struct apitrace_tables *t)
{
	struct apitrace_layout *layout;
	size_t pos = 0;
	uint64_t id;
	void *v;

	while (hmap_next(&t->layouts, &pos, &id, &v)) {
		layout = v;
		free(layout->slots);
		free(layout);
	}
	hmap_fini(&t->layouts);
	hmap_fini(&t->frames);
	free(t->rows);
	apitrace_sig_fini(&t->sigs);
	*t = (struct apitrace_tables){ 0 };
}
