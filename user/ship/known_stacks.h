/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_KNOWN_STACKS_H
#define D9_SHIP_KNOWN_STACKS_H

#include "profile/sums/content_ids.h"
#include "query/trace_input.h"

/* A stack of a trace as rows have it. */
struct known_stack {
	uint64_t id; /* by content; 0: not known yet */
	uint32_t program; /* module whose build-id is the row's; 0: unknown */
};

/* The stacks of one trace by their numbers, so that each is hashed once. {0} is empty. */
struct known_stacks {
	struct content_ids ids;
	struct known_stack *v;
	size_t cap;
	struct hmap programs; /* string ids, plus 1, of the executables of all tasks */
	bool has_programs;
};

void known_stacks_fini(struct known_stacks *k);
/* The stack with a number of `query`; NULL: there is none. Borrowed until the next call. */
const struct known_stack *known_stacks_get(struct known_stacks *k, const struct trace_inputs *all,
					   int64_t number);

#endif /* D9_SHIP_KNOWN_STACKS_H */
