// SPDX-License-Identifier: BSD-2-Clause
/*
 * What threads did, from switches and wakeups. The only state machine of threads:
 *
 *   switched in            -> running
 *   switched out, runnable -> runnable     (state 0, or 0x100: preempted)
 *   switched out, dead     -> gone
 *   switched out, other    -> blocked, until a wakeup makes it runnable
 *
 * A thread has one open interval; the event that ends it completes and emits it. A thread's first
 * event also defines its state before it, back to the start of the recording.
 *
 * The recorder cannot count wakeups that the kernel does not emit, or that -e and filters exclude.
 * So a thread that is switched in without a wakeup may have been runnable ever since it left its
 * CPU.
 *
 * Nothing is guessed. If an event does not fit the state, or a CPU's switch does not fit the one
 * before it, events are missing in between. In a gap reported by LostEvents, events may be missing.
 * Such an interval has no state. The thread's next event is valid again.
 */
#include "profile/sched/thread_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "profile/sched/cpu_filter.h"
#include "profile/sched/cpu_log.h"
#include "profile/sched/offcpu_interval.h"
#include "profile/sched/recorded_switches.h"
#include "profile/sched/target_threads.h"
#include "profile/sched/thread.h"
#include "profile/sched/waker.h"

/* The low byte has the states that ps shows; 0x100 means preempted. */
#define STATE_LETTERS 0xff
#define STATE_DEAD 0x10
#define STATE_ZOMBIE 0x20

#define STATELESS                                                                                  \
	(INTERVAL_LOSS | INTERVAL_HOLE | INTERVAL_NEIGHBOUR | INTERVAL_UNSURE | INTERVAL_ELSEWHERE)

enum {
	RECENT_CNT = 512,
	TID_MAX = 4194304 /* the kernel's limit */
};

struct thread_state {
	struct thread_state_shared *all; /* borrowed */
	/* of the current recording: */
	bool has_events, has_targets; /* any event; its targets are known */
	bool offcpu_only; /* off-CPU intervals only (--min-block): nothing to do here */
	bool lacks_switches; /* excluded by -e or a filter */
	bool is_cut, has_switch; /* a cut may lack them, too, until one is there */
	bool neighbours; /* CPUs that targets waited for were watched: PROF_EV_CPU_WATCH */
	uint32_t part;
	uint64_t start, last; /* time of the first and the latest event */
	struct thread_state_window window;
	struct target_threads targets;
	struct cpu_filter cpu_filter;
	struct cpu_log cpus;
	struct hmap threads; /* tid -> struct thread */
	struct thread *recent[RECENT_CNT]; /* cache, by the low bits of the TID */
	const struct thread *reporting; /* during the callback */
	/*
	 * The thread woken last. Its blocked interval is emitted with the next event, because the
	 * waker stack may come first.
	 */
	struct thread *woken;
	struct interval woken_from;
};

struct thread_state *thread_state_new(struct thread_state_shared *all)
{
	struct thread_state *iv = xcalloc(1, sizeof(*iv));

	iv->all = all;
	return iv;
}

void thread_state_window(struct thread_state *iv, uint32_t clock)
{
	if (iv->has_events && names_part(iv->all->opts.names, iv->part)->clock == clock)
		iv->window = iv->all->windows[clock];
}

/* ---- emitting intervals ---------------------------------------------------------------------- */

static bool spans_loss(const struct thread_state *iv, uint64_t from, uint64_t to)
{
	return iv->part < iv->all->gaps_cap && gaps_touch(&iv->all->gaps[iv->part], from, to);
}

bool thread_state_clip(const struct thread_state_window *w, struct interval *i)
{
	if (!w->set)
		return true;
	if (i->end < w->from || i->start > w->to)
		return false;
	if (i->start < w->from) {
		i->start = w->from;
		i->flags |= INTERVAL_CLIP_START;
	}
	if (i->end > w->to) {
		i->end = w->to;
		i->flags |= INTERVAL_CLIP_END;
	}
	return true;
}

