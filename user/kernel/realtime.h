/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_REALTIME_H
#define D9_KERNEL_REALTIME_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum {
	REALTIME_PERIOD_NS = 10 * 1000000,
	REALTIME_SHARE_MIN = 5, /* percent of one CPU at real-time priority, for all threads */
	REALTIME_SHARE_MAX = 50,
	REALTIME_CALM_PERIODS = 16, /* with little data, before real-time priority ends */
	REALTIME_THREADS_MAX = 4,
};

struct realtime_cfg {
	uint32_t priority; /* 1 to 99; 0: never real-time */
	int nice; /* nice value without real-time priority */
};

/* When threads need real-time priority. The functions are called by another thread. */
struct realtime_need {
	/* Reports by epoll that a buffer fills up. 0 or -errno. */
	int (*watch)(void *ctx, int epoll_fd);
	/* Percent of the fullest buffer */
	unsigned int (*fill)(void *ctx);
	void *ctx;
};

struct realtime_thread {
	pid_t tid; /* 0: unused */
	clockid_t clock;
	uint64_t cpu_ns; /* at the last accounting */
};

/*
 * Real-time priority (SCHED_FIFO) of the threads that empty buffers. They have it only while a
 * buffer fills up. On average all of them together run at that priority for at most a share of
 * one CPU; the share in percent equals the fill of the fullest buffer, within SHARE_MIN and
 * SHARE_MAX. At other times they are SCHED_OTHER with a nice value.
 */
struct realtime {
	struct realtime_cfg cfg;
	struct realtime_need need;
	pthread_mutex_t lock; /* protects the threads and their priorities */
	struct realtime_thread threads[REALTIME_THREADS_MAX];
	int nice_before; /* of the thread that called realtime_begin() */
	unsigned int share_max; /* percent, also limited by the kernel */
	int epoll_fd, event_fd;
	pthread_t governor;
	bool begun;
	bool governed; /* the governor runs */
	bool asked, over;
	uint64_t total_ns;
	uint64_t pass_ns; /* start of the last pass; 0: none yet */
	uint64_t rest_ns; /* from a report to a check; 0: not known yet */
};

/* The calling thread takes part and gets the nice value. */
void realtime_begin(struct realtime *rt, const struct realtime_cfg *cfg);
/*
 * Another thread takes part; it leaves, or ends after realtime_end(). If there are too many threads,
 * it stays ordinary. NULL: nothing.
 */
void realtime_join(struct realtime *rt);
/* The calling thread does not take part any more, and is ordinary. */
void realtime_leave(struct realtime *rt);
/*
 * Starts the thread that sets priorities. If the kernel refuses real-time priority, prints one line
 * and does nothing.
 */
void realtime_start(struct realtime *rt, const struct realtime_need *need);
/* Requests real-time priority before a buffer reports anything. */
void realtime_ask(struct realtime *rt);
/*
 * For the thread that empties the buffers: it begins at @now_ns, when the fullest buffer has @fill percent.
 * The rate at which they fill up follows from that. At a low rate, the governor checks them seldom.
 */
void realtime_note_pass(struct realtime *rt, unsigned int fill, uint64_t now_ns);
/* Makes all threads ordinary. The caller, who called realtime_begin(), gets its nice value back. */
void realtime_end(struct realtime *rt);
/* CPU time at real-time priority until now. */
uint64_t realtime_ns(const struct realtime *rt);

/* How long a buffer that got @fill percent full within @ns needs no check: then it is half full. */
uint64_t realtime_rest_ns(unsigned int fill, uint64_t ns);
/*
 * Whether the kernel allows the calling thread real-time priority: 0 or -errno. *why, if not NULL, is
 * the reason, and what to do.
 */
int realtime_probe(uint32_t priority, const char **why);
/*
 * The largest share in percent of one CPU that leaves the kernel's own limit for real-time tasks
 * untouched, at most REALTIME_SHARE_MAX. 0: none. @runtime_us: -1 for no limit.
 */
unsigned int realtime_share_max(long runtime_us, long period_us);

#endif
