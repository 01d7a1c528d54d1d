/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_REPORT_TEXT_H
#define D9_CMD_COMMON_REPORT_TEXT_H

#include "export/value_text.h"
#include "profile/sched/loss_accounting.h"
#include "trace/read/reader.h"

/* Text for a terminal; names and values of a trace: export/value_text.h. Functions append to @out. */

/*
 * What is missing, in words: "nothing", "3 events and 1 sample", "2 events, and an estimated 7
 * samples".
 */
void report_text_lost(struct buf *out, const struct loss_accounting *a);
/*
 * "incomplete: the rest of the trace is missing (damaged)"; false, without text, if it was read to its end. A
 * truncated end is no reason.
 */
bool report_text_incomplete(struct buf *out, const struct reader *r);
/*
 * The recorded fraction of @span_ns, and its effect on counts and sums, if --max-overhead or --sched-sample dropped
 * something: false, without text, if not. If the fraction changed, counts cannot be extrapolated: then it prints
 * the time range and the amount of dropped data.
 */
bool report_text_skipped_slices(struct buf *out, const struct loss_accounting *a,
				const struct names *n, uint64_t span_ns);
/* "only off-CPU intervals from 10.000 ms to 1.000 s", and @end. Limits in ns; @max_ns 0: none. */
void report_text_stays(struct buf *out, uint64_t min_ns, uint64_t max_ns, const char *end);

struct report_text_recorded_opts {
	/* Whether a part has what a command takes: switches, or with @stays also those. */
	bool (*has)(const void *ctx, uint32_t part);
	const void *ctx;
	bool stays;
};

/*
 * For a trace with parts that have off-CPU intervals or sums in place of switches: lists them, and the parts that
 * the command does not show: "recording 1: ...; recordings 2-3: all". False, without text, if all have switches, or
 * all have the same sums.
 */
bool report_text_recorded(struct buf *out, const struct names *n,
			  const struct report_text_recorded_opts *opts);
enum report_text_filter {
	REPORT_TEXT_FILTER_SWITCHES,
	REPORT_TEXT_FILTER_WAKINGS,
	REPORT_TEXT_FILTER_CNT
};

/*
 * "filtered: only context switches with prev_pid == 1; " and the effect on times, if --filter excluded some. False, and nothing, where all are there.
 */
bool report_text_filtered(struct buf *out, const struct names *n, enum report_text_filter of);
/* Why switches may be missing, in words, as far as the trace says so; otherwise of which threads. */
void report_text_why_unknown(struct buf *out, const struct loss_accounting *a,
			     const struct names *n, const struct intervals_holes *holes);
/*
 * "unknown: 1.234 s (all threads): " and why. Threads are many, so that may
 * be more than the trace is long. False, and nothing, for 0.
 */
bool report_text_unknown(struct buf *out, const struct loss_accounting *a, const struct names *n,
			 const struct intervals_unknown *u);
/* "unknown: 1.234 s (all threads) runnable or blocked: wakeup not recorded"; false, and nothing, for none. */
bool report_text_unsure(struct buf *out, const struct intervals_unknown *u);
/* "12 records lost, 1 stall; some process names may be missing"; false, and nothing, without loss. */
bool report_text_sideband(struct buf *out, const struct loss_accounting *a);
/* Members of a JSON object: lost_events, lost_samples, lost_samples_estimate, lost_sideband, ... */
void report_text_json_account(struct buf *out, const struct loss_accounting *a);

/* What an option --limit stands at that was not given. */
#define REPORT_TEXT_LIMIT_UNSAID UINT64_MAX
/* How many of @cnt rows --limit lets through, @otherwise when it was not given; 0: all. */
size_t report_text_rows(uint64_t limit, uint64_t otherwise, size_t cnt);
/* Members of a JSON object, the second left open: rows_not_shown (@more) and rows. */
void report_text_json_rows(struct buf *out, size_t more);
/* "# 3 more rows with less time: --limit 0 shows all"; nothing when none is. @how: " with less time". */
void report_text_more_rows(struct buf *out, size_t more, const char *how);

#define REPORT_TEXT_POWERS 64
/*
 * A line for each power of two nanoseconds from the first to the last with a count: 2^k ns right-aligned in
 * @margin columns, the count in @width, and a bar.
 */
void report_text_powers(struct buf *out, const uint64_t counts[REPORT_TEXT_POWERS], size_t margin,
			int width);
/* "log2_ns": an object with the counts that are not 0, by power of two. */
void report_text_json_powers(struct buf *out, const uint64_t counts[REPORT_TEXT_POWERS]);

/* Seconds with six decimals, as script has them, right-aligned in @width columns. */
void report_text_time(struct buf *out, uint64_t ns, size_t width);

/* Appends s and spaces up to @cols columns; what is wider is cut with an ellipsis if @cut. */
void report_text_column(struct buf *out, const char *s, size_t n, size_t cols, bool cut);

/* Bytes of s that fit into a line of that width, broken at a blank if possible. */
size_t report_text_line(const char *s, size_t n, size_t cols);

/* Appends s in at most @cols columns: what is wider is cut with an ellipsis. */
void report_text_fit(struct buf *out, const char *s, size_t n, size_t cols);

/* Appends a path of at most @cols columns: a longer one keeps its end, from a slash on if it can. */
void report_text_path(struct buf *out, const char *s, size_t n, size_t cols);

/* Columns of the terminal on standard output, 0 when it is none. */
size_t report_text_terminal_width(void);

/*
 * Ends what was written to standard output: an exit code of cmd.h. A reader that has gone away is
 * no error; anything else prints one line.
 */
int report_text_finish(void);

#endif /* D9_CMD_COMMON_REPORT_TEXT_H */
