// SPDX-License-Identifier: BSD-2-Clause
/*
 * --neighbours on the running kernel: who ran while a target waited, compared with a victim that measures
 * its waits itself and hogs that are known; nothing else is recorded.
 */
/* ALONE: which threads share a CPU */
#include <criterion/criterion.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profile/sched/intervals.h"
#include "tests/bpf/support.h"

TestSuite(neighbours, .fini = live_cleanup);

enum { MOVES = 100, MOVE_NS = 10000000 };

/* Where a program of this test is to run. */
static int pinned_to;

static int move(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(pid, sizeof(set), &set);
}

static void pin(void)
{
	if (move(0, pinned_to))
		_exit(1);
}

static void need_two_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) || !CPU_ISSET(0, &set) || !CPU_ISSET(1, &set))
		cr_skip_test("needs CPUs 0 and 1");
}

static void start(struct live_proc *p, int cpu, const char *name, const char *arg,
		  const char *second, const char *third)
{
	const char *const argv[] = { live_built(name), arg, second, third, NULL };

	pinned_to = cpu;
	live_spawn(p, argv, pin);
	live_read_until(p, "ready");
}

static void let_go(struct live_proc *p)
{
	cr_assert_eq(write(p->in, "\n", 1), 1);
}

/* It has said that it is done, and now sleeps: until then it may wait for its CPU once more. */
static void await_sleep(const struct live_proc *p)
{
	struct live_switches ignored;

	live_read_switches(p->pid, &ignored);
}

/* Burns the CPU until it is killed. */
static void start_hog(struct live_proc *p, int cpu)
{
	start(p, cpu, "stimuli/spinner", "70", "1000000", NULL);
	let_go(p);
}

/* ---- what a trace says ------------------------------------------------------------------------- */

enum { HOGS_MAX = 2 };

struct victim_waits {
	uint32_t victim;
	uint32_t hogs[HOGS_MAX];
	uint64_t waits, waited_ns; /* of the victim */
	uint64_t window_ns, known_ns; /* its time, and what it was known to do in it */
	uint64_t moves, moved_ns, moved_unknown_ns; /* waits on more than one CPU */
	uint64_t hogs_ran_ns, unknown_ns, blocked_ns;
	const struct intervals *iv;
};

static bool is_hog(const struct victim_waits *t, uint32_t tid)
{
	return tid && (tid == t->hogs[0] || tid == t->hogs[1]);
}

static void add_interval(void *ctx, const struct interval *i)
{
	struct interval_preemptor v[16];
	struct interval_preemptor_sum sum;
	struct victim_waits *t = ctx;
	bool moved = false;

	if (i->tid != t->victim)
		return;
	if (i->state != INTERVAL_UNKNOWN && !(i->flags & INTERVAL_CUT))
		t->known_ns += i->end - i->start;
	if (i->state == INTERVAL_BLOCKED)
		t->blocked_ns += i->end - i->start;
	if (i->state != INTERVAL_RUNNABLE || i->flags & INTERVAL_CUT)
		return;
	sum = intervals_preemptors(t->iv, i, v, sizeof(v) / sizeof(v[0]));
	t->waits++;
	t->waited_ns += i->end - i->start;
	t->unknown_ns += sum.unknown_ns;
	for (size_t k = 0; k < sum.n; k++) {
		if (is_hog(t, v[k].tid))
			t->hogs_ran_ns += v[k].ns;
		moved |= v[k].cpu != i->cpu;
	}
	t->moves += moved;
	t->moved_ns += moved ? i->end - i->start : 0;
	t->moved_unknown_ns += moved ? sum.unknown_ns : 0;
}

/* While the victim measured. */
static void read_waits(const char *path, const struct live_proc *victim, struct victim_waits *t)
{
	struct live_trace lt;
	struct trace_event ev;
	struct intervals *iv;

	live_open(&lt, path, false);
	live_assert_no_loss(&lt);
	cr_expect_str_eq(names_meta(lt.names, 0, PROF_META_NEIGHBOURS), "yes");
	iv = intervals_new(&(struct intervals_opts){ lt.names, add_interval, t });
	t->iv = iv;
	t->victim = (uint32_t)victim->pid;
	t->window_ns = (uint64_t)(live_truth(victim, "until_ns") - live_truth(victim, "from_ns"));
	intervals_window(iv, 0, (uint64_t)live_truth(victim, "from_ns"),
			 (uint64_t)live_truth(victim, "until_ns"));
	while (live_event(&lt, &ev))
		intervals_add(iv, lt.trace, &ev);
	intervals_finish(iv);
	intervals_free(iv);
	live_close(&lt);
}

