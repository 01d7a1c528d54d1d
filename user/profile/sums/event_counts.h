/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_EVENT_COUNTS_H
#define D9_PROFILE_SUMS_EVENT_COUNTS_H

#include "events/own_events.h"
#include "profile/sched/loss_accounting.h"
#include "profile/sums/recorder_costs.h"
#include "profile/sums/stack_ends.h"
#include "trace/read/trace.h"

/* Events of one name. */
struct event_counts_type {
	uint32_t name; /* string id */
	uint64_t events, bytes;
};

/* Loss of one kind. */
struct event_counts_loss {
	uint32_t kind; /* string id */
	uint64_t count, first_ns, last_ns;
	uint64_t ns; /* total of last - first of each loss */
	enum loss_accounting_class cls;
};

/* The latest RecorderStats. Cumulative since the start of the recording. */
struct event_counts_stats {
	struct loss_accounting_figures figures;
	bool has_closed; /* it has own_stats.closed */
	uint64_t segment; /* that it is in */
	struct own_stats v; /* 0 where the trace does not have the counter */
	uint64_t fields; /* the set of those that it has */
};

/* A module and the distinct addresses in it that appear in stacks. */
struct event_counts_module {
	uint32_t module; /* index; 0: addresses in no known module */
	uint64_t frames, unnamed;
};

/* One recording of the stream: see struct part. Times are on its own clock. */
struct event_counts_part {
	struct event_counts_loss *losses;
	size_t loss_cnt, loss_cap;
	struct loss_accounting account; /* total losses */
	struct event_counts_stats stats;
	struct recorder_costs costs;
	uint64_t statuses; /* statuses of symbol lookup in modules */
	uint64_t events, samples, switch_stacks;
	/* tracepoint records present in the trace, to compare with the counters */
	uint64_t tracepoints;
	bool has_ts;
	uint64_t first_ts, last_ts; /* of events that happened: see trace_is_naming() */
};

/* Contents of a trace. {0} is empty; string ids belong to the trace's names. */
struct event_counts {
	struct event_counts_type *types;
	size_t type_cnt, type_cap;
	struct hmap by_name; /* string id -> index + 1 */
	struct event_counts_part *parts; /* up to the last one with any event */
	size_t part_cnt, part_cap;
	struct loss_accounting account; /* total over the recordings */
	uint64_t crashes, hangs; /* files that crashed or hung a symbol worker */
	struct hmap frames; /* distinct frames of stacks */
	uint64_t events;
	uint64_t samples, switch_stacks, wakeup_stacks, event_stacks;
	uint64_t user_truncated, kernel_truncated; /* samples with truncated stacks */
	struct stack_ends ends; /* of samples and switch-outs */
	bool unclosed_stats; /* some statistics do not mark the last ones: later events decide */
};

void event_counts_add(struct event_counts *c, const struct trace *t, struct names *n,
		      const struct trace_event *ev);
/* The part of event_counts_add_loss() for the few events about the recording itself. */
void event_counts_add_notice(struct event_counts *c, const struct trace *t, struct names *n,
			     const struct trace_event *ev);
/*
 * Counts only what is needed for losses and missing symbols: for commands that read a part of
 * the events.
 */
static inline void event_counts_add_loss(struct event_counts *c, const struct trace *t,
					 struct names *n, const struct trace_event *ev)
{
	if (ev->kind >= TRACE_MODULE || c->unclosed_stats)
		event_counts_add_notice(c, t, n, ev);
}
void event_counts_fini(struct event_counts *c);

/* Tracepoints of all parts. */
uint64_t event_counts_tracepoints(const struct event_counts *c);
/* Never NULL: empty if nothing was counted. Borrowed until the next event. */
const struct event_counts_part *event_counts_part(const struct event_counts *c, uint32_t part);

/* Sorts the types by bytes, largest first. Add nothing afterwards. */
void event_counts_sort(struct event_counts *c, const struct names *n);

/*
 * Modules in stacks, most unresolved addresses first; symbols are looked up now. Returns an array
 * of *@cnt that the caller frees, NULL if there are none.
 */
struct event_counts_module *event_counts_modules(const struct event_counts *c,
						 const struct names *n, size_t *cnt);

#endif /* D9_PROFILE_SUMS_EVENT_COUNTS_H */
