/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_INTERVALS_H
#define D9_PROFILE_SCHED_INTERVALS_H

/*
 * The one source of intervals: what each thread of a trace did from when to when. Feed it every event
 * in order, and each interval is handed to a callback when it ends, complete:
 *
 *	struct intervals *iv = intervals_new(&(struct intervals_opts){ names, fn, ctx });
 *	while (reader_next(r, &ev) == 1)
 *		intervals_add_gaps(iv, reader_trace(r), &ev);	// if the input can be read twice
 *	reader_rewind(r);
 *	while (reader_next(r, &ev) == 1)
 *		intervals_add(iv, reader_trace(r), &ev);
 *	intervals_finish(iv);
 *	...						// names, stacks: intervals_stack()
 *	intervals_free(iv);
 *
 * Intervals of one thread come in order and leave no time out: from its birth, or the start of the
 * recording, to its death, or the end of the recording, their lengths sum to its life, to the
 * nanosecond. Intervals of several threads come in the order in which they end.
 *
 * What the trace does not say is not guessed: such time is an interval of INTERVAL_UNKNOWN, which still
 * says as what it began. Each part of a stream (see struct part) starts anew.
 *
 * Grows with distinct threads, stacks and CPUs, never with the number of events.
 */
#include "trace/read/trace.h"

enum interval_state {
	INTERVAL_UNKNOWN, /* a loss, a hole, or no beginning: see flags */
	INTERVAL_RUNNING, /* on a CPU */
	INTERVAL_RUNNABLE, /* without one */
	INTERVAL_BLOCKED, /* or asleep */
	INTERVAL_STATE_CNT,
};

/* How an interval ended. The switches out are those from INTERVAL_TO_BLOCK on. */
enum interval_end {
	INTERVAL_TO_NOTHING, /* it did not: the recording or the trace of this thread did */
	INTERVAL_TO_CPU, /* switched in */
	INTERVAL_TO_WAKEUP, /* woken, or born */
	INTERVAL_TO_BLOCK, /* switched out, to sleep or to block */
	INTERVAL_TO_PREEMPTED, /* switched out by another, in the kernel */
	INTERVAL_TO_RESCHED, /* switched out while runnable, on its way to user mode, or it yielded */
	INTERVAL_TO_EXIT, /* switched out for the last time */
};

/* Since what a thread is runnable. */
enum interval_why {
	INTERVAL_WHY_UNKNOWN, /* it was so at the start */
	INTERVAL_WHY_WOKEN,
	/* Woken before it had left the CPU on which it was about to block: since that switch. No time was
	 * spent blocked; the waking is told, and lies before the start. */
	INTERVAL_WHY_WOKEN_EARLY,
	INTERVAL_WHY_PREEMPTED,
	INTERVAL_WHY_RESCHED,
	INTERVAL_WHY_NEW, /* born */
};

/* Flags. Those of INTERVAL_CUT say that an interval is or may be only a piece of the true one. */
#define INTERVAL_LOSS                                                                              \
	0x01 /* events were lost, or recording paused, during it: its state is INTERVAL_UNKNOWN */
#define INTERVAL_HOLE 0x02 /* events contradict each other, so some are missing: likewise */
#define INTERVAL_EDGE_START 0x04 /* it was so when the recording started: since when is unknown */
#define INTERVAL_EDGE_END 0x08 /* it was so when the recording ended */
#define INTERVAL_CLIP_START 0x10 /* it began before the window */
#define INTERVAL_CLIP_END 0x20 /* it ended behind the window */
/* Blocked, and then switched in without a waking: how much of its end was runnable is unknown. */
#define INTERVAL_NO_WAKEUP 0x40
/*
 * Not of a thread that the recording followed (-p and its like), but of one that was met beside it; or of
 * a time that it spent on CPUs that the recording left out (-C). The trace has few of its switches: state is
 * INTERVAL_UNKNOWN.
 */
#define INTERVAL_NEIGHBOUR 0x80
/*
 * The first that the trace tells of this thread is that it was switched in: until then it waited for a CPU,
 * or was blocked and woken by what the trace does not have. State is INTERVAL_UNKNOWN.
 */
#define INTERVAL_UNSURE 0x100
#define INTERVAL_CUT                                                                               \
	(INTERVAL_LOSS | INTERVAL_HOLE | INTERVAL_EDGE_START | INTERVAL_EDGE_END |                 \
	 INTERVAL_CLIP_START | INTERVAL_CLIP_END)

#define INTERVAL_EXECS_MAX 4
#define INTERVAL_NO_STACK UINT32_MAX
#define INTERVAL_CPUS_MAX 65536 /* a number beyond is no CPU */

/* What a waking came from. */
enum interval_context {
	INTERVAL_BY_UNKNOWN, /* a trace of an older recorder: as if by a task, but often it is not */
	INTERVAL_BY_TASK, /* the thread itself, in user or kernel code */
	INTERVAL_BY_TIMER, /* the callback of a timer */
	INTERVAL_BY_SOFTIRQ,
	INTERVAL_BY_HARDIRQ,
	INTERVAL_BY_IPI, /* an interrupt that the kernel sent */
};

/* Whether the thread that was current did it, as far as the trace tells. */
static inline bool interval_by_thread(enum interval_context context)
{
	return context == INTERVAL_BY_TASK || context == INTERVAL_BY_UNKNOWN;
}

