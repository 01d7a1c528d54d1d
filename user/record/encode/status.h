/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_ENCODE_STATUS_H
#define D9_RECORD_ENCODE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "events/own_events.h"
#include "record/capture/capture.h"

struct dial9_enc;
struct emit;
struct emit_trigger;
struct eventset;
struct user_metadata_entry;
struct perf_side;
struct realtime;
struct selection_cfg;
struct tasks;
struct translate;
struct unwind_loader;

/* Counters of the recording, so far or at its end. */
struct status_totals {
	struct own_stats stats; /* bpf_ns is extrapolated; closed is 0 */
	uint64_t at_most; /* of stats.lost: may have been no events to be recorded, and not lost */
	uint64_t samples_lost; /* no room in a ring */
	uint64_t stacks_thinned; /* stacks dropped while a ring was filling up */
	uint64_t side_lost; /* records about processes and mappings */
	uint64_t side_stalls; /* times that the records of a CPU were not read for a second */
	uint64_t doubts; /* stacks looked up in mappings that may have changed */
	uint64_t samples_missed; /* an estimate: those that hit a running BPF program */
};

struct status_cfg {
	struct capture *capture; /* all borrowed */
	struct translate *translate;
	struct emit *emit;
	struct tasks *tasks;
	struct dial9_enc *enc;
	const struct realtime *realtime;
	const size_t *memory_bytes; /* held, and */
	const uint64_t *forgotten; /* dropped for want of it: struct memory */
	const struct unwind_loader *unwinding; /* NULL: no stacks are unwound */
	uint64_t start_ns;
};

/* Writes what the trace says about the recording itself. Made and asked by the thread that drains. */
struct status;

struct status *status_new(const struct status_cfg *cfg);
void status_free(struct status *s);

struct status_head {
	const char *command_line;
	const char *target;
	uint32_t command_pid; /* 0: no command was started */
	uint32_t recorder_pid; /* 0: not known */
	const uint32_t *helpers; /* of the recorder, PROF_HELPERS_MAX; 0: no more */
	bool no_inherit;
	const struct selection_cfg *selection; /* NULL: none */
	bool by_task; /* records say which tasks are followed */
	bool neighbours;
	uint64_t summary_ns; /* 0: events are recorded */
	uint32_t max_overhead_ppm; /* 0: it may cost what it costs */
	const struct eventset *events;
	const struct user_metadata_entry *user; /* what else is to be said of it */
	size_t user_cnt;
	bool annotate; /* say what fields are: needs an encoder of level 4 */
};
/*
 * The start of a segment: metadata, which are the same in all of them, wall clock, what print fmt says of
 * values, and what fields are.
 */
int status_write_head(struct status *s, const struct status_head *head);
/*
 * The end of one that is not the last, when all records older than now_ns have been written: loss, figures,
 * wall clock.
 */
int status_write_seam(struct status *s, uint64_t now_ns);
/* From here on events go to these. @bytes were written before, to all segments together. */
void status_next_segment(struct status *s, struct dial9_enc *enc, struct emit *emit,
			 uint64_t bytes);

/* The periodic part, at most once a second: loss, figures, and every ten the wall clock. now_ns: all
 * records older than that have been written. */
int status_tick(struct status *s, uint64_t now_ns);
/* For so long nothing was drained, since the output had no room. */
void status_output_full(struct status *s, uint64_t ns);
/* Recording is over: the recorder's work from here on is told apart. */
void status_end(struct status *s);
/* All of it once more, and what can only be told at the end. */
int status_write_tail(struct status *s, uint64_t now_ns);

/* Who asked for a snapshot. */
int status_trigger(struct status *s, const struct emit_trigger *by);
/* What was recorded between two times is not in the trace, nor in any of the same recording. */
int status_not_kept(struct status *s, uint64_t from_ns, uint64_t to_ns);
/* Nothing was recorded between two times, on purpose. @thinned: to cost less. */
int status_paused(struct status *s, bool thinned, uint64_t from_ns, uint64_t to_ns);
/* From now on: see PROF_EV_THINNING. */
int status_thinning(struct status *s, uint64_t one_in, bool stacks, uint64_t overhead_ppm);
/* Writes of a side-band record what it says of loss: dropped, damaged, or not read for long. */
int status_side_lost(struct status *s, const struct perf_side *side);

void status_totals(struct status *s, uint64_t now_ns, struct status_totals *out);

/* Of all that a recording came to: says so if the sums do not agree. */
void status_check_balance(const struct status_totals *t);

#endif
