/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_SAMPLE_ROWS_H
#define D9_QUERY_SAMPLE_ROWS_H

#include "query/scan.h"

/* The tables `samples`, of stacks, and `lost`, of what is missing. */
struct scan_table sample_rows_table(struct trace_inputs *all);
struct scan_table sample_rows_lost_table(struct trace_inputs *all);

#endif /* D9_QUERY_SAMPLE_ROWS_H */