struct interval_waker {
	enum interval_context context;
	/* Softirq: its vector (0 HI, 1 TIMER, ...; see interval_softirq()). Hard irq: its line. Timer: the
	 * softirq that ran it, -1 in the timer's own interrupt. Else, and when it is unknown: -1. */
	int32_t number;
	uint64_t raw; /* as the trace has it (PROF_F_CONTEXT), for name_text_waker() */
	/* The thread that was current. With INTERVAL_BY_TASK the waker; else one that was interrupted
	 * and has nothing to do with it. */
	uint32_t tid, pid, comm;
	uint32_t part; /* of the stream, whose words said is in */
	uint32_t cpu; /* on which the waking happened */
	uint32_t stack; /* of the waker, or INTERVAL_NO_STACK */
	uint64_t ts;
};

/* A program that a thread left for another while it was on a CPU. */
struct interval_exec {
	uint64_t ts;
	uint32_t comm; /* its name until then */
};

struct interval {
	uint32_t tid, pid, comm; /* pid TRACE_NONE and comm NAMES_NONE: not known (yet) */
	uint32_t part; /* of the stream */
	enum interval_state state;
	enum interval_state began_as; /* the state that its first event says; as state, unless that is
					 INTERVAL_UNKNOWN */
	unsigned int flags;
	enum interval_end end_by;
	uint64_t start, end; /* ns, cut to the window */
	uint64_t began, ended; /* the same, not cut */
	/*
	 * Running: on which CPU. Runnable: that to which it was switched in, or on which it waited last.
	 * Blocked: that which it left. TRACE_NONE: unknown.
	 */
	uint32_t cpu;
	/* The switch-out with which a blocked or runnable interval began: prev_state (see
	 * interval_letter()) and stack, or 0 and INTERVAL_NO_STACK. */
	uint32_t prev_state;
	uint32_t stack;
	/* Who was switched in at that switch-out; and at the end of a runnable interval: who left the
	 * CPU for it. 0: idle, TRACE_NONE: unknown. */
	uint32_t next_tid, prev_tid;
	enum interval_why why; /* of a runnable one */
	/*
	 * Blocked: who ended it. Runnable: who began the wait. NULL: nobody, or unknown.
	 */
	const struct interval_waker *waker;
	/* Running: the execs meanwhile, in order; of more than INTERVAL_EXECS_MAX the first ones. */
	const struct interval_exec *execs;
	uint32_t exec_cnt;
};

/* Time of INTERVAL_UNKNOWN, together. */
struct intervals_unknown {
	uint64_t ns;
	uint64_t unsure_ns; /* of that, with INTERVAL_UNSURE and neither a loss nor a hole */
};

/* Takes any interval. */
void intervals_unknown_add(struct intervals_unknown *u, const struct interval *i);

/* @i and what it points to are borrowed until the function returns. */
typedef void (*interval_fn)(void *ctx, const struct interval *i);

struct intervals_opts {
	const struct names *names; /* borrowed: of the trace that the events come from */
	interval_fn fn;
	void *ctx;
};

struct intervals;

/* Never NULL; free with intervals_free(). */
struct intervals *intervals_new(const struct intervals_opts *opts);
void intervals_free(struct intervals *iv);
/* Starts over with the first event, knowing from before when events were lost. */
void intervals_restart(struct intervals *iv);
/* For who asks for no stacks: intervals and wakers have none from now on. */
void intervals_skip_stacks(struct intervals *iv);

/*
 * Times on one clock (struct part) to which intervals are cut; those outside are not handed out. To be
 * called before the first event on that clock that does not only name things; without it there is no
 * window.
 */
void intervals_window(struct intervals *iv, uint32_t clock, uint64_t from, uint64_t to);

/*
 * For a first pass: learns only when events were lost. Without it, or behind a pipe, a loss marks the
 * intervals that end after it was told, and those that ended before stay unmarked.
 */
void intervals_add_gaps(struct intervals *iv, const struct trace *t, const struct trace_event *ev);

/* Takes any event of the trace, all of them in order. Calls back for intervals that it ends. */
void intervals_add(struct intervals *iv, const struct trace *t, const struct trace_event *ev);

/* Hands out what is still open, ended by the end of the recording. Once, after the last event. */
void intervals_finish(struct intervals *iv);

/* Frames of a stack, leaf first, for names_symbol(). Valid until the next event is added. */
const uint64_t *intervals_stack(const struct intervals *iv, uint32_t stack, uint32_t *cnt);
/* How many distinct ones there are: ids are below. */
uint32_t intervals_stack_cnt(const struct intervals *iv);

/* One who ran while a thread waited for that CPU. */
struct interval_preemptor {
	uint32_t cpu, tid, pid, comm; /* tid 0: the CPU was idle */
	uint64_t ns; /* together */
	uint64_t from; /* first */
};

/* Of a wait: ns of the n that were returned, of others, and of times of which the trace does not say. */
struct interval_preemptor_sum {
	size_t n;
	uint64_t listed_ns, other_ns, unknown_ns;
};

/*
 * Behind whom a runnable interval waited: at most @max of those who ran on the CPUs that it was queued
 * on, longest first. Only within the callback, for the interval that it was called with. Costs time by
 * the number of switches in between, so ask for the waits that matter. In a recording of some processes
 * the switches between others are not in the trace: then it is unknown who ran, unless it was one of those
 * processes, or their CPUs were watched (--neighbours). That X was switched in and later X out proves nothing.
 */
struct interval_preemptor_sum intervals_preemptors(const struct intervals *iv,
						   const struct interval *i,
						   struct interval_preemptor *out, size_t max);

/* The letter by which ps and perf call a state: R, S, D, T, t, X, Z, P, I; '?' for another. */
char interval_letter(uint32_t prev_state);
/* The same of a blocked interval with these flags; '?' also where it began before the recording. */
char interval_blocked_letter(unsigned int flags, uint32_t prev_state);
/* "NET_RX" and so on; NULL for a vector that is not known. */
const char *interval_softirq(int32_t vector);

#endif /* D9_PROFILE_SCHED_INTERVALS_H */
