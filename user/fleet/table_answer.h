/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FLEET_TABLE_ANSWER_H
#define D9_FLEET_TABLE_ANSWER_H

#include "query/query.h"

/* ClickHouse's format that table_answer_read() reads. */
#define TABLE_ANSWER_FORMAT "TabSeparatedWithNamesAndTypes"

/* Gets the columns once, then each row; not 0 ends the reading with that result. */
struct table_answer_sink {
	int (*begin)(void *ctx, const char *const *columns, size_t cnt);
	int (*row)(void *ctx, const struct query_value *values, size_t cnt);
	void *ctx;
};

/*
 * Reads the rows of an answer, and changes its bytes. Numbers that fit are QUERY_INTEGER or QUERY_REAL, others
 * QUERY_NUMBER; dates and arrays are text. -EBADMSG: it is not in that format; or a result of the sink.
 */
int table_answer_read(struct buf *answer, const struct table_answer_sink *sink);

#endif /* D9_FLEET_TABLE_ANSWER_H */
