// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names and values of a trace as text and as JSON, for everything that prints them.
 *
 * Names in a trace are untrusted, so nothing is printed unchecked: a thread name may contain an
 * escape sequence, or characters that reverse the text after it.
 */
#include "export/value_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "trace/read/value.h"

/* Nested lists of foreign traces are printed to this depth. */
#define TEXT_DEPTH_MAX 8

void value_text_clean(struct buf *out, const char *s, size_t n)
{
	if (str_is_plain(s, n))
		buf_add(out, s, n);
	else
		str_printable(out, s, n);
}

void value_text_name(struct buf *out, const struct names *n, uint32_t id)
{
	size_t len;
	const char *s = names_str(n, id, &len);

	if (id == NAMES_NONE)
		buf_addstr(out, "[unknown]");
	else
		value_text_clean(out, s, len);
}

void value_text_function(struct buf *out, const struct names *n, uint32_t sym, bool inlined)
{
	value_text_name(out, n, sym);
	if (inlined)
		buf_addstr(out, " (inlined)");
}

void value_text_fold(struct buf *out, size_t from)
{
	for (; from < out->len; from++)
		if (out->data[from] == ';')
			out->data[from] = ':';
}

void value_text_json_begin(struct buf *out)
{
	buf_addstr(out, "{\"version\":2");
}

void value_text_json_name(struct buf *out, const char *key, const struct names *n, uint32_t id)
{
	size_t len;
	const char *s = names_str(n, id, &len);

	if (id == NAMES_NONE)
		json_null(out, key);
	else
		json_text(out, key, s, len);
}

void value_text_json_module(struct buf *out, const char *key, const struct names *n,
			    uint32_t module)
{
	struct buf path = { 0 };

	if (names_module(n, module)->announced) {
		value_text_module(&path, n, module);
		json_text(out, key, buf_cstr(&path), path.len);
	} else {
		json_null(out, key);
	}
	buf_free(&path);
}

static const struct tp_symbols *context_names(const struct names *n, uint32_t part,
					      const char *event)
{
	static const char field[] = PROF_F_CONTEXT;
	uint32_t event_id = strtab_find(&n->strs, event, strlen(event));
	uint32_t field_id = strtab_find(&n->strs, field, sizeof(field) - 1);

	return event_id == NAMES_NONE || field_id == NAMES_NONE ?
		       NULL :
		       names_tp_symbols(n, part, event_id, field_id);
}

/* The recorder's name of the interrupt that caused a wakeup: false if there is none. */
static bool put_recorded_context(struct buf *out, const struct names *n,
				 const struct interval_waker *w)
{
	const struct tp_symbols *syms = context_names(n, w->part, PROF_EV_SCHED_WAKING);
	struct buf raw = { 0 };
	bool found;

	if (!syms)
		syms = context_names(n, w->part, PROF_EV_OFF_CPU);
	found = syms && tp_symbols_render(syms, w->raw, &raw) && raw.len &&
		strncmp(buf_cstr(&raw), "0x", 2);
	if (found)
		value_text_clean(out, raw.data, raw.len);
	buf_free(&raw);
	return found;
}

static void put_interrupt(struct buf *out, const struct interval_waker *w)
{
	const char *softirq = interval_softirq(w->number);

	if (w->context == INTERVAL_BY_TIMER)
		buf_addstr(out, "timer");
	else if (w->context == INTERVAL_BY_IPI)
		buf_addstr(out, "ipi");
	else if (w->context == INTERVAL_BY_SOFTIRQ)
		buf_addstr(out, "softirq");
	else
		buf_addstr(out, "irq");
	if (w->context == INTERVAL_BY_SOFTIRQ && softirq)
		buf_printf(out, " %s", softirq);
	if (w->context == INTERVAL_BY_HARDIRQ && w->number >= 0)
		buf_printf(out, " %d", w->number);
}

void value_text_waker(struct buf *out, const struct names *n, const struct interval_waker *w)
{
	if (interval_by_thread(w->context)) {
		if (w->comm != NAMES_NONE)
			value_text_name(out, n, w->comm);
		buf_addch(out, '/');
		buf_addu(out, w->tid);
	} else if (w->context != INTERVAL_BY_HARDIRQ || !put_recorded_context(out, n, w)) {
		put_interrupt(out, w);
	}
}

