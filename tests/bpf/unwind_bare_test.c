// SPDX-License-Identifier: BSD-2-Clause
/*
 * Functions with and without a frame in a file without unwind information: tests/stimuli/unwind_bare.c. Neighbouring
 * frames must be a function and its caller, or the stack is marked.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "prof_machine.h"
#include "tests/bpf/workload.h"

TestSuite(unwind_bare, .fini = live_cleanup);

enum { ROUNDS = 3000, STACKS_MIN = 300, NAMES_MAX = 8 };

struct function {
	const char *name;
	const char *callers[NAMES_MAX];
};

static const struct function functions[] = {
	{ "bare_leaf", { "bare_nap" } },
	{ "bare_nap", { "framed_nap", "bare_1" } },
	{ "framed_nap", { "framed_1" } },
	{ "bare_1", { "bare_2", "bare_by_pointer" } },
	{ "bare_2", { "framed_1", "framed_caller", "bare_by_pointer" } },
	{ "framed_1", { "framed_caller", "framed_by_pointer" } },
	{ "bare_by_pointer", { "framed_by_pointer", "bare_caller" } },
	{ "framed_by_pointer", { "framed_caller" } },
	{ "framed_caller", { "bare_caller" } },
	{ "bare_caller", { "main" } },
};

struct sum {
	uint64_t stacks, pairs, marked, impossible, unmarked;
};

const char *live_missing(void)
{
#ifdef PROF_MACHINE_X86_64
	return NULL;
#else
	return "functions without a frame are found on x86-64 only";
#endif
}

static const struct function *function_of(const struct live_trace *lt, uint64_t frame)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (live_frame_in(lt, frame, functions[i].name))
			return &functions[i];
	return NULL;
}

static bool is_caller(const struct live_trace *lt, const struct function *f, uint64_t frame)
{
	for (int i = 0; i < NAMES_MAX && f->callers[i]; i++)
		if (live_frame_in(lt, frame, f->callers[i]))
			return true;
	return false;
}

static void add_stack(const struct live_trace *lt, const struct trace_event *ev, struct sum *s)
{
	const struct function *f;
	const uint64_t *user;
	bool bad;
	uint32_t cnt;

	user = workload_user(ev, &cnt);
	s->stacks++;
	s->marked += !!(ev->user_end & PROF_USER_GUESSED);
	for (uint32_t i = 0; i + 1 < cnt; i++) {
		f = function_of(lt, user[i]);
		bad = f && !is_caller(lt, f, user[i + 1]);
		s->pairs += !!f;
		s->impossible += bad;
		s->unmarked += bad && !(ev->user_end & PROF_USER_GUESSED);
	}
}

Test(unwind_bare, false_caller_is_marked)
{
	struct live_trace lt;
	struct trace_event ev;
	struct live_rec rec;
	struct sum s = { 0 };

	workload_record(&rec, "unwind_bare", ROUNDS);
	live_open(&lt, rec.path, false);
	while (live_event(&lt, &ev))
		if (ev.kind == TRACE_SAMPLE)
			add_stack(&lt, &ev, &s);
	live_close(&lt);
	printf("%llu stacks, %llu marked; %llu pairs, %llu impossible, %llu of them unmarked\n",
	       (unsigned long long)s.stacks, (unsigned long long)s.marked,
	       (unsigned long long)s.pairs, (unsigned long long)s.impossible,
	       (unsigned long long)s.unmarked);
	cr_expect_geq(s.stacks, STACKS_MIN);
	cr_expect_geq(s.pairs, 3 * s.stacks, "callers are found");
	/* of functions without a frame that are called through a pointer */
	cr_expect_leq(10 * s.impossible, s.pairs);
	cr_expect_eq(s.unmarked, 0);
}
