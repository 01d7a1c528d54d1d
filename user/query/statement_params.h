/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_STATEMENT_PARAMS_H
#define D9_QUERY_STATEMENT_PARAMS_H

#include <sqlite3.h>

#include "query/query.h"

/* Whether text is a decimal number of SQL, with or without a sign; *@integer: without a fraction and an exponent. */
bool statement_params_is_number(const char *s, bool *integer);
/* Binds all parameters of a statement. 0, or -EINVAL with one line in @message: a value is missing, wrong or not used. */
int statement_params_bind(sqlite3_stmt *stmt, const struct query_statement *s, struct buf *message);
/* Appends to the message of SQLITE_MISMATCH, which names no place, the parameters that may be its cause. */
void statement_params_explain_mismatch(sqlite3_stmt *stmt, const struct query_statement *s,
				       struct buf *message);

#endif /* D9_QUERY_STATEMENT_PARAMS_H */
