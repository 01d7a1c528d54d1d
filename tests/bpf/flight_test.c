// SPDX-License-Identifier: BSD-2-Clause
/*
 * The flight recorder: nothing is written until something asks for it, and then all of the last seconds, each
 * event once, with names, and with who asked.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/proc.h"
#include "profile/sched/intervals.h"
#include "tests/bpf/control.h"
#include "tests/bpf/support.h"

TestSuite(flight, .fini = live_cleanup);

#define MS 1000000ULL

enum { LONG_NAP_US = 300000, KILLS = 8, FIRST_NUMBER = 1000000 };

static const char *file_of(const struct live_rec *rec, unsigned int number, const char *end)
{
	static struct buf path;

	buf_clear(&path);
	buf_printf(&path, "%s.%u.bin%s", rec->path, number, end);
	return buf_cstr(&path);
}

static bool is_there(const char *path)
{
	struct stat st;

	return !stat(path, &st);
}

/* Until the file has its last name, and so is complete. */
static void wait_for(struct live_rec *rec, unsigned int number, const char *end)
{
	const struct timespec step = { .tv_nsec = MS };
	struct buf text;

	while (!is_there(file_of(rec, number, end))) {
		if (waitpid(rec->proc.pid, NULL, WNOHANG) == rec->proc.pid) {
			text = live_errors(&rec->proc);
			cr_assert_fail("the recorder ended: %s", buf_cstr(&text));
		}
		nanosleep(&step, NULL);
	}
}

static void let_go(struct live_proc *p)
{
	cr_assert_eq(write(p->in, "\n", 1), 1);
}

/* ---- what is in a file --------------------------------------------------------------------------- */

struct seen {
	uint32_t tid, other; /* whose switches are read */
	uint64_t switches, out, stacks, named; /* of all; of that one */
	uint64_t other_out; /* of the other one */
	uint64_t first_ns, last_ns; /* of switches */
	bool meta, synced, task;
	long next; /* number */
	uint64_t numbers;
	uint64_t triggers;
	char reason[32], event[64];
	uint64_t trigger_ns, long_ns;
	uint32_t trigger_tid;
	uint64_t holes, hole_from, hole_to;
};

static void add_trigger(struct seen *s, const struct live_trace *lt, const struct trace_event *ev)
{
	s->triggers++;
	snprintf(s->reason, sizeof(s->reason), "%s", live_text(lt, ev, PROF_F_REASON));
	snprintf(s->event, sizeof(s->event), "%s", live_text(lt, ev, PROF_F_EVENT));
	s->trigger_ns = ev->ts;
	s->trigger_tid = (uint32_t)live_int(ev, PROF_F_TID);
	s->long_ns = (uint64_t)live_int(ev, PROF_F_DURATION_NS);
}

static void add_event(struct seen *s, const struct live_trace *lt, const struct trace_event *ev)
{
	s->meta |= live_is(ev, PROF_EV_METADATA);
	s->synced |= ev->kind == TRACE_CLOCK_SYNC;
	s->task |= ev->kind == TRACE_TASK && ev->tid == s->tid;
	if (live_is(ev, PROF_EV_TRIGGER))
		add_trigger(s, lt, ev);
	if (live_is(ev, PROF_EV_LOST) &&
	    !strcmp(live_text(lt, ev, PROF_F_KIND), PROF_LOST_NOT_KEPT)) {
		s->holes++;
		s->hole_from = (uint64_t)live_int(ev, PROF_F_FIRST_NS);
		s->hole_to = (uint64_t)live_int(ev, PROF_F_LAST_NS);
	}
	if (ev->kind == TRACE_SCHED_SWITCH) {
		s->switches++;
		s->out += live_int(ev, PROF_F_PREV_PID) == s->tid;
		s->other_out += live_int(ev, PROF_F_PREV_PID) == s->other;
		if (!s->first_ns)
			s->first_ns = ev->ts;
		s->last_ns = ev->ts;
	}
	if (ev->kind == TRACE_SAMPLE && ev->source == PROF_SOURCE_SWITCH_OUT && ev->tid == s->tid) {
		s->stacks++;
		s->named += live_stack_has(lt, ev, "main");
	}
	if (live_is(ev, "syscalls:sys_enter_close") && live_int(ev, "fd") >= FIRST_NUMBER) {
		if (s->next)
			cr_assert_eq(live_int(ev, "fd"), s->next, "none is missing or doubled");
		s->next = live_int(ev, "fd") + 1;
		s->numbers++;
	}
}

