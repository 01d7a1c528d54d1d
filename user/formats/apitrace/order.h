/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_ORDER_H
#define D9_FORMATS_APITRACE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct apitrace_sig;

/* An enter or leave that waits for its place in the stream. */
struct apitrace_op {
	uint64_t seq; /* the place */
	uint64_t no; /* number of the call where it came from */
	uint64_t thread;
	const struct apitrace_sig *fn; /* enter; NULL: a leave */
	size_t sz;
	uint8_t details[];
};

/* {0} is an empty queue. */
struct apitrace_order {
	struct apitrace_op **heap;
	size_t cnt, cap, bytes;
	uint64_t next; /* place of the event that comes next */
};

/* Copies what op and details say. */
void apitrace_order_add(struct apitrace_order *o, const struct apitrace_op *op, const void *details,
			size_t sz);

/*
 * The next event in order, or NULL if it has not been added yet. With `all`, or when too many events
 * wait, the first event that was added. *gap: events before it are missing. The caller frees it.
 */
struct apitrace_op *apitrace_order_next(struct apitrace_order *o, bool all, bool *gap);

void apitrace_order_fini(struct apitrace_order *o);

#endif /* D9_FORMATS_APITRACE_ORDER_H */
