/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_QUANTILE_FUNCTION_H
#define D9_QUERY_QUANTILE_FUNCTION_H

#include <sqlite3.h>

/* The aggregate quantile(X, Q). Its memory is 8 bytes for each value of a group. */
int quantile_function_register(sqlite3 *db);

#endif /* D9_QUERY_QUANTILE_FUNCTION_H */
