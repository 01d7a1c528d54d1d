// SPDX-License-Identifier: BSD-2-Clause
/*
 * What an imported apitrace stream looks like in dial9.
 *
 * Owns the schemas: one for each word of vocabulary.c, and for each function one for the layout that it
 * has now. Text that is not UTF-8 cannot be in dial9 and is escaped, which is counted. Type ids are a
 * 16-bit number and readers cap the size of all schemas, so a function beyond the limits shares one schema
 * with others and has its arguments as text.
 */
#include "formats/apitrace/emit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "formats/apitrace/build.h"
#include "formats/apitrace/json.h"
#include "formats/apitrace/vocabulary.h"

#define SCHEMAS_MAX 60000
#define SCHEMA_BYTES_MAX ((size_t)24 << 20)
#define NAME_MAX_LEN 65535
#define ESCAPED "names that are not UTF-8, escaped"

struct function {
	struct dial9_schema *schema;
	bool generic; /* has none, and was announced */
};

struct apitrace_emit {
	const struct apitrace_trace *trace;
	const struct apitrace_sigs *sigs;
	struct dial9_enc *enc;
	struct foreign_notes *notes;
	int level;
	uint64_t tick;
	struct dial9_schema *words[APITRACE_WORD_CNT];
	size_t written[APITRACE_SIG_KINDS]; /* signatures written so far */
	struct function *functions; /* by idx */
	size_t function_cap;
	size_t schema_cnt, schema_bytes;
	struct buf text, kinds, enter, leave, extra;
	struct dial9_str (*pairs)[2];
	size_t pair_cap;
};

static uint64_t time_of(const struct apitrace_emit *e, uint64_t seq)
{
	return e->tick && seq > UINT64_MAX / e->tick ? UINT64_MAX : seq * e->tick;
}

static int begin_event(struct apitrace_emit *e, enum apitrace_word word, uint64_t seq)
{
	int err = 0;

	if (!e->words[word])
		err = apitrace_vocabulary_schema(word, e->tick != 0, &e->words[word]);
	return err ? err : dial9_enc_begin(e->enc, e->words[word], time_of(e, seq));
}

static struct dial9_str clean(struct apitrace_emit *e, struct dial9_str s)
{
	size_t at = e->text.len;

	if (str_utf8_valid_len(s.ptr, s.len) == s.len)
		return s;
	foreign_note(e->notes, FOREIGN_NOTE_CHANGED, 1, ESCAPED, NULL);
	str_escape_utf8(&e->text, s.ptr, s.len);
	return (struct dial9_str){ e->text.data + at, e->text.len - at };
}

/* The encoder keeps the first error of an event until its end, so puts are not asked one by one. */
static void put_text(struct apitrace_emit *e, struct dial9_str s)
{
	buf_clear(&e->text);
	s = clean(e, s);
	dial9_enc_put_str(e->enc, s.ptr, s.len);
}

static void put_chars(struct apitrace_emit *e, const char *s)
{
	put_text(e, (struct dial9_str){ s, strlen(s) });
}

/* Room for cnt pairs, with their escaped text kept apart until they are put. */
static void reserve_pairs(struct apitrace_emit *e, size_t cnt)
{
	e->pairs = array_reserve(e->pairs, &e->pair_cap, cnt + 1, sizeof(*e->pairs));
}

/*
 * The text of pairs is gathered in e->kinds, which may move while it grows: a piece is remembered as its
 * offset until all are there.
 */
static struct dial9_str gather(struct apitrace_emit *e, struct dial9_str s)
{
	struct dial9_str out = { NULL, 0 };
	size_t at = e->kinds.len;

	buf_clear(&e->text);
	s = clean(e, s);
	buf_add(&e->kinds, s.len ? s.ptr : "", s.len);
	out.ptr = (const char *)(uintptr_t)at;
	out.len = s.len;
	return out;
}

static void put_pairs(struct apitrace_emit *e, size_t cnt)
{
	const char *base = buf_cstr(&e->kinds);

	for (size_t i = 0; i < cnt; i++)
		for (size_t k = 0; k < 2; k++)
			e->pairs[i][k].ptr = base + (uintptr_t)e->pairs[i][k].ptr;
	dial9_enc_put_map(e->enc, (const struct dial9_str(*)[2])e->pairs, cnt);
}

/* ---- the trace --------------------------------------------------------------------------------- */

