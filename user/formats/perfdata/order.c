// SPDX-License-Identifier: BSD-2-Clause
/*
 * order.c - records in order of time
 *
 * perf writes what each CPU's buffer holds, one CPU after the other, and a mark after each round. So a record of the
 * next round may be older than the youngest of this round, but not older than the youngest of the round before. Records
 * without a time, which perf made from /proc, describe what was there before: they come first.
 */
#include "formats/perfdata/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct queued {
	uint64_t time, seq;
	struct perfdata_record rec; /* p is data */
	uint64_t data[];
};

struct perfdata_order {
	size_t max, bytes;
	perfdata_order_fn deliver;
	void *ctx;
	struct queued **v;
	size_t cnt, cap;
	uint64_t seq, late;
	uint64_t youngest; /* of all records so far */
	uint64_t round; /* the same, when the last round ended */
	uint64_t now; /* time of the last delivered record; 0: none */
};

void perfdata_order_new(size_t max, perfdata_order_fn deliver, void *ctx,
			struct perfdata_order **out)
{
	struct perfdata_order *o = xcalloc(1, sizeof(*o));

	o->max = max;
	o->deliver = deliver;
	o->ctx = ctx;
	*out = o;
}

void perfdata_order_free(struct perfdata_order *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->cnt; i++)
		free(o->v[i]);
	free(o->v);
	free(o);
}

uint64_t perfdata_order_late(const struct perfdata_order *o)
{
	return o->late;
}

static int compare(const void *a, const void *b)
{
	const struct queued *x = *(struct queued *const *)a, *y = *(struct queued *const *)b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->seq < y->seq ? -1 : 1;
}

static int deliver(struct perfdata_order *o, struct queued *q)
{
	if (q->time && q->time < o->now)
		o->late++;
	else if (q->time)
		o->now = q->time;
	return o->deliver(o->ctx, &q->rec, q->time ? q->time : o->now);
}

/* Delivers the first cnt records. */
static int deliver_first(struct perfdata_order *o, size_t cnt)
{
	size_t i = 0;
	int err = 0;

	if (!cnt)
		return 0;
	/* records without a time get the first time of the others */
	while (!o->now && i < o->cnt && !o->v[i]->time)
		i++;
	if (!o->now && i < o->cnt)
		o->now = o->v[i]->time;
	for (i = 0; i < cnt && !err; i++) {
		err = deliver(o, o->v[i]);
		o->bytes -= sizeof(*o->v[i]) + o->v[i]->rec.sz;
		free(o->v[i]);
	}
	memmove(o->v, o->v + i, (o->cnt - i) * sizeof(struct queued *));
	o->cnt -= i;
	return err;
}

static void sort(struct perfdata_order *o)
{
	if (o->cnt)
		qsort(o->v, o->cnt, sizeof(struct queued *), compare);
}

int perfdata_order_add(struct perfdata_order *o, const struct perfdata_record *r, uint64_t time)
{
	struct queued *q = xmalloc(sizeof(*q) + r->sz);

	q->time = time;
	q->seq = o->seq++;
	q->rec = *r;
	q->rec.p = (const uint8_t *)q->data;
	memcpy(q->data, r->p, r->sz);
	o->v = array_reserve(o->v, &o->cap, o->cnt + 1, sizeof(struct queued *));
	o->v[o->cnt++] = q;
	o->bytes += sizeof(*q) + r->sz;
	if (time > o->youngest)
		o->youngest = time;
	if (o->bytes <= o->max)
		return 0;
	sort(o);
	return deliver_first(o, (o->cnt + 1) / 2);
}

int perfdata_order_round(struct perfdata_order *o)
{
	size_t n = 0;

	sort(o);
	while (n < o->cnt && o->v[n]->time <= o->round)
		n++;
	/* wait for the first time */
	if (!o->now && n && !o->v[n - 1]->time)
		n = 0;
	o->round = o->youngest;
	return deliver_first(o, n);
}

int perfdata_order_finish(struct perfdata_order *o)
{
	sort(o);
	return deliver_first(o, o->cnt);
}
