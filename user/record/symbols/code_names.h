/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_SYMBOLS_CODE_NAMES_H
#define D9_RECORD_SYMBOLS_CODE_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct emit;
struct frames;

/*
 * Which addresses of the kernel's code the rows of each field have names for (TracepointSymbol). Both are
 * borrowed. Never fails; bounded: addresses beyond some thousands stay numbers.
 */
struct code_names *code_names_new(const struct frames *frames, struct emit *emit);
void code_names_free(struct code_names *c);

/* Another segment: rows go to @emit, and none was written there. */
void code_names_next_segment(struct code_names *c, struct emit *emit);

/*
 * Writes the row for an address in a field of an event, if the trace does not have it yet. field_id tells
 * the fields of all events apart. 0 or the encoder's -errno.
 */
int code_names_meet(struct code_names *c, const char *event, const char *field, uint32_t field_id,
		    uint64_t addr);

#endif
