// SPDX-License-Identifier: BSD-2-Clause
/*
 * What rows say of a stack. Owns the rule for the build: the program of a stack is its outermost frame in a file that some
 * task of the trace executes. So it is known as it was mapped, also after an exec, and shared libraries do not count.
 */
#include "ship/known_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void known_stacks_fini(struct known_stacks *k)
{
	content_ids_fini(&k->ids);
	hmap_fini(&k->programs);
	free(k->v);
	memset(k, 0, sizeof(*k));
}

static void add_programs(struct known_stacks *k, const struct trace_input *in)
{
	for (size_t i = 0; i < in->task_cnt; i++) {
		const uint32_t exe = in->tasks[i].task.exe;

		if (exe != NAMES_NONE)
			hmap_set(&k->programs, (uint64_t)exe + 1, k);
	}
	k->has_programs = true;
}

static uint32_t find_program(const struct known_stacks *k, const struct names *n,
			     const uint64_t *frames, uint32_t cnt)
{
	while (cnt--) {
		const uint32_t module = names_frame_module(frames[cnt]);
		const struct names_module *m = names_module(n, module);

		if (m->announced && hmap_get(&k->programs, (uint64_t)m->path + 1))
			return module;
	}
	return 0;
}

const struct known_stack *known_stacks_get(struct known_stacks *k, const struct trace_inputs *all,
					   int64_t number)
{
	struct known_stack *s;
	struct trace_input *in;
	const uint64_t *frames;
	uint32_t cnt, row;

	frames = trace_inputs_stack(all, number, &in, &cnt);
	if (!frames)
		return NULL;
	row = (uint32_t)number;
	k->v = array_reserve(k->v, &k->cap, (size_t)row + 1, sizeof(*k->v));
	s = &k->v[row];
	if (s->id)
		return s;
	if (!k->has_programs)
		add_programs(k, in);
	s->id = content_ids_hash_stack(&k->ids, in->names, frames, cnt);
	s->program = find_program(k, in->names, frames, cnt);
	return s;
}
