/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_UNWIND_LISTS_H
#define D9_UNWIND_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prof_unwind.h"

struct waiter;

/* Which process has which list of mappings, where the programs look for it. */
struct lists;

struct lists_cfg {
	struct prof_unwind_map *maps; /* borrowed, as all here; zeroed */
	uint32_t map_cnt;
	struct prof_unwind_proc *procs;
	uint32_t proc_cnt; /* a power of two */
	uint64_t *condemned; /* a bit for each PROF_UNWIND_LIST_ROUND of map_cnt: do not hand it on */
	uint32_t *generation; /* raised before a list's place is another's: walks by it are kept */
	struct waiter *waiter;
};

struct lists_counts {
	uint64_t published;
	uint64_t taken_back; /* lists, for want of room, of the owner who had most of it */
	uint32_t live, live_maps; /* lists, and mappings in them */
};

struct lists *lists_new(const struct lists_cfg *cfg);
void lists_free(struct lists *l);

/*
 * Gives a process a list of its own, sorted and without overlaps, which is copied; nothing is done when
 * it has an equal one. `owner` is who answers for the process: when room is short, owners with less
 * have it before those with more. *execs is how many
 * execs the caller has heard of since the process had its place, and set to 0 when it gets one now.
 * -EAGAIN: as many have not happened, or more: what is known is of another program. -ENFILE: no place
 * for the process; -ENOSPC: none for the list, yet. The list that it had stays then.
 */
int lists_publish(struct lists *l, uint32_t tgid, uint64_t owner, uint32_t *execs,
		  const struct prof_unwind_map *maps, uint32_t cnt);
/* How many execs have been counted in the process's place; false: it has none. */
bool lists_find(const struct lists *l, uint32_t tgid, uint32_t *execs);
/* Whether the process still has the memory of the one that forked it, as vfork and CLONE_VM leave it. */
bool lists_shares_memory(const struct lists *l, uint32_t tgid);
/* Takes a place for the process, without a list, if it has none. False: there is none to be had. */
bool lists_claim(struct lists *l, uint32_t tgid);
/* Whether walks of a process find a list. */
bool lists_has_list(const struct lists *l, uint32_t tgid);
/* The process has no list, but keeps its place. */
void lists_withdraw(struct lists *l, uint32_t tgid);
/* The process is gone. */
void lists_remove(struct lists *l, uint32_t tgid);

/* Frees what nobody has any more; to be called some ten times a second. */
void lists_step(struct lists *l);

/* Calls fn for each mapping in a list that is live. */
void lists_each_map(const struct lists *l, void (*fn)(void *ctx, const struct prof_unwind_map *m),
		    void *ctx);
void lists_count(const struct lists *l, struct lists_counts *out);

#endif /* D9_UNWIND_LISTS_H */
