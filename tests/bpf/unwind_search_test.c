// SPDX-License-Identifier: BSD-2-Clause
/*
 * Callers of assembler without unwind information, which are searched on the stack: tests/stimuli/unwind_search.c
 * sleeps in functions whose callers are known. A caller may be missing, but never false.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "prof_machine.h"
#include "tests/bpf/workload.h"

TestSuite(unwind_search, .fini = live_cleanup);

enum { ROUNDS = 200 };

struct shape {
	const char *function, *caller;
	const char *above; /* the caller's caller */
	bool returns; /* the next instruction, so the caller is certain */
	uint64_t stacks, found, complete, unmarked;
};

static struct shape shapes[] = {
	{ .function = "search_pushes", .caller = "caller_pushes", .above = "main" },
	{ .function = "search_reserved", .caller = "caller_reserved", .above = "main" },
	{ .function = "search_aligned", .caller = "caller_aligned", .above = "main" },
	{ .function = "search_leaf",
	  .caller = "search_inner",
	  .above = "caller_inner" }, /* two searches */
	{ .function = "search_leaf", .caller = "caller_leaf", .above = "main", .returns = true },
};

const char *live_missing(void)
{
#ifdef PROF_MACHINE_X86_64
	return NULL;
#else
	return "callers are searched on x86-64 only";
#endif
}

static void add_stack(const struct live_trace *lt, const struct trace_event *ev,
		      uint64_t *false_cnt)
{
	uint32_t cnt, i, known = 0;
	const uint64_t *user = workload_user(ev, &cnt);

	for (i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		struct shape *s = &shapes[i];

		if (!cnt || !live_frame_in(lt, user[0], s->function))
			continue;
		known++;
		s->stacks++;
		if (cnt < 3 || !live_frame_in(lt, user[1], s->caller) ||
		    !live_frame_in(lt, user[2], s->above))
			continue;
		s->found++;
		s->unmarked += !(ev->user_end & PROF_USER_GUESSED);
		s->complete += (ev->user_end & PROF_USER_END_MASK) == PROF_END_COMPLETE;
		known = 0;
		break;
	}
	/* preempted in a call that does not sleep */
	if (known && cnt > 1 && !live_frame_in(lt, user[1], "leave_traces"))
		++*false_cnt;
}

Test(unwind_search, callers_of_assembler_functions_are_found)
{
	struct live_trace lt;
	struct trace_event ev;
	struct live_proc proc;
	struct live_rec rec;
	uint64_t false_cnt = 0;

	live_stimulus(&proc, "unwind_search", live_number(ROUNDS), NULL);
	live_record(&rec, "--switch-stacks", "user", "-p", live_number(proc.pid), NULL);
	live_recording(&rec);
	live_go(&proc);
	cr_assert_eq(live_stop(&rec), 0);
	live_end(&proc);
	live_open(&lt, rec.path, false);
	while (live_event(&lt, &ev))
		if (ev.kind == TRACE_SAMPLE && ev.source != PROF_SOURCE_SAMPLE)
			add_stack(&lt, &ev, &false_cnt);
	live_assert_no_loss(&lt);
	live_close(&lt);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		const struct shape *s = &shapes[i];

		printf("%s < %s: %llu stacks, %llu found, %llu complete, %llu unmarked\n",
		       s->function, s->caller, (unsigned long long)s->stacks,
		       (unsigned long long)s->found, (unsigned long long)s->complete,
		       (unsigned long long)s->unmarked);
		cr_expect_geq(s->found, ROUNDS, "%s", s->caller);
		cr_expect_eq(s->complete, s->found, "%s", s->caller);
		cr_expect(s->returns || !s->unmarked, "%s", s->caller);
	}
	cr_expect_eq(false_cnt, 0, "%llu stacks have a false caller",
		     (unsigned long long)false_cnt);
}
