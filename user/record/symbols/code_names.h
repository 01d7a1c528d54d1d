/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_SYMBOLS_CODE_NAMES_H
#define D9_RECORD_SYMBOLS_CODE_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct emit;
struct frames;

/*
 * Writes rows with symbols for kernel addresses in fields (TracepointSymbol). Both are borrowed. Never fails;
 * bounded: further addresses after some thousands remain numbers.
 */
struct code_names *code_names_new(const struct frames *frames, struct emit *emit);
void code_names_free(struct code_names *c);

/* Switches to another segment: rows go to @emit, which has none yet. */
void code_names_next_segment(struct code_names *c, struct emit *emit);

/*
 * Writes the row for an address in a field of an event, unless the trace has it. field_id is unique over the fields
 * of all events. 0 or the encoder's -errno.
 */
int code_names_meet(struct code_names *c, const char *event, const char *field, uint32_t field_id,
		    uint64_t addr);

#endif
