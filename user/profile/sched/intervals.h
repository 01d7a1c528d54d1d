/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_INTERVALS_H
#define D9_PROFILE_SCHED_INTERVALS_H

/*
 * What each thread of a trace did, and when. Feed every event in order; each interval goes to a
 * callback when it is complete:
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
 * Intervals of one thread come in order and without gaps. They start at its birth or at the start
 * of the recording, and end at its death or at the end of the recording. Their lengths sum to
 * exactly that time, in ns. Intervals of several threads come in the order of their ends.
 *
 * Nothing is guessed. Time that the trace does not cover is an interval of INTERVAL_UNKNOWN;
 * began_as has the state it started with. Each recording of a stream (see struct part) starts again.
 *
 * Memory grows with distinct threads, stacks and CPUs, not with the number of events.
 */
#include "trace/read/trace.h"

enum interval_state {
	INTERVAL_UNKNOWN, /* lost or missing events, or no start: see flags */
	INTERVAL_RUNNING, /* on a CPU */
	INTERVAL_RUNNABLE, /* waiting for a CPU */
	INTERVAL_BLOCKED, /* blocked or sleeping */
	INTERVAL_STATE_CNT,
};

/* How an interval ended. From INTERVAL_TO_BLOCK on: by a switch out. */
enum interval_end {
	INTERVAL_TO_NOTHING, /* it did not end; the recording did */
	INTERVAL_TO_CPU, /* switched in */
	INTERVAL_TO_WAKEUP, /* woken, or created */
	INTERVAL_TO_BLOCK, /* switched out: blocked or sleeping */
	INTERVAL_TO_PREEMPTED, /* switched out: preempted in the kernel */
	INTERVAL_TO_RESCHED, /* switched out runnable: on return to user mode, or sched_yield() */
	INTERVAL_TO_EXIT, /* switched out for the last time */
};

/* Why a thread became runnable. */
enum interval_why {
	INTERVAL_WHY_UNKNOWN, /* runnable since before the recording */
	INTERVAL_WHY_WOKEN,
	/*
	 * Woken by another CPU during the switch-out with which it was about to block. It was never
	 * blocked, and the interval starts at that switch. The wakeup is before the start.
	 */
	INTERVAL_WHY_WOKEN_EARLY,
	INTERVAL_WHY_PREEMPTED,
	INTERVAL_WHY_RESCHED,
	INTERVAL_WHY_NEW, /* created */
};

/* Flags. With one of INTERVAL_CUT, the interval is or may be only a fragment of the true one. */
#define INTERVAL_LOSS                                                                              \
	0x01 /* events lost or recording paused during it: state is INTERVAL_UNKNOWN */
#define INTERVAL_HOLE                                                                              \
	0x02 /* contradicting or excluded events: some are missing, state is INTERVAL_UNKNOWN */
#define INTERVAL_EDGE_START 0x04 /* started before the recording; the true start is unknown */
#define INTERVAL_EDGE_END 0x08 /* not over at the end of the recording */
#define INTERVAL_CLIP_START 0x10 /* started before the window */
#define INTERVAL_CLIP_END 0x20 /* ended after the window */
/*
 * The thread is not a target of the recording (-p and others), or has no event on a recorded CPU
 * (-C). The trace has only some of its switches: state is INTERVAL_UNKNOWN.
 */
#define INTERVAL_NEIGHBOUR 0x40
/*
 * Off the CPU until a switch in, without a wakeup: the thread's first event is that switch, or it
 * left its CPU to block. It was runnable, or was blocked and its wakeup is not in the trace. State
 * is INTERVAL_UNKNOWN.
 */
#define INTERVAL_UNSURE 0x80
/*
 * The thread was, or may have been, on a CPU that is not in the trace (record -C, cut -C): state is
 * INTERVAL_UNKNOWN.
 */
#define INTERVAL_ELSEWHERE 0x100
#define INTERVAL_CUT                                                                               \
	(INTERVAL_LOSS | INTERVAL_HOLE | INTERVAL_EDGE_START | INTERVAL_EDGE_END |                 \
	 INTERVAL_CLIP_START | INTERVAL_CLIP_END)

#define INTERVAL_EXECS_MAX 4
#define INTERVAL_NO_STACK UINT32_MAX
#define INTERVAL_CPUS_MAX 65536 /* larger numbers are not CPUs */

