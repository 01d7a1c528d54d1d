/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_REALTIME_H
#define D9_KERNEL_REALTIME_H

#include <stdbool.h>
#include <stdint.h>

enum {
	REALTIME_BUDGET_NS = 50 * 1000000, /* CPU time at real-time priority per second */
	REALTIME_CALM_PASSES = 16, /* passes with few records before real-time priority ends */
};

struct realtime_cfg {
	uint32_t priority; /* 1 to 99; 0: never real-time */
	int nice; /* nice value without real-time priority */
};

/*
 * Priority of the calling thread, which drains the rings. It is real-time (SCHED_FIFO) while rings
 * fill up, for at most REALTIME_BUDGET_NS of CPU time per second. Otherwise it is SCHED_OTHER with
 * a nice value. If the kernel refuses, it stays ordinary, with one line at -v.
 */
struct realtime {
	struct realtime_cfg cfg;
	int nice_before;
	bool refused; /* the kernel does not allow real-time priority */
	bool on;
	unsigned int calm; /* consecutive passes with few records */
	uint64_t window_end_ns; /* end of the second of this budget */
	uint64_t spent_ns; /* used budget */
	uint64_t cpu_ns; /* CPU time of the thread at the last accounting */
	uint64_t total_ns;
};

/* Sets the nice value and the handler for the signal that ends a long real-time pass. */
void realtime_begin(struct realtime *rt, const struct realtime_cfg *cfg);
/* Call before each pass. filling: a ring is so full that a late pass could lose records. */
void realtime_before_pass(struct realtime *rt, uint64_t now_ns, bool filling);
/* Call regularly within a pass: ends real-time priority if the budget is used up. */
void realtime_within_pass(struct realtime *rt, uint64_t now_ns);
/* Restores the original priority of the thread. */
void realtime_end(struct realtime *rt);
/* CPU time at real-time priority, up to the last of these calls. */
uint64_t realtime_ns(const struct realtime *rt);

#endif