static void put_properties(struct apitrace_emit *e)
{
	const struct apitrace_property *props;
	size_t cnt;

	props = apitrace_parse_properties(e->trace->parser, &cnt);
	reserve_pairs(e, cnt);
	buf_clear(&e->kinds);
	for (size_t i = 0; i < cnt; i++) {
		e->pairs[i][0] = gather(e, props[i].name);
		e->pairs[i][1] = gather(e, props[i].value);
	}
	put_pairs(e, cnt);
}

/* Absent when the trace ends in front of it. */
static void put_version(struct apitrace_emit *e, int64_t version)
{
	if (version < 0)
		dial9_enc_put_none(e->enc);
	else
		dial9_enc_put_u64(e->enc, (uint64_t)version);
}

static int write_trace(struct apitrace_emit *e)
{
	int64_t version = apitrace_parse_version(e->trace->parser);
	int64_t semantic = apitrace_parse_semantic_version(e->trace->parser);
	int err = begin_event(e, APITRACE_WORD_TRACE, 0);

	if (err)
		return err;
	put_version(e, version);
	put_version(e, semantic);
	put_chars(e, container_kind_name(container_kind(e->trace->box)));
	put_properties(e);
	if (e->tick)
		dial9_enc_put_u64(e->enc, e->tick);
	else
		dial9_enc_put_none(e->enc);
	put_chars(e, e->tick ? "synthetic: tick_ns for each enter and leave" : "none");
	return dial9_enc_end(e->enc);
}

int apitrace_emit_new(const struct apitrace_trace *trace, const struct foreign_opts *opts,
		      struct dial9_enc *enc, struct foreign_notes *notes,
		      struct apitrace_emit **out)
{
	struct apitrace_emit *e = xcalloc(1, sizeof(*e));
	int err;

	*e = (struct apitrace_emit){
		.trace = trace,
		.sigs = apitrace_parse_sigs(trace->parser),
		.enc = enc,
		.notes = notes,
		.level = opts->level,
		.tick = opts->tick_ns,
	};
	err = write_trace(e);
	if (err) {
		apitrace_emit_free(e);
		return err;
	}
	*out = e;
	return 0;
}

void apitrace_emit_free(struct apitrace_emit *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < APITRACE_WORD_CNT; i++)
		dial9_schema_free(e->words[i]);
	for (size_t i = 0; i < e->function_cap; i++)
		dial9_schema_free(e->functions[i].schema);
	free(e->functions);
	free(e->pairs);
	buf_free(&e->text);
	buf_free(&e->kinds);
	buf_free(&e->enter);
	buf_free(&e->leave);
	buf_free(&e->extra);
	free(e);
}

/* ---- tables ------------------------------------------------------------------------------------ */

static int write_enum(struct apitrace_emit *e, const struct apitrace_sig *sig, uint64_t seq)
{
	int err = 0;

	for (size_t i = 0; i < sig->cnt && !err; i++) {
		const struct apitrace_entry *v = &sig->v[i];
		bool neg = v->tag == APITRACE_NEG;

		err = begin_event(e, APITRACE_WORD_ENUM, seq);
		if (err)
			break;
		if (neg && (!v->value || v->value > (uint64_t)1 << 63))
			foreign_note(e->notes, FOREIGN_NOTE_CHANGED, 1,
				     "negative numbers of no 64 bits, wrapped", NULL);
		dial9_enc_put_u64(e->enc, sig->id);
		put_text(e, v->name);
		if (!neg && v->value >> 63) {
			dial9_enc_put_none(e->enc);
			dial9_enc_put_u64(e->enc, v->value);
		} else {
			dial9_enc_put_i64(e->enc, (int64_t)(neg ? 0 - v->value : v->value));
			dial9_enc_put_none(e->enc);
		}
		err = dial9_enc_end(e->enc);
	}
	return err;
}

static int write_mask(struct apitrace_emit *e, const struct apitrace_sig *sig, uint64_t seq)
{
	int err = 0;

	for (size_t i = 0; i < sig->cnt && !err; i++) {
		err = begin_event(e, APITRACE_WORD_FLAG, seq);
		if (err)
			break;
		dial9_enc_put_u64(e->enc, sig->id);
		put_text(e, sig->v[i].name);
		dial9_enc_put_u64(e->enc, sig->v[i].value);
		err = dial9_enc_end(e->enc);
	}
	return err;
}

