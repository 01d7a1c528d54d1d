// SPDX-License-Identifier: BSD-2-Clause
/*
 * event.c - converts a tracepoint's format to an event definition
 *
 * The definition is all that the recorder knows of any event: a table of offsets and operations, two dial9 schemas,
 * and the data for the BPF program. Built-in events and events of -e are handled in the same way, without knowledge
 * of particular tracepoints.
 */
#include "record/tracepoint/event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "dial9.h"
#include "kernel/tracefs/filter.h"
#include "kernel/tracefs/format.h"
#include "prof_events.h"

enum {
	COMMON_FIELDS = 2,
	TEXT_AT_MAX = 512, /* far above the size of system call records */
};

static int op_of(const struct format_field *f, enum event_op *op)
{
	static const enum event_op uints[9] = {
		[1] = EVENT_OP_U8,
		[2] = EVENT_OP_U16,
		[4] = EVENT_OP_U32,
		[8] = EVENT_OP_U64,
	};
	static const enum event_op sints[9] = {
		[1] = EVENT_OP_S8,
		[2] = EVENT_OP_S16,
		[4] = EVENT_OP_S32,
		[8] = EVENT_OP_S64,
	};
	bool is_int = f->kind == FORMAT_UINT || f->kind == FORMAT_SINT;

	if (is_int && f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8)
		return -ENOTSUP;
	switch (f->kind) {
	case FORMAT_UINT:
		*op = uints[f->size];
		return 0;
	case FORMAT_SINT:
		*op = sints[f->size];
		return 0;
	case FORMAT_BOOL:
		*op = EVENT_OP_BOOL;
		return 0;
	case FORMAT_CHARS:
		*op = EVENT_OP_CHARS;
		return 0;
	case FORMAT_STRING:
		*op = EVENT_OP_STRING;
		return 0;
	case FORMAT_REL_STRING:
		*op = EVENT_OP_REL_STRING;
		return 0;
	case FORMAT_ARRAY:
		*op = EVENT_OP_BYTES;
		return 0;
	case FORMAT_DYN_ARRAY:
		*op = EVENT_OP_DYN_BYTES;
		return 0;
	case FORMAT_REL_ARRAY:
		*op = EVENT_OP_REL_BYTES;
		return 0;
	}
	return -ENOTSUP;
}

static uint8_t type_of(enum event_op op, bool wide)
{
	switch (op) {
	case EVENT_OP_U8:
		return DIAL9_U8;
	case EVENT_OP_U16:
		return DIAL9_U16;
	case EVENT_OP_U32:
		return DIAL9_U32;
	case EVENT_OP_U64:
		return DIAL9_VARINT;
	case EVENT_OP_BOOL:
		return DIAL9_BOOL;
	case EVENT_OP_S8:
	case EVENT_OP_S16:
	case EVENT_OP_S32:
	case EVENT_OP_S64:
		return wide ? DIAL9_I64 : DIAL9_VARINT;
	case EVENT_OP_CHARS:
	case EVENT_OP_STRING:
	case EVENT_OP_REL_STRING:
		return DIAL9_POOLED_STRING;
	case EVENT_OP_USER_TEXT:
		return DIAL9_POOLED_STRING | DIAL9_OPTIONAL;
	case EVENT_OP_BYTES:
	case EVENT_OP_DYN_BYTES:
	case EVENT_OP_REL_BYTES:
		return DIAL9_BYTES;
	}
	return 0;
}

static int make_schema(const struct event_def *def, bool wide, struct dial9_schema **out)
{
	struct dial9_field *fields = xcalloc(def->field_cnt + COMMON_FIELDS + 1, sizeof(*fields));
	size_t i, cnt = def->field_cnt + COMMON_FIELDS;
	int err;

	fields[0] = (struct dial9_field){ PROF_TP_COMMON_CPU, DIAL9_VARINT };
	fields[1] = (struct dial9_field){ PROF_TP_COMMON_PID, DIAL9_VARINT };
	for (i = 0; i < def->field_cnt; i++) {
		fields[COMMON_FIELDS + i].name = def->names[i];
		fields[COMMON_FIELDS + i].type = type_of(def->fields[i].op, wide);
	}
	if (def->has_context)
		fields[cnt++] = (struct dial9_field){ PROF_F_CONTEXT, DIAL9_VARINT };
	err = dial9_schema_new(def->name, true, fields, cnt, out);
	free(fields);
	return err;
}

