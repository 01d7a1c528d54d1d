/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_UNWIND_STORE_H
#define D9_UNWIND_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prof_unwind.h"
#include "unwind/table.h"

struct waiter;

/* Which files have a table where the programs look for it, and which should have one. */
struct store;

struct store_cfg {
	struct prof_unwind_module *modules; /* borrowed, as all here; zeroed */
	uint32_t module_cnt;
	uint32_t block_max; /* of PROF_UNWIND_BLOCK_WORDS words; room for tables */
	struct waiter *waiter;
	uint32_t *generation; /* raised when a table goes: walks remember its rows */
};

struct store_counts {
	uint64_t put; /* tables that came into reach */
	uint64_t evicted;
	uint64_t left_out; /* tables for which there was no room */
	uint64_t modules_left_out; /* times that a key found no slot */
	uint64_t slots_freed;
	uint64_t bytes; /* that tables take up now */
};

struct store *store_new(const struct store_cfg *cfg);
void store_free(struct store *s);

/* The slot of a file by what identifies it: PROF_UNWIND_NO_SLOT when there are too many. */
uint32_t store_slot(struct store *s, const void *key, size_t sz);
/* Whether some key found no slot, and store_release() may help. */
bool store_is_short(const struct store *s);
/*
 * Takes the slots back that are not held (an element for each of cfg.module_cnt), but for those of
 * tables on their way; after a period of grace they are free. No list may hold one, nor may the caller:
 * the same number will be another file's. @idle_only: only those whose table nobody used for half a minute.
 */
void store_release(struct store *s, const bool *held, bool idle_only);
/* Whether more memory for tables will be asked for soon, which those that are idle may spare. */
bool store_is_crowded(const struct store *s);
/* Changes when slots became free that were wanting. */
uint32_t store_frees(const struct store *s);

/*
 * Whether a table is to be asked for: there is none, none is on its way, and it is not known that there
 * cannot be one. True only once, then the table is expected.
 */
bool store_expect(struct store *s, uint32_t slot);
/*
 * The next slot whose module walks came to and had no table, expected from here on; *pos begins with 0.
 * False at the end.
 */
bool store_next_needed(struct store *s, uint32_t *pos, uint32_t *slot);

/* The table that was expected, which has passed unwind_table_check(). It is copied, and comes into reach
 * in a store_step(). */
void store_put(struct store *s, uint32_t slot, const struct unwind_table *t);
/* There is none. again: it may be expected another time. */
void store_put_none(struct store *s, uint32_t slot, bool again);
/* The key is nobody's, and lists are to have other slots in its place: for as long as it is known. */
void store_put_elsewhere(struct store *s, uint32_t slot);
bool store_is_elsewhere(const struct store *s, uint32_t slot);

/* Moves things on; to be called some ten times a second. Does bounded work and waits for nothing. */
void store_step(struct store *s, uint64_t now_ns);

/* Whether each table that was expected is in reach or never will be. */
bool store_is_settled(const struct store *s);
void store_count(const struct store *s, struct store_counts *out);
/* Bytes held beside the tables. */
size_t store_memory(const struct store *s);

#endif /* D9_UNWIND_STORE_H */
