// SPDX-License-Identifier: BSD-2-Clause
/*
 * raw_layout.c - events of a trace as tracepoints
 *
 * Owns the layout of raw records, and their formats. perf reads the format from the file, so any layout will do. Events
 * of the scheduler get the kernel's, because perf's plugins and scripts know it; in all others integers have 8 bytes,
 * unless the trace has the size.
 */
#include "formats/perfdata/raw_layout.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

#define OWN_SYSTEM "dial9"
#define SCHED "sched:"

enum {
	EVENTS_MAX = 16384,
	FIELDS_MAX = 256,
	NAME_MAX_LEN = 128,
	COMMON_SZ = 8, /* type, flags, depth, thread */
	FLAG_HARDIRQ = 0x08,
	FLAG_SOFTIRQ = 0x10,
	COMM_SZ = 16,
	DYNAMIC_MAX = 32 << 10, /* of a record */
};

struct places {
	const struct perfdata_raw_event *event;
	int32_t field[]; /* of each value: index of its field, or -1 */
};

static void free_places(struct perfdata_raw_layout *l)
{
	uint64_t key;
	size_t pos = 0;
	void *value;

	while (hmap_next(&l->places, &pos, &key, &value))
		free(value);
	hmap_fini(&l->places);
	l->places = (struct hmap){ 0 };
}

void perfdata_raw_layout_fini(struct perfdata_raw_layout *l)
{
	for (size_t i = 0; i < l->cnt; i++) {
		for (size_t k = 0; k < l->v[i].cnt; k++) {
			free(l->v[i].fields[k].name);
			free(l->v[i].fields[k].source);
		}
		free(l->v[i].fields);
		free(l->v[i].system);
		free(l->v[i].event);
	}
	free(l->v);
	hmap_fini(&l->by_name);
	hmap_fini(&l->taken);
	free_places(l);
}

void perfdata_raw_layout_start(struct perfdata_raw_layout *l)
{
	free_places(l);
}

/* ---- names ------------------------------------------------------------------------------------- */

/* As a name of C. */
static char *plain_name(const char *s, size_t len)
{
	struct buf out = { 0 };

	if (!len || isdigit((unsigned char)*s))
		buf_addch(&out, '_');
	for (size_t i = 0; i < len && i < NAME_MAX_LEN; i++)
		buf_addch(&out,
			  isalnum((unsigned char)s[i]) && (unsigned char)s[i] < 128 ? s[i] : '_');
	return buf_steal(&out);
}

static uint64_t pair_hash(const char *a, const char *b)
{
	return hash_bytes(a, strlen(a)) * 31 + hash_bytes(b, strlen(b));
}

static void set_name(struct perfdata_raw_layout *l, struct perfdata_raw_event *e, const char *name,
		     size_t len)
{
	const char *colon = memchr(name, ':', len);
	struct buf other = { 0 };

	e->system = colon ? plain_name(name, (size_t)(colon - name)) : xstrdup(OWN_SYSTEM);
	e->event = colon ? plain_name(colon + 1, len - (size_t)(colon + 1 - name)) :
			   plain_name(name, len);
	if (hmap_get(&l->taken, pair_hash(e->system, e->event))) {
		buf_printf(&other, "%s_%u", e->event, e->number);
		free(e->event);
		e->event = buf_steal(&other);
	}
	hmap_set(&l->taken, pair_hash(e->system, e->event), l);
}

/* ---- fields ------------------------------------------------------------------------------------ */

/* Integers of the scheduler's events that the kernel has in 4 bytes. */
static bool is_kernel_int(const char *field)
{
	static const char *const names[] = { "pid",	  "prev_pid",	"next_pid", "parent_pid",
					     "child_pid", "old_pid",	"prio",	    "prev_prio",
					     "next_prio", "target_cpu", "dest_cpu", "orig_cpu",
					     "success",	  "src_cpu",	"dst_cpu" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(field, names[i]))
			return true;
	return false;
}

