/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_ROLLUP_H
#define D9_SHIP_ROLLUP_H

#include "ship/batch_writer.h"
#include "ship/row_values.h"
#include "ship/source_row.h"

/* Most groups in memory. If there are more, all of them are put, so that a group may get several rows. */
#define ROLLUP_GROUPS_MAX (64u << 10)

/* A table of sums over rows of `query`, as GROUP BY makes them. */
struct rollup;

struct rollup_opts {
	const struct source_plan *plan;
	struct row_values *values;
	struct batch_writer *writer;
	struct names *names; /* of the trace */
	size_t groups_max;
};

/* All is borrowed. Never NULL. */
struct rollup *rollup_new(const struct rollup_opts *opts);
void rollup_free(struct rollup *r);

/* Adds a row that meets the conditions. 0, or an error of the writer. */
int rollup_add(struct rollup *r, const struct source_row *row);
/* Puts all groups, sorted by their key. 0, or an error of the writer. */
int rollup_end(struct rollup *r);

#endif /* D9_SHIP_ROLLUP_H */