static void fill_cfg(struct event_def *def)
{
	const struct format_event *format = def->format;
	struct prof_event_cfg *cfg = &def->cfg;
	size_t i;

	cfg->type = format->id;
	cfg->size = format->size;
	cfg->has_context = def->has_context;
	if (format->last_dyn >= 0) {
		const struct format_field *dyn = &format->fields[format->last_dyn];

		cfg->dyn_off = dyn->off;
		cfg->dyn_relative = dyn->kind == FORMAT_REL_STRING || dyn->kind == FORMAT_REL_ARRAY;
	}
	for (i = 0; i < format->cnt && cfg->pid_cnt < PROF_PID_FIELDS; i++)
		if (format->fields[i].is_pid)
			cfg->pid_off[cfg->pid_cnt++] = format->fields[i].off;
}

/* Whether a field is the name of the event's thread. */
static bool is_current_comm(const char *event, const char *field)
{
	return (!strcmp(event, PROF_EV_SCHED_SWITCH) && !strcmp(field, PROF_F_PREV_COMM)) ||
	       (!strcmp(event, PROF_EV_OFF_CPU) && !strcmp(field, PROF_F_COMM));
}

static int make_fields(struct event_def *def, bool *any_signed)
{
	const struct format_event *format = def->format;
	size_t i;
	int err;

	for (i = 0; i < format->cnt; i++) {
		const struct format_field *f = &format->fields[i];
		struct event_field *to = &def->fields[i];

		*to = (struct event_field){ .off = f->off, .size = f->size, .code = f->code };
		err = op_of(f, &to->op);
		if (err) {
			log_error("cannot record %s: its field '%s' has %u bytes, which no dial9 "
				  "type holds",
				  def->name, f->name, f->size);
			return err;
		}
		def->names[def->field_cnt++] = xstrdup(f->name);
		*any_signed |= event_op_is_signed(to->op);
		def->any_code |= f->code;
		if (is_current_comm(def->name, f->name))
			def->current_comm = to;
	}
	return 0;
}

/* Adds a field per pointer to text: "filename_str". Not for records that end in other texts. */
static void add_texts(struct event_def *def)
{
	const struct format_event *format = def->format;
	struct prof_event_cfg *cfg = &def->cfg;
	struct buf name = { 0 };
	size_t i;

	cfg->text_at = (format->size + 7U) & ~7U;
	if (format->last_dyn >= 0 || cfg->text_at > TEXT_AT_MAX)
		return;
	for (i = 0; i < format->cnt && cfg->text_cnt < PROF_TEXT_FIELDS; i++) {
		if (!format->fields[i].user_text)
			continue;
		buf_printf(&name, "%s" PROF_TP_TEXT_SUFFIX, format->fields[i].name);
		def->fields[def->field_cnt] = (struct event_field){
			.off = (uint16_t)(cfg->text_at + cfg->text_cnt * sizeof(uint32_t)),
			.size = sizeof(uint32_t),
			.op = EVENT_OP_USER_TEXT,
		};
		def->names[def->field_cnt++] = buf_steal(&name);
		cfg->text_off[cfg->text_cnt++] = format->fields[i].off;
	}
}

static bool make_step(const struct event_field *f, size_t sz, struct event_step *out)
{
	const bool is_int = f->op <= EVENT_OP_U64 || event_op_is_signed(f->op);
	const size_t at = f->off + 8U <= sz ? f->off : sz - 8;

	if (f->code || (size_t)f->off + f->size > sz)
		return false;
	*out = (struct event_step){ .at = f->off, .width = 4, .is_name = true };
	if (f->op == EVENT_OP_CHARS && f->size == EVENT_NAME_SIZE)
		return true;
	*out = (struct event_step){
		.at = (uint16_t)at,
		.up = (uint8_t)(64 - 8 * (f->off - at + f->size)),
		.down = (uint8_t)(64 - 8 * f->size),
		.width = (uint8_t)(f->op < EVENT_OP_U64 ? f->size : 0),
		.is_signed = event_op_is_signed(f->op),
	};
	return is_int;
}

static void make_steps(struct event_def *def)
{
	struct event_step steps[EVENT_STEPS_MAX];
	size_t i;

	def->steps_sz = def->format->size;
	if (def->field_cnt > EVENT_STEPS_MAX || def->steps_sz < 8)
		return;
	def->steps_at = def->steps_sz - 8;
	for (i = 0; i < def->field_cnt; i++) {
		if (!make_step(&def->fields[i], def->steps_sz, &steps[i]))
			return;
		if (def->fields[i].off < def->steps_at)
			def->steps_at = def->fields[i].off;
	}
	def->steps = xcalloc(i + 1, sizeof(*steps));
	memcpy(def->steps, steps, i * sizeof(*steps));
}

