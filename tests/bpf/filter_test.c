// SPDX-License-Identifier: BSD-2-Clause
/*
 * --filter compared with the kernel's own filters: of the same events, at the same time, and by the same
 * expression both must take as many, of a workload which also says itself how many that are.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "kernel/tracefs/tracefs.h"
#include "tests/bpf/support.h"

TestSuite(filter, .fini = live_cleanup);

/* ---- the kernel's side ------------------------------------------------------------------------- */

static char instance[64];
static int tracefs = -1;

static void put_file(const char *name, const char *text)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", instance, name);
	fd = openat(tracefs, path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	cr_assert_geq(fd, 0, "%s", path);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text), "%s: %s", path, text);
	close(fd);
}

/* A trace buffer of our own: other tracers' events and filters stay. */
static void make_instance(void)
{
	cr_assert_eq(tracefs_open(&tracefs), 0);
	snprintf(instance, sizeof(instance), "instances/d9-filter-%d", (int)getpid());
	cr_assert_eq(mkdirat(tracefs, instance, 0700), 0);
}

static void drop_instance(void)
{
	cr_assert_eq(unlinkat(tracefs, instance, AT_REMOVEDIR), 0);
	close(tracefs);
}

static void kernel_accepts(const char *event, const char *filter)
{
	const char *colon = strchr(event, ':');
	char name[128];

	snprintf(name, sizeof(name), "events/%.*s/%s/filter", (int)(colon - event), event,
		 colon + 1);
	put_file(name, filter);
	snprintf(name, sizeof(name), "events/%.*s/%s/enable", (int)(colon - event), event,
		 colon + 1);
	put_file(name, "1");
}

/* Only a process and its children: others execute programs of the same names. */
static void kernel_follows(pid_t pid)
{
	put_file("options/event-fork", "1");
	put_file("set_event_pid", live_number(pid));
}

static size_t kernel_accepted(const char *event)
{
	struct buf text = { 0 };
	char path[128], what[128];
	const char *at;
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/trace", instance);
	cr_assert_eq(tracefs_read(tracefs, path, &text), 0);
	/* system calls are shown by their own names */
	if (strstr(event, "sys_enter_"))
		snprintf(what, sizeof(what), ": sys_%s(", strstr(event, "sys_enter_") + 10);
	else
		snprintf(what, sizeof(what), ": %s: ", strchr(event, ':') + 1);
	for (at = buf_cstr(&text); (at = strstr(at, what)); at++)
		n++;
	buf_free(&text);
	return n;
}

/* ---- both -------------------------------------------------------------------------------------- */

struct taken {
	const char *event, *filter;
	int64_t truth; /* -1: as many as the kernel says */
	size_t ours, kernels;
};

#define TAKEN(of, by, cnt)                                                                         \
	{                                                                                          \
		.event = (of), .filter = (by), .truth = (cnt)                                      \
	}

enum { TRIES = 6 };

static void count_ours(const char *path, struct taken *t, size_t cnt)
{
	struct live_trace lt;
	struct trace_event ev;
	size_t i;

	live_open(&lt, path, false);
	cr_assert_eq(lt.produced, lt.written + lt.lost);
	cr_assert_eq(lt.ring_full, 0);
	while (live_event(&lt, &ev))
		for (i = 0; i < cnt; i++)
			t[i].ours += live_is(&ev, t[i].event);
	live_close(&lt);
}

