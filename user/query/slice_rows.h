/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_SLICE_ROWS_H
#define D9_QUERY_SLICE_ROWS_H

#include "query/scan.h"

/* The table `slices`: intervals of the interval engine. */
struct scan_table slice_rows_table(struct trace_inputs *all);

#endif /* D9_QUERY_SLICE_ROWS_H */
