// SPDX-License-Identifier: BSD-2-Clause
/* Who belongs to a target: processes of a few milliseconds, later threads, exec from any thread. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bpf/support.h"

TestSuite(tasks, .fini = live_cleanup);

enum { LINKS = 20, TASK_INTERRUPTIBLE = 1, DEAD_STATES = 0x30 };

static bool ends_with(const char *s, const char *tail)
{
	size_t len = strlen(s), tail_len = strlen(tail);

	return len >= tail_len && !strcmp(s + len - tail_len, tail);
}

/* ---- short-lived processes --------------------------------------------------------------------- */

struct link {
	pid_t pid;
	int forks, execs, exits;
	int named, samples;
};

static size_t read_links(const char *output, struct link *links)
{
	size_t cnt = 0;
	const char *at;

	for (at = strstr(output, "link="); at && cnt < LINKS; at = strstr(at + 1, "link="))
		links[cnt++].pid = atoi(strstr(at, "pid=") + 4);
	return cnt;
}

static struct link *find_link(struct link *links, int64_t pid)
{
	int i;

	for (i = 0; i < LINKS; i++)
		if (links[i].pid == pid)
			return &links[i];
	return NULL;
}

static void check_life(const struct live_trace *lt, struct link *links,
		       const struct trace_event *ev)
{
	struct link *l;

	if (live_is(ev, PROF_EV_SCHED_PROCESS_FORK)) {
		l = find_link(links, live_int(ev, "child_pid"));
		if (l)
			l->forks++;
		return;
	}
	l = find_link(links, ev->tid);
	if (!l)
		return;
	if (live_is(ev, PROF_EV_SCHED_PROCESS_EXEC)) {
		l->execs++;
	} else if (live_is(ev, PROF_EV_SCHED_PROCESS_EXIT)) {
		l->exits++;
	} else if (ev->kind == TRACE_TASK) {
		l->named += ends_with(live_text(lt, ev, PROF_F_EXE), "/stimuli/shortlived");
	} else if (ev->kind == TRACE_SAMPLE) {
		l->samples += live_stack_has(lt, ev, "short_spin");
	}
}

static void check_links(const char *path, const char *output)
{
	struct link links[LINKS] = { 0 };
	struct live_trace lt;
	struct trace_event ev;
	int i, unsampled = 0;

	cr_assert_eq(read_links(output, links), LINKS, "%s", output);
	live_open(&lt, path, false);
	live_assert_no_loss(&lt);
	while (live_event(&lt, &ev))
		check_life(&lt, links, &ev);
	live_close(&lt);
	for (i = 0; i < LINKS; i++) {
		const struct link *l = &links[i];

		cr_assert_eq(l->forks, 1, "fork of %d: %d", l->pid, l->forks);
		cr_assert_eq(l->execs, 1, "exec of %d: %d", l->pid, l->execs);
		cr_assert_eq(l->exits, 1, "exit of %d: %d", l->pid, l->exits);
		cr_assert_geq(l->named, 1, "%d has no TaskEvent with its program", l->pid);
		unsampled += !l->samples;
	}
	/* where the machine itself loses the CPU, a few milliseconds may pass between two samples */
	cr_assert_leq(unsampled, 1, "%d of %d have no sample in short_spin", unsampled, LINKS);
}

Test(tasks, each_process_of_a_command_is_named_even_if_it_is_short)
{
	struct live_rec rec;
	struct buf output;

	live_record(&rec, "-F", "999", "--", live_built("stimuli/forkchain"), "--now", "20", NULL);
	live_read_rest(&rec.proc);
	output = rec.proc.output;
	rec.proc.output = (struct buf){ 0 };
	cr_assert_eq(live_finish(&rec), 0);
	cr_assert(strstr(output.data, "exited=20"));
	check_links(rec.path, output.data);
	buf_free(&output);
}

struct naps {
	int64_t child, grandchild; /* switches out */
	uint64_t child_blocked, grandchild_blocked; /* by what readers make of them */
};

