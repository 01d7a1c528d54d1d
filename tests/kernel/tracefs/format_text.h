/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_KERNEL_FORMAT_TEXT_H
#define D9_TESTS_KERNEL_FORMAT_TEXT_H

/* Formats of events: the relevant part written by a test, or the whole text of a kernel. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/tracefs/format.h"

/* @fields and @print_fmt in the format of a format file. */
static inline struct format_event *parse(const char *system, const char *name, const char *fields,
					 const char *print_fmt)
{
	struct format_event *ev = NULL;
	char text[4096];

	snprintf(text, sizeof(text),
		 "name: %s\nID: 7\nformat:\n"
		 "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		 "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		 "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		 "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n%s\nprint fmt: %s\n",
		 name, fields, print_fmt);
	cr_assert_eq(format_parse(text, strlen(text), system, &ev, NULL), 0);
	return ev;
}

/* A real format, of tests/fixtures/format. */
static inline struct format_event *load(const char *system, const char *name)
{
	const char *top = getenv("D9_TOP");
	static char text[1u << 16];
	struct format_event *ev;
	char path[512];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/fixtures/format/%s.%s.format", top ? top : ".",
		 system, name);
	f = fopen(path, "r");
	cr_assert(f, "%s", path);
	n = fread(text, 1, sizeof(text), f);
	fclose(f);
	cr_assert_eq(format_parse(text, n, system, &ev, NULL), 0);
	return ev;
}

#endif /* D9_TESTS_KERNEL_FORMAT_TEXT_H */
