// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which packets of a stream never arrived, by their counters.
 *
 * Counters count up by one and wrap. Threads that share a stream take a counter first and write
 * later, so a packet may be late; each stream has a window of the last 64 counters, and a counter
 * is lost when it leaves the window unseen. What leaves one by one is joined to ranges again. A
 * counter far below the window means that the writer started over: no loss. The start of a stream
 * is unknown, so its first counter is accepted.
 */
#include "formats/heph/counters.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"

static int flush_run(struct heph_counters *c, struct heph_counters_stream *s)
{
	uint32_t cnt = s->run_cnt;

	s->run_cnt = 0;
	if (!cnt)
		return 0;
	c->lost_cnt += cnt;
	return c->lost ? c->lost(c->ctx, s->id, s->run_first, cnt) : 0;
}

static int leave_missing(struct heph_counters *c, struct heph_counters_stream *s, uint32_t first,
			 uint32_t cnt)
{
	int err = 0;

	if (s->run_cnt && s->run_first + s->run_cnt != first)
		err = flush_run(c, s);
	if (!s->run_cnt)
		s->run_first = first;
	s->run_cnt += cnt;
	return err;
}

/* The oldest bits leave, until `left` remain. */
static int shrink(struct heph_counters *c, struct heph_counters_stream *s, unsigned int left)
{
	int err = 0;

	for (; !err && s->known > left; s->known--) {
		if (s->seen >> (s->known - 1) & 1)
			err = flush_run(c, s);
		else
			err = leave_missing(c, s, s->head - (s->known - 1), 1);
	}
	return err;
}

static int advance(struct heph_counters *c, struct heph_counters_stream *s, uint32_t by)
{
	unsigned int keep = by < HEPH_COUNTERS_WINDOW ? HEPH_COUNTERS_WINDOW - by : 0;
	int err = shrink(c, s, keep);

	if (!err && by > HEPH_COUNTERS_WINDOW)
		err = leave_missing(c, s, s->head + 1, by - HEPH_COUNTERS_WINDOW);
	s->seen = by < HEPH_COUNTERS_WINDOW ? s->seen << by | 1 : 1;
	s->known = by < HEPH_COUNTERS_WINDOW ? s->known + by : HEPH_COUNTERS_WINDOW;
	s->head += by;
	return err;
}

static int add_late(struct heph_counters *c, struct heph_counters_stream *s, uint32_t back)
{
	if (s->known <= back) {
		s->known = back + 1;
	} else if (s->seen >> back & 1) {
		c->twice++;
		return 0;
	}
	s->seen |= 1ULL << back;
	return 0;
}

static int finish_stream(struct heph_counters *c, struct heph_counters_stream *s)
{
	int err = shrink(c, s, 0);

	return err ? err : flush_run(c, s);
}

static struct heph_counters_stream *stream_of(struct heph_counters *c, uint32_t id, bool *is_new)
{
	uintptr_t place = (uintptr_t)hmap_get(&c->index, id);

	*is_new = !place;
	if (place)
		return &c->v[place - 1];
	if (c->cnt == HEPH_COUNTERS_STREAMS_MAX)
		return NULL;
	c->v = array_reserve(c->v, &c->cap, c->cnt + 1, sizeof(*c->v));
	c->v[c->cnt] = (struct heph_counters_stream){ .id = id };
	hmap_set(&c->index, id, (void *)(uintptr_t)(c->cnt + 1));
	return &c->v[c->cnt++];
}

int heph_counters_add(struct heph_counters *c, uint32_t stream, uint32_t counter)
{
	bool is_new;
	struct heph_counters_stream *s = stream_of(c, stream, &is_new);
	uint32_t ahead, back;
	int err = 0;

	if (!s) {
		c->unwatched++;
		return 0;
	}
	ahead = counter - s->head;
	back = s->head - counter;
	if (!is_new && ahead && ahead <= INT32_MAX)
		return advance(c, s, ahead);
	if (!is_new && back < HEPH_COUNTERS_WINDOW)
		return add_late(c, s, back);
	if (!is_new) {
		c->restarts++;
		err = finish_stream(c, s);
	}
	s->head = counter;
	s->seen = 1;
	s->known = 1;
	return err;
}

int heph_counters_finish(struct heph_counters *c)
{
	int err = 0;

	for (size_t i = 0; !err && i < c->cnt; i++)
		err = finish_stream(c, &c->v[i]);
	return err;
}

void heph_counters_fini(struct heph_counters *c)
{
	hmap_fini(&c->index);
	free(c->v);
}