/* What a wakeup came from. */
enum interval_context {
	/* not recorded (older recorder): handled as INTERVAL_BY_TASK, although often wrong */
	INTERVAL_BY_UNKNOWN,
	INTERVAL_BY_TASK, /* the current thread, in user or kernel code */
	INTERVAL_BY_TIMER, /* a timer callback */
	INTERVAL_BY_SOFTIRQ,
	INTERVAL_BY_HARDIRQ,
	INTERVAL_BY_IPI, /* an inter-processor interrupt */
};

/* Whether the current thread is the waker, as far as the trace records it. */
static inline bool interval_by_thread(enum interval_context context)
{
	return context == INTERVAL_BY_TASK || context == INTERVAL_BY_UNKNOWN;
}

struct interval_waker {
	enum interval_context context;
	/*
	 * Softirq: its vector (0 HI, 1 TIMER, ...; see interval_softirq()). Hard IRQ: its line.
	 * Timer: the softirq that ran it, -1 in the timer's own interrupt. Otherwise, or if
	 * unknown: -1.
	 */
	int32_t number;
	uint64_t raw; /* value in the trace (PROF_F_CONTEXT), for value_text_waker() */
	/*
	 * The current thread. With INTERVAL_BY_TASK it is the waker; otherwise an unrelated thread
	 * that was interrupted.
	 */
	uint32_t tid, pid, comm;
	uint32_t part; /* whose strings and enums @raw refers to */
	uint32_t cpu; /* of the wakeup */
	uint32_t stack; /* of the waker, or INTERVAL_NO_STACK */
	uint64_t ts;
};

/* An exec while the thread was on a CPU. */
struct interval_exec {
	uint64_t ts;
	uint32_t comm; /* before the exec */
};

struct interval {
	uint32_t tid, pid, comm; /* pid TRACE_NONE and comm NAMES_NONE: not known (yet) */
	uint32_t part; /* the recording */
	enum interval_state state;
	enum interval_state
		began_as; /* state at its first event; same as state, unless that is INTERVAL_UNKNOWN */
	unsigned int flags;
	enum interval_end end_by;
	uint64_t start, end; /* ns, clipped to the window */
	uint64_t began, ended; /* ns, not clipped */
	/*
	 * Running: the CPU. Runnable: the CPU it was switched in on, or the last run queue.
	 * Blocked: the CPU it left. TRACE_NONE: unknown.
	 */
	uint32_t cpu;
	/*
	 * The switch-out at the start of a blocked or runnable interval: prev_state (see
	 * interval_letter()) and stack; 0 and INTERVAL_NO_STACK if there was none.
	 */
	uint32_t prev_state;
	uint32_t stack;
	/*
	 * next_tid: switched in at that switch-out. prev_tid: left the CPU at the end of a runnable
	 * interval. 0: idle, TRACE_NONE: unknown.
	 */
	uint32_t next_tid, prev_tid;
	enum interval_why why; /* runnable only */
	/* Blocked: who ended it. Runnable: the waker at its start. NULL: none or unknown. */
	const struct interval_waker *waker;
	/* Running: execs during it, in order; only the first INTERVAL_EXECS_MAX. */
	const struct interval_exec *execs;
	uint32_t exec_cnt;
};

/*
 * Piece number @k of an interval: the time in which the thread was one program. All but the last end with an exec and
 * have the name before it. False: there is none.
 */
bool interval_piece(const struct interval *i, uint32_t k, struct interval *piece);

/* A thread with INTERVAL_HOLE, and the CPU that it was on or left before. */
struct intervals_hole {
	uint32_t part, tid, comm, cpu;
	uint64_t ns;
};

/* Threads with the longest INTERVAL_HOLE that no loss explains, the longest first. {0}: none. */
struct intervals_holes {
	struct intervals_hole v[3];
	size_t cnt;
	bool more; /* other threads have some, too */
};

/* Accepts any interval. */
void intervals_holes_add(struct intervals_holes *h, const struct interval *i);

/* Total time of INTERVAL_UNKNOWN. */
struct intervals_unknown {
	uint64_t ns;
	uint64_t unsure_ns; /* of ns: see interval_is_unsure() */
	struct intervals_holes holes; /* of ns */
};

