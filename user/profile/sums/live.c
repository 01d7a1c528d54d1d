// SPDX-License-Identifier: BSD-2-Clause
/*
 * What `top` shows: samples and off-CPU time of a short period, by address and by thread. Owns the
 * sums; intervals come from intervals.c. Symbols may arrive after the addresses, so addresses
 * become functions only when rows are requested. Numbers only.
 */
#include "profile/sums/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "profile/sched/intervals.h"

struct live_thread {
	uint32_t tid, pid, comm;
	struct live_sum sum;
	struct hmap leaves; /* frame -> samples, as integers */
	struct hmap blocks; /* frame -> ns blocked, as integers */
};

struct live {
	struct names *names;
	struct intervals *intervals;
	struct event_counts counts; /* losses only */
	struct hmap frames; /* frame -> struct live_sum */
	struct hmap threads; /* part << 32 | tid -> struct live_thread */
	struct live_sum all;
	bool begun;
	uint64_t from, to; /* the period, on the clock of the last event */
	uint32_t clock;
};

static struct live_sum *frame_at(struct live *l, uint64_t frame)
{
	struct live_sum *sum = hmap_get(&l->frames, frame);

	if (!sum) {
		sum = xcalloc(1, sizeof(*sum));
		hmap_set(&l->frames, frame, sum);
	}
	return sum;
}

static struct live_thread *thread_at(struct live *l, uint32_t part, uint32_t tid)
{
	uint64_t key = (uint64_t)part << 32 | tid;
	struct live_thread *t = hmap_get(&l->threads, key);

	if (!t) {
		t = xcalloc(1, sizeof(*t));
		*t = (struct live_thread){ .tid = tid, .pid = TRACE_NONE, .comm = NAMES_NONE };
		hmap_set(&l->threads, key, t);
	}
	return t;
}

static void name_thread(struct live_thread *t, uint32_t pid, uint32_t comm)
{
	if (pid != TRACE_NONE)
		t->pid = pid;
	if (comm != NAMES_NONE)
		t->comm = comm;
}

/* The innermost function of user code. */
static bool user_leaf(const struct live *l, uint32_t stack, uint64_t *out)
{
	uint32_t cnt = 0;
	const uint64_t *frames =
		stack == INTERVAL_NO_STACK ? NULL : intervals_stack(l->intervals, stack, &cnt);

	for (uint32_t i = 0; frames && i < cnt; i++) {
		if (frames[i] & PROF_FRAME_KERNEL)
			continue;
		*out = frames[i];
		return true;
	}
	return false;
}

static void add_number(struct hmap *m, uint64_t frame, uint64_t n)
{
	hmap_set(m, frame, (void *)((uintptr_t)hmap_get(m, frame) + (uintptr_t)n));
}

static void add_interval(void *ctx, const struct interval *i)
{
	struct live *l = ctx;
	uint64_t start = i->start > l->from ? i->start : l->from, ns, frame;
	struct live_thread *t;

	if (i->flags & INTERVAL_NEIGHBOUR || i->end <= start ||
	    (i->state != INTERVAL_RUNNABLE && i->state != INTERVAL_BLOCKED))
		return;
	ns = i->end - start;
	t = thread_at(l, i->part, i->tid);
	name_thread(t, i->pid, i->comm);
	if (i->state == INTERVAL_RUNNABLE) {
		t->sum.wait_ns += ns;
		l->all.wait_ns += ns;
		return;
	}
	t->sum.off_ns += ns;
	l->all.off_ns += ns;
	if (user_leaf(l, i->stack, &frame)) {
		frame_at(l, frame)->off_ns += ns;
		add_number(&t->blocks, frame, ns);
	}
}

struct live *live_new(struct names *names)
{
	struct live *l = xcalloc(1, sizeof(*l));
	struct intervals_opts opts = { .names = names, .fn = add_interval, .ctx = l };

	l->names = names;
	l->intervals = intervals_new(&opts);
	return l;
}

static void reset_period(struct live *l)
{
	struct live_thread *t;
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (hmap_next(&l->frames, &pos, &key, &value))
		free(value);
	pos = 0;
	while (hmap_next(&l->threads, &pos, &key, &value)) {
		t = value;
		hmap_fini(&t->leaves);
		hmap_fini(&t->blocks);
		free(t);
	}
	hmap_fini(&l->frames);
	hmap_fini(&l->threads);
	l->all = (struct live_sum){ 0 };
}

void live_free(struct live *l)
{
	if (!l)
		return;
	reset_period(l);
	intervals_free(l->intervals);
	event_counts_fini(&l->counts);
	free(l);
}

static void add_sample(struct live *l, const struct trace_event *ev)
{
	struct live_thread *t = thread_at(l, ev->part, ev->tid);

	name_thread(t, ev->pid, ev->comm);
	t->sum.samples++;
	l->all.samples++;
	if (!ev->frame_cnt)
		return;
	frame_at(l, ev->frames[0])->samples++;
	add_number(&t->leaves, ev->frames[0], 1);
}

