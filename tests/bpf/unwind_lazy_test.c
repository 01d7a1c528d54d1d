// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks from the dynamic linker while it looks up a function at its first call: tests/stimuli/unwind_lazy.c. The code
 * that calls it keeps its CFA in rbx.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "prof_machine.h"
#include "tests/bpf/workload.h"

TestSuite(unwind_lazy, .fini = live_cleanup);

enum { ROUNDS = 9000, STACKS_MIN = 30 };

static const char *const callers[] = { "lazy_all", "lazy_round", "main", NULL };

const char *live_missing(void)
{
#ifdef PROF_MACHINE_X86_64
	return NULL;
#else
	return "lazy binding keeps its CFA in the stack pointer";
#endif
}

/* The position of the frame in a function; @cnt: none */
static uint32_t find(const struct live_trace *lt, const uint64_t *user, uint32_t cnt,
		     const char *name)
{
	uint32_t i = 0;

	while (i < cnt && !live_frame_in(lt, user[i], name))
		i++;
	return i;
}

Test(unwind_lazy, lookup_of_a_function_has_all_callers)
{
	uint64_t complete = 0, whole = 0, marked = 0, unsupported = 0;
	uint8_t end;
	struct live_trace lt;
	struct trace_event ev;
	struct live_proc proc;
	struct live_rec rec;
	const uint64_t *user;
	uint32_t cnt, at;

	live_stimulus(&proc, "unwind_lazy", live_number(ROUNDS), NULL);
	live_record(&rec, "-F", "1999", "-p", live_number(proc.pid), NULL);
	live_recording(&rec);
	live_go(&proc);
	cr_assert_eq(live_stop(&rec), 0);
	live_end(&proc);
	live_open(&lt, rec.path, false);
	while (live_event(&lt, &ev)) {
		user = ev.kind == TRACE_SAMPLE ? workload_user(&ev, &cnt) : NULL;
		at = user ? find(&lt, user, cnt, "_dl_fixup") : 0;
		if (!user || at == cnt)
			continue;
		end = ev.user_end & PROF_USER_END_MASK;
		complete += end == PROF_END_COMPLETE;
		whole += end == PROF_END_COMPLETE &&
			 workload_has_callers(&lt, user, cnt, at + 2, callers);
		marked += !!(ev.user_end & PROF_USER_GUESSED);
		unsupported += end == PROF_END_UNSUPPORTED;
	}
	live_close(&lt);
	printf("%llu complete stacks, %llu whole, %llu marked, %llu unsupported\n",
	       (unsigned long long)complete, (unsigned long long)whole, (unsigned long long)marked,
	       (unsigned long long)unsupported);
	/* others ended where the library was mapped a moment ago */
	cr_expect_geq(complete, STACKS_MIN);
	cr_expect_eq(whole, complete);
	cr_expect_eq(marked, 0);
	cr_expect_eq(unsupported, 0);
}
