// SPDX-License-Identifier: BSD-2-Clause
/* Sums the time of several ranges by cause. Numbers and names, no text. */
#include "profile/explain/causes.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* A cause without thread or function. */
static struct cause cause_of_kind(enum cause_kind kind)
{
	return (struct cause){ .kind = kind,
			       .comm = NAMES_NONE,
			       .own = { TRACE_NONE, TRACE_NONE },
			       .function = NAMES_NONE,
			       .under = NAMES_NONE };
}

/* ---- functions ------------------------------------------------------------------------------- */

/* The function at an address, ignoring inlined ones; NAMES_NONE: unknown. */
static uint32_t function_at(const struct names *names, uint64_t frame)
{
	const struct names_symbol *sym = names_symbol(names, frame);

	return sym && sym->cnt && !sym->frames[0].label ? sym->frames[0].name : NAMES_NONE;
}

/* Scheduler functions at the start of every switch-out stack. */
static bool is_schedule(const char *name)
{
	return strstr(name, "schedule") != NULL;
}

/* The most informative function of one half of a stack, kernel or user; @at receives its index. */
static uint32_t best_function(const struct names *names, const uint64_t *frames, uint32_t cnt,
			      bool kernel, uint32_t *at)
{
	uint32_t first = NAMES_NONE;

	for (uint32_t k = 0; k < cnt; k++) {
		const uint32_t name = function_at(names, frames[k]);
		const char *text;

		if (!!(frames[k] & PROF_FRAME_KERNEL) != kernel || name == NAMES_NONE)
			continue;
		text = names_str(names, name, NULL);
		if (text[0] != '_' && !(kernel && is_schedule(text))) {
			*at = k;
			return name;
		}
		if (first == NAMES_NONE) {
			first = name;
			*at = k;
		}
	}
	return first;
}

/* Functions that only wrap a system call, or start a thread. */
static bool is_wrapper(const char *name)
{
	static const char *const own[] = { "std::", "core::", "alloc::", "start_thread", "clone" };

	name += name[0] == '<';
	for (size_t k = 0; k < sizeof(own) / sizeof(own[0]); k++)
		if (!strncmp(name, own[k], strlen(own[k])))
			return true;
	return name[0] == '_';
}

static bool is_in_library(const struct names *names, uint64_t frame)
{
	const struct names_module *m = names_module(names, names_frame_module(frame));
	const char *path = names_str(names, m->path, NULL), *slash = strrchr(path, '/');

	return strstr(slash ? slash : path, ".so") != NULL;
}

/* If the function at @at is in a library: its innermost caller from another file. */
static uint32_t caller_of(const struct names *names, const uint64_t *frames, uint32_t cnt,
			  uint32_t at)
{
	const uint32_t module = names_frame_module(frames[at]);

	if (!is_in_library(names, frames[at]))
		return NAMES_NONE;
	for (uint32_t k = at + 1; k < cnt; k++) {
		const uint32_t name = function_at(names, frames[k]);

		if (names_frame_module(frames[k]) != module && name != NAMES_NONE &&
		    !is_wrapper(names_str(names, name, NULL)))
			return name;
	}
	return NAMES_NONE;
}

/*
 * The names of page fault handlers: asm_exc_page_fault, do_page_fault; on arm64 handle_mm_fault
 * below el0_da.
 */
static bool is_fault(const struct names *names, const uint64_t *frames, uint32_t cnt)
{
	for (uint32_t k = 0; k < cnt && frames[k] & PROF_FRAME_KERNEL; k++) {
		const uint32_t name = function_at(names, frames[k]);
		const char *text = name == NAMES_NONE ? "" : names_str(names, name, NULL);

		if (strstr(text, "page_fault") || !strcmp(text, "handle_mm_fault"))
			return true;
	}
	return false;
}

static struct cause blocked_at(const struct intervals *iv, const struct names *names,
			       uint32_t stack)
{
	struct cause c = cause_of_kind(CAUSE_BLOCKED);
	const uint64_t *frames;
	uint32_t cnt, at;

	frames = intervals_stack(iv, stack, &cnt);
	c.function = best_function(names, frames, cnt, false, &at);
	if (c.function != NAMES_NONE)
		c.under = caller_of(names, frames, cnt, at);
	else
		c.function = best_function(names, frames, cnt, true, &at);
	c.fault = is_fault(names, frames, cnt);
	return c;
}

/* ---- rows -------------------------------------------------------------------------------------- */

static bool is_same(const struct cause *a, const struct cause *b)
{
	return a->kind == b->kind && a->tid == b->tid && a->function == b->function &&
	       a->under == b->under && a->fault == b->fault &&
	       a->own.replaced_by == b->own.replaced_by &&
	       a->own.ran_before_return == b->own.ran_before_return;
}

/* The row of that cause, or the free slot for it: @hash. */
static struct cause *find(const struct causes *c, const struct cause *one, uint64_t *hash)
{
	const uint32_t key[] = { one->kind,
				 one->tid,
				 one->function,
				 one->under,
				 one->fault,
				 one->own.replaced_by,
				 one->own.ran_before_return };
	struct cause *row;
	uintptr_t at;