/*
 * Whether the thread was or may have been on a CPU that is not in the trace. A cut has no
 * migrations from and to these CPUs, so only a thread on a CPU is known not to be on another.
 */
static bool is_elsewhere(const struct thread_state *iv, const struct thread *th,
			 const struct interval *i)
{
	return th->unrecorded_cpu || (iv->cpu_filter.is_cut && i->began_as != INTERVAL_RUNNING);
}

/*
 * Between two events of a thread it may have been switched in and out unseen, unless it was blocked:
 * a switch-out to block and the wakeup after it enclose one state.
 */
static bool lacks_events(const struct thread_state *iv, const struct interval *i)
{
	const bool whole = i->began_as == INTERVAL_BLOCKED && i->end_by == INTERVAL_TO_WAKEUP &&
			   !(i->flags & INTERVAL_EDGE_START);

	if (whole)
		return false;
	return iv->lacks_switches || (iv->is_cut && !iv->has_switch &&
				      recorded_switches_excluded(iv->all->opts.names, iv->part));
}

static void emit_interval(struct thread_state *iv, struct thread *th, struct interval *i)
{
	if (iv->offcpu_only || !thread_state_clip(&iv->window, i))
		return;
	if (!th->is_target && !iv->targets.from_task_events)
		th->is_target = target_threads_has(&iv->targets, th->pid, th->tid);
	if (!th->is_target)
		i->flags |= INTERVAL_NEIGHBOUR;
	if (lacks_events(iv, i))
		i->flags |= INTERVAL_HOLE;
	if (is_elsewhere(iv, th, i))
		i->flags |= INTERVAL_ELSEWHERE;
	if (spans_loss(iv, i->began, i->ended))
		i->flags |= INTERVAL_LOSS;
	if (i->flags & STATELESS)
		i->state = INTERVAL_UNKNOWN;
	/* contradictions, and intervals without a start, come from CPUs that are not recorded */
	if (i->state == INTERVAL_UNKNOWN && cpu_filter_is_some(&iv->cpu_filter) &&
	    !(i->flags & (INTERVAL_LOSS | INTERVAL_UNSURE)))
		i->flags |= INTERVAL_ELSEWHERE;
	iv->reporting = th;
	iv->all->reporting = iv;
	iv->all->opts.fn(iv->all->opts.ctx, i);
	iv->reporting = NULL;
	iv->all->reporting = NULL;
}

static void end_interval(struct thread_state *iv, struct thread *th, uint64_t ts,
			 enum interval_end end_by, uint32_t cpu, uint32_t taken_from)
{
	struct interval i = thread_ended(th, iv->part, ts, end_by, cpu, taken_from);

	emit_interval(iv, th, &i);
}

static void flush_woken(struct thread_state *iv)
{
	struct thread *th = iv->woken;

	iv->woken = NULL;
	if (th && iv->woken_from.waker)
		emit_interval(iv, th, &iv->woken_from);
}

/* The first event of a thread defines its state until then. */
static void begin_first_interval(struct thread_state *iv, struct thread *th,
				 enum interval_state before)
{
	thread_begin(th, before, th->from > iv->start ? th->from : iv->start);
	th->flags = INTERVAL_EDGE_START;
}

/* ---- threads ----------------------------------------------------------------------------------- */

/* NULL: unknown. Most lookups are for recent threads. */
static struct thread *find(struct thread_state *iv, uint64_t tid)
{
	struct thread **recent = &iv->recent[tid % RECENT_CNT];

	if (!*recent || (*recent)->tid != tid)
		*recent = hmap_get(&iv->threads, tid);
	return *recent;
}

/* NULL for the idle threads, which share TID 0, and for numbers that are not TIDs. */
static struct thread *thread_of(struct thread_state *iv, const struct trace *t, uint64_t tid)
{
	struct thread *th;

	if (!tid || tid > TID_MAX)
		return NULL;
	th = find(iv, tid);
	if (th)
		return th;
	th = xcalloc(1, sizeof(*th));
	th->tid = (uint32_t)tid;
	th->pid = TRACE_NONE;
	th->comm = NAMES_NONE;
	th->unrecorded_cpu = iv->cpu_filter.bits;
	thread_name(th, t);
	hmap_set(&iv->threads, tid, th);
	iv->recent[tid % RECENT_CNT] = th;
	return th;
}

