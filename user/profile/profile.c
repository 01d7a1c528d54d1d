// SPDX-License-Identifier: BSD-2-Clause
/*
 * CPU samples summed. Owns the distinct (stack, thread) pairs with their counts; everything else is
 * derived from these at the end, when all names are known. Numbers only, no text.
 *
 * Self is where a stack ends, total is what it passes through. A function that recurses stands in a
 * stack many times and still counts once in its total, so each row remembers the stack that it
 * counted last. Inlined functions are frames like any other here.
 */
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct profile {
	const struct names *names;
	struct hmap index; /* hash of content -> stack + 1 */
	struct profile_stack *stacks;
	size_t cnt, cap;
	uint64_t *arena; /* frames of all stacks */
	size_t arena_len, arena_cap;
	uint64_t samples;
	uint64_t *weight; /* by part; NULL: 1 */
	size_t weight_cnt;
	struct profile_frame *expanded; /* by the last profile_expand() */
	size_t expanded_cap;
};

int profile_new(const struct names *names, struct profile **out)
{
	struct profile *p = xcalloc(1, sizeof(*p));

	p->names = names;
	hmap_init(&p->index);
	*out = p;
	return 0;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	hmap_fini(&p->index);
	free(p->stacks);
	free(p->arena);
	free(p->weight);
	free(p->expanded);
	free(p);
}

static bool stack_is(const struct profile *p, const struct profile_stack *s,
		     const struct trace_event *ev, uint32_t len)
{
	return s->len == len && s->tid == ev->tid && s->pid == ev->pid && s->comm == ev->comm &&
	       s->part == ev->part &&
	       (!len || !memcmp(p->arena + s->at, ev->frames, len * sizeof(*p->arena)));
}

static void stack_append(struct profile *p, const struct trace_event *ev, uint32_t len)
{
	p->arena = array_reserve(p->arena, &p->arena_cap, p->arena_len + len, sizeof(*p->arena));
	if (len)
		memcpy(p->arena + p->arena_len, ev->frames, len * sizeof(*p->arena));
	p->stacks = array_reserve(p->stacks, &p->cap, p->cnt + 1, sizeof(*p->stacks));
	p->stacks[p->cnt++] = (struct profile_stack){
		.at = p->arena_len,
		.len = len,
		.pid = ev->pid,
		.tid = ev->tid,
		.comm = ev->comm,
		.part = ev->part,
		.samples = 1,
	};
	p->arena_len += len;
}

void profile_add(struct profile *p, const struct trace_event *ev)
{
	uint32_t len = ev->frame_cnt < PROFILE_DEPTH_MAX ? ev->frame_cnt : PROFILE_DEPTH_MAX;
	uint64_t h = len ? hash_bytes(ev->frames, len * sizeof(*ev->frames)) : 0;
	uintptr_t at;

	p->samples++;
	h = hash_u64(h ^ ((uint64_t)ev->pid << 32 | ev->tid)) + ev->comm;
	h = hash_u64(h + ev->part);
	for (;; h++) {
		at = (uintptr_t)hmap_get(&p->index, h);
		if (!at)
			break;
		if (stack_is(p, &p->stacks[at - 1], ev, len)) {
			p->stacks[at - 1].samples++;
			return;
		}
	}
	stack_append(p, ev, len);
	hmap_set(&p->index, h, (void *)(uintptr_t)p->cnt);
}

uint64_t profile_samples(const struct profile *p)
{
	return p->samples;
}

void profile_weigh(struct profile *p, const uint64_t *weight, size_t cnt)
{
	free(p->weight);
	p->weight = xmemdup(weight, cnt * sizeof(*weight));
	p->weight_cnt = cnt;
}

uint64_t profile_stack_weight(const struct profile *p, const struct profile_stack *s)
{
	if (!p->weight)
		return s->samples;
	return s->part < p->weight_cnt ? s->samples * p->weight[s->part] : 0;
}

uint64_t profile_weight(const struct profile *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->cnt; i++)
		sum += profile_stack_weight(p, &p->stacks[i]);
	return sum;
}

const struct names *profile_names(const struct profile *p)
{
	return p->names;
}

const struct profile_stack *profile_stacks(const struct profile *p, size_t *cnt)
{
	*cnt = p->cnt;
	return p->stacks;
}

/* The name of the thread of a stack: string id, or NAMES_NONE. */
static uint32_t comm_of(const struct profile *p, const struct profile_stack *s)
{
	const struct names_task *task;

	if (s->comm != NAMES_NONE)
		return s->comm;
	task = names_task_first(p->names, s->part, s->tid);
	return task ? task->comm : NAMES_NONE;
}

/* Modules that nobody announced have nothing to tell them apart by. */
static uint32_t known_module(const struct names *n, uint64_t frame)
{
	uint32_t idx = names_frame_module(frame);

	return names_module(n, idx)->announced ? idx : 0;
}

const struct profile_frame *profile_expand(struct profile *p, const struct profile_stack *s,
					   size_t *cnt)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->len; i++) {
		uint64_t frame = p->arena[s->at + i];
		const struct names_symbol *sym = names_symbol(p->names, frame);
		uint32_t depth = sym ? sym->cnt : 1;
		uint32_t module = names_module(p->names, known_module(p->names, frame))->group;

		p->expanded = array_reserve(p->expanded, &p->expanded_cap, n + depth,
					    sizeof(*p->expanded));
		while (depth--) {
			uint32_t name = sym ? sym->frames[depth].name : NAMES_NONE;

			if (name != NAMES_NONE || !depth)
				p->expanded[n++] =
					(struct profile_frame){ name, module,
								name != NAMES_NONE &&
									!sym->frames[depth].label };
		}
	}
	*cnt = n;
	return p->expanded;
}

