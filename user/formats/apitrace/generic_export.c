// SPDX-License-Identifier: BSD-2-Clause
/*
 * Any dial9 trace as a trace of calls.
 *
 * A type of event is a function, its fields are the arguments, with the time in front, and an event is a
 * call that returns at once. Where events come in pairs (SpanEnter:X and SpanExit:X, PollStartEvent and
 * PollEndEvent) the pair is one call, with the fields of the end as arguments of the leave, so that
 * apitrace's own viewer shows the nesting. The first pass collects the types, because the header
 * describes them, and the names of addresses, because a frame is defined where it is first used. Numbers
 * lose their widths; the property dial9.schemas has them.
 */
#include "formats/apitrace/apitrace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "formats/apitrace/json.h"
#include "formats/apitrace/value.h"
#include "formats/apitrace/write.h"

/* Ids 0 to 3 are the tracer's own. */
#define FIRST_ID 4
#define OPEN_MAX ((size_t)1 << 18)
#define THREADS_MAX 65536
#define NOT_A_WORKER 255
#define TYPE_IDS 65536

enum role { ROLE_ALONE, ROLE_BEGIN, ROLE_END };

/* A type of event. */
struct type {
	struct dial9_schema *schema;
	const struct apitrace_sig *fn;
	enum role role;
	const char *pair; /* what begin and end have in common; borrows the schema */
	int id_field, worker_field, thread_field, stack_field; /* or -ENOENT */
	size_t same_name; /* the next type in the chain of a name's hash, + 1 */
	const struct type *last_end; /* what end_offset() was asked for last, and what it said */
	size_t last_offset;
};

struct open_span {
	struct open_span *below; /* another of the same key */
	struct type *type;
	uint64_t no;
};

struct generic {
	const struct foreign_input *in;
	struct dial9_dec *dec;
	struct foreign_notes *notes;
	struct apitrace_write *out;
	struct apitrace_sigs sigs;
	struct type *types;
	size_t type_cnt, type_cap;
	struct hmap by_name; /* hash of a name -> the last type of that name, + 1 */
	struct type **by_id; /* what a type id stands for now; TYPE_IDS of them */
	struct hmap names; /* address -> struct apitrace_frame */
	struct hmap frames; /* address -> id of its frame, + 1 */
	struct hmap threads; /* worker or thread -> its number + 1 */
	struct hmap open; /* struct open_span */
	size_t open_cnt;
	struct buf details;
	uint64_t next_no, last_ts;
};

/* ---- values -------------------------------------------------------------------------------------- */

/*
 * Appends a value of dial9 as a value of apitrace: text as string (as blob where it holds a NUL, at which
 * readers would cut it), addresses as an array of pointers, pairs as arrays of two, what is absent as null.
 * Types that differ only in width become one. Lists and maps nest 64 deep at most, which bounds the recursion.
 */
static void put_json_value(const struct dial9_dec *dec, const struct dial9_value *v,
			   struct buf *out, struct foreign_notes *notes);

static void put_json_text(struct dial9_str s, struct buf *out)
{
	bool blob = s.len && memchr(s.ptr, 0, s.len);

	apitrace_value_put_tagged(out, blob ? APITRACE_BLOB : APITRACE_STRING, s.len);
	buf_add(out, s.len ? s.ptr : "", s.len);
}

static void put_json_pooled(const struct dial9_dec *dec, const struct dial9_value *v,
			    struct buf *out, struct foreign_notes *notes)
{
	struct dial9_str s;

	if (!dial9_value_str(dec, v, &s)) {
		put_json_text(s, out);
		return;
	}
	foreign_note(notes, FOREIGN_NOTE_CHANGED, 1, "pool ids that nothing defines, as numbers",
		     NULL);
	apitrace_value_put_tagged(out, APITRACE_UINT, v->id);
}

