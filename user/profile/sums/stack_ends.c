// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where unwinding of user stacks ended: counts by reason, and by module for incomplete stacks.
 * Numbers only; grows with those modules.
 */
#include "profile/sums/stack_ends.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

uint8_t stack_ends_of(const struct trace_event *ev)
{
	uint8_t end = ev->user_end & PROF_USER_END_MASK;

	return end < PROF_END_CNT ? end : STACK_ENDS_OTHER;
}

bool stack_ends_is_guessed(const struct trace_event *ev)
{
	return ev->user_end & PROF_USER_GUESSED;
}

/* Whether the reason is the code of the last frame, and not the process, the task or an option. */
static bool is_of_module(uint8_t end)
{
	return (end >= PROF_END_NO_MAPPING && end <= PROF_END_FRAME_POINTER) ||
	       end == PROF_END_COPY_LIMIT;
}

static uint32_t last_module(const struct names *n, const struct trace_event *ev)
{
	uint64_t last = ev->frame_cnt ? ev->frames[ev->frame_cnt - 1] : PROF_FRAME_KERNEL;
	const struct names_module *m;

	if (last & PROF_FRAME_KERNEL)
		return 0;
	m = names_module(n, names_frame_module(last));
	return m->announced ? m->group : 0;
}

void stack_ends_add(struct stack_ends *e, const struct names *n, const struct trace_event *ev)
{
	uint8_t end = stack_ends_of(ev);
	uint64_t key;

	if (ev->kind != TRACE_SAMPLE || end == PROF_END_NOT_WALKED)
		return;
	e->stacks++;
	e->by_end[end]++;
	e->frame_pointers += !!(ev->user_end & PROF_USER_FRAME_POINTERS);
	e->signals += !!(ev->user_end & PROF_USER_SIGNAL);
	e->guessed += stack_ends_is_guessed(ev);
	if (!is_of_module(end))
		return;
	key = (uint64_t)last_module(n, ev) << 8 | end;
	hmap_set(&e->modules, key, (void *)((uintptr_t)hmap_get(&e->modules, key) + 1));
}

void stack_ends_fini(struct stack_ends *e)
{
	hmap_fini(&e->modules);
	memset(e, 0, sizeof(*e));
}

static int by_stacks(const void *a, const void *b)
{
	const struct stack_ends_module *x = a, *y = b;

	if (x->stacks != y->stacks)
		return x->stacks < y->stacks ? 1 : -1;
	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

struct stack_ends_module *stack_ends_modules(const struct stack_ends *e, size_t *cnt)
{
	struct stack_ends_module *v = NULL;
	size_t pos = 0, cap = 0;
	uint64_t key;
	void *value;

	*cnt = 0;
	while (hmap_next(&e->modules, &pos, &key, &value)) {
		v = array_reserve(v, &cap, *cnt + 1, sizeof(*v));
		v[(*cnt)++] = (struct stack_ends_module){ .module = (uint32_t)(key >> 8),
							  .end = (uint8_t)key,
							  .stacks = (uintptr_t)value };
	}
	if (*cnt)
		qsort(v, *cnt, sizeof(*v), by_stacks);
	return v;
}

size_t stack_ends_early(const struct stack_ends *e, uint8_t ends[STACK_ENDS_CNT])
{
	size_t cnt = 0, at;

	for (uint8_t end = 0; end < STACK_ENDS_CNT; end++) {
		if (end == PROF_END_COMPLETE || !e->by_end[end])
			continue;
		for (at = cnt++; at && e->by_end[ends[at - 1]] < e->by_end[end]; at--)
			ends[at] = ends[at - 1];
		ends[at] = end;
	}
	return cnt;
}
