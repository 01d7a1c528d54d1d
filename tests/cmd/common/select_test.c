// SPDX-License-Identifier: BSD-2-Clause
/* Which events pass -p, -t, --comm, -C and --time, independent of the output of commands. */
#include "tests/cmd/run_cmd.h"

#include "cmd/common/select.h"

/* How many of the events (switches, wakeups and samples) pass. */
static int pass_of(struct make *m, struct select_opts *o)
{
	struct trace_event ev;
	struct source *src;
	struct select sel;
	struct reader *r;
	int n = 0;

	cr_assert_eq(source_open_fd(make_file(m), "t", &src), 0);
	cr_assert_eq(select_init(&sel, o), 0);
	cr_assert_eq(reader_new(src, READER_ONE_PASS, &r), 0);
	if (select_wants_scan(&sel))
		cr_assert_eq(select_scan(&sel, r), 0);
	while (reader_next(r, &ev) == 1) {
		select_observe(&sel, r, &ev);
		if (ev.kind == TRACE_SAMPLE || ev.kind == TRACE_SCHED_SWITCH ||
		    ev.kind == TRACE_SCHED_WAKING)
			n += select_match(&sel, r, &ev);
	}
	select_fini(&sel);
	reader_free(r);
	return n;
}

static int pass(struct select_opts *o)
{
	struct make m;
	int n;

	run_make_app(&m);
	n = pass_of(&m, o);
	make_fini(&m);
	return n;
}

static int pass_time(const char *time)
{
	struct select_opts o = { .time = time };

	return pass(&o);
}

Test(select, all_events_pass_without_options)
{
	struct select_opts o = { 0 };

	cr_assert_eq(pass(&o), 11);
}

/* Thread 11: 2 samples, its switch with the stack, and its wakeup by another thread. */
Test(select, thread_selection_includes_events_that_others_cause)
{
	uint32_t eleven = 11, ten = 10, nobody = 99;
	struct select_opts tid = { .tids = { &eleven, 1 } }, pid = { .pids = { &ten, 1 } },
			   none = { .pids = { &nobody, 1 } };

	cr_assert_eq(pass(&tid), 5);
	cr_assert_eq(pass(&pid), 11);
	cr_assert_eq(pass(&none), 0);
}

Test(select, events_are_selected_by_name_and_cpu)
{
	const char *globs[] = { "po*", "nothing" };
	uint32_t cpus[] = { 1 };
	struct select_opts comm = { .comms = { globs, 2 } }, cpu = { .cpus = { cpus, 1 } };

	cr_assert_eq(pass(&comm), 5);
	cr_assert_eq(pass(&cpu), 8);
}

static int pass_cgroup(struct make *m, const char *glob)
{
	struct select_opts o = { .cgroups = { &glob, 1 } };

	return pass_of(m, &o);
}

/* 1 sample of thread 5, 2 of thread 6, 4 of thread 7, 8 of an unannounced thread, which wakes thread 7. */
Test(select, events_are_selected_by_cgroup_and_its_ancestors)
{
	const uint64_t at = make_frame(1, 0x10);
	struct make m;

	make_init(&m, NULL);
	make_task_in(&m, 1, 5, 5, "a", "/system.slice/web.service");
	make_task_in(&m, 1, 6, 6, "b", "/system.slice/web.service/worker");
	make_task_in(&m, 1, 7, 7, "c", "/user.slice/web");
	for (int i = 0; i < 15; i++) {
		uint32_t tid = i < 1 ? 5 : i < 3 ? 6 : i < 7 ? 7 : 8;

		make_sample(&m, 2, tid, tid, PROF_SOURCE_SAMPLE, 0, &at, 1);
	}
	make_waking(&m, 3, 0, 8, "c", 7);
	cr_expect_eq(pass_cgroup(&m, "/system.slice/web.service"), 3);
	cr_expect_eq(pass_cgroup(&m, "system.slice/web.service"), 3, "without the slash");
	cr_expect_eq(pass_cgroup(&m, "web.service"), 3, "by its own name");
	cr_expect_eq(pass_cgroup(&m, "worker"), 2);
	cr_expect_eq(pass_cgroup(&m, "*.slice"), 8);
	cr_expect_eq(pass_cgroup(&m, "user*"), 5);
	cr_expect_eq(pass_cgroup(&m, "web"), 5);
	cr_expect_eq(pass_cgroup(&m, "we"), 0);
	make_fini(&m);
}

