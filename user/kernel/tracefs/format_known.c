/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The meaning of numbers for which print fmt has no names: device numbers, arrays of integers,
 * system calls with their results, and arguments that point to text. The rules use types, patterns
 * that kernel macros leave in print fmt, and names of system call events.
 */
#include "kernel/tracefs/format_known.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "kernel/tracefs/format.h"
#include "syscall_names.h"

/* New rows of one field, which replace its old rows */
struct rows {
	struct format_event *ev;
	const struct format_field *field;
	size_t at;
};

/* Starts to replace the rows of f. Symbols are in the order of fields. */
static struct rows replace_rows(struct format_event *ev, const struct format_field *f)
{
	struct rows r = { .ev = ev, .field = f };
	size_t kept = 0;

	for (size_t i = 0; i < ev->symbol_cnt; i++) {
		if (ev->symbols[i].field == f->name) {
			free(ev->symbols[i].name);
			continue;
		}
		ev->symbols[kept++] = ev->symbols[i];
		if (format_find(ev, ev->symbols[i].field) < f)
			r.at = kept;
	}
	ev->symbol_cnt = kept;
	return r;
}

static void add_row(struct rows *r, enum format_symbol_kind kind, uint64_t value, const char *name)
{
	struct format_event *ev = r->ev;

	ev->symbols = xreallocarray(ev->symbols, ev->symbol_cnt + 1, sizeof(*ev->symbols));
	memmove(&ev->symbols[r->at + 1], &ev->symbols[r->at],
		(ev->symbol_cnt - r->at) * sizeof(*ev->symbols));
	ev->symbols[r->at++] = (struct format_symbol){
		.field = r->field->name, .kind = kind, .value = value, .name = xstrdup(name)
	};
	ev->symbol_cnt++;
}

/* MAJOR() and MINOR() of a dev_t after the preprocessor */
static bool is_device(const struct format_event *ev, const struct format_field *f)
{
	char shape[128];

	snprintf(shape, sizeof(shape), "((REC->%s) >> 20)", f->name);
	return f->kind == FORMAT_UINT && f->size == 4 && strstr(ev->print_fmt, shape);
}

static void add_device(struct format_event *ev, const struct format_field *f)
{
	struct rows r = replace_rows(ev, f);

	add_row(&r, FORMAT_SYM_MASK, 0xfff, "");
	add_row(&r, FORMAT_SYM_SHIFT, 20, "");
	add_row(&r, FORMAT_SYM_DECIMAL, 0, "");
	add_row(&r, FORMAT_SYM_MASK, 0xfffff, ":");
	add_row(&r, FORMAT_SYM_DECIMAL, 0, "");
}

static void add_array(struct format_event *ev, const struct format_field *f)
{
	bool fixed = f->kind == FORMAT_ARRAY;
	struct rows r;

	if (!fixed && f->kind != FORMAT_DYN_ARRAY && f->kind != FORMAT_REL_ARRAY)
		return;
	if (f->elem_size != 2 && f->elem_size != 4 && f->elem_size != 8)
		return;
	if (fixed && (f->size % f->elem_size || f->size == f->elem_size))
		return;
	r = replace_rows(ev, f);
	add_row(&r, FORMAT_SYM_ARRAY, f->elem_size, "");
}

/* ---- system calls ------------------------------------------------------------------------------ */

/*
 * A pointer with a following count is a buffer, which may hold other data and need not end with a
 * NUL.
 */
static bool is_text(const struct format_event *ev, size_t i)
{
	const struct format_field *next = i + 1 < ev->cnt ? &ev->fields[i + 1] : NULL;
	bool counted = next && (!strcmp(next->ctype, "size_t") || !strcmp(next->name, "msg_len"));

	return !strcmp(ev->fields[i].ctype, "const char *") && ev->fields[i].size == 8 && !counted;
}

static void add_syscall_numbers(struct format_event *ev)
{
	const struct format_field *f = format_find(ev, "id");
	struct rows r;

	if (!f)
		return;
	r = replace_rows(ev, f);
	for (size_t i = 0; i < sizeof(syscall_names) / sizeof(syscall_names[0]); i++)
		add_row(&r, FORMAT_SYM_SYMBOL, syscall_names[i].number, syscall_names[i].name);
	add_row(&r, FORMAT_SYM_DECIMAL, 0, "");
}

static bool returns_address(const char *name)
{
	static const char *const those[] = { "mmap", "brk", "mremap", "shmat" };

	for (size_t i = 0; i < sizeof(those) / sizeof(those[0]); i++)
		if (!strcmp(name, those[i]))
			return true;
	return false;
}

static void add_returned(struct format_event *ev, bool address)
{
	const struct format_field *f = format_find(ev, "ret");
	struct rows r;

	if (!f || f->kind != FORMAT_SINT)
		return;
	r = replace_rows(ev, f);
	add_row(&r, FORMAT_SYM_ERRNO, 0, "");
	if (address)
		add_row(&r, FORMAT_SYM_SYMBOL, 0, "0x0");
	else
		add_row(&r, FORMAT_SYM_DECIMAL, 0, "");
}

static void collect_syscall(struct format_event *ev)
{
	static const char enter[] = "sys_enter_", leave[] = "sys_exit_";

	if (!strcmp(ev->system, "raw_syscalls")) {
		add_syscall_numbers(ev);
		add_returned(ev, false);
	} else if (!strcmp(ev->system, "syscalls") && str_starts(ev->name, leave)) {
		add_returned(ev, returns_address(ev->name + strlen(leave)));
	} else if (!strcmp(ev->system, "syscalls") && str_starts(ev->name, enter)) {
		for (size_t i = 0; i < ev->cnt; i++)
			ev->fields[i].user_text = is_text(ev, i);
	}
}

void format_known_collect(struct format_event *ev)
{
	for (size_t i = 0; i < ev->cnt; i++) {
		if (is_device(ev, &ev->fields[i]))
			add_device(ev, &ev->fields[i]);
		else
			add_array(ev, &ev->fields[i]);
	}
	collect_syscall(ev);
}
