// SPDX-License-Identifier: BSD-2-Clause
/*
 * An event as a line of `script`: perf script's layout, or JSON. Owns the layout of lines and
 * stacks, and a cache of rendered text; script.c decides which events are printed, and where.
 *
 * A trace has far fewer distinct stacks than events. So the text of a stack is cached by its
 * frames, and the text of a frame for new stacks, until a symbol changes. The text around the values of
 * an event is built once per schema, and the text of a task once per task.
 */
#include "export/script_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes_cache.h"
#include "base/json.h"
#include "base/str.h"
#include "export/value_text.h"
#include "export/unwind_status.h"

#define STACKS_KEPT (1u << 16)
#define STACK_BYTES_KEPT (32u << 20)
#define FRAMES_KEPT (1u << 16)
#define FRAME_BYTES_KEPT (16u << 20)
#define TEXTS_KEPT (1u << 14)
#define TEXT_BYTES_KEPT (2u << 20)
#define TASKS_KEPT 256u
#define TASK_TEXT_MAX 48

/* Whether a field is printed, or the line or stack shows it already. */
enum shown {
	SHOWN_NOT,
	SHOWN_WITH_STACK,
	SHOWN_ALWAYS,
};

struct lead {
	size_t off, len; /* in struct plan's bytes */
	enum shown shown;
};

/* Text that is the same in all lines of a schema. */
struct plan {
	const struct trace_schema *schema;
	struct buf bytes;
	struct lead name; /* "sched:sched_switch:", or the name as JSON */
	struct lead fields[]; /* " prev_pid=", or ",\"prev_pid\":" */
};

/* The text of a task; other tasks share the slot. */
struct task_text {
	uint32_t comm, pid, tid;
	uint8_t width, len; /* len 0: free */
	char text[TASK_TEXT_MAX];
};

struct script_line {
	struct script_line_opts opts;
	const struct trace *trace;
	const struct names *names;
	struct hmap plans[2]; /* schema -> struct plan: text, JSON */
	struct plan *last[2];
	struct bytes_cache stacks, frames, texts;
	struct buf stack, frame; /* being built */
	struct task_text tasks[TASKS_KEPT];
};

struct script_line *script_line_new(const struct script_line_opts *opts, const struct reader *r)
{
	struct script_line *l = xcalloc(1, sizeof(*l));

	l->opts = *opts;
	l->trace = reader_trace(r);
	l->names = reader_names((struct reader *)r);
	l->stacks.slot_cnt = STACKS_KEPT;
	l->stacks.bytes_max = STACK_BYTES_KEPT;
	l->frames.slot_cnt = FRAMES_KEPT;
	l->frames.bytes_max = FRAME_BYTES_KEPT;
	l->texts.slot_cnt = TEXTS_KEPT;
	l->texts.bytes_max = TEXT_BYTES_KEPT;
	return l;
}

void script_line_free(struct script_line *l)
{
	struct plan *p;
	size_t pos;
	void *value;

	if (!l)
		return;
	for (int i = 0; i < 2; i++) {
		for (pos = 0; hmap_next(&l->plans[i], &pos, NULL, &value); free(p)) {
			p = value;
			buf_free(&p->bytes);
		}
		hmap_fini(&l->plans[i]);
	}
	bytes_cache_fini(&l->stacks);
	bytes_cache_fini(&l->frames);
	bytes_cache_fini(&l->texts);
	buf_free(&l->stack);
	buf_free(&l->frame);
	free(l);
}

/* ---- schemas ----------------------------------------------------------------------------------- */

static enum shown field_shown(const struct trace_schema *schema, size_t i)
{
	const int32_t *role = schema->role;
	int32_t at = (int32_t)i;

	if (at == role[ROLE_COMMON_CPU] || at == role[ROLE_COMMON_PID])
		return SHOWN_ALWAYS;
	return at == role[ROLE_CALLCHAIN] ? SHOWN_WITH_STACK : SHOWN_NOT;
}

static void lead_end(const struct plan *p, struct lead *lead)
{
	lead->len = p->bytes.len - lead->off;
}

static struct plan *plan_new(const struct names *n, const struct trace_schema *schema, bool json)
{
	struct plan *p = xcalloc(1, sizeof(*p) + schema->field_cnt * sizeof(p->fields[0]));
	struct lead *lead;

