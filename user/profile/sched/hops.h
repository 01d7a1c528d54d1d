/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SCHED_HOPS_H
#define D9_PROFILE_SCHED_HOPS_H

#include "profile/sched/cpu_log.h"
#include "profile/sched/rivals.h"

/* So many are remembered, the latest. */
#define HOPS_MAX 4

/* A CPU on whose queue a thread waits, from a time on; TRACE_NONE: unknown which. */
struct hop {
	uint64_t since;
	uint32_t cpu;
};

/* The queues on which a thread waits, one after the other. {0} is empty. */
struct hops {
	struct hop v[HOPS_MAX];
	uint8_t cnt;
};

/* Times do not step back. */
void hops_add(struct hops *h, uint32_t cpu, uint64_t since);
/* The CPU that it waits for now; TRACE_NONE: unknown. */
uint32_t hops_cpu(const struct hops *h);

/* Whether @tid, who was switched in last on a CPU, is known to be there still. */
typedef bool (*hops_stays_fn)(const void *ctx, uint32_t tid);

struct hops_behind {
	const struct cpu_log *cpus; /* borrowed */
	hops_stays_fn stays;
	const void *ctx;
	/* added to: */
	struct rivals rivals; /* who ran; pid and comm are not known */
	uint64_t unknown_ns; /* when it is not known who did */
};

/* Behind whom a thread waited during the interval @i, of which @h are the queues. */
void hops_behind(const struct hops *h, const struct interval *i, struct hops_behind *b);

#endif /* D9_PROFILE_SCHED_HOPS_H */
