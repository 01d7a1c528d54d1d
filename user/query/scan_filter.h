/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_SCAN_FILTER_H
#define D9_QUERY_SCAN_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a column holds, if a condition on it can skip rows before SQLite sees them. */
enum scan_role {
	SCAN_ROLE_NONE,
	SCAN_ROLE_TS,
	SCAN_ROLE_TID,
	SCAN_ROLE_PID,
	SCAN_ROLE_TRACE,
	SCAN_ROLE_HOST,
	SCAN_ROLE_WORD, /* state of a slice, source of a sample, name of an event */
	SCAN_ROLE_ARG_1, /* arguments of a table-valued function: hidden columns */
	SCAN_ROLE_ARG_2,
	SCAN_ROLE_ARG_3,
};

enum { SCAN_ARGS = 3 };

struct scan_column {
	const char *name;
	const char *type; /* INTEGER, REAL, TEXT, BLOB or "" */
	const char *doc;
	enum scan_role role;
};

/*
 * The conditions of one scan, which its rows may be tested with. They are hints: SQLite tests each row again, so a
 * condition that is not understood here is ignored.
 */
struct scan_filter {
	uint64_t used; /* columns that are read: bit 63 is the 64th and later ones */
	int64_t from, to; /* ts, inclusive */
	bool has_tid, has_pid, has_trace, has_host, has_word;
	int64_t tid, pid, trace;
	char *host, *word; /* copies */
	char *args[SCAN_ARGS]; /* copies; NULL: not given */
};

void scan_filter_fini(struct scan_filter *f);

/* The bit of a column in `used` */
static inline uint64_t scan_filter_bit(size_t column)
{
	return 1ULL << (column < 63 ? column : 63);
}

static inline bool scan_filter_uses(const struct scan_filter *f, size_t column)
{
	return f->used & scan_filter_bit(column);
}

#endif /* D9_QUERY_SCAN_FILTER_H */