static void put_json_stack(const struct dial9_dec *dec, const struct dial9_value *v,
			   struct buf *out, struct foreign_notes *notes)
{
	const uint8_t *le;
	uint32_t cnt;

	if (dial9_value_stack(dec, v, &le, &cnt)) {
		foreign_note(notes, FOREIGN_NOTE_CHANGED, 1,
			     "pool ids that nothing defines, as numbers", NULL);
		apitrace_value_put_tagged(out, APITRACE_UINT, v->id);
		return;
	}
	apitrace_value_put_tagged(out, APITRACE_ARRAY, cnt);
	for (uint32_t i = 0; i < cnt; i++)
		apitrace_value_put_tagged(out, APITRACE_POINTER, dial9_frame_at(le, i));
}

static void put_json_map(const struct dial9_dec *dec, const struct dial9_value *v, struct buf *out,
			 struct foreign_notes *notes)
{
	struct dial9_value key, value;
	struct dial9_iter it;

	apitrace_value_put_tagged(out, APITRACE_ARRAY, v->map.cnt);
	dial9_iter_init(&it, v);
	while (dial9_map_next(&it, &key, &value) == 1) {
		apitrace_value_put_tagged(out, APITRACE_ARRAY, 2);
		put_json_value(dec, &key, out, notes);
		put_json_value(dec, &value, out, notes);
	}
}

static void put_json_list(const struct dial9_dec *dec, const struct dial9_value *v, struct buf *out,
			  struct foreign_notes *notes)
{
	struct dial9_value elem;
	struct dial9_iter it;

	apitrace_value_put_tagged(out, APITRACE_ARRAY, v->list.cnt);
	dial9_iter_init(&it, v);
	while (dial9_list_next(&it, &elem) == 1)
		put_json_value(dec, &elem, out, notes);
}

static void put_json_real(double d, struct buf *out)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	buf_addch(out, APITRACE_DOUBLE);
	for (unsigned int i = 0; i < 8; i++)
		buf_addch(out, (char)(bits >> (8 * i)));
}

static void put_json_value(const struct dial9_dec *dec, const struct dial9_value *v,
			   struct buf *out, struct foreign_notes *notes)
{
	switch ((enum dial9_type)v->type) {
	case DIAL9_VARINT:
	case DIAL9_U8:
	case DIAL9_U16:
	case DIAL9_U32:
		return apitrace_value_put_tagged(out, APITRACE_UINT, v->u64);
	case DIAL9_I64:
		if (v->i64 < 0)
			return apitrace_value_put_tagged(out, APITRACE_NEG, 0 - (uint64_t)v->i64);
		return apitrace_value_put_tagged(out, APITRACE_UINT, (uint64_t)v->i64);
	case DIAL9_F64:
		return put_json_real(v->f64, out);
	case DIAL9_BOOL:
		return buf_addch(out, v->b ? APITRACE_TRUE : APITRACE_FALSE);
	case DIAL9_STRING:
		return put_json_text((struct dial9_str){ v->str.ptr, v->str.len }, out);
	case DIAL9_BYTES:
		apitrace_value_put_tagged(out, APITRACE_BLOB, v->str.len);
		return buf_add(out, v->str.len ? v->str.ptr : "", v->str.len);
	case DIAL9_POOLED_STRING:
		return put_json_pooled(dec, v, out, notes);
	case DIAL9_STACK:
	case DIAL9_POOLED_STACK:
		return put_json_stack(dec, v, out, notes);
	case DIAL9_STRING_MAP:
	case DIAL9_MAP:
		return put_json_map(dec, v, out, notes);
	case DIAL9_LIST:
		return put_json_list(dec, v, out, notes);
	case DIAL9_OPTIONAL:
		break;
	}
	buf_addch(out, APITRACE_NULL);
}

/* ---- types ------------------------------------------------------------------------------------- */

