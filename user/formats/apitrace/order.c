// SPDX-License-Identifier: BSD-2-Clause
/*
 * Enters and leaves back in their order.
 *
 * dial9 has a call where it returned, apitrace has both ends where they were. Every end knows its place, so
 * it waits here until all places before it are taken: a heap, and a cap on it, so that a trace from which
 * events were cut, and whose places have holes, goes on.
 */
#include "formats/apitrace/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Twice what an import keeps open, since a call is two. */
#define WAIT_MAX ((size_t)1 << 18)
#define WAIT_BYTES_MAX ((size_t)384 << 20)

static void swap(struct apitrace_order *o, size_t a, size_t b)
{
	struct apitrace_op *t = o->heap[a];

	o->heap[a] = o->heap[b];
	o->heap[b] = t;
}

void apitrace_order_add(struct apitrace_order *o, const struct apitrace_op *op, const void *details,
			size_t sz)
{
	struct apitrace_op *own = xmalloc(sizeof(*own) + sz);
	size_t i = o->cnt;

	*own = *op;
	own->sz = sz;
	if (sz)
		memcpy(own->details, details, sz);
	o->heap = array_reserve(o->heap, &o->cap, o->cnt + 1, sizeof(*o->heap));
	o->heap[o->cnt++] = own;
	o->bytes += sizeof(*own) + sz;
	for (; i && o->heap[(i - 1) / 2]->seq > o->heap[i]->seq; i = (i - 1) / 2)
		swap(o, i, (i - 1) / 2);
}

static void sink_top(struct apitrace_order *o)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < o->cnt) {
		if (child + 1 < o->cnt && o->heap[child + 1]->seq < o->heap[child]->seq)
			child++;
		if (o->heap[i]->seq <= o->heap[child]->seq)
			break;
		swap(o, i, child);
		i = child;
	}
}

struct apitrace_op *apitrace_order_next(struct apitrace_order *o, bool all, bool *gap)
{
	struct apitrace_op *op;

	if (!o->cnt)
		return NULL;
	op = o->heap[0];
	*gap = op->seq != o->next;
	if (op->seq > o->next && !all && o->cnt < WAIT_MAX && o->bytes < WAIT_BYTES_MAX)
		return NULL;
	swap(o, 0, --o->cnt);
	sink_top(o);
	o->bytes -= sizeof(*op) + op->sz;
	if (op->seq >= o->next)
		o->next = op->seq + 1;
	return op;
}

void apitrace_order_fini(struct apitrace_order *o)
{
	for (size_t i = 0; i < o->cnt; i++)
		free(o->heap[i]);
	free(o->heap);
	*o = (struct apitrace_order){ 0 };
}
