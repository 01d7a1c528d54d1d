/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_INTERVAL_PRINT_H
#define D9_CMD_COMMON_INTERVAL_PRINT_H

#include "cmd/common/callchain.h"
#include "cmd/common/interval_reader.h"
#include "profile/sums/blocked.h"

/* Why a trace without context switches has no intervals. */
const char *interval_print_no_switches(const struct interval_reader *t);
/* The same for a trace that has no sums or off-CPU intervals either. */
const char *interval_print_lacks_switches(const struct names *n);
/* The same for a trace of sums (--summary), for any command. */
#define INTERVAL_PRINT_SUMS "it has only sums (--summary); use sched latency or offcpu --hist"

#define INTERVAL_PRINT_STAYS                                                                       \
	"it has only off-CPU intervals (--min-block, --max-block); use offcpu, sched latency or "  \
	"wakeup"

/* For run-queue time during which the trace does not have the thread that ran instead. */
const char *interval_print_unknown_task(const struct interval_reader *t, uint32_t part);

/* "# FILE: WHAT over 1.234 s", and a line each about lost events and hidden rows. */
void interval_print_head(struct buf *out, const struct interval_reader *t, const char *what,
			 bool color);
/* The first columns of a row: time (with a star: includes fragments), share of @all_ns, count, average, maximum. */
void interval_print_sums(struct buf *out, const struct blocked_row *r, uint64_t all_ns, bool color);
/* "# switches: ..." if the trace has off-CPU intervals or sums instead of switches. False: it has not. */
bool interval_print_recorded(struct buf *out, const struct interval_reader *t, bool color);
/* "# filtered: ..." of report_text_filtered(), a line each, as in interval_print_head(). */
void interval_print_filtered(struct buf *out, const struct interval_reader *t, bool color);
/* The lines of report_text_unknown() and report_text_unsure(); nothing for 0. */
void interval_print_unknown(struct buf *out, const struct interval_reader *t,
			    const struct intervals_unknown *u, bool color);
/*
 * The waker of a thread: a task's name, with a question mark if the trace does not have whether an interrupt woke the
 * thread; else value_text_waker(). NULL: "-".
 */
void interval_print_waker(struct buf *out, const struct interval_reader *t,
			  const struct interval_waker *by);

/* Begins a JSON object: version, file, span_ns and losses. */
void interval_print_json_head(struct buf *out, const struct interval_reader *t);
/* Members unknown_ns and unsure_ns; the first includes the second. */
void interval_print_json_unknown(struct buf *out, const struct intervals_unknown *u);
/* An object with context and name, or null. */
void interval_print_json_waker(struct buf *out, const char *key, const struct interval_reader *t,
			       const struct interval_waker *by);
/* Member @key: a stack of the engine, by callchain_json(). */
void interval_print_json_stack(struct buf *out, const struct interval_reader *t, const char *key,
			       uint32_t stack, enum callchain_part part);

#endif /* D9_CMD_COMMON_INTERVAL_PRINT_H */
