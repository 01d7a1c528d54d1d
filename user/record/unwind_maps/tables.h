/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_TABLES_H
#define D9_RECORD_UNWIND_MAPS_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frames_from;
struct map;
struct store;
struct symbroker;
struct symbroker_answer;

/* Which unwind table a mapping is walked by, and from which file it is made. SECURITY.md has the rule. */
struct tables;

/* Both are borrowed. broker NULL: there are no tables. Never fails. */
struct tables *tables_new(struct symbroker *broker, struct store *store);
void tables_free(struct tables *t);

/*
 * The slot of the table for a mapping whose file is identified (frames_identify()), by a process that maps
 * it; PROF_UNWIND_NO_SLOT when there are too many, or when the file is not ours and the process is gone. It
 * may be another one when tables_moves() has changed.
 */
uint32_t tables_slot(struct tables *t, const struct frames_from *from, const struct map *m);
uint32_t tables_moves(const struct tables *t);

/* Who maps it and where, as far as is known by now; 0 and NULL: nobody. */
void tables_note(struct tables *t, uint32_t slot, const struct frames_from *from,
		 const struct map *m);
/* Asks the broker for the table that store_expect() or store_next_needed() have just said is expected. */
void tables_ask(struct tables *t, uint32_t slot);
/* The process that was noted last, 0: none. */
uint32_t tables_pid(const struct tables *t, uint32_t slot);
/* Takes the broker's SYMBROKER_TABLE answer: the table goes into the store. */
void tables_answer(struct tables *t, const struct symbroker_answer *answer);

/* Bytes held. */
size_t tables_memory(const struct tables *t);

#endif
