/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_TRACEFS_FILTER_H
#define D9_KERNEL_TRACEFS_FILTER_H

#include <stddef.h>

#include "kernel/tracefs/format.h"
#include "prof_filter.h"

/* A filter of one event. Terms refer to text `patterns` by index. */
struct filter {
	struct prof_filter prog;
	struct prof_filter_pattern *patterns;
	size_t pattern_cnt;
};

/*
 * Compiles an expression in the syntax of the kernel's event filters:
 *
 *	prev_state == 2 && !(next_comm ~ "kworker*" || next_prio < 100)
 *
 * Numbers have ==, !=, <, <=, >, >= and & (any of these bits); text has ==, != and the globs ~ and !~.
 * Numbers are decimal, 0x hexadecimal or octal. Text has quotes, or is bare if it has no blank,
 * parenthesis, & or |. In addition to the event's fields there are common_pid, CPU (or cpu) and COMM
 * (or comm) of the current task, unless the event has a field of that name.
 *
 * @more: additional fields, which may be text. Returns 0 and a filter, which the caller frees with
 * filter_free(); or -EINVAL and the error in *why, without the expression, which the caller frees.
 */
int filter_compile(const char *expr, const struct format_event *format,
		   const struct format_field *more, size_t more_cnt, struct filter **out,
		   char **why);
void filter_free(struct filter *f);

#endif
