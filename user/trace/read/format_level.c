// SPDX-License-Identifier: BSD-2-Clause
/*
 * The format features that a stream uses, by frame: a reader of level 0.3 fails at some of them,
 * whether events refer to them or not. Owns no frame and no event.
 */
#include "trace/read/format_level.h"

#include "trace/read/layout.h"

static void add_stack_pool(struct format_level *u, struct dial9_iter it)
{
	const uint8_t *le;
	uint32_t id, cnt;

	u->level4 |= TRACE_USES_STACK_POOL;
	while (dial9_stacks_next(&it, &id, &le, &cnt) == 1)
		u->long_stacks += cnt > TRACE_STACK_MAX;
}

void format_level_add_frame(struct format_level *u, const struct dial9_frame *f)
{
	if (f->kind == DIAL9_FRAME_SCHEMA)
		u->level4 |= layout_uses(f->schema.schema);
	else if (f->kind == DIAL9_FRAME_ANNOTATIONS)
		u->level4 |= TRACE_USES_ANNOTATIONS;
	else if (f->kind == DIAL9_FRAME_STACKS)
		add_stack_pool(u, f->pool.iter);
}
