// SPDX-License-Identifier: BSD-2-Clause
/* unused_slots.c - frees the slots of modules that no process maps any more */
#include "record/unwind_maps/unused_slots.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "record/unwind_maps/live_maps.h"
#include "unwind/lists.h"
#include "unwind/store.h"

struct used {
	bool *v; /* by slot */
	uint32_t cnt;
};

/* A mapping without a slot has a number above the last one. */
static void mark(const struct used *used, uint32_t slot)
{
	if (slot < used->cnt)
		used->v[slot] = true;
}

static void mark_listed(void *ctx, const struct prof_unwind_map *m)
{
	mark(ctx, m->slot);
}

static void mark_mapped(void *ctx, struct live_maps_proc *p)
{
	const struct map *m;
	uint64_t addr;

	for (addr = 0; (m = proc_maps_next(&p->maps, addr)); addr = m->end)
		if (m->module_id)
			mark(ctx, m->slot);
}

void unused_slots_release(struct store *store, struct lists *lists, struct live_maps *processes,
			  uint32_t slot_cnt, bool idle)
{
	struct used used = { xcalloc(slot_cnt, sizeof(*used.v)), slot_cnt };

	lists_each_map(lists, mark_listed, &used);
	live_maps_each(processes, mark_mapped, &used);
	store_release(store, used.v, idle);
	free(used.v);
}
