/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_UNWIND_LISTS_H
#define D9_UNWIND_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prof_unwind.h"

struct waiter;

/* The mapping lists of processes, in the memory of the BPF programs */
struct lists;

struct lists_cfg {
	struct prof_unwind_map *maps; /* borrowed, like all pointers here; zeroed */
	uint32_t map_cnt;
	struct prof_unwind_proc *procs;
	uint32_t proc_cnt; /* a power of two */
	/* a bit per PROF_UNWIND_LIST_ROUND of map_cnt: forks do not copy the list */
	uint64_t *condemned;
	uint32_t *generation; /* incremented before a place is reused, because walks cache it */
	struct waiter *waiter;
};

struct lists_counts {
	uint64_t published;
	uint64_t taken_back; /* lists taken back from the owner with the most room */
	uint32_t live, live_maps; /* lists, and mappings in them */
};

struct lists *lists_new(const struct lists_cfg *cfg);
void lists_free(struct lists *l);

/*
 * Gives a process its own list, which must be sorted without overlaps. The list is copied; if the
 * process has an equal list, nothing changes. If room is short, `owner`s with less room have
 * priority. *execs is the number of execs that the caller knows of since the process got its place;
 * it is set to 0 if the process gets its place now. Returns 0; -EAGAIN if the counts differ: the
 * caller's data belongs to another program; -ENFILE if there is no place for the process; -ENOSPC
 * if there is no room for the list yet. After an error the process keeps its old list.
 */
int lists_publish(struct lists *l, uint32_t tgid, uint64_t owner, uint32_t *execs,
		  const struct prof_unwind_map *maps, uint32_t cnt);
/* Reads the number of execs counted in the place of the process; false if it has no place. */
bool lists_find(const struct lists *l, uint32_t tgid, uint32_t *execs);
/* Whether the process still shares the memory of its parent, as after vfork or CLONE_VM. */
bool lists_shares_memory(const struct lists *l, uint32_t tgid);
/*
 * Makes sure that the process has a place, without a list if it is new; false if no place is free.
 */
bool lists_claim(struct lists *l, uint32_t tgid);
/* Whether walks of a process find a list. */
bool lists_has_list(const struct lists *l, uint32_t tgid);
/* Removes the list of the process; the process keeps its place. */
void lists_withdraw(struct lists *l, uint32_t tgid);
/* Removes a process that has exited. */
void lists_remove(struct lists *l, uint32_t tgid);

/* Frees unused lists. Call some ten times per second. */
void lists_step(struct lists *l);

/* Calls fn for each mapping in each live list. */
void lists_each_map(const struct lists *l, void (*fn)(void *ctx, const struct prof_unwind_map *m),
		    void *ctx);
void lists_count(const struct lists *l, struct lists_counts *out);

#endif /* D9_UNWIND_LISTS_H */
