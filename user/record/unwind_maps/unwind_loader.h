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
 * Publishes what the BPF programs unwind user stacks with: the mapping list of each process when it changes, and the
 * unwind tables of the mapped files.
 */
struct unwind_loader;

struct unwind_loader_cfg {
	struct capture_unwind *memory; /* all borrowed */
	struct perf_ring **sides;
	size_t side_cnt;
	struct tasks *tasks;
	struct frames *frames;
	struct sym_client *broker;
	bool all; /* all processes, tables on demand; else followed processes with all their tables */
	size_t table_bytes; /* limit, for tables */
	uint32_t max_stack; /* user frames; 0: PROF_STACK_MAX */
	uint64_t proc_ns_per_s; /* limit of CPU time for /proc; 0: none */
	uint64_t capabilities; /* for allocating more memory */
};

/* The sizes of the shared memory. */
struct capture_unwind_cfg;
void unwind_loader_size(bool all, size_t table_bytes, struct capture_unwind_cfg *out);

/* -errno if no thread can be started. */
int unwind_loader_new(const struct unwind_loader_cfg *cfg, struct unwind_loader **out);
void unwind_loader_free(struct unwind_loader *u);

/*
 * Follows a process with these mappings; NULL: it is about to exec. runs: it has a CPU now, or waits for one, so
 * that its tables are needed at once.
 */
void unwind_loader_follow(struct unwind_loader *u, uint32_t pid, const struct proc_maps *maps,
			  bool runs);
/* Requests the table of a file that process `from` will probably map. */
void unwind_loader_expect(struct unwind_loader *u, const struct elf_deps_file *file,
			  const struct frames_from *from);
/* Waits for the tables of followed processes and expected files, at most until deadline_ns (CLOCK_MONOTONIC). */
void unwind_loader_settle(struct unwind_loader *u, uint64_t deadline_ns);

/* Readable when side-band records arrived; -1 while records are not handled before the drain has them. */
int unwind_loader_fd(const struct unwind_loader *u);
/*
 * Reads side-band records, up to a limit, and publishes lists. Returns when to call it again (CLOCK_MONOTONIC) even if
 * nothing arrives; UINT64_MAX: never.
 */
uint64_t unwind_loader_poll(struct unwind_loader *u);
/* A side-band record that the drain has reached. */
void unwind_loader_side(struct unwind_loader *u, const struct perf_side *side);
/*
 * A process has ended whose side-band records do not come. The place that the programs gave it at its fork becomes free
 * when its number is.
 */
void unwind_loader_ended(struct unwind_loader *u, uint32_t pid);
/*
 * A record that the drain has reached. Returns it, or a copy without the frames after a replaced mapping. With @walk, a
 * copied stack (PROF_REC_COPIED) is unwound: the result is a walked copy, or NULL if the record has to wait for an unwind
 * table. A copy is valid until the next call.
 */
const struct prof_rec *unwind_loader_record(struct unwind_loader *u, const struct prof_rec *rec,
					    bool walk);
/* Whether records may wait for unwind tables (initially false). */
void unwind_loader_be_patient(struct unwind_loader *u, bool patient);
/* No stacks are taken for now: side-band records are handled when the drain has them, and not before. */
void unwind_loader_be_idle(struct unwind_loader *u, bool idle);
/* Call it at least ten times per second. */
void unwind_loader_step(struct unwind_loader *u);

struct unwind_loader_counts {
	struct store_counts store;
	struct lists_counts lists;
	uint64_t left_out; /* processes without a list at some time */
};
void unwind_loader_count(const struct unwind_loader *u, struct unwind_loader_counts *out);
/* Marks the modules in use, before others are forgotten. */
void unwind_loader_touch(struct unwind_loader *u);
/* Bytes held, without mappings. */
size_t unwind_loader_memory(const struct unwind_loader *u);
/* Forgets the mappings of the process with most of them; false if there is none. */
bool unwind_loader_forget(struct unwind_loader *u);

#endif
