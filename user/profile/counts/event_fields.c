// SPDX-License-Identifier: BSD-2-Clause
/*
 * Values of events as keys of counts. Owns which values are equal: a recorder writes one field as Varint or I64,
 * depending on the other fields of the event, so types are normalized. No state.
 */
#include "profile/counts/event_fields.h"

#include <string.h>

#include "base/buf.h"

static void set_id(struct count_value *out, uint32_t id)
{
	if (id == TRACE_NONE)
		return;
	out->v = id;
	out->type = COUNT_NUMBER;
}

static void set_name(struct count_value *out, uint32_t id)
{
	if (id == NAMES_NONE)
		return;
	out->v = id;
	out->type = COUNT_TEXT;
}

static void set_text(const struct trace *t, struct dial9_str s, enum count_type type, bool learn,
		     struct count_value *out)
{
	struct names *n = (struct names *)trace_names(t);
	const uint32_t id =
		learn ? names_add(n, s.ptr, s.len) : strtab_find(&n->strs, s.ptr, s.len);

	out->v = id;
	out->type = id == NAMES_NONE ? COUNT_DROPPED : type;
}

static void set_field(const struct trace *t, const struct dial9_value *v, bool learn,
		      struct count_value *out)
{
	struct dial9_str s;

	switch (v->type) {
	case DIAL9_VARINT:
	case DIAL9_U8:
	case DIAL9_U16:
	case DIAL9_U32:
	case DIAL9_I64:
		out->v = v->u64;
		out->type = v->type == DIAL9_I64 && v->i64 < 0 ? COUNT_NEGATIVE : COUNT_NUMBER;
		break;
	case DIAL9_BOOL:
		out->v = v->b;
		out->type = COUNT_BOOL;
		break;
	case DIAL9_F64:
		out->v = v->u64;
		out->type = COUNT_DOUBLE;
		break;
	case DIAL9_STRING:
	case DIAL9_POOLED_STRING:
		if (trace_value_str(t, v, &s))
			set_text(t, s, COUNT_TEXT, learn, out);
		break;
	case DIAL9_BYTES:
		s = (struct dial9_str){ v->str.ptr, v->str.len };
		set_text(t, s, COUNT_BYTES, learn, out);
		break;
	case 0:
		break;
	default:
		out->type = COUNT_OTHER;
	}
}

void event_fields_value(const struct trace *t, const struct trace_event *ev, enum count_word word,
			int32_t at, uint32_t event_name, bool learn, struct count_value *out)
{
	*out = (struct count_value){ .text = NAMES_NONE };
	switch (word) {
	case COUNT_FIELD:
		set_field(t, &ev->values[at], learn, out);
		break;
	case COUNT_EVENT:
		set_name(out, event_name);
		break;
	case COUNT_COMM:
		set_name(out, ev->comm);
		break;
	case COUNT_PID:
		set_id(out, ev->pid);
		break;
	case COUNT_TID:
		set_id(out, ev->tid);
		break;
	case COUNT_CPU:
		set_id(out, ev->cpu);
		break;
	case COUNT_CGROUP:
		set_name(out, ev->cgroup);
		break;
	}
}

void event_fields_name(const struct trace *t, const struct trace_schema *schema, uint32_t part,
		       int32_t at, struct names *n, struct count_value *v)
{
	const struct tp_symbols *syms = trace_schema_symbols(t, schema, part, (size_t)at);
	struct buf text = { 0 };
	const char *bytes;
	bool found = false;
	size_t sz;

	if (!syms)
		return;
	if (v->type == COUNT_NUMBER || v->type == COUNT_NEGATIVE) {
		found = tp_symbols_render(syms, v->v, &text);
	} else if (v->type == COUNT_BYTES) {
		bytes = names_str(n, (uint32_t)v->v, &sz);
		found = tp_symbols_render_array(syms, (const uint8_t *)bytes, sz, &text);
	}
	if (found)
		v->text = names_add(n, buf_cstr(&text), text.len);
	buf_free(&text);
}

bool event_fields_number(const struct trace_event *ev, int32_t at, __int128 *out)
{
	const struct dial9_value *v = &ev->values[at];
	uint64_t number;

	if (v->type == DIAL9_BOOL)
		*out = v->b;
	else if (v->type == DIAL9_I64)
		*out = v->i64;
	else if (trace_value_u64(v, &number))
		*out = (__int128)number;
	else
		return false;
	return true;
}
