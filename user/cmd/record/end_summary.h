/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_RECORD_END_SUMMARY_H
#define D9_CMD_RECORD_END_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

struct flight_cfg;
struct recorder_cfg;
struct recorder_result;
struct status_totals;

/* Messages of a recording on standard error. */
struct end_summary {
	const struct recorder_cfg *cfg;
	const char *file;
	bool on_terminal;
	bool shipped; /* files are gone when they were sent */
	uint64_t lost, full_ns, lost_ns; /* at the last end_summary_loss() that printed */
};

/* The start of a flight recorder: how much it keeps, and what memory that may take. */
void end_summary_flight(const struct flight_cfg *flight);
/* A recorder_progress_fn; ctx is a struct end_summary. One line, written over again and again. */
void end_summary_progress(void *ctx, const struct status_totals *totals);
/* Also a recorder_progress_fn: prints new losses with their cause and a remedy, at most every 10 seconds. */
void end_summary_loss(void *ctx, const struct status_totals *totals);
/* In place of progress, while the end waits for names; ctx as above. */
void end_summary_waiting(void *ctx);
void end_summary_clear_progress(void);

/* The end: figures, the hottest functions, how the target spent its time, and what to type next. */
void end_summary_print(const struct end_summary *s, const struct recorder_cfg *cfg,
		       const struct recorder_result *result);

/* The end without a terminal: amounts and the file, in one line. */
void end_summary_print_line(const struct end_summary *s, const struct recorder_cfg *cfg,
			    const struct status_totals *totals);

/* The end: warns if no task that the options select had anything to record. */
void end_summary_warn_nothing(const struct recorder_cfg *cfg, const struct status_totals *totals);

/* What --debug=verify-stacks found: an error if any stack differed; else said unless `quiet`. */
void end_summary_print_stacks(const struct status_totals *totals, bool quiet);

#endif
