// SPDX-License-Identifier: BSD-2-Clause
/* Busy time, run-queue latency and migrations by CPU. Numbers only. */
#include "profile/sums/cpu_load.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static struct cpu_load_row *row_of(struct cpu_load *l, uint32_t cpu)
{
	if (cpu >= INTERVAL_CPUS_MAX)
		return NULL;
	if (cpu >= l->cnt) {
		l->cpus = array_reserve(l->cpus, &l->cap, (size_t)cpu + 1, sizeof(*l->cpus));
		memset(&l->cpus[l->cnt], 0, (cpu + 1 - l->cnt) * sizeof(*l->cpus));
		l->cnt = (size_t)cpu + 1;
	}
	return &l->cpus[cpu];
}

static void run(struct cpu_load *l, struct cpu_load_row *r, const struct interval *i)
{
	const uint64_t key = (uint64_t)i->part << 32 | i->tid;
	const uintptr_t before = (uintptr_t)hmap_get(&l->last, key);

	r->busy_ns += i->end - i->start;
	/* not if it was on the CPU before the trace or window */
	if (!(i->flags & (INTERVAL_EDGE_START | INTERVAL_CLIP_START))) {
		r->switches++;
		r->migrations += before && before != (uintptr_t)i->cpu + 1;
	}
	hmap_set(&l->last, key, (void *)((uintptr_t)i->cpu + 1));
}

void cpu_load_add(struct cpu_load *l, const struct interval *i)
{
	const uint64_t ns = i->end - i->start;
	struct cpu_load_row *r;

	if (i->state != INTERVAL_RUNNING && i->state != INTERVAL_RUNNABLE)
		return;
	r = i->cpu == TRACE_NONE && i->state == INTERVAL_RUNNABLE ? &l->unknown_cpu :
								    row_of(l, i->cpu);
	if (!r)
		return;
	r->used = true;
	if (i->state == INTERVAL_RUNNING) {
		run(l, r, i);
		return;
	}
	r->wait_ns += ns;
	if (ns > r->wait_max_ns) {
		r->wait_max_ns = ns;
		r->wait_max_start = i->start;
		r->wait_max_tid = i->tid;
	}
}

struct cpu_load_row cpu_load_sum(const struct cpu_load *l)
{
	struct cpu_load_row sum = l->unknown_cpu;

	for (size_t k = 0; k < l->cnt; k++) {
		const struct cpu_load_row *r = &l->cpus[k];

		sum.used |= r->used;
		sum.busy_ns += r->busy_ns;
		sum.wait_ns += r->wait_ns;
		sum.switches += r->switches;
		sum.migrations += r->migrations;
		if (r->wait_max_ns > sum.wait_max_ns) {
			sum.wait_max_ns = r->wait_max_ns;
			sum.wait_max_start = r->wait_max_start;
			sum.wait_max_tid = r->wait_max_tid;
		}
	}
	return sum;
}

void cpu_load_fini(struct cpu_load *l)
{
	free(l->cpus);
	hmap_fini(&l->last);
	memset(l, 0, sizeof(*l));
}