static void set_kind(struct perfdata_raw_field *f, uint8_t type, bool sched)
{
	const size_t len = strlen(f->source);

	f->kind = PERFDATA_RAW_INT;
	f->sz = 8;
	switch (type & (uint8_t)~DIAL9_OPTIONAL) {
	case DIAL9_STRING:
	case DIAL9_POOLED_STRING:
		f->kind = PERFDATA_RAW_TEXT;
		f->sz = 4;
		if (sched && len >= 4 && !strcmp(f->source + len - 4, "comm")) {
			f->kind = PERFDATA_RAW_CHARS;
			f->sz = COMM_SZ;
		}
		break;
	case DIAL9_BYTES:
		f->kind = PERFDATA_RAW_BYTES;
		f->sz = 4;
		break;
	case DIAL9_STACK:
	case DIAL9_POOLED_STACK:
		f->kind = PERFDATA_RAW_WORDS;
		f->sz = 4;
		break;
	case DIAL9_BOOL:
		f->is_bool = true;
		f->sz = 1;
		break;
	case DIAL9_U8:
		f->sz = 1;
		break;
	case DIAL9_U16:
		f->sz = 2;
		break;
	case DIAL9_U32:
		f->sz = 4;
		break;
	default:
		f->is_signed = sched;
		if (sched && is_kernel_int(f->source))
			f->sz = 4;
		break;
	}
}

static bool is_context(const struct trace_schema *schema, size_t i)
{
	return schema->kind == TRACE_SCHED_WAKING && (int32_t)i == schema->role[ROLE_CONTEXT];
}

/* Whether a field has a place elsewhere in the record. */
static bool is_common(const struct trace_schema *schema, size_t i)
{
	return (int32_t)i == schema->role[ROLE_COMMON_CPU] ||
	       (int32_t)i == schema->role[ROLE_COMMON_PID] ||
	       (int32_t)i == schema->role[ROLE_PART] || is_context(schema, i);
}

static int32_t find_field(const struct perfdata_raw_event *e, const char *source)
{
	for (size_t i = 0; i < e->cnt; i++)
		if (!strcmp(e->fields[i].source, source))
			return (int32_t)i;
	return -1;
}

static bool has_name(const struct perfdata_raw_event *e, const char *name)
{
	for (size_t i = 0; i < e->cnt; i++)
		if (!strcmp(e->fields[i].name, name))
			return true;
	return false;
}

static bool can_be_field(uint8_t type)
{
	const uint8_t plain = type & (uint8_t)~DIAL9_OPTIONAL;

	return plain != DIAL9_STRING_MAP && plain != DIAL9_LIST && plain != DIAL9_MAP &&
	       plain != DIAL9_F64;
}

/* Another layout of the event has the field, too. False: its values belong to another kind. */
static bool widen(struct perfdata_raw_field *f, const struct perfdata_raw_field *other)
{
	if (f->kind != other->kind)
		return false;
	f->sz = f->sz > other->sz ? f->sz : other->sz;
	f->is_signed |= other->is_signed;
	f->is_bool &= other->is_bool;
	return true;
}

static void learn_field(struct perfdata_raw_event *e, const struct trace_schema *schema, size_t i,
			const char *event, struct foreign_notes *notes)
{
	const char *source = dial9_schema_field_name(schema->schema, i);
	const uint8_t type = dial9_schema_field_type(schema->schema, i);
	const int32_t at = find_field(e, source);
	struct perfdata_raw_field f = { .name = plain_name(source, strlen(source)),
					.source = xstrdup(source) };
	bool fits = can_be_field(type);

	if (fits) {
		set_kind(&f, type, str_starts(event, SCHED));
		f.is_signed |= (type & (uint8_t)~DIAL9_OPTIONAL) == DIAL9_I64;
	}
	if (at >= 0)
		fits = fits && widen(&e->fields[at], &f);
	else
		fits = fits && e->cnt < FIELDS_MAX && !has_name(e, f.name);
	if (!fits)
		foreign_note(notes, FOREIGN_NOTE_NOT_KEPT, 1,
			     "fields that a tracepoint cannot have", "%s of %s", f.name, e->event);
	if (!fits || at >= 0) {
		free(f.name);
		free(f.source);
		return;
	}
	e->fields = array_reserve(e->fields, &e->cap, e->cnt + 1, sizeof(*e->fields));
	e->fields[e->cnt++] = f;
}

