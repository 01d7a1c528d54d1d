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
	uint64_t at_most; /* of stats.lost: may not have been events to record, so not lost */
	uint64_t samples_lost; /* because a ring was full */
	uint64_t ring_lost; /* events and samples, because a ring was full */
	uint64_t stacks_thinned; /* dropped from records while a ring or the queue was filling up */
	uint64_t side_lost; /* process metadata records */
	uint64_t side_stalls; /* times that a CPU's metadata was not read for a second */
	uint64_t doubts; /* stacks looked up in mappings that may have changed */
	uint64_t samples_missed; /* estimate: samples that hit a running BPF program */
};

struct status_cfg {
	struct capture *capture; /* all borrowed */
	struct translate *translate;
	struct emit *emit;
	struct tasks *tasks;
	struct dial9_enc *enc;
	const struct realtime *realtime;
	const size_t *memory_bytes; /* in use */
	const uint64_t *forgotten; /* freed to limit memory: struct cache_limit */
	const struct unwind_loader *unwinding; /* NULL: stacks are not unwound */
	const uint32_t *helpers; /* helper processes, PROF_HELPERS_MAX; 0: no more; NULL: none */
	uint64_t start_ns;
};

/* Writes the trace's data about the recording itself. Used by the thread that drains. */
struct status;

struct status *status_new(const struct status_cfg *cfg);
void status_free(struct status *s);

struct status_head {
	const char *command_line;
	const char *target;
	uint32_t command_pid; /* 0: no command */
	uint32_t recorder_pid; /* 0: unknown */
	const uint32_t *helpers; /* helper processes, PROF_HELPERS_MAX; 0: no more */
	bool no_inherit;
	const struct selection_cfg *selection; /* NULL: none */
	bool by_task; /* records report followed tasks */
	bool neighbours;
	uint64_t summary_ns; /* 0: events are recorded */
	uint32_t max_overhead_ppm; /* 0: no limit */
	const struct eventset *events;
	const struct user_metadata_entry *user; /* metadata from the user */
	size_t user_cnt;
	bool annotate; /* describe fields: needs an encoder of level 4 */
};
/*
 * The start of a segment: metadata (equal in all segments), wall clock, names of values from print fmt, and field
 * descriptions.
 */
int status_write_head(struct status *s, const struct status_head *head);
/*
 * The end of a segment except the last, after all records older than now_ns have been written: loss, figures, wall
 * clock.
 */
int status_write_seam(struct status *s, uint64_t now_ns);
/* Switches to another segment. @bytes: written before, to all segments. */
void status_next_segment(struct status *s, struct dial9_enc *enc, struct emit *emit,
			 uint64_t bytes);

/*
 * The periodic part: loss and figures at most once per second, the wall clock every ten seconds. now_ns: all
 * records older than that have been written.
 */
int status_tick(struct status *s, uint64_t now_ns);
/* Adds time during which nothing was drained because the output was full. */
void status_output_full(struct status *s, uint64_t ns);
/* Recording has ended: the recorder's later CPU time is counted separately. */
void status_end(struct status *s);
/* Writes all of it once more, and the final totals. */
int status_write_tail(struct status *s, uint64_t now_ns);

/* Writes the trigger of a snapshot. */
int status_trigger(struct status *s, const struct emit_trigger *by);
/* Records between two times are in no trace of this recording. */
int status_not_kept(struct status *s, uint64_t from_ns, uint64_t to_ns);
/* Nothing was recorded between two times, intentionally. @load: to reduce the overhead. */
int status_paused(struct status *s, bool load, uint64_t from_ns, uint64_t to_ns);
/* State from now on: see PROF_EV_THINNING. */
int status_thinning(struct status *s, uint64_t one_in, bool stacks, uint64_t overhead_ppm);
/* Writes the loss that a process metadata record reports: dropped, damaged, or not read for long. */
int status_side_lost(struct status *s, const struct perf_side *side);

void status_totals(struct status *s, uint64_t now_ns, struct status_totals *out);
/* CPU time of the BPF programs, the recorder and its helper processes so far. May step back by a clock tick. */
uint64_t status_cost_ns(struct status *s, uint64_t now_ns);

/* Prints a warning if the totals do not agree. */
void status_check_balance(const struct status_totals *t);

#endif
