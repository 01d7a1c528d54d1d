// SPDX-License-Identifier: BSD-2-Clause
/*
 * Passes each event to the thread_state of its recording. Owns these, and what they share: stacks,
 * windows, and gaps. Successive recordings share one thread_state, which restarts with each.
 * Recordings of a merged stream overlap and have one each.
 */
#include "profile/sched/intervals.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "profile/sched/loss_accounting.h"
#include "profile/sched/offcpu_interval.h"
#include "profile/sched/thread_state.h"

struct intervals {
	struct thread_state_shared all;
	struct thread_state *own; /* of recordings that are not merged */
	struct thread_state **merged; /* of merged ones, by part */
	size_t merged_cap;
	/*
	 * The last complete off-CPU interval. It is emitted with the next event, because its stack
	 * follows it.
	 */
	struct offcpu_interval offcpu;
};

struct intervals *intervals_new(const struct intervals_opts *opts)
{
	struct intervals *iv = xcalloc(1, sizeof(*iv));

	iv->all.opts = *opts;
	iv->own = thread_state_new(&iv->all);
	return iv;
}

static void forget_merged(struct intervals *iv)
{
	for (size_t i = 0; i < iv->merged_cap; i++)
		thread_state_free(iv->merged[i]);
	free(iv->merged);
	iv->merged = NULL;
	iv->merged_cap = 0;
}

void intervals_free(struct intervals *iv)
{
	if (!iv)
		return;
	forget_merged(iv);
	thread_state_free(iv->own);
	for (size_t i = 0; i < iv->all.gaps_cap; i++)
		gaps_fini(&iv->all.gaps[i]);
	free(iv->all.gaps);
	free(iv->all.windows);
	stack_table_fini(&iv->all.stacks);
	free(iv);
}

void intervals_restart(struct intervals *iv)
{
	forget_merged(iv);
	thread_state_restart(iv->own);
	iv->offcpu.cnt = 0;
}

void intervals_skip_stacks(struct intervals *iv)
{
	iv->all.skip_stacks = true;
}

void intervals_window(struct intervals *iv, uint32_t clock, uint64_t from, uint64_t to)
{
	struct thread_state_shared *all = &iv->all;

	all->windows = array_reserve(all->windows, &all->window_cap, (size_t)clock + 1,
				     sizeof(*all->windows));
	all->windows[clock] = (struct thread_state_window){ from, to, true };
	thread_state_window(iv->own, clock);
	for (size_t i = 0; i < iv->merged_cap; i++)
		if (iv->merged[i])
			thread_state_window(iv->merged[i], clock);
}

bool intervals_is_gap(const struct trace *t, const struct trace_event *ev, uint64_t *first,
		      uint64_t *last)
{
	struct dial9_str kind;

	return ev->kind == TRACE_LOST && trace_str(t, ev, ROLE_KIND, &kind) &&
	       loss_accounting_hides_switches(kind.ptr, kind.len) &&
	       trace_u64(ev, ROLE_FIRST_NS, first) && trace_u64(ev, ROLE_LAST_NS, last);
}

void intervals_add_gaps(struct intervals *iv, const struct trace *t, const struct trace_event *ev)
{
	struct thread_state_shared *all = &iv->all;
	uint64_t first, last;

	if (!intervals_is_gap(t, ev, &first, &last))
		return;
	all->gaps =
		array_reserve(all->gaps, &all->gaps_cap, (size_t)ev->part + 1, sizeof(*all->gaps));
	gaps_add(&all->gaps[ev->part], first, last);
}

void intervals_copy_gaps(struct intervals *iv, const struct intervals *from)
{
	struct thread_state_shared *all = &iv->all;

	all->gaps =
		array_reserve(all->gaps, &all->gaps_cap, from->all.gaps_cap, sizeof(*all->gaps));
	for (size_t i = 0; i < from->all.gaps_cap; i++)
		for (size_t k = 0; k < from->all.gaps[i].cnt; k++)
			gaps_add(&all->gaps[i], from->all.gaps[i].v[k].from,
				 from->all.gaps[i].v[k].to);
}

bool interval_piece(const struct interval *i, uint32_t k, struct interval *piece)
{
	if (k > i->exec_cnt)
		return false;
	*piece = *i;
	if (k)
		piece->start = i->execs[k - 1].ts;
	if (k < i->exec_cnt) {
		piece->end = i->execs[k].ts;
		piece->comm = i->execs[k].comm;
	}
	return true;
}

bool intervals_touch_gap(const struct intervals *iv, uint32_t part, uint64_t from, uint64_t to)
{
	return part < iv->all.gaps_cap && gaps_touch(&iv->all.gaps[part], from, to);
}