	p->schema = schema;
	if (json)
		value_text_json_name(&p->bytes, NULL, n, schema->name);
	else
		value_text_name(&p->bytes, n, schema->name);
	if (!json)
		buf_addch(&p->bytes, ':');
	lead_end(p, &p->name);
	for (size_t i = 0; i < schema->field_cnt; i++) {
		lead = &p->fields[i];
		lead->off = p->bytes.len;
		lead->shown = field_shown(schema, i);
		buf_addch(&p->bytes, json ? ',' : ' ');
		if (json)
			value_text_json_name(&p->bytes, NULL, n, schema->field_names[i]);
		else
			value_text_name(&p->bytes, n, schema->field_names[i]);
		buf_addch(&p->bytes, json ? ':' : '=');
		lead_end(p, lead);
	}
	return p;
}

static const struct plan *plan_of(struct script_line *l, const struct trace_schema *schema,
				  bool json)
{
	struct plan *p = l->last[json];

	if (p && p->schema == schema)
		return p;
	p = hmap_get(&l->plans[json], (uintptr_t)schema);
	if (!p) {
		p = plan_new(l->names, schema, json);
		hmap_set(&l->plans[json], (uintptr_t)schema, p);
	}
	l->last[json] = p;
	return p;
}

static void add_lead(struct buf *out, const struct plan *p, const struct lead *lead, size_t skip)
{
	buf_add(out, p->bytes.data + lead->off + skip, lead->len - skip);
}

static bool is_shown(const struct lead *lead, const struct trace_event *ev)
{
	return lead->shown == SHOWN_ALWAYS || (lead->shown == SHOWN_WITH_STACK && ev->frames);
}

/* ---- text: before the fields ----------------------------------------------------------------- */

static bool has(const struct script_line *l, enum script_field f)
{
	return l->opts.fields & 1u << f;
}

/*
 * perf pads the name unless a stack may follow the line. stackcollapse-perf.pl reads the first
 * character: a line that starts with a blank is a frame.
 */
static size_t comm_width(const struct script_line *l, const struct trace_event *ev, bool aside)
{
	if (aside || !(l->opts.fields & FIELDS_STACK))
		return 16;
	return ev->frames || ev->kind == TRACE_SCHED_SWITCH ? 0 : 16;
}

/* As "%7d" and "%-7d"; perf prints -1 for an unknown process. */
static void add_id(struct buf *out, uint32_t id, bool left)
{
	size_t before = out->len, len;
	char digits[16];

	if (id <= INT32_MAX && !left) {
		buf_addu_padded(out, id, 7, ' ');
		return;
	}
	if (id <= INT32_MAX) {
		buf_addu(out, id);
		len = out->len - before;
		buf_fill(out, ' ', len < 7 ? 7 - len : 0);
		return;
	}
	snprintf(digits, sizeof(digits), left ? "%-7d" : "%7d", (int)id);
	buf_addstr(out, digits);
}

static bool is_commented(const struct script_line *l, const struct trace_event *ev)
{
	return l->opts.comment_asides &&
	       (ev->kind != TRACE_SAMPLE || ev->source != PROF_SOURCE_SAMPLE);
}

/* Without a word in front it would not be a frame either: then the line is a comment. */
static void comment_out(struct buf *out, size_t at)
{
	size_t i = at + strspn(out->data + at, " ");
	char c = out->data[i] | 0x20;

	if (i > at && out->data[i] != '_' && (c < 'a' || c > 'z') &&
	    (out->data[i] < '0' || out->data[i] > '9'))
		out->data[at] = '#';
}

/* A blank or # at the start of the name would make the line a frame or a comment: it is escaped. */
static void put_comm(struct buf *out, const char *s, size_t len, size_t width, bool aside)
{
	const bool escaped = len && (*s == ' ' || *s == '#');
	const size_t cols = value_text_width(s, len) + (escaped ? 3 : 0);

	buf_fill(out, ' ', cols < width ? width - cols : aside);
	if (escaped)
		buf_printf(out, "\\x%02x", *s);
	buf_add(out, s + escaped, len - escaped);
}

static void make_task(struct script_line *l, struct buf *out, const struct trace_event *ev,
		      size_t width, bool aside)
{
	size_t before = out->len;
	struct buf name = { 0 };

	if (has(l, F_COMM)) {
		if (ev->comm != NAMES_NONE)
			value_text_name(&name, l->names, ev->comm);
		else if (ev->tid != TRACE_NONE)
			buf_printf(&name, ":%u", ev->tid);
		put_comm(out, buf_cstr(&name), name.len, width, aside);
		buf_addch(out, ' ');
		buf_free(&name);
	}
	if (has(l, F_PID))
		add_id(out, ev->pid, false);
	if (has(l, F_PID) && has(l, F_TID))
		buf_addch(out, '/');
	if (has(l, F_TID))
		add_id(out, ev->tid, has(l, F_PID));
	if (has(l, F_PID) || has(l, F_TID))
		buf_addch(out, ' ');
	if (aside && out->len > before)
		comment_out(out, before);
}

