/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_FRAME_TABLE_H
#define D9_QUERY_FRAME_TABLE_H

#include <sqlite3.h>

#include "query/scan_filter.h"
#include "query/trace_input.h"

/* frames(STACK): the columns without the hidden argument. */
const struct scan_column *frame_table_columns(size_t *cnt);
#define FRAME_TABLE_NAME "frames"
#define FRAME_TABLE_DOC "frames(STACK): the functions of a stack, leaf first"

/* Registers the table-valued function. */
int frame_table_register(sqlite3 *db, struct trace_inputs *all);

#endif /* D9_QUERY_FRAME_TABLE_H */