static struct thread_state *thread_state_of(struct intervals *iv, uint32_t part)
{
	if (names_part(iv->all.opts.names, part)->base == part)
		return iv->own;
	iv->merged = array_reserve(iv->merged, &iv->merged_cap, (size_t)part + 1,
				   sizeof(struct thread_state *));
	if (!iv->merged[part])
		iv->merged[part] = thread_state_new(&iv->all);
	return iv->merged[part];
}

static void flush_offcpu(struct intervals *iv)
{
	const struct thread_state_shared *all = &iv->all;
	const struct thread_state_window none = { 0 };
	uint32_t clock;

	for (size_t i = 0; i < iv->offcpu.cnt; i++) {
		clock = names_part(all->opts.names, iv->offcpu.v[i].part)->clock;
		if (thread_state_clip(clock < all->window_cap ? &all->windows[clock] : &none,
				      &iv->offcpu.v[i]))
			all->opts.fn(all->opts.ctx, &iv->offcpu.v[i]);
	}
	iv->offcpu.cnt = 0;
}

static void handle_offcpu(struct intervals *iv, const struct trace *t, const struct trace_event *ev)
{
	if (ev->kind == TRACE_SAMPLE && ev->source == PROF_SOURCE_EVENT && !iv->all.skip_stacks &&
	    offcpu_interval_is_of(&iv->offcpu, ev))
		offcpu_interval_set_stack(&iv->offcpu, stack_table_add(&iv->all.stacks, ev->frames,
								       ev->frame_cnt));
	if (iv->offcpu.cnt && !trace_is_naming(ev->kind))
		flush_offcpu(iv);
	if (ev->kind == TRACE_OFF_CPU)
		offcpu_interval_read(&iv->offcpu, t, ev);
}

void intervals_add(struct intervals *iv, const struct trace *t, const struct trace_event *ev)
{
	if (!ev->has_ts)
		return;
	handle_offcpu(iv, t, ev);
	thread_state_add(thread_state_of(iv, ev->part), t, ev);
	intervals_add_gaps(iv, t, ev);
}

void intervals_finish(struct intervals *iv)
{
	flush_offcpu(iv);
	thread_state_finish(iv->own);
	for (size_t i = 0; i < iv->merged_cap; i++)
		if (iv->merged[i])
			thread_state_finish(iv->merged[i]);
}

const uint64_t *intervals_stack(const struct intervals *iv, uint32_t stack, uint32_t *cnt)
{
	return stack_table_get(&iv->all.stacks, stack, cnt);
}

struct interval_preemptor_sum intervals_preemptors(const struct intervals *iv,
						   const struct interval *i,
						   struct interval_preemptor *out, size_t max)
{
	return thread_state_preemptors(iv->all.reporting ? iv->all.reporting : iv->own, i, out,
				       max);
}

/* The place of the thread of @i: its own, a free one, or the one with the shortest time; NULL: that is longer. */
static struct intervals_hole *place_of(struct intervals_holes *h, const struct interval *i)
{
	const size_t max = sizeof(h->v) / sizeof(h->v[0]);

	for (size_t k = 0; k < h->cnt; k++)
		if (h->v[k].tid == i->tid && h->v[k].part == i->part)
			return &h->v[k];
	if (h->cnt < max)
		return &h->v[h->cnt++];
	h->more = true;
	if (h->v[max - 1].ns >= i->end - i->start)
		return NULL;
	h->v[max - 1].ns = 0;
	return &h->v[max - 1];
}

void intervals_holes_add(struct intervals_holes *h, const struct interval *i)
{
	struct intervals_hole *at, own;

	if (!(i->flags & INTERVAL_HOLE) ||
	    i->flags & (INTERVAL_LOSS | INTERVAL_NEIGHBOUR | INTERVAL_ELSEWHERE))
		return;
	at = place_of(h, i);
	if (!at)
		return;
	own = (struct intervals_hole){ i->part, i->tid, i->comm, i->cpu,
				       at->ns + i->end - i->start };
	for (; at > h->v && at[-1].ns < own.ns; at--)
		*at = at[-1];
	*at = own;
}

void intervals_unknown_add(struct intervals_unknown *u, const struct interval *i)
{
	const uint64_t ns = i->end - i->start;

	if (i->state != INTERVAL_UNKNOWN)
		return;
	u->ns += ns;
	intervals_holes_add(&u->holes, i);
	if (interval_is_unsure(i->flags))
		u->unsure_ns += ns;
}
