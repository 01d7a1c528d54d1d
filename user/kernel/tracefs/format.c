/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The layout of a tracepoint's records, from the kernel's format file
 *
 * libtraceevent parses the file. This file converts the result and decides about types itself,
 * because libtraceevent is imprecise. It treats u8[16] as a string, reports an element size of 0
 * for some dynamic arrays, and derives the sign from the type name instead of `signed:` (an int
 * argument of a syscall is unsigned and has 8 bytes in the record). There is one handle per event,
 * without shared state. So events with the same name in two systems, or in two threads, do not
 * collide. format_symbols.c handles print fmt.
 */
#include "kernel/tracefs/format.h"

#include <assert.h>
#include <errno.h>
#include <traceevent/event-parse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "kernel/tracefs/format_known.h"
#include "kernel/tracefs/format_symbols.h"
#include "kernel/tracefs/tracefs.h"

/* Removes storage words and brackets from the type: "__data_loc const char[]" becomes "char". */
static char *base_type(const char *type)
{
	static const char *const words[] = { "__data_loc ", "__rel_loc ", "const ", "volatile " };
	size_t len;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strncmp(type, words[i], strlen(words[i])))
			type += strlen(words[i]);
	}
	len = strcspn(type, "[");
	while (len && type[len - 1] == ' ')
		len--;
	return xstrndup(type, len);
}

static unsigned int type_size(const char *type)
{
	static const struct {
		const char *name;
		unsigned int size;
	} types[] = {
		{ "char", 1 },
		{ "u8", 1 },
		{ "s8", 1 },
		{ "__u8", 1 },
		{ "unsigned char", 1 },
		{ "bool", 1 },
		{ "short", 2 },
		{ "u16", 2 },
		{ "__u16", 2 },
		{ "unsigned short", 2 },
		{ "int", 4 },
		{ "unsigned int", 4 },
		{ "u32", 4 },
		{ "s32", 4 },
		{ "__u32", 4 },
		{ "unsigned", 4 },
		{ "long", 8 },
		{ "unsigned long", 8 },
		{ "u64", 8 },
		{ "s64", 8 },
		{ "__u64", 8 },
		{ "unsigned long long", 8 },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!strcmp(types[i].name, type))
			return types[i].size;
	}
	return 1;
}

static bool ends_with(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && !strcmp(s + n - m, suffix);
}

