// SPDX-License-Identifier: BSD-2-Clause
/* Real-time priority follows the fill of buffers, within a share that is never exceeded. */
#include "kernel/realtime.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/privileges.h"

TestSuite(realtime, .timeout = 60);

enum {
	PRIORITY = 7,
	MS_NS = 1000000,
	REST_NS = 50 * MS_NS,
};

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

static struct buffer {
	int fd;
	unsigned int fill;
	unsigned int fill_after_rest; /* 0: unchanged */
	unsigned int reads;
	uint64_t read_ns, longest_ns; /* the last read, and the longest time between two */
} buffer;

static int watch(void *ctx, int epoll_fd)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, buffer.fd, &ev) ? -errno : 0;
}

static unsigned int fill_of(void *ctx)
{
	const uint64_t now = clock_mono_ns();
	uint64_t reports;
	ssize_t n =
		read(buffer.fd, &reports, sizeof(reports)); /* a timer goes on when it is read */

	(void)n;
	if (buffer.read_ns && now - buffer.read_ns > buffer.longest_ns)
		buffer.longest_ns = now - buffer.read_ns;
	buffer.read_ns = now;
	if (buffer.fill_after_rest && buffer.longest_ns >= REST_NS)
		__atomic_store_n(&buffer.fill, buffer.fill_after_rest, __ATOMIC_RELEASE);
	__atomic_fetch_add(&buffer.reads, 1, __ATOMIC_RELEASE);
	return __atomic_load_n(&buffer.fill, __ATOMIC_ACQUIRE);
}

static void report(void)
{
	const uint64_t one = 1;

	cr_assert_eq(write(buffer.fd, &one, sizeof(one)), (ssize_t)sizeof(one));
}

static void set_fill(unsigned int percent)
{
	__atomic_store_n(&buffer.fill, percent, __ATOMIC_RELEASE);
	if (percent)
		report();
}

static void begin(struct realtime *rt, uint32_t priority)
{
	const struct realtime_need need = { .watch = watch, .fill = fill_of };

	buffer.fd = eventfd(0, EFD_NONBLOCK);
	cr_assert_geq(buffer.fd, 0);
	realtime_begin(rt, &(struct realtime_cfg){ .priority = priority, .nice = -3 });
	realtime_start(rt, &need);
}

static int policy_of(pid_t tid)
{
	return sched_getscheduler(tid) & ~SCHED_RESET_ON_FORK;
}

static void wait_for_policy(pid_t tid, int policy)
{
	while (policy_of(tid) != policy)
		sched_yield();
}

Test(realtime, starts_with_a_full_buffer_and_ends_with_an_empty_buffer)
{
	struct sched_param param;
	struct realtime rt;

	begin(&rt, PRIORITY);
	cr_expect_eq(policy_of(0), SCHED_OTHER);
	set_fill(60);
	wait_for_policy(0, SCHED_FIFO);
	sched_getparam(0, &param);
	cr_expect(param.sched_priority == PRIORITY || policy_of(0) == SCHED_OTHER);
	cr_expect(sched_getscheduler(0) & SCHED_RESET_ON_FORK);
	set_fill(0);
	wait_for_policy(0, SCHED_OTHER);
	realtime_end(&rt);
	cr_expect_eq(policy_of(0), SCHED_OTHER);
}

Test(realtime, can_start_again)
{
	struct realtime rt;
	int i;

	begin(&rt, PRIORITY);
	for (i = 0; i < 3; i++) {
		set_fill(20);
		wait_for_policy(0, SCHED_FIFO);
		set_fill(0);
		wait_for_policy(0, SCHED_OTHER);
	}
	realtime_end(&rt);
}

/* It was reported, and emptied before the governor read its fill. */
Test(realtime, does_not_start_if_the_buffer_is_emptied_in_time)
{
	struct realtime rt;

	begin(&rt, PRIORITY);
	report();
	while (!__atomic_load_n(&buffer.reads, __ATOMIC_ACQUIRE))
		sched_yield();
	cr_expect_eq(policy_of(0), SCHED_OTHER);
	realtime_end(&rt);
	cr_expect_eq(realtime_ns(&rt), 0);
}

