/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The option tables as text: the help page for people, opts_list() for programs.
 *
 * Two columns, the right one wrapped at 80: that fits every terminal. A left side too long for
 * its column has a line of its own. Rows without help are aliases for old hands and not shown.
 */
#include "base/opts.h"

#include <string.h>

#include "base/buf.h"

#define LEFT_MAX 28
#define WIDTH 80

/* The name of the value: "N", "both|user|none", or NULL when there is none. */
static void add_arg(struct buf *b, const struct opt *o)
{
	static const char *const names[] = {
		[OPT_STR] = "STR",	[OPT_U32] = "N",	[OPT_U64] = "N",
		[OPT_SIZE] = "SIZE",	[OPT_DURATION] = "DUR", [OPT_LIST] = "STR",
		[OPT_PIDS] = "PID,...", [OPT_CPUS] = "CPUS",
	};

	if (o->arg) {
		buf_addstr(b, o->arg);
	} else if (o->kind == OPT_CHOICE) {
		for (int i = 0; o->choices[i]; i++)
			buf_printf(b, "%s%s", i ? "|" : "", o->choices[i]);
	} else {
		buf_addstr(b, names[o->kind]);
	}
}

static void add_left(struct buf *b, const struct opt *o)
{
	bool value = opts_takes_value(o->kind);

	if (o->key)
		buf_printf(b, "  -%c%s", o->key, o->name ? ", " : "");
	else
		buf_addstr(b, "      ");
	if (o->name)
		buf_printf(b, "--%s", o->name);
	if (!value)
		return;
	if (o->implied)
		buf_addstr(b, o->name ? "[=" : "[");
	else
		buf_addch(b, o->name ? '=' : ' ');
	add_arg(b, o);
	if (o->implied)
		buf_addch(b, ']');
}

/* Prints text from column `at` on, broken at blanks; at is where the cursor stands already. */
static void print_wrapped(FILE *out, const char *text, size_t at)
{
	size_t column = at, len;

	while (*text) {
		len = strcspn(text, " ");
		if (column > at && column + 1 + len > WIDTH) {
			fprintf(out, "\n%*s", (int)at, "");
			column = at;
		}
		column += fprintf(out, "%s%.*s", column > at ? " " : "", (int)len, text);
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

static size_t left_width(const struct opt_spec *spec)
{
	struct buf b = { 0 };
	size_t width = 0;

	for (size_t i = 0; i < spec->cnt; i++) {
		if (!spec->opts[i].help)
			continue;
		buf_clear(&b);
		add_left(&b, &spec->opts[i]);
		if (b.len > width && b.len <= LEFT_MAX)
			width = b.len;
	}
	buf_free(&b);
	return width;
}

void opts_help(const struct opt_spec *spec, FILE *out)
{
	size_t width = left_width(spec);
	const char *group = NULL;
	struct buf left = { 0 };

	fprintf(out, "Usage: %s\n\n", spec->usage);
	print_wrapped(out, spec->brief, 0);
	for (size_t i = 0; i < spec->cnt; i++) {
		const struct opt *o = &spec->opts[i];

		if (!o->help)
			continue;
		if (!group || (o->group && strcmp(o->group, group))) {
			group = o->group ? o->group : "Options";
			fprintf(out, "\n%s:\n", group);
		}
		buf_clear(&left);
		add_left(&left, o);
		fputs(buf_cstr(&left), out);
		if (left.len > width)
			fprintf(out, "\n%*s", (int)width + 2, "");
		else
			fprintf(out, "%*s", (int)(width + 2 - left.len), "");
		print_wrapped(out, o->help, width + 2);
	}
	if (spec->examples)
		fprintf(out, "\nExamples:\n%s", spec->examples);
	buf_free(&left);
}

void opts_list(const struct opt_spec *spec, FILE *out)
{
	struct buf line = { 0 };

	for (size_t i = 0; i < spec->cnt; i++) {
		const struct opt *o = &spec->opts[i];

		if (!o->help)
			continue;
		buf_clear(&line);
		if (o->name)
			buf_printf(&line, "--%s", o->name);
		buf_addch(&line, '\t');
		if (o->key)
			buf_printf(&line, "-%c", o->key);
		buf_addch(&line, '\t');
		if (opts_takes_value(o->kind))
			add_arg(&line, o);
		buf_addch(&line, '\t');
		for (int c = 0; o->kind == OPT_CHOICE && o->choices[c]; c++)
			buf_printf(&line, "%s%s", c ? "|" : "", o->choices[c]);
		buf_printf(&line, "\t%s\n", o->help);
		fputs(buf_cstr(&line), out);
	}
	buf_free(&line);
}
