// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sums of CPU samples. Owns the distinct (stack, thread) pairs with their counts. Everything else
 * is derived at the end, when all symbols are known. Numbers only, no text.
 *
 * Self counts the leaf, total every function in a stack. A recursive function is in a stack many
 * times but counts once in its total. So each row remembers the stack that it counted last. Inlined
 * functions are frames like any other.
 */
#include "profile/sums/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "profile/sched/intervals.h"
#include "profile/sums/row_table.h"

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
	bool by_cpu, by_cgroup, by_state; /* also keys of stacks */
	bool fold; /* inlined functions */
	struct profile_frame *expanded; /* of the last profile_expand() */
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

void profile_keep(struct profile *p, unsigned int keys)
{
	p->by_cpu = keys & 1u << PROFILE_CPU;
	p->by_cgroup = keys & 1u << PROFILE_CGROUP;
	p->by_state = keys & 1u << PROFILE_STATE;
}

void profile_fold_inlined(struct profile *p)
{
	p->fold = true;
}

static uint32_t cpu_kept(const struct profile *p, const struct trace_event *ev)
{
	return p->by_cpu ? ev->cpu : NAMES_NONE;
}

static uint32_t cgroup_kept(const struct profile *p, const struct trace_event *ev)
{
	return p->by_cgroup ? ev->cgroup : NAMES_NONE;
}

/* The key of a stack: of a sample or an interval of a thread. */
struct wanted {
	const struct trace_event *ev;
	uint32_t len, state;
	bool by_time;
};

static bool stack_is(const struct profile *p, const struct profile_stack *s, const struct wanted *w)
{
	const struct trace_event *ev = w->ev;

	return s->len == w->len && s->tid == ev->tid && s->pid == ev->pid && s->comm == ev->comm &&
	       s->part == ev->part && s->cpu == cpu_kept(p, ev) &&
	       s->cgroup == cgroup_kept(p, ev) && s->state == w->state &&
	       s->by_time == w->by_time &&
	       (!w->len || !memcmp(p->arena + s->at, ev->frames, w->len * sizeof(*p->arena)));
}

static void stack_append(struct profile *p, const struct wanted *w)
{
	const struct trace_event *ev = w->ev;
	uint32_t len = w->len;

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
		.cpu = cpu_kept(p, ev),
		.cgroup = cgroup_kept(p, ev),
		.state = w->state,
		.by_time = w->by_time,
	};
	p->arena_len += len;
}

static struct profile_stack *stack_of(struct profile *p, const struct trace_event *ev,
				      uint32_t state, bool by_time)
{
	uint32_t len = ev->frame_cnt < PROFILE_DEPTH_MAX ? ev->frame_cnt : PROFILE_DEPTH_MAX;
	uint64_t h = len ? hash_bytes(ev->frames, len * sizeof(*ev->frames)) : 0;
	const struct wanted w = { ev, len, p->by_state ? state : NAMES_NONE, by_time };
	uintptr_t at;

	h = hash_u64(h ^ ((uint64_t)ev->pid << 32 | ev->tid)) + ev->comm;
	h = hash_u64(h + ev->part);
	if (p->by_cpu || p->by_cgroup || p->by_state)
		h = hash_u64((h ^ ((uint64_t)cpu_kept(p, ev) << 32 | cgroup_kept(p, ev))) +
			     w.state);
	for (;; h++) {
		at = (uintptr_t)hmap_get(&p->index, h);
		if (!at)
			break;
		if (stack_is(p, &p->stacks[at - 1], &w))
			return &p->stacks[at - 1];
	}
	stack_append(p, &w);
	hmap_set(&p->index, h, (void *)(uintptr_t)p->cnt);
	return &p->stacks[p->cnt - 1];
}

uint32_t profile_add(struct profile *p, const struct trace_event *ev)
{
	struct profile_stack *s = stack_of(p, ev, INTERVAL_RUNNING, false);

	p->samples++;
	s->samples++;
	return (uint32_t)(s - p->stacks);
}

uint32_t profile_add_time(struct profile *p, const struct trace_event *ev, uint32_t state,
			  uint64_t ns)
{
	struct profile_stack *s = stack_of(p, ev, state, true);

	s->samples++;
	s->ns += ns;
	return (uint32_t)(s - p->stacks);
}

void profile_forget_times(struct profile *p)
{
	for (size_t i = 0; i < p->cnt; i++)
		if (p->stacks[i].by_time)
			p->stacks[i].samples = p->stacks[i].ns = 0;
}

