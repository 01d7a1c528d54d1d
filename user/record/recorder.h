/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_RECORDER_H
#define D9_RECORD_RECORDER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/realtime.h"
#include "record/capture/capture.h"
#include "record/control/load_shedding.h"
#include "record/control/notify.h"
#include "record/control/trigger.h"
#include "record/control/trigger_window.h"
#include "record/encode/status.h"
#include "record/output/flight.h"
#include "record/output/output.h"
#include "record/target/selection.h"
#include "record/tracepoint/eventset.h"

/* Called a few times per second while recording. */
typedef void (*recorder_progress_fn)(void *ctx, const struct status_totals *totals);

struct user_metadata_entry;

struct recorder_cfg {
	/*
	 * What the BPF programs record. The recorder sets what it finds out: events, select, follow, helpers, unwind.
	 */
	struct capture_cfg capture;

	/* targets: one of capture.system_wide, pids, tids, command; or all while the command runs */
	const uint32_t *pids;
	size_t pid_cnt;
	const uint32_t *tids;
	size_t tid_cnt;
	char *const *command; /* NULL-terminated */
	bool as_root;
	bool no_inherit;
	struct selection_cfg selection; /* filters these */
	struct load_shedding_cfg load_shedding;
	uint64_t summary_ns; /* interval of summaries, with capture.summary */

	/* events */
	struct eventset_cfg events;
	uint64_t unwind_mem; /* bytes, for unwind tables */
	bool no_names;
	uint64_t names_wait_ns; /* maximum at the end */

	/* output and time */
	struct output_cfg output;
	struct flight_cfg flight;
	struct trigger_cfg trigger; /* of snapshots */
	struct trigger_window_cfg when;
	struct notify_cfg notify;
	struct realtime_cfg realtime;
	uint64_t mem_max; /* memory limit of the recorder, without the symbolizer */
	bool level4; /* of the spec, 0.4: pooled stacks */
	bool annotate; /* describe fields in annotations; needs level4 */
	const char *command_line;
	uint32_t helper; /* process that belongs to the recorder, with its children; 0: none */
	const struct user_metadata_entry *meta; /* additional metadata */
	size_t meta_cnt;

	const volatile sig_atomic_t *stop; /* 1: finish; more: at once, without waiting for names */
	recorder_progress_fn progress; /* may be NULL */
	void (*waiting)(void *progress_ctx); /* once, when names delay the end; may be NULL */
	recorder_progress_fn losing; /* each second, after rings were full; may be NULL */
	void *progress_ctx;
};

enum recorder_end {
	RECORDER_STOPPED,
	RECORDER_DURATION,
	RECORDER_TARGET_EXITED,
	RECORDER_OUTPUT_FULL, /* its maximum size is reached */
	RECORDER_READER_GONE, /* the other end of the output pipe */
};

struct recorder_result {
	struct status_totals totals;
	enum recorder_end end;
	uint32_t command_pid; /* 0: no command */
	bool command_ended;
	int command_status; /* as a shell gives it, when command_ended */
	const char *sampler; /* static; NULL without samples */
	uint32_t hz;
	bool names_cut; /* some symbols were not waited for */
	bool output_failed; /* the error is about the output */
	char *file; /* output, or the beginning of the file set's names; NULL: nothing. The caller frees. */
};

/*
 * Records. Returns 0, or -errno after one line about the failure; out contains the results up to that point.
 */
int recorder_run(const struct recorder_cfg *cfg, struct recorder_result *out);

#endif
