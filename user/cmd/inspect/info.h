/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_INSPECT_INFO_H
#define D9_CMD_INSPECT_INFO_H

#include "base/buf.h"
#include "cmd/common/select.h"
#include "cmd/common/view.h"
#include "profile/sums/event_counts.h"

struct info_opts {
	struct select_opts sel;
	struct view_opts view;
	int from;
	bool schemas, modules, json, verify;
};

enum { INFO_TRIGGERS_MAX = 16 };

/* Why a snapshot was written; string ids, NAMES_NONE: unknown. */
struct info_trigger {
	uint64_t ts, tid, ns;
	uint32_t reason, event, comm;
};

enum { INFO_PROCESSES_MAX = 256 };

/* One process of a recorder: the last event about it. */
struct info_process {
	uint32_t part, pid;
	uint32_t name; /* string id */
	uint64_t cpu_ns, pss_bytes, peak_bytes;
	uint64_t ts;
};

/* One run of the command: the trace has been read to its end. */
struct info {
	const struct info_opts *opts;
	struct reader *reader;
	struct names *names;
	struct event_counts counts;
	struct info_trigger triggers[INFO_TRIGGERS_MAX]; /* the first of them */
	uint64_t too_soon; /* others, that asked for no snapshot */
	size_t trigger_cnt;
	struct info_process processes[INFO_PROCESSES_MAX];
	size_t process_cnt;
	uint64_t bytes; /* of whole frames */
	uint64_t overhead_bytes; /* of those that are no events */
	bool torn;
	struct view view;
	struct buf out;
};

/* What of level 0.4 of the format a trace may use: TRACE_USES_* and its name, in text and in JSON. */
struct info_use {
	unsigned int bit;
	const char *text, *json;
};
#define INFO_USE_CNT 3
extern const struct info_use info_uses[INFO_USE_CNT];

/* Its line about what recording cost, and those about stacks. part: an index. */
void info_cost(struct info *in, uint32_t part);

/* The JSON form of the processes that cost the recorder most; no member if there are none. */
void info_costs_json(struct info *in, const struct recorder_costs *c);

/* Its lines about how stacks were taken. */
void info_stacks(struct info *in, const struct event_counts_stats *s);

/*
 * Its line about the figures of a recorder. @cut: the trace is what `cut` took out of the recording; @at_most: of
 * what was lost some need not have been wanted.
 */
void info_account(struct info *in, const struct loss_accounting_figures *f, bool cut, bool at_most);
/* A line when another number of events, @here, was read than they say was written. */
void info_written_here(struct info *in, const struct loss_accounting_figures *f, uint64_t here);

/* A line when the files of a set do not begin with number 0: the oldest are removed by --switch-max-files. */
void info_files_before(struct info *in);

/* The JSON form, appended to in->out. */
void info_json(struct info *in);

/* Each event; and a line for each that was a trigger, appended to in->out. */
void info_triggers_add(struct info *in, const struct trace_event *ev);
void info_triggers_put(struct info *in);
/* The same as a member of the JSON form, which is not there when there were none. */
void info_triggers_json(struct info *in);

/* Each event; the processes of a recording's recorder in text and JSON. part: an index. */
void info_processes_add(struct info *in, const struct trace_event *ev);
void info_processes_put(struct info *in, uint32_t part);
void info_processes_json(struct info *in, uint32_t part);

/* --verify: prints the verdict on a file, as the last line of `dump --json` if so asked; an exit code. */
int info_verify(const char *path, bool json);

#endif /* D9_CMD_INSPECT_INFO_H */
