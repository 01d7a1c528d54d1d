// SPDX-License-Identifier: BSD-2-Clause
/*
 * record_queue.c - keeps records that cannot be used yet
 *
 * A growing array with entries of {size, kind} and a copy of the record, all aligned to 8 bytes like records. The
 * name of a process metadata record follows it. Released entries are removed when they are half of the array.
 *
 * Stacks are most of the bytes. When little room is left, events are kept without stacks, so that none is lost.
 */
#include "record/encode/record_queue.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "kernel/perf_side.h"
#include "prof_abi.h"
#include "prof_rec.h"
#include "record/ring/ring_merge.h"

enum { HOLD_RECORD, HOLD_SIDE };
enum { KEPT_WORDS = 1 << 16 };

struct entry {
	uint32_t sz; /* including this header, a multiple of 8 */
	uint32_t kind;
};

struct record_queue {
	uint64_t *words;
	size_t first; /* first entry not released yet, in words */
	size_t used; /* words */
	size_t cap;
	size_t max; /* bytes */
};

struct record_queue *record_queue_new(size_t max)
{
	struct record_queue *h = xcalloc(1, sizeof(*h));

	h->max = max;
	return h;
}

static size_t held(const struct record_queue *h)
{
	return (h->used - h->first) * sizeof(*h->words);
}

bool record_queue_is_full(const struct record_queue *h)
{
	return held(h) >= h->max;
}

unsigned int record_queue_fill(const struct record_queue *h)
{
	return (unsigned int)(held(h) * 100 / h->max);
}

bool record_queue_is_crowded(const struct record_queue *h)
{
	return held(h) >= h->max / 2;
}

void record_queue_free(struct record_queue *h)
{
	if (!h)
		return;
	free(h->words);
	free(h);
}

static void remove_released(struct record_queue *h)
{
	h->used -= h->first;
	memmove(h->words, h->words + h->first, h->used * sizeof(*h->words));
	h->first = 0;
}

/* Reserves an entry of sz bytes after its header. */
static void *add(struct record_queue *h, uint32_t kind, size_t sz)
{
	size_t words = (sizeof(struct entry) + sz + 7) / 8;
	struct entry *e;

	if (h->used + words > h->cap && h->first > h->used / 2)
		remove_released(h);
	h->words = array_reserve_unset(h->words, &h->cap, h->used + words, sizeof(*h->words));
	e = (struct entry *)&h->words[h->used];
	e->sz = words * 8;
	e->kind = kind;
	h->used += words;
	return e + 1;
}

static bool is_filling(const struct record_queue *h)
{
	return held(h) >= h->max / 8 * 5;
}

void record_queue_add(struct record_queue *h, const struct prof_rec *rec)
{
	const bool drop =
		is_filling(h) && rec->kind == PROF_REC_TRACEPOINT && rec->flags & PROF_REC_STACKS;
	const size_t sz = drop ? prof_rec_stack_offset(rec) : rec->size;
	struct prof_rec *at = add(h, HOLD_RECORD, sz);

	memcpy(at, rec, sz);
	if (drop)
		prof_rec_drop_stacks(at);
}

void record_queue_add_side(struct record_queue *h, const struct perf_side *side)
{
	struct perf_side *at = add(h, HOLD_SIDE, sizeof(*side) + side->name_len + 1);
	char *name;

	*at = *side;
	name = (char *)(at + 1);
	memcpy(name, side->name, side->name_len);
	name[side->name_len] = '\0';
}

static int hand_over(struct entry *e, const struct ring_merge_sink *sink)
{
	struct perf_side *side;

	if (e->kind == HOLD_RECORD)
		return sink->record(sink->ctx, (const struct prof_rec *)(e + 1));
	side = (struct perf_side *)(e + 1);
	side->name = (const char *)(side + 1);
	return sink->side(sink->ctx, side);
}

uint64_t record_queue_time(const struct record_queue *h)
{
	const struct entry *e = (const struct entry *)&h->words[h->first];

	if (h->first == h->used)
		return UINT64_MAX;
	return e->kind == HOLD_RECORD ? ((const struct prof_rec *)(e + 1))->ts :
					((const struct perf_side *)(e + 1))->time;
}

/* A burst should not hold its memory for the rest of the recording. */
static void clear(struct record_queue *h)
{
	h->first = h->used = 0;
	if (h->cap <= KEPT_WORDS)
		return;
	free(h->words);
	h->words = NULL;
	h->cap = 0;
}

long record_queue_release(struct record_queue *h, size_t max, const struct ring_merge_sink *sink)
{
	struct entry *e;
	size_t n;
	int err;

	for (n = 0; n < max && h->first < h->used; n++) {
		e = (struct entry *)&h->words[h->first];
		err = hand_over(e, sink);
		if (err == RING_MERGE_LATER)
			return (long)n;
		h->first += e->sz / 8;
		if (err)
			return err;
	}
	if (h->first == h->used)
		clear(h);
	return (long)n;
}