/* What it has is added to what was seen of others, but for what a file has once. */
static void read_flight(const char *path, struct seen *s)
{
	struct trace_event ev;
	struct live_trace lt;

	s->meta = s->synced = s->task = false;
	s->triggers = s->first_ns = 0;
	live_open(&lt, path, false);
	while (live_event(&lt, &ev))
		add_event(s, &lt, &ev);
	live_close(&lt);
	cr_expect(s->meta && s->synced && s->task, "%s does not say everything", path);
}

/* ---- */

Test(flight, long_sleep_is_caught_once_with_its_stack_and_files_share_no_event)
{
	struct live_proc shorts, victim;
	struct live_control control;
	struct live_switches before, after;
	struct seen s = { 0 };
	struct live_rec rec;
	char pids[64];
	uint64_t out, last;

	live_control(&control);
	live_stimulus(&shorts, "sleeper", "300", "1000", NULL);
	live_stimulus(&victim, "sleeper", "1", "300000", NULL);
	s.tid = (uint32_t)victim.pid;
	s.other = (uint32_t)shorts.pid;
	snprintf(pids, sizeof(pids), "%d,%d", shorts.pid, victim.pid);
	live_record(&rec, "-p", pids, "--flight", "30s,64M", "--trigger-latency", "offcpu>200ms",
		    "--control", control.spec, NULL);
	live_request(&control, "ping");
	live_read_switches(shorts.pid, &before);
	live_go(&shorts);
	live_read_switches(shorts.pid, &after);
	cr_expect(!is_there(file_of(&rec, 0, "")) && !is_there(file_of(&rec, 0, ".active")));
	live_go(&victim);
	wait_for(&rec, 0, "");
	live_request(&control, "stop");
	cr_assert_eq(live_finish(&rec), 0);
	live_end(&shorts);
	live_end(&victim);
	read_flight(file_of(&rec, 0, ""), &s);
	cr_assert_eq(s.triggers, 1);
	cr_expect_str_eq(s.reason, PROF_TRIGGER_OFFCPU);
	cr_expect_eq(s.trigger_tid, s.tid);
	cr_expect_geq(s.long_ns, LONG_NAP_US * 1000ULL);
	cr_expect_geq(s.out, 1);
	cr_expect_geq(s.stacks, 1);
	cr_expect_eq(s.named, s.stacks);
	out = s.out;
	last = s.last_ns;
	cr_expect_eq(s.other_out,
		     after.voluntary - before.voluntary + after.involuntary - before.involuntary,
		     "%d", (int)s.other_out);
	read_flight(file_of(&rec, 1, ""), &s);
	cr_assert_eq(s.triggers, 1);
	cr_expect_str_eq(s.reason, PROF_TRIGGER_END);
	cr_expect(!s.first_ns || s.first_ns > last, "nothing is written twice");
	cr_expect_leq(s.out, out + 1);
	cr_expect(!is_there(file_of(&rec, 2, "")));
	live_control_fini(&control);
}

Test(flight, each_signal_writes_the_events_since_the_last_and_each_file_has_symbols)
{
	struct seen s = { 0 };
	struct live_control control;
	struct live_proc numbers;
	struct live_rec rec;
	unsigned int i;

	live_control(&control);
	live_stimulus(&numbers, "numbers", "2", NULL);
	live_record(&rec, "-p", live_number(numbers.pid), "-e", "syscalls:sys_enter_close",
		    "--flight", "60s", "-z", "--control", control.spec, NULL);
	live_request(&control, "ping");
	let_go(&numbers);
	for (i = 0; i < 3; i++) {
		kill(rec.proc.pid, SIGUSR2);
		wait_for(&rec, i, ".gz");
	}
	live_go(&numbers);
	live_request(&control, "snapshot");
	wait_for(&rec, 3, ".gz");
	cr_assert_eq(live_stop(&rec), 0);
	s.tid = (uint32_t)numbers.pid;
	s.next = FIRST_NUMBER;
	for (i = 0; i < 4; i++) {
		read_flight(file_of(&rec, i, ".gz"), &s);
		cr_expect_eq(s.triggers, 1);
		cr_expect_str_eq(s.reason, i < 3 ? PROF_TRIGGER_SIGNAL : PROF_TRIGGER_CONTROL);
	}
	cr_expect_eq(s.numbers, live_truth(&numbers, "count"));
	cr_expect_gt(s.stacks, 10);
	cr_expect_eq(s.named, s.stacks);
	live_end(&numbers);
	live_control_fini(&control);
}

