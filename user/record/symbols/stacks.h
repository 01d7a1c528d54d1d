/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_SYMBOLS_STACKS_H
#define D9_RECORD_SYMBOLS_STACKS_H

#include <stddef.h>
#include <stdint.h>

struct emit_stack_id;
struct frames;
struct process;
struct prof_rec;

/* Translates stacks of records to frames of the trace; recently used stacks cost one comparison. */
struct stacks;

/* frames is borrowed. Never fails. */
struct stacks *stacks_new(struct frames *frames);
void stacks_free(struct stacks *s);

/*
 * All frames of a record, kernel then user, leaf first, borrowed until the next call. proc may be NULL. May write
 * events, like frames_user(). @id, unless NULL: kept for the caller while the frames are in the cache; all
 * zeros for new frames; borrowed until the next call.
 */
const uint64_t *stacks_resolve(struct stacks *s, const struct prof_rec *rec, struct process *proc,
			       size_t *cnt, struct emit_stack_id **id);

/* Bytes held. */
size_t stacks_memory(const struct stacks *s);
void stacks_forget(struct stacks *s);

#endif
