/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_UNWIND_STORE_H
#define D9_UNWIND_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prof_unwind.h"
#include "unwind/table.h"

struct waiter;

/* Unwind tables of files, in the memory of the BPF programs, and requests for more tables */
struct store;

struct store_cfg {
	struct prof_unwind_module *modules; /* borrowed, like all pointers here; zeroed */
	uint32_t module_cnt;
	uint32_t block_max; /* number of blocks of PROF_UNWIND_BLOCK_WORDS words for tables */
	struct waiter *waiter;
	/* incremented when a table is removed, because walks cache its rows */
	uint32_t *generation;
};

struct store_counts {
	uint64_t put; /* tables published */
	uint64_t evicted;
	uint64_t left_out; /* tables without room */
	uint64_t modules_left_out; /* keys that found no slot */
	uint64_t slots_freed;
	uint64_t bytes; /* size of all published tables */
};

struct store *store_new(const struct store_cfg *cfg);
void store_free(struct store *s);

/* The slot of the file with this key; PROF_UNWIND_NO_SLOT if all slots are used. */
uint32_t store_slot(struct store *s, const void *key, size_t sz);
/* Whether a key found no slot, so that store_release() may help. */
bool store_is_short(const struct store *s);
/*
 * Releases all slots that are not held (@held has cfg.module_cnt elements), except slots with
 * tables under way. They are free after a grace period. No list and no caller may use a released
 * slot, because its number is reused for another file. @idle_only: only slots whose table was
 * unused for half a minute.
 */
void store_release(struct store *s, const bool *held, bool idle_only);
/* Whether more memory is needed soon, so that releasing idle tables helps. */
bool store_is_crowded(const struct store *s);
/* A counter that changes when slots become free after a shortage. */
uint32_t store_frees(const struct store *s);

/*
 * Whether to request a table: there is none, none is under way, and one may exist. Returns true
 * once; then the table is expected.
 */
bool store_expect(struct store *s, uint32_t slot);
/*
 * The next slot whose missing table was needed by a walk. The table is then expected. *pos starts
 * with 0. False at the end.
 */
bool store_next_needed(struct store *s, uint32_t *pos, uint32_t *slot);

/*
 * Stores an expected table, which has passed unwind_table_check(). The table is copied and
 * published by a later store_step().
 */
void store_put(struct store *s, uint32_t slot, const struct unwind_table *t);
/* An expected table does not exist. again: it may be requested again. */
void store_put_none(struct store *s, uint32_t slot, bool again);
/* Lists use other slots in place of this one, while the key is known. */
void store_put_elsewhere(struct store *s, uint32_t slot);
bool store_is_elsewhere(const struct store *s, uint32_t slot);

/*
 * Publishes, frees and evicts. Call some ten times per second. Does bounded work and never blocks.
 */
void store_step(struct store *s, uint64_t now_ns);

/* Whether each expected table is published or refused. */
bool store_is_settled(const struct store *s);
void store_count(const struct store *s, struct store_counts *out);
/* Bytes of memory in addition to the tables. */
size_t store_memory(const struct store *s);

#endif /* D9_UNWIND_STORE_H */