static struct perfdata_raw_event *add_event(struct perfdata_raw_layout *l, uint32_t name_id,
					    const char *name, size_t len)
{
	struct perfdata_raw_event *e;

	if (l->cnt >= EVENTS_MAX)
		return NULL;
	l->v = array_reserve(l->v, &l->cap, l->cnt + 1, sizeof(*l->v));
	e = &l->v[l->cnt++];
	*e = (struct perfdata_raw_event){ .name = name_id, .number = (uint16_t)l->cnt };
	set_name(l, e, name, len);
	hmap_set(&l->by_name, (uint64_t)name_id + 1, (void *)(uintptr_t)e->number);
	return e;
}

struct perfdata_raw_event *perfdata_raw_layout_learn(struct perfdata_raw_layout *l,
						     const struct names *names,
						     const struct trace_schema *schema,
						     struct foreign_notes *notes)
{
	const uintptr_t number = (uintptr_t)hmap_get(&l->by_name, (uint64_t)schema->name + 1);
	struct perfdata_raw_event *e;
	size_t len;
	const char *name = names_str(names, schema->name, &len);

	/* seen in this form already */
	if (hmap_get(&l->places, (uintptr_t)schema))
		return number ? &l->v[number - 1] : NULL;
	hmap_set(&l->places, (uintptr_t)schema, xcalloc(1, sizeof(struct places)));
	e = number ? &l->v[number - 1] : add_event(l, schema->name, name, len);
	for (size_t i = 0; e && i < schema->field_cnt; i++)
		if (!is_common(schema, i))
			learn_field(e, schema, i, name, notes);
	return e;
}

void perfdata_raw_layout_place(struct perfdata_raw_layout *l)
{
	for (size_t i = 0; i < l->cnt; i++) {
		struct perfdata_raw_event *e = &l->v[i];
		size_t off = COMMON_SZ;

		for (size_t k = 0; k < e->cnt; k++) {
			const size_t align =
				e->fields[k].kind == PERFDATA_RAW_CHARS ? 1 : e->fields[k].sz;

			off = (off + align - 1) / align * align;
			e->fields[k].off = (uint16_t)off;
			off += e->fields[k].sz;
		}
		e->sz = (uint16_t)off;
	}
}

const struct perfdata_raw_event *perfdata_raw_layout_find(const struct perfdata_raw_layout *l,
							  const struct trace_schema *schema)
{
	const uintptr_t number = (uintptr_t)hmap_get(&l->by_name, (uint64_t)schema->name + 1);

	return number ? &l->v[number - 1] : NULL;
}

/* ---- records ----------------------------------------------------------------------------------- */

static const struct places *get_places(struct perfdata_raw_layout *l,
				       const struct trace_schema *schema)
{
	struct places *p = hmap_get(&l->places, (uintptr_t)schema);

	if (p)
		return p;
	p = xcalloc(1, sizeof(*p) + schema->field_cnt * sizeof(p->field[0]));
	p->event = perfdata_raw_layout_find(l, schema);
	for (size_t i = 0; i < schema->field_cnt; i++)
		p->field[i] =
			!p->event || is_common(schema, i) ?
				-1 :
				find_field(p->event, dial9_schema_field_name(schema->schema, i));
	hmap_set(&l->places, (uintptr_t)schema, p);
	return p;
}

/* "\xff": bytes that were no UTF-8 when the trace was written. */
static void put_chars(char *to, size_t sz, struct dial9_str s)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < s.len; i++) {
		const char *p = s.ptr + i;
		char hex[3] = { 0 }, *end;
		unsigned long v;

		if (s.len - i >= 4 && p[0] == '\\' && p[1] == 'x') {
			memcpy(hex, p + 2, 2);
			v = strtoul(hex, &end, 16);
			if (!*end && v >= 0x80) {
				buf_addch(&text, (char)v);
				i += 3;
				continue;
			}
		}
		buf_addch(&text, *p);
	}
	if (text.len)
		memcpy(to, text.data, text.len < sz ? text.len : sz - 1);
	buf_free(&text);
}