static int number_field(const struct dial9_schema *s, const char *name)
{
	int i = dial9_schema_find(s, name);
	uint8_t type = i < 0 ? 0 : dial9_schema_field_type(s, (size_t)i) & ~DIAL9_OPTIONAL;
	bool number =
		type == DIAL9_VARINT || type == DIAL9_U8 || type == DIAL9_U16 || type == DIAL9_U32;

	return number ? i : -ENOENT;
}

static void find_role(struct type *t)
{
	static const struct {
		const char *prefix;
		enum role role;
		bool whole; /* the name is no more than this */
	} roles[] = {
		{ "SpanEnter:", ROLE_BEGIN, false },
		{ "SpanExit:", ROLE_END, false },
		{ "PollStartEvent", ROLE_BEGIN, true },
		{ "PollEndEvent", ROLE_END, true },
	};
	const char *name = dial9_schema_name(t->schema);

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		size_t len = strlen(roles[i].prefix);

		if (strncmp(name, roles[i].prefix, len) != 0 || (roles[i].whole && name[len]))
			continue;
		t->role = roles[i].role;
		t->pair = name + len;
	}
	t->id_field = number_field(t->schema, "span_id");
	if (t->role != ROLE_ALONE && *t->pair && t->id_field < 0)
		t->role = ROLE_ALONE;
}

static uint64_t name_key(const struct dial9_schema *s)
{
	struct dial9_str name = dial9_schema_name_n(s);

	return hash_bytes(name.ptr, name.len);
}

static struct type *type_of(struct generic *g, const struct dial9_schema *s)
{
	size_t i = (size_t)(uintptr_t)hmap_get(&g->by_name, name_key(s));

	for (; i; i = g->types[i - 1].same_name)
		if (dial9_schema_equal(g->types[i - 1].schema, s))
			return &g->types[i - 1];
	return NULL;
}

static void add_type(struct generic *g, const struct dial9_schema *s)
{
	struct type t = { .role = ROLE_ALONE, .stack_field = -ENOENT };
	uint64_t key = name_key(s);

	if (type_of(g, s))
		return;
	t.schema = dial9_schema_ref(s);
	t.same_name = (size_t)(uintptr_t)hmap_get(&g->by_name, key);
	find_role(&t);
	t.worker_field = number_field(s, "worker_id");
	t.thread_field = number_field(s, "tid");
	if (t.thread_field < 0)
		t.thread_field = number_field(s, "thread");
	if (t.thread_field < 0)
		t.thread_field = number_field(s, "common_pid");
	for (size_t i = dial9_schema_field_cnt(s); i-- > 0;) {
		uint8_t type = dial9_schema_field_type(s, i) & ~DIAL9_OPTIONAL;

		if (type == DIAL9_STACK || type == DIAL9_POOLED_STACK)
			t.stack_field = (int)i;
	}
	g->types = array_reserve(g->types, &g->type_cap, g->type_cnt + 1, sizeof(*g->types));
	g->types[g->type_cnt++] = t;
	hmap_set(&g->by_name, key, (void *)(uintptr_t)g->type_cnt);
}

static bool is_pair(const struct type *begin, const struct type *end)
{
	return begin->role == ROLE_BEGIN && end->role == ROLE_END &&
	       !strcmp(begin->pair, end->pair) && (begin->id_field < 0) == (end->id_field < 0);
}

static size_t arg_cnt(const struct type *t)
{
	return dial9_schema_field_cnt(t->schema) + dial9_schema_has_timestamp(t->schema);
}

/* Index in the arguments of `begin` of the first argument of `end`. */
static size_t end_offset(const struct generic *g, struct type *begin, const struct type *end)
{
	size_t at = arg_cnt(begin);

	if (end && begin->last_end == end)
		return begin->last_offset;
	for (size_t i = 0; i < g->type_cnt && &g->types[i] != end; i++)
		if (is_pair(begin, &g->types[i]))
			at += arg_cnt(&g->types[i]);
	begin->last_end = end;
	begin->last_offset = at;
	return at;
}

