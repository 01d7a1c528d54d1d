/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TRACEPOINT_FIELD_EXTRACT_H
#define D9_RECORD_TRACEPOINT_FIELD_EXTRACT_H

#include <stdbool.h>

#include "kernel/tracefs/format.h"
#include "prof_extract.h"

struct btf;

/* Whether there are rules for the event, so that the kernel's BTF is needed. */
bool field_extract_is_known(const struct format_event *ev);

/* Whether it mostly happens in interrupts. */
bool field_extract_is_of_interrupts(const struct format_event *ev);

/*
 * Compiles how the event's record is built from the tracepoint's arguments: 0 or -ENOTSUP. -ENOTSUP: there are no
 * rules, or a field has none, or the kernel's types or format do not fit them. Then only the kernel can build the
 * record. @btf: the kernel's types.
 */
int field_extract_compile(const struct btf *btf, const struct format_event *ev,
			  struct prof_extract *out);

/*
 * The same with the caller's rules: words of the form field=expression, or only field for the argument of the same
 * name. An expression is the argument's name. Each .member selects a member of the structure that it is or points
 * to; *name is the number that it points to. "jiffies" is the kernel's tick count. Rules for fields that the event
 * does not have are ignored: they belong to other kernels.
 */
int field_extract_compile_rules(const struct btf *btf, const struct format_event *ev,
				const char *rules, struct prof_extract *out);

#endif