int event_def_new(struct format_event *format, struct event_def **out)
{
	struct event_def *def = xcalloc(1, sizeof(*def));
	bool any_signed = false;
	int err;

	def->format = format;
	def->fields = xcalloc(format->cnt + PROF_TEXT_FIELDS, sizeof(*def->fields));
	def->names = xcalloc(format->cnt + PROF_TEXT_FIELDS, sizeof(*def->names));
	if (asprintf(&def->name, "%s:%s", format->system, format->name) < 0) {
		def->name = NULL;
		err = -ENOMEM;
		goto out;
	}
	def->has_context = !strcmp(def->name, PROF_EV_SCHED_WAKING) ||
			   !strcmp(def->name, PROF_EV_SCHED_WAKEUP_NEW);
	def->is_watch = !strcmp(def->name, PROF_EV_CPU_WATCH);
	def->is_stay = !strcmp(def->name, PROF_EV_OFF_CPU);
	err = make_fields(def, &any_signed);
	if (err)
		goto out;
	fill_cfg(def);
	add_texts(def);
	make_steps(def);
	err = make_schema(def, false, &def->compact);
	def->type.schema = def->compact;
	if (!err && any_signed)
		err = make_schema(def, true, &def->wide);
	if (err)
		log_error("cannot record %s: no schema: %s", def->name, strerror(-err));
out:
	if (err)
		event_def_free(def);
	else
		*out = def;
	return err;
}

/* Fields added after the kernel's own are text, in the kernel's syntax. */
int event_def_filter(struct event_def *def, const char *expr)
{
	struct format_field texts[PROF_TEXT_FIELDS];
	size_t i, cnt = def->field_cnt - def->format->cnt;
	struct filter *filter = NULL;
	char *why;
	int err;

	for (i = 0; i < cnt; i++)
		texts[i] = (struct format_field){
			.name = def->names[def->format->cnt + i],
			.off = def->fields[def->format->cnt + i].off,
			.size = sizeof(uint32_t),
			.kind = FORMAT_STRING,
		};
	err = expr ? filter_compile(expr, def->format, texts, cnt, &filter, &why) : 0;
	if (err) {
		log_error("record: filter '%s' of %s: %s", expr, def->name, why);
		free(why);
		return err;
	}
	filter_free(def->filter);
	def->filter = filter;
	free(def->filter_text);
	def->filter_text = expr ? xstrdup(expr) : NULL;
	return 0;
}

void event_def_free(struct event_def *def)
{
	if (!def)
		return;
	filter_free(def->filter);
	free(def->filter_text);
	dial9_schema_free(def->compact);
	dial9_schema_free(def->wide);
	format_free(def->format);
	for (size_t i = 0; def->names && i < def->field_cnt; i++)
		free(def->names[i]);
	free(def->names);
	free(def->fields);
	free(def->steps);
	free(def->name);
	free(def);
}

int64_t event_field_int(const struct event_field *f, const uint8_t *raw, size_t len)
{
	uint64_t v = 0;

	if (f->size > sizeof(v) || (size_t)f->off + f->size > len)
		return 0;
	switch (f->op) {
	case EVENT_OP_S8:
		return (int8_t)raw[f->off];
	case EVENT_OP_S16: {
		int16_t s;

		memcpy(&s, raw + f->off, sizeof(s));
		return s;
	}
	case EVENT_OP_S32: {
		int32_t s;

		memcpy(&s, raw + f->off, sizeof(s));
		return s;
	}
	case EVENT_OP_U8:
	case EVENT_OP_U16:
	case EVENT_OP_U32:
	case EVENT_OP_U64:
	case EVENT_OP_S64:
	case EVENT_OP_BOOL:
		break;
	case EVENT_OP_CHARS:
	case EVENT_OP_STRING:
	case EVENT_OP_REL_STRING:
	case EVENT_OP_BYTES:
	case EVENT_OP_DYN_BYTES:
	case EVENT_OP_REL_BYTES:
	case EVENT_OP_USER_TEXT:
		return 0;
	}
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(&v, raw + f->off, f->size);
#else
#error "records are read as little-endian"
#endif
	return (int64_t)v;
}

int event_field_bytes(const struct event_field *f, const uint8_t *raw, size_t len,
		      const uint8_t **data, size_t *sz)
{
	bool dynamic = f->op != EVENT_OP_CHARS && f->op != EVENT_OP_BYTES;
	bool relative = f->op == EVENT_OP_REL_STRING || f->op == EVENT_OP_REL_BYTES;
	size_t off = f->off, n = f->size;
	uint32_t word;

	if (off + n > len || (dynamic && n < sizeof(word)))
		return -EBADMSG;
	if (dynamic) {
		memcpy(&word, raw + off, sizeof(word));
		off = (word & 0xffff) + (relative ? off + sizeof(word) : 0);
		n = word >> 16;
		if (off + n > len)
			return -EBADMSG;
	}
	*data = raw + off;
	*sz = n;
	if (f->op == EVENT_OP_CHARS || f->op == EVENT_OP_STRING || f->op == EVENT_OP_REL_STRING ||
	    f->op == EVENT_OP_USER_TEXT)
		*sz = strnlen((const char *)*data, n);
	return 0;
}
