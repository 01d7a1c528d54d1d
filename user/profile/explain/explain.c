// SPDX-License-Identifier: BSD-2-Clause
/* What threads did in a window: pieces, grouped into steps. Numbers only. */
#include "profile/explain/explain.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "profile/sched/preemptors.h"

static uint64_t key_of(uint32_t part, uint32_t tid)
{
	return (uint64_t)part << 32 | tid;
}

/* ---- intervals and samples ------------------------------------------------------------------- */

static struct explain_thread *thread_of(struct explain *e, const struct interval *i)
{
	struct explain_thread *th = hmap_get(&e->index, key_of(i->part, i->tid));

	if (!th) {
		th = xcalloc(1, sizeof(*th));
		th->tid = i->tid;
		th->part = i->part;
		th->first = i->start;
		hmap_set(&e->index, key_of(i->part, i->tid), th);
	}
	th->pid = i->pid;
	th->comm = i->comm;
	th->last = i->end > th->last ? i->end : th->last;
	return th;
}

static void end_stretch(struct explain_thread *th, uint64_t to, bool cut)
{
	cut |= th->off_cut;
	if (!th->off || to <= th->off_from)
		return;
	if (th->worst_to && th->worst_cut < cut)
		return;
	if (th->worst_to && th->worst_cut == cut &&
	    th->worst_to - th->worst_from >= to - th->off_from)
		return;
	th->worst_from = th->off_from;
	th->worst_to = to;
	th->worst_cut = cut;
}

static void follow_stretch(struct explain_thread *th, const struct interval *i)
{
	const bool off = i->state == INTERVAL_BLOCKED || i->state == INTERVAL_RUNNABLE ||
			 interval_is_unsure(i->flags);

	if (!off) {
		end_stretch(th, i->start, i->state == INTERVAL_UNKNOWN);
		th->off = false;
		return;
	}
	if (!th->off) {
		th->off = true;
		th->off_from = i->start;
		th->off_cut = false;
	}
	th->off_cut |= (i->flags & INTERVAL_CUT) != 0;
	if (i->end_by == INTERVAL_TO_CPU || i->end_by == INTERVAL_TO_NOTHING ||
	    i->flags & INTERVAL_CLIP_END) {
		end_stretch(th, i->end, false);
		th->off = false;
	}
}

static void add_preemptors(struct explain *e, const struct intervals *iv, const struct interval *i,
			   struct explain_piece *p)
{
	const size_t room = EXPLAIN_PREEMPTORS_MAX - e->preemptor_cnt,
		     max = room < PREEMPTORS_MAX ? room : PREEMPTORS_MAX;
	struct interval_preemptor_sum sum;

	e->preemptors = array_reserve(e->preemptors, &e->preemptor_cap, e->preemptor_cnt + max,
				      sizeof(*e->preemptors));
	sum = intervals_preemptors(iv, i, e->preemptors + e->preemptor_cnt, max);
	p->preemptors = (uint32_t)e->preemptor_cnt;
	p->preemptor_cnt = (uint8_t)sum.n;
	p->preemptors_other_ns = sum.other_ns;
	p->preemptors_unknown_ns = sum.unknown_ns;
	e->preemptor_cnt += sum.n;
}

static void add_piece(struct explain *e, const struct intervals *iv, const struct interval *i)
{
	struct explain_piece *p;

	if (e->piece_cnt == EXPLAIN_MAX) {
		if (!e->dropped_from || i->start < e->dropped_from)
			e->dropped_from = i->start;
		return;
	}
	e->pieces = array_reserve(e->pieces, &e->piece_cap, e->piece_cnt + 1, sizeof(*e->pieces));
	p = &e->pieces[e->piece_cnt++];
	*p = (struct explain_piece){
		.start = i->start,
		.end = i->end,
		.tid = i->tid,
		.part = i->part,
		.cpu = i->cpu,
		.prev_state = i->prev_state,
		.stack = i->stack,
		.next_tid = i->flags & INTERVAL_CLIP_START ? TRACE_NONE : i->next_tid,
		.prev_tid = i->flags & INTERVAL_CLIP_END ? TRACE_NONE : i->prev_tid,
		.state = (uint8_t)i->state,
		.why = (uint8_t)i->why,
		.woken = i->waker,
		.flags = (uint16_t)i->flags,
	};
	if (i->waker)
		p->waker = *i->waker;
	if (i->state == INTERVAL_RUNNABLE)
		add_preemptors(e, iv, i, p);
}

