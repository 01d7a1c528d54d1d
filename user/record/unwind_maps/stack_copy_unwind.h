/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_STACK_COPY_UNWIND_H
#define D9_RECORD_UNWIND_MAPS_STACK_COPY_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture_unwind;
struct prof_rec;
struct prof_unwind_map;

/*
 * Walks of stacks that programs copied, since too little was known of the process then: the same walk,
 * by what is known of that time now.
 */
struct stack_copy_unwind;

/* memory is borrowed. Never fails. */
struct stack_copy_unwind *stack_copy_unwind_new(struct capture_unwind *memory, uint32_t max_stack);
void stack_copy_unwind_free(struct stack_copy_unwind *c);
/* Bytes held. */
size_t stack_copy_unwind_memory(const struct stack_copy_unwind *c);

/*
 * The record (PROF_REC_COPIED) as if it had been walked at once, by a process's mappings at its time, in
 * the form of a list; borrowed until the next call. Without any mapping it has the place where the task was
 * and the end it came with.
 */
const struct prof_rec *stack_copy_unwind_walk(struct stack_copy_unwind *c,
					      const struct prof_rec *rec,
					      const struct prof_unwind_map *maps, uint32_t map_cnt);
/* Whether the walk that was made last ended for want of a table: *slot is its module's, or
 * PROF_UNWIND_SOON. */
bool stack_copy_unwind_lacks_table(const struct stack_copy_unwind *c, uint32_t *slot);

#endif
