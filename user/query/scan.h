/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_SCAN_H
#define D9_QUERY_SCAN_H

#include "query/scan_plan.h"
#include "query/trace_input.h"

/* The first columns of all tables that are read from the traces. */
enum { SCAN_TRACE, SCAN_HOST, SCAN_TS, SCAN_WALL, SCAN_OWN };

/* clang-format off */
#define SCAN_COLUMNS \
	{ "trace", "INTEGER", "recording, see the table traces", SCAN_ROLE_TRACE }, \
	{ "host", "TEXT", "host name", SCAN_ROLE_HOST }, \
	{ "ts", "INTEGER", "start, ns on the clock of the trace", SCAN_ROLE_TS }, \
	{ "wall", "INTEGER", "the same, ns since 1970, interpolated between ClockSyncEvents", SCAN_ROLE_NONE }
/* clang-format on */

struct scan;

/* How a table gets rows from events. */
struct scan_ops {
	/* Why these arguments are not accepted, for an error message. NULL: accepted, or no function. */
	const char *(*refuse)(const struct scan_filter *f);
	/* For each trace, before its first event: what need not be read. */
	void (*begin)(struct scan *s);
	/* Whether the event is a row. Or it may add pending rows. */
	bool (*event)(struct scan *s, const struct trace_event *ev);
	/* After the last event of a trace: may add pending rows. NULL: nothing. */
	void (*end)(struct scan *s);
	/* Makes the next pending row the current one. NULL: there never are any. */
	bool (*pending)(struct scan *s);
	/* A column of the current row, SCAN_OWN or later. */
	void (*column)(struct scan *s, sqlite3_context *ctx, size_t column);
	/* Frees the state. */
	void (*fini)(struct scan *s);
	size_t state_sz;
	bool in_range; /* a row follows from the events in its own time range alone */
};

/* A table. Immutable; outlives the database connection. */
struct scan_table {
	const char *name, *doc;
	const struct scan_column *columns;
	size_t column_cnt;
	size_t hidden; /* of these: arguments, the last ones */
	const struct scan_ops *ops;
	struct trace_inputs *all;
	const void *of; /* for ops */
};

/* A cursor: one pass over all traces. */
struct scan {
	sqlite3_vtab_cursor base; /* must be first */
	const struct scan_table *table;
	struct scan_filter filter;
	size_t next; /* trace */
	struct trace_input *in; /* of the current row */
	struct reader *reader;
	const struct trace *trace;
	struct trace_event ev;
	uint32_t part; /* of the current row */
	uint64_t ts;
	int64_t row;
	uint64_t polls;
	bool eof;
	void *state; /* of ops */
};

/* Registers the table as an eponymous virtual table. */
int scan_register(sqlite3 *db, const struct scan_table *table);

/* false: a condition excludes a row. For event(), and before a row is added. */
bool scan_wants(const struct scan *s, uint32_t part, uint64_t ts, uint32_t pid, uint32_t tid);

/* ---- results; NULL for unknown ---- */

void scan_result_id(sqlite3_context *ctx, uint32_t id);
void scan_result_text(struct scan *s, sqlite3_context *ctx, uint32_t string);
void scan_result_wall(struct scan *s, sqlite3_context *ctx, uint64_t ts);
void scan_result_stack(sqlite3_context *ctx, int64_t stack);
/* Text that is never freed. */
void scan_result_word(sqlite3_context *ctx, const char *word);

/* The declaration of a table for sqlite3_declare_vtab(): free with sqlite3_free(). @hidden: number of hidden columns, the last ones. */
char *scan_declaration(const struct scan_column *columns, size_t cnt, size_t hidden);

#endif /* D9_QUERY_SCAN_H */
