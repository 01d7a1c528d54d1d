/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_PROCESS_PROC_READER_H
#define D9_RECORD_PROCESS_PROC_READER_H

#include <stdbool.h>
#include <stdint.h>

struct snapshot;

/*
 * Reads processes from /proc beside the caller. A process whose locks are held for ever keeps one of
 * a few threads and nobody else.
 */
struct proc_reader;

/* -errno when there is no thread to be had. */
int proc_reader_new(struct proc_reader **out);
/* Threads that hang are left behind, with what they hold. */
void proc_reader_free(struct proc_reader *r);

/* Asks for a snapshot of pid. Never waits; false when too many are asked for already. */
bool proc_reader_ask(struct proc_reader *r, uint32_t pid, bool with_maps);
/*
 * The next answer, if it was read before until_ns (CLOCK_MONOTONIC); the caller frees it. NULL when
 * there is none, or when a reader is about to give one.
 */
struct snapshot *proc_reader_take(struct proc_reader *r, uint64_t until_ns);
/* The next answer, waiting for it until deadline_ns; NULL then. */
struct snapshot *proc_reader_wait(struct proc_reader *r, uint64_t deadline_ns);

#endif
