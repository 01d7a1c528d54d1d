/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_UNWINDING_H
#define D9_RECORD_UNWIND_MAPS_UNWINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prof_abi.h"
#include "prof_events.h"
#include "unwind/lists.h"
#include "unwind/store.h"

struct capture_unwind;
struct frames;
struct frames_from;
struct maps;
struct needed_file;
struct perf_ring;
struct perf_side;
struct process;
struct symbroker;
struct tasks;

/*
 * Gives the programs what they unwind user stacks by: each process's list of mappings as soon as these
 * change, and the tables of the files in them.
 */
struct unwinding;

struct unwinding_cfg {
	struct capture_unwind *memory; /* all borrowed */
	struct perf_ring **sides;
	size_t side_cnt;
	struct tasks *tasks;
	struct frames *frames;
	struct symbroker *broker;
	bool all; /* every process, and tables by need; else those told of, and all their tables */
	size_t table_bytes; /* at most, for tables */
	uint32_t max_stack; /* user frames; 0: PROF_STACK_MAX */
	uint64_t capabilities; /* to make more memory by */
};

/* How much memory a recording wants. */
struct capture_unwind_cfg;
void unwinding_size(bool all, size_t table_bytes, struct capture_unwind_cfg *out);

/* -errno when there are no threads to be had. */
int unwinding_new(const struct unwinding_cfg *cfg, struct unwinding **out);
void unwinding_free(struct unwinding *u);

/* Follows a process with these mappings, NULL: none yet, since it is about to exec. */
void unwinding_follow(struct unwinding *u, uint32_t pid, const struct maps *maps);
/* Asks for the table of a file that will likely be mapped, by whom `from` tells. */
void unwinding_expect(struct unwinding *u, const struct needed_file *file,
		      const struct frames_from *from);
/* Waits for the tables of what is followed, and expected, until deadline_ns (CLOCK_MONOTONIC) at
 * most. */
void unwinding_settle(struct unwinding *u, uint64_t deadline_ns);

/* Readable when there is news. */
int unwinding_fd(const struct unwinding *u);
/* Takes in the news, a bounded part of it. Returns when to call this again (CLOCK_MONOTONIC), also if
 * there is no more; UINT64_MAX: only then. */
uint64_t unwinding_look(struct unwinding *u);
/* A side-band record that the drain has come to. */
void unwinding_side(struct unwinding *u, const struct perf_side *side);
/* Whether the walk of its user stack ended so: */
static inline bool unwinding_lacks_list(const struct prof_rec *rec)
{
	const uint8_t end = rec->user_end & PROF_USER_END_MASK;

	return end == PROF_END_NO_LIST || end == PROF_END_NO_MAPPING;
}
/* A walk ended for want of a list, or outside of all mappings known. */
void unwinding_missed(struct unwinding *u, uint32_t pid);
/*
 * The record of a stack that was copied (PROF_REC_COPIED) as if it had been walked, by what its process has
 * mapped at the time that the drain has come to; borrowed until the next call. proc may be NULL. NULL: the
 * table of a file in it is on its way, and the record not old yet.
 */
const struct prof_rec *unwinding_walk(struct unwinding *u, const struct prof_rec *rec,
				      struct process *proc);
/* Whether unwinding_walk() may have records wait; not until then. */
void unwinding_be_patient(struct unwinding *u, bool patient);
/*
 * A record that the drain has come to: itself, or, where its walk went on in code that was gone, a copy
 * without what lies above; borrowed until the next call.
 */
const struct prof_rec *unwinding_record(struct unwinding *u, const struct prof_rec *rec);
/* To be called some ten times a second and more. */
void unwinding_step(struct unwinding *u);

struct unwinding_counts {
	struct store_counts store;
	struct lists_counts lists;
	uint64_t left_out; /* processes that had to go without a list at some time */
};
void unwinding_count(const struct unwinding *u, struct unwinding_counts *out);
/* Marks what is of use among the modules, before some are forgotten. */
void unwinding_touch(struct unwinding *u);
/* Bytes held, mappings apart. */
size_t unwinding_memory(const struct unwinding *u);
/* Forgets the mappings of the process that has most; false when there is none left. */
bool unwinding_forget(struct unwinding *u);

#endif