static int write_struct(struct apitrace_emit *e, const struct apitrace_sig *sig, uint64_t seq)
{
	struct apitrace_json json = { .max = SIZE_MAX };
	const struct apitrace_sink_ops *ops = &apitrace_json_ops;
	struct dial9_str name;
	int err = begin_event(e, APITRACE_WORD_STRUCT, seq);

	if (err)
		return err;
	ops->open(&json, false);
	for (size_t i = 0; i < sig->cnt; i++) {
		buf_clear(&e->text);
		name = clean(e, sig->v[i].name);
		ops->text(&json, name.ptr, name.len);
	}
	ops->close(&json, false);
	dial9_enc_put_u64(e->enc, sig->id);
	put_text(e, sig->name);
	dial9_enc_put_str(e->enc, buf_cstr(&json.out), json.out.len);
	buf_free(&json.out);
	return dial9_enc_end(e->enc);
}

static void put_number(struct apitrace_emit *e, const struct apitrace_frame *f,
		       enum apitrace_frame_part part, uint64_t v)
{
	if (f->has & 1 << part)
		dial9_enc_put_u64(e->enc, v);
	else
		dial9_enc_put_none(e->enc);
}

static int write_symbol(struct apitrace_emit *e, const struct apitrace_sig *sig, uint64_t seq)
{
	const struct apitrace_frame *f = sig->frame;
	struct dial9_str module = f->text[APITRACE_FRAME_MODULE];
	struct buf name = { 0 };
	int err = begin_event(e, APITRACE_WORD_SYMBOL, seq);

	if (err)
		return err;
	if (f->has & 1 << APITRACE_FRAME_FUNCTION)
		buf_add(&name, f->text[APITRACE_FRAME_FUNCTION].ptr,
			f->text[APITRACE_FRAME_FUNCTION].len);
	else if (f->has & 1 << APITRACE_FRAME_MODULE)
		buf_printf(&name, "%.*s+0x%" PRIx64, (int)(module.len & 0xffff), module.ptr,
			   f->offset);
	else
		buf_addstr(&name, "?");
	dial9_enc_put_u64(e->enc, APITRACE_FRAME_BASE + (uint64_t)sig->idx);
	dial9_enc_put_u64(e->enc, 1);
	put_text(e, (struct dial9_str){ buf_cstr(&name), name.len });
	dial9_enc_put_u64(e->enc, 0);
	put_text(e, f->has & 1 << APITRACE_FRAME_FILE ? f->text[APITRACE_FRAME_FILE] :
							(struct dial9_str){ "", 0 });
	dial9_enc_put_u64(e->enc, f->line);
	buf_free(&name);
	return dial9_enc_end(e->enc);
}

static int write_frame(struct apitrace_emit *e, const struct apitrace_sig *sig, uint64_t seq)
{
	const struct apitrace_frame *f = sig->frame;
	int err = begin_event(e, APITRACE_WORD_FRAME, seq);

	if (err)
		return err;
	/* Rewriting tools of the tracer's own family leave numbers here that were never set. */
	if (sig->id >= APITRACE_FRAME_ID_MAX)
		foreign_note(e->notes, FOREIGN_NOTE_HINT, 1,
			     "frame ids that no program made: backtraces may be wrong",
			     "id %" PRIu64, sig->id);
	dial9_enc_put_u64(e->enc, APITRACE_FRAME_BASE + (uint64_t)sig->idx);
	dial9_enc_put_u64(e->enc, sig->id);
	for (unsigned int part = APITRACE_FRAME_MODULE; part <= APITRACE_FRAME_FILE; part++) {
		if (f->has & 1 << part)
			put_text(e, f->text[part]);
		else
			dial9_enc_put_none(e->enc);
	}
	put_number(e, f, APITRACE_FRAME_LINE, f->line);
	put_number(e, f, APITRACE_FRAME_OFFSET, f->offset);
	err = dial9_enc_end(e->enc);
	return err ? err : write_symbol(e, sig, seq);
}

int apitrace_emit_tables(struct apitrace_emit *e, uint64_t seq)
{
	static int (*const write[])(struct apitrace_emit *, const struct apitrace_sig *,
				    uint64_t) = {
		[APITRACE_SIG_FUNCTION] = NULL,	    [APITRACE_SIG_STRUCT] = write_struct,
		[APITRACE_SIG_ENUM] = write_enum,   [APITRACE_SIG_MASK] = write_mask,
		[APITRACE_SIG_FRAME] = write_frame,
	};
	int err = 0;

	for (size_t k = APITRACE_SIG_STRUCT; k < APITRACE_SIG_KINDS; k++)
		while (!err && e->written[k] < e->sigs->cnt[k])
			err = write[k](e, e->sigs->list[k][e->written[k]++], seq);
	return err;
}

