/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_FOLDED_FOLDED_LINES_H
#define D9_EXPORT_FOLDED_FOLDED_LINES_H

#include <stdint.h>

#include "base/buf.h"
#include "base/strtab.h"

/*
 * Folded stacks by text: equal texts are one line, whatever their addresses. {0} is empty. Memory:
 * the text of each line once.
 */
struct folded_lines {
	struct strtab lines; /* without weights */
	uint64_t *weights; /* by id */
	size_t cap;
};

void folded_lines_fini(struct folded_lines *f);

/* Adds to the weight of the line @text, which is copied. */
void folded_lines_add(struct folded_lines *f, const struct buf *text, uint64_t weight);

/*
 * Appends "line weight\n" for each line to @out, sorted by text; @flush is called after each with
 * @ctx, and may empty @out (NULL: never). Weights are in multiples of @unit, rounded so that their
 * sum equals the whole; a line that rounds to 0 is not printed.
 */
void folded_lines_print(const struct folded_lines *f, uint64_t unit, struct buf *out,
			void (*flush)(void *ctx), void *ctx);

#endif /* D9_EXPORT_FOLDED_FOLDED_LINES_H */
