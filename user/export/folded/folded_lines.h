/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_FOLDED_FOLDED_LINES_H
#define D9_EXPORT_FOLDED_FOLDED_LINES_H

#include <stdint.h>

#include "base/buf.h"
#include "base/strtab.h"

/*
 * Folded stacks by their text: those that look the same are one line, whatever their addresses.
 * {0} is a valid empty set. Memory: the text of each line once.
 */
struct folded_lines {
	struct strtab lines; /* without their weights */
	uint64_t *weights; /* by id */
	size_t cap;
};

void folded_lines_fini(struct folded_lines *f);

/* Adds to the weight of the line @text, which is copied. */
void folded_lines_add(struct folded_lines *f, const struct buf *text, uint64_t weight);

/*
 * "line weight\n" for each, in the order of the text, appended to @out; @flush, called after each
 * with @ctx, may take what stands there (NULL: all of it stays). Weights are told in units of @unit,
 * rounded so that their sum is the whole's; a line for which nothing is left over is not there.
 */
void folded_lines_print(const struct folded_lines *f, uint64_t unit, struct buf *out,
			void (*flush)(void *ctx), void *ctx);

#endif /* D9_EXPORT_FOLDED_FOLDED_LINES_H */
