/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_EXPLAIN_EXPLAIN_H
#define D9_PROFILE_EXPLAIN_EXPLAIN_H

/*
 * What threads did in one window, kept piece by piece, so that a story can be told of any of them:
 * feed it intervals and samples, call explain_finish(), then ask for threads and steps.
 *
 * Sums of threads are exact whatever the length of the window. Pieces and samples are kept up to
 * EXPLAIN_MAX of each; what comes later is in the sums alone. Of those behind whom pieces waited
 * EXPLAIN_PREEMPTORS_MAX are kept; later ones are others.
 */
#include "base/hash.h"
#include "profile/sched/intervals.h"
#include "profile/sched/stack_table.h"

#define EXPLAIN_MAX ((size_t)1 << 19)
#define EXPLAIN_PREEMPTORS 4 /* that a step names */
#define EXPLAIN_PREEMPTORS_MAX (2 * EXPLAIN_MAX) /* that are kept of all pieces */

/* A thread within the window. */
struct explain_thread {
	uint32_t tid, pid, comm; /* as in struct interval */
	uint32_t part; /* of the stream */
	uint64_t first, last; /* of its times */
	uint64_t ns[INTERVAL_STATE_CNT]; /* by state */
	/* The longest time without a CPU, from one switch to the next; of those that neither the
	 * recording nor the window cuts, if there is one. worst_to 0: there was none. */
	uint64_t worst_from, worst_to;
	bool worst_cut;
	/* the stretch at hand */
	uint64_t off_from;
	bool off, off_cut;
};

/* An interval, cut to the window; of a length above 0. */
struct explain_piece {
	uint64_t start, end;
	struct interval_waker waker; /* only if woken */
	uint32_t tid, part;
	uint32_t cpu, prev_state, stack; /* as in struct interval */
	uint32_t preemptors; /* index of the first, in explain.rivals */
	uint8_t preemptor_cnt, state, why;
	bool woken;
	uint16_t flags;
	uint64_t preemptors_other_ns; /* of those who found no room */
	uint64_t preemptors_unknown_ns; /* when the trace does not tell who ran */
};

struct explain_sample {
	uint64_t ts;
	uint32_t tid, part, stack; /* in explain.stacks */
	bool out; /* taken as it left its CPU */
};

/* Start with { .sums_only = ... }. Stacks of pieces are those of the engine, stacks of samples its own. */
struct explain {
	bool sums_only; /* threads alone: no pieces, no samples */
	struct hmap index; /* part << 32 | tid -> struct explain_thread */
	struct explain_piece *pieces;
	size_t piece_cnt, piece_cap;
	struct interval_preemptor *preemptors;
	size_t preemptor_cnt, preemptor_cap;
	struct explain_sample *samples;
	size_t sample_cnt, sample_cap;
	struct stack_table stacks;
	uint64_t dropped_from; /* from when on pieces are not kept; 0: all are there */
};

/* Takes an interval, within the callback of the engine. */
void explain_add(struct explain *e, const struct intervals *iv, const struct interval *i);
/*
 * Takes the stack of a thread that lies in the window: a sample; or one of a switch-out, of a trace that does
 * not have the switches themselves.
 */
void explain_add_sample(struct explain *e, const struct trace_event *ev);
/* Once, after the last one. Names threads that the trace named only later. */
void explain_finish(struct explain *e, const struct names *names);
void explain_fini(struct explain *e);

/* The first part of the stream that has this thread; NULL: none does. */
const struct explain_thread *explain_thread(const struct explain *e, uint32_t tid);
/* Threads of a process in a part, those that ran most first, then by tid. Free it. */
const struct explain_thread **explain_process(const struct explain *e, uint32_t part, uint32_t pid,
					      size_t *cnt);

/* From when to when a part of the stream has intervals in the window. */
void explain_bounds(const struct explain *e, uint32_t part, uint64_t *from, uint64_t *to);

/* Some time of one thread in which one or more things happened. */
struct explain_step {
	uint64_t from, to;
	uint64_t ns[INTERVAL_STATE_CNT], cnt[INTERVAL_STATE_CNT];
	const struct explain_piece *longest[INTERVAL_STATE_CNT]; /* NULL: none of that state */
	/* Behind whom it waited, longest first; behind others; and when the trace does not tell behind whom. */
	struct interval_preemptor preemptors[EXPLAIN_PREEMPTORS];
	size_t preemptor_cnt;
	uint64_t other_ns, unknown_ns;
	/* Of samples in it: how many, and of the stack that most of them have. */
	uint64_t samples, hottest_cnt;
	uint32_t hottest; /* in explain.stacks; INTERVAL_NO_STACK: no samples */
};

/* @s is borrowed until it returns. */
typedef void (*explain_step_fn)(void *ctx, const struct explain_step *s);

/*
 * What a thread did from @from to @to, in order: a step for each piece of at least @small ns, and one
 * for all smaller ones between two of these. Only after explain_finish().
 */
void explain_each_step(const struct explain *e, uint32_t part, uint32_t tid, uint64_t from,
		       uint64_t to, uint64_t small, explain_step_fn fn, void *ctx);
/* Appends them to *@steps, an array of *@cnt with room for *@cap (see array_reserve()). */
void explain_steps(const struct explain *e, uint32_t part, uint32_t tid, uint64_t from, uint64_t to,
		   uint64_t small, struct explain_step **steps, size_t *cnt, size_t *cap);
/*
 * What a thread did meanwhile, in one step, which the caller zeroed. False: the trace says nothing of it.
 */
bool explain_range(const struct explain *e, uint32_t part, uint32_t tid, uint64_t from, uint64_t to,
		   struct explain_step *out);
/*
 * How long it did what from @from to @to, into @ns; returns the time of which the trace says nothing. These
 * together are the whole.
 */
uint64_t explain_sums(const struct explain *e, uint32_t part, uint32_t tid, uint64_t from,
		      uint64_t to, uint64_t ns[INTERVAL_STATE_CNT]);
/* The samples of a thread from @from to before @to, in order. Borrowed; @cnt receives how many. */
const struct explain_sample *explain_samples(const struct explain *e, uint32_t part, uint32_t tid,
					     uint64_t from, uint64_t to, size_t *cnt);
/* What of a piece lies within a step. */
void explain_within(const struct explain_step *s, const struct explain_piece *p, uint64_t *from,
		    uint64_t *to);
/* The last piece of a thread in some state that ends at @until or before; NULL: there is none. */
const struct explain_piece *explain_last(const struct explain *e, uint32_t part, uint32_t tid,
					 enum interval_state state, uint64_t until);
/* Whether a thread was on no CPU at some time, nor @slack ns before and behind it. */
bool explain_was_off(const struct explain *e, uint32_t part, uint32_t tid, uint64_t at,
		     uint64_t slack);
/* The thread that woke, if it was one; 0: an interrupt, or unknown. */
uint32_t explain_waker_tid(const struct explain_piece *p);

#endif /* D9_PROFILE_EXPLAIN_EXPLAIN_H */