Test(flight, number_of_snapshots_stays_within_its_limit)
{
	struct live_control control;
	struct live_proc numbers;
	struct buf output, wanted = { 0 };
	struct live_rec rec;
	unsigned int i;

	live_control(&control);
	live_stimulus(&numbers, "numbers", "2", NULL);
	live_record(&rec, "-p", live_number(numbers.pid), "-e", "syscalls:sys_enter_close",
		    "--flight", "60s", "--switch-max-files", "2", "--control", control.spec, "-v",
		    "--progress", NULL);
	live_request(&control, "ping");
	let_go(&numbers);
	for (i = 0; i < 3; i++) {
		kill(rec.proc.pid, SIGUSR2);
		wait_for(&rec, i, "");
	}
	cr_expect(!is_there(file_of(&rec, 0, "")));
	cr_expect(is_there(file_of(&rec, 1, "")) && is_there(file_of(&rec, 2, "")));
	live_go(&numbers);
	kill(rec.proc.pid, SIGINT);
	cr_assert_eq(live_wait(&rec.proc), 0);
	live_end(&numbers);
	live_control_fini(&control);
	/* each is recorded, with its name */
	output = live_errors(&rec.proc);
	live_proc_fini(&rec.proc);
	buf_printf(&wanted, "record: %s is complete\n", file_of(&rec, 0, ""));
	cr_expect(strstr(buf_cstr(&output), buf_cstr(&wanted)), "%s", buf_cstr(&output));
	buf_clear(&wanted);
	buf_printf(&wanted, "  written to %s.N.bin; next: dial9-prof report %s\n", rec.path,
		   rec.path);
	cr_expect(strstr(buf_cstr(&output), buf_cstr(&wanted)), "%s", buf_cstr(&output));
	buf_free(&output);
	buf_free(&wanted);
}

Test(flight, event_that_passes_its_filter_is_a_trigger_and_later_events_are_there)
{
	struct seen s = { 0 };
	struct live_proc numbers;
	struct live_control control;
	struct live_rec rec;
	struct buf text;

	live_control(&control);
	live_stimulus(&numbers, "numbers", "1", NULL);
	live_record(&rec, "-p", live_number(numbers.pid), "--flight", "60s", "--trigger",
		    "syscalls:sys_enter_close/fd == 1000200/", "--post", "300ms", "--control",
		    control.spec, NULL);
	live_request(&control, "ping");
	let_go(&numbers);
	wait_for(&rec, 0, "");
	live_go(&numbers);
	cr_assert_eq(live_stop(&rec), 0);
	s.tid = (uint32_t)numbers.pid;
	read_flight(file_of(&rec, 0, ""), &s);
	cr_assert_eq(s.triggers, 1);
	cr_expect_str_eq(s.reason, PROF_TRIGGER_EVENT);
	cr_expect_str_eq(s.event, "syscalls:sys_enter_close");
	cr_expect_eq(s.trigger_tid, s.tid);
	cr_expect_eq(s.numbers, 1, "the filter holds for what is recorded");
	cr_expect_eq(s.next, FIRST_NUMBER + 201);
	cr_expect_gt(s.last_ns, s.trigger_ns + 100 * MS);
	read_flight(file_of(&rec, 1, ""), &s);
	cr_expect_str_eq(s.reason, PROF_TRIGGER_END);
	cr_expect_eq(s.numbers, 1);
	text = live_output((const char *const[]){ "info", file_of(&rec, 0, ""), NULL });
	cr_expect(strstr(text.data, "\ntrigger         event syscalls:sys_enter_close of thread "),
		  "%s", text.data);
	buf_free(&text);
	live_end(&numbers);
	live_control_fini(&control);
}

Test(flight, events_dropped_between_two_snapshots_are_reported_in_the_second)
{
	/* what is kept grows old */
	const struct timespec age = { .tv_sec = 2, .tv_nsec = 500000000 };
	struct seen s = { 0 };
	struct live_proc numbers;
	struct live_control control;
	struct live_rec rec;
	uint64_t last;

	live_control(&control);
	live_stimulus(&numbers, "numbers", "2", NULL);
	live_record(&rec, "-p", live_number(numbers.pid), "--flight", "1s", "--control",
		    control.spec, NULL);
	s.tid = (uint32_t)numbers.pid;
	live_request(&control, "ping");
	let_go(&numbers);
	live_request(&control, "snapshot");
	wait_for(&rec, 0, "");
	nanosleep(&age, NULL);
	live_request(&control, "snapshot");
	wait_for(&rec, 1, "");
	cr_assert_eq(live_stop(&rec), 0);
	live_go(&numbers);
	live_end(&numbers);
	read_flight(file_of(&rec, 0, ""), &s);
	cr_expect_eq(s.holes, 0);
	last = s.last_ns;
	read_flight(file_of(&rec, 1, ""), &s);
	cr_assert_eq(s.holes, 1);
	cr_expect_lt(last, s.hole_from + MS);
	cr_expect_lt(s.hole_from, s.first_ns);
	cr_expect_lt(s.first_ns, s.hole_to + 1000 * MS);
	cr_expect_gt(s.hole_to - s.hole_from, 500 * MS);
	live_control_fini(&control);
}