/* ---- targets and recorded CPUs --------------------------------------------------------------- */

/* From here on all of its switches are recorded: its next event defines its state. */
static void start_thread(struct thread_state *iv, struct thread *th, uint64_t ts)
{
	if (th->life == LIFE_ON)
		end_interval(iv, th, ts, INTERVAL_TO_NOTHING, th->cpu, TRACE_NONE);
	th->life = LIFE_UNSEEN;
	th->on_cpu = false;
	th->from = ts;
}

/* From here on its state is unknown. */
static void stop_thread(struct thread_state *iv, struct thread *th, uint64_t ts)
{
	if (th->life == LIFE_GONE)
		return;
	if (th->life == LIFE_UNSEEN)
		begin_first_interval(iv, th, th->on_cpu ? INTERVAL_RUNNING : INTERVAL_UNKNOWN);
	th->flags |= INTERVAL_EDGE_END;
	end_interval(iv, th, ts, INTERVAL_TO_NOTHING, th->cpu, TRACE_NONE);
	thread_begin(th, INTERVAL_UNKNOWN, ts);
}

/* The thread is on the run queue of this CPU, or was on it last. */
static void set_cpu(struct thread_state *iv, struct thread *th, uint64_t cpu, uint64_t ts)
{
	const bool away = !cpu_filter_has(&iv->cpu_filter, cpu);

	if (th->unrecorded_cpu == away)
		return;
	if (away)
		stop_thread(iv, th, ts);
	else if (th->life == LIFE_ON)
		start_thread(iv, th, ts);
	th->unrecorded_cpu = away;
}

/* Applies a TaskEvent. */
static void update_target(struct thread_state *iv, struct thread *th, const struct trace_event *ev)
{
	bool followed = trace_u64_or(ev, ROLE_FOLLOWED, 0) &&
			(!iv->targets.within || target_threads_has(&iv->targets, th->pid, th->tid));

	if (!iv->targets.from_task_events || th->is_target == followed)
		return;
	if (followed)
		start_thread(iv, th, ev->ts);
	else
		stop_thread(iv, th, ev->ts);
	th->is_target = followed;
}

/* ---- transitions ------------------------------------------------------------------------------- */

static enum interval_end end_of_switch(uint64_t state)
{
	if (state & (STATE_DEAD | STATE_ZOMBIE))
		return INTERVAL_TO_EXIT;
	if (state & STATE_LETTERS)
		return INTERVAL_TO_BLOCK;
	return state ? INTERVAL_TO_PREEMPTED : INTERVAL_TO_RESCHED;
}

/* Whether the last wakeup of a running thread is later than its decision to block. */
static bool is_woken_in_switch(const struct thread *th, const struct trace_event *ev)
{
	return th->woken_early && th->waker.cpu != ev->cpu &&
	       ev->ts - th->waker.ts <= PROF_BLOCKING_NS;
}

/* @fits: the CPU's own switches agree that the thread was running. */
static void switched_out(struct thread_state *iv, struct thread *th, const struct trace_event *ev,
			 uint64_t state, uint32_t next, bool fits)
{
	enum interval_end how = end_of_switch(state);
	struct interval_waker early = th->waker;
	bool woken_early = is_woken_in_switch(th, ev);

	set_cpu(iv, th, ev->cpu, ev->ts);
	if (th->life == LIFE_UNSEEN) {
		begin_first_interval(iv, th, INTERVAL_RUNNING);
		th->cpu = ev->cpu;
	}
	if (th->life == LIFE_ON) {
		if (!fits || th->state != INTERVAL_RUNNING || th->cpu != ev->cpu)
			th->flags |= INTERVAL_HOLE;
		end_interval(iv, th, ev->ts, how, ev->cpu, TRACE_NONE);
	}
	thread_begin(th, how == INTERVAL_TO_BLOCK ? INTERVAL_BLOCKED : INTERVAL_RUNNABLE, ev->ts);
	th->cpu = ev->cpu;
	th->prev_state = (uint32_t)state;
	th->next_tid = next;
	if (how == INTERVAL_TO_EXIT) {
		th->life = LIFE_GONE;
		target_threads_forget(&iv->targets, th->tid);
		th->is_target = false;
	} else if (how == INTERVAL_TO_BLOCK) {
		th->waker = early;
		th->woken_early = woken_early;
	} else {
		th->why = how == INTERVAL_TO_PREEMPTED ? INTERVAL_WHY_PREEMPTED :
							 INTERVAL_WHY_RESCHED;
		runqueue_moves_add(&th->queues, ev->cpu, th->since);
	}
}

