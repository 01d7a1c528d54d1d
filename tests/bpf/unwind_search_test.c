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
	uint64_t early; /* before the tables were loaded: copies, which are not searched */
	uint64_t found, complete, unmarked;
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

enum { SHAPES = sizeof(shapes) / sizeof(*shapes) };

/* Stacks that end early later on, and stacks with a caller that did not call. */
struct faults {
	uint64_t missing, wrong;
};

const char *live_missing(void)
{
#ifdef PROF_MACHINE_X86_64
	return NULL;
#else
	return "callers are searched on x86-64 only";
#endif
}

/* The shape of a stack, as far as the stack goes; NULL: none. */
static struct shape *find_shape(const struct live_trace *lt, const uint64_t *user, uint32_t cnt)
{
	size_t i;

	for (i = 0; i < SHAPES; i++)
		if (live_frame_in(lt, user[0], shapes[i].function) &&
		    (cnt < 2 || live_frame_in(lt, user[1], shapes[i].caller)) &&
		    (cnt < 3 || live_frame_in(lt, user[2], shapes[i].above)))
			return &shapes[i];
	return NULL;
}

static bool is_in_shape(const struct live_trace *lt, uint64_t leaf)
{
	size_t i;

	for (i = 0; i < SHAPES; i++)
		if (live_frame_in(lt, leaf, shapes[i].function))
			return true;
	return false;
}

static void add_stack(const struct live_trace *lt, const struct trace_event *ev,
		      struct faults *faults)
{
	const uint8_t end = ev->user_end & PROF_USER_END_MASK;
	const struct shape *searched = &shapes[0];
	uint32_t cnt;
	const uint64_t *user = workload_user(ev, &cnt);
	struct shape *s;

	if (!cnt || !is_in_shape(lt, user[0]))
		return;
	/* preempted in a call that does not sleep */
	if (cnt > 1 && live_frame_in(lt, user[1], "leave_traces"))
		return;
	s = find_shape(lt, user, cnt);
	if (!s) {
		faults->wrong++;
	} else if (cnt < 3) {
		s->early += !searched->found && end == PROF_END_NO_ROW;
		faults->missing += searched->found || end != PROF_END_NO_ROW;
	} else {
		s->found++;
		s->unmarked += !(ev->user_end & PROF_USER_GUESSED);
		s->complete += end == PROF_END_COMPLETE;
	}
}

Test(unwind_search, callers_of_assembler_functions_are_found)
{
	struct live_trace lt;
	struct trace_event ev;
	struct live_proc proc;
	struct live_rec rec;
	struct faults faults = { 0 };

	live_stimulus(&proc, "unwind_search", live_number(ROUNDS), NULL);
	live_record(&rec, "--switch-stacks", "user", "-p", live_number(proc.pid), NULL);
	live_recording(&rec);
	live_go(&proc);
	cr_assert_eq(live_stop(&rec), 0);
	live_end(&proc);
	live_open(&lt, rec.path, false);
	while (live_event(&lt, &ev))
		if (ev.kind == TRACE_SAMPLE && ev.source != PROF_SOURCE_SAMPLE)
			add_stack(&lt, &ev, &faults);
	live_assert_no_loss(&lt);
	live_close(&lt);
	for (size_t i = 0; i < SHAPES; i++) {
		const struct shape *s = &shapes[i];

		printf("%s < %s: %llu early, %llu found, %llu complete, %llu unmarked\n",
		       s->function, s->caller, (unsigned long long)s->early,
		       (unsigned long long)s->found, (unsigned long long)s->complete,
		       (unsigned long long)s->unmarked);
		cr_expect_geq(s->found + s->early, ROUNDS, "%s", s->caller);
		cr_expect_gt(s->found, ROUNDS / 2, "%s", s->caller);
		cr_expect_eq(s->complete, s->found, "%s", s->caller);
		/* preempted at an instruction that proves the caller: not one of the naps */
		cr_expect(s->returns || s->unmarked <= s->found + s->early - ROUNDS, "%s",
			  s->caller);
	}
	cr_expect_eq(faults.missing, 0);
	cr_expect_eq(faults.wrong, 0);
}
