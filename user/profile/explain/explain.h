/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_EXPLAIN_EXPLAIN_H
#define D9_PROFILE_EXPLAIN_EXPLAIN_H

/*
 * What threads did in a window, as a sequence of pieces. Feed it intervals and samples, call
 * explain_finish(), then ask for threads and steps.
 *
 * Sums of threads are exact for any length of the window. At most EXPLAIN_MAX pieces and samples
 * are kept; further ones are only in the sums. At most EXPLAIN_PREEMPTORS_MAX preemptors are kept;
 * further ones count as others.
 */
#include "base/hash.h"
#include "profile/sched/intervals.h"
#include "profile/sched/stack_table.h"

#define EXPLAIN_MAX ((size_t)1 << 19)
#define EXPLAIN_PREEMPTORS 4 /* in one step */
#define EXPLAIN_PREEMPTORS_MAX (2 * EXPLAIN_MAX) /* of all pieces */

/* A thread within the window. */
struct explain_thread {
	uint32_t tid, pid, comm; /* as in struct interval */
	uint32_t part; /* the recording */
	uint64_t first, last; /* time range of its intervals */
	uint64_t ns[INTERVAL_STATE_CNT]; /* by state */
	/*
	 * The longest time off the CPU, from one switch to the next; an unclipped one, if
	 * there is any. worst_to 0: none.
	 */
	uint64_t worst_from, worst_to;
	bool worst_cut;
	/* the current off-CPU time */
	uint64_t off_from;
	bool off, off_cut;
};

/* An interval, clipped to the window, longer than 0. */
struct explain_piece {
	uint64_t start, end;
	struct interval_waker waker; /* only if woken */
	uint32_t tid, part;
	uint32_t cpu, prev_state, stack; /* as in struct interval */
	uint32_t next_tid, prev_tid; /* likewise; unknown in a fragment */
	uint32_t preemptors; /* index of the first, in explain.preemptors */
	uint8_t preemptor_cnt, state, why;
	bool woken;
	uint16_t flags;
	uint64_t preemptors_other_ns; /* of preemptors that were not kept */
	uint64_t preemptors_unknown_ns; /* with unknown preemptors */
};

struct explain_sample {
	uint64_t ts;
	uint32_t tid, part, stack; /* in explain.stacks */
	bool out; /* stack of a switch-out */
};

/* Start with { .sums_only = ... }. Stacks of pieces are in the engine, stacks of samples here. */
struct explain {
	bool sums_only; /* threads only: no pieces, no samples */
	struct hmap index; /* part << 32 | tid -> struct explain_thread */
	struct explain_piece *pieces;
	size_t piece_cnt, piece_cap;
	struct interval_preemptor *preemptors;
	size_t preemptor_cnt, preemptor_cap;
	struct explain_sample *samples;
	size_t sample_cnt, sample_cap;
	struct stack_table stacks;
	uint64_t dropped_from; /* time from which pieces are dropped; 0: none */
};

/* Adds an interval, within the callback of the engine. */
void explain_add(struct explain *e, const struct intervals *iv, const struct interval *i);
/*
 * Adds the stack of a thread within the window: of a sample; or of a switch-out, in a trace without
 * switches.
 */
void explain_add_sample(struct explain *e, const struct trace_event *ev);
/* Call it once, at the end. Sets names of threads that the trace named late. */
void explain_finish(struct explain *e, const struct names *names);
void explain_fini(struct explain *e);

/* The thread in the first recording that has it; NULL: none. */
const struct explain_thread *explain_thread(const struct explain *e, uint32_t tid);
/* Threads of a process in a recording, most CPU time first, then by TID. Free it. */
const struct explain_thread **explain_process(const struct explain *e, uint32_t part, uint32_t pid,
					      size_t *cnt);

/* Time range of the intervals of a recording within the window. */
void explain_bounds(const struct explain *e, uint32_t part, uint64_t *from, uint64_t *to);

/* A time range of a thread with one or more pieces. */
struct explain_step {
	uint64_t from, to;
	uint64_t ns[INTERVAL_STATE_CNT], cnt[INTERVAL_STATE_CNT];
	const struct explain_piece *longest[INTERVAL_STATE_CNT]; /* NULL: none of that state */
	/* Preemptors, longest first; time of others; time with unknown preemptors. */
	struct interval_preemptor preemptors[EXPLAIN_PREEMPTORS];
	size_t preemptor_cnt;
	uint64_t other_ns, unknown_ns;
	/* Samples in it, and of those the number with the most frequent stack. */
	uint64_t samples, hottest_cnt;
	uint32_t hottest; /* in explain.stacks; INTERVAL_NO_STACK: no samples */
};

/* What the thread's own switches name around a runnable piece; 0: idle, TRACE_NONE: unknown. */
struct explain_own_switches {
	uint32_t replaced_by, ran_before_return;
};

/* For a step of one runnable piece with an unknown preemptor; unknown for any other step. */
struct explain_own_switches explain_own_switches(const struct explain_step *s);

/* @s is valid only during the call. */
typedef void (*explain_step_fn)(void *ctx, const struct explain_step *s);

/*
 * What a thread did from @from to @to, in order: one step for each piece of at least @small ns, and
 * one for all smaller ones between two of these. Only after explain_finish().
 */
void explain_each_step(const struct explain *e, uint32_t part, uint32_t tid, uint64_t from,
		       uint64_t to, uint64_t small, explain_step_fn fn, void *ctx);
/* Appends the steps to *@steps, an array of *@cnt with capacity *@cap (see array_reserve()). */
void explain_steps(const struct explain *e, uint32_t part, uint32_t tid, uint64_t from, uint64_t to,
		   uint64_t small, struct explain_step **steps, size_t *cnt, size_t *cap);
/*
 * What a thread did in a range, as one step, which the caller zeroed. False: the trace has nothing.
 */
bool explain_range(const struct explain *e, uint32_t part, uint32_t tid, uint64_t from, uint64_t to,
		   struct explain_step *out);
/*
 * Time by state from @from to @to, into @ns. Returns the time that the trace does not cover. The
 * total is the whole range.
 */
uint64_t explain_sums(const struct explain *e, uint32_t part, uint32_t tid, uint64_t from,
		      uint64_t to, uint64_t ns[INTERVAL_STATE_CNT]);
/*
 * The samples of a thread from @from to before @to, in order. Borrowed; @cnt receives the number.
 */
const struct explain_sample *explain_samples(const struct explain *e, uint32_t part, uint32_t tid,
					     uint64_t from, uint64_t to, size_t *cnt);
/* The part of a piece within a step. */
void explain_within(const struct explain_step *s, const struct explain_piece *p, uint64_t *from,
		    uint64_t *to);
/* The last piece of a thread in @state that ends at @until or before; NULL: none. */
const struct explain_piece *explain_last(const struct explain *e, uint32_t part, uint32_t tid,
					 enum interval_state state, uint64_t until);
/* Whether a thread was off the CPU at a time, and @slack ns before and after it. */
bool explain_was_off(const struct explain *e, uint32_t part, uint32_t tid, uint64_t at,
		     uint64_t slack);
/* The waker; 0: an interrupt, or unknown. */
uint32_t explain_waker_tid(const struct explain_piece *p);

#endif /* D9_PROFILE_EXPLAIN_EXPLAIN_H */
