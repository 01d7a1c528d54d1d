/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_UNWIND_LOADER_H
#define D9_RECORD_UNWIND_MAPS_UNWIND_LOADER_H

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
struct proc_maps;
struct elf_deps_file;
struct perf_ring;
struct perf_side;
struct process;
struct sym_client;
struct tasks;

/*
 * Gives the programs what they unwind user stacks by: each process's list of mappings as soon as these
 * change, and the tables of the files in them.
 */
struct unwind_loader;

struct unwind_loader_cfg {
	struct capture_unwind *memory; /* all borrowed */
	struct perf_ring **sides;
	size_t side_cnt;
	struct tasks *tasks;
	struct frames *frames;
	struct sym_client *broker;
	bool all; /* every process, and tables by need; else those told of, and all their tables */
	size_t table_bytes; /* at most, for tables */
	uint32_t max_stack; /* user frames; 0: PROF_STACK_MAX */
	uint64_t capabilities; /* to make more memory by */
};

/* How much memory a recording wants. */
struct capture_unwind_cfg;
void unwind_loader_size(bool all, size_t table_bytes, struct capture_unwind_cfg *out);

/* -errno when there are no threads to be had. */
int unwind_loader_new(const struct unwind_loader_cfg *cfg, struct unwind_loader **out);
void unwind_loader_free(struct unwind_loader *u);

/* Follows a process with these mappings, NULL: none yet, since it is about to exec. */
void unwind_loader_follow(struct unwind_loader *u, uint32_t pid, const struct proc_maps *maps);
/* Asks for the table of a file that will likely be mapped, by whom `from` tells. */
void unwind_loader_expect(struct unwind_loader *u, const struct elf_deps_file *file,
			  const struct frames_from *from);
/* Waits for the tables of what is followed, and expected, until deadline_ns (CLOCK_MONOTONIC) at
 * most. */
void unwind_loader_settle(struct unwind_loader *u, uint64_t deadline_ns);

/* Readable when there is news. */
int unwind_loader_fd(const struct unwind_loader *u);
/* Takes in the news, a bounded part of it. Returns when to call this again (CLOCK_MONOTONIC), also if
 * there is no more; UINT64_MAX: only then. */
uint64_t unwind_loader_look(struct unwind_loader *u);
/* A side-band record that the drain has come to. */
void unwind_loader_side(struct unwind_loader *u, const struct perf_side *side);
/* Whether the walk of its user stack ended so: */
static inline bool unwind_loader_lacks_list(const struct prof_rec *rec)
{
	const uint8_t end = rec->user_end & PROF_USER_END_MASK;

	return end == PROF_END_NO_LIST || end == PROF_END_NO_MAPPING;
}
/* A walk ended for want of a list, or outside of all mappings known. */
void unwind_loader_missed(struct unwind_loader *u, uint32_t pid);
/*
 * The record of a stack that was copied (PROF_REC_COPIED) as if it had been walked, by what its process has
 * mapped at the time that the drain has come to; borrowed until the next call. proc may be NULL. NULL: the
 * table of a file in it is on its way, and the record not old yet.
 */
const struct prof_rec *unwind_loader_walk(struct unwind_loader *u, const struct prof_rec *rec,
					  struct process *proc);
/* Whether unwind_loader_walk() may have records wait; not until then. */
void unwind_loader_be_patient(struct unwind_loader *u, bool patient);
/*
 * A record that the drain has come to: itself, or, where its walk went on in code that was gone, a copy
 * without what lies above; borrowed until the next call.
 */
const struct prof_rec *unwind_loader_record(struct unwind_loader *u, const struct prof_rec *rec);
/* To be called some ten times a second and more. */
void unwind_loader_step(struct unwind_loader *u);

struct unwind_loader_counts {
	struct store_counts store;
	struct lists_counts lists;
	uint64_t left_out; /* processes that had to go without a list at some time */
};
void unwind_loader_count(const struct unwind_loader *u, struct unwind_loader_counts *out);
/* Marks what is of use among the modules, before some are forgotten. */
void unwind_loader_touch(struct unwind_loader *u);
/* Bytes held, mappings apart. */
size_t unwind_loader_memory(const struct unwind_loader *u);
/* Forgets the mappings of the process that has most; false when there is none left. */
bool unwind_loader_forget(struct unwind_loader *u);

#endif
