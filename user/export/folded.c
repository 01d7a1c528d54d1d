// SPDX-License-Identifier: BSD-2-Clause
/*
 * Folded stacks: "thread;outermost;...;innermost count", one stack a line, as flame graphs take them.
 * Counts are samples of the CPU, of all other kinds microseconds. Owns which lines there are: stacks that
 * look the same are one, whatever their addresses, and lines come in the order of their text.
 *
 * Of all kinds together the state stands behind the thread. Microseconds are rounded so that the sum of
 * all lines is that of the times, to the microsecond.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strtab.h"
#include "export/formats.h"
#include "export/text.h"

struct folded {
	struct strtab lines; /* without their counts */
	uint64_t *counts; /* by id */
	size_t cap;
};

static void put_word(struct buf *out, const struct names *n, uint32_t id, bool inlined)
{
	size_t from = out->len;

	text_name(out, n, id);
	text_fold(out, from);
	if (inlined)
		buf_addstr(out, " (inlined)");
}

static void put_stack(struct export *x, struct buf *line, struct profile *p,
		      const struct profile_stack *s)
{
	const struct profile_row row = profile_task_row(p, s, 1u << PROFILE_COMM);
	const struct profile_frame *frames;
	size_t cnt;

	put_word(line, x->names, row.comm, false);
	if (x->kind == EXPORT_WALL) {
		buf_addch(line, ';');
		buf_addstr(line, text_state(s->state));
	}
	frames = profile_expand(p, s, &cnt);
	if (!cnt)
		buf_addstr(line, ";[no stack]");
	while (cnt--) {
		buf_addch(line, ';');
		put_word(line, x->names, frames[cnt].sym, frames[cnt].inlined);
	}
}

static int by_text(const void *a, const void *b, void *ctx)
{
	const struct folded *f = ctx;

	return strcmp(strtab_get(&f->lines, *(const uint32_t *)a, NULL),
		      strtab_get(&f->lines, *(const uint32_t *)b, NULL));
}

static void print(struct export *x, const struct folded *f)
{
	const uint64_t unit = x->kind == EXPORT_CPU ? 1 : 1000;
	uint32_t *order = xcalloc(f->lines.cnt, sizeof(*order));
	uint64_t rest = 0, count, size;

	for (uint32_t i = 0; i < f->lines.cnt; i++)
		order[i] = i;
	if (f->lines.cnt)
		qsort_r(order, f->lines.cnt, sizeof(*order), by_text, (void *)f);
	for (uint32_t i = 0; i < f->lines.cnt; i++) {
		count = f->counts[order[i]];
		rest += count % unit;
		size = count / unit + rest / unit;
		rest %= unit;
		if (!size)
			continue;
		buf_addstr(&x->out, strtab_get(&f->lines, order[i], NULL));
		buf_addch(&x->out, ' ');
		buf_addu(&x->out, size);
		buf_addch(&x->out, '\n');
		export_flush(x);
	}
	free(order);
}

static void folded_profile(struct export *x, struct profile *p)
{
	struct folded *f = x->state;
	const struct profile_stack *v;
	struct buf line = { 0 };
	uint32_t id;
	size_t cnt;

	v = profile_stacks(p, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		buf_clear(&line);
		put_stack(x, &line, p, &v[i]);
		id = strtab_add(&f->lines, buf_cstr(&line), line.len);
		f->counts = array_reserve(f->counts, &f->cap, (size_t)id + 1, sizeof(*f->counts));
		f->counts[id] +=
			x->kind == EXPORT_CPU ? v[i].samples : profile_stack_weight(p, &v[i]);
	}
	buf_free(&line);
	print(x, f);
}

static void folded_fini(struct export *x)
{
	struct folded *f = x->state;

	strtab_fini(&f->lines);
	free(f->counts);
}

const struct exporter export_folded = {
	.name = "folded",
	.brief = "a stack a line with its weight, for flame graphs",
	.state_sz = sizeof(struct folded),
	.profile = folded_profile,
	.fini = folded_fini,
};
