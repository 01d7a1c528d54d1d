// SPDX-License-Identifier: BSD-2-Clause
/* Which threads a recording followed, from its recorded targets and from forks and execs. */
#include "profile/sched/target_threads.h"

#include <criterion/criterion.h>

#include "tests/support/read_trace.h"

TestSuite(target_threads, .timeout = 60);

static void make_begin(struct make *m, const char *target, const char *key, const char *value)
{
	const char *const kv[] = { "target", target, key, value, NULL };

	make_init(m, NULL);
	make_metadata(m, 1, kv);
}

static void read_all(struct make *m, struct target_threads *f)
{
	struct trace_event ev;
	struct reader *r = read_trace(make_done(m));

	while (reader_next(r, &ev) == 1) {
		if (ev.kind == TRACE_METADATA)
			target_threads_init(f, reader_names(r), 0);
		target_threads_event(f, reader_trace(r), &ev);
	}
	reader_free(r);
}

Test(target_threads, all_threads_are_targets_of_a_system_recording_and_by_default)
{
	struct target_threads f = { 0 };
	struct make m;

	cr_expect(target_threads_has(&f, 1, 1));
	make_begin(&m, "system", NULL, NULL);
	read_all(&m, &f);
	cr_expect(target_threads_has(&f, TRACE_NONE, 1));
	target_threads_fini(&f);
}

Test(target_threads, processes_and_their_forks_are_targets)
{
	struct target_threads f = { 0 };
	struct make m;

	make_begin(&m, "pid 5,50", NULL, NULL);
	make_task(&m, 2, 5, 6, "thread");
	make_task(&m, 2, 7, 7, "stranger");
	make_fork(&m, 10, 6, 8);
	make_fork(&m, 10, 7, 9);
	make_task(&m, 3, 8, 8, "child");
	read_all(&m, &f);
	cr_expect(target_threads_has(&f, 5, 6) && target_threads_has(&f, 50, 51));
	cr_expect(target_threads_has(&f, TRACE_NONE, 8),
		  "a child, even if nobody told of its process");
	cr_expect(target_threads_has(&f, 8, 88), "a thread of the child");
	cr_expect(!target_threads_has(&f, 7, 7) && !target_threads_has(&f, TRACE_NONE, 9));
	target_threads_forget(&f, 8);
	cr_expect(!target_threads_has(&f, TRACE_NONE, 8));
	target_threads_fini(&f);
}

static void make_followed(struct make *m, uint32_t pid, uint32_t tid, uint8_t followed)
{
	struct dial9_schema *task =
		MAKE_SCHEMA(PROF_EV_TASK, { PROF_F_PID, DIAL9_U32 }, { PROF_F_TID, DIAL9_U32 },
			    { PROF_F_FOLLOWED, DIAL9_U8 });

	dial9_enc_begin(m->enc, task, 3);
	dial9_enc_put_u64(m->enc, pid);
	dial9_enc_put_u64(m->enc, tid);
	dial9_enc_put_u64(m->enc, followed);
	make_end(m);
	dial9_schema_free(task);
}

Test(target_threads, existing_children_are_targets_if_task_events_mark_them)
{
	struct target_threads f = { 0 };
	struct make m;

	make_begin(&m, "pid 5", NULL, NULL);
	make_followed(&m, 7, 7, 0);
	make_followed(&m, 8, 9, 1);
	make_followed(&m, 5, 5, 0);
	make_fork(&m, 10, 88, 10);
	make_task(&m, 11, 8, 88, "thread");
	make_fork(&m, 12, 88, 11);
	read_all(&m, &f);
	cr_expect(target_threads_has(&f, 8, 88), "the whole process");
	cr_expect(target_threads_has(&f, TRACE_NONE, 11), "what it forks");
	cr_expect(target_threads_has(&f, 5, 5) && !target_threads_has(&f, 7, 7));
	cr_expect(!target_threads_has(&f, TRACE_NONE, 10), "of whom nothing was known then");
	target_threads_fini(&f);
	make_begin(&m, "pid 5", "inherit", "no");
	make_followed(&m, 8, 9, 1);
	read_all(&m, &f);
	cr_expect(!target_threads_has(&f, 8, 9), "the trace was cut to another");
	target_threads_fini(&f);
}