Test(select, times_may_be_absolute_relative_or_percentages)
{
	cr_assert_eq(pass_time("11,11.005"), 6);
	cr_assert_eq(pass_time("11.0005,11.0049"), 4);
	cr_assert_eq(pass_time("13,"), 1);
	cr_assert_eq(pass_time(",11"), 1);
	cr_assert_eq(pass_time("+1,+1.004"), 5);
	cr_assert_eq(pass_time("1s,1004ms"), 5, "with a unit they count from the start");
	cr_assert_eq(pass_time("+1s,1004000us"), 5);
	cr_assert_eq(pass_time(",1004999999ns"), 5);
	cr_assert_eq(pass_time("25%,50%"), 7, "11 s to 12 s of 10 to 14");
	cr_assert_eq(pass_time("0%,100%"), 11);
	cr_assert_eq(pass_time("99999999,"), 0);
	cr_assert_eq(pass_time("11,11"), pass_time("11,11.0000005"));
	cr_assert_eq(pass_time("99999999,+1"), 0, "of two kinds: nobody can tell beforehand");
}

Test(select, invalid_times_are_refused)
{
	static const char *const bad[] = { "x,",
					   "1,y",
					   "101%,",
					   "1 ,2",
					   "-1,",
					   "+,",
					   "1:2,",
					   "24:00:00,",
					   "1:60:00",
					   "1.5:00:00,",
					   "1%%",
					   "1e3,2",
					   "5,1",
					   "5ss,",
					   "5m,",
					   "5s%,",
					   "2s,1500ms",
					   "+5,+4.999",
					   "50%,10%",
					   "12:00:01,12:00:00",
					   "99999999999999999999," };
	int fd = open("/dev/null", O_WRONLY);
	struct select sel;

	dup2(fd, 2);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct select_opts o = { .time = bad[i] };

		cr_assert_eq(select_init(&sel, &o), -EINVAL, "%s", bad[i]);
	}
	close(fd);
}

/*
 * One turn on a CPU: a shell, then a script's interpreter, then the interpreter's script; each is named
 * before its exec.
 */
Test(select, time_before_an_exec_belongs_to_the_program_before)
{
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_task(&m, RUN_SEC, 6, 6, "shell");
	make_switch(&m, 2 * RUN_SEC, 0, "swapper/0", 0, 0, "shell", 6);
	make_task(&m, 3 * RUN_SEC, 6, 6, "env");
	make_exec(&m, 3 * RUN_SEC, 6, 6);
	make_task(&m, 5 * RUN_SEC, 6, 6, "python");
	make_exec(&m, 5 * RUN_SEC, 6, 6);
	make_switch(&m, 9 * RUN_SEC, 0, "python", 6, 1, "swapper/0", 0);
	r = run_cmd(cmd_report, make_file(&m), "report", "-s", "comm,pid", "-", NULL);
	run_expect_in(r.out, "    57.14%        0     4.000  python  6\n"
			     "    28.57%        0     2.000  env     6\n"
			     "    14.29%        0     1.000  shell   6\n");
	run_free(&r);
	r = run_cmd(cmd_report, make_file(&m), "report", "-s", "comm", "--comm", "env", "--time",
		    "4,6", "-", NULL);
	run_expect_in(r.out, "   100.00%        0     1.000  env\n");
	run_free(&r);
	make_fini(&m);
}
