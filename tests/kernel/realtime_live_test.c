// SPDX-License-Identifier: BSD-2-Clause
/* Real time on a leash: by need, within a budget that nothing can stretch, and survivable. */
#include "kernel/realtime.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

TestSuite(realtime, .timeout = 60);

#define SECOND_NS 1000000000ULL

__attribute__((constructor)) static void need_real_time(void)
{
	const struct sched_param param = { .sched_priority = 1 }, none = { .sched_priority = 0 };

	if (!sched_setscheduler(0, SCHED_FIFO, &param)) {
		sched_setscheduler(0, SCHED_OTHER, &none);
		return;
	}
	puts("needs to be allowed real-time priority");
	fflush(stdout);
	_exit(77);
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * SECOND_NS + ts.tv_nsec;
}

static void burn(uint64_t ns)
{
	uint64_t until = cpu_ns() + ns;

	while (cpu_ns() < until)
		;
}

static int policy(void)
{
	return sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
}

static void begin(struct realtime *rt, uint32_t priority)
{
	realtime_begin(rt, &(struct realtime_cfg){ .priority = priority, .nice = -3 });
}

Test(realtime, it_is_taken_when_rings_fill_and_given_back_when_they_do_not)
{
	struct sched_param param;
	struct realtime rt;
	int i;

	begin(&rt, 7);
	realtime_before_pass(&rt, 1, false);
	cr_expect_eq(policy(), SCHED_OTHER);
	realtime_before_pass(&rt, 2, true);
	cr_expect_eq(policy(), SCHED_FIFO);
	sched_getparam(0, &param);
	cr_expect_eq(param.sched_priority, 7);
	cr_expect(sched_getscheduler(0) & SCHED_RESET_ON_FORK);
	for (i = 1; i < REALTIME_CALM_PASSES; i++)
		realtime_before_pass(&rt, 2 + i, false);
	cr_expect_eq(policy(), SCHED_FIFO, "a short calm does not count");
	realtime_before_pass(&rt, 100, false);
	cr_expect_eq(policy(), SCHED_OTHER);
	realtime_end(&rt);
}

Test(realtime, the_budget_of_a_second_is_all_there_is)
{
	struct realtime rt;

	begin(&rt, 1);
	realtime_before_pass(&rt, 1, true);
	burn(REALTIME_BUDGET_NS / 2);
	realtime_within_pass(&rt, 2);
	cr_expect_eq(policy(), SCHED_FIFO, "half of it");
	nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
	burn(REALTIME_BUDGET_NS / 2);
	realtime_within_pass(&rt, 3);
	cr_expect_eq(policy(), SCHED_OTHER);
	realtime_before_pass(&rt, SECOND_NS, true);
	cr_expect_eq(policy(), SCHED_OTHER, "the second is not over");
	realtime_before_pass(&rt, SECOND_NS + 1, true);
	cr_expect_eq(policy(), SCHED_FIFO);
	realtime_end(&rt);
	cr_expect_eq(policy(), SCHED_OTHER);
	cr_expect_geq(realtime_ns(&rt), (uint64_t)REALTIME_BUDGET_NS);
	cr_expect_lt(realtime_ns(&rt), 2ULL * REALTIME_BUDGET_NS);
}

/* A pass that does not look is made an ordinary one by the kernel's limit, and is not killed. */
Test(realtime, a_pass_that_never_looks_is_cut_by_the_limit)
{
	struct realtime rt;

	begin(&rt, 1);
	realtime_before_pass(&rt, 1, true);
	cr_expect_eq(policy(), SCHED_FIFO);
	burn(6ULL * REALTIME_BUDGET_NS);
	cr_expect_eq(policy(), SCHED_OTHER);
	realtime_before_pass(&rt, 2, true);
	cr_expect_eq(policy(), SCHED_OTHER, "and its budget is used up");
	cr_expect_eq(realtime_ns(&rt), (uint64_t)REALTIME_BUDGET_NS);
	realtime_before_pass(&rt, SECOND_NS + 2, true);
	burn(6ULL * REALTIME_BUDGET_NS);
	cr_expect_eq(policy(), SCHED_OTHER, "the second time as well");
	realtime_end(&rt);
}

Test(realtime, a_limit_on_cpu_time_still_kills, .signal = SIGXCPU)
{
	struct realtime rt;

	begin(&rt, 1);
	raise(SIGXCPU);
}

Test(realtime, priority_zero_is_never)
{
	struct realtime rt;

	begin(&rt, 0);
	realtime_before_pass(&rt, 1, true);
	cr_expect_eq(policy(), SCHED_OTHER);
	realtime_end(&rt);
	cr_expect_eq(realtime_ns(&rt), 0);
}

Test(realtime, a_fill_ends_a_calm)
{
	struct realtime rt;
	int i;

	begin(&rt, 1);
	for (i = 0; i < 3 * REALTIME_CALM_PASSES; i++) {
		realtime_before_pass(&rt, 1 + i, i % 8 == 0);
		cr_expect_eq(policy(), SCHED_FIFO, "%d", i);
	}
	realtime_end(&rt);
}

Test(realtime, an_ordinary_thread_has_the_nice_value_asked_for_and_then_its_own)
{
	struct realtime rt;

	cr_assert_eq(setpriority(PRIO_PROCESS, gettid(), 2), 0);
	begin(&rt, 1);
	cr_expect_eq(getpriority(PRIO_PROCESS, gettid()), -3);
	realtime_before_pass(&rt, 1, true);
	realtime_end(&rt);
	cr_expect_eq(policy(), SCHED_OTHER);
	cr_expect_eq(getpriority(PRIO_PROCESS, gettid()), 2);
}