/* ---- waits for a CPU ----------------------------------------------------------------------------- */

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		_exit(1);
}

static void start_pinned(struct live_proc *p, const char *name, const char *arg, const char *second)
{
	const char *const argv[] = { live_built(name), arg, second, NULL };

	live_spawn(p, argv, pin);
	live_read_until(p, "ready");
}

struct wait {
	uint32_t tid;
	uint64_t end_ns, ns; /* of the trigger */
	bool found;
};

static void add_runnable_interval(void *ctx, const struct interval *i)
{
	struct wait *w = ctx;
	const uint64_t ns = i->end - i->start;
	const int64_t late = (int64_t)(i->end - w->end_ns), more = (int64_t)(ns - w->ns);

	w->found |= i->tid == w->tid && i->state == INTERVAL_RUNNABLE && llabs(late) < 1000000 &&
		    llabs(more) < 1000000;
}

Test(flight, long_run_queue_latency_is_a_trigger_and_is_in_the_trace)
{
	struct live_proc hog, waiter;
	struct live_control control;
	struct seen s = { 0 };
	struct trace_event ev;
	struct intervals *iv;
	struct live_trace lt;
	struct live_rec rec;
	struct wait w;

	live_control(&control);
	start_pinned(&hog, "stimuli/spinner", "70", "1000000");
	start_pinned(&waiter, "stimuli/waiter", "2000", "500");
	s.tid = (uint32_t)waiter.pid;
	live_record(&rec, "-p", live_number(waiter.pid), "--flight", "30s", "--trigger-latency",
		    "runq>500us", "--rearm", "1h", "--control", control.spec, NULL);
	live_request(&control, "ping");
	let_go(&hog);
	let_go(&waiter);
	wait_for(&rec, 0, "");
	cr_assert_eq(live_stop(&rec), 0);
	live_kill(&hog);
	live_kill(&waiter);
	read_flight(file_of(&rec, 0, ""), &s);
	cr_assert_eq(s.triggers, 1);
	cr_expect_str_eq(s.reason, PROF_TRIGGER_RUNQ);
	cr_expect_eq(s.trigger_tid, s.tid);
	cr_expect_gt(s.long_ns, 500000);
	w = (struct wait){ .tid = s.tid, .end_ns = s.trigger_ns, .ns = s.long_ns };
	live_open(&lt, file_of(&rec, 0, ""), false);
	iv = intervals_new(&(struct intervals_opts){ lt.names, add_runnable_interval, &w });
	while (live_event(&lt, &ev))
		intervals_add(iv, lt.trace, &ev);
	intervals_finish(iv);
	intervals_free(iv);
	live_close(&lt);
	cr_expect(w.found, "a wait of %llu ns that ends at %llu", (unsigned long long)w.ns,
		  (unsigned long long)w.end_ns);
	cr_expect(!is_there(file_of(&rec, 2, "")), "not armed again within the hour");
	live_control_fini(&control);
}

/* ---- what a killed recorder leaves ----------------------------------------------------------------- */

/* Complete files are whole; others have a name that says that they are not. */
static unsigned int check_left(void)
{
	DIR *dir = opendir(live_dir());
	unsigned int complete = 0;
	struct live_trace lt;
	struct dirent *ent;
	size_t len;

	while ((ent = readdir(dir))) {
		len = strlen(ent->d_name);
		cr_expect(!strstr(ent->d_name, ".active."), "%s", ent->d_name);
		if (len < 4 || strcmp(ent->d_name + len - 4, ".bin") != 0)
			continue;
		live_open(&lt, live_path(ent->d_name), false);
		cr_expect_eq(lt.outcome, 0, "%s is torn", ent->d_name);
		live_close(&lt);
		unlink(live_path(ent->d_name));
		complete++;
	}
	closedir(dir);
	return complete;
}