/* Switches from or to one of two threads; of a CPU, when there are none: -1 is any. */
static uint64_t count_switches(const char *path, int64_t tid, int64_t other, int cpu)
{
	struct live_trace lt;
	struct trace_event ev;
	uint64_t cnt = 0;
	int64_t prev, next;

	live_open(&lt, path, false);
	while (live_event(&lt, &ev)) {
		if (ev.kind != TRACE_SCHED_SWITCH || (cpu >= 0 && ev.cpu != (uint32_t)cpu))
			continue;
		prev = live_int(&ev, PROF_F_PREV_PID);
		next = live_int(&ev, PROF_F_NEXT_PID);
		cnt += !tid || prev == tid || next == tid || prev == other || next == other;
	}
	live_close(&lt);
	return cnt;
}

/* Where init is hidden from tracing, so is a switch to or from it: what the victim did then is unknown. */
static void expect_waits_reported(const struct victim_waits *t, double waited_ns)
{
	double hidden_ns = (double)t->window_ns - (double)t->known_ns;

	cr_expect_gt(t->waits, 20);
	cr_expect_leq(hidden_ns, (double)t->window_ns / 10, "%.0f ns of %llu are unknown",
		      hidden_ns, (unsigned long long)t->window_ns);
	cr_expect_leq((double)t->waited_ns, waited_ns * 1.05, "%llu of %.0f ns",
		      (unsigned long long)t->waited_ns, waited_ns);
	cr_expect_geq((double)t->waited_ns + hidden_ns, waited_ns * 0.95,
		      "%llu of %.0f ns, %.0f unknown", (unsigned long long)t->waited_ns, waited_ns,
		      hidden_ns);
	cr_expect_leq(t->unknown_ns, t->waited_ns / 4, "%llu of %llu ns are unknown",
		      (unsigned long long)t->unknown_ns, (unsigned long long)t->waited_ns);
}

/* Whenever the hog ran, the victim waited, slept, or it is not known. @used_ns: CPU time of the hog then. */
static void expect_hog_reported(const struct victim_waits *t, uint64_t used)
{
	/* a CPU that was taken away from this machine is not used */
	cr_expect_leq(t->hogs_ran_ns, used + used / 8, "%llu of %llu ns",
		      (unsigned long long)t->hogs_ran_ns, (unsigned long long)used);
	cr_expect_geq(t->hogs_ran_ns + t->blocked_ns + t->unknown_ns, used - used / 20,
		      "%llu of %llu ns, %llu asleep, %llu unknown",
		      (unsigned long long)t->hogs_ran_ns, (unsigned long long)used,
		      (unsigned long long)t->blocked_ns, (unsigned long long)t->unknown_ns);
	cr_expect_gt(t->hogs_ran_ns, t->blocked_ns + t->unknown_ns);
}

static void expect_worst_names(const char *path, pid_t hog)
{
	const char *const args[] = { "sched", "latency", "--worst", "1000", path, NULL };
	struct live_proc out;
	struct buf want = { 0 };

	cr_expect_eq(live_run(&out, args, NULL), 0);
	buf_printf(&want, "ran instead: spinner %d on CPU 1", hog);
	cr_expect_not_null(strstr(buf_cstr(&out.output), buf_cstr(&want)), "no %s",
			   buf_cstr(&want));
	cr_expect_null(strstr(buf_cstr(&out.output), "record with"));
	buf_free(&want);
	live_proc_fini(&out);
}

/* Nothing is known of the others. */
static void expect_slices_of_one_thread(const char *path)
{
	struct buf out = live_output(
		(const char *const[]){ "query", "--format", "csv",
				       "SELECT count(DISTINCT tid) AS n FROM slices", path, NULL });

	cr_expect_str_eq(buf_cstr(&out), "n\n1\n");
	buf_free(&out);
}

/* ---- tests ------------------------------------------------------------------------------------- */