Test(realtime, starts_on_request_too)
{
	struct realtime rt;

	begin(&rt, PRIORITY);
	realtime_ask(&rt);
	wait_for_policy(0, SCHED_FIFO);
	realtime_end(&rt);
	cr_expect_eq(policy_of(0), SCHED_OTHER);
}

static void wait_for_checks(unsigned int cnt)
{
	const unsigned int start = __atomic_load_n(&buffer.reads, __ATOMIC_ACQUIRE);

	while (__atomic_load_n(&buffer.reads, __ATOMIC_ACQUIRE) - start < cnt)
		sched_yield();
}

/* 1% in 10 ms: a buffer needs no check for 50 ms. */
static void fill_slowly(struct realtime *rt)
{
	realtime_note_pass(rt, 1, 10 * MS_NS);
	realtime_note_pass(rt, 1, 20 * MS_NS);
}

/* The kernel reports 1 ms after each check, so the rate is steady on a busy machine too. */
static void begin_steady(struct realtime *rt)
{
	const struct itimerspec one_ms = { .it_interval.tv_nsec = MS_NS,
					   .it_value.tv_nsec = MS_NS };
	const struct realtime_need need = { .watch = watch, .fill = fill_of };

	buffer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	cr_assert_geq(buffer.fd, 0);
	cr_assert_eq(timerfd_settime(buffer.fd, 0, &one_ms, NULL), 0);
	realtime_begin(rt, &(struct realtime_cfg){ .priority = PRIORITY, .nice = -3 });
	realtime_start(rt, &need);
	fill_slowly(rt);
}

Test(realtime, buffers_that_fill_slowly_are_checked_seldom)
{
	struct realtime rt;

	begin_steady(&rt);
	wait_for_checks(6);
	cr_expect_eq(policy_of(0), SCHED_OTHER);
	realtime_end(&rt);
	cr_expect_geq(buffer.longest_ns, REST_NS);
}

static uint64_t time_of_request(void)
{
	struct realtime rt;
	uint64_t start, took;

	begin_steady(&rt);
	wait_for_checks(4);
	start = clock_mono_ns();
	realtime_ask(&rt);
	wait_for_policy(0, SCHED_FIFO);
	took = clock_mono_ns() - start;
	realtime_end(&rt);
	close(buffer.fd);
	return took;
}

static uint64_t time_of_burst(void)
{
	struct realtime rt;
	uint64_t start, took;

	begin(&rt, PRIORITY);
	fill_slowly(&rt);
	start = clock_mono_ns();
	set_fill(60);
	wait_for_policy(0, SCHED_FIFO);
	took = clock_mono_ns() - start;
	set_fill(0);
	realtime_end(&rt);
	close(buffer.fd);
	return took;
}

/* On a busy machine this thread may see the policy late, but not each time. */
static uint64_t least_of(uint64_t (*time)(void))
{
	uint64_t least = SECOND_NS, took;
	int i;

	for (i = 0; i < 20 && least >= REST_NS / 2; i++) {
		took = time();
		least = took < least ? took : least;
	}
	return least;
}

Test(realtime, request_does_not_wait_for_the_check)
{
	cr_expect_lt(least_of(time_of_request), REST_NS / 2);
}

Test(realtime, burst_after_a_low_rate_is_checked_soon)
{
	cr_expect_lt(least_of(time_of_burst), REST_NS / 2);
}

/* 12%: reported a moment ago, or about to report. */
Test(realtime, buffer_that_may_have_just_reported_is_checked_again)
{
	struct realtime rt;

	buffer.fill_after_rest = 12;
	begin_steady(&rt);
	wait_for_checks(8);
	cr_expect_eq(policy_of(0), SCHED_OTHER);
	cr_expect_eq(__atomic_load_n(&buffer.fill, __ATOMIC_ACQUIRE), 12);
	__atomic_store_n(&buffer.fill_after_rest, 17, __ATOMIC_RELEASE);
	wait_for_policy(0, SCHED_FIFO);
	realtime_end(&rt);
}

