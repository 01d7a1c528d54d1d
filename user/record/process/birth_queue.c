// SPDX-License-Identifier: BSD-2-Clause
/*
 * birth_queue.c - processes that start and end while a time slice is skipped
 *
 * A shell loop or a build starts thousands of processes per second, most of which end within milliseconds. Their
 * records come whether or not events are recorded.
 *
 * A process stays for a while after its last thread has ended: its last switch and its parent's wait come later than
 * that record. It also stays until its last held child is dropped, since a child copies names and mappings of its parent.
 * A process from before the queue passes its properties to held children, too: if it changes or ends, they are released
 * first. A process that has not execed may share the memory of its parent.
 */
#include "record/process/birth_queue.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/mix.h"
#include "kernel/perf_side.h"

enum {
	RECORDS_MAX = 2048,
	PIDS_MAX = 1024, /* a power of two; at most half of it is used */
	NAME_SZ = 120,
	NONE = UINT16_MAX,
};

#define LINGER_NS 4000000ULL /* more of it needs more room in storms */

struct held {
	struct perf_side side; /* its name is in `name` */
	uint16_t prev, next; /* in the order of all; next is also used by the free list */
	uint16_t next_own; /* of the same process */
	char name[NAME_SZ];
};

/* A held process, or the parent of one. */
struct kin {
	uint32_t pid; /* 0: free */
	uint32_t parent; /* its pid */
	bool is_held; /* otherwise a parent only */
	bool has_execed; /* its memory is its own */
	bool ended, lingered; /* ended: its last thread; lingered: some time ago */
	uint32_t threads, children; /* threads: alive; children: held ones */
	uint16_t first, last; /* its records */
};

struct end {
	uint64_t time;
	uint32_t pid;
};

struct birth_queue {
	struct held records[RECORDS_MAX];
	struct end ends[PIDS_MAX]; /* a ring of processes that have not lingered yet, oldest first */
	size_t end_first, end_cnt;
	struct kin kin[PIDS_MAX];
	size_t kin_cnt;
	uint16_t free, first, last;
	void (*dropped)(void *ctx, uint32_t pid);
	void *ctx;
};

struct birth_queue *birth_queue_new(void (*dropped)(void *ctx, uint32_t pid), void *ctx)
{
	struct birth_queue *q = xcalloc(1, sizeof(*q));

	q->dropped = dropped;
	q->ctx = ctx;
	for (uint16_t i = 0; i < RECORDS_MAX; i++)
		q->records[i].next = i + 1 < RECORDS_MAX ? i + 1 : NONE;
	q->first = q->last = NONE;
	return q;
}

void birth_queue_free(struct birth_queue *q)
{
	free(q);
}

bool birth_queue_is_empty(const struct birth_queue *q)
{
	return q->first == NONE;
}

/* ---- processes ----------------------------------------------------------------------------------- */

static size_t home(uint32_t pid)
{
	return hash_u64(pid) & (PIDS_MAX - 1);
}

/* The place of a process, or a free one. */
static struct kin *probe(struct birth_queue *q, uint32_t pid)
{
	size_t i = home(pid);

	while (q->kin[i].pid && q->kin[i].pid != pid)
		i = (i + 1) & (PIDS_MAX - 1);
	return &q->kin[i];
}

static struct kin *find(struct birth_queue *q, uint32_t pid)
{
	struct kin *k = probe(q, pid);

	return k->pid ? k : NULL;
}

static struct kin *get(struct birth_queue *q, uint32_t pid)
{
	struct kin *k = probe(q, pid);

	if (!k->pid) {
		*k = (struct kin){ .pid = pid, .first = NONE, .last = NONE };
		q->kin_cnt++;
	}
	return k;
}

/* Moves later places back, so that there are no gaps before them. */
static void remove_kin(struct birth_queue *q, struct kin *k)
{
	size_t hole = (size_t)(k - q->kin), i = hole;

	for (;;) {
		i = (i + 1) & (PIDS_MAX - 1);
		if (!q->kin[i].pid)
			break;
		if (((i - home(q->kin[i].pid)) & (PIDS_MAX - 1)) < ((i - hole) & (PIDS_MAX - 1)))
			continue;
		q->kin[hole] = q->kin[i];
		hole = i;
	}
	q->kin[hole].pid = 0;
	q->kin_cnt--;
}

/* ---- records ------------------------------------------------------------------------------------- */

static void append(struct birth_queue *q, struct kin *k, const struct perf_side *side)
{
	const uint16_t i = q->free;
	struct held *h = &q->records[i];

	q->free = h->next;
	h->side = *side;
	memcpy(h->name, side->name, side->name_len);
	h->name[side->name_len] = '\0';
	h->prev = q->last;
	h->next = h->next_own = NONE;
	*(q->last == NONE ? &q->first : &q->records[q->last].next) = i;
	q->last = i;
	*(k->last == NONE ? &k->first : &q->records[k->last].next_own) = i;
	k->last = i;
}

static void drop_record(struct birth_queue *q, uint16_t i)
{
	struct held *h = &q->records[i];

	*(h->prev == NONE ? &q->first : &q->records[h->prev].next) = h->next;
	*(h->next == NONE ? &q->last : &q->records[h->next].prev) = h->prev;
	h->next = q->free;
	q->free = i;
}