void profile_forget_samples(struct profile *p, uint32_t part)
{
	for (size_t i = 0; i < p->cnt; i++)
		if (!p->stacks[i].by_time && p->stacks[i].part == part)
			p->stacks[i].samples = 0;
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
	if (s->by_time)
		return s->ns;
	if (!p->weight)
		return s->samples;
	return s->part < p->weight_cnt ? s->samples * p->weight[s->part] : 0;
}

bool profile_stack_is_weightless(const struct profile *p, const struct profile_stack *s)
{
	return !s->by_time && s->samples && !profile_stack_weight(p, s);
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

const uint64_t *profile_stack_frames(const struct profile *p, const struct profile_stack *s)
{
	return s->len ? p->arena + s->at : NULL;
}

/* The name of a stack's thread: string id, or NAMES_NONE. */
static uint32_t comm_of(const struct profile *p, const struct profile_stack *s)
{
	const struct names_task *task;

	if (s->comm != NAMES_NONE)
		return s->comm;
	task = names_task_first(p->names, s->part, s->tid);
	return task ? task->comm : NAMES_NONE;
}

/* A new thread waits for a CPU before the trace has its process. */
static uint32_t pid_of(const struct profile *p, const struct profile_stack *s)
{
	const struct names_task *task;

	if (s->pid != NAMES_NONE)
		return s->pid;
	task = names_task_first(p->names, s->part, s->tid);
	return task ? task->pid : NAMES_NONE;
}

static uint32_t cgroup_of(const struct profile *p, const struct profile_stack *s)
{
	const struct names_task *task;

	if (s->cgroup != NAMES_NONE)
		return s->cgroup;
	task = names_task_first(p->names, s->part, s->tid);
	return task ? task->cgroup : NAMES_NONE;
}

/* Modules without a record cannot be distinguished. */
static uint32_t known_module(const struct names *n, uint64_t frame)
{
	uint32_t idx = names_frame_module(frame);

	return names_module(n, idx)->announced ? idx : 0;
}

/* The functions at an address, innermost first. */
static size_t expand_frame(const struct profile *p, uint64_t frame, struct profile_frame *out)
{
	const struct names_symbol *sym = names_symbol(p->names, frame);
	uint32_t module = names_module(p->names, known_module(p->names, frame))->group;
	const struct names_frame *line, *f;
	size_t n = 0;

	for (uint32_t depth = sym ? sym->cnt : 1; depth--;) {
		if (depth && (p->fold || !names_symbol_is_printed(sym, depth)))
			continue;
		f = sym ? &sym->frames[depth] : NULL;
		line = sym ? names_symbol_line(sym, depth) : NULL;
		out[n++] = (struct profile_frame){
			.sym = f ? f->name : NAMES_NONE,
			.module = module,
			.file = line ? line->file : NAMES_NONE,
			.line = line ? line->line : 0,
			.inlined = depth,
			.named = f && f->name != NAMES_NONE && !f->label,
		};
	}
	return n;
}

const struct profile_frame *profile_expand(struct profile *p, const struct profile_stack *s,
					   size_t *cnt)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->len; i++) {
		p->expanded = array_reserve(p->expanded, &p->expanded_cap, n + NAMES_DEPTH_MAX,
					    sizeof(*p->expanded));
		n += expand_frame(p, p->arena[s->at + i], p->expanded + n);
	}
	*cnt = n;
	return p->expanded;
}

/* ---- flat profiles ---------------------------------------------------------------------------- */

struct profile_row profile_task_row(const struct profile *p, const struct profile_stack *s,
				    unsigned int keys)
{
	struct profile_row row = row_table_no_keys;

	if (keys & 1u << PROFILE_COMM)
		row.comm = comm_of(p, s);
	if (keys & 1u << PROFILE_PID)
		row.pid = pid_of(p, s);
	if (keys & 1u << PROFILE_TID)
		row.tid = s->tid;
	if (keys & 1u << PROFILE_PART)
		row.part = s->part;
	if (keys & 1u << PROFILE_CPU)
		row.cpu = s->cpu;
	if (keys & 1u << PROFILE_CGROUP)
		row.cgroup = cgroup_of(p, s);
	if (keys & 1u << PROFILE_STATE)
		row.state = s->state;
	return row;
}

static void set_frame(struct profile_row *key, const struct profile_frame *f, unsigned int keys)
{
	if (keys & 1u << PROFILE_SYM) {
		key->sym = f->sym;
		key->inlined = f->inlined;
	}
	if (keys & 1u << PROFILE_DSO)
		key->module = f->module;
	if (keys & 1u << PROFILE_SRCLINE) {
		key->file = f->file;
		key->line = f->file != NAMES_NONE ? f->line : 0;
	}
}

