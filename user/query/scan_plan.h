/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_SCAN_PLAN_H
#define D9_QUERY_SCAN_PLAN_H

#include <sqlite3.h>

#include "query/scan_filter.h"

/* xBestIndex: chooses conditions on columns with a role. @rows: in the whole table. SQLITE_CONSTRAINT: an argument is not known yet. */
int scan_plan_best(sqlite3_index_info *info, const struct scan_column *columns, size_t cnt,
		   uint64_t rows);
/* xFilter: the same for these values. @plan: idxStr. Overwrites @f after scan_filter_fini(). */
void scan_filter_init(struct scan_filter *f, const char *plan, int argc, sqlite3_value **argv);

#endif /* D9_QUERY_SCAN_PLAN_H */