/* ---- functions --------------------------------------------------------------------------------- */

static int write_function(struct apitrace_emit *e, const struct apitrace_layout *layout,
			  uint64_t seq)
{
	static const struct apitrace_slot any = { .base = APITRACE_BASE_ANY };
	const struct apitrace_sig *fn = layout->fn;
	struct buf kind = { 0 };
	int err = begin_event(e, APITRACE_WORD_FUNCTION, seq);

	if (err)
		return err;
	dial9_enc_put_u64(e->enc, fn->id);
	put_text(e, fn->name);
	reserve_pairs(e, fn->cnt);
	buf_clear(&e->kinds);
	for (size_t i = 0; i < fn->cnt; i++) {
		buf_clear(&kind);
		apitrace_layout_name(layout->slots ? &layout->slots[i] : &any, &kind);
		e->pairs[i][0] = gather(e, fn->v[i].name);
		e->pairs[i][1] = gather(e, (struct dial9_str){ kind.data, kind.len });
	}
	put_pairs(e, fn->cnt);
	buf_clear(&kind);
	apitrace_layout_name(layout->slots ? &layout->slots[fn->cnt] : &any, &kind);
	dial9_enc_put_str(e->enc, kind.data, kind.len);
	buf_free(&kind);
	return dial9_enc_end(e->enc);
}

static struct dial9_field_n field(struct dial9_str name, uint8_t type)
{
	return (struct dial9_field_n){ .name = name, .type = type };
}

static struct dial9_str chars(const char *s)
{
	return (struct dial9_str){ s, strlen(s) };
}

/* All fields of a function's calls; f has room. Names were cleaned. */
static size_t fill_fields(const struct apitrace_emit *e, const struct apitrace_layout *layout,
			  struct dial9_field_n *f)
{
	const struct apitrace_slot *ret = &layout->slots[layout->fn->cnt];
	size_t n = 0;

	for (; n < APITRACE_CALL_FIELDS; n++)
		f[n] = field(chars(apitrace_vocabulary_call[n].name),
			     apitrace_vocabulary_call[n].type);
	if (layout->has_stack)
		f[n++] = field(chars(APITRACE_FIELD_STACK),
			       (e->level >= DIAL9_LEVEL_4 ? DIAL9_POOLED_STACK : DIAL9_STACK) |
				       DIAL9_OPTIONAL);
	for (size_t i = 0; i < layout->fn->cnt; i++, n++)
		f[n] = field(e->pairs[i][0], apitrace_layout_type(&layout->slots[i], e->level));
	if (apitrace_layout_has_ret(ret))
		f[n++] = field(chars(APITRACE_FIELD_RET), apitrace_layout_type(ret, e->level));
	f[n++] = field(chars(APITRACE_FIELD_DETAILS), DIAL9_STRING | DIAL9_OPTIONAL);
	return n;
}

/* The schema for the layout as it is now; -E2BIG when there can be none. */
static int new_schema(struct apitrace_emit *e, const struct apitrace_layout *layout,
		      struct dial9_schema **out)
{
	const struct apitrace_sig *fn = layout->fn;
	struct dial9_field_n *fields;
	struct dial9_str name;
	size_t cnt, bytes;
	int err;

	reserve_pairs(e, fn->cnt);
	buf_clear(&e->kinds);
	for (size_t i = 0; i < fn->cnt; i++)
		e->pairs[i][0] = gather(e, fn->v[i].name);
	for (size_t i = 0; i < fn->cnt; i++) {
		e->pairs[i][0].ptr = buf_cstr(&e->kinds) + (uintptr_t)e->pairs[i][0].ptr;
		if (e->pairs[i][0].len > NAME_MAX_LEN)
			return -E2BIG;
	}
	buf_clear(&e->text);
	name = clean(e, fn->name);
	bytes = e->kinds.len + name.len + 256 + fn->cnt * sizeof(*fields);
	if (name.len > NAME_MAX_LEN || e->schema_cnt >= SCHEMAS_MAX ||
	    e->schema_bytes + bytes > SCHEMA_BYTES_MAX)
		return -E2BIG;
	fields = xcalloc(fn->cnt + APITRACE_CALL_FIELDS + 3, sizeof(*fields));
	cnt = fill_fields(e, layout, fields);
	err = dial9_schema_new_n(name, e->tick != 0, fields, cnt, out);
	free(fields);
	e->schema_cnt++;
	e->schema_bytes += bytes;
	return err;
}

