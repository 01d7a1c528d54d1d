/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_SCAN_PASS_H
#define D9_QUERY_SCAN_PASS_H

#include "query/scan.h"

/*
 * Reads a trace once for several tables: each row of them is the current one of its scan during row(). The rows of one table
 * are the same, and in the same order, as if it were read alone. 0, -EINTR, the error of opening the trace or of reading
 * what the first pass could read, or what row() returned.
 */
int scan_pass(struct trace_input *in, struct scan *scans, size_t cnt,
	      int (*row)(void *ctx, struct scan *s), void *ctx);

#endif /* D9_QUERY_SCAN_PASS_H */
