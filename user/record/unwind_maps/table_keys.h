/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_TABLE_KEYS_H
#define D9_RECORD_UNWIND_MAPS_TABLE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frames_from;
struct map;
struct store;
struct sym_client;
struct sym_client_answer;

/* Which unwind table a mapping is walked by, and from which file it is made. SECURITY.md has the rule. */
struct table_keys;

/* Both are borrowed. broker NULL: there are no tables. Never fails. */
struct table_keys *table_keys_new(struct sym_client *broker, struct store *store);
void table_keys_free(struct table_keys *t);

/*
 * The slot of the table for a mapping whose file is identified (frames_identify()), by a process that maps
 * it; PROF_UNWIND_NO_SLOT when there are too many, or when the file is not ours and the process is gone. It
 * may be another one when table_keys_moves() has changed.
 */
uint32_t table_keys_slot(struct table_keys *t, const struct frames_from *from, const struct map *m);
uint32_t table_keys_moves(const struct table_keys *t);

/* Who maps it and where, as far as is known by now; 0 and NULL: nobody. */
void table_keys_note(struct table_keys *t, uint32_t slot, const struct frames_from *from,
		     const struct map *m);
/* Asks the broker for the table that store_expect() or store_next_needed() have just said is expected. */
void table_keys_ask(struct table_keys *t, uint32_t slot);
/* The process that was noted last, 0: none. */
uint32_t table_keys_pid(const struct table_keys *t, uint32_t slot);
/* Takes the broker's SYM_CLIENT_TABLE answer: the table goes into the store. */
void table_keys_answer(struct table_keys *t, const struct sym_client_answer *answer);

/* Bytes held. */
size_t table_keys_memory(const struct table_keys *t);

#endif
