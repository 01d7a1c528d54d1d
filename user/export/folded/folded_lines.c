// SPDX-License-Identifier: BSD-2-Clause
/* Lines of folded stacks with their weights. Owns merging, order and rounding. */
#include "export/folded/folded_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void folded_lines_fini(struct folded_lines *f)
{
	strtab_fini(&f->lines);
	free(f->weights);
}

void folded_lines_add(struct folded_lines *f, const struct buf *text, uint64_t weight)
{
	const uint32_t id = strtab_add(&f->lines, text->data, text->len);

	f->weights = array_reserve(f->weights, &f->cap, (size_t)id + 1, sizeof(*f->weights));
	f->weights[id] += weight;
}

static int by_text(const void *a, const void *b, void *ctx)
{
	const struct folded_lines *f = ctx;

	return strcmp(strtab_get(&f->lines, *(const uint32_t *)a, NULL),
		      strtab_get(&f->lines, *(const uint32_t *)b, NULL));
}

void folded_lines_print(const struct folded_lines *f, uint64_t unit, struct buf *out,
			void (*flush)(void *ctx), void *ctx)
{
	uint32_t *order = xcalloc(f->lines.cnt, sizeof(*order));
	uint64_t rest = 0, weight, size;

	for (uint32_t i = 0; i < f->lines.cnt; i++)
		order[i] = i;
	if (f->lines.cnt)
		qsort_r(order, f->lines.cnt, sizeof(*order), by_text, (void *)f);
	for (uint32_t i = 0; i < f->lines.cnt; i++) {
		weight = f->weights[order[i]];
		rest += weight % unit;
		size = weight / unit + rest / unit;
		rest %= unit;
		if (!size)
			continue;
		buf_addstr(out, strtab_get(&f->lines, order[i], NULL));
		buf_addch(out, ' ');
		buf_addu(out, size);
		buf_addch(out, '\n');
		if (flush)
			flush(ctx);
	}
	free(order);
}
