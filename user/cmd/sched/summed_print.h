/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_SCHED_SUMMED_PRINT_H
#define D9_CMD_SCHED_SUMMED_PRINT_H

#include "cmd/common/timeline.h"
#include "profile/sums/summed.h"

/* What a command shows of a trace that was recorded with --summary. */
struct summed_print {
	const struct timeline *timeline;
	const struct summed *sums;
	uint64_t limit; /* TEXT_LIMIT_UNSAID: as the command has it */
	bool hist, color;
};

/* Adds an event if it is a sum that the command line lets through. */
void summed_print_take(struct summed *s, struct timeline *t, const struct trace *trace,
		       const struct trace_event *ev);

/*
 * Whether the trace has such sums alone, and the command line wants what these do not know: threads (-t), CPUs (-C) or, where
 * @asked, other @options, whose names are as in ", --min and --max". Prints one line then. @word is the command.
 */
bool summed_print_lacks(const char *word, const struct timeline *t, bool asked,
			const char *options);

/* `sched latency`: @order as enum delays_order. */
void summed_print_latency(struct summed *s, int order);
void summed_print_latency_text(const struct summed_print *p);
void summed_print_latency_json(const struct summed_print *p);

/* `offcpu`: most time first. */
void summed_print_blocked(struct summed *s);
void summed_print_blocked_text(const struct summed_print *p);
void summed_print_blocked_json(const struct summed_print *p);

#endif /* D9_CMD_SCHED_SUMMED_PRINT_H */
