// SPDX-License-Identifier: BSD-2-Clause
/*
 * The scheduler's own programs against the generic one, on the same events at the same time: the
 * records must agree in every field, or readers would see a difference.
 *
 * Two captures run at once; in the second one no event counts as hot.
 */
/* ALONE: BPF programs of others that nest */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/tracefs/format.h"
#include "kernel/tracefs/tracefs.h"
#include "tests/bpf/side.h"
#include "tests/bpf/support.h"

TestSuite(generic, .fini = live_cleanup);

enum { RING_BYTES = 16 << 20, COMMON_SIZE = 8 };

static pid_t workload;

static void open_side(struct side *s, bool hot, int tracefs_fd)
{
	const struct eventset_cfg events_cfg = { .sched = true };
	struct capture_cfg cfg = { .follow = true, .ring_bytes = RING_BYTES };
	int i;

	*s = (struct side){ 0 };
	cr_assert_eq(eventset_new(tracefs_fd, &events_cfg, &s->events), 0);
	for (i = 0; i < EVENTSET_HOT_CNT && !hot; i++)
		s->events->hot[i] = -1;
	cfg.events = s->events;
	cr_assert_eq(capture_new(&cfg, &s->capture), 0);
	cr_assert_eq(capture_attach(s->capture), 0);
}

static bool is_text(const struct event_field *f)
{
	return f->op == EVENT_OP_CHARS || f->op == EVENT_OP_STRING || f->op == EVENT_OP_REL_STRING;
}

static void check_text(const struct event_field *f, const char *event, const struct prof_rec *hot,
		       const struct prof_rec *generic)
{
	const uint8_t *a, *b;
	size_t a_sz, b_sz;

	cr_assert_eq(event_field_bytes(f, (const void *)(hot + 1), hot->raw_len, &a, &a_sz), 0);
	cr_assert_eq(event_field_bytes(f, (const void *)(generic + 1), generic->raw_len, &b, &b_sz),
		     0);
	cr_assert_eq(a_sz, b_sz, "%s: %.*s and %.*s", event, (int)a_sz, a, (int)b_sz, b);
	cr_assert_eq(memcmp(a, b, a_sz), 0, "%s: %.*s and %.*s", event, (int)a_sz, a, (int)b_sz, b);
}

/*
 * A thread that ends is switched out as a zombie, or as dead once its parent has reaped it; the parent
 * may do so on another CPU between the two reads of the state.
 */
static bool is_reaped_between(const char *field, int64_t a, int64_t b)
{
	enum { EXIT_DEAD = 16, EXIT_ZOMBIE = 32 };

	return !strcmp(field, "prev_state") &&
	       ((a == EXIT_ZOMBIE && b == EXIT_DEAD) || (a == EXIT_DEAD && b == EXIT_ZOMBIE));
}

static void check_field(const struct event_def *def, size_t i, const struct prof_rec *hot,
			const struct prof_rec *generic)
{
	const struct event_field *f = &def->fields[i];
	const char *name = def->format->fields[i].name;
	int64_t a, b;

	if (is_text(f)) {
		check_text(f, def->name, hot, generic);
		return;
	}
	a = event_field_int(f, (const void *)(hot + 1), hot->raw_len);
	b = event_field_int(f, (const void *)(generic + 1), generic->raw_len);
	cr_assert(a == b || is_reaped_between(name, a, b), "%s, %s: %lld and %lld", def->name, name,
		  (long long)a, (long long)b);
}

static void check_record(const struct eventset *events, const struct prof_rec *hot,
			 const struct prof_rec *generic)
{
	const struct event_def *def = events->defs[hot->event];
	size_t i;

	cr_assert_eq(hot->event, generic->event, "%s and %s", def->name,
		     events->defs[generic->event]->name);
	cr_assert_eq(hot->kind, generic->kind);
	cr_assert_eq(hot->cpu, generic->cpu);
	cr_assert_eq(hot->pid, generic->pid);
	cr_assert_eq(hot->tid, generic->tid);
	cr_assert_eq(hot->raw_len, generic->raw_len);
	cr_assert_eq(memcmp(hot + 1, generic + 1, COMMON_SIZE), 0);
	if (def->has_context)
		cr_assert_eq(hot->context, generic->context, "%s from %#x and %#x", def->name,
			     hot->context, generic->context);
	for (i = 0; i < def->field_cnt; i++)
		check_field(def, i, hot, generic);
}