/* Makes f fit the layout: a schema of its own, or none. */
static int adapt(struct apitrace_emit *e, struct function *f, const struct apitrace_layout *layout,
		 uint64_t seq)
{
	struct dial9_schema *schema = NULL;
	int err = layout->slots ? new_schema(e, layout, &schema) : -E2BIG;

	if (err && err != -E2BIG)
		return err;
	if (err)
		foreign_note(e->notes, FOREIGN_NOTE_CHANGED, 1,
			     "functions too large or too many for schemas of their own, as text",
			     NULL);
	dial9_schema_free(f->schema);
	f->schema = schema;
	f->generic = !schema;
	return write_function(e, layout, seq);
}

/* ---- calls ------------------------------------------------------------------------------------- */

static void put_common(struct apitrace_emit *e, const struct apitrace_sig *fn,
		       const struct apitrace_call *call)
{
	dial9_enc_put_u64(e->enc, fn->id);
	dial9_enc_put_u64(e->enc, call->no);
	dial9_enc_put_u64(e->enc, call->thread);
	dial9_enc_put_u64(e->enc, call->enter_seq);
	if (call->returned)
		dial9_enc_put_u64(e->enc, call->leave_seq);
	else
		dial9_enc_put_none(e->enc);
	dial9_enc_put_u64(e->enc, call->frame);
	dial9_enc_put_u64(e->enc, call->flags);
}

static void put_stack(struct apitrace_emit *e, const struct apitrace_call *call)
{
	struct apitrace_cur c = call->stack;
	const struct apitrace_sig *sig;
	uint64_t *frames;

	if (!call->has_stack) {
		dial9_enc_put_none(e->enc);
		return;
	}
	/* One byte at least stands for each of them, so the count is no hostile one. */
	frames = xreallocarray(NULL, call->stack_cnt + 1, sizeof(*frames));
	for (uint64_t i = 0; i < call->stack_cnt; i++) {
		sig = apitrace_sig_get(e->sigs, APITRACE_SIG_FRAME, apitrace_value_uint(&c));
		frames[i] = APITRACE_FRAME_BASE + (uint64_t)(sig ? sig->idx : 0);
	}
	dial9_enc_put_stack(e->enc, frames, call->stack_cnt);
	free(frames);
}

static bool equal(const struct buf *b, struct apitrace_cur c)
{
	size_t sz = (size_t)(c.end - c.pos);

	return b->len == sz && (!sz || !memcmp(b->data, c.pos, sz));
}

/* What the fields do not say; absent when they say it all. */
static void put_details(struct apitrace_emit *e, const struct apitrace_cur *enter,
			const struct apitrace_cur *leave)
{
	buf_clear(&e->extra);
	if (!enter && !leave) {
		dial9_enc_put_none(e->enc);
	} else if (apitrace_details_print(e->sigs, enter, leave, &e->extra)) {
		foreign_note(e->notes, FOREIGN_NOTE_NOT_KEPT, 1, "details too large for text",
			     NULL);
		dial9_enc_put_none(e->enc);
	} else {
		dial9_enc_put_str(e->enc, e->extra.data, e->extra.len);
	}
}

static void put_slot(struct apitrace_emit *e, const struct apitrace_slot *slot,
		     struct apitrace_cur value)
{
	bool over = false;

	if (slot->base == APITRACE_BASE_ANY && value.pos && e->level < DIAL9_LEVEL_4)
		foreign_note(
			e->notes, FOREIGN_NOTE_CHANGED, 1,
			"values as text: lists, structures, mixed types (--spec 0.4: as lists)",
			NULL);
	apitrace_layout_put(e->enc, e->sigs, slot, value, e->level, &over);
	if (over)
		foreign_note(e->notes, FOREIGN_NOTE_NOT_KEPT, 1, "values too large for text", NULL);
}