/* Rows for the arguments of an event; *n rows are there. */
static void name_args(struct generic *g, const struct type *t, const char *prefix,
		      struct apitrace_entry *rows, size_t *n)
{
	struct buf name = { 0 };
	struct dial9_str s;

	if (dial9_schema_has_timestamp(t->schema)) {
		buf_printf(&name, "%stimestamp_ns", prefix);
		rows[(*n)++].name = apitrace_sig_text(&g->sigs, name.data, name.len);
	}
	for (size_t i = 0; i < dial9_schema_field_cnt(t->schema); i++) {
		s = dial9_schema_field_name_n(t->schema, i);
		buf_clear(&name);
		buf_addstr(&name, prefix);
		buf_add(&name, s.ptr, s.len);
		rows[(*n)++].name = apitrace_sig_text(&g->sigs, name.data, name.len);
	}
	buf_free(&name);
}

static int add_function(struct generic *g, struct type *t, size_t idx)
{
	struct dial9_str name = dial9_schema_name_n(t->schema);
	struct apitrace_sig sig = { .kind = APITRACE_SIG_FUNCTION, .id = idx + FIRST_ID };
	size_t n = 0, cnt = end_offset(g, t, NULL);
	int err;

	if (apitrace_sig_full(&g->sigs, cnt))
		return -E2BIG;
	sig.v = xcalloc(cnt + 1, sizeof(*sig.v));
	sig.name = apitrace_sig_text(&g->sigs, name.ptr, name.len);
	name_args(g, t, "", sig.v, &n);
	for (size_t i = 0; i < g->type_cnt; i++)
		if (is_pair(t, &g->types[i]))
			name_args(g, &g->types[i], "end.", sig.v, &n);
	sig.cnt = n;
	err = apitrace_sig_add(&g->sigs, &sig, &t->fn);
	free(sig.v);
	return err;
}

/* ---- names of addresses ------------------------------------------------------------------------ */

static struct dial9_str value_text_field(struct generic *g, const struct dial9_event *ev,
					 const char *name)
{
	int i = dial9_schema_find(ev->schema, name);
	struct dial9_str s;

	if (i < 0 || dial9_value_str(g->dec, &ev->values[i], &s))
		return (struct dial9_str){ "", 0 };
	return apitrace_sig_text(&g->sigs, s.ptr, s.len);
}

static uint64_t number_of(const struct dial9_event *ev, const char *name)
{
	int i = number_field(ev->schema, name);

	return i < 0 || !ev->values[i].type ? 0 : ev->values[i].u64;
}

/* The outermost function counts; the last entry for it. */
static void learn_symbol(struct generic *g, const struct dial9_event *ev)
{
	struct apitrace_frame *f;
	uint64_t addr = number_of(ev, "addr");

	if (number_of(ev, "inline_depth") || apitrace_sig_full(&g->sigs, 2 * g->names.cnt))
		return;
	f = hmap_get(&g->names, addr);
	if (!f) {
		f = xcalloc(1, sizeof(*f));
		hmap_set(&g->names, addr, f);
	}
	f->text[APITRACE_FRAME_FUNCTION] = value_text_field(g, ev, "symbol_name");
	f->text[APITRACE_FRAME_FILE] = value_text_field(g, ev, "source_file");
	f->line = number_of(ev, "source_line");
	f->offset = addr;
	f->has = 1 << APITRACE_FRAME_FUNCTION | 1 << APITRACE_FRAME_OFFSET;
	if (f->text[APITRACE_FRAME_FILE].len)
		f->has |= 1 << APITRACE_FRAME_FILE | 1 << APITRACE_FRAME_LINE;
}

/*
 * The id of an address's frame: small and dense, since apitrace's own reader indexes an array by them.
 * UINT64_MAX when the table is full.
 */