/* Where bytes after the fields are: their offset and size. */
static void put_dynamic(struct buf *out, size_t base, const struct perfdata_raw_field *f,
			const void *p, size_t sz, bool text, struct foreign_notes *notes)
{
	const size_t off = out->len - base, end = text;
	const size_t room = off < DYNAMIC_MAX ? DYNAMIC_MAX - off : end;
	uint32_t word;

	if (sz > room - end) {
		foreign_note(notes, FOREIGN_NOTE_CHANGED, 1, "long values, cut", "%s", f->source);
		sz = room - end;
	}
	word = (uint32_t)(sz + end) << 16 | (uint32_t)off;
	buf_add(out, p, sz);
	buf_fill(out, '\0', end);
	memcpy(out->data + base + f->off, &word, sizeof(word));
}

static void put_value(const struct trace *t, const struct dial9_value *v,
		      const struct perfdata_raw_field *f, struct buf *out, size_t base,
		      struct foreign_notes *notes)
{
	struct dial9_str s = { "", 0 };
	const uint8_t *le = NULL;
	uint32_t cnt = 0;
	uint64_t n = 0;

	switch (f->kind) {
	case PERFDATA_RAW_INT:
		if (v->type == DIAL9_BOOL)
			n = v->b;
		else
			trace_value_u64(v, &n);
		memcpy(out->data + base + f->off, &n, f->sz);
		break;
	case PERFDATA_RAW_CHARS:
		if (trace_value_str(t, v, &s))
			put_chars(out->data + base + f->off, f->sz, s);
		break;
	case PERFDATA_RAW_TEXT:
		if (!trace_value_str(t, v, &s))
			s = (struct dial9_str){ "", 0 };
		put_dynamic(out, base, f, s.ptr, s.len, true, notes);
		break;
	case PERFDATA_RAW_BYTES:
		if (v->type == DIAL9_BYTES)
			put_dynamic(out, base, f, v->str.ptr, v->str.len, false, notes);
		break;
	case PERFDATA_RAW_WORDS:
		if (trace_value_stack(t, v, &le, &cnt))
			put_dynamic(out, base, f, le, cnt * sizeof(uint64_t), false, notes);
		break;
	}
}

static uint8_t irq_flags(const struct trace_event *ev)
{
	switch (trace_u64_or(ev, ROLE_CONTEXT, 0) & PROF_CONTEXT_MASK) {
	case PROF_CONTEXT_SOFTIRQ:
		return FLAG_SOFTIRQ;
	case PROF_CONTEXT_HARDIRQ:
	case PROF_CONTEXT_IPI:
	case PROF_CONTEXT_TIMER:
		return FLAG_HARDIRQ;
	default:
		return 0;
	}
}

void perfdata_raw_layout_put(struct perfdata_raw_layout *l, const struct trace *t,
			     const struct trace_event *ev, struct buf *out,
			     struct foreign_notes *notes)
{
	const struct places *p = get_places(l, ev->schema);
	const size_t base = out->len;
	uint32_t tid = ev->tid == TRACE_NONE ? 0 : ev->tid;

	tid = (uint32_t)trace_u64_or(ev, ROLE_COMMON_PID, tid);
	buf_fill(out, '\0', p->event->sz);
	memcpy(out->data + base, &p->event->number, sizeof(p->event->number));
	if (ev->kind == TRACE_SCHED_WAKING)
		out->data[base + 2] = (char)irq_flags(ev);
	memcpy(out->data + base + 4, &tid, sizeof(tid));
	for (size_t i = 0; i < ev->schema->field_cnt; i++)
		if (p->field[i] >= 0)
			put_value(t, &ev->values[i], &p->event->fields[p->field[i]], out, base,
				  notes);
}

/* ---- formats ----------------------------------------------------------------------------------- */

