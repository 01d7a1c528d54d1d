/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_STACK_ROWS_H
#define D9_SHIP_STACK_ROWS_H

#include "profile/sums/content_ids.h"
#include "query/trace_input.h"
#include "ship/batch_writer.h"

/* Writes the rows of the tables stacks and frames. */
struct stack_rows {
	struct trace_input *in; /* whose stacks are numbered */
	struct content_ids *ids;
	struct hmap *
		seen; /* rows that were sent before, by hash of day and content; grows up to STACK_ROWS_SEEN_MAX */
	struct batch_writer *stacks, *frames;
	const struct anonymizer *anonymizer; /* NULL: none */
};

#define STACK_ROWS_SEEN_MAX (512u << 10)

/* All stacks, for the first and the last day, and their frames. 0, or the error of a writer. */
int stack_rows_put(const struct stack_rows *r, uint64_t first_day, uint64_t last_day);

#endif /* D9_SHIP_STACK_ROWS_H */