static bool is_integer_size(int size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static enum format_kind kind_of(const struct tep_format_field *tf, const char *type)
{
	bool text = !strcmp(type, "char");

	if (tf->flags & TEP_FIELD_IS_DYNAMIC) {
		if (tf->flags & TEP_FIELD_IS_RELATIVE)
			return text ? FORMAT_REL_STRING : FORMAT_REL_ARRAY;
		return text ? FORMAT_STRING : FORMAT_DYN_ARRAY;
	}
	if (tf->flags & TEP_FIELD_IS_ARRAY)
		return text ? FORMAT_CHARS : FORMAT_ARRAY;
	if (!is_integer_size(tf->size))
		return FORMAT_ARRAY; /* a struct by value: bytes */
	if (tf->size == 1 && (!strcmp(type, "bool") || !strcmp(type, "_Bool")))
		return FORMAT_BOOL;
	return tf->flags & TEP_FIELD_IS_SIGNED ? FORMAT_SINT : FORMAT_UINT;
}

static bool is_dynamic(enum format_kind kind)
{
	return kind == FORMAT_STRING || kind == FORMAT_REL_STRING || kind == FORMAT_DYN_ARRAY ||
	       kind == FORMAT_REL_ARRAY;
}

static void fill_field(struct format_field *f, const struct tep_format_field *tf)
{
	char *type = base_type(tf->type);

	*f = (struct format_field){
		.name = xstrdup(tf->name),
		.ctype = xstrdup(tf->type),
		.off = tf->offset,
		.size = tf->size,
		.kind = kind_of(tf, type),
		.elem_size = tf->size,
		.elem_signed = tf->flags & TEP_FIELD_IS_SIGNED,
	};
	if (is_dynamic(f->kind) || f->kind == FORMAT_CHARS || f->kind == FORMAT_ARRAY) {
		f->elem_size = type_size(type);
		if (tf->arraylen && tf->size >= 0 && tf->size % tf->arraylen == 0)
			f->elem_size = tf->size / tf->arraylen;
	}
	if (tf->size == 4 && (f->kind == FORMAT_SINT || f->kind == FORMAT_UINT))
		f->is_pid = !strcmp(type, "pid_t") || !strcmp(f->name, "pid") ||
			    ends_with(f->name, "_pid");
	free(type);
}

/* Returns why the field cannot be used, or NULL. */
static const char *check_field(const struct tep_format_field *tf, const struct format_event *ev)
{
	if (!tf->name || !*tf->name || !tf->type)
		return "a field has no name";
	if (tf->offset < 0 || tf->size < 0 || tf->offset + tf->size > FORMAT_RECORD_MAX)
		return "a field lies outside of any record";
	if ((tf->flags & TEP_FIELD_IS_DYNAMIC) && tf->size != 4)
		return "a dynamic field's descriptor is not 4 bytes";
	if (format_find(ev, tf->name))
		return "two fields have the same name";
	return NULL;
}

static int map_fields(const struct tep_event *tep, struct format_event *ev, const char **why)
{
	size_t end = 8; /* end of the common fields */

	ev->last_dyn = -1;
	ev->fields = xcalloc(tep->format.nr_fields, sizeof(*ev->fields));
	for (const struct tep_format_field *tf = tep->format.fields; tf; tf = tf->next) {
		struct format_field *f = &ev->fields[ev->cnt];

		*why = check_field(tf, ev);
		if (*why)
			return -ENOTSUP;
		assert(ev->cnt < (size_t)tep->format.nr_fields);
		fill_field(f, tf);
		if (is_dynamic(f->kind))
			ev->last_dyn = (int)ev->cnt;
		if (f->off + (size_t)f->size > end)
			end = f->off + (size_t)f->size;
		ev->cnt++;
	}
	ev->size = end;
	return 0;
}

static char *find_print_fmt(const char *text, size_t len)
{
	static const char key[] = "\nprint fmt: ";
	const char *at = memmem(text, len, key, sizeof(key) - 1);
	const char *end = text + len;

	if (!at)
		return xstrdup("");
	at += sizeof(key) - 1;
	while (end > at && end[-1] == '\n')
		end--;
	return xstrndup(at, end - at);
}

static int convert(const struct tep_event *tep, const char *text, size_t len, const char *system,
		   struct format_event **out, const char **why)
{
	struct format_event *ev = xcalloc(1, sizeof(*ev));
	int err;

	ev->system = xstrdup(system);
	ev->name = xstrdup(tep->name);
	ev->id = tep->id;
	err = map_fields(tep, ev, why);
	if (err) {
		format_free(ev);
		return err;
	}
	ev->print_fmt = find_print_fmt(text, len);
	if (!(tep->flags & TEP_EVENT_FL_FAILED))
		format_symbols_collect(ev, tep);
	format_known_collect(ev);
	*out = ev;
	return 0;
}

int format_parse(const char *text, size_t len, const char *system, struct format_event **out,
		 const char **why)
{
	const char *ignored;
	struct tep_event *event = NULL;
	struct tep_handle *tep = tep_alloc();
	int err;

	if (!why)
		why = &ignored;
	*why = "out of memory";
	if (!tep)
		return -ENOMEM;
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(tep, sizeof(long));
	/* An error may concern only the print fmt. The event has its fields in that case. */
	tep_parse_format(tep, &event, text, len, system);
	*why = "the text is not a format description";
	err = event && event->name ? convert(event, text, len, system, out, why) : -EBADMSG;
	tep_free(tep);
	return err;
}

void format_free(struct format_event *ev)
{
	if (!ev)
		return;
	for (size_t i = 0; i < ev->cnt; i++) {
		free(ev->fields[i].name);
		free(ev->fields[i].ctype);
	}
	for (size_t i = 0; i < ev->symbol_cnt; i++)
		free(ev->symbols[i].name);
	free(ev->fields);
	free(ev->symbols);
	free(ev->print_fmt);
	free(ev->system);
	free(ev->name);
	free(ev);
}

int format_load(int tracefs_fd, const char *system, const char *name, struct format_event **out)
{
	struct buf text = { 0 };
	char path[600];
	const char *why;
	int err;

	snprintf(path, sizeof(path), "events/%.255s/%.255s/format", system, name);
	err = tracefs_read(tracefs_fd, path, &text);
	if (err) {
		log_error("cannot read the format of %s:%s: %s", system, name, strerror(-err));
	} else {
		err = format_parse(text.data, text.len, system, out, &why);
		if (err)
			log_error("cannot use %s:%s: %s", system, name, why);
	}
	buf_free(&text);
	return err;
}
