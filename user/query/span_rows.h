/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_SPAN_ROWS_H
#define D9_QUERY_SPAN_ROWS_H

#include "query/scan.h"

/* The table-valued function `spans`: times from a start event to its end. */
struct scan_table span_rows_table(struct trace_inputs *all);
/* The table `polls`: the same of an async runtime's polls. */
struct scan_table span_rows_polls_table(struct trace_inputs *all);

#endif /* D9_QUERY_SPAN_ROWS_H */