/* Runs the workload with its target blocked before and after, so that both captures see all of it. */
static void capture_both(struct side *hot, struct side *generic)
{
	struct live_switches still;
	struct live_proc chain;
	uint64_t last_ns;

	live_stimulus(&chain, "forkchain", "10", NULL);
	workload = chain.pid;
	capture_add_target(hot->capture, chain.pid, chain.pid);
	capture_add_target(generic->capture, chain.pid, chain.pid);
	capture_start(hot->capture);
	capture_start(generic->capture);
	live_go(&chain);
	live_read_switches(chain.pid, &still);
	/* the last child may leave its CPU after its parent has waited for it */
	last_ns = clock_mono_ns();
	capture_stop(hot->capture);
	capture_stop(generic->capture);
	side_next(hot);
	side_next(generic);
	side_cut(hot, last_ns);
	side_cut(generic, last_ns);
	live_end(&chain);
}

static int64_t wakee_of(const struct side *s, const struct prof_rec *rec)
{
	const struct event_def *def = s->events->defs[rec->event];

	for (size_t i = 0; i < def->field_cnt; i++)
		if (!strcmp(def->format->fields[i].name, "pid"))
			return event_field_int(&def->fields[i], (const void *)(rec + 1),
					       rec->raw_len);
	return -1;
}

/* The workload, or a process that was forked in the recording. */
static bool is_of_workload(const struct side *s, int64_t tid)
{
	for (size_t i = 0; i < s->cnt; i++)
		if (s->recs[i]->event == s->events->hot[EVENTSET_WAKEUP_NEW] &&
		    wakee_of(s, s->recs[i]) == tid)
			return true;
	return tid == workload;
}

static uint64_t nanoseconds_between(const struct prof_rec *a, const struct prof_rec *b)
{
	return a->ts > b->ts ? a->ts - b->ts : b->ts - a->ts;
}

/*
 * perf disables its own events on a CPU while it wakes its readers, and the generic program is one of them. Next to other
 * profilers, only the scheduler's own programs see these wakeups.
 */
static bool is_hidden(const struct side *hot, size_t i, const struct side *generic, size_t at)
{
	const struct prof_rec *other = at < generic->cnt ? generic->recs[at] : NULL;
	const struct prof_rec *rec = hot->recs[i];

	if (rec->event != hot->events->hot[EVENTSET_WAKEUP] ||
	    is_of_workload(hot, wakee_of(hot, rec)))
		return false;
	return !other || other->event != rec->event || other->cpu != rec->cpu ||
	       wakee_of(generic, other) != wakee_of(hot, rec) ||
	       (i + 1 < hot->cnt && hot->recs[i + 1]->cpu == rec->cpu &&
		nanoseconds_between(other, hot->recs[i + 1]) < nanoseconds_between(other, rec));
}

static void compare(const struct side *hot, const struct side *generic, int seen[EVENTSET_HOT_CNT])
{
	size_t at = 0;

	for (size_t i = 0; i < hot->cnt; i++) {
		const struct prof_rec *rec = hot->recs[i];

		if (is_hidden(hot, i, generic, at))
			continue;
		cr_assert_lt(at, generic->cnt, "%zu and %zu records", hot->cnt, generic->cnt);
		check_record(hot->events, rec, generic->recs[at++]);
		for (int k = 0; k < EVENTSET_HOT_CNT; k++)
			seen[k] += hot->events->hot[k] == rec->event;
	}
	cr_assert_eq(at, generic->cnt, "%zu and %zu records", hot->cnt, generic->cnt);
}

/* Whether neither missed a run because another program ran on that CPU: only then they can agree. */
static bool compare_once(int tracefs_fd, int seen[EVENTSET_HOT_CNT])
{
	struct side hot, generic;
	bool whole;

	open_side(&hot, true, tracefs_fd);
	open_side(&generic, false, tracefs_fd);
	capture_both(&hot, &generic);
	whole = !hot.nested && !generic.nested;
	if (whole)
		compare(&hot, &generic, seen);
	side_close(&hot);
	side_close(&generic);
	return whole;
}

Test(generic, generic_program_writes_the_same_as_the_scheduler_programs)
{
	int tracefs_fd, seen[EVENTSET_HOT_CNT] = { 0 };

	cr_assert_eq(tracefs_open(&tracefs_fd), 0);
	while (!compare_once(tracefs_fd, seen))
		;
	cr_assert_geq(seen[EVENTSET_SWITCH], 20);
	cr_assert_geq(seen[EVENTSET_WAKEUP_NEW], 10);
	cr_assert_geq(seen[EVENTSET_WAKEUP], 1);
	close(tracefs_fd);
}
