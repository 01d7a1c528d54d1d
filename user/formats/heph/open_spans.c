// SPDX-License-Identifier: BSD-2-Clause
/*
 * Spans that have started and not ended.
 *
 * A dial9 trace says twice what Heph says once: that something began, and that it ended. Between
 * the two the beginning waits here. Spans of one key nest (a span may be entered again), so an end
 * belongs to the youngest. The number that wait is bounded, since a trace may hold beginnings only;
 * the caller then writes what does not fit.
 */
#include "formats/heph/open_spans.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"

static uint64_t bucket(bool is_poll, uint64_t worker, uint64_t id)
{
	return hash_u64(hash_u64(worker) ^ id) ^ is_poll;
}

struct heph_span *heph_span_add(struct heph_spans *s, bool is_poll, uint64_t worker, uint64_t id)
{
	uint64_t key = bucket(is_poll, worker, id);
	struct heph_span *span;

	if (s->cnt == HEPH_SPAN_MAX || s->bytes >= HEPH_SPAN_BYTES_MAX)
		return NULL;
	span = xcalloc(1, sizeof(*span));
	span->is_poll = is_poll;
	span->worker = worker;
	span->id = id;
	span->below = hmap_get(&s->index, key);
	hmap_set(&s->index, key, span);
	span->prev = s->last;
	if (s->last)
		s->last->next = span;
	else
		s->first = span;
	s->last = span;
	s->cnt++;
	return span;
}

void heph_span_weigh(struct heph_spans *s, const struct heph_span *span)
{
	s->bytes += span->desc.cap + span->attrs.cap;
}

static void unlink_index(struct heph_spans *s, struct heph_span *span)
{
	uint64_t key = bucket(span->is_poll, span->worker, span->id);
	struct heph_span *at = hmap_get(&s->index, key);

	if (at == span && span->below) {
		hmap_set(&s->index, key, span->below);
	} else if (at == span) {
		hmap_del(&s->index, key);
	} else {
		while (at->below != span)
			at = at->below;
		at->below = span->below;
	}
}

static void unlink_order(struct heph_spans *s, struct heph_span *span)
{
	*(span->prev ? &span->prev->next : &s->first) = span->next;
	*(span->next ? &span->next->prev : &s->last) = span->prev;
	s->cnt--;
	s->bytes -= span->desc.cap + span->attrs.cap;
}

struct heph_span *heph_span_remove(struct heph_spans *s, bool is_poll, uint64_t worker, uint64_t id)
{
	struct heph_span *span = hmap_get(&s->index, bucket(is_poll, worker, id));

	while (span && (span->is_poll != is_poll || span->worker != worker || span->id != id))
		span = span->below;
	if (!span)
		return NULL;
	unlink_index(s, span);
	unlink_order(s, span);
	return span;
}

struct heph_span *heph_span_shift(struct heph_spans *s)
{
	struct heph_span *span = s->first;

	/*
	 * The oldest is deepest below its key: to look for each would take the square of their
	 * number.
	 */
	hmap_fini(&s->index);
	s->index = (struct hmap){ 0 };
	if (span)
		unlink_order(s, span);
	return span;
}

void heph_span_free(struct heph_span *span)
{
	if (!span)
		return;
	buf_free(&span->desc);
	buf_free(&span->attrs);
	free(span);
}

void heph_span_fini(struct heph_spans *s)
{
	while (s->first)
		heph_span_free(heph_span_shift(s));
	hmap_fini(&s->index);
}
