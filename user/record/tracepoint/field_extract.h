/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TRACEPOINT_FIELD_EXTRACT_H
#define D9_RECORD_TRACEPOINT_FIELD_EXTRACT_H

#include <stdbool.h>

#include "kernel/format.h"
#include "prof_recipe.h"

struct btf;

/* Whether there are rules for the event, so that the kernel's BTF is worth reading. */
bool field_extract_is_known(const struct format_event *ev);

/* Whether it happens in interrupts, and hardly ever elsewhere. */
bool field_extract_is_of_interrupts(const struct format_event *ev);

/*
 * How the event's record is made from the tracepoint's arguments, as far as the rules know: 0, or -ENOTSUP
 * when there are no rules, or some field has none, or the kernel's types or its format are not as the rules
 * say. Then the record can be had from the kernel alone. @btf: the kernel's types.
 */
int field_extract_compile(const struct btf *btf, const struct format_event *ev,
			  struct prof_recipe *out);

/*
 * The same by rules of the caller's: words of the form field=expression, or field alone for the argument of
 * that name. An expression is the argument's name; with .member behind it, as often as needed, what is there
 * in the structure that it is, or points to; *name for the number that it points to. "jiffies" stands for the
 * kernel's count of ticks. Fields that the event does not have are left out: they are other kernels'.
 */
int field_extract_compile_rules(const struct btf *btf, const struct format_event *ev,
				const char *rules, struct prof_recipe *out);

#endif
