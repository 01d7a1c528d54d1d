// SPDX-License-Identifier: BSD-2-Clause
/*
 * Folded stacks: "thread;outermost;...;innermost count", one stack per line, as flame graph tools
 * read them. Counts are CPU samples, for all other kinds microseconds. Owns the content of a line:
 * with several kinds, the state follows the thread.
 */
#include "export/folded/folded_lines.h"
#include "export/formats.h"
#include "export/value_text.h"

static void put_text(struct buf *out, const struct names *n, uint32_t id, bool inlined)
{
	size_t from = out->len;

	value_text_function(out, n, id, inlined);
	value_text_fold(out, from);
}

static void put_stack(struct export *x, struct buf *line, struct profile *p,
		      const struct profile_stack *s)
{
	const struct profile_row row = profile_task_row(p, s, 1u << PROFILE_COMM);
	const struct profile_frame *frames;
	size_t cnt;

	put_text(line, x->names, row.comm, false);
	if (x->kind == EXPORT_WALL) {
		buf_addch(line, ';');
		buf_addstr(line, value_text_state(s->state));
	}
	frames = profile_expand(p, s, &cnt);
	if (!cnt)
		buf_addstr(line, ";[no stack]");
	while (cnt--) {
		buf_addch(line, ';');
		put_text(line, x->names, frames[cnt].sym, frames[cnt].inlined);
	}
}

static void flush(void *x)
{
	export_flush(x);
}

static void folded_profile(struct export *x, struct profile *p)
{
	struct folded_lines *f = x->state;
	const struct profile_stack *v;
	struct buf line = { 0 };
	size_t cnt;

	v = profile_stacks(p, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		buf_clear(&line);
		put_stack(x, &line, p, &v[i]);
		folded_lines_add(f, &line,
				 x->kind == EXPORT_CPU ? v[i].samples :
							 profile_stack_weight(p, &v[i]));
	}
	buf_free(&line);
	folded_lines_print(f, x->kind == EXPORT_CPU ? 1 : 1000, &x->out, flush, x);
}

static void folded_fini(struct export *x)
{
	folded_lines_fini(x->state);
}

const struct exporter export_folded = {
	.name = "folded",
	.brief = "one line per stack with its weight, for flame graphs",
	.state_sz = sizeof(struct folded_lines),
	.untimed = { [EXPORT_WALL] = "skipped" },
	.profile = folded_profile,
	.fini = folded_fini,
};
