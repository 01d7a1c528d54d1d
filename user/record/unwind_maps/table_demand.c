// SPDX-License-Identifier: BSD-2-Clause
/*
 * table_demand.c - how long stacks wait for unwind tables
 *
 * Two limits apply. A stack waits for a limited time, since all later records wait as well. A table that is late by
 * that time is no longer waited for.
 */
#include "record/unwind_maps/table_demand.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "prof_unwind.h"

#define MS_NS 1000000ULL
#define STACK_NS (3000 * MS_NS)
#define TABLE_NS (2000 * MS_NS)

struct table_demand {
	const struct prof_unwind_module *modules;
	uint32_t cnt;
	uint64_t *asked_ns; /* by slot; 0: not requested yet */
};

struct table_demand *table_demand_new(const struct prof_unwind_module *modules, uint32_t cnt)
{
	struct table_demand *a = xcalloc(1, sizeof(*a));

	a->modules = modules;
	a->cnt = cnt;
	a->asked_ns = xcalloc(cnt, sizeof(*a->asked_ns));
	return a;
}

void table_demand_free(struct table_demand *a)
{
	if (a)
		free(a->asked_ns);
	free(a);
}

void table_demand_ask(struct table_demand *a, uint32_t slot)
{
	if (slot < a->cnt)
		a->asked_ns[slot] = clock_mono_ns();
}

bool table_demand_is(const struct table_demand *a, uint32_t slot, uint64_t time)
{
	uint64_t now = clock_mono_ns();
	const struct prof_unwind_module *m;

	if (now >= time + STACK_NS)
		return false;
	if (slot >= a->cnt)
		return slot == PROF_UNWIND_SOON;
	m = &a->modules[slot];
	return !m->table && !m->without && !m->left_out &&
	       (!a->asked_ns[slot] || now - a->asked_ns[slot] < TABLE_NS);
}

size_t table_demand_memory(const struct table_demand *a)
{
	return sizeof(*a) + a->cnt * sizeof(*a->asked_ns);
}