/* Whether these are the flags of an unknown interval in which the thread was off the CPU all the time. */
static inline bool interval_is_unsure(unsigned int flags)
{
	return flags & INTERVAL_UNSURE &&
	       !(flags & (INTERVAL_LOSS | INTERVAL_HOLE | INTERVAL_NEIGHBOUR | INTERVAL_ELSEWHERE));
}

/* Accepts any interval; ignores known states. */
void intervals_unknown_add(struct intervals_unknown *u, const struct interval *i);

/* @i and everything it points to are valid only during the call. */
typedef void (*interval_fn)(void *ctx, const struct interval *i);

struct intervals_opts {
	const struct names *names; /* borrowed; of the trace that events come from */
	interval_fn fn;
	void *ctx;
};

struct intervals;

/* Never NULL; free with intervals_free(). */
struct intervals *intervals_new(const struct intervals_opts *opts);
void intervals_free(struct intervals *iv);
/* Restarts at the first event and keeps the known gaps. */
void intervals_restart(struct intervals *iv);
/* From now on intervals and wakers have no stacks, which saves time. */
void intervals_skip_stacks(struct intervals *iv);

/*
 * Clips intervals to a time range on one clock (struct part); intervals outside of it are not
 * emitted. Call it before the first event on that clock that does more than name things. Default:
 * no window.
 */
void intervals_window(struct intervals *iv, uint32_t clock, uint64_t from, uint64_t to);

/* Whether @ev reports a gap in which switches and other events may be missing, and its time. */
bool intervals_is_gap(const struct trace *t, const struct trace_event *ev, uint64_t *first,
		      uint64_t *last);
/*
 * For a first pass: only learns gaps. Without it, or with a pipe, a loss marks only intervals that
 * end after it was reported.
 */
void intervals_add_gaps(struct intervals *iv, const struct trace *t, const struct trace_event *ev);

/* Before the first event: takes over the gaps that another engine over the same trace knows. */
void intervals_copy_gaps(struct intervals *iv, const struct intervals *from);
/* Whether events may be missing between two times, inclusive, of the recording @part. */
bool intervals_touch_gap(const struct intervals *iv, uint32_t part, uint64_t from, uint64_t to);

/* Accepts every event of the trace, in order. Calls back for intervals that it ends. */
void intervals_add(struct intervals *iv, const struct trace *t, const struct trace_event *ev);

/*
 * Emits the intervals that are still open; they end with the recording. Call it once, after the
 * last event.
 */
void intervals_finish(struct intervals *iv);

/* Frames of a stack, leaf first, for names_symbol(). Valid until the next event is added. */
const uint64_t *intervals_stack(const struct intervals *iv, uint32_t stack, uint32_t *cnt);

/* A thread that ran on a CPU while another thread waited for that CPU. */
struct interval_preemptor {
	uint32_t cpu, tid, pid, comm; /* tid 0: the CPU was idle */
	uint64_t ns; /* total */
	uint64_t from; /* the first time */
};

/* For one interval: time of the @n preemptors returned, of other threads, and of unknown ones. */
struct interval_preemptor_sum {
	size_t n;
	uint64_t listed_ns, other_ns, unknown_ns;
};

/*
 * Which threads ran while @i was runnable, on the CPUs that it was queued on: at most @max, longest
 * first. Call it only within the callback, for its interval. The cost grows with the number of
 * switches during the interval, so ask only for intervals of interest.
 *
 * In a recording of some processes the trace has no switches between other threads. Then the
 * preemptor is unknown, unless it is a target, or the CPUs were watched (--neighbours). A switch to
 * X and a later switch from X do not prove that X ran all the time.
 */
struct interval_preemptor_sum intervals_preemptors(const struct intervals *iv,
						   const struct interval *i,
						   struct interval_preemptor *out, size_t max);

/* The letter of a state as in ps and perf: R, S, D, T, t, X, Z, P, I; '?' for another. */
char interval_letter(uint32_t prev_state);
/* The same for a blocked interval with these flags; '?' also if it started before the recording. */
char interval_blocked_letter(unsigned int flags, uint32_t prev_state);
/* "NET_RX" and others; NULL: unknown vector. */
const char *interval_softirq(int32_t vector);
/* One word in lower case, for programs; NULL: unknown, or not over. */
const char *interval_why_word(enum interval_why why);
const char *interval_end_word(enum interval_end end);

#endif /* D9_PROFILE_SCHED_INTERVALS_H */
