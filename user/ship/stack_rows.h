/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_STACK_ROWS_H
#define D9_SHIP_STACK_ROWS_H

#include "ship/batch_writer.h"
#include "ship/known_stacks.h"

/* Writes the rows of the tables stacks and frames. */
struct stack_rows {
	const struct trace_inputs *all;
	struct trace_input *in; /* of these, whose stacks are numbered */
	struct known_stacks *known;
	struct hmap *
		seen; /* rows that were sent before, by hash of day and content; grows up to STACK_ROWS_SEEN_MAX */
	struct batch_writer *stacks, *frames;
	const struct anonymizer *anonymizer; /* NULL: none */
};

#define STACK_ROWS_SEEN_MAX (512u << 10)

/*
 * The stacks from number @from on, for the first and the last day, and their frames. 0, or the error of a writer. Only after
 * the first pass over the trace, which has all names.
 */
int stack_rows_put(const struct stack_rows *r, uint32_t from, uint64_t first_day,
		   uint64_t last_day);

#endif /* D9_SHIP_STACK_ROWS_H */
