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

/* The unwind table of a mapping, and the file that it is made from. SECURITY.md has the rule. */
struct table_keys;

/* Both are borrowed. broker NULL: there are no tables. Never fails. */
struct table_keys *table_keys_new(struct sym_client *broker, struct store *store);
void table_keys_free(struct table_keys *t);

/*
 * The slot of the table for a mapping of an identified file (frames_identify()), mapped by a process.
 * PROF_UNWIND_NO_SLOT if there are too many, or if the file is not ours and the process has ended. It may differ
 * after table_keys_moves() has changed.
 */
uint32_t table_keys_slot(struct table_keys *t, const struct frames_from *from, const struct map *m);
uint32_t table_keys_moves(const struct table_keys *t);

/* Notes a process that maps it, and the place; 0 and NULL: none. */
void table_keys_note(struct table_keys *t, uint32_t slot, const struct frames_from *from,
		     const struct map *m);
/* Requests the table returned by store_expect() or store_next_needed() from the broker. */
void table_keys_ask(struct table_keys *t, uint32_t slot);
/* The last noted process, 0: none. */
uint32_t table_keys_pid(const struct table_keys *t, uint32_t slot);
/* Handles the broker's SYM_CLIENT_TABLE answer: adds the table to the store. */
void table_keys_answer(struct table_keys *t, const struct sym_client_answer *answer);

/* Bytes held. */
size_t table_keys_memory(const struct table_keys *t);

#endif
