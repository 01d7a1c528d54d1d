// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two checks of a parsed format that share no code with the parser: a scanf over the text's lines, and
 * libtraceevent's own output for a record. The rows are printed by the reader that prints traces, so the whole
 * way from print fmt to `script` is under test.
 */
#include "tests/kernel/tracefs/format_check.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include "base/buf.h"
#include "kernel/tracefs/format.h"
#include "trace/read/tp_symbols.h"

/* The last word of "const char name[16]": "name". */
static void field_name(const char *decl, char *out, size_t sz)
{
	size_t end = strcspn(decl, "[");
	size_t start;

	/* "__data_loc char[] name" has its brackets before the name. */
	if (strstr(decl, "[] "))
		end = strlen(decl);
	start = end;
	while (start && decl[start - 1] != ' ' && decl[start - 1] != '*')
		start--;
	snprintf(out, sz, "%.*s", (int)(end - start), decl + start);
}

void format_check_fields(const char *text, const struct format_event *ev)
{
	unsigned int off, size, sign, id = 0, end = 8;
	char decl[256], name[256];
	size_t cnt = 0;

	for (const char *p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (!strncmp(p, "print fmt:", 10))
			break;
		sscanf(p, "ID: %u", &id);
		if (*p != '\t' || sscanf(p + 1, "field:%255[^;];\toffset:%u;\tsize:%u;\tsigned:%u;",
					 decl, &off, &size, &sign) != 4)
			continue;
		field_name(decl, name, sizeof(name));
		if (!strncmp(name, "common_", 7))
			continue;
		cr_assert_lt(cnt, ev->cnt, "%s:%s: %s is missing", ev->system, ev->name, name);
		const struct format_field *f = &ev->fields[cnt++];

		cr_assert_str_eq(f->name, name, "%s:%s", ev->system, ev->name);
		cr_assert_eq(f->off, off, "%s:%s.%s", ev->system, ev->name, name);
		cr_assert_eq(f->size, size, "%s:%s.%s", ev->system, ev->name, name);
		if (f->kind == FORMAT_UINT || f->kind == FORMAT_SINT)
			cr_assert_eq(f->kind == FORMAT_SINT, sign, "%s:%s.%s", ev->system, ev->name,
				     name);
		if (off + size > end)
			end = off + size;
	}
	cr_assert_eq(ev->cnt, cnt, "%s:%s has %zu fields, not %zu", ev->system, ev->name, cnt,
		     ev->cnt);
	cr_assert_eq(ev->id, id);
	cr_assert_eq(ev->size, end);
}

/* One field's rows, as a reader holds them. */
static struct tp_symbols rows_of(const struct format_event *ev, const struct format_field *f)
{
	struct tp_symbols ts = { 0 };

	for (size_t i = 0; i < ev->symbol_cnt; i++) {
		const struct format_symbol *s = &ev->symbols[i];

		if (strcmp(s->field, f->name))
			continue;
		tp_symbols_add(&ts, 1,
			       &(struct tp_symbols_row){ .kind = s->kind,
							 .value = s->value,
							 .name = s->name,
							 .name_len = strlen(s->name) });
	}
	return ts;
}

struct judge {
	struct tep_handle *tep;
	struct tep_event *event;
	uint8_t record[FORMAT_RECORD_MAX + 1];
	size_t compared;
};

static uint64_t put_value(struct judge *j, const struct format_field *f, uint64_t v)
{
	unsigned int unused = 64 - 8 * f->size;

	memset(j->record + 8, 0, sizeof(j->record) - 8);
	memcpy(j->record + f->off, &v, f->size);
	if (f->kind == FORMAT_SINT)
		return (uint64_t)((int64_t)(v << unused) >> unused);
	return v << unused >> unused;
}

/*
 * If a field is shown in two places, the rows' text of the second is joined by a blank that the kernel's line
 * does not have: then the parts are searched one by one.
 */
static bool stands_in(const char *line, const char *text)
{
	char copy[4096];
	char *save = NULL;
	bool found = true;

	if (strstr(line, text))
		return true;
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		found &= strstr(line, word) != NULL;
	return found;
}