const char *value_text_state(uint32_t state)
{
	static const char *const names[INTERVAL_STATE_CNT] = {
		[INTERVAL_UNKNOWN] = "unknown",
		[INTERVAL_RUNNING] = "running",
		[INTERVAL_RUNNABLE] = "runnable",
		[INTERVAL_BLOCKED] = "blocked",
	};

	return names[state < INTERVAL_STATE_CNT ? state : INTERVAL_UNKNOWN];
}

void value_text_module(struct buf *out, const struct names *n, uint32_t index)
{
	const struct names_module *m = names_module(n, index);

	value_text_name(out, n, m->announced ? m->path : NAMES_NONE);
}

void value_text_module_base(struct buf *out, const struct names *n, uint32_t index)
{
	const struct names_module *m = names_module(n, index);
	const char *s, *slash;
	size_t len;

	if (!m->announced || m->path == NAMES_NONE) {
		buf_addstr(out, "[unknown]");
		return;
	}
	s = names_str(n, m->path, &len);
	slash = *s == '[' ? NULL : memrchr(s, '/', len);
	/* a file "[kernel.kallsyms]" must not look like the kernel */
	if (slash && slash[1] && slash[1] != '[')
		value_text_clean(out, slash + 1, len - (size_t)(slash + 1 - s));
	else
		value_text_clean(out, s, len);
}

void value_text_duration(struct buf *out, uint64_t ns, size_t width)
{
	static const char *const units[] = { "us", "ms", "s" };
	char text[48];
	uint64_t unit = 1000;
	size_t i = 0;

	/* a value that would be rounded up to 1000 uses the next unit */
	while (i < 2 && ns >= unit * 1000 - unit / 2000) {
		unit *= 1000;
		i++;
	}
	if (ns < 1000)
		snprintf(text, sizeof(text), "%" PRIu64 " ns", ns);
	else
		snprintf(text, sizeof(text), "%.3f %s", (double)ns / (double)unit, units[i]);
	buf_printf(out, "%*s", (int)width, text);
}

/* ---- values ------------------------------------------------------------------------------------ */

static void add_text(struct buf *out, const char *s, size_t n, bool json)
{
	if (json)
		str_json(out, s, n);
	else
		value_text_clean(out, s, n);
}

static void add_stack(struct buf *out, const struct trace *t, const struct dial9_value *v)
{
	const uint8_t *le;
	uint32_t cnt;

	if (!trace_value_stack(t, v, &le, &cnt)) {
		buf_addstr(out, "null");
		return;
	}
	buf_addch(out, '[');
	for (uint32_t i = 0; i < cnt; i++) {
		if (i)
			buf_addch(out, ',');
		buf_addu(out, dial9_frame_at(le, i));
	}
	buf_addch(out, ']');
}

static void add_value(struct buf *out, const struct trace *t, const struct dial9_value *v,
		      bool json, int depth);

static void add_entries(struct buf *out, const struct trace *t, const struct dial9_value *v,
			bool json, int depth)
{
	bool map = v->type != DIAL9_LIST, first = true;
	struct dial9_value key, val;
	struct dial9_iter it;

	if (depth >= TEXT_DEPTH_MAX) {
		buf_addstr(out, json ? "null" : "...");
		return;
	}
	dial9_iter_init(&it, v);
	buf_addch(out, map && !json ? '{' : '[');
	while ((map ? dial9_map_next(&it, &key, &val) : dial9_list_next(&it, &val)) == 1) {
		if (!first)
			buf_addstr(out, json ? "," : ", ");
		first = false;
		if (map) {
			buf_addstr(out, json ? "[" : "");
			add_value(out, t, &key, json, depth + 1);
			buf_addstr(out, json ? "," : ": ");
		}
		add_value(out, t, &val, json, depth + 1);
		if (map && json)
			buf_addch(out, ']');
	}
	buf_addch(out, map && !json ? '}' : ']');
}

static void add_string(struct buf *out, const struct trace *t, const struct dial9_value *v,
		       bool json)
{
	struct dial9_str s;

	if (trace_value_str(t, v, &s))
		add_text(out, s.ptr, s.len, json);
	else
		buf_addstr(out, json ? "null" : "[undefined]");
}