Test(neighbours, longest_run_queue_latency_names_the_hog_and_other_cpus_are_unwatched)
{
	struct live_proc hog, victim, stranger;
	struct live_rec rec;
	struct victim_waits t = { 0 };

	need_two_cpus();
	start_hog(&hog, 1);
	start(&stranger, 0, "stimuli/sleeper", "1000000", "500", NULL);
	let_go(&stranger);
	start(&victim, 1, "stimuli/waiter", "100", "100", live_number(hog.pid));
	live_record(&rec, "-p", live_number(victim.pid), "--neighbours", NULL);
	live_recording(&rec);
	live_go(&victim);
	cr_assert_eq(live_stop(&rec), 0);
	t.hogs[0] = (uint32_t)hog.pid;
	read_waits(rec.path, &victim, &t);
	expect_waits_reported(&t, live_truth(&victim, "waited_ns"));
	expect_hog_reported(&t, (uint64_t)live_truth(&victim, "other_ns"));
	cr_expect_eq(count_switches(rec.path, 0, 0, 0), 0, "no target waits for CPU 0");
	cr_expect_eq(count_switches(rec.path, stranger.pid, stranger.pid, -1), 0);
	expect_worst_names(rec.path, hog.pid);
	expect_slices_of_one_thread(rec.path);
	live_end(&victim);
	live_kill(&hog);
	live_kill(&stranger);
}

Test(neighbours, run_queue_latency_across_a_migration_is_reported_on_both_cpus)
{
	const struct timespec pace = { .tv_nsec = MOVE_NS };
	struct live_proc hogs[HOGS_MAX], victim;
	struct live_rec rec;
	struct victim_waits t = { 0 };

	need_two_cpus();
	for (int i = 0; i < HOGS_MAX; i++) {
		start_hog(&hogs[i], i);
		t.hogs[i] = (uint32_t)hogs[i].pid;
	}
	start(&victim, 0, "stimuli/waiter", "500", NULL, NULL);
	live_record(&rec, "-t", live_number(victim.pid), "--neighbours", NULL);
	live_recording(&rec);
	let_go(&victim);
	for (int i = 1; i <= MOVES; i++) {
		cr_assert_eq(move(victim.pid, i % 2), 0);
		nanosleep(&pace, NULL);
	}
	live_read_until(&victim, "done");
	cr_assert_eq(live_stop(&rec), 0);
	read_waits(rec.path, &victim, &t);
	expect_waits_reported(&t, live_truth(&victim, "waited_ns"));
	cr_expect_gt(t.moves, MOVES / 10);
	cr_expect_leq(t.moved_unknown_ns, t.moved_ns / 4, "%llu of %llu ns",
		      (unsigned long long)t.moved_unknown_ns, (unsigned long long)t.moved_ns);
	live_end(&victim);
	for (int i = 0; i < HOGS_MAX; i++)
		live_kill(&hogs[i]);
}

Test(neighbours, no_cpu_is_watched_once_all_targets_run)
{
	struct live_proc hog, chain, player;
	struct live_rec rec;
	int64_t ping, pong;

	/* processes that come and go, on a CPU that is busy */
	start_hog(&hog, 0);
	start(&chain, 0, "stimuli/forkchain", "40", NULL, NULL);
	live_stimulus(&player, "pingpong", "500", NULL);
	ping = (int64_t)live_truth(&player, "ping");
	pong = (int64_t)live_truth(&player, "pong");
	live_record(&rec, "-p", live_number(chain.pid), "--neighbours", NULL);
	live_recording(&rec);
	live_go(&chain);
	await_sleep(&chain);
	live_go(&player);
	cr_assert_eq(live_stop(&rec), 0);
	cr_expect_gt(count_switches(rec.path, hog.pid, hog.pid, -1), 0, "the chain waited");
	cr_expect_eq(count_switches(rec.path, ping, pong, -1), 0);
	live_end(&chain);
	live_end(&player);
	live_kill(&hog);
}

Test(neighbours, trace_without_the_option_does_not_name_who_ran_instead)
{
	struct live_proc hog, victim;
	struct live_rec rec;
	struct live_trace lt;
	struct trace_event ev;
	uint64_t own, all = 0;

	need_two_cpus();
	start_hog(&hog, 1);
	start(&victim, 1, "stimuli/waiter", "30", "1000", NULL);
	live_record(&rec, "-p", live_number(victim.pid), NULL);
	live_recording(&rec);
	live_go(&victim);
	cr_assert_eq(live_stop(&rec), 0);
	own = count_switches(rec.path, victim.pid, victim.pid, -1);
	cr_expect_gt(own, 30);
	cr_expect_eq(count_switches(rec.path, 0, 0, -1), own);
	live_open(&lt, rec.path, false);
	cr_expect_null(names_meta(lt.names, 0, PROF_META_NEIGHBOURS));
	while (live_event(&lt, &ev))
		all += ev.kind == TRACE_CPU_WATCH;
	cr_expect_eq(all, 0);
	live_close(&lt);
	live_end(&victim);
	live_kill(&hog);
}