static bool is_over(const struct kin *k)
{
	return (k->lingered || !k->is_held) && !k->children;
}

/* Drops a process, and then its parent if that has waited for it. */
static void drop_ended(struct birth_queue *q, struct kin *k)
{
	uint16_t i, next;
	uint32_t parent;

	while (k && is_over(k)) {
		for (i = k->first; i != NONE; i = next) {
			next = q->records[i].next_own;
			drop_record(q, i);
		}
		parent = k->is_held ? k->parent : 0;
		if (k->is_held)
			q->dropped(q->ctx, k->pid);
		remove_kin(q, k);
		k = parent ? find(q, parent) : NULL;
		if (k)
			k->children--;
	}
}

/* Each held process has one of the places at most. */
static void note_end(struct birth_queue *q, struct kin *k, uint64_t time)
{
	k->ended = true;
	q->ends[(q->end_first + q->end_cnt++) & (PIDS_MAX - 1)] = (struct end){ time, k->pid };
}

static void drop_lingered(struct birth_queue *q, uint64_t now)
{
	struct kin *k;

	while (q->end_cnt && q->ends[q->end_first].time + LINGER_NS <= now) {
		k = find(q, q->ends[q->end_first].pid);
		q->end_first = (q->end_first + 1) & (PIDS_MAX - 1);
		q->end_cnt--;
		k->lingered = true;
		drop_ended(q, k);
	}
}

static bool has_room(const struct birth_queue *q, const struct perf_side *side)
{
	return q->free != NONE && q->kin_cnt + 2 <= PIDS_MAX / 2 && side->name_len < NAME_SZ;
}

static bool is_held(const struct kin *k)
{
	return k && k->is_held;
}

static enum birth_queue_answer begin(struct birth_queue *q, const struct perf_side *side)
{
	struct kin *k;

	get(q, side->ppid)->children++;
	k = get(q, side->pid);
	k->is_held = true;
	k->parent = side->ppid;
	k->threads = 1;
	append(q, k, side);
	return BIRTH_QUEUE_HELD;
}

static enum birth_queue_answer add_own(struct birth_queue *q, struct kin *k,
				       const struct perf_side *side)
{
	k->has_execed |= side->comm_exec;
	k->threads += side->type == PERF_SIDE_FORK;
	if (side->type == PERF_SIDE_EXIT && k->threads)
		k->threads--;
	append(q, k, side);
	if (!k->threads && !k->ended)
		note_end(q, k, side->time);
	return BIRTH_QUEUE_HELD;
}

/* Code that is mapped in memory that may be shared with a process that lives (vfork, CLONE_VM). */
static bool maps_shared_code(const struct kin *k, const struct perf_side *side)
{
	return side->type == PERF_SIDE_MMAP && side->prot & PROT_EXEC && !k->has_execed;
}

enum birth_queue_answer birth_queue_add(struct birth_queue *q, const struct perf_side *side)
{
	const bool starts = side->type == PERF_SIDE_FORK && side->pid == side->tid;
	struct kin *k;

	drop_lingered(q, side->time);
	switch (side->type) {
	case PERF_SIDE_FORK:
	case PERF_SIDE_COMM:
	case PERF_SIDE_MMAP:
	case PERF_SIDE_EXIT:
		break;
	case PERF_SIDE_LOST:
	case PERF_SIDE_FULL:
	case PERF_SIDE_DAMAGED:
		return BIRTH_QUEUE_RELEASE;
	case PERF_SIDE_KSYMBOL:
	case PERF_SIDE_STALLED:
	case PERF_SIDE_OTHER:
		return BIRTH_QUEUE_PASS;
	}
	k = find(q, side->pid);
	if (!k && !starts)
		return BIRTH_QUEUE_PASS;
	/* an early reader that has applied the start to tables of its own expects the end there */
	if (!k && side->looked && !is_held(find(q, side->ppid)))
		return BIRTH_QUEUE_PASS;
	if (side->looked || !has_room(q, side) || (starts && (k || !side->pid || !side->ppid)))
		return BIRTH_QUEUE_RELEASE;
	if (starts)
		return begin(q, side);
	if (k->is_held && !maps_shared_code(k, side))
		return add_own(q, k, side);
	return side->type == PERF_SIDE_FORK ? BIRTH_QUEUE_PASS : BIRTH_QUEUE_RELEASE;
}

int birth_queue_release(struct birth_queue *q, int (*fn)(void *ctx, const struct perf_side *side),
			void *ctx)
{
	int err = 0;

	for (uint16_t i = q->first; i != NONE && !err; i = q->records[i].next) {
		struct held *h = &q->records[i];

		h->side.name = h->name;
		err = fn(ctx, &h->side);
	}
	if (q->first != NONE) {
		q->records[q->last].next = q->free;
		q->free = q->first;
	}
	q->first = q->last = NONE;
	memset(q->kin, 0, sizeof(q->kin));
	q->kin_cnt = q->end_cnt = 0;
	return err;
}
