// SPDX-License-Identifier: BSD-2-Clause
/*
 * Who is a target by what it is, on the running kernel: two sleepers that differ in one thing, of which the
 * recording has the one, with as many switches as /proc counts, and of the other none.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <fcntl.h>
#include <mntent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prof_events.h"
#include "profile/sched/intervals.h"
#include "tests/bpf/support.h"

/* ---- cgroups ----------------------------------------------------------------------------------- */

/* Where cgroups of version 2 are, and one of this test's own in it, with one below that. */
static char mounted[128], group[192], inner[256];

static void end(void)
{
	if (*group) {
		rmdir(inner);
		rmdir(group);
		*group = '\0';
	}
	live_cleanup();
}

static void need_cgroups(void)
{
	FILE *f = setmntent("/proc/mounts", "r");
	struct mntent *ent;

	while (f && !*mounted && (ent = getmntent(f)))
		if (!strcmp(ent->mnt_type, "cgroup2"))
			snprintf(mounted, sizeof(mounted), "%s", ent->mnt_dir);
	if (f)
		endmntent(f);
	if (!*mounted)
		cr_skip_test("no cgroup2 is mounted");
	snprintf(group, sizeof(group), "%s/d9-select-%d", mounted, getpid());
	snprintf(inner, sizeof(inner), "%s/inner", group);
	if (mkdir(group, 0755) || mkdir(inner, 0755))
		cr_skip_test("cannot make a cgroup");
}

static int enter(const char *dir, pid_t pid)
{
	char path[300], text[16];
	int fd, len = snprintf(text, sizeof(text), "%d", pid);
	bool good;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	fd = open(path, O_WRONLY);
	good = fd >= 0 && write(fd, text, (size_t)len) == len;
	if (fd >= 0)
		close(fd);
	return good ? 0 : -1;
}

static void enter_inner(void)
{
	if (enter(inner, 0))
		_exit(1);
}

TestSuite(select, .fini = end);

enum { NOBODY = 65534 };

/* How a program of this test is to be. */
static int pinned_to;
static uid_t user;

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(pinned_to, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		_exit(1);
}

static void become(void)
{
	if (setresgid(user, user, user) || setresuid(user, user, user))
		_exit(1);
}

/* A sleeper. It is called as the shell calls it: by its file. */
static void spawn(struct live_proc *p, const char *program, live_prepare_fn prepare)
{
	const char *const argv[] = { "/bin/sh", "-c", "exec \"$0\" 200 100", program, NULL };

	live_spawn(p, argv, prepare);
	live_read_until(p, "ready");
}

static void need_two_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) || !CPU_ISSET(0, &set) || !CPU_ISSET(1, &set))
		cr_skip_test("needs CPUs 0 and 1");
}

/* ---- what the recording has -------------------------------------------------------------------- */

struct seen {
	uint64_t switches, samples, wakeups; /* of that task: out, in it, of it */
	uint64_t out_with_stack;
	struct live_trace account; /* counters only */
};

/* @but: what this one is named by as well does not count, since it is there for its sake. */
static struct seen count_thread_events(const char *path, uint32_t tid, uint32_t but)
{
	struct seen n = { 0 };
	struct live_trace lt;
	struct trace_event ev;

	live_open(&lt, path, false);
	while (live_event(&lt, &ev)) {
		if (ev.kind == TRACE_SCHED_SWITCH && live_int(&ev, "prev_pid") == tid)
			n.switches += !but || live_int(&ev, "next_pid") != but;
		else if (ev.kind == TRACE_SCHED_WAKING && live_int(&ev, "pid") == tid)
			n.wakeups += !but || ev.tid != but;
		else if (ev.kind == TRACE_SAMPLE && ev.tid == tid)
			*(ev.source == PROF_SOURCE_SAMPLE ? &n.samples : &n.out_with_stack) += 1;
	}
	n.account = lt;
	live_close(&lt);
	return n;
}

static uint64_t all(struct live_switches s)
{
	return s.voluntary + s.involuntary;
}

/*
 * Both sleep; then the recording has all of the first's switches, and none of the other's but those that are
 * there for the sake of a third: next to which, if there are @others.
 */
