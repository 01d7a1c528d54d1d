/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_PROCESS_PROC_READER_H
#define D9_RECORD_PROCESS_PROC_READER_H

#include <stdbool.h>
#include <stdint.h>

struct snapshot;

/*
 * Reads processes from /proc in parallel to the caller. A process whose locks are held forever blocks one of a few
 * threads, and not the caller.
 */
struct proc_reader;

/* -errno if no thread can be started. */
int proc_reader_new(struct proc_reader **out);
/* Blocked threads remain with their memory. */
void proc_reader_free(struct proc_reader *r);

/*
 * From here on long lists of mappings are cut, and reading takes this much CPU time per second (0: no limit). One read
 * may take more, and the next one then waits longer.
 */
void proc_reader_limit(struct proc_reader *r, uint64_t ns_per_s);

/* Requests a snapshot of pid. Never blocks; false if there are too many requests. */
bool proc_reader_ask(struct proc_reader *r, uint32_t pid, bool with_maps);
/*
 * The next answer if it was read before until_ns (CLOCK_MONOTONIC); the caller frees it. NULL if there is none, or
 * if a thread holds the lock.
 */
struct snapshot *proc_reader_receive(struct proc_reader *r, uint64_t until_ns);
/* Waits for the next answer until deadline_ns; then NULL. */
struct snapshot *proc_reader_wait(struct proc_reader *r, uint64_t deadline_ns);

#endif