static void add_task(struct script_line *l, struct buf *out, const struct trace_event *ev,
		     bool aside)
{
	size_t width = comm_width(l, ev, aside), before = out->len, len;
	struct task_text *t = &l->tasks[(ev->tid * 2 + !width + ev->comm * 64) % TASKS_KEPT];

	if (t->len && t->tid == ev->tid && t->pid == ev->pid && t->comm == ev->comm &&
	    t->width == width) {
		buf_add(out, t->text, t->len);
		return;
	}
	make_task(l, out, ev, width, aside);
	len = out->len - before;
	if (!len || len > TASK_TEXT_MAX)
		return;
	*t = (struct task_text){ .comm = ev->comm,
				 .pid = ev->pid,
				 .tid = ev->tid,
				 .width = (uint8_t)width,
				 .len = (uint8_t)len };
	memcpy(t->text, out->data + before, len);
}

static void add_time(const struct script_line *l, struct buf *out, const struct trace_event *ev)
{
	uint64_t ns = ev->ts % 1000000000;

	if (!ev->has_ts) {
		buf_addstr(out, "           -: ");
		return;
	}
	buf_addu_padded(out, ev->ts / 1000000000, 5, ' ');
	buf_addch(out, '.');
	if (l->opts.ns)
		buf_addu_padded(out, ns, 9, '0');
	else
		buf_addu_padded(out, ns / 1000, 6, '0');
	buf_add(out, ": ", 2);
}

const char *script_line_stack_name(const struct trace_event *ev)
{
	return ev->source == PROF_SOURCE_SWITCH_OUT ? SCRIPT_SWITCH_OUT :
	       ev->source == PROF_SOURCE_WAKING	    ? SCRIPT_WAKER :
	       ev->source == PROF_SOURCE_EVENT	    ? SCRIPT_EVENT_STACK :
						      NULL;
}

static void add_event_name(struct buf *out, const struct trace_event *ev, const struct plan *p,
			   const char *sample_name)
{
	if (ev->kind != TRACE_SAMPLE) {
		add_lead(out, p, &p->name, 0);
		return;
	}
	sample_name = script_line_stack_name(ev) ?: sample_name;
	value_text_clean(out, sample_name, strlen(sample_name));
	buf_addch(out, ':');
}

/* A field with names for its values may have hundreds: results are cached by value. */
static void add_field(struct script_line *l, struct buf *out, const struct trace_event *ev,
		      size_t i)
{
	const struct tp_symbols *syms = trace_field_symbols(l->trace, ev, i);
	const struct dial9_value *v = &ev->values[i];
	const uint64_t key[] = { (uintptr_t)syms, v->u64, v->type };
	size_t before = out->len;

	if (!syms || !(v->type == DIAL9_VARINT || v->type == DIAL9_I64 ||
		       (v->type >= DIAL9_U8 && v->type <= DIAL9_U32))) {
		value_text_field(out, l->trace, ev, i);
		return;
	}
	if (bytes_cache_get(&l->texts, key, sizeof(key), l->names->tp_symbols_version, out))
		return;
	value_text_field(out, l->trace, ev, i);
	bytes_cache_put(&l->texts, key, sizeof(key), out->data + before, out->len - before);
}

/* " a=1 b=2", or " (a=1 b=2)". */
static void add_fields(struct script_line *l, struct buf *out, const struct trace_event *ev,
		       const struct plan *p, bool aside)
{
	size_t skip = aside; /* the blank before the first */

	if (aside)
		buf_addstr(out, " (");
	for (size_t i = 0; has(l, F_TRACE) && ev->kind != TRACE_SAMPLE && i < ev->schema->field_cnt;
	     i++) {
		if (is_shown(&p->fields[i], ev))
			continue;
		add_lead(out, p, &p->fields[i], skip);
		skip = 0;
		add_field(l, out, ev, i);
	}
	if (aside)
		buf_addch(out, ')');
}

void script_line_text(struct script_line *l, struct buf *out, const struct trace_event *ev,
		      const char *sample_name)
{
	const struct plan *p = plan_of(l, ev->schema, false);
	bool aside = is_commented(l, ev);

	add_task(l, out, ev, aside);
	if (has(l, F_CPU) && ev->cpu != TRACE_NONE) {
		buf_addch(out, '[');
		buf_addu_padded(out, ev->cpu, 3, '0');
		buf_add(out, "] ", 2);
	} else if (has(l, F_CPU)) {
		buf_addstr(out, "[---] ");
	}
	if (has(l, F_TIME))
		add_time(l, out, ev);
	if (has(l, F_EVENT))
		add_event_name(out, ev, p, sample_name);
	add_fields(l, out, ev, p, aside);
	buf_addch(out, '\n');
}

