// SPDX-License-Identifier: BSD-2-Clause
/*
 * realtime.c - real-time priority that follows the fill of buffers
 *
 * A ring holds some hundredths of a second of a busy CPU. On an overloaded machine an ordinary
 * thread may be runnable for longer, whatever its nice value: control groups and autogroups weigh
 * more. A thread that is not running cannot raise its priority, so another thread does that: the
 * governor. It sleeps until a ring reports that it fills up. It has a higher priority than the
 * threads it governs, and does little. A high rate alone fills rings again and again: the threads
 * become real-time only if a ring is not emptied soon after it has reported.
 *
 * A real-time thread with endless work starves all others, and recorded programs create the work.
 * So the governor measures the CPU time of its threads, and makes them ordinary for the rest of a
 * period when their share is used up. A share that follows the fill is stable: it grows until the
 * rings stop filling, and most of the CPU remains for others. Two more
 * limits hold if the governor itself hangs: RLIMIT_RTTIME, whose signal handler makes the thread
 * ordinary at any point, and the kernel's sched_rt_runtime_us.
 *
 * SCHED_DEADLINE would give a share as well, but it preempts all other real-time tasks, cannot be
 * allowed by RLIMIT_RTPRIO, and throttles a thread even if the CPU is idle.
 */
#include "kernel/realtime.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "kernel/privileges.h"

#define SECOND_NS 1000000000ULL

enum {
	CALM_PERCENT = 16, /* below it, a buffer does not fill up */
	LATE_PERCENT = 10, /* still filled after a report: the threads are late */
	LATE_NS = 2000000, /* from the report */
	STEADY_NS = 20000000, /* a report that soon after a check shows a steady rate */
	REST_NS = 50000000, /* longest rest */
	REST_PERCENT = 50, /* a buffer is that full after a rest, at an unchanged rate */
	STEP_MIN_NS = 2000000, /* between two accountings */
	RUNAWAY_US = 200000, /* CPU time at real-time priority without a sleep */
	KERNEL_MARGIN = 5, /* percent, for other real-time tasks */
	POLICY = SCHED_FIFO | SCHED_RESET_ON_FORK,
	PRIORITY_MAX = 99,
	READY_MAX = 64,
};

/* ---- priorities --------------------------------------------------------------------------------- */

/* Keeps SCHED_RESET_ON_FORK, because clearing it needs CAP_SYS_NICE. */
static void make_ordinary(pid_t tid)
{
	const struct sched_param none = { .sched_priority = 0 };

	sched_setscheduler(tid, SCHED_OTHER | SCHED_RESET_ON_FORK, &none);
}

static int make_real_time(pid_t tid, uint32_t priority)
{
	const struct sched_param param = { .sched_priority = (int)priority };

	return sched_setscheduler(tid, POLICY, &param) ? -errno : 0;
}

/* Whether the process used all of its CPU time. With each signal the kernel raises that limit by a second. */
static bool is_cpu_time_used_up(void)
{
	struct timespec used;
	struct rlimit lim;

	return !getrlimit(RLIMIT_CPU, &lim) && lim.rlim_cur != RLIM_INFINITY &&
	       !clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) &&
	       (rlim_t)used.tv_sec + 1 >= lim.rlim_cur;
}

/*
 * Handles the signal of RLIMIT_RTTIME, which the kernel sends to the thread that ran too long. The thread
 * may be ordinary already when it arrives. SIGXCPU for any other reason still ends the process.
 */
static void on_limit(int sig, siginfo_t *info, void *ctx)
{
	int saved = errno;

	if (info->si_code == SI_KERNEL && !is_cpu_time_used_up()) {
		make_ordinary(0);
	} else {
		signal(sig, SIG_DFL);
		raise(sig);
	}
	errno = saved;
}

/*
 * At the hard limit the kernel kills a thread that did not sleep, even if it was ordinary most of the time.
 * 0 if there is none, or -errno if it cannot be removed.
 */
static int remove_hard_limit(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_RTTIME, &lim) || lim.rlim_max == RLIM_INFINITY)
		return 0;
	lim.rlim_max = RLIM_INFINITY;
	return setrlimit(RLIMIT_RTTIME, &lim) ? -errno : 0;
}

/* Sets the soft limit again, because the kernel raises it each time it is reached. */
static void limit_runaways(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_RTTIME, &lim))
		return;
	lim.rlim_cur = RUNAWAY_US;
	if (lim.rlim_cur > lim.rlim_max)
		lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_RTTIME, &lim);
}

static void set_nice(int nice)
{
	if (setpriority(PRIO_PROCESS, gettid(), nice))
		log_info("record: no nice value of %d: %s", nice, strerror(errno));
}