void explain_add(struct explain *e, const struct intervals *iv, const struct interval *i)
{
	struct explain_thread *th;

	if (!i->tid)
		return;
	th = thread_of(e, i);
	th->ns[i->state] += i->end - i->start;
	follow_stretch(th, i);
	if (!e->sums_only && i->end > i->start)
		add_piece(e, iv, i);
}

void explain_add_sample(struct explain *e, const struct trace_event *ev)
{
	if (e->sums_only || ev->tid == TRACE_NONE || !ev->tid || e->sample_cnt == EXPLAIN_MAX)
		return;
	e->samples =
		array_reserve(e->samples, &e->sample_cap, e->sample_cnt + 1, sizeof(*e->samples));
	e->samples[e->sample_cnt++] = (struct explain_sample){
		.ts = ev->ts,
		.tid = ev->tid,
		.part = ev->part,
		.stack = stack_table_add(&e->stacks, ev->frames, ev->frame_cnt),
		.out = ev->source == PROF_SOURCE_SWITCH_OUT,
	};
}

/* ---- sorting --------------------------------------------------------------------------------- */

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int piece_order(const void *a, const void *b)
{
	const struct explain_piece *x = a, *y = b;

	if (x->part != y->part || x->tid != y->tid)
		return compare(key_of(x->part, x->tid), key_of(y->part, y->tid));
	return compare(x->start, y->start);
}

static int sample_order(const void *a, const void *b)
{
	const struct explain_sample *x = a, *y = b;

	if (x->part != y->part || x->tid != y->tid)
		return compare(key_of(x->part, x->tid), key_of(y->part, y->tid));
	return x->ts == y->ts ? compare(x->stack, y->stack) : compare(x->ts, y->ts);
}

void explain_finish(struct explain *e, const struct names *names)
{
	struct explain_thread *th;
	size_t pos = 0;
	uint64_t key;
	void *v;

	if (e->piece_cnt)
		qsort(e->pieces, e->piece_cnt, sizeof(*e->pieces), piece_order);
	if (e->sample_cnt)
		qsort(e->samples, e->sample_cnt, sizeof(*e->samples), sample_order);
	while (hmap_next(&e->index, &pos, &key, &v)) {
		th = v;
		names_task_fill(names, th->part, th->tid, &th->pid, &th->comm);
	}
}

void explain_fini(struct explain *e)
{
	size_t pos = 0;
	uint64_t key;
	void *th;

	while (hmap_next(&e->index, &pos, &key, &th))
		free(th);
	hmap_fini(&e->index);
	free(e->pieces);
	free(e->preemptors);
	free(e->samples);
	stack_table_fini(&e->stacks);
	*e = (struct explain){ .sums_only = e->sums_only };
}

/* ---- threads ----------------------------------------------------------------------------------- */

const struct explain_thread *explain_thread(const struct explain *e, uint32_t tid)
{
	const struct explain_thread *th, *found = NULL;
	size_t pos = 0;
	uint64_t key;
	void *v;

	while (hmap_next(&e->index, &pos, &key, &v)) {
		th = v;
		if (th->tid == tid && (!found || th->part < found->part))
			found = th;
	}
	return found;
}

static int most_run_first(const void *a, const void *b)
{
	const struct explain_thread *x = *(const struct explain_thread *const *)a,
				    *y = *(const struct explain_thread *const *)b;

	if (x->ns[INTERVAL_RUNNING] != y->ns[INTERVAL_RUNNING])
		return compare(y->ns[INTERVAL_RUNNING], x->ns[INTERVAL_RUNNING]);
	return compare(x->tid, y->tid);
}

const struct explain_thread **explain_process(const struct explain *e, uint32_t part, uint32_t pid,
					      size_t *cnt)
{
	const struct explain_thread **all = xcalloc(e->index.cnt + 1, sizeof(*all));
	const struct explain_thread *th;
	size_t pos = 0;
	uint64_t key;
	void *v;

	*cnt = 0;
	while (hmap_next(&e->index, &pos, &key, &v)) {
		th = v;
		if (th->part == part && th->pid == pid)
			all[(*cnt)++] = th;
	}
	qsort(all, *cnt, sizeof(*all), most_run_first);
	return all;
}

void explain_bounds(const struct explain *e, uint32_t part, uint64_t *from, uint64_t *to)
{
	const struct explain_thread *th;
	size_t pos = 0;
	uint64_t key;
	void *v;

	*from = UINT64_MAX;
	*to = 0;
	while (hmap_next(&e->index, &pos, &key, &v)) {
		th = v;
		if (th->part != part)
			continue;
		*from = th->first < *from ? th->first : *from;
		*to = th->last > *to ? th->last : *to;
	}
	*from = *from < *to ? *from : *to;
}