/* ---- stacks ------------------------------------------------------------------------------------ */

/* Appends one function of a frame; depth 0 is the outermost; only this one may lack a name. */
typedef void frame_fn(const struct script_line *l, struct buf *out, uint64_t frame,
		      const struct names_frame *f, bool inlined);

static void text_frame(const struct script_line *l, struct buf *out, uint64_t frame,
		       const struct names_frame *f, bool inlined)
{
	uint32_t module = names_frame_module(frame);
	uint64_t addr = names_frame_addr(l->names, frame);

	if (names_module(l->names, module)->announced)
		addr &= PROF_FRAME_OFFSET_MASK;
	buf_addch(out, '\t');
	if (has(l, F_IP))
		buf_addx_padded(out, addr, 16, ' ');
	if (has(l, F_SYM)) {
		buf_addch(out, ' ');
		value_text_name(out, l->names, f ? f->name : NAMES_NONE);
		if (f && has(l, F_SYMOFF) && !inlined && f->base <= frame &&
		    names_frame_module(f->base) == module) {
			buf_addstr(out, "+0x");
			buf_addx(out, frame - f->base);
		}
	}
	if (has(l, F_DSO)) {
		buf_addstr(out, " (");
		if (inlined)
			buf_addstr(out, "inlined");
		else
			value_text_module(out, l->names, module);
		buf_addch(out, ')');
	}
	buf_addch(out, '\n');
	if (has(l, F_SRCLINE) && f && f->file != NAMES_NONE) {
		buf_addstr(out, "  ");
		value_text_name(out, l->names, f->file);
		buf_addch(out, ':');
		buf_addu(out, f->line);
		buf_addch(out, '\n');
	}
}

static void json_frame(const struct script_line *l, struct buf *out, uint64_t frame,
		       const struct names_frame *f, bool inlined)
{
	uint32_t module = names_frame_module(frame);

	buf_addstr(out, ",{\"addr\":\"0x");
	buf_addx(out, names_frame_addr(l->names, frame));
	buf_addstr(out, "\",\"sym\":");
	value_text_json_name(out, NULL, l->names, f ? f->name : NAMES_NONE);
	if (f && f->base <= frame && names_frame_module(f->base) == module) {
		json_u64(out, "off", frame - f->base);
	}
	value_text_json_module(out, "dso", l->names, module);
	if (f && f->file != NAMES_NONE) {
		value_text_json_name(out, "file", l->names, f->file);
		json_u64(out, "line", f->line);
	}
	buf_addstr(out, inlined ? ",\"inlined\":true}" : "}");
}

/* The function at an address and depth. */
static struct names_frame function_at(const struct names_symbol *sym, uint32_t depth)
{
	struct names_frame f = sym->frames[depth];

	f.file = names_symbol_line(sym, depth)->file;
	f.line = names_symbol_line(sym, depth)->line;
	return f;
}

/* All functions at an address, innermost first. A label is not a function. */
static void add_frame(struct script_line *l, struct buf *out, uint64_t frame, frame_fn *make)
{
	const struct names_symbol *sym;
	struct names_frame f;

	if (bytes_cache_get(&l->frames, &frame, sizeof(frame), l->names->symbols_version, out))
		return;
	buf_clear(&l->frame);
	sym = names_symbol(l->names, frame);
	if (!names_is_named(l->names, frame))
		sym = NULL;
	for (uint32_t depth = sym ? sym->cnt : 0; depth--;) {
		f = function_at(sym, depth);
		if (f.name != NAMES_NONE && names_symbol_is_printed(sym, depth))
			make(l, &l->frame, frame, &f, depth);
	}
	if (!sym || sym->frames[0].name == NAMES_NONE)
		make(l, &l->frame, frame, NULL, false);
	bytes_cache_put(&l->frames, &frame, sizeof(frame), l->frame.data, l->frame.len);
	buf_add(out, l->frame.data, l->frame.len);
}