static void has_one_alone(struct live_rec *rec, struct live_proc *one, struct live_proc *other,
			  bool others)
{
	struct live_switches before, after;
	struct seen of_one, of_other;

	live_recording(rec);
	live_read_switches(one->pid, &before);
	live_go(one);
	live_go(other);
	live_read_switches(one->pid, &after);
	cr_assert_eq(live_stop(rec), 0);
	of_one = count_thread_events(rec->path, one->pid, 0);
	of_other = count_thread_events(rec->path, other->pid, one->pid);
	cr_assert_gt(all(after) - all(before), 100);
	live_expect_all(&of_one.account, of_one.switches, all(after) - all(before), "switches");
	if (!others) {
		cr_expect_eq(of_other.switches, 0);
		cr_expect_eq(of_other.wakeups, 0);
	}
	cr_expect_eq(of_other.samples + of_other.out_with_stack, 0);
	live_end(one);
	live_end(other);
}

/* ---- CPUs -------------------------------------------------------------------------------------- */

/* Switches and samples that are not of CPU 0. */
static uint64_t count_events_off_cpu0(const char *path)
{
	struct live_trace lt;
	struct trace_event ev;
	uint64_t n = 0;

	live_open(&lt, path, false);
	while (live_event(&lt, &ev))
		n += (ev.kind == TRACE_SCHED_SWITCH || ev.kind == TRACE_SAMPLE) && ev.cpu != 0;
	live_close(&lt);
	return n;
}

static uint64_t count_switch_events(const char *path)
{
	struct live_trace lt;
	struct trace_event ev;
	uint64_t n = 0;

	live_open(&lt, path, false);
	while (live_event(&lt, &ev))
		n += ev.kind == TRACE_SCHED_SWITCH;
	live_close(&lt);
	return n;
}

Test(select, one_cpu_has_only_the_tasks_pinned_to_it)
{
	struct live_proc here, there;
	struct live_rec rec;

	need_two_cpus();
	pinned_to = 0;
	spawn(&here, live_built("stimuli/sleeper"), pin);
	pinned_to = 1;
	spawn(&there, live_built("stimuli/sleeper"), pin);
	live_record(&rec, "-C", "0", "-m", "32M", NULL);
	has_one_alone(&rec, &here, &there, true);
	cr_expect_eq(count_events_off_cpu0(rec.path), 0);
}

Test(select, cpu_narrows_a_process)
{
	struct live_proc there;
	struct live_rec rec;

	need_two_cpus();
	pinned_to = 1;
	spawn(&there, live_built("stimuli/sleeper"), pin);
	live_record(&rec, "-C", "0", "-p", live_number(there.pid), NULL);
	live_recording(&rec);
	live_go(&there);
	cr_assert_eq(live_stop(&rec), 0);
	cr_expect_eq(count_switch_events(rec.path), 0);
	live_end(&there);
}

struct thread_times {
	uint32_t tid;
	const struct intervals *iv;
	uint64_t ns[INTERVAL_STATE_CNT];
	uint64_t others_running_ns; /* together, by CPU number alone */
};

static void add_interval(void *ctx, const struct interval *i)
{
	struct thread_times *t = ctx;

	if (i->state == INTERVAL_RUNNING && i->cpu != 0)
		t->others_running_ns += i->end - i->start;
	if (i->tid == t->tid)
		t->ns[i->state] += i->end - i->start;
}

static struct thread_times sum_thread_times(const char *path, uint32_t tid)
{
	struct thread_times t = { .tid = tid };
	struct intervals *iv;
	struct live_trace lt;
	struct trace_event ev;

	live_open(&lt, path, false);
	iv = intervals_new(&(struct intervals_opts){ lt.names, add_interval, &t });
	t.iv = iv;
	while (live_event(&lt, &ev))
		intervals_add(iv, lt.trace, &ev);
	intervals_finish(iv);
	intervals_free(iv);
	live_close(&lt);
	return t;
}

static void pin_thread(uint32_t tid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	cr_assert_eq(sched_setaffinity(tid, sizeof(set), &set), 0);
}

struct player {
	uint32_t tid;
	uint64_t blocked, unsure;
	uint64_t woken_ns,
		blocks_ns; /* its last wakeup and switch-out to block since it ran; 0: none */
	uint64_t undecided;
};

static void count_blocked(void *ctx, const struct interval *i)
{
	struct player *p = ctx;

	if (i->tid != p->tid || i->began_as != INTERVAL_BLOCKED || i->flags & INTERVAL_CUT)
		return;
	p->blocked += i->state == INTERVAL_BLOCKED;
	p->unsure += interval_is_unsure(i->flags);
}