/* Endless work, as with a flood of events: most of the time is ordinary. */
Test(realtime, uses_only_its_share_of_each_period)
{
	struct realtime rt;
	uint64_t start;

	begin(&rt, PRIORITY);
	set_fill(20);
	start = clock_mono_ns();
	while (realtime_ns(&rt) < SECOND_NS / 5)
		;
	cr_expect_gt(clock_mono_ns() - start, SECOND_NS / 5 * 100 / 40);
	realtime_end(&rt);
}

static bool spins_end;

static void *spin(void *ctx)
{
	realtime_join(ctx);
	while (!__atomic_load_n(&spins_end, __ATOMIC_RELAXED))
		;
	return NULL;
}

/* Threads on several CPUs use up a budget faster than the governor sees it. */
Test(realtime, threads_share_one_budget)
{
	pthread_t threads[2];
	struct realtime rt;
	uint64_t start;
	int i;

	begin(&rt, PRIORITY);
	for (i = 0; i < 2; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, spin, &rt), 0);
	set_fill(100);
	start = clock_mono_ns();
	while (realtime_ns(&rt) < SECOND_NS)
		;
	cr_expect_gt(clock_mono_ns() - start, SECOND_NS * 100 / (REALTIME_SHARE_MAX + 3));
	__atomic_store_n(&spins_end, true, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	realtime_end(&rt);
}

static void *work(void *ctx)
{
	struct realtime *rt = ctx;

	realtime_join(rt);
	__atomic_store_n(&buffer.fill, 40, __ATOMIC_RELEASE);
	realtime_ask(rt);
	wait_for_policy(0, SCHED_FIFO);
	realtime_leave(rt);
	return (void *)(intptr_t)policy_of(0);
}

Test(realtime, thread_has_realtime_from_join_to_leave)
{
	struct realtime rt;
	pthread_t thread;
	void *policy;
	int i;

	begin(&rt, PRIORITY);
	for (i = 0; i < 2 * REALTIME_THREADS_MAX; i++) {
		cr_assert_eq(pthread_create(&thread, NULL, work, &rt), 0);
		pthread_join(thread, &policy);
		cr_expect_eq((intptr_t)policy, SCHED_OTHER);
	}
	realtime_end(&rt);
}

/* The governor is not running: the kernel's limit makes the thread ordinary, and does not kill it. */
Test(realtime, rlimit_stops_a_runaway_thread)
{
	const struct sched_param param = { .sched_priority = 1 };
	struct rlimit lim;
	struct realtime rt;

	realtime_begin(&rt, &(struct realtime_cfg){ .priority = 1 });
	cr_assert_eq(getrlimit(RLIMIT_RTTIME, &lim), 0);
	lim.rlim_cur = 50000;
	cr_assert_eq(setrlimit(RLIMIT_RTTIME, &lim), 0);
	cr_assert_eq(sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param), 0);
	while (policy_of(0) == SCHED_FIFO)
		;
	cr_expect_eq(policy_of(0), SCHED_OTHER);
	realtime_end(&rt);
}

Test(realtime, limit_on_cpu_time_still_kills, .signal = SIGXCPU)
{
	struct realtime rt;

	begin(&rt, 1);
	raise(SIGXCPU);
}