/* A blocked interval without a wakeup after it ends. If it was woken early, it was a runnable one. */
static bool was_runnable_at_once(struct thread *th)
{
	if (th->woken_early) {
		th->state = INTERVAL_RUNNABLE;
		th->why = INTERVAL_WHY_WOKEN_EARLY;
		th->has_waker = true;
	}
	return th->woken_early;
}

static void switched_in(struct thread_state *iv, struct thread *th, const struct trace_event *ev,
			uint32_t prev)
{
	set_cpu(iv, th, ev->cpu, ev->ts);
	/* it may have run on a CPU that is not recorded */
	if (th->life == LIFE_UNSEEN && cpu_filter_is_some(&iv->cpu_filter)) {
		begin_first_interval(iv, th, INTERVAL_UNKNOWN);
	} else if (th->life == LIFE_UNSEEN) {
		begin_first_interval(iv, th, INTERVAL_RUNNABLE);
		th->flags |= INTERVAL_UNSURE;
	}
	if (th->life == LIFE_ON) {
		if (th->state == INTERVAL_RUNNING)
			th->flags |= INTERVAL_HOLE;
		else if (th->state == INTERVAL_BLOCKED && !was_runnable_at_once(th))
			th->flags |= INTERVAL_UNSURE;
		end_interval(iv, th, ev->ts, INTERVAL_TO_CPU,
			     th->state == INTERVAL_RUNNABLE ? ev->cpu : th->cpu, prev);
	}
	thread_begin(th, INTERVAL_RUNNING, ev->ts);
	th->cpu = ev->cpu;
}

/*
 * If a thread other than the leader execs, it takes over the leader's TID. Its interval continues
 * under that TID, and the old TID is free.
 */
static void continue_as(struct thread_state *iv, struct thread *old, struct thread *th, uint64_t ts)
{
	if (old->life != LIFE_ON || old->state != INTERVAL_RUNNING || th->life == LIFE_ON)
		return;
	end_interval(iv, old, ts, INTERVAL_TO_NOTHING, old->cpu, TRACE_NONE);
	old->life = LIFE_GONE;
	cpu_log_rename(&iv->cpus, old->cpu, old->tid, th->tid);
	thread_begin(th, INTERVAL_RUNNING, ts);
	th->cpu = old->cpu;
}

static void handle_exec(struct thread_state *iv, const struct trace *t,
			const struct trace_event *ev)
{
	uint64_t old_tid = trace_u64_or(ev, ROLE_OLD_PID, TRACE_NONE);
	uint64_t tid = trace_u64_or(ev, ROLE_PID, TRACE_NONE);
	struct thread *old = find(iv, old_tid), *th = thread_of(iv, t, tid);

	if (old_tid != tid && old && th)
		continue_as(iv, old, th, ev->ts);
	if (!th || th->life != LIFE_ON || th->state != INTERVAL_RUNNING)
		return;
	if (th->exec_cnt < INTERVAL_EXECS_MAX)
		th->execs[th->exec_cnt++] = (struct interval_exec){ ev->ts, th->comm_was };
	th->comm_was = th->comm;
}

/* The thread gets the leader's TID before the exec event, and may be switched out in between. */
static void handle_switch_before_exec(struct thread_state *iv, const struct trace *t,
				      struct thread *leader, const struct trace_event *ev)
{
	struct thread *on = find(iv, cpu_log_on(&iv->cpus, ev->cpu));