static uint64_t frame_of(struct generic *g, uint64_t addr)
{
	struct apitrace_frame bare = { .has = 1 << APITRACE_FRAME_OFFSET, .offset = addr };
	struct apitrace_frame *named = hmap_get(&g->names, addr);
	uintptr_t known = (uintptr_t)hmap_get(&g->frames, addr);
	struct apitrace_sig sig = { .kind = APITRACE_SIG_FRAME,
				    .id = g->frames.cnt,
				    .frame = named ? named : &bare };
	const struct apitrace_sig *added;

	if (known)
		return known - 1;
	if (apitrace_sig_add(&g->sigs, &sig, &added))
		return UINT64_MAX;
	hmap_set(&g->frames, addr, (void *)(uintptr_t)(sig.id + 1));
	return sig.id;
}

static void add_backtrace(struct generic *g, const struct dial9_value *v)
{
	struct buf ids = { 0 };
	const uint8_t *le;
	uint32_t cnt, n = 0;
	uint64_t id;

	if (!v->type || dial9_value_stack(g->dec, v, &le, &cnt))
		return;
	for (; n < cnt && (id = frame_of(g, dial9_frame_at(le, n))) != UINT64_MAX; n++)
		apitrace_value_put_uint(&ids, id);
	if (n < cnt)
		foreign_note(
			g->notes, FOREIGN_NOTE_NOT_KEPT, 1,
			"frames of backtraces, too many different ones (their addresses are kept)",
			NULL);
	apitrace_value_put_tagged(&g->details, APITRACE_DETAIL_STACK, n);
	buf_add(&g->details, buf_cstr(&ids), ids.len);
	buf_free(&ids);
}

/* ---- events ------------------------------------------------------------------------------------ */

static uint64_t thread_of(struct generic *g, const struct type *t, const struct dial9_event *ev)
{
	int worker = t->worker_field, tid = t->thread_field;
	uint64_t key;
	void *known;

	if (worker >= 0 && ev->values[worker].type &&
	    (ev->values[worker].u64 != NOT_A_WORKER || tid < 0))
		key = hash_u64(ev->values[worker].u64) ^ 1;
	else if (tid >= 0 && ev->values[tid].type)
		key = hash_u64(~ev->values[tid].u64);
	else
		return 0;
	known = hmap_get(&g->threads, key);
	if (!known && g->threads.cnt < THREADS_MAX) {
		known = (void *)(uintptr_t)(g->threads.cnt + 1);
		hmap_set(&g->threads, key, known);
	}
	return known ? (uint64_t)(uintptr_t)known - 1 : 0;
}

static uint64_t span_key(const struct type *t, const struct dial9_event *ev, uint64_t thread)
{
	uint64_t id =
		t->id_field >= 0 && ev->values[t->id_field].type ? ev->values[t->id_field].u64 : 0;

	return hash_bytes(t->pair, strlen(t->pair)) ^ hash_u64(id ^ hash_u64(thread + 1));
}

static void add_args(struct generic *g, const struct dial9_event *ev, size_t at)
{
	if (ev->has_ts) {
		apitrace_value_put_tagged(&g->details, APITRACE_DETAIL_ARG, at++);
		apitrace_value_put_tagged(&g->details, APITRACE_UINT, ev->ts);
	}
	for (size_t i = 0; i < ev->value_cnt; i++) {
		apitrace_value_put_tagged(&g->details, APITRACE_DETAIL_ARG, at++);
		put_json_value(g->dec, &ev->values[i], &g->details, g->notes);
	}
}

static struct apitrace_cur details_of(struct generic *g)
{
	const uint8_t *p = (const uint8_t *)buf_cstr(&g->details);

	return (struct apitrace_cur){ p, p + g->details.len };
}

static void drop_spans(struct generic *g)
{
	struct open_span *span, *below;
	size_t pos = 0;
	uint64_t key;
	void *v;

	while (hmap_next(&g->open, &pos, &key, &v))
		for (span = v; span; span = below) {
			below = span->below;
			free(span);
		}
	hmap_fini(&g->open);
	g->open = (struct hmap){ 0 };
	g->open_cnt = 0;
}

