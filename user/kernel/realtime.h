/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_REALTIME_H
#define D9_KERNEL_REALTIME_H

#include <stdbool.h>
#include <stdint.h>

enum {
	REALTIME_BUDGET_NS = 50 * 1000000, /* of CPU time at real-time priority in a second */
	REALTIME_CALM_PASSES = 16, /* which find little, until it is given back */
};

struct realtime_cfg {
	uint32_t priority; /* 1 to 99; 0: never real time */
	int nice; /* while it is not */
};

/*
 * The priority of the calling thread, which drains. Real time (SCHED_FIFO) while rings fill, with a
 * budget of REALTIME_BUDGET_NS of CPU time in each second; SCHED_OTHER with a nice value else. What
 * the kernel refuses is done without, after one line at -v.
 */
struct realtime {
	struct realtime_cfg cfg;
	int nice_before;
	bool refused; /* the kernel allows no real time here */
	bool on;
	unsigned int calm; /* passes in a row that found little */
	uint64_t window_end_ns; /* of the second that the budget is for */
	uint64_t spent_ns; /* of the budget */
	uint64_t cpu_ns; /* the thread's CPU time up to which is accounted */
	uint64_t total_ns;
};

/* Takes the nice value, and the signal that ends real time when a pass forgets to look. */
void realtime_begin(struct realtime *rt, const struct realtime_cfg *cfg);
/* Before each pass. filling: a ring has filled so far that a late pass could lose something. */
void realtime_before_pass(struct realtime *rt, uint64_t now_ns, bool filling);
/* Now and then within a pass, which may be long: gives real time back once the budget is used up. */
void realtime_within_pass(struct realtime *rt, uint64_t now_ns);
/* Back to what the thread was. */
void realtime_end(struct realtime *rt);
/* CPU time spent at real-time priority, up to the last call of one of those above. */
uint64_t realtime_ns(const struct realtime *rt);

#endif