	if (!on)
		return;
	thread_name(on, t);
	if (on->pid == leader->tid)
		continue_as(iv, on, leader, ev->ts);
}

/* Whether all of its switches are recorded. */
static bool is_target(const struct thread_state *iv, const struct thread *th)
{
	if (iv->targets.from_task_events)
		return th && th->is_target;
	return th && (th->is_target || target_threads_has(&iv->targets, th->pid, th->tid));
}

/* Whether all switches of each CPU that threads wait for are recorded. */
static bool has_all_switches(const struct thread_state *iv)
{
	return !iv->targets.not_all || iv->neighbours;
}

static void handle_switch(struct thread_state *iv, const struct trace *t,
			  const struct trace_event *ev)
{
	uint64_t prev = trace_u64_or(ev, ROLE_PREV_PID, TRACE_NONE);
	uint64_t next = trace_u64_or(ev, ROLE_NEXT_PID, TRACE_NONE);
	struct thread *out = thread_of(iv, t, prev), *in = thread_of(iv, t, next), *was_running;
	uint32_t prev_tid = prev < TRACE_NONE ? (uint32_t)prev : TRACE_NONE, was;
	uint32_t next_tid = next < TRACE_NONE ? (uint32_t)next : TRACE_NONE;
	bool sure = has_all_switches(iv) || is_target(iv, out), came_before;

	iv->has_switch = true;
	if (out && out->life == LIFE_GONE)
		handle_switch_before_exec(iv, t, out, ev);
	/* it came when its switches were not recorded */
	came_before =
		out && out->life == LIFE_UNSEEN && out->from >= cpu_log_since(&iv->cpus, ev->cpu);
	was = cpu_log_switch(&iv->cpus, ev->cpu, ev->ts, prev_tid, next_tid, sure);
	if (was != CPU_LOG_NOBODY && was != prev_tid) {
		was_running = find(iv, was);
		if (was_running && was_running->life == LIFE_ON &&
		    was_running->state == INTERVAL_RUNNING && was_running->cpu == ev->cpu)
			was_running->flags |= INTERVAL_HOLE;
	}
	if (out)
		switched_out(iv, out, ev, trace_u64_or(ev, ROLE_PREV_STATE, 0), next_tid,
			     came_before || was == CPU_LOG_NOBODY || was == prev_tid);
	if (in)
		switched_in(iv, in, ev, prev_tid);
}

/*
 * If a target runs on the CPU, the event adds nothing: the target runs there until its own
 * switch-out.
 */
static void handle_cpu_watch(struct thread_state *iv, const struct trace_event *ev)
{
	const uint64_t kind = trace_u64_or(ev, ROLE_WATCH, PROF_WATCH_ENDED);
	uint32_t tid = CPU_LOG_NOBODY;

	if (is_target(iv, find(iv, cpu_log_on(&iv->cpus, ev->cpu))))
		return;
	if (kind == PROF_WATCH_BEGUN && ev->tid <= TID_MAX)
		tid = ev->tid;
	else if (kind == PROF_WATCH_BEGUN_UNSEEN)
		tid = CPU_LOG_LATER;
	cpu_log_begin(&iv->cpus, ev->cpu, ev->ts, tid);
}

/* Until it is named, its name is its parent's. */
static void handle_birth(struct thread_state *iv, struct thread *th, const struct trace_event *ev)
{
	if (th->life == LIFE_ON) {
		/* an earlier thread of the same TID, whose exit is missing */
		th->flags |= INTERVAL_HOLE;
		end_interval(iv, th, ev->ts, INTERVAL_TO_NOTHING, th->cpu, TRACE_NONE);
	}
	if (th->life != LIFE_UNSEEN)
		th->pid = th->comm = NAMES_NONE;
	if (th->comm == NAMES_NONE)
		th->comm = ev->comm;
	if (!iv->targets.from_task_events)
		th->is_target = false;
	thread_begin(th, INTERVAL_RUNNABLE, ev->ts);
	th->why = INTERVAL_WHY_NEW;
}