/*
 * Counts blocks that only a wakeup long before the switch-out can have ended: the switch-out itself took
 * unusually long, or that wakeup ended an earlier attempt to block.
 */
static void count_undecided(struct player *p, const struct trace_event *ev)
{
	if (ev->kind == TRACE_SCHED_WAKING && live_int(ev, "pid") == p->tid) {
		p->woken_ns = ev->ts;
	} else if (ev->kind == TRACE_SCHED_SWITCH && live_int(ev, "prev_pid") == p->tid) {
		p->blocks_ns = live_int(ev, "prev_state") ? ev->ts : 0;
	} else if (ev->kind == TRACE_SCHED_SWITCH && live_int(ev, "next_pid") == p->tid) {
		p->undecided += p->woken_ns && p->woken_ns + PROF_BLOCKING_NS < p->blocks_ns;
		p->woken_ns = p->blocks_ns = 0;
	}
}

/* A wakeup belongs to the woken thread's CPU: without it the interval has no waker and no end of its block. */
Test(select, thread_of_a_selected_cpu_has_its_wakeups_from_another_cpu)
{
	struct player ping = { 0 };
	uint64_t from_pong = 0;
	struct live_proc p;
	struct live_rec rec;
	struct live_trace lt;
	struct trace_event ev;
	struct intervals *iv;
	uint32_t pong;

	need_two_cpus();
	live_stimulus(&p, "pingpong", "1000", NULL);
	ping.tid = (uint32_t)live_truth(&p, "ping");
	pong = (uint32_t)live_truth(&p, "pong");
	pin_thread(ping.tid, 0);
	pin_thread(pong, 1);
	live_record(&rec, "-C", "0", "-m", "32M", "--no-samples", NULL);
	live_recording(&rec);
	live_go(&p);
	cr_assert_eq(live_stop(&rec), 0);
	live_open(&lt, rec.path, false);
	iv = intervals_new(&(struct intervals_opts){ lt.names, count_blocked, &ping });
	while (live_event(&lt, &ev)) {
		intervals_add(iv, lt.trace, &ev);
		count_undecided(&ping, &ev);
		from_pong += ev.kind == TRACE_SCHED_WAKING && ev.tid == pong &&
			     live_int(&ev, "pid") == ping.tid;
	}
	intervals_finish(iv);
	intervals_free(iv);
	live_expect_all(&lt, from_pong, (uint64_t)live_truth(&p, "pong_wakes"), "wakeups");
	cr_expect_geq(ping.blocked, from_pong / 2, "%d", (int)ping.blocked);
	cr_expect_eq(ping.unsure, ping.undecided, "%d, not %d", (int)ping.unsure,
		     (int)ping.undecided);
	live_close(&lt);
	live_end(&p);
}

/* What a thread does elsewhere is not guessed: it is neither blocked nor waiting there. */
Test(select, activity_of_a_thread_on_another_cpu_is_unknown)
{
	const char *const argv[] = { live_built("stimuli/spinner"), "1", "300", NULL };
	struct live_proc spinner;
	struct live_rec rec;
	struct thread_times t;

	need_two_cpus();
	pinned_to = 0;
	live_spawn(&spinner, argv, pin);
	live_read_until(&spinner, "ready");
	live_record(&rec, "-C", "0", NULL);
	live_recording(&rec);
	/* its sleep ends here, its run is there */
	pinned_to = 1;
	{
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(1, &set);
		cr_assert_eq(sched_setaffinity(spinner.pid, sizeof(set), &set), 0);
	}
	live_go(&spinner);
	cr_assert_eq(live_stop(&rec), 0);
	t = sum_thread_times(rec.path, spinner.pid);
	cr_expect_eq(t.others_running_ns, 0);
	cr_expect_eq(t.ns[INTERVAL_RUNNING], 0);
	cr_expect_gt(t.ns[INTERVAL_UNKNOWN], 250000000, "%llu ns unknown",
		     (unsigned long long)t.ns[INTERVAL_UNKNOWN]);
	live_end(&spinner);
}

/* ---- users ------------------------------------------------------------------------------------- */

Test(select, user_by_name_selects_only_that_users_tasks)
{
	struct live_proc his, roots;
	struct live_rec rec;

	user = NOBODY;
	spawn(&his, live_built("stimuli/sleeper"), become);
	spawn(&roots, live_built("stimuli/sleeper"), NULL);
	live_record(&rec, "-u", "nobody", NULL);
	has_one_alone(&rec, &his, &roots, false);
}

