/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_PIPELINE_H
#define D9_RECORD_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture;
struct frames;
struct kallsyms_thread;
struct cache_limit;
struct notify;
struct pause;
struct segments;
struct status;
struct sym_client;
struct tasks;
struct translate;
struct trigger;
struct unwind_loader;

/* The path of a record from the rings to the segment: see pipeline.c for the stages. */
struct pipeline;

/* All are borrowed. */
struct pipeline_cfg {
	struct capture *capture;
	struct unwind_loader *unwind; /* NULL: user stacks are not unwound */
	struct tasks *tasks;
	struct frames *frames;
	struct trigger *trigger; /* NULL: no flight recorder */
	struct translate *translate;
	struct status *status;
	struct segments *segments;
	struct sym_client *broker;
	struct kallsyms_thread *kallsyms;
	struct cache_limit *memory;
	const struct pause *pause; /* NULL: no time slices are skipped */
	size_t queue_bytes; /* memory for records that wait for symbols or unwind tables */
	uint64_t start_ns; /* CLOCK_MONOTONIC */
};

/* Never fails. */
struct pipeline *pipeline_new(const struct pipeline_cfg *cfg);
void pipeline_free(struct pipeline *p);

/*
 * Writes symbols that were found, then all records older than *mark_ns. Stops at the deadline (CLOCK_MONOTONIC,
 * ns), or if there is no room: *mark_ns is then the time of the last record. If records wait for unwind tables, it
 * is the time of the first of them. 0 or -errno.
 */
int pipeline_pass(struct pipeline *p, uint64_t *mark_ns, uint64_t deadline_ns);
/* Flushes the segment after a pass, and begins the next one if it is due. 0 or -errno. */
int pipeline_flush(struct pipeline *p, uint64_t mark_ns);
/* Instead of a flush: begins the next segment if it is due, or ends the recording. 0 or -errno. */
int pipeline_check_output(struct pipeline *p, uint64_t mark_ns);
/* Recording is over: writes all records left, also those that wait for an unwind table. *end_ns: the end. */
int pipeline_finish(struct pipeline *p, struct notify *notify, uint64_t *end_ns);

/* The last pass left records in the rings, because the output had no room for them. */
bool pipeline_is_blocked(const struct pipeline *p);
/* The last pass stopped at the end of a segment: the next pass should follow at once. */
bool pipeline_is_cut(const struct pipeline *p);
/* Held records are left that need not wait, or programs record again: the next pass should follow at once. */
bool pipeline_has_backlog(const struct pipeline *p);
/*
 * Percent of the queue that is used while real-time priority helps: at the start, when a thread reads the kernel's
 * symbols, and while held records that need not wait are passed on. 0: records wait for helper processes.
 */
unsigned int pipeline_delayed(const struct pipeline *p);
/* The last pass wrote everything, and no record waits for symbols or tables. */
bool pipeline_is_drained(const struct pipeline *p);

#endif