/* The governor was faster: the thread is ordinary when the kernel's signal arrives. */
Test(realtime, late_signal_of_the_rlimit_does_not_kill)
{
	const struct sched_param param = { .sched_priority = 1 }, none = { .sched_priority = 0 };
	struct rlimit lim;
	struct realtime rt;
	sigset_t set, pending;

	realtime_begin(&rt, &(struct realtime_cfg){ .priority = 1 });
	sigemptyset(&set);
	sigaddset(&set, SIGXCPU);
	sigprocmask(SIG_BLOCK, &set, NULL);
	cr_assert_eq(getrlimit(RLIMIT_RTTIME, &lim), 0);
	lim.rlim_cur = 50000;
	cr_assert_eq(setrlimit(RLIMIT_RTTIME, &lim), 0);
	cr_assert_eq(sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param), 0);
	do
		sigpending(&pending);
	while (!sigismember(&pending, SIGXCPU));
	sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &none);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	realtime_end(&rt);
}

/* With such a limit the kernel kills a thread that did not sleep, even if it was ordinary in between. */
Test(realtime, hard_rttime_limit_is_removed_or_prevents_realtime)
{
	const struct rlimit hard = { .rlim_cur = 100000, .rlim_max = 300000 };
	struct realtime rt;

	cr_redirect_stderr();
	cr_assert_eq(setrlimit(RLIMIT_RTTIME, &hard), 0);
	begin(&rt, PRIORITY);
	set_fill(50);
	while (rt.governed && realtime_ns(&rt) < SECOND_NS / 2)
		;
	fflush(stderr);
	if (rt.governed)
		cr_expect_stderr_eq_str("");
	else
		cr_expect_stderr_eq_str(
			"dial9-prof: record: no real-time priority: needs CAP_SYS_RESOURCE or no "
			"hard limit RLIMIT_RTTIME; on a busy machine, events may be lost (-r 0 "
			"hides this)\n");
	realtime_end(&rt);
}

Test(realtime, priority_0_never_starts_realtime)
{
	struct realtime rt;

	begin(&rt, 0);
	set_fill(60);
	realtime_ask(&rt);
	cr_expect_not(rt.governed);
	realtime_end(&rt);
	cr_expect_eq(realtime_ns(&rt), 0);
}

Test(realtime, ordinary_thread_has_the_requested_nice_value_until_the_end)
{
	struct realtime rt;

	cr_assert_eq(setpriority(PRIO_PROCESS, gettid(), 2), 0);
	begin(&rt, PRIORITY);
	cr_expect_eq(getpriority(PRIO_PROCESS, gettid()), -3);
	set_fill(30);
	wait_for_policy(0, SCHED_FIFO);
	realtime_end(&rt);
	cr_expect_eq(policy_of(0), SCHED_OTHER);
	cr_expect_eq(getpriority(PRIO_PROCESS, gettid()), 2);
}

Test(realtime, refusal_is_one_line_and_the_threads_stay_ordinary)
{
	const struct rlimit none = { 0 };
	struct realtime rt;

	cr_redirect_stderr();
	cr_assert_eq(setrlimit(RLIMIT_RTPRIO, &none), 0);
	cr_assert_eq(privileges_drop_all_but(0), 0);
	realtime_begin(&rt, &(struct realtime_cfg){ .priority = 1 });
	realtime_start(&rt, &(struct realtime_need){ .watch = watch, .fill = fill_of });
	cr_expect_not(rt.governed);
	realtime_ask(&rt);
	realtime_end(&rt);
	fflush(stderr);
	cr_assert_stderr_eq_str("dial9-prof: record: no real-time priority: needs CAP_SYS_NICE or "
				"RLIMIT_RTPRIO; on a busy machine, events may be lost (-r 0 hides "
				"this)\n");
}

Test(realtime, rtprio_limit_is_enough_without_capabilities)
{
	const struct rlimit some = { .rlim_cur = PRIORITY, .rlim_max = PRIORITY };
	struct realtime rt;

	if (setrlimit(RLIMIT_RTPRIO, &some))
		cr_skip_test("needs CAP_SYS_RESOURCE");
	cr_assert_eq(privileges_drop_all_but(0), 0);
	begin(&rt, PRIORITY);
	cr_assert(rt.governed);
	set_fill(30);
	wait_for_policy(0, SCHED_FIFO);
	realtime_end(&rt);
	cr_expect_eq(policy_of(0), SCHED_OTHER);
}
