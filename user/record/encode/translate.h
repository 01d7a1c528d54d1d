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

struct translate_cfg {
	struct dial9_enc *enc; /* all borrowed */
	struct emit *emit;
	const struct eventset *events;
	struct tasks *tasks;
	struct stacks *stacks;
	const struct frames *frames; /* names addresses in fields of events */
	bool family_followed; /* TaskEvents mark processes with known mappings as followed */
};

/* Translates kernel records to dial9 events. */
struct translate;

/* Never fails. */
struct translate *translate_new(const struct translate_cfg *cfg);
void translate_free(struct translate *t);

/* Switches to another segment: events go to these encoders, and what they refer to is written again. */
void translate_next_segment(struct translate *t, struct dial9_enc *enc, struct emit *emit);

/*
 * Writes a validated record as an event. What it refers to is written first, unless the trace has it. Returns 0, or
 * the encoder's -errno with nothing of the record written.
 */
int translate_record(struct translate *t, const struct prof_rec *rec);

/* Writes the task's name and process unless the trace has them. */
int translate_task(struct translate *t, uint64_t ts, uint32_t tid, uint32_t pid);

/* Records written so far. */
uint64_t translate_written(const struct translate *t, enum prof_class class);

/* First and last time. */
struct translate_span {
	uint64_t first_ns, last_ns;
};

/*
 * Number of these written without the requested stacks (PROF_REC_THINNED). span: NULL, or receives their times
 * since the last call; 0 if there were none.
 */
uint64_t translate_dropped_stacks(struct translate *t, struct translate_span *span);

#endif