static void handle_wakeup(struct thread_state *iv, const struct trace *t,
			  const struct trace_event *ev)
{
	struct thread *th = thread_of(iv, t, trace_u64_or(ev, ROLE_PID, 0));
	struct thread *current = thread_of(iv, t, ev->tid);
	uint64_t cpu = trace_u64_or(ev, ROLE_TARGET_CPU, TRACE_NONE);
	bool birth = ev->schema->is_birth;

	if (current)
		current->on_cpu = true;
	if (!th)
		return;
	if (!birth || th->life == LIFE_UNSEEN)
		set_cpu(iv, th, cpu, ev->ts);
	/* only the first wakeup counts */
	if (!birth && th->life == LIFE_ON && th->state == INTERVAL_RUNNABLE)
		return;
	if (th->life == LIFE_UNSEEN && !birth)
		begin_first_interval(iv, th, INTERVAL_BLOCKED);
	iv->woken = th;
	iv->woken_from.waker = NULL;
	if (!birth && th->life == LIFE_ON && th->state == INTERVAL_RUNNING) {
		th->waker = waker_of(ev);
		th->woken_early = true;
		return;
	}
	if (birth) {
		handle_birth(iv, th, ev);
		th->unrecorded_cpu = !cpu_filter_has(&iv->cpu_filter, cpu);
	} else {
		if (th->life == LIFE_ON) {
			th->has_waker = true;
			iv->woken_from = thread_ended(th, iv->part, ev->ts, INTERVAL_TO_WAKEUP,
						      th->cpu, TRACE_NONE);
		}
		thread_begin(th, INTERVAL_RUNNABLE, ev->ts);
		th->why = INTERVAL_WHY_WOKEN;
	}
	th->waker = waker_of(ev);
	th->has_waker = true;
	runqueue_moves_add(&th->queues, cpu < TRACE_NONE ? (uint32_t)cpu : TRACE_NONE, th->since);
}

static void handle_stack(struct thread_state *iv, const struct trace *t,
			 const struct trace_event *ev)
{
	struct thread *th = thread_of(iv, t, ev->tid);

	target_threads_event(&iv->targets, t, ev);
	if (!th)
		return;
	if (ev->source == PROF_SOURCE_SAMPLE)
		th->on_cpu = true;
	else if (iv->all->skip_stacks)
		return;
	else if (ev->source == PROF_SOURCE_WAKING && iv->woken && iv->woken->waker.tid == ev->tid &&
		 iv->woken->waker.ts == ev->ts)
		iv->woken->waker.stack =
			stack_table_add(&iv->all->stacks, ev->frames, ev->frame_cnt);
	else if (ev->source == PROF_SOURCE_SWITCH_OUT && th->life == LIFE_ON &&
		 th->state != INTERVAL_RUNNING && th->since == ev->ts)
		th->stack = stack_table_add(&iv->all->stacks, ev->frames, ev->frame_cnt);
}

/* The thread was migrated and is runnable: the kernel migrates sleepers when it wakes them. */
static void handle_migration(struct thread_state *iv, struct thread *th, uint64_t cpu, uint64_t ts)
{
	const bool was_unrecorded = th->unrecorded_cpu;

	if (was_unrecorded && th->life == LIFE_UNSEEN)
		begin_first_interval(iv, th, INTERVAL_UNKNOWN);
	set_cpu(iv, th, cpu, ts);
	if (!was_unrecorded || th->unrecorded_cpu)
		return;
	thread_begin(th, INTERVAL_RUNNABLE, ts);
	th->flags = INTERVAL_EDGE_START;
}

static void handle_tracepoint(struct thread_state *iv, const struct trace *t,
			      const struct trace_event *ev)
{
	uint64_t cpu = trace_u64_or(ev, ROLE_DEST_CPU, TRACE_NONE);
	struct thread *th = find(iv, ev->tid);

	if (th)
		th->on_cpu = true;
	if (ev->schema->role[ROLE_OLD_PID] >= 0)
		handle_exec(iv, t, ev);
	if (cpu >= TRACE_NONE)
		return;
	th = find(iv, trace_u64_or(ev, ROLE_PID, TRACE_NONE));
	if (th && iv->cpu_filter.bits)
		handle_migration(iv, th, cpu, ev->ts);
	if (th && th->life == LIFE_ON && th->state == INTERVAL_RUNNABLE)
		runqueue_moves_add(&th->queues, (uint32_t)cpu,
				   ev->ts > th->since ? ev->ts : th->since);
}