/* Of both workers, which were there before the recording; their parent is its target. */
static void count_naps(const char *inherit, struct naps *n)
{
	struct live_proc family;
	struct live_trace lt;
	struct live_rec rec;
	struct trace_event ev;
	int64_t pid;

	live_stimulus(&family, "family", "20", NULL);
	live_record(&rec, "-p", live_number(family.pid), inherit, NULL);
	live_recording(&rec);
	live_go(&family);
	cr_assert_eq(live_stop(&rec), 0);
	live_open(&lt, rec.path, false);
	live_assert_no_loss(&lt);
	*n = (struct naps){
		.child_blocked = live_blocked(rec.path, live_truth(&family, "child")),
		.grandchild_blocked = live_blocked(rec.path, live_truth(&family, "grandchild")),
	};
	while (live_event(&lt, &ev)) {
		if (!live_is(&ev, PROF_EV_SCHED_SWITCH))
			continue;
		pid = live_int(&ev, PROF_F_PREV_PID);
		n->child += pid == (int64_t)live_truth(&family, "child");
		n->grandchild += pid == (int64_t)live_truth(&family, "grandchild");
	}
	live_close(&lt);
	live_end(&family);
}

Test(tasks, existing_children_of_a_target_are_targets)
{
	struct naps n;

	count_naps(NULL, &n);
	cr_expect_geq(n.child, 20, "%d", (int)n.child);
	cr_expect_geq(n.grandchild, 20, "%d", (int)n.grandchild);
	/* a wakeup that is hidden from tracing has no event */
	cr_expect_geq(n.child_blocked, 15, "%d", (int)n.child_blocked);
	cr_expect_geq(n.grandchild_blocked, 15, "%d", (int)n.grandchild_blocked);
}

Test(tasks, existing_children_of_a_target_are_excluded_on_request)
{
	struct naps n;

	count_naps("--no-inherit", &n);
	/* but for switches that bring the target itself in */
	cr_expect_lt(n.child, 10);
	cr_expect_lt(n.grandchild, 10);
	cr_expect_eq(n.child_blocked + n.grandchild_blocked, 0);
}

Test(tasks, each_later_child_of_a_target_is_named_even_if_it_is_short)
{
	struct live_proc chain;
	struct live_rec rec;

	live_stimulus(&chain, "forkchain", "20", NULL);
	live_record(&rec, "-F", "999", "-p", live_number(chain.pid), NULL);
	live_recording(&rec);
	live_go(&chain);
	cr_assert_eq(live_stop(&rec), 0);
	cr_assert_eq(live_truth(&chain, "exited"), LINKS);
	check_links(rec.path, chain.output.data);
	live_end(&chain);
}

/* ---- threads ----------------------------------------------------------------------------------- */

enum { THREADS = 8, NAPS = 5 };

struct thread {
	int64_t tid;
	int born, ins, outs, naps, deaths;
};

struct threads {
	struct thread v[THREADS];
	int64_t main, exec_from;
	int execs, naps_after_exec;
};

static void read_threads(const struct live_proc *p, struct threads *t)
{
	const char *at = p->output.data;
	int i;

	for (i = 0; i < THREADS; i++) {
		at = strstr(at + 1, "thread=");
		cr_assert(at);
		t->v[i].tid = atoi(at + 7);
	}
	t->main = live_truth(p, "pid");
	t->exec_from = live_truth(p, "exec_from");
}

static void add_switch(struct threads *t, const struct trace_event *ev)
{
	int64_t state = live_int(ev, PROF_F_PREV_STATE), prev = live_int(ev, PROF_F_PREV_PID);
	int i;

	for (i = 0; i < THREADS; i++) {
		t->v[i].ins += live_int(ev, PROF_F_NEXT_PID) == t->v[i].tid;
		if (prev != t->v[i].tid)
			continue;
		t->v[i].outs++;
		t->v[i].naps += state == TASK_INTERRUPTIBLE;
		t->v[i].deaths += (state & DEAD_STATES) != 0;
	}
	if (prev == t->main && t->execs)
		t->naps_after_exec += state == TASK_INTERRUPTIBLE;
}

