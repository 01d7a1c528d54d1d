/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_QUERY_QUERY_OUTPUT_H
#define D9_CMD_QUERY_QUERY_OUTPUT_H

#include "cmd/common/view.h"
#include "query/query.h"

enum query_format { QUERY_TABLE, QUERY_CSV, QUERY_JSON, QUERY_MARKDOWN };
extern const char *const query_output_formats[];

/* Rows kept to find the widths of a table's columns; wider cells after them stand out. */
#define QUERY_OUTPUT_ROWS 1000
#define QUERY_OUTPUT_BYTES (1 << 20)
#define QUERY_OUTPUT_WIDTH 200 /* of a column */

struct query_output_cell {
	struct buf text;
	bool number;
};

/* Prints the rows of one query. Start with { .format, .view }. */
struct query_output {
	enum query_format format;
	const struct view_opts *view_opts;
	struct view view;
	bool begun;
	size_t cnt; /* columns */
	uint64_t rows; /* so far */
	struct buf out;
	char **names;
	/* the first rows of a table, until they are printed */
	struct query_output_cell *cells;
	size_t cell_cnt, cell_cap, kept_bytes;
	size_t *widths;
	bool *left; /* columns with text */
	bool sized;
};

/* As in struct query_statement; @ctx is a struct query_output. */
int query_output_begin(void *ctx, const char *const *columns, size_t cnt);
int query_output_row(void *ctx, const struct query_value *values, size_t cnt);
/* Ends the output and frees: an exit code of cmd.h. */
int query_output_end(struct query_output *o);

#endif /* D9_CMD_QUERY_QUERY_OUTPUT_H */
