// SPDX-License-Identifier: BSD-2-Clause
/* Stacks of tasks inside execve(), whose memory is the new program's before their registers are. */
#include <criterion/criterion.h>

#include "tests/bpf/support.h"

TestSuite(unwind_exec, .fini = live_cleanup);

#define EXECS "i=0; while [ $i -lt 400 ]; do /bin/true; i=$((i+1)); done"

Test(unwind_exec, stack_without_memory_inside_execve_is_reported_as_such)
{
	struct live_rec rec;
	struct live_trace lt;
	struct trace_event ev;
	uint64_t in_exec = 0, unreadable = 0;

	live_record(&rec, "-F", "4999", "--", "sh", "-c", EXECS, NULL);
	cr_assert_eq(live_finish(&rec), 0);
	live_open(&lt, rec.path, false);
	while (live_event(&lt, &ev)) {
		if (ev.kind != TRACE_SAMPLE)
			continue;
		in_exec += (ev.user_end & PROF_USER_END_MASK) == PROF_END_EXEC;
		unreadable += (ev.user_end & PROF_USER_END_MASK) == PROF_END_READ_FAILED;
	}
	live_assert_no_loss(&lt);
	live_close(&lt);
	cr_expect_gt(in_exec, 10, "%llu stacks", (unsigned long long)in_exec);
	/* the kernel may have reclaimed the memory of a stack: a BPF program cannot wait for it */
	cr_expect_leq(unreadable * 20, in_exec, "%llu stacks", (unsigned long long)unreadable);
}