/* The kernel prints a comma between the numbers of a device, a colon, or both in hexadecimal. */
static bool stands_as_device(const char *line, const char *text)
{
	unsigned int major, minor;
	char comma[64], hex[64];

	if (sscanf(text, "%u:%u", &major, &minor) != 2)
		return false;
	snprintf(comma, sizeof(comma), "%u,%u", major, minor);
	snprintf(hex, sizeof(hex), "0x%x:0x%x", major, minor);
	return strstr(line, comma) || strstr(line, hex);
}

static void compare(struct judge *j, const struct format_event *ev, const struct format_field *f,
		    const struct tp_symbols *ts, uint64_t v)
{
	struct tep_record record = { .data = j->record, .size = ev->size + 64, .record_size = 0 };
	struct buf text = { 0 };
	struct trace_seq seq;
	uint64_t x = put_value(j, f, v);

	/* libtraceevent extends no sign, where the kernel does, and cannot name bit 63. */
	if ((int64_t)x < 0)
		return;
	cr_assert(tp_symbols_render(ts, x, &text));
	trace_seq_init(&seq);
	tep_print_event(j->tep, &seq, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&seq);
	cr_assert(strstr(seq.buffer, "FAILED TO PARSE") ||
			  stands_as_device(seq.buffer, buf_cstr(&text)) ||
			  stands_in(seq.buffer, buf_cstr(&text)),
		  "%s:%s.%s = %#llx: '%s' is not in '%s'", ev->system, ev->name, f->name,
		  (unsigned long long)x, text.data, seq.buffer);
	j->compared++;
	trace_seq_destroy(&seq);
	buf_free(&text);
}

/* Values that the kernel prints as a number, and readers by name, cannot be compared. */
static bool is_of_print_fmt(const struct tp_symbols *ts)
{
	int first = ts->rows[0].kind, last = ts->rows[ts->cnt - 1].kind;

	return first != FORMAT_SYM_HEX && first != FORMAT_SYM_ARRAY && first != FORMAT_SYM_ERRNO &&
	       (last != FORMAT_SYM_DECIMAL || first == FORMAT_SYM_MASK);
}

/* 0, each row's value at its mask and shift, all of them, and a bit without a name. */
static void check_field(struct judge *j, const struct format_event *ev,
			const struct format_field *f)
{
	struct tp_symbols ts = rows_of(ev, f);
	uint64_t all = 0, shift = 0, mask = UINT64_MAX, v;

	if (!ts.cnt || !is_of_print_fmt(&ts)) {
		tp_symbols_fini(&ts);
		return;
	}
	for (size_t i = 0; i < ts.cnt; i++) {
		if (ts.rows[i].kind == FORMAT_SYM_MASK) {
			shift = 0;
			mask = ts.rows[i].value;
		} else if (ts.rows[i].kind == FORMAT_SYM_SHIFT) {
			shift = ts.rows[i].value;
		}
		v = ts.rows[i].kind == FORMAT_SYM_NONZERO || ts.rows[i].kind == FORMAT_SYM_MASK ?
			    mask :
			    ts.rows[i].value;
		compare(j, ev, f, &ts, v << shift);
		if (ts.rows[i].kind == FORMAT_SYM_FLAG)
			all |= v << shift;
	}
	compare(j, ev, f, &ts, 0);
	if (all)
		compare(j, ev, f, &ts, all);
	tp_symbols_fini(&ts);
}

size_t format_check_symbols(const char *text, size_t len, const struct format_event *ev)
{
	struct judge *j = calloc(1, sizeof(*j));
	uint16_t id = ev->id;
	size_t compared;

	cr_assert_not_null(j);
	j->tep = tep_alloc();
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(j->tep, sizeof(long));
	tep_parse_format(j->tep, &j->event, text, len, ev->system);
	cr_assert_not_null(j->event);
	memcpy(j->record, &id, sizeof(id));
	/* Nor does libtraceevent print character constants: x ? 'F' : ' '. */
	for (size_t i = 0; i < ev->cnt && !strstr(ev->print_fmt, "? '"); i++)
		check_field(j, ev, &ev->fields[i]);
	compared = j->compared;
	tep_free(j->tep);
	free(j);
	return compared;
}
