/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_SCAN_H
#define D9_QUERY_SCAN_H

#include "base/buf.h"
#include "query/query_value.h"
#include "query/scan_filter.h"
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
	/* For each trace, before its first event: sets what need not be read. */
	void (*begin)(struct scan *s);
	/* Whether the event is a row. Or it may add pending rows. */
	bool (*event)(struct scan *s, const struct trace_event *ev);
	/* After the last event of a trace: may add pending rows. NULL: nothing. */
	void (*end)(struct scan *s);
	/* Makes the next pending row the current one. NULL: there never are any. */
	bool (*pending)(struct scan *s);
	/* A column of the current row, SCAN_OWN or later; *out is NULL before. */
	void (*column)(struct scan *s, size_t column, struct query_value *out);
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

/* What a table does not need of the events. */
struct scan_skip {
	unsigned int kinds; /* of enum trace_kind, a bit each */
	bool stacks, tasks;
};

/*
 * A table during a pass over traces. Who reads the events is the caller's: a cursor of SQLite (scan_vtab.h), or one pass for
 * several tables (scan_pass.h). Stays where it is between scan_init() and scan_fini().
 */
struct scan {
	const struct scan_table *table;
	struct scan_filter filter;
	struct scan_skip skip;
	struct trace_input *in; /* of the current row */
	const struct trace *trace; /* NULL after its last event */
	const struct trace_event *ev;
	uint32_t part; /* of the current row */
	uint64_t ts;
	void *state; /* of ops */
	struct buf text; /* of the current value */
};

/* Without conditions; set s->filter before the first trace. */
void scan_init(struct scan *s, const struct scan_table *table);
void scan_fini(struct scan *s);

/* For each trace: its events in order, then the end. After each of them pending rows. */
void scan_begin(struct scan *s, struct trace_input *in, const struct trace *t);
bool scan_event(struct scan *s, const struct trace_event *ev);
void scan_end(struct scan *s);
bool scan_pending(struct scan *s);
/* A value of the current row. */
void scan_value(struct scan *s, size_t column, struct query_value *out);

/* The events that the reader may skip. Before the first one. */
void scan_skip_apply(const struct scan_skip *skip, struct reader *r);

/* For ops: false: a condition excludes a row. For event(), and before a row is added. */
bool scan_wants(const struct scan *s, uint32_t part, uint64_t ts, uint32_t pid, uint32_t tid);
/* Whether a condition excludes all rows of a trace. */
bool scan_wants_trace(const struct scan *s, const struct trace_input *in);

/* ---- values; NULL for unknown ---- */

void scan_value_id(struct query_value *out, uint32_t id);
/* A string of the names. */
void scan_value_string(const struct scan *s, struct query_value *out, uint32_t string);
void scan_value_stack(struct query_value *out, int64_t stack);
/* s->text, unless it is empty. */
void scan_value_built(const struct scan *s, struct query_value *out);

#endif /* D9_QUERY_SCAN_H */