Test(select, several_users_by_number_select_the_tasks_of_each)
{
	struct live_proc his, others;
	struct live_rec rec;

	user = 4242;
	spawn(&his, live_built("stimuli/sleeper"), become);
	user = 4243;
	spawn(&others, live_built("stimuli/sleeper"), become);
	live_record(&rec, "-u", "4241,4242", "-u", "4244", NULL);
	has_one_alone(&rec, &his, &others, false);
}

/* ---- cgroups, live ------------------------------------------------------------------------------ */

Test(select, cgroup_includes_its_descendants)
{
	struct live_proc one, other;
	struct live_rec rec;

	need_cgroups();
	spawn(&one, live_built("stimuli/sleeper"), enter_inner);
	spawn(&other, live_built("stimuli/sleeper"), NULL);
	/* by its name below the mount */
	live_record(&rec, "-G", group + strlen(mounted), NULL);
	has_one_alone(&rec, &one, &other, false);
}

Test(select, nested_cgroup_excludes_the_tasks_of_its_parent)
{
	struct live_proc one, other;
	struct live_rec rec;

	need_cgroups();
	spawn(&one, live_built("stimuli/sleeper"), enter_inner);
	spawn(&other, live_built("stimuli/sleeper"), NULL);
	cr_assert_eq(enter(group, other.pid), 0);
	live_record(&rec, "-G", inner, NULL);
	has_one_alone(&rec, &one, &other, false);
}

Test(select, task_that_moves_into_a_cgroup_is_recorded_from_then_on)
{
	struct live_proc one, other;
	struct live_rec rec;

	need_cgroups();
	spawn(&one, live_built("stimuli/sleeper"), NULL);
	spawn(&other, live_built("stimuli/sleeper"), enter_inner);
	live_record(&rec, "-G", group, NULL);
	live_recording(&rec);
	cr_assert_eq(enter(inner, one.pid), 0);
	cr_assert_eq(enter(mounted, other.pid), 0);
	has_one_alone(&rec, &one, &other, false);
}

/* ---- names ------------------------------------------------------------------------------------- */

/* The same program under another name. */
static const char *called(const char *name)
{
	const char *path = live_path(name);

	cr_assert_eq(symlink(live_built("stimuli/sleeper"), path), 0);
	return path;
}

Test(select, process_by_name_is_recorded_alone)
{
	struct live_proc one, other;
	struct live_rec rec;

	spawn(&one, called("d9-sel-worker"), NULL);
	spawn(&other, called("d9-sel-other"), NULL);
	live_record(&rec, "--comm", "nothing", "--comm", "d9-*w?rker", NULL);
	has_one_alone(&rec, &one, &other, false);
}

Test(select, process_by_name_is_excluded)
{
	struct live_proc one, other;
	struct live_rec rec;

	spawn(&one, called("d9-sel-worker"), NULL);
	spawn(&other, called("d9-sel-other"), NULL);
	live_record(&rec, "-a", "--no-comm", "d9-*ther", "-m", "32M", NULL);
	has_one_alone(&rec, &one, &other, true);
}

Test(select, process_that_later_execs_under_a_name_is_recorded_from_its_exec)
{
	struct live_switches ready, now;
	struct live_proc later;
	struct live_rec rec;
	struct seen n;

	live_record(&rec, "--comm", "d9-sel-later", NULL);
	live_recording(&rec);
	spawn(&later, called("d9-sel-later"), NULL);
	live_read_switches(later.pid, &ready);
	live_go(&later);
	live_read_switches(later.pid, &now);
	cr_assert_eq(live_stop(&rec), 0);
	n = count_thread_events(rec.path, later.pid, 0);
	/* between its fork and its exec it had another name */
	cr_expect_leq(n.switches, all(now));
	cr_expect_geq(n.switches + n.account.lost, all(now) - all(ready));
	live_end(&later);
}

/* Whether a process belongs to this chain, which prints its process ids: others may have the same name. */
static bool is_link(struct live_proc *chain, int64_t pid)
{
	char line[32];

	snprintf(line, sizeof(line), " pid=%" PRId64 "\n", pid);
	return strstr(buf_cstr(&chain->output), line);
}

/*
 * Each of them lives for milliseconds, and is there to its end. Each but the first executes what it was forked by, as
 * /proc/self/exe.
 */
