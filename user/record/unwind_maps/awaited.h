/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_AWAITED_H
#define D9_RECORD_UNWIND_MAPS_AWAITED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_unwind_module;

/* Which unwind tables are worth waiting for: not those of files that never answer. */
struct awaited;

/* modules: borrowed, cnt slots. */
struct awaited *awaited_new(const struct prof_unwind_module *modules, uint32_t cnt);
void awaited_free(struct awaited *a);

/* The table of the module in this slot is asked for now. */
void awaited_ask(struct awaited *a, uint32_t slot);
/* Whether a stack of that time (CLOCK_MONOTONIC, ns) is to wait for the table of a slot, or, if that is
 * PROF_UNWIND_SOON, for a file to be identified. */
bool awaited_is(const struct awaited *a, uint32_t slot, uint64_t time);
/* Bytes held. */
size_t awaited_memory(const struct awaited *a);

#endif