/* One recording, of @of and @whom, or of the workload. */
static void record_with_both(struct taken *t, size_t cnt, const char *of, const char *target)
{
	const char *a[16] = { 0 };
	struct live_proc p;
	struct live_rec rec;
	size_t i, n = 0;

	make_instance();
	live_stimulus(&p, "filtered", NULL);
	if (!target)
		kernel_follows(p.pid);
	for (i = 0; i < cnt; i++) {
		kernel_accepts(t[i].event, t[i].filter);
		a[n++] = "-e";
		a[n++] = t[i].event;
		a[n++] = "--filter";
		a[n++] = t[i].filter;
	}
	cr_assert_leq(n, 12);
	live_record(&rec, "-m", "16M", "--no-samples", of, target ? target : live_number(p.pid),
		    a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], NULL);
	live_recording(&rec);
	live_go(&p);
	cr_assert_eq(live_stop(&rec), 0);
	/* what is read while it is written may skip lines */
	put_file("events/enable", "0");
	count_ours(rec.path, t, cnt);
	for (i = 0; i < cnt; i++) {
		t[i].kernels = kernel_accepted(t[i].event);
		if (t[i].truth >= 0)
			cr_expect_eq(t[i].ours, (size_t)t[i].truth, "%s, %s: %zu", t[i].event,
				     t[i].filter, t[i].ours);
	}
	drop_instance();
	live_end(&p);
}

static bool are_equal(const struct taken *t, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (t[i].ours != t[i].kernels)
			return false;
	return true;
}

/* Some machines hide a switch or a wakeup from one tracer or the other: equal once is proof enough. */
static void record_until_equal(struct taken *t, size_t cnt, const char *of, const char *target)
{
	int tries = 0;

	record_with_both(t, cnt, of, target);
	while (!are_equal(t, cnt)) {
		cr_assert_lt(++tries, TRIES, "%s: %zu, the kernel %zu", t[0].filter, t[0].ours,
			     t[0].kernels);
		for (size_t i = 0; i < cnt; i++)
			t[i].ours = 0;
		record_with_both(t, cnt, of, target);
	}
}

Test(filter, filter_accepts_the_same_events_of_any_tracepoint_as_the_kernel)
{
	struct taken t[] = {
		/* numbers without a sign, of 8 bytes; even ones from 40 to 58, and 199 */
		TAKEN("syscalls:sys_enter_getpriority",
		      "comm ~ \"turn-*\" && (who >= 40 && who < 60 && !(who & 1) || who == 0xc7)",
		      11),
		/* names in place: to turn-2, 3, 4, and from turn-7 */
		TAKEN("task:task_rename", "newcomm ~ \"turn-[2-4]\" || oldcomm == \"turn-7\"", 80),
		/* text after the record */
		TAKEN("sched:sched_process_exec", "filename ~ \"/bin/tr?e\" && COMM == \"true\"",
		      3),
	};

	record_until_equal(t, 3, "-p", NULL);
}

Test(filter, filter_accepts_the_same_scheduler_events_as_the_kernel)
{
	struct taken t[] = {
		/* each turn sleeps once, unless its timer fires before it is off its CPU */
		TAKEN("sched:sched_switch", "prev_comm ~ \"turn-[56]\" && prev_state == 1", -1),
		TAKEN("sched:sched_waking", "comm == \"turn-8\" && prio <= 120", -1),
		TAKEN("sched:sched_wakeup_new", "comm ~ \"turn-*\"", -1),
	};

	record_until_equal(t, 3, "-p", NULL);
	cr_expect_geq(t[0].ours, 20);
	cr_expect_leq(t[0].ours, 40);
	cr_expect_geq(t[1].ours, 10);
	cr_expect_leq(t[1].ours, 20);
	cr_expect_geq(t[2].ours, 1);
	cr_expect_leq(t[2].ours, 3);
}

/* The same without stacks, in the records' short way to the ring, and with everybody a target. */
Test(filter, filter_accepts_the_same_events_with_all_cpus)
{
	struct taken t[] = {
		/*
		 * Not of the last name, which it has when the recording ends; not from an idle CPU: the kernel's
		 * capture may lack all switches of one idle thread.
		 */
		TAKEN("sched:sched_switch",
		      "(prev_comm ~ \"turn-[0-8]\" && prev_state != 0) || (next_comm == \"turn-0\" && prev_pid != 0)",
		      -1),
		TAKEN("sched:sched_waking", "comm ~ \"turn-*\" && !(comm ~ \"turn-[89]\")", -1),
	};

	record_until_equal(t, 2, "--switch-stacks=none", "-a");
	cr_expect_geq(t[0].ours, 100);
	cr_expect_geq(t[1].ours, 80);
}