Test(select, short_lived_children_are_complete)
{
	struct live_proc chain;
	struct live_rec rec;
	struct live_trace lt;
	struct trace_event ev;
	int exits = 0, ends = 0;

	live_record(&rec, "--comm", "shortlived", "--comm", "exe", NULL);
	live_recording(&rec);
	{
		const char *const argv[] = { "/bin/sh", "-c", "exec \"$0\" 20",
					     live_built("stimuli/shortlived"), NULL };

		live_spawn(&chain, argv, NULL);
		live_read_rest(&chain);
		live_wait(&chain);
	}
	cr_assert_eq(live_stop(&rec), 0);
	live_open(&lt, rec.path, false);
	while (live_event(&lt, &ev)) {
		exits += live_is(&ev, "sched:sched_process_exit") &&
			 is_link(&chain, live_int(&ev, "pid"));
		ends += ev.kind == TRACE_SCHED_SWITCH && live_int(&ev, "prev_state") & 0x30 &&
			is_link(&chain, live_int(&ev, "prev_pid"));
	}
	live_expect_all(&lt, exits, 20, "exits");
	/* the last has closed its output, and may not have left the CPU yet */
	cr_expect_geq(ends + lt.lost, 19);
	live_close(&lt);
}

Test(select, threads_by_their_own_name_are_recorded_alone)
{
	struct live_proc p;
	struct live_rec rec;
	uint32_t ping, pong;
	struct seen of_ping, of_pong;

	live_stimulus(&p, "pingpong", "500", NULL);
	ping = (uint32_t)live_truth(&p, "ping");
	pong = (uint32_t)live_truth(&p, "pong");
	live_record(&rec, "-p", live_number(p.pid), "--thread", "pin?", NULL);
	live_recording(&rec);
	live_go(&p);
	cr_assert_eq(live_stop(&rec), 0);
	of_ping = count_thread_events(rec.path, ping, p.pid);
	of_pong = count_thread_events(rec.path, pong, p.pid);
	cr_expect_gt(of_ping.switches, 0);
	cr_expect_gt(of_ping.out_with_stack, 0);
	cr_expect_eq(of_pong.out_with_stack, 0);
	/* what ping wakes is there, as ping did it */
	live_expect_all(&of_pong.account, of_pong.wakeups, (uint64_t)live_truth(&p, "ping_wakes"),
			"wakeups of pong");
	live_expect_all(&of_ping.account, of_ping.wakeups, (uint64_t)live_truth(&p, "pong_wakes"),
			"wakeups of ping");
	live_end(&p);
}

/* ---- kernel threads, and the recorder ---------------------------------------------------------- */

Test(select, kernel_threads_are_excluded)
{
	struct live_rec rec;
	struct live_trace lt;
	struct trace_event ev;
	uint64_t switches = 0, between_kthreads = 0;

	live_record(&rec, "-a", "--no-kthread", NULL);
	live_recording(&rec);
	cr_assert_eq(live_stop(&rec), 0);
	live_open(&lt, rec.path, false);
	while (live_event(&lt, &ev)) {
		if (ev.kind != TRACE_SCHED_SWITCH)
			continue;
		switches++;
		/* the first of each CPU has only kernel threads as its parent */
		between_kthreads += (!live_int(&ev, "prev_pid") ||
				     !strncmp(live_text(&lt, &ev, "prev_comm"), "ksoftirqd", 9)) &&
				    (!live_int(&ev, "next_pid") ||
				     !strncmp(live_text(&lt, &ev, "next_comm"), "ksoftirqd", 9));
	}
	live_close(&lt);
	cr_expect_gt(switches, 0);
	cr_expect_eq(between_kthreads, 0);
}

static uint64_t stacks_of_recorder(const char *option)
{
	struct live_proc work;
	struct live_rec rec;
	uint32_t recorder;
	struct seen n;

	live_stimulus(&work, "spinner", "50", "200", NULL);

	live_record(&rec, "-a", "--switch-stacks", "user", "-m", "32M", option, NULL);
	recorder = rec.proc.pid;
	live_recording(&rec);
	live_go(&work);
	cr_assert_eq(live_stop(&rec), 0);
	live_end(&work);
	n = count_thread_events(rec.path, recorder, 0);
	cr_assert_gt(n.switches, 0);
	return n.samples + n.out_with_stack;
}

Test(select, recorder_is_excluded_unless_requested)
{
	cr_expect_eq(stacks_of_recorder(NULL), 0);
	cr_expect_gt(stacks_of_recorder("--include-self"), 0);
}