/* ---- what the kernel allows --------------------------------------------------------------------- */

unsigned int realtime_share_max(long runtime_us, long period_us)
{
	long percent;

	if (runtime_us < 0 || period_us <= 0)
		return REALTIME_SHARE_MAX;
	percent = (long)(100.0 * runtime_us / period_us) - KERNEL_MARGIN;
	if (percent > REALTIME_SHARE_MAX)
		return REALTIME_SHARE_MAX;
	return percent >= REALTIME_SHARE_MIN ? (unsigned int)percent : 0;
}

/* -1 if it is unknown */
static long read_number(const char *path)
{
	FILE *f = fopen(path, "re");
	long n = -1;

	if (f && fscanf(f, "%ld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

static unsigned int kernel_share(void)
{
	return realtime_share_max(read_number("/proc/sys/kernel/sched_rt_runtime_us"),
				  read_number("/proc/sys/kernel/sched_rt_period_us"));
}

static const char *explain_refusal(void)
{
	uint64_t caps;

	if (!privileges_get(&caps) && privileges_have(caps, CAP_SYS_NICE))
		return "the control group has no real-time budget (cpu.rt_runtime_us), or a "
		       "container forbids it";
	return "needs CAP_SYS_NICE or RLIMIT_RTPRIO";
}

int realtime_probe(uint32_t priority, const char **why)
{
	const char *reason = NULL;
	int err = -EPERM;

	if (!kernel_share()) {
		reason = "kernel.sched_rt_runtime_us is too small";
	} else {
		err = remove_hard_limit();
		if (err)
			reason = "needs CAP_SYS_RESOURCE or no hard limit RLIMIT_RTTIME";
	}
	if (!err) {
		err = make_real_time(0, priority);
		if (err)
			reason = explain_refusal();
		else
			make_ordinary(0);
	}
	if (why)
		*why = reason;
	return err;
}

/* ---- the governor ------------------------------------------------------------------------------- */

static uint64_t cpu_ns_of(const struct realtime_thread *t)
{
	struct timespec ts;

	if (clock_gettime(t->clock, &ts))
		return t->cpu_ns;
	return ts.tv_sec * SECOND_NS + ts.tv_nsec;
}

/* CPU time of all threads since they became real-time, or since the last call. */
static uint64_t account(struct realtime *rt)
{
	struct realtime_thread *t;
	uint64_t now_ns, sum = 0;

	pthread_mutex_lock(&rt->lock);
	for (t = rt->threads; t < rt->threads + REALTIME_THREADS_MAX; t++) {
		if (!t->tid)
			continue;
		now_ns = cpu_ns_of(t);
		sum += t->cpu_ns ? now_ns - t->cpu_ns : 0;
		t->cpu_ns = now_ns;
	}
	pthread_mutex_unlock(&rt->lock);
	__atomic_fetch_add(&rt->total_ns, sum, __ATOMIC_RELAXED);
	return sum;
}

static void turn_on(struct realtime *rt)
{
	struct realtime_thread *t;

	pthread_mutex_lock(&rt->lock);
	for (t = rt->threads; t < rt->threads + REALTIME_THREADS_MAX; t++) {
		if (!t->tid)
			continue;
		t->cpu_ns = cpu_ns_of(t);
		make_real_time(t->tid, rt->cfg.priority);
	}
	pthread_mutex_unlock(&rt->lock);
}

static void turn_off(struct realtime *rt)
{
	struct realtime_thread *t;

	pthread_mutex_lock(&rt->lock);
	for (t = rt->threads; t < rt->threads + REALTIME_THREADS_MAX; t++)
		if (t->tid)
			make_ordinary(t->tid);
	pthread_mutex_unlock(&rt->lock);
}

static uint64_t budget_of(const struct realtime *rt, unsigned int fill)
{
	unsigned int share = fill < REALTIME_SHARE_MIN ? REALTIME_SHARE_MIN : fill;

	return REALTIME_PERIOD_NS / 100 * (share < rt->share_max ? share : rt->share_max);
}

static void sleep_until(uint64_t ns)
{
	const struct timespec ts = { .tv_sec = ns / SECOND_NS, .tv_nsec = ns % SECOND_NS };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static bool is_over(const struct realtime *rt)
{
	return __atomic_load_n(&rt->over, __ATOMIC_ACQUIRE);
}

/*
 * One period. Returns the largest fill. Several threads use up the budget faster. What they use beyond
 * it until the next accounting counts for the next period (*debt_ns).
 */
static unsigned int govern_period(struct realtime *rt, uint64_t *debt_ns)
{
	uint64_t now = clock_mono_ns(), end = now + REALTIME_PERIOD_NS;
	uint64_t spent = *debt_ns, budget = 0, step;
	unsigned int fill, most = 0;
	bool on = false;

	while (now < end) {
		fill = rt->need.fill(rt->need.ctx);
		most = fill > most ? fill : most;
		budget = budget_of(rt, fill);
		if (spent >= budget) {
			turn_off(rt);
			sleep_until(end);
			break;
		}
		if (!on)
			turn_on(rt);
		on = true;
		step = (budget - spent) / 2;
		step = step < STEP_MIN_NS ? STEP_MIN_NS : step;
		sleep_until(now + step < end ? now + step : end);
		spent += account(rt);
		now = clock_mono_ns();
	}
	*debt_ns = spent > budget ? spent - budget : 0;
	return most;
}

static void govern_until_calm(struct realtime *rt)
{
	unsigned int calm = 0;
	uint64_t debt_ns = 0;

	limit_runaways();
	while (calm < REALTIME_CALM_PERIODS && !is_over(rt))
		calm = govern_period(rt, &debt_ns) < CALM_PERCENT ? calm + 1 : 0;
	turn_off(rt);
	__atomic_store_n(&rt->asked, false, __ATOMIC_RELEASE);
}

uint64_t realtime_rest_ns(unsigned int fill, uint64_t ns)
{
	uint64_t rest;

	if (fill >= REST_PERCENT)
		return LATE_NS;
	rest = ns * (REST_PERCENT - fill) / (fill ? fill : 1);
	if (rest < LATE_NS)
		return LATE_NS;
	return rest < REST_NS ? rest : REST_NS;
}

/* Whether a buffer that has just reported is not emptied by ordinary threads. */
static bool is_late(const struct realtime *rt)
{
	if (__atomic_load_n(&rt->asked, __ATOMIC_ACQUIRE))
		return true;
	sleep_until(clock_mono_ns() + LATE_NS);
	return rt->need.fill(rt->need.ctx) >= LATE_PERCENT;
}

/* Ends sooner when the threads ask for real-time priority, or when all is over. */
static void rest(const struct realtime *rt, uint64_t ns)
{
	struct pollfd asked = { .fd = rt->event_fd, .events = POLLIN };
	const struct timespec ts = { .tv_nsec = (long)ns };

	ppoll(&asked, 1, &ts, NULL);
}

/* Takes the threads' requests. False: that is not possible. */
static bool take_requests(const struct realtime *rt)
{
	uint64_t cnt;

	return read(rt->event_fd, &cnt, sizeof(cnt)) >= 0 || errno == EAGAIN;
}

/* What was reported before is older than the fill, and the requests, that are read next. */
static void forget_reports(const struct realtime *rt)
{
	struct epoll_event ready[READY_MAX];

	take_requests(rt);
	epoll_wait(rt->epoll_fd, ready, READY_MAX, 0);
}

/*
 * At a steady high rate buffers report each few milliseconds, and are emptied each time: a check of each report would
 * cost two wakeups. So the governor rests for the time that the rate permits. Then a buffer may have reported just
 * now, or be about to report: this waits until it is empty, or too full. Returns whether the threads are late.
 */
static bool is_late_after_rest(const struct realtime *rt)
{
	uint64_t ns = __atomic_load_n(&rt->rest_ns, __ATOMIC_RELAXED);
	unsigned int fill;

	do {
		rest(rt, ns ? ns : LATE_NS);
		forget_reports(rt);
		if (__atomic_load_n(&rt->asked, __ATOMIC_ACQUIRE))
			return true;
		fill = rt->need.fill(rt->need.ctx);
		ns = LATE_NS;
	} while (fill >= LATE_PERCENT && fill < CALM_PERCENT && !is_over(rt));
	return fill >= CALM_PERCENT;
}

static void *govern(void *ctx)
{
	struct realtime *rt = ctx;
	uint32_t higher = rt->cfg.priority + (rt->cfg.priority < PRIORITY_MAX);
	struct epoll_event ready[READY_MAX];
	uint64_t listens_ns = 0;
	bool steady;

	/* RLIMIT_RTPRIO may allow the threads' priority only */
	if (make_real_time(0, higher))
		make_real_time(0, rt->cfg.priority);
	privileges_drop_all_but(1ULL << CAP_SYS_NICE);
	while (!is_over(rt)) {
		if (epoll_wait(rt->epoll_fd, ready, READY_MAX, -1) < 1)
			continue;
		if (!take_requests(rt) || is_over(rt))
			break;
		/* a burst begins with a report after a long time: the rate before it says nothing */
		steady = clock_mono_ns() - listens_ns < STEADY_NS;
		if (is_late(rt) || (steady && is_late_after_rest(rt)))
			govern_until_calm(rt);
		listens_ns = clock_mono_ns();
	}
	return NULL;
}

/* ---- the threads -------------------------------------------------------------------------------- */

static void unblock_limit(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXCPU);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* The slot of a thread; 0: an unused one. NULL: none. */
static struct realtime_thread *find_slot(struct realtime *rt, pid_t tid)
{
	unsigned int i;

	for (i = 0; i < REALTIME_THREADS_MAX; i++)
		if (rt->threads[i].tid == tid)
			return &rt->threads[i];
	return NULL;
}

void realtime_join(struct realtime *rt)
{
	struct realtime_thread *slot;

	if (!rt || !rt->cfg.priority)
		return;
	unblock_limit();
	pthread_mutex_lock(&rt->lock);
	slot = find_slot(rt, 0);
	if (slot) {
		*slot = (struct realtime_thread){ .tid = gettid() };
		pthread_getcpuclockid(pthread_self(), &slot->clock);
	}
	pthread_mutex_unlock(&rt->lock);
}

void realtime_leave(struct realtime *rt)
{
	struct realtime_thread *slot;

	if (!rt || !rt->cfg.priority)
		return;
	pthread_mutex_lock(&rt->lock);
	slot = find_slot(rt, gettid());
	if (slot)
		slot->tid = 0;
	make_ordinary(0);
	pthread_mutex_unlock(&rt->lock);
}

void realtime_begin(struct realtime *rt, const struct realtime_cfg *cfg)
{
	const struct sigaction sa = { .sa_sigaction = on_limit,
				      .sa_flags = SA_RESTART | SA_SIGINFO };
	pthread_mutexattr_t attr;

	*rt = (struct realtime){
		.cfg = *cfg,
		.nice_before = getpriority(PRIO_PROCESS, gettid()),
		.begun = true,
		.epoll_fd = -1,
		.event_fd = -1,
	};
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&rt->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	sigaction(SIGXCPU, &sa, NULL);
	set_nice(cfg->nice);
	realtime_join(rt);
}

static int start_governor(struct realtime *rt)
{
	struct epoll_event ev = { .events = EPOLLIN };
	sigset_t all, before;
	int err;

	rt->share_max = kernel_share();
	rt->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	rt->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (rt->epoll_fd < 0 || rt->event_fd < 0 ||
	    epoll_ctl(rt->epoll_fd, EPOLL_CTL_ADD, rt->event_fd, &ev))
		return -errno;
	err = rt->need.watch(rt->need.ctx, rt->epoll_fd);
	if (err)
		return err;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&rt->governor, NULL, govern, rt);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	rt->governed = !err;
	return err;
}

void realtime_start(struct realtime *rt, const struct realtime_need *need)
{
	const char *why;
	int err;

	if (!rt->cfg.priority)
		return;
	err = realtime_probe(rt->cfg.priority, &why);
	if (err) {
		log_warn("record: no real-time priority: %s; on a busy machine, events may be "
			 "lost (-r 0 hides this)",
			 why);
		return;
	}
	rt->need = *need;
	err = start_governor(rt);
	if (err)
		log_warn("record: no real-time priority: %s", strerror(-err));
}

static void wake_governor(struct realtime *rt)
{
	const uint64_t one = 1;
	ssize_t n = write(rt->event_fd, &one, sizeof(one));

	(void)n; /* a full counter wakes as well */
}

void realtime_note_pass(struct realtime *rt, unsigned int fill, uint64_t now_ns)
{
	if (!rt->governed)
		return;
	if (rt->pass_ns)
		__atomic_store_n(&rt->rest_ns, realtime_rest_ns(fill, now_ns - rt->pass_ns),
				 __ATOMIC_RELAXED);
	rt->pass_ns = now_ns;
}

void realtime_ask(struct realtime *rt)
{
	if (rt->governed && !__atomic_exchange_n(&rt->asked, true, __ATOMIC_ACQ_REL))
		wake_governor(rt);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void realtime_end(struct realtime *rt)
{
	if (!rt->begun || rt->over)
		return;
	__atomic_store_n(&rt->over, true, __ATOMIC_RELEASE);
	if (rt->governed) {
		wake_governor(rt);
		pthread_join(rt->governor, NULL);
	}
	rt->governed = false;
	close_fd(&rt->event_fd);
	close_fd(&rt->epoll_fd);
	set_nice(rt->nice_before);
}

uint64_t realtime_ns(const struct realtime *rt)
{
	return __atomic_load_n(&rt->total_ns, __ATOMIC_RELAXED);
}
