/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_RING_STACK_REPEATS_H
#define D9_RECORD_RING_STACK_REPEATS_H

#include <stddef.h>
#include <stdint.h>

struct prof_rec;

/* The last stacks of a CPU's records by number: records without the frames of a repeated stack get them from here. */
struct stack_repeats;

/* What --debug=verify-stacks found */
struct stack_repeats_check {
	uint64_t compared; /* stacks with frames that were marked as repeated */
	uint64_t differing;
};

/* Never fails. */
struct stack_repeats *stack_repeats_new(uint32_t cpu);
void stack_repeats_free(struct stack_repeats *s);

/*
 * Bytes that a record with PROF_REC_NUMBERED needs, or SIZE_MAX if its number is impossible. @rec: a header and raw
 * part.
 */
size_t stack_repeats_size(const struct prof_rec *rec);
/*
 * The record with all its frames: borrowed until the next call. Its size was checked. Its last word is not the number
 * any more, but identifies the frames (PROF_REC_NUMBERED). If the frames are unknown, it is a record whose stacks were
 * dropped.
 */
const struct prof_rec *stack_repeats_expand(struct stack_repeats *s, const struct prof_rec *rec);
/* Forgets all stacks, since records are missing. */
void stack_repeats_forget(struct stack_repeats *s);
/* Adds to @sum. */
void stack_repeats_count(const struct stack_repeats *s, struct stack_repeats_check *sum);

#endif