	for (*hash = hash_bytes(key, sizeof(key)); (at = (uintptr_t)hmap_get(&c->index, *hash));
	     ++*hash) {
		row = &c->v[at - 1];
		if (is_same(row, one))
			return row;
	}
	return NULL;
}

static void add(struct causes *c, const struct cause *one, uint64_t ns)
{
	const struct cause others = cause_of_kind(CAUSE_OTHERS);
	struct cause *row;
	uint64_t hash;

	if (!ns)
		return;
	row = find(c, one, &hash);
	if (!row && one->kind == CAUSE_RUNNABLE && c->runnable_rows == CAUSES_RUNNABLE_MAX) {
		one = &others;
		row = find(c, one, &hash);
	}
	if (!row) {
		c->v = array_reserve(c->v, &c->cap, c->cnt + 1, sizeof(*c->v));
		row = &c->v[c->cnt++];
		*row = *one;
		c->runnable_rows += one->kind == CAUSE_RUNNABLE;
		hmap_set(&c->index, hash, (void *)(uintptr_t)c->cnt);
	}
	row->ns += ns;
	row->last_ns = row->last == c->ranges ? row->last_ns + ns : ns;
	row->ranges += row->last != c->ranges;
	row->last = c->ranges;
	if (row->last_ns > c->longest_ns) {
		c->longest_ns = row->last_ns;
		c->longest = (size_t)(row - c->v);
	}
}

/* Adds a step of one piece with all its preemptors; the step itself has only some. */
static void add_runnable(struct causes *c, const struct explain *e, const struct explain_step *s)
{
	const struct explain_piece *p = s->longest[INTERVAL_RUNNABLE];
	const struct cause others = cause_of_kind(CAUSE_OTHERS);
	struct cause one = cause_of_kind(CAUSE_RUNNABLE), unknown = one;

	unknown.tid = TRACE_NONE;
	unknown.own = explain_own_switches(s);
	unknown.part = p->part;
	if (p->start < s->from || p->end > s->to) {
		/* the fragments of the piece per preemptor are not kept */
		add(c, p->preemptors_unknown_ns ? &unknown : &others, s->to - s->from);
		return;
	}
	for (size_t k = 0; k < p->preemptor_cnt; k++) {
		one.tid = e->preemptors[p->preemptors + k].tid;
		one.comm = e->preemptors[p->preemptors + k].comm;
		add(c, &one, e->preemptors[p->preemptors + k].ns);
	}
	add(c, &others, p->preemptors_other_ns);
	add(c, &unknown, p->preemptors_unknown_ns);
}

struct adding {
	struct causes *c;
	const struct explain *e;
	const struct intervals *iv;
	const struct names *names;
	uint64_t there;
};

/* Adds a step of one piece. */
static void add_step(void *ctx, const struct explain_step *s)
{
	struct adding *a = ctx;
	struct causes *c = a->c;
	const struct explain_piece *dark = s->longest[INTERVAL_UNKNOWN];
	const bool unrecorded =
		s->cnt[INTERVAL_UNKNOWN] && dark->flags & (INTERVAL_NEIGHBOUR | INTERVAL_ELSEWHERE);
	const struct cause ran = cause_of_kind(CAUSE_RAN);
	const struct cause unknown = cause_of_kind(unrecorded ? CAUSE_UNRECORDED : CAUSE_UNKNOWN);
	struct cause blocked;

	a->there += s->to - s->from;
	add(c, &ran, s->ns[INTERVAL_RUNNING]);
	add(c, &unknown, s->ns[INTERVAL_UNKNOWN]);
	if (s->cnt[INTERVAL_RUNNABLE])
		add_runnable(c, a->e, s);
	if (s->cnt[INTERVAL_BLOCKED]) {
		blocked = blocked_at(a->iv, a->names, s->longest[INTERVAL_BLOCKED]->stack);
		add(c, &blocked, s->ns[INTERVAL_BLOCKED]);
	}
}

void causes_add(struct causes *c, const struct explain *e, const struct intervals *iv,
		const struct names *names, uint32_t part, uint32_t tid, uint64_t from, uint64_t to)
{
	const struct cause absent = cause_of_kind(CAUSE_ABSENT);
	struct adding a = { .c = c, .e = e, .iv = iv, .names = names };

	c->ranges++;
	c->ns += to - from;
	c->longest_ns = 0;
	explain_each_step(e, part, tid, from, to, 0, add_step, &a);
	/* pieces of a damaged trace may overlap */
	add(c, &absent, a.there < to - from ? to - from - a.there : 0);
	if (c->longest_ns)
		c->v[c->longest].mostly++;
}

static int most_first(const void *a, const void *b)
{
	const struct cause *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->own.replaced_by != y->own.replaced_by)
		return x->own.replaced_by < y->own.replaced_by ? -1 : 1;
	if (x->own.ran_before_return != y->own.ran_before_return)
		return x->own.ran_before_return < y->own.ran_before_return ? -1 : 1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return (x->under > y->under) - (x->under < y->under);
}

void causes_finish(struct causes *c)
{
	if (c->cnt)
		qsort(c->v, c->cnt, sizeof(*c->v), most_first);
}

void causes_fini(struct causes *c)
{
	hmap_fini(&c->index);
	free(c->v);
	*c = (struct causes){ 0 };
}
