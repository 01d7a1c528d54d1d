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
 * Walks stacks that programs copied because too little was known of the process: the same walk, with the mappings
 * of that time as known now.
 */
struct stack_copy_unwind;

/* memory is borrowed. Never fails. */
struct stack_copy_unwind *stack_copy_unwind_new(struct capture_unwind *memory, uint32_t max_stack);
void stack_copy_unwind_free(struct stack_copy_unwind *c);
/* Bytes held. */
size_t stack_copy_unwind_memory(const struct stack_copy_unwind *c);

/* The mappings of a process at the time of a record */
struct stack_copy_maps {
	/* The entry that contains addr; NULL: none. Called once per mapping on the stack. */
	const struct prof_unwind_map *(*find)(void *ctx, uint64_t addr);
	void *ctx;
};

/*
 * The record (PROF_REC_COPIED) as if it had been walked at once; borrowed until the next call. Without mappings (NULL)
 * it contains the leaf and its original end.
 */
const struct prof_rec *stack_copy_unwind_walk(struct stack_copy_unwind *c,
					      const struct prof_rec *rec,
					      const struct stack_copy_maps *maps);
/* The record with the leaf only: its process is over its budget. */
const struct prof_rec *stack_copy_unwind_refuse(struct stack_copy_unwind *c,
						const struct prof_rec *rec);
/* Whether the last walk ended because a table was missing: *slot is its module's, or PROF_UNWIND_SOON. */
bool stack_copy_unwind_lacks_table(const struct stack_copy_unwind *c, uint32_t *slot);

#endif
