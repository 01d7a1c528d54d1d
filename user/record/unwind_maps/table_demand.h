/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_TABLE_DEMAND_H
#define D9_RECORD_UNWIND_MAPS_TABLE_DEMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_unwind_module;

/* Which unwind tables are worth waiting for: not tables of files that never answer. */
struct table_demand;

/* modules: borrowed, cnt slots. */
struct table_demand *table_demand_new(const struct prof_unwind_module *modules, uint32_t cnt);
void table_demand_free(struct table_demand *a);

/* The table of the module in this slot was requested now. */
void table_demand_ask(struct table_demand *a, uint32_t slot);
/*
 * Whether a stack of that time (CLOCK_MONOTONIC, ns) should wait for the table of a slot. PROF_UNWIND_SOON: for a
 * file to be identified.
 */
bool table_demand_is(const struct table_demand *a, uint32_t slot, uint64_t time);
/* Bytes held. */
size_t table_demand_memory(const struct table_demand *a);

#endif