static int write_fields(struct apitrace_emit *e, const struct apitrace_layout *layout,
			const struct apitrace_call *call, const struct dial9_schema *schema,
			uint64_t seq)
{
	const struct apitrace_slot *ret = &layout->slots[layout->fn->cnt];
	int err = dial9_enc_begin(e->enc, schema, time_of(e, seq));
	bool enter_said, leave_said;

	if (err)
		return err;
	put_common(e, layout->fn, call);
	if (layout->has_stack)
		put_stack(e, call);
	for (size_t i = 0; i < layout->fn->cnt; i++)
		put_slot(e, &layout->slots[i], call->values[i]);
	if (apitrace_layout_has_ret(ret))
		put_slot(e, ret, call->values[layout->fn->cnt]);
	buf_clear(&e->enter);
	buf_clear(&e->leave);
	apitrace_layout_enter(layout, call, &e->enter);
	if (call->returned)
		apitrace_layout_leave(layout, call, &e->leave);
	enter_said = equal(&e->enter, call->enter);
	leave_said = equal(&e->leave, call->leave);
	put_details(e, enter_said ? NULL : &call->enter, leave_said ? NULL : &call->leave);
	return dial9_enc_end(e->enc);
}

static int write_generic(struct apitrace_emit *e, const struct apitrace_layout *layout,
			 const struct apitrace_call *call, uint64_t seq)
{
	int err = begin_event(e, APITRACE_WORD_CALL, seq);

	if (err)
		return err;
	put_common(e, layout->fn, call);
	put_text(e, layout->fn->name);
	put_details(e, &call->enter, call->returned ? &call->leave : NULL);
	return dial9_enc_end(e->enc);
}

int apitrace_emit_enter(struct apitrace_emit *e, const struct apitrace_event *ev, uint64_t seq)
{
	int err = 0;

	if (!e->tick)
		return 0;
	err = begin_event(e, APITRACE_WORD_SPAN_ENTER, seq);
	if (err)
		return err;
	dial9_enc_put_u64(e->enc, ev->thread);
	dial9_enc_put_u64(e->enc, ev->no);
	dial9_enc_put_none(e->enc);
	put_text(e, ev->fn->name);
	return dial9_enc_end(e->enc);
}

static int write_exit(struct apitrace_emit *e, const struct apitrace_layout *layout,
		      const struct apitrace_call *call, uint64_t seq)
{
	int err = begin_event(e, APITRACE_WORD_SPAN_EXIT, seq);

	if (err)
		return err;
	dial9_enc_put_u64(e->enc, call->thread);
	dial9_enc_put_u64(e->enc, call->no);
	put_text(e, layout->fn->name);
	return dial9_enc_end(e->enc);
}

int apitrace_emit_call(struct apitrace_emit *e, const struct apitrace_layout *layout,
		       const struct apitrace_call *call, bool changed, uint64_t seq)
{
	struct function *f;
	int err = 0;

	e->functions = array_reserve(e->functions, &e->function_cap, layout->fn->idx + 1,
				     sizeof(*e->functions));
	f = &e->functions[layout->fn->idx];
	if (!f->generic && (changed || !f->schema))
		err = adapt(e, f, layout, seq);
	if (!err)
		err = f->generic ? write_generic(e, layout, call, seq) :
				   write_fields(e, layout, call, f->schema, seq);
	if (!err && e->tick && call->returned)
		err = write_exit(e, layout, call, seq);
	return err;
}

int apitrace_emit_leave(struct apitrace_emit *e, const struct apitrace_event *ev, uint64_t seq)
{
	struct apitrace_cur c = { ev->details, ev->details + ev->details_sz };
	int err = begin_event(e, APITRACE_WORD_LEAVE, seq);

	if (err)
		return err;
	dial9_enc_put_u64(e->enc, ev->no);
	dial9_enc_put_u64(e->enc, seq);
	put_details(e, NULL, ev->details_sz ? &c : NULL);
	return dial9_enc_end(e->enc);
}

int apitrace_emit_finish(struct apitrace_emit *e, const struct apitrace_emit_end *end)
{
	int err = begin_event(e, APITRACE_WORD_END, end->events);

	if (err)
		return err;
	dial9_enc_put_u64(e->enc, end->events);
	dial9_enc_put_u64(e->enc, end->calls);
	dial9_enc_put_u64(e->enc, end->open_calls);
	dial9_enc_put_u64(e->enc, end->stream_bytes);
	dial9_enc_put_bool(e->enc, end->cut);
	if (end->damage)
		put_chars(e, end->damage);
	else
		dial9_enc_put_none(e->enc);
	return dial9_enc_end(e->enc);
}