/* ---- flat profiles ---------------------------------------------------------------------------- */

struct flat {
	struct profile_rows *rows;
	struct hmap index; /* hash of the key -> row + 1 */
};

static bool row_is(const struct profile_row *a, const struct profile_row *b)
{
	return a->sym == b->sym && a->module == b->module && a->comm == b->comm &&
	       a->pid == b->pid && a->tid == b->tid && a->part == b->part;
}

static struct profile_row *flat_row(struct flat *f, const struct profile_row *key)
{
	uint64_t h = hash_u64((uint64_t)key->sym << 32 | key->module);
	uintptr_t at;

	h = hash_u64(h ^ ((uint64_t)key->pid << 32 | key->tid)) + key->comm;
	h = hash_u64(h + key->part);
	for (;; h++) {
		at = (uintptr_t)hmap_get(&f->index, h);
		if (!at)
			break;
		if (row_is(&f->rows->v[at - 1], key))
			return &f->rows->v[at - 1];
	}
	f->rows->v =
		array_reserve(f->rows->v, &f->rows->cap, f->rows->cnt + 1, sizeof(*f->rows->v));
	f->rows->v[f->rows->cnt++] = *key;
	hmap_set(&f->index, h, (void *)(uintptr_t)f->rows->cnt);
	return &f->rows->v[f->rows->cnt - 1];
}

static const struct profile_row no_keys = { .sym = NAMES_NONE,
					    .comm = NAMES_NONE,
					    .pid = NAMES_NONE,
					    .tid = NAMES_NONE,
					    .part = NAMES_NONE };

static void flat_stack(struct flat *f, struct profile *p, size_t i, unsigned int keys)
{
	const struct profile_stack *s = &p->stacks[i];
	const struct profile_frame none = { .sym = NAMES_NONE };
	uint64_t weight = profile_stack_weight(p, s);
	struct profile_row key = no_keys;
	const struct profile_frame *frames;
	struct profile_row *row;
	size_t cnt;

	if (keys & 1u << PROFILE_COMM)
		key.comm = comm_of(p, s);
	if (keys & 1u << PROFILE_PID)
		key.pid = s->pid;
	if (keys & 1u << PROFILE_TID)
		key.tid = s->tid;
	if (keys & 1u << PROFILE_PART)
		key.part = s->part;
	frames = profile_expand(p, s, &cnt);
	if (!cnt) {
		frames = &none;
		cnt = 1;
	}
	for (size_t k = 0; k < cnt; k++) {
		if (keys & 1u << PROFILE_SYM)
			key.sym = frames[k].sym;
		if (keys & 1u << PROFILE_DSO)
			key.module = frames[k].module;
		row = flat_row(f, &key);
		if (!k) {
			row->self += s->samples;
			row->self_weight += weight;
		}
		if (row->seen != i + 1) {
			row->total += s->samples;
			row->total_weight += weight;
		}
		row->seen = i + 1;
	}
}

static int by_self(const void *a, const void *b, void *ctx)
{
	const struct profile_row *x = a, *y = b;
	const struct names *n = ctx;
	int ret;

	if (x->self_weight != y->self_weight)
		return x->self_weight < y->self_weight ? 1 : -1;
	if (x->total_weight != y->total_weight)
		return x->total_weight < y->total_weight ? 1 : -1;
	ret = strcmp(names_str(n, x->sym, NULL), names_str(n, y->sym, NULL));
	if (!ret)
		ret = strcmp(names_str(n, names_module(n, x->module)->path, NULL),
			     names_str(n, names_module(n, y->module)->path, NULL));
	if (!ret && x->tid != y->tid)
		ret = x->tid < y->tid ? -1 : 1;
	if (!ret && x->pid != y->pid)
		ret = x->pid < y->pid ? -1 : 1;
	if (!ret && x->part != y->part)
		ret = x->part < y->part ? -1 : 1;
	return ret;
}

static void sort_rows(struct profile *p, struct profile_rows *rows)
{
	if (rows->cnt)
		qsort_r(rows->v, rows->cnt, sizeof(*rows->v), by_self, (void *)p->names);
}

void profile_flat(struct profile *p, unsigned int keys, struct profile_rows *rows)
{
	struct flat f = { .rows = rows };

	hmap_init(&f.index);
	for (size_t i = 0; i < p->cnt; i++)
		flat_stack(&f, p, i, keys);
	hmap_fini(&f.index);
	sort_rows(p, rows);
}

void profile_unnamed(struct profile *p, struct profile_rows *rows)
{
	uint32_t *alike = names_modules_alike(p->names);
	struct flat f = { .rows = rows };
	const struct profile_frame *frames;
	size_t cnt;

	hmap_init(&f.index);
	for (size_t i = 0; i < p->cnt; i++) {
		struct profile_row key = no_keys, *row;

		frames = profile_expand(p, &p->stacks[i], &cnt);
		if (!cnt || frames[0].named)
			continue;
		key.module = alike[known_module(p->names, p->arena[p->stacks[i].at])];
		row = flat_row(&f, &key);
		row->self += p->stacks[i].samples;
		row->self_weight += profile_stack_weight(p, &p->stacks[i]);
	}
	hmap_fini(&f.index);
	free(alike);
	sort_rows(p, rows);
}