static void open_span(struct generic *g, struct type *t, uint64_t key)
{
	struct open_span *span = xmalloc(sizeof(*span));

	if (g->open_cnt >= OPEN_MAX) {
		foreign_note(g->notes, FOREIGN_NOTE_CHANGED, g->open_cnt,
			     "spans open at once, too many to wait for their ends", NULL);
		drop_spans(g);
	}
	*span = (struct open_span){ .below = hmap_get(&g->open, key), .type = t, .no = g->next_no };
	hmap_set(&g->open, key, span);
	g->open_cnt++;
}

/* The end of a span: its leave. 1 when there is no such span. */
static int close_span(struct generic *g, const struct type *t, const struct dial9_event *ev,
		      uint64_t thread)
{
	uint64_t key = span_key(t, ev, thread);
	struct open_span *span = hmap_get(&g->open, key);
	int err;

	if (!span || !is_pair(span->type, t))
		return 1;
	if (span->below)
		hmap_set(&g->open, key, span->below);
	else
		hmap_del(&g->open, key);
	g->open_cnt--;
	buf_clear(&g->details);
	add_args(g, ev, end_offset(g, span->type, t));
	err = apitrace_write_leave(g->out, span->no, details_of(g));
	free(span);
	return err;
}

static int write_event(struct generic *g, const struct dial9_event *ev)
{
	struct apitrace_cur none = { 0 };
	struct type *t = g->by_id[ev->type_id];
	uint64_t thread;
	int err;

	/* The input changed between the passes. */
	if (!t)
		return -EIO;
	if (ev->has_ts && ev->ts < g->last_ts)
		foreign_note(g->notes, FOREIGN_NOTE_HINT, 1,
			     "events out of order of time, written in file order", NULL);
	g->last_ts = ev->has_ts ? ev->ts : g->last_ts;
	thread = thread_of(g, t, ev);
	if (t->role == ROLE_END) {
		err = close_span(g, t, ev, thread);
		if (err <= 0)
			return err;
	}
	buf_clear(&g->details);
	if (t->stack_field >= 0)
		add_backtrace(g, &ev->values[t->stack_field]);
	add_args(g, ev, 0);
	err = apitrace_write_enter(g->out, thread, t->fn, details_of(g));
	if (!err && t->role == ROLE_BEGIN)
		open_span(g, t, span_key(t, ev, thread));
	else if (!err)
		err = apitrace_write_leave(g->out, g->next_no, none);
	g->next_no++;
	return err;
}

/* ---- passes ------------------------------------------------------------------------------------ */

static int survey(struct generic *g)
{
	struct dial9_frame f;
	int err = foreign_open_dec(g->in, &g->dec);

	if (err)
		return err;
	while ((err = dial9_dec_next(g->dec, &f)) == 1) {
		if (f.kind == DIAL9_FRAME_SCHEMA)
			add_type(g, f.schema.schema);
		else if (f.kind == DIAL9_FRAME_EVENT &&
			 !strcmp(dial9_schema_name(f.event.schema), "SymbolTableEntry"))
			learn_symbol(g, &f.event);
	}
	dial9_dec_free(g->dec);
	g->dec = NULL;
	/* The second pass reports damage. */
	err = err == -ENODATA || foreign_is_stop(err) ? 0 : err;
	for (size_t i = 0; i < g->type_cnt && !err; i++)
		err = add_function(g, &g->types[i], i);
	return err ? err : g->in->rewind(g->in->ctx);
}