/* ---- parts ------------------------------------------------------------------------------------- */

static void reset_part(struct thread_state *iv)
{
	uint64_t tid;
	size_t pos = 0;
	void *th;

	while (hmap_next(&iv->threads, &pos, &tid, &th))
		free(th);
	hmap_fini(&iv->threads);
	memset(iv->recent, 0, sizeof(iv->recent));
	cpu_log_fini(&iv->cpus);
	target_threads_fini(&iv->targets);
	cpu_filter_fini(&iv->cpu_filter);
	iv->has_events = iv->has_targets = iv->neighbours = iv->offcpu_only = false;
	iv->lacks_switches = iv->is_cut = iv->has_switch = false;
	iv->woken = NULL;
}

void thread_state_restart(struct thread_state *iv)
{
	reset_part(iv);
}

/* A thread without any event was in one state all the time. Without a switch in, it never ran. */
static void end_thread(struct thread_state *iv, struct thread *th)
{
	const bool unseen = th->life == LIFE_UNSEEN;

	if (th->life == LIFE_GONE)
		return;
	if (unseen)
		begin_first_interval(iv, th, th->on_cpu ? INTERVAL_RUNNING : INTERVAL_BLOCKED);
	/* only named, as are all threads: not one of these CPUs */
	if (unseen && !th->on_cpu && cpu_filter_is_some(&iv->cpu_filter))
		th->flags |= INTERVAL_NEIGHBOUR;
	if (th->state == INTERVAL_BLOCKED)
		was_runnable_at_once(th);
	th->flags |= INTERVAL_EDGE_END;
	end_interval(iv, th, iv->last, INTERVAL_TO_NOTHING,
		     th->state == INTERVAL_RUNNABLE ? runqueue_moves_cpu(&th->queues) : th->cpu,
		     TRACE_NONE);
}

