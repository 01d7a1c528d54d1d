// SPDX-License-Identifier: BSD-2-Clause
/* Which events pass -p, -t, --comm, -C and --time, apart from what commands print of them. */
#include "run_cmd.h"

#include "cmd/select.h"

/* How many of the events that happened (10 of switches, wakings and samples) pass. */
static int pass(struct select_opts *o)
{
	struct trace_event ev;
	struct source *src;
	struct select sel;
	struct reader *r;
	struct make m;
	int n = 0;

	run_make_app(&m);
	cr_assert_eq(source_open_fd(make_file(&m), "t", &src), 0);
	cr_assert_eq(select_init(&sel, o), 0);
	cr_assert_eq(reader_new(src, READER_ONE_PASS, &r), 0);
	if (select_wants_scan(&sel))
		cr_assert_eq(select_scan(&sel, r), 0);
	while (reader_next(r, &ev) == 1) {
		select_see(&sel, r, &ev);
		if (ev.kind == TRACE_SAMPLE || ev.kind == TRACE_SCHED_SWITCH ||
		    ev.kind == TRACE_SCHED_WAKING)
			n += select_match(&sel, r, &ev);
	}
	select_fini(&sel);
	reader_free(r);
	make_fini(&m);
	return n;
}

static int pass_time(const char *time)
{
	struct select_opts o = { .time = time };

	return pass(&o);
}

Test(select, without_options_everything_passes)
{
	struct select_opts o = { 0 };

	cr_assert_eq(pass(&o), 11);
}

/* Thread 11: 2 samples, its switch with the stack, and the waking that another thread did. */
Test(select, a_thread_takes_in_what_others_do_to_it)
{
	uint32_t eleven = 11, ten = 10, nobody = 99;
	struct select_opts tid = { .tids = { &eleven, 1 } }, pid = { .pids = { &ten, 1 } },
			   none = { .pids = { &nobody, 1 } };

	cr_assert_eq(pass(&tid), 5);
	cr_assert_eq(pass(&pid), 11);
	cr_assert_eq(pass(&none), 0);
}

Test(select, by_name_and_cpu)
{
	const char *globs[] = { "po*", "nothing" };
	uint32_t cpus[] = { 1 };
	struct select_opts comm = { .comms = { globs, 2 } }, cpu = { .cpus = { cpus, 1 } };

	cr_assert_eq(pass(&comm), 5);
	cr_assert_eq(pass(&cpu), 8);
}

Test(select, times_absolute_relative_and_shares)
{
	cr_assert_eq(pass_time("11,11.005"), 6);
	cr_assert_eq(pass_time("11.0005,11.0049"), 4);
	cr_assert_eq(pass_time("13,"), 1);
	cr_assert_eq(pass_time(",11"), 1);
	cr_assert_eq(pass_time("+1,+1.004"), 5);
	cr_assert_eq(pass_time("25%,50%"), 7, "11 s to 12 s of 10 to 14");
	cr_assert_eq(pass_time("0%,100%"), 11);
	cr_assert_eq(pass_time("99999999,"), 0);
	cr_assert_eq(pass_time("11,11"), pass_time("11,11.0000005"));
	cr_assert_eq(pass_time("99999999,+1"), 0, "of two kinds: nobody can tell beforehand");
}

Test(select, nonsense_times_are_refused)
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
