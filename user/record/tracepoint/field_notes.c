// SPDX-License-Identifier: BSD-2-Clause
/*
 * field_notes.c - units and kinds of numeric fields, for annotations of the trace
 *
 * The kernel does not describe them, except for some units in print fmt. So this is a table of rules. A rule is
 * included only if it is correct for all fields that it matches in a kernel's formats, because a wrong unit is
 * worse than none. For example, sizes may be in bytes, blocks, pages or sectors.
 */
#include "record/tracepoint/field_notes.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "events/own_events.h"
#include "kernel/tracefs/format.h"
#include "prof_events.h"

/* Properties of a field's declaration. */
enum shape {
	ANY_INTEGER,
	POINTER, /* declared as a pointer */
	CODE, /* print fmt shows a kernel symbol */
	PID, /* 4 bytes with a pid, by type or name */
	PID_T, /* any size: an argument of a system call has 8 */
	HEX_WORD, /* unsigned 8 bytes that print fmt shows in hexadecimal */
	HEX_LONG, /* likewise, an unsigned long */
	WORD, /* 4 or 8 bytes */
};

struct rule {
	const char *event; /* a glob */
	const char *fields[8]; /* globs, any of which matches */
	enum shape shape;
	const char *means; /* a kind or a unit; NULL: unknown, skip the remaining rules */
};

static const struct rule kind_rules[] = {
	/* the kernel itself prints them as code addresses */
	{ "*", { "*" }, CODE, PROF_KIND_ADDR },
	{ "*", { "*" }, POINTER, PROF_KIND_ADDR },
	/* netlink ports; NUMA and process groups; arguments that may be a group or any process, as in wait4() */
	{ "neigh:*", { "pid" }, PID, NULL },
	{ "*", { "ngid", "*_ngid", "pgid", "upid" }, PID_T, NULL },
	/* thread groups are processes */
	{ "*", { "tgid", "*_tgid" }, PID_T, PROF_KIND_PID },
	/* the scheduler's pids are threads */
	{ "sched:*", { "*" }, PID, PROF_KIND_TID },
	/* in other subsystems it may be either, as in kill() */
	{ "*", { "*" }, PID, PROF_KIND_PID },
	{ "*", { "*" }, PID_T, PROF_KIND_PID },
	{ "*", { "cpu", "cpu_id", "*_cpu" }, ANY_INTEGER, PROF_KIND_CPU },
	/* names that always mean memory, confirmed by print fmt; some of file systems mean disk addresses */
	{ "*", { "ip", "*_ip", "rip", "call_site", "caller", "address" }, HEX_WORD, PROF_KIND_ADDR },
	{ "*", { "addr", "fault_address" }, HEX_LONG, PROF_KIND_ADDR },
};

static const struct rule unit_rules[] = {
	/* numbers whose name ends in their unit; narrower fields are flags and indexes */
	{ "*", { "*_ns", "*_nsec", "*_nsecs" }, WORD, PROF_UNIT_NS },
	{ "*", { "*_us", "*_usec", "*_usecs", "usec_*" }, WORD, "us" },
	{ "*", { "*_ms", "*_msec", "*_msecs" }, WORD, "ms" },
	{ "*", { "bytes", "bytes_*", "*_bytes" }, WORD, PROF_UNIT_BYTES },
};

static bool is_integer(const struct format_field *f)
{
	return f->kind == FORMAT_UINT || f->kind == FORMAT_SINT;
}

static bool has_shape(const struct format_field *f, enum shape shape)
{
	const bool pointer = f->size == 8 && strchr(f->ctype, '*');

	switch (shape) {
	case POINTER:
		return pointer;
	case CODE:
		return f->code;
	case PID:
		return f->is_pid;
	case PID_T:
		return !strcmp(f->ctype, "pid_t");
	case HEX_WORD:
		return f->size == 8 && f->kind == FORMAT_UINT && f->hex;
	case HEX_LONG:
		return f->hex && !strcmp(f->ctype, "unsigned long");
	case WORD:
		return f->size >= 4 && !pointer;
	case ANY_INTEGER:
		return !pointer;
	}
	return false;
}

static const char *by_rules(const struct rule *rules, size_t cnt, const char *event,
			    const struct format_field *f)
{
	for (size_t i = 0; i < cnt; i++) {
		if (!has_shape(f, rules[i].shape) || !str_glob(rules[i].event, event))
			continue;
		for (size_t k = 0; k < 8 && rules[i].fields[k]; k++)
			if (str_glob(rules[i].fields[k], f->name))
				return rules[i].means;
	}
	return NULL;
}

/* The unit that print fmt shows after a number: "12ns", "12 [ns]", "12 (bytes)". */
static const char *unit_after(const char *s)
{
	static const struct {
		const char *word, *unit;
	} units[] = { { "ns", PROF_UNIT_NS }, { "us", "us" },	 { "usecs", "us" },
		      { "ms", "ms" },	      { "msecs", "ms" }, { "bytes", PROF_UNIT_BYTES },
		      { "kB", "KiB" } };
	size_t len = 0;

	s += *s == ' ';
	s += *s == '[' || *s == '(';
	while (isalnum((unsigned char)s[len]) || s[len] == '_')
		len++;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i].word) == len && !memcmp(s, units[i].word, len) && s[len] != '=')
			return units[i].unit;
	return NULL;
}

struct field_note field_notes_known(const char *event, const char *field)
{
	return own_event_note(own_text(event), own_text(field));
}

struct field_note field_notes_of(const struct format_event *ev, const struct format_field *f)
{
	struct field_note note;
	struct buf event = { 0 };

	if (!is_integer(f))
		return (struct field_note){ 0 };
	buf_printf(&event, "%s:%s", ev->system, ev->name);
	note = field_notes_known(buf_cstr(&event), f->name);
	if (!note.kind)
		note.kind = by_rules(kind_rules, sizeof(kind_rules) / sizeof(kind_rules[0]),
				     buf_cstr(&event), f);
	if (!note.unit && !note.kind)
		note.unit = unit_after(f->suffix);
	if (!note.unit && !note.kind)
		note.unit = by_rules(unit_rules, sizeof(unit_rules) / sizeof(unit_rules[0]),
				     buf_cstr(&event), f);
	buf_free(&event);
	return note;
}