static void add_stack(struct script_line *l, struct buf *out, const struct trace_event *ev,
		      frame_fn *make)
{
	size_t key_sz = ev->frame_cnt * sizeof(ev->frames[0]);

	if (bytes_cache_get(&l->stacks, ev->frames, key_sz, l->names->symbols_version, out))
		return;
	buf_clear(&l->stack);
	for (uint32_t i = 0; i < ev->frame_cnt; i++)
		add_frame(l, &l->stack, ev->frames[i], make);
	bytes_cache_put(&l->stacks, ev->frames, key_sz, buf_cstr(&l->stack), l->stack.len);
	buf_add(out, l->stack.data, l->stack.len);
}

void script_line_stack(struct script_line *l, struct buf *out, const struct trace_event *ev)
{
	uint8_t end = stack_ends_of(ev);

	add_stack(l, out, ev, text_frame);
	if (has(l, F_END) && stack_ends_is_guessed(ev))
		buf_addstr(out, "  [a caller is a guess: code without unwind information]\n");
	/* after the outermost frame, if the stack is incomplete */
	if (has(l, F_END) && end != PROF_END_COMPLETE && end != PROF_END_NOT_WALKED)
		buf_printf(out, "  [ends here: %s]\n", unwind_status_text(end));
	buf_addch(out, '\n');
}

/* ---- JSON -------------------------------------------------------------------------------------- */

void script_line_json_stack(struct script_line *l, struct buf *out, const struct trace_event *ev)
{
	uint8_t end = stack_ends_of(ev);
	size_t at;

	buf_addstr(out, ",\"stack\":");
	at = out->len;
	/* each frame starts with a comma: the first one's becomes the bracket */
	if (!ev->frame_cnt)
		buf_addch(out, '[');
	add_stack(l, out, ev, json_frame);
	out->data[at] = '[';
	buf_addch(out, ']');
	if (end == PROF_END_NOT_WALKED)
		return;
	buf_addstr(out, ",\"user_end\":\"");
	buf_addstr(out, unwind_status_id(end));
	buf_addch(out, '"');
	if (stack_ends_is_guessed(ev))
		buf_addstr(out, ",\"uncertain_caller\":true");
}

static void json_fields(struct script_line *l, struct buf *out, const struct trace_event *ev,
			const struct plan *p)
{
	size_t skip = 1; /* the comma before the first */

	buf_addstr(out, ",\"fields\":{");
	for (size_t i = 0; i < ev->schema->field_cnt; i++) {
		if (is_shown(&p->fields[i], ev))
			continue;
		add_lead(out, p, &p->fields[i], skip);
		skip = 0;
		value_text_json_field(out, l->trace, ev, i);
	}
	buf_addch(out, '}');
}

/*
 * In addition to the exact numbers: the kernel's text for values with names, or numbers with their
 * unit.
 */
static void json_texts(struct script_line *l, struct buf *out, const struct trace_event *ev,
		       const struct plan *p)
{
	struct buf *text = &l->frame;
	bool any = false;

	for (size_t i = 0; i < ev->schema->field_cnt; i++) {
		buf_clear(text);
		if (!trace_field_text(l->trace, ev, i, text)) {
			if (!value_text_field_has_unit(ev, i))
				continue;
			value_text_field(text, l->trace, ev, i);
		}
		if (!any)
			buf_addstr(out, ",\"text\":{");
		add_lead(out, p, &p->fields[i], !any);
		any = true;
		str_json(out, buf_cstr(text), text->len);
	}
	if (any)
		buf_addch(out, '}');
}

static void json_event_name(struct buf *out, const struct trace_event *ev, const struct plan *p,
			    const char *sample_name)
{
	sample_name = script_line_stack_name(ev) ?: sample_name;
	if (ev->kind != TRACE_SAMPLE)
		add_lead(out, p, &p->name, 0);
	else
		str_json(out, sample_name, strlen(sample_name));
}

void script_line_json(struct script_line *l, struct buf *out, const struct trace_event *ev,
		      const char *sample_name)
{
	const struct plan *p = plan_of(l, ev->schema, true);

	value_text_json_begin(out);
	if (ev->has_ts)
		json_u64(out, "ts", ev->ts);
	else
		json_null(out, "ts");
	if (l->names->parts.cnt > 1)
		value_text_json_id(out, "part", ev->part + 1);
	buf_addstr(out, ",\"event\":");
	json_event_name(out, ev, p, sample_name);
	value_text_json_name(out, "comm", l->names, ev->comm);
	value_text_json_id(out, "pid", ev->pid);
	value_text_json_id(out, "tid", ev->tid);
	value_text_json_id(out, "cpu", ev->cpu);
	json_fields(l, out, ev, p);
	json_texts(l, out, ev, p);
	if (ev->frames)
		script_line_json_stack(l, out, ev);
}