/* [[id, name, has a timestamp, [[field, type byte]...]]...] */
static void describe_types(const struct generic *g, struct buf *out)
{
	const struct apitrace_sink_ops *ops = &apitrace_json_ops;
	struct apitrace_json json = { .max = SIZE_MAX };
	struct dial9_str s;

	ops->open(&json, false);
	for (size_t i = 0; i < g->type_cnt; i++) {
		const struct dial9_schema *schema = g->types[i].schema;

		ops->open(&json, false);
		ops->uint(&json, i + FIRST_ID);
		s = dial9_schema_name_n(schema);
		ops->text(&json, s.ptr, s.len);
		ops->boolean(&json, dial9_schema_has_timestamp(schema));
		ops->open(&json, false);
		for (size_t k = 0; k < dial9_schema_field_cnt(schema); k++) {
			ops->open(&json, false);
			s = dial9_schema_field_name_n(schema, k);
			ops->text(&json, s.ptr, s.len);
			ops->uint(&json, dial9_schema_field_type(schema, k));
			ops->close(&json, false);
		}
		ops->close(&json, false);
		ops->close(&json, false);
	}
	ops->close(&json, false);
	*out = json.out;
}

static int write_header(struct generic *g)
{
	struct buf types = { 0 };
	int err;

	describe_types(g, &types);
	const struct dial9_str props[][2] = {
		{ { "dial9.schemas", strlen("dial9.schemas") }, { types.data, types.len } },
		{ { "dial9.source", strlen("dial9.source") },
		  { g->in->name, strlen(g->in->name) } },
		{ { "process.name", strlen("process.name") }, { "dial9", strlen("dial9") } },
	};
	err = apitrace_write_header(g->out, APITRACE_VERSION, props,
				    sizeof(props) / sizeof(props[0]));
	if (g->type_cnt)
		foreign_note(g->notes, FOREIGN_NOTE_CHANGED, g->type_cnt,
			     "types whose number widths are only in the property dial9.schemas",
			     NULL);
	buf_free(&types);
	return err;
}

static int write_events(struct generic *g)
{
	struct dial9_error where;
	struct dial9_frame f;
	int ret = 1, err = foreign_open_dec(g->in, &g->dec);

	while (!err && (ret = dial9_dec_next(g->dec, &f)) == 1) {
		if (f.kind == DIAL9_FRAME_SCHEMA)
			g->by_id[f.schema.type_id] = type_of(g, f.schema.schema);
		else if (f.kind == DIAL9_FRAME_EVENT)
			err = write_event(g, &f.event);
	}
	if (err)
		return err;
	err = apitrace_write_finish(g->out);
	if (g->open_cnt)
		foreign_note(g->notes, FOREIGN_NOTE_HINT, g->open_cnt, "spans without an end",
			     NULL);
	dial9_dec_error(g->dec, &where);
	return err ? err : foreign_end_dec(g->in, ret, &where, g->notes);
}

static void fini(struct generic *g)
{
	size_t pos = 0;
	uint64_t key;
	void *v;

	drop_spans(g);
	while (hmap_next(&g->names, &pos, &key, &v))
		free(v);
	for (size_t i = 0; i < g->type_cnt; i++)
		dial9_schema_free(g->types[i].schema);
	free(g->types);
	free(g->by_id);
	hmap_fini(&g->by_name);
	hmap_fini(&g->names);
	hmap_fini(&g->frames);
	hmap_fini(&g->threads);
	hmap_fini(&g->open);
	apitrace_write_free(g->out);
	dial9_dec_free(g->dec);
	buf_free(&g->details);
	apitrace_sig_fini(&g->sigs);
}

int apitrace_generic_export(const struct foreign_input *in, dial9_write_fn write, void *ctx,
			    struct foreign_notes *notes)
{
	struct generic g = { .in = in,
			     .notes = notes,
			     .by_id = xcalloc(TYPE_IDS, sizeof(*g.by_id)) };
	int err = survey(&g);

	if (!err)
		err = apitrace_write_new(write, ctx, &g.sigs, &g.out);
	if (!err)
		err = write_header(&g);
	if (!err)
		err = write_events(&g);
	fini(&g);
	return err;
}