static void add_value(struct buf *out, const struct trace *t, const struct dial9_value *v,
		      bool json, int depth)
{
	switch (v->type) {
	case 0:
		buf_addstr(out, json ? "null" : "-");
		break;
	case DIAL9_I64:
		buf_addi(out, v->i64);
		break;
	case DIAL9_F64:
		/* JSON has no infinities and NaN */
		if (json && !__builtin_isfinite(v->f64))
			buf_addstr(out, "null");
		else
			value_print_f64(out, v->f64);
		break;
	case DIAL9_BOOL:
		buf_addstr(out, json ? (v->b ? "true" : "false") : (v->b ? "1" : "0"));
		break;
	case DIAL9_STRING:
	case DIAL9_POOLED_STRING:
		add_string(out, t, v, json);
		break;
	case DIAL9_BYTES:
		buf_addstr(out, json ? "\"" : "");
		str_hex(out, v->str.ptr, v->str.len);
		buf_addstr(out, json ? "\"" : "");
		break;
	case DIAL9_STACK:
	case DIAL9_POOLED_STACK:
		add_stack(out, t, v);
		break;
	case DIAL9_LIST:
	case DIAL9_MAP:
	case DIAL9_STRING_MAP:
		add_entries(out, t, v, json, depth);
		break;
	default:
		buf_addu(out, v->u64);
	}
}

bool value_text_field_has_unit(const struct trace_event *ev, size_t i)
{
	const struct field_units *m = trace_field_units(ev->schema, i);
	const struct dial9_value *v = &ev->values[i];
	uint64_t x;

	return m->unit_declared && m->unit != NAMES_NONE &&
	       (v->type == DIAL9_F64 || trace_value_u64(v, &x));
}

/* A duration; false if its nanoseconds overflow. */
static bool add_time(struct buf *out, const struct field_units *m, const struct dial9_value *v)
{
	const bool negative = v->type == DIAL9_I64 && v->i64 < 0;
	uint64_t ns;

	if (!m->ns || v->type == DIAL9_F64 ||
	    __builtin_mul_overflow(negative ? -v->u64 : v->u64, m->ns, &ns))
		return false;
	if (negative)
		buf_addch(out, '-');
	value_text_duration(out, ns, 0);
	return true;
}

static void add_with_unit(struct buf *out, const struct trace *t, const struct trace_event *ev,
			  size_t i)
{
	const struct field_units *m = trace_field_units(ev->schema, i);

	if (add_time(out, m, &ev->values[i]))
		return;
	add_value(out, t, &ev->values[i], false, 0);
	buf_addch(out, ' ');
	value_text_name(out, trace_names(t), m->unit);
}

static bool add_names(struct buf *out, const struct trace *t, const struct trace_event *ev,
		      size_t i)
{
	size_t before = out->len;
	struct buf text = { 0 };

	if (!trace_field_text(t, ev, i, out))
		return false;
	if (!str_is_plain(out->data + before, out->len - before)) {
		buf_add(&text, out->data + before, out->len - before);
		out->len = before;
		value_text_clean(out, text.data, text.len);
		buf_free(&text);
	}
	return true;
}

void value_text_field(struct buf *out, const struct trace *t, const struct trace_event *ev,
		      size_t i)
{
	if (add_names(out, t, ev, i))
		return;
	if (value_text_field_has_unit(ev, i))
		add_with_unit(out, t, ev, i);
	else
		add_value(out, t, &ev->values[i], false, 0);
}

void value_text_field_exact(struct buf *out, const struct trace *t, const struct trace_event *ev,
			    size_t i)
{
	if (!add_names(out, t, ev, i))
		add_value(out, t, &ev->values[i], false, 0);
}

void value_text_json_field(struct buf *out, const struct trace *t, const struct trace_event *ev,
			   size_t i)
{
	add_value(out, t, &ev->values[i], true, 0);
}

/* ---- lines ------------------------------------------------------------------------------------- */

size_t value_text_width(const char *s, size_t n)
{
	size_t w = 0;

	for (size_t i = 0; i < n; i++)
		w += ((unsigned char)s[i] & 0xc0) != 0x80;
	return w;
}