Test(target_threads, single_threads_are_targets)
{
	struct target_threads f = { 0 };
	struct make m;

	make_begin(&m, "tid 5", NULL, NULL);
	make_task(&m, 2, 5, 5, "main");
	make_task(&m, 2, 5, 6, "other");
	make_fork(&m, 10, 5, 8);
	read_all(&m, &f);
	cr_expect(target_threads_has(&f, 5, 5));
	cr_expect(!target_threads_has(&f, 5, 6), "named was the thread, not its process");
	cr_expect(!target_threads_has(&f, 8, 8), "nor what it forks");
	target_threads_fini(&f);
}

Test(target_threads, children_are_no_targets_without_inherit)
{
	struct target_threads f = { 0 };
	struct make m;

	make_begin(&m, "pid 5", "inherit", "no");
	make_task(&m, 2, 5, 5, "main");
	make_fork(&m, 10, 5, 8);
	read_all(&m, &f);
	cr_expect(target_threads_has(&f, 5, 5));
	cr_expect(!target_threads_has(&f, TRACE_NONE, 8));
	target_threads_fini(&f);
}

Test(target_threads, new_threads_are_no_targets_without_inherit)
{
	struct target_threads f = { 0 };
	struct make m;

	make_begin(&m, "pid 5", "inherit", "no");
	make_task(&m, 2, 5, 6, "present");
	make_fork(&m, 10, 5, 8);
	make_task(&m, 11, 5, 8, "new");
	read_all(&m, &f);
	cr_expect(target_threads_has(&f, 5, 5) && target_threads_has(&f, 5, 6));
	cr_expect(!target_threads_has(&f, 5, 8));
	target_threads_forget(&f, 8);
	cr_expect(!target_threads_has(&f, 5, 8), "what reuses its TID is new, too");
	target_threads_fini(&f);
}

static void make_command_without_inherit(struct make *m, const char *pids)
{
	const char *const kv[] = { "target",	  "command ls", "inherit", "no",
				   "target_pids", pids,		NULL };

	make_init(m, NULL);
	make_metadata(m, 1, kv);
}

Test(target_threads, command_is_its_first_thread_without_inherit)
{
	struct target_threads f = { 0 };
	struct make m;

	make_command_without_inherit(&m, "5");
	make_exec(&m, 10, 5, 5);
	make_task(&m, 11, 5, 6, "thread");
	read_all(&m, &f);
	cr_expect(target_threads_has(&f, 5, 5) && !target_threads_has(&f, 5, 6));
	target_threads_fini(&f);
}

Test(target_threads, command_is_found_by_its_pid_or_its_exec)
{
	const uint64_t frame = make_frame(1, 0x10);
	struct target_threads f = { 0 };
	struct make m;

	make_begin(&m, "command ls", "target_pids", "5");
	make_exec(&m, 10, 6, 6);
	read_all(&m, &f);
	cr_expect(!target_threads_has(&f, 5, 5) && !target_threads_has(&f, 6, 6),
		  "it is still the recorder");
	target_threads_fini(&f);
	make_begin(&m, "command ls", "target_pids", "5");
	make_exec(&m, 10, 5, 5);
	read_all(&m, &f);
	cr_expect(target_threads_has(&f, 5, 5) && target_threads_has(&f, 5, 6));
	target_threads_fini(&f);
	make_begin(&m, "command ls", "target_pids", "5");
	make_task(&m, 2, 5, 6, "thread");
	read_all(&m, &f);
	cr_expect(target_threads_has(&f, 5, 5), "told of, as where the exec was lost or cut away");
	target_threads_fini(&f);
	make_begin(&m, "command ls", "target_pids", "5");
	make_sample(&m, 2, 5, 6, PROF_SOURCE_SAMPLE, 0, &frame, 1);
	read_all(&m, &f);
	cr_expect(target_threads_has(&f, 5, 5), "sampled");
	target_threads_fini(&f);
	make_begin(&m, "command ls", NULL, NULL);
	make_exec(&m, 10, 5, 5);
	make_exec(&m, 10, 6, 6);
	read_all(&m, &f);
	cr_expect(target_threads_has(&f, 5, 5) && !target_threads_has(&f, 6, 6),
		  "the first one alone");
	target_threads_fini(&f);
}

Test(target_threads, thread_that_execs_gets_the_tid_of_its_leader)
{
	struct target_threads f = { 0 };
	struct make m;

	make_begin(&m, "pid 5", NULL, NULL);
	make_task(&m, 2, 5, 5, "main");
	make_fork(&m, 10, 5, 9);
	make_exec(&m, 10, 9, 8);
	make_exec(&m, 10, 7, 6);
	read_all(&m, &f);
	cr_expect(target_threads_has(&f, TRACE_NONE, 8));
	cr_expect(!target_threads_has(&f, TRACE_NONE, 6));
	target_threads_fini(&f);
}