static void flat_stack(struct row_table *t, struct profile *p, size_t i, unsigned int keys)
{
	const struct profile_stack *s = &p->stacks[i];
	const struct profile_frame none = { .sym = NAMES_NONE, .file = NAMES_NONE };
	struct profile_row key = profile_task_row(p, s, keys);
	uint64_t weight = profile_stack_weight(p, s);
	const struct profile_frame *frames;
	struct profile_row *row;
	size_t cnt;

	if (!s->samples)
		return;
	frames = profile_expand(p, s, &cnt);
	if (!cnt) {
		frames = &none;
		cnt = 1;
	}
	for (size_t k = 0; k < cnt; k++) {
		set_frame(&key, &frames[k], keys);
		row = row_table_at(t, &key);
		if (!k) {
			row->self += s->samples;
			row->self_weight += weight;
		}
		if (row->last_stack != i + 1) {
			row->total += s->samples;
			row->total_weight += weight;
		}
		row->last_stack = i + 1;
	}
}

static int by_number(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

static int by_keys(const struct profile_row *x, const struct profile_row *y, const struct names *n)
{
	static const size_t numbers[] = {
		offsetof(struct profile_row, inlined), offsetof(struct profile_row, line),
		offsetof(struct profile_row, tid),     offsetof(struct profile_row, pid),
		offsetof(struct profile_row, cpu),     offsetof(struct profile_row, part),
		offsetof(struct profile_row, state),
	};
	int ret = strcmp(names_str(n, x->sym, NULL), names_str(n, y->sym, NULL));

	if (!ret)
		ret = strcmp(names_str(n, names_module(n, x->module)->path, NULL),
			     names_str(n, names_module(n, y->module)->path, NULL));
	if (!ret)
		ret = strcmp(names_str(n, x->file, NULL), names_str(n, y->file, NULL));
	if (!ret)
		ret = strcmp(names_str(n, x->comm, NULL), names_str(n, y->comm, NULL));
	if (!ret)
		ret = strcmp(names_str(n, x->cgroup, NULL), names_str(n, y->cgroup, NULL));
	for (size_t i = 0; !ret && i < sizeof(numbers) / sizeof(numbers[0]); i++)
		ret = by_number(x->key[numbers[i] / sizeof(uint32_t)],
				y->key[numbers[i] / sizeof(uint32_t)]);
	return ret;
}

static int by_self(const void *a, const void *b, void *ctx)
{
	const struct profile_row *x = a, *y = b;
	int ret = by_number(y->self_weight, x->self_weight);

	if (!ret)
		ret = by_number(y->total_weight, x->total_weight);
	return ret ? ret : by_keys(x, y, ctx);
}

static int by_total(const void *a, const void *b, void *ctx)
{
	const struct profile_row *x = a, *y = b;
	int ret = by_number(y->total_weight, x->total_weight);

	return ret ? ret : by_self(a, b, ctx);
}

static void sort_rows(struct profile *p, struct profile_rows *rows)
{
	if (rows->cnt)
		qsort_r(rows->v, rows->cnt, sizeof(*rows->v), by_self, (void *)p->names);
}

void profile_flat(struct profile *p, unsigned int keys, struct profile_rows *rows)
{
	struct row_table t = { 0 };

	for (size_t i = 0; i < p->cnt; i++)
		flat_stack(&t, p, i, keys);
	*rows = row_table_steal(&t);
	sort_rows(p, rows);
}

void profile_sort_total(struct profile *p, struct profile_rows *rows)
{
	if (rows->cnt)
		qsort_r(rows->v, rows->cnt, sizeof(*rows->v), by_total, (void *)p->names);
}

void profile_unnamed(struct profile *p, struct profile_rows *rows)
{
	uint32_t *alike = names_modules_alike(p->names);
	const struct profile_frame *frames;
	struct row_table t = { 0 };
	size_t cnt;

	for (size_t i = 0; i < p->cnt; i++) {
		struct profile_row key = row_table_no_keys, *row;

		frames = profile_expand(p, &p->stacks[i], &cnt);
		if (p->stacks[i].by_time || !cnt || frames[0].named)
			continue;
		key.module = alike[known_module(p->names, p->arena[p->stacks[i].at])];
		row = row_table_at(&t, &key);
		row->self += p->stacks[i].samples;
		row->self_weight += profile_stack_weight(p, &p->stacks[i]);
	}
	*rows = row_table_steal(&t);
	free(alike);
	sort_rows(p, rows);
}
