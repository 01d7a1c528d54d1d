/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_INTERVAL_REPORT_H
#define D9_CMD_COMMON_INTERVAL_REPORT_H

#include "cmd/common/interval_reader.h"
#include "cmd/common/interval_print.h"
#include "cmd/common/report_text.h"
#include "cmd/common/view.h"

/* Options that reports about intervals share. Commands without a row for one leave its default. */
struct interval_report_opts {
	struct select_opts sel;
	struct view_opts view;
	uint64_t limit;
	bool json, include_self;
};

/* The last rows of an option table for a member `m` of that type in struct `s`; @rows: default of --limit, "20". */
#define INTERVAL_REPORT_OPTS(s, m, rows)                                                           \
	{ OPT_LIMIT(offsetof(s, m.limit)),                                                         \
	  .help = "Print at most N rows, 0 for all (default " rows "; with --json all)" },         \
		OPT_ROW_JSON(offsetof(s, m.json)),                                                 \
		{ .name = "include-self",                                                          \
		  .kind = OPT_FLAG,                                                                \
		  .off = offsetof(s, m.include_self),                                              \
		  .help = "Also show threads of the recorder and its helper processes" },          \
		VIEW_OPTS(s, m.view)

/* A report reads intervals, sums them, and prints the sums as text or JSON. */
struct interval_report_ops {
	const char *title; /* of the first line of text: "blocked time" */
	const char *what; /* that the report is about, for errors: "wakeups" */
	const char *none; /* begins the line for a trace without it: "No wakeups" */
	const char *why_none; /* ends that line if the trace has switches; NULL: nothing */
	const char *why_unknown; /* the same if all intervals are incomplete; NULL: as why_none */
	const char *no_match; /* if report->found, but not report->rows: why, for an error */
	interval_fn add_interval; /* see struct interval_reader_opts; @ctx is the report */
	void (*add_event)(void *report, const struct trace *t, const struct trace_event *ev);
	void (*reset)(void *report); /* frees the sums */
	/* After reading: sorts, and sets @found and @rows. Not CMD_OK: ends the report with this exit code. */
	int (*finish)(void *report);
	/* Appends what follows the first lines; false: there is nothing to print. */
	bool (*put_text)(struct buf *out, const void *report);
	/* Appends members of the JSON object, which it leaves open. */
	void (*put_json)(struct buf *out, const void *report);
};

/* The first member of a command's struct. Set the members up to @opts, and @read's flags. */
struct interval_report {
	const struct interval_report_ops *ops;
	const struct interval_report_opts *opts;
	struct interval_reader_opts read;
	bool plain; /* text for programs: without first lines, colours and width */
	struct interval_reader timeline;
	struct view view;
	struct intervals_unknown unknown; /* selected */
	uint64_t found, rows; /* intervals that the selection has; rows that the report has */
};

/* Reads @path, prints, and frees: an exit code of cmd.h. */
int interval_report_run(struct interval_report *r, const char *path);

/* Ends the output, as view_end(): an exit code. CMD_INPUT if a newer version wrote frames that were not read. */
int interval_report_end(const struct interval_reader *t, struct view *view);
/*
 * The exit code after interval_report_end() if nothing of @what was found. If a selection may be the reason, prints
 * one line, and turns CMD_OK to CMD_USAGE.
 */
int interval_report_nothing(const struct interval_reader *t, const char *what, int code);

#endif /* D9_CMD_COMMON_INTERVAL_REPORT_H */