static void add_thread_event(struct threads *t, const struct trace_event *ev)
{
	int i;

	if (ev->kind == TRACE_SCHED_SWITCH)
		add_switch(t, ev);
	else if (live_is(ev, PROF_EV_SCHED_PROCESS_EXEC) && live_int(ev, "pid") == t->main)
		t->execs += live_int(ev, "old_pid") == t->exec_from;
	else if (live_is(ev, PROF_EV_SCHED_WAKEUP_NEW))
		for (i = 0; i < THREADS; i++)
			t->v[i].born += live_int(ev, "pid") == t->v[i].tid;
}

static void walk_threads(const char *path, struct threads *t)
{
	struct live_trace lt;
	struct trace_event ev;

	live_open(&lt, path, false);
	live_assert_no_loss(&lt);
	while (live_event(&lt, &ev))
		add_thread_event(t, &ev);
	live_close(&lt);
}

Test(tasks, later_threads_are_followed_from_birth_to_death_and_through_an_exec)
{
	struct threads t = { 0 };
	struct live_proc p;
	struct live_rec rec;
	int i;

	live_stimulus(&p, "thread_exec", NULL);
	live_record(&rec, "-p", live_number(p.pid), NULL);
	live_recording(&rec);
	live_go(&p);
	cr_assert_eq(live_stop(&rec), 0);
	read_threads(&p, &t);
	walk_threads(rec.path, &t);
	for (i = 0; i < THREADS; i++) {
		cr_assert_eq(t.v[i].born, 1);
		cr_assert_geq(t.v[i].naps, NAPS);
		cr_assert_eq(t.v[i].deaths, 1);
		cr_assert_eq(t.v[i].ins + (int)live_hidden(rec.path, t.v[i].tid), t.v[i].outs);
	}
	cr_assert_eq(t.execs, 1);
	cr_assert_geq(t.naps_after_exec, NAPS);
	live_end(&p);
}

/* Switches between a later thread and the target's first one are the latter's. */
static uint64_t count_foreign_switches(const char *path, int64_t pid)
{
	struct live_trace lt;
	struct trace_event ev;
	uint64_t n = 0;

	live_open(&lt, path, false);
	live_assert_no_loss(&lt);
	while (live_event(&lt, &ev))
		n += ev.kind == TRACE_SCHED_SWITCH && live_int(&ev, PROF_F_PREV_PID) != pid &&
		     live_int(&ev, PROF_F_NEXT_PID) != pid;
	live_close(&lt);
	return n;
}

Test(tasks, no_inherit_excludes_later_threads_and_children)
{
	struct live_proc p;
	struct live_rec rec;

	live_stimulus(&p, "thread_exec", NULL);
	live_record(&rec, "--no-inherit", "-p", live_number(p.pid), NULL);
	live_recording(&rec);
	live_go(&p);
	cr_assert_eq(live_stop(&rec), 0);
	cr_assert_eq(count_foreign_switches(rec.path, p.pid), 0);
	live_end(&p);
}

/* ---- single threads ---------------------------------------------------------------------------- */

Test(tasks, tid_selects_switches_and_wakeups_of_that_thread_only)
{
	uint64_t switches = 0, wakeups = 0;
	struct live_proc player;
	struct live_rec rec;
	struct live_trace lt;
	struct trace_event ev;
	int64_t ping, pong;

	live_stimulus(&player, "pingpong", "500", NULL);
	ping = live_truth(&player, "ping");
	pong = live_truth(&player, "pong");
	live_record(&rec, "-t", live_number(ping), NULL);
	live_recording(&rec);
	live_go(&player);
	cr_assert_eq(live_stop(&rec), 0);
	live_open(&lt, rec.path, false);
	live_assert_no_loss(&lt);
	while (live_event(&lt, &ev)) {
		if (ev.kind == TRACE_SCHED_SWITCH) {
			cr_assert(live_int(&ev, "prev_pid") == ping ||
				  live_int(&ev, "next_pid") == ping);
			switches++;
		} else if (live_is(&ev, PROF_EV_SCHED_WAKING)) {
			cr_assert(ev.tid == ping || live_int(&ev, "pid") == ping);
			wakeups += ev.tid == pong;
		} else if (ev.kind == TRACE_SAMPLE) {
			cr_assert_eq(ev.tid, ping);
		}
	}
	live_close(&lt);
	cr_assert_geq(switches, 50);
	cr_assert_eq(wakeups, live_truth(&player, "pong_wakes"));
	live_end(&player);
}
