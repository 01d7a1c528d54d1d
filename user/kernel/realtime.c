// SPDX-License-Identifier: BSD-2-Clause
/*
 * realtime.c - real-time priority with a budget
 *
 * A ring holds some hundredths of a second of a busy CPU. On an overloaded machine an ordinary
 * thread may be runnable for longer. A real-time thread with endless work starves all others, and
 * recorded programs create the work. So the recorder uses real-time priority only if it needs it,
 * with three limits: a check within each pass; RLIMIT_RTTIME, whose signal handler makes the thread
 * ordinary at any point; and SCHED_RESET_ON_FORK.
 */
#include "kernel/realtime.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

#define SECOND_NS 1000000000ULL

static uint64_t thread_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * SECOND_NS + ts.tv_nsec;
}

static bool is_real_time(void)
{
	return (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_FIFO;
}

/* Keeps SCHED_RESET_ON_FORK, because clearing it needs CAP_SYS_NICE. */
static void become_ordinary(void)
{
	const struct sched_param none = { .sched_priority = 0 };

	sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &none);
}

/*
 * Handles the signal of RLIMIT_RTTIME, which the kernel sends to the thread that ran too long.
 * SIGXCPU for any other limit still ends the process.
 */
static void on_limit(int sig)
{
	int saved = errno;

	if (is_real_time()) {
		become_ordinary();
	} else {
		signal(sig, SIG_DFL);
		raise(sig);
	}
	errno = saved;
}

/* Sets the soft limit again, because the kernel raises it each time it is reached. */
static void limit_real_time(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_RTTIME, &lim))
		return;
	lim.rlim_cur = REALTIME_BUDGET_NS / 1000;
	if (lim.rlim_cur > lim.rlim_max)
		lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_RTTIME, &lim);
}

static void set_nice(int nice)
{
	if (setpriority(PRIO_PROCESS, gettid(), nice))
		log_info("record: no nice value of %d: %s", nice, strerror(errno));
}

void realtime_begin(struct realtime *rt, const struct realtime_cfg *cfg)
{
	const struct sigaction sa = { .sa_handler = on_limit, .sa_flags = SA_RESTART };

	*rt = (struct realtime){ .cfg = *cfg, .nice_before = getpriority(PRIO_PROCESS, gettid()) };
	sigaction(SIGXCPU, &sa, NULL);
	set_nice(cfg->nice);
}

static void turn_on(struct realtime *rt)
{
	const struct sched_param param = { .sched_priority = rt->cfg.priority };

	limit_real_time();
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param)) {
		log_info("record: no real-time priority: %s", strerror(errno));
		rt->refused = true;
		return;
	}
	rt->on = true;
	rt->calm = 0;
	rt->cpu_ns = thread_cpu_ns();
}

static void turn_off(struct realtime *rt)
{
	become_ordinary();
	rt->on = false;
}

/* Adds the CPU time since the last call. */
static void account(struct realtime *rt, uint64_t now_ns)
{
	uint64_t cpu_ns, used;
	bool cut;

	if (now_ns >= rt->window_end_ns) {
		rt->window_end_ns = now_ns + SECOND_NS;
		rt->spent_ns = 0;
	}
	if (!rt->on)
		return;
	cpu_ns = thread_cpu_ns();
	used = cpu_ns - rt->cpu_ns;
	rt->cpu_ns = cpu_ns;
	/* the limit was reached first; the thread spent the rest as an ordinary thread */
	cut = !is_real_time();
	if (cut && used > REALTIME_BUDGET_NS)
		used = REALTIME_BUDGET_NS;
	rt->total_ns += used;
	rt->spent_ns = cut ? REALTIME_BUDGET_NS : rt->spent_ns + used;
	rt->on = !cut;
}

void realtime_before_pass(struct realtime *rt, uint64_t now_ns, bool filling)
{
	if (!rt->cfg.priority || rt->refused)
		return;
	account(rt, now_ns);
	rt->calm = filling ? 0 : rt->calm + 1;
	if (rt->on && rt->calm >= REALTIME_CALM_PASSES)
		turn_off(rt);
	else if (!rt->on && filling && rt->spent_ns < REALTIME_BUDGET_NS)
		turn_on(rt);
}

void realtime_within_pass(struct realtime *rt, uint64_t now_ns)
{
	if (!rt->on)
		return;
	account(rt, now_ns);
	if (rt->on && rt->spent_ns >= REALTIME_BUDGET_NS)
		turn_off(rt);
}

void realtime_end(struct realtime *rt)
{
	account(rt, 0);
	if (rt->on)
		turn_off(rt);
	set_nice(rt->nice_before);
}

uint64_t realtime_ns(const struct realtime *rt)
{
	return rt->total_ns;
}
