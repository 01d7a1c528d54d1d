/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_UNUSED_SLOTS_H
#define D9_RECORD_UNWIND_MAPS_UNUSED_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

struct lists;
struct live_maps;
struct store;

/* Frees the slots without a mapping in a list or a process. @idle: see store_release(). */
void unused_slots_release(struct store *store, struct lists *lists, struct live_maps *processes,
			  uint32_t slot_cnt, bool idle);

#endif