Test(flight, killed_flight_recorder_leaves_no_partial_file)
{
	struct live_control control;
	struct live_proc numbers;
	struct live_rec rec;
	unsigned int i, complete = 0;

	live_stimulus(&numbers, "numbers", "2", NULL);
	let_go(&numbers);
	for (i = 0; i < KILLS; i++) {
		const struct timespec nap = { .tv_nsec = (long)(i * 37 % 100 * MS) };

		live_control(&control);
		live_record(&rec, "-p", live_number(numbers.pid), "--flight", "1s", "--control",
			    control.spec, NULL);
		live_request(&control, "ping");
		if (i % 2)
			live_request(&control, "snapshot");
		if (i % 4 == 3)
			wait_for(&rec, 0, "");
		nanosleep(&nap, NULL);
		kill(rec.proc.pid, SIGKILL);
		cr_expect_eq(live_wait(&rec.proc), 128 + SIGKILL);
		live_proc_fini(&rec.proc);
		complete += check_left();
		live_control_fini(&control);
	}
	cr_expect_geq(complete, KILLS / 4);
	live_go(&numbers);
	live_end(&numbers);
}

/* ---- the recorder itself ------------------------------------------------------------------------- */

enum { HELPERS_MAX = 64, GENERATIONS = 2 };

/* Whether a process is a child or grandchild of the recorder, while both live. */
static bool is_helper(pid_t pid, pid_t recorder)
{
	struct proc_status status;

	for (int i = 0; i < GENERATIONS; i++) {
		if (proc_read_status(pid, &status))
			return false;
		pid = status.ppid;
		if (pid == recorder)
			return true;
	}
	return false;
}

static size_t find_helpers(pid_t recorder, uint32_t *pids)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	size_t cnt = 0;

	cr_assert(dir);
	while ((entry = readdir(dir)) && cnt < HELPERS_MAX)
		if (is_helper(atoi(entry->d_name), recorder))
			pids[cnt++] = (uint32_t)atoi(entry->d_name);
	closedir(dir);
	return cnt;
}

/* Whether one of these asked for a snapshot; other recorders may, too. */
static bool requested(const char *path, const uint32_t *pids, size_t cnt)
{
	struct trace_event ev;
	struct live_trace lt;
	bool found = false;

	live_open(&lt, path, false);
	while (live_event(&lt, &ev))
		for (size_t i = 0; i < cnt && live_is(&ev, PROF_EV_TRIGGER); i++)
			found |= live_int(&ev, PROF_F_TID) == pids[i];
	live_close(&lt);
	return found;
}

/* Records helpers only. They wait for work, longer than the trigger allows. */
static bool helpers_trigger(const char *option, bool wait)
{
	struct live_control control;
	uint32_t pids[HELPERS_MAX];
	struct live_rec rec;
	bool found = false;
	size_t cnt;

	live_control(&control);
	live_record(&rec, "-a", "--comm", "d9-*", "--flight", "30s,64M", "--trigger-latency",
		    "offcpu>1ms", "--rearm", "0", "-d", wait ? "1h" : "4", "--control",
		    control.spec, option, NULL);
	live_request(&control, "ping");
	cnt = find_helpers(rec.proc.pid, pids);
	cr_assert_gt(cnt, 2);
	if (wait)
		wait_for(&rec, 0, "");
	cr_assert_eq(wait ? live_stop(&rec) : live_finish(&rec), 0);
	for (unsigned int i = 0; is_there(file_of(&rec, i, "")); i++)
		found |= requested(file_of(&rec, i, ""), pids, cnt);
	live_control_fini(&control);
	return found;
}

Test(flight, recorder_and_its_helpers_are_no_trigger)
{
	cr_expect(!helpers_trigger(NULL, false));
}

Test(flight, recorder_is_a_trigger_with_include_self)
{
	cr_expect(helpers_trigger("--include-self", true));
}

/* As a container's first process starts it: the program is a child of the recorder, and waits. */
Test(flight, child_forked_before_the_recording_is_a_trigger)
{
	static const char script[] =
		"me=$$; while kill -0 $me 2>/dev/null; do sleep 0.2; done & exec \"$@\" -p $!";
	struct live_proc proc;
	bool found = false;
	struct live_trace lt;
	struct trace_event ev;

	live_spawn(&proc,
		   (const char *[]){ "/bin/sh", "-c", script, "sh", live_program(), "record",
				     "--flight", "30s,64M", "--trigger-latency", "offcpu>100ms",
				     "-d", "2", "-q", "-o", live_path("child"), NULL },
		   NULL);
	cr_assert_eq(live_wait(&proc), 0);
	live_proc_fini(&proc);
	live_open(&lt, live_path("child.0.bin"), false);
	while (live_event(&lt, &ev))
		found |= live_is(&ev, PROF_EV_TRIGGER) &&
			 !strcmp(live_text(&lt, &ev, PROF_F_REASON), PROF_TRIGGER_OFFCPU);
	live_close(&lt);
	cr_expect(found);
}