static int by_tid(const void *a, const void *b)
{
	const struct thread *x = *(struct thread *const *)a, *y = *(struct thread *const *)b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void end_part(struct thread_state *iv)
{
	struct thread **all;
	size_t pos = 0, n = 0;
	uint64_t tid;
	void *th;

	if (!iv->has_events)
		return;
	flush_woken(iv);
	all = xcalloc(iv->threads.cnt + 1, sizeof(struct thread *));
	while (hmap_next(&iv->threads, &pos, &tid, &th))
		all[n++] = th;
	qsort(all, n, sizeof(struct thread *), by_tid);
	for (size_t k = 0; k < n; k++)
		end_thread(iv, all[k]);
	free(all);
	reset_part(iv);
}

static void begin_part(struct thread_state *iv, const struct trace_event *ev)
{
	uint32_t clock = names_part(iv->all->opts.names, ev->part)->clock;

	end_part(iv);
	iv->has_events = true;
	iv->part = ev->part;
	iv->start = iv->last = ev->ts;
	iv->window = (struct thread_state_window){ 0 };
	if (clock < iv->all->window_cap)
		iv->window = iv->all->windows[clock];
}

/* Metadata comes first, and again in each segment. */
static void read_targets(struct thread_state *iv)
{
	const char *neighbours;

	if (iv->has_targets)
		return;
	target_threads_fini(&iv->targets);
	target_threads_init(&iv->targets, iv->all->opts.names, iv->part);
	neighbours = names_meta(iv->all->opts.names, iv->part, PROF_META_NEIGHBOURS);
	iv->neighbours = neighbours && !strcmp(neighbours, "yes");
	iv->lacks_switches = names_meta(iv->all->opts.names, iv->part, PROF_META_SWITCHES) ||
			     names_meta(iv->all->opts.names, iv->part, PROF_META_SWITCH_FILTER);
	iv->is_cut = names_meta(iv->all->opts.names, iv->part, PROF_META_CUT);
	iv->offcpu_only = offcpu_interval_is_recorded(iv->all->opts.names, iv->part, NULL, NULL);
	cpu_filter_learn(&iv->cpu_filter, iv->all->opts.names, iv->part);
	iv->has_targets = names_meta(iv->all->opts.names, iv->part, PROF_META_TARGET);
}

void thread_state_finish(struct thread_state *iv)
{
	end_part(iv);
}

void thread_state_free(struct thread_state *iv)
{
	if (!iv)
		return;
	reset_part(iv);
	free(iv);
}

/* ---- events ------------------------------------------------------------------------------------ */

static void handle_task(struct thread_state *iv, const struct trace *t,
			const struct trace_event *ev)
{
	struct thread *th = thread_of(iv, t, ev->tid);

	target_threads_event(&iv->targets, t, ev);
	if (!th)
		return;
	thread_name(th, t);
	update_target(iv, th, ev);
}

/*
 * Other naming events come where they are needed, with any time: some at 0, some on another
 * recording's clock.
 */
static bool is_of_part(enum trace_kind kind)
{
	return !trace_is_naming(kind) || kind == TRACE_TASK || kind == TRACE_METADATA;
}

void thread_state_add(struct thread_state *iv, const struct trace *t, const struct trace_event *ev)
{
	if (!ev->has_ts || !is_of_part(ev->kind))
		return;
	if (!iv->has_events || ev->part != iv->part)
		begin_part(iv, ev);
	if (ev->kind == TRACE_SAMPLE)
		handle_stack(iv, t, ev);
	if (!trace_is_naming(ev->kind))
		flush_woken(iv);
	if (ev->ts > iv->last && !trace_is_naming(ev->kind))
		iv->last = ev->ts;
	if (ev->kind == TRACE_SCHED_SWITCH) {
		handle_switch(iv, t, ev);
	} else if (ev->kind == TRACE_SCHED_WAKING) {
		handle_wakeup(iv, t, ev);
	} else if (ev->kind == TRACE_CPU_WATCH) {
		handle_cpu_watch(iv, ev);
	} else if (ev->kind == TRACE_TRACEPOINT) {
		target_threads_event(&iv->targets, t, ev);
		handle_tracepoint(iv, t, ev);
	} else if (ev->kind == TRACE_TASK) {
		handle_task(iv, t, ev);
	} else if (ev->kind == TRACE_METADATA) {
		read_targets(iv);
	}
}

/* ---- preemptors ------------------------------------------------------------------------------ */

static bool is_still_running(const void *ctx, uint32_t tid)
{
	const struct thread_state *iv = ctx;

	return has_all_switches(iv) || is_target(iv, hmap_get(&iv->threads, tid));
}

static void name_preemptor(const struct thread_state *iv, struct interval_preemptor *r)
{
	const struct thread *th = hmap_get(&iv->threads, r->tid);

	if (!r->tid)
		r->pid = 0;
	if (!th)
		return;
	r->pid = th->pid;
	r->comm = th->comm;
}

struct interval_preemptor_sum thread_state_preemptors(const struct thread_state *iv,
						      const struct interval *i,
						      struct interval_preemptor *out, size_t max)
{
	const struct thread *th = iv->reporting;
	struct interval_preemptor_sum sum = { 0 };
	struct runqueue_moves_preemptors b = { .cpus = &iv->cpus,
					       .is_running = is_still_running,
					       .ctx = iv };

	if (th && i->state == INTERVAL_RUNNABLE)
		runqueue_moves_preemptors(&th->queues, i, &b);
	else if (i->end > i->start)
		b.unknown_ns = i->end - i->start;
	sum.n = preemptors_top(&b.preemptors, out, max);
	for (size_t k = 0; k < sum.n; k++) {
		name_preemptor(iv, &out[k]);
		sum.listed_ns += out[k].ns;
	}
	sum.other_ns = b.preemptors.other_ns;
	sum.unknown_ns = b.unknown_ns;
	return sum;
}