static void print_field(const struct perfdata_raw_field *f, struct buf *out)
{
	static const char *const ints[] = { [1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64" };
	static const char *const sints[] = { [1] = "s8", [2] = "s16", [4] = "int", [8] = "long" };
	static const char *const dynamic[] = {
		[PERFDATA_RAW_TEXT] = "char", [PERFDATA_RAW_BYTES] = "u8", [PERFDATA_RAW_WORDS] = "u64"
	};

	buf_addstr(out, "\tfield:");
	if (f->kind == PERFDATA_RAW_INT)
		buf_printf(out, "%s %s",
			   f->is_bool	? "bool" :
			   f->is_signed ? sints[f->sz] :
					  ints[f->sz],
			   f->name);
	else if (f->kind == PERFDATA_RAW_CHARS)
		buf_printf(out, "char %s[%u]", f->name, f->sz);
	else
		buf_printf(out, "__data_loc %s[] %s", dynamic[f->kind], f->name);
	buf_printf(out, ";\toffset:%u;\tsize:%u;\tsigned:%d;\n", f->off, f->sz, f->is_signed);
}

static const char *print_verb(const struct perfdata_raw_field *f)
{
	if (f->kind != PERFDATA_RAW_INT)
		return "%s";
	if (f->sz == 8)
		return f->is_signed ? "%ld" : "%lu";
	return f->is_signed ? "%d" : "%u";
}

static void print_argument(const struct perfdata_raw_field *f, struct buf *out)
{
	switch (f->kind) {
	case PERFDATA_RAW_TEXT:
		buf_printf(out, ", __get_str(%s)", f->name);
		break;
	case PERFDATA_RAW_BYTES:
	case PERFDATA_RAW_WORDS:
		buf_printf(out,
			   ", __print_hex(__get_dynamic_array(%s), __get_dynamic_array_len(%s))",
			   f->name, f->name);
		break;
	case PERFDATA_RAW_INT:
	case PERFDATA_RAW_CHARS:
		buf_printf(out, ", REC->%s", f->name);
		break;
	}
}

/* The kernel's text, which has the state as letters. */
#define SWITCH_FIELDS 7
#define SWITCH_PRINT                                                                                 \
	"\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d "      \
	"next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & 0xff) ? " \
	"__print_flags(REC->prev_state & 0xff, \"|\", { 0x1, \"S\" }, { 0x2, \"D\" }, "              \
	"{ 0x4, \"T\" }, { 0x8, \"t\" }, { 0x10, \"X\" }, { 0x20, \"Z\" }, { 0x40, \"P\" }, "        \
	"{ 0x80, \"I\" }) : \"R\", REC->prev_state & 0x100 ? \"+\" : \"\", REC->next_comm, "         \
	"REC->next_pid, REC->next_prio"

static bool is_kernel_switch(const struct perfdata_raw_event *e)
{
	return !strcmp(e->system, "sched") && !strcmp(e->event, "sched_switch") &&
	       e->cnt == SWITCH_FIELDS && has_name(e, PROF_F_PREV_COMM) &&
	       has_name(e, PROF_F_PREV_PID) && has_name(e, "prev_prio") &&
	       has_name(e, PROF_F_PREV_STATE) && has_name(e, PROF_F_NEXT_COMM) &&
	       has_name(e, PROF_F_NEXT_PID) && has_name(e, "next_prio");
}

static void print_text(const struct perfdata_raw_event *e, struct buf *out)
{
	buf_addch(out, '"');
	for (size_t i = 0; i < e->cnt; i++)
		buf_printf(out, "%s%s=%s", i ? " " : "", e->fields[i].name,
			   print_verb(&e->fields[i]));
	buf_addch(out, '"');
	for (size_t i = 0; i < e->cnt; i++)
		print_argument(&e->fields[i], out);
}

void perfdata_raw_layout_print(const struct perfdata_raw_event *e, struct buf *out)
{
	buf_printf(out, "name: %s\nID: %u\nformat:\n", e->event, e->number);
	buf_addstr(out,
		   "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		   "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		   "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		   "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n");
	for (size_t i = 0; i < e->cnt; i++)
		print_field(&e->fields[i], out);
	buf_addstr(out, "\nprint fmt: ");
	if (is_kernel_switch(e))
		buf_addstr(out, SWITCH_PRINT);
	else
		print_text(e, out);
	buf_addch(out, '\n');
}
