/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_ENCODE_TRANSLATE_H
#define D9_RECORD_ENCODE_TRANSLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "prof_abi.h"

struct dial9_enc;
struct emit;
struct eventset;
struct frames;
struct stacks;
struct tasks;
struct unwind_loader;

struct process;

/* unwind_loader_walk(), which is not named here so that what translates alone needs nothing else. NULL: later. */
typedef const struct prof_rec *(*translate_walk_fn)(struct unwind_loader *u,
						    const struct prof_rec *rec,
						    struct process *proc);

struct translate_cfg {
	struct dial9_enc *enc; /* all borrowed */
	struct emit *emit;
	const struct eventset *events;
	struct tasks *tasks;
	struct stacks *stacks;
	const struct frames *frames; /* names addresses in fields of events */
	bool tells_family; /* processes whose mappings are kept are targets: TaskEvents say so */
	translate_walk_fn walk; /* a stack that comes as a copy; NULL: none does */
	struct unwind_loader *unwinding;
};

/* Kernel records to dial9 events. */
struct translate;

/* Never fails. */
struct translate *translate_new(const struct translate_cfg *cfg);
void translate_free(struct translate *t);

/* Another segment: events go to these, and what they refer to is told again. */
void translate_next_segment(struct translate *t, struct dial9_enc *enc, struct emit *emit);

/*
 * Writes one record, whose lengths agree with each other, as an event; what it refers to and the
 * trace does not have yet goes before it. Returns 0 or the encoder's -errno, in which case nothing
 * of the record is written; or RING_MERGE_LATER when its stack cannot be walked yet.
 */
int translate_record(struct translate *t, const struct prof_rec *rec);

/* Writes who the task is, if the trace does not say so yet. */
int translate_task(struct translate *t, uint64_t ts, uint32_t tid, uint32_t pid);

/* Records written so far. */
uint64_t translate_written(const struct translate *t, enum prof_class class);

/* Times of the first and the last of something. */
struct translate_span {
	uint64_t first_ns, last_ns;
};

/* How many of these were written without the stacks that were asked for, PROF_REC_THINNED. span: NULL, or
 * when that was since it was asked for last; 0, when it was not. */
uint64_t translate_thinned(struct translate *t, struct translate_span *span);

#endif