/* ---- steps ------------------------------------------------------------------------------------- */

/* The first piece of a thread that ends after a time. */
static size_t first_piece(const struct explain *e, uint32_t part, uint32_t tid, uint64_t from)
{
	size_t lo = 0, hi = e->piece_cnt;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		const struct explain_piece *p = &e->pieces[mid];
		const uint64_t key = key_of(p->part, p->tid), want = key_of(part, tid);

		if (key < want || (key == want && p->end <= from))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static size_t first_sample(const struct explain *e, uint32_t part, uint32_t tid, uint64_t from)
{
	size_t lo = 0, hi = e->sample_cnt;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		const struct explain_sample *s = &e->samples[mid];
		const uint64_t key = key_of(s->part, s->tid), want = key_of(part, tid);

		if (key < want || (key == want && s->ts < from))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct explain_sample *explain_samples(const struct explain *e, uint32_t part, uint32_t tid,
					     uint64_t from, uint64_t to, size_t *cnt)
{
	const size_t first = first_sample(e, part, tid, from);
	size_t end = first;

	while (end < e->sample_cnt && e->samples[end].part == part && e->samples[end].tid == tid &&
	       e->samples[end].ts < to)
		end++;
	*cnt = end - first;
	return *cnt ? &e->samples[first] : NULL;
}

static int by_stack(const void *a, const void *b)
{
	return compare(*(const uint32_t *)a, *(const uint32_t *)b);
}

static void find_hottest(const struct explain *e, const struct explain_piece *p,
			 struct explain_step *s)
{
	size_t n, run = 0;
	const struct explain_sample *samples =
		explain_samples(e, p->part, p->tid, s->from, s->to, &n);
	uint32_t *stacks;

	if (!n)
		return;
	stacks = xcalloc(n, sizeof(*stacks));
	for (size_t k = 0; k < n; k++)
		stacks[k] = samples[k].stack;
	qsort(stacks, n, sizeof(*stacks), by_stack);
	for (size_t k = 0; k < n; k++) {
		run = k && stacks[k] == stacks[k - 1] ? run + 1 : 1;
		if (run > s->hottest_cnt) {
			s->hottest_cnt = run;
			s->hottest = stacks[k];
		}
	}
	s->samples = n;
	free(stacks);
}

/* Sums over CPUs. */
static void count_preemptor(struct preemptors *r, struct interval_preemptor one)
{
	one.cpu = TRACE_NONE;
	preemptors_add(r, &one);
}

static void end_step(const struct explain *e, struct explain_step *s, struct preemptors *r,
		     explain_step_fn fn, void *ctx)
{
	if (s->longest[INTERVAL_RUNNING])
		find_hottest(e, s->longest[INTERVAL_RUNNING], s);
	s->preemptor_cnt = preemptors_top(r, s->preemptors, EXPLAIN_PREEMPTORS);
	s->other_ns = r->other_ns;
	*r = (struct preemptors){ 0 };
	fn(ctx, s);
}

void explain_within(const struct explain_step *s, const struct explain_piece *p, uint64_t *from,
		    uint64_t *to)
{
	*from = p->start > s->from ? p->start : s->from;
	*to = p->end < s->to ? p->end : s->to;
}

static uint64_t length_within(const struct explain_step *s, const struct explain_piece *p)
{
	uint64_t from, to;

	explain_within(s, p, &from, &to);
	return to - from;
}

static void join_step(const struct explain *e, struct explain_step *s,
		      const struct explain_piece *p, uint64_t from, uint64_t to,
		      struct preemptors *r)
{
	const struct explain_piece **longest = &s->longest[p->state];

	s->to = to;
	s->ns[p->state] += to - from;
	s->cnt[p->state]++;
	if (!*longest || length_within(s, *longest) < to - from)
		*longest = p;
	if (from > p->start || to < p->end) {
		/* the fragments of the piece per preemptor are not kept */
		if (p->state == INTERVAL_RUNNABLE)
			*(p->preemptors_unknown_ns ? &s->unknown_ns : &r->other_ns) += to - from;
		return;
	}
	for (size_t k = 0; k < p->preemptor_cnt; k++)
		count_preemptor(r, e->preemptors[p->preemptors + k]);
	r->other_ns += p->preemptors_other_ns;
	s->unknown_ns += p->preemptors_unknown_ns;
}

struct explain_own_switches explain_own_switches(const struct explain_step *s)
{
	const struct explain_piece *p = s->longest[INTERVAL_RUNNABLE];

	if (!s->unknown_ns || s->cnt[INTERVAL_RUNNABLE] != 1)
		return (struct explain_own_switches){ TRACE_NONE, TRACE_NONE };
	return (struct explain_own_switches){ p->next_tid, p->prev_tid };
}

void explain_each_step(const struct explain *e, uint32_t part, uint32_t tid, uint64_t from,
		       uint64_t to, uint64_t small, explain_step_fn fn, void *ctx)
{
	struct preemptors preemptors = { 0 };
	struct explain_step s = { 0 };
	bool was_small = false, open = false;

	for (size_t k = first_piece(e, part, tid, from); k < e->piece_cnt; k++) {
		const struct explain_piece *p = &e->pieces[k];
		const uint64_t start = p->start > from ? p->start : from,
			       end = p->end < to ? p->end : to;
		const bool is_small = end - start < small;

		if (p->part != part || p->tid != tid || p->start >= to)
			break;
		/* a thread without pieces for some time starts a new step */
		if (!open || !is_small || !was_small || s.to != start) {
			if (open)
				end_step(e, &s, &preemptors, fn, ctx);
			s = (struct explain_step){ .from = start, .hottest = INTERVAL_NO_STACK };
			open = true;
		}
		join_step(e, &s, p, start, end, &preemptors);
		was_small = is_small;
	}
	if (open)
		end_step(e, &s, &preemptors, fn, ctx);
}

struct steps {
	struct explain_step **v;
	size_t *cnt, *cap;
};

static void append(void *ctx, const struct explain_step *s)
{
	struct steps *steps = ctx;

	*steps->v = array_reserve(*steps->v, steps->cap, *steps->cnt + 1, sizeof(**steps->v));
	(*steps->v)[(*steps->cnt)++] = *s;
}

void explain_steps(const struct explain *e, uint32_t part, uint32_t tid, uint64_t from, uint64_t to,
		   uint64_t small, struct explain_step **steps, size_t *cnt, size_t *cap)
{
	struct steps all = { steps, cnt, cap };

	explain_each_step(e, part, tid, from, to, small, append, &all);
}

struct first_step {
	struct explain_step *s;
	bool found;
};

static void keep_first_stack(void *ctx, const struct explain_step *s)
{
	struct first_step *first = ctx;

	if (!first->found)
		*first->s = *s;
	first->found = true;
}

bool explain_range(const struct explain *e, uint32_t part, uint32_t tid, uint64_t from, uint64_t to,
		   struct explain_step *out)
{
	struct first_step first = { .s = out };

	explain_each_step(e, part, tid, from, to, UINT64_MAX, keep_first_stack, &first);
	return first.found;
}

struct sums {
	uint64_t *ns, absent;
};

static void add_step(void *ctx, const struct explain_step *s)
{
	struct sums *sums = ctx;
	const uint64_t there = s->to - s->from;

	/* pieces of a damaged trace may overlap */
	sums->absent = sums->absent > there ? sums->absent - there : 0;
	for (int state = 0; state < INTERVAL_STATE_CNT; state++)
		sums->ns[state] += s->ns[state];
}

uint64_t explain_sums(const struct explain *e, uint32_t part, uint32_t tid, uint64_t from,
		      uint64_t to, uint64_t ns[INTERVAL_STATE_CNT])
{
	struct sums sums = { .ns = ns, .absent = to - from };

	memset(ns, 0, INTERVAL_STATE_CNT * sizeof(*ns));
	explain_each_step(e, part, tid, from, to, UINT64_MAX, add_step, &sums);
	return sums.absent;
}

const struct explain_piece *explain_last(const struct explain *e, uint32_t part, uint32_t tid,
					 enum interval_state state, uint64_t until)
{
	for (size_t k = first_piece(e, part, tid, until); k--;) {
		const struct explain_piece *p = &e->pieces[k];

		if (p->part != part || p->tid != tid)
			break;
		if (p->state == state)
			return p;
	}
	return NULL;
}

bool explain_was_off(const struct explain *e, uint32_t part, uint32_t tid, uint64_t at,
		     uint64_t slack)
{
	const size_t k = first_piece(e, part, tid, at);
	const struct explain_piece *p = k < e->piece_cnt ? &e->pieces[k] : NULL;

	if (!p || p->part != part || p->tid != tid || p->start > at)
		return false;
	return (p->state == INTERVAL_BLOCKED || p->state == INTERVAL_RUNNABLE) &&
	       at - p->start >= slack && p->end - at >= slack;
}

uint32_t explain_waker_tid(const struct explain_piece *p)
{
	if (!p->woken || !interval_by_thread(p->waker.context))
		return 0;
	return p->waker.tid == TRACE_NONE ? 0 : p->waker.tid;
}