void live_add(struct live *l, const struct trace *t, const struct trace_event *ev)
{
	const uint32_t clock = names_part(l->names, ev->part)->clock;

	if (ev->has_ts && !trace_is_naming(ev->kind)) {
		if (!l->begun || clock != l->clock) {
			l->from = l->to = ev->ts;
			l->clock = clock;
		}
		l->begun = true;
		if (ev->ts > l->to)
			l->to = ev->ts;
	}
	event_counts_add_loss(&l->counts, t, l->names, ev);
	intervals_add(l->intervals, t, ev);
	if (ev->kind == TRACE_SAMPLE && ev->source == PROF_SOURCE_SAMPLE)
		add_sample(l, ev);
}

uint64_t live_period(const struct live *l)
{
	return l->to - l->from;
}

const struct live_sum *live_all(const struct live *l)
{
	return &l->all;
}

const struct loss_accounting *live_lost(const struct live *l)
{
	return &l->counts.account;
}

void live_next(struct live *l)
{
	reset_period(l);
	l->from = l->to;
}

/* ---- rows -------------------------------------------------------------------------------------- */

static int by_number(uint64_t x, uint64_t y)
{
	return x < y ? 1 : x > y ? -1 : 0;
}

static int by_samples(const void *a, const void *b)
{
	const struct live_row *x = a, *y = b;
	int ret = by_number(x->sum.samples, y->sum.samples);

	if (!ret)
		ret = by_number(x->sum.off_ns, y->sum.off_ns);
	if (!ret)
		ret = by_number(x->sum.wait_ns, y->sum.wait_ns);
	if (!ret)
		ret = by_number(y->tid, x->tid);
	return ret ? ret : by_number(y->at.sym, x->at.sym);
}

static int by_off(const void *a, const void *b)
{
	const struct live_row *x = a, *y = b;
	int ret = by_number(x->sum.off_ns, y->sum.off_ns);

	return ret ? ret : by_samples(a, b);
}

void live_sort(struct live_rows *rows, bool off)
{
	if (rows->cnt)
		qsort(rows->v, rows->cnt, sizeof(*rows->v), off ? by_off : by_samples);
}

static struct live_row *append(struct live_rows *rows)
{
	rows->v = array_reserve(rows->v, &rows->cap, rows->cnt + 1, sizeof(*rows->v));
	rows->v[rows->cnt] = (struct live_row){ .at.sym = NAMES_NONE,
						.off_at.sym = NAMES_NONE,
						.tid = TRACE_NONE,
						.pid = TRACE_NONE,
						.comm = NAMES_NONE };
	return &rows->v[rows->cnt++];
}

/* The innermost function at an address, inlined or not. */
static struct live_function function_at(const struct names *n, uint64_t frame)
{
	const struct names_symbol *known = names_symbol(n, frame);
	const struct names_module *m = names_module(n, names_frame_module(frame));

	struct live_function f = { NAMES_NONE, m->announced ? m->group : 0 };

	for (uint32_t depth = known ? known->cnt : 0; depth-- && f.sym == NAMES_NONE;)
		f.sym = known->frames[depth].name;
	return f;
}

/* The frame with the largest count; false: none. */
static bool most_of(const struct hmap *m, uint64_t *out)
{
	uintptr_t most = 0;
	uint64_t frame;
	size_t pos = 0;
	void *value;

	while (hmap_next(m, &pos, &frame, &value)) {
		if ((uintptr_t)value > most)
			*out = frame;
		most = (uintptr_t)value > most ? (uintptr_t)value : most;
	}
	return most;
}

void live_functions(const struct live *l, struct live_rows *rows)
{
	struct hmap index = { 0 }; /* sym, module -> row + 1 */
	const struct live_sum *sum;
	struct live_function f;
	struct live_row *row;
	size_t pos = 0;
	uint64_t frame, place;
	uintptr_t at;
	void *value;

	while (hmap_next(&l->frames, &pos, &frame, &value)) {
		sum = value;
		f = function_at(l->names, frame);
		place = (uint64_t)f.sym << 32 | f.module;
		at = (uintptr_t)hmap_get(&index, place);
		row = at ? &rows->v[at - 1] : append(rows);
		if (!at)
			hmap_set(&index, place, (void *)rows->cnt);
		row->at = f;
		row->sum.samples += sum->samples;
		row->sum.off_ns += sum->off_ns;
	}
	hmap_fini(&index);
}

void live_threads(const struct live *l, struct live_rows *rows)
{
	const struct live_thread *t;
	struct live_row *row;
	uint64_t frame, key;
	size_t pos = 0;
	void *value;

	while (hmap_next(&l->threads, &pos, &key, &value)) {
		t = value;
		row = append(rows);
		row->tid = t->tid;
		row->pid = t->pid;
		row->comm = t->comm;
		names_task_fill(l->names, (uint32_t)(key >> 32), t->tid, &row->pid, &row->comm);
		row->sum = t->sum;
		if (most_of(&t->leaves, &frame))
			row->at = function_at(l->names, frame);
		row->blocked = most_of(&t->blocks, &frame);
		if (row->blocked)
			row->off_at = function_at(l->names, frame);
	}
}