/* ---- mistakes ---------------------------------------------------------------------------------- */

static void expect_filter_error(const char *event, const char *filter, const char *want)
{
	const char *args[] = {
		"-a", "-d", "1", "-e", event, "--filter", filter, "-o", live_path("no"), NULL
	};
	struct live_proc p;
	struct buf output;

	cr_expect_eq(live_run(&p, args, NULL), 2);
	output = live_errors(&p);
	cr_expect_str_eq(buf_cstr(&output), want);
	buf_free(&output);
	live_proc_fini(&p);
	cr_expect_neq(access(live_path("no"), F_OK), 0);
}

Test(filter, filter_that_does_not_fit_the_event_is_refused_at_the_start)
{
	expect_filter_error(
		"task:task_rename", "name == 3",
		"dial9-prof: record: filter 'name == 3' of task:task_rename: task:task_rename has no field 'name'; "
		"it has pid, oldcomm, newcomm, oom_score_adj, common_pid, CPU and COMM\n");
	expect_filter_error(
		"sched:sched_switch", "prev_pid == init",
		"dial9-prof: record: filter 'prev_pid == init' of sched:sched_switch: 'prev_pid' is a number of 4 "
		"bytes, signed: 'init' is none\n");
}

/* Readers know by one key, and by no other. */
static void expect_filter_in(const char *path, const char *key)
{
	static const char *const keys[] = { PROF_META_SWITCH_FILTER, PROF_META_WAKING_FILTER };
	struct live_trace lt;
	const char *value;

	live_open(&lt, path, false);
	for (size_t i = 0; i < 2; i++) {
		value = names_meta(lt.names, 0, keys[i]);
		if (strcmp(keys[i], key))
			cr_expect_null(value, "%s: %s", keys[i], value);
		else
			cr_expect_str_eq(value, "CPU < 9999");
	}
	live_close(&lt);
}

/* What remains of the switches is not what threads did. */
Test(filter, filter_on_switches_prints_a_warning)
{
	static const char *const events[] = { "sched:sched_switch", "sched:sched_waking" };
	struct live_proc p;
	struct buf output;

	for (size_t i = 0; i < 2; i++) {
		const char *args[] = { "-p",	   live_number(getpid()),
				       "-d",	   "0.1",
				       "-e",	   events[i],
				       "--filter", "CPU < 9999",
				       "-o",	   live_path("trace"),
				       NULL };

		cr_expect_eq(live_run(&p, args, NULL), 0);
		output = live_errors(&p);
		cr_expect_eq(!strstr(buf_cstr(&output), "--filter drops switches"), i > 0, "%s",
			     buf_cstr(&output));
		buf_free(&output);
		live_proc_fini(&p);
		expect_filter_in(live_path("trace"),
				 i ? PROF_META_WAKING_FILTER : PROF_META_SWITCH_FILTER);
	}
}

Test(filter, last_pattern_that_names_an_event_decides_its_filter)
{
	struct live_proc p;
	struct live_rec rec;
	struct taken t = { .event = "task:task_rename" };

	live_stimulus(&p, "filtered", NULL);
	live_record(&rec, "-p", live_number(p.pid), "--no-samples", "-e", "task:task_rename",
		    "--filter", "newcomm == turn-1", "-e", "task:*rename", NULL);
	live_recording(&rec);
	live_go(&p);
	cr_assert_eq(live_stop(&rec), 0);
	count_ours(rec.path, &t, 1);
	cr_expect_eq(t.ours, 203, "%zu", t.ours);
	live_end(&p);
}
