/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_SCHED_OFFCPU_SUMS_PRINT_H
#define D9_CMD_SCHED_OFFCPU_SUMS_PRINT_H

#include "cmd/common/interval_print.h"
#include "profile/sums/offcpu_sums.h"

/* What a command shows of a trace that was recorded with --summary. */
struct offcpu_sums_print {
	const struct interval_reader *timeline;
	const struct offcpu_sums *sums;
	uint64_t limit; /* REPORT_TEXT_LIMIT_UNSAID: as the command has it */
	bool hist, color;
};

/* Adds an event if it is a sum that the command line lets through. */
void offcpu_sums_print_add(struct offcpu_sums *s, struct interval_reader *t,
			   const struct trace *trace, const struct trace_event *ev);

/*
 * Whether the trace has such sums alone, and the command line wants what these do not know: threads (-t), CPUs (-C) or, where
 * @asked, other @options, whose names are as in ", --min and --max". Prints one line then. @word is the command.
 */
bool offcpu_sums_print_lacks(const char *word, const struct interval_reader *t, bool asked,
			     const char *options);

/* `sched latency`: @order as enum runq_delays_order. */
void offcpu_sums_print_latency(struct offcpu_sums *s, int order);
void offcpu_sums_print_latency_text(struct buf *out, const struct offcpu_sums_print *p);
void offcpu_sums_print_latency_json(struct buf *out, const struct offcpu_sums_print *p);

/* `offcpu`: most time first. */
void offcpu_sums_print_blocked(struct offcpu_sums *s);
void offcpu_sums_print_blocked_text(struct buf *out, const struct offcpu_sums_print *p);
void offcpu_sums_print_blocked_json(struct buf *out, const struct offcpu_sums_print *p);

#endif /* D9_CMD_SCHED_OFFCPU_SUMS_PRINT_H */
