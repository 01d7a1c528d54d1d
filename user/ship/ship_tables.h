/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_SHIP_TABLES_H
#define D9_SHIP_SHIP_TABLES_H

#include "ship/anonymizer.h"
#include "ship/native_block.h"

/* Of the rows: a batch that one version began is not completed by another one. */
#define SHIP_TABLES_VERSION 3

/* Inserts whose tokens a server remembers for each table. */
#define SHIP_TABLES_WINDOW 10000

/* Where the values of a column come from. */
enum ship_value {
	SHIP_COLUMN, /* a column of a table of `query` */
	SHIP_STACK, /* the same, the number of a stack: becomes its id by content */
	SHIP_BUILD, /* the same, becomes the build-id of the program */
	/* of rollups: */
	SHIP_TIME, /* the start of a row's time */
	SHIP_LOG2, /* whole part of the base-2 logarithm */
	SHIP_COUNT, /* of rows */
	SHIP_SUM,
	SHIP_MAX,
	/* not from `query`: */
	SHIP_DAY,
	SHIP_BATCH,
	SHIP_LABELS,
	SHIP_FILE, /* id of the file */
	SHIP_OWN, /* put by the code that knows the table */
};

struct ship_column {
	const char *name;
	enum native_type type;
	enum ship_value value;
	const char *from; /* column of the table of `query` */
	int64_t none; /* number for NULL */
	const char *rich; /* type on servers that know it; NULL: the same */
	enum anonymizer_text text; /* of texts */
};

/* A condition that rows meet. NULL meets none. */
struct ship_condition {
	const char *from; /* a column of the table of `query`; NULL: the end of a list */
	const char *text; /* its value; NULL: the number 0 */
	bool differs; /* any other text */
};

#define SHIP_CONDITIONS 3

enum ship_table_id {
	SHIP_STACKS,
	SHIP_FRAMES,
	SHIP_TASKS,
	SHIP_TRACES,
	SHIP_SAMPLES,
	SHIP_SLICES,
	SHIP_SPANS,
	SHIP_EVENTS,
	SHIP_WAITS,
	SHIP_OFFCPU,
	SHIP_CPU,
	SHIP_LOST,
	SHIP_LEDGER,
	SHIP_TABLE_CNT
};

/* For how long a server keeps rows. */
enum ship_keep {
	SHIP_KEEP_ALL, /* tables that both kinds refer to: the longer time */
	SHIP_KEEP_RAW,
	SHIP_KEEP_ROLLUP,
};

/* Days; 0: rows stay. */
struct ship_ttl {
	uint64_t raw, rollup;
};

/* A table of the server. */
struct ship_table {
	const char *name;
	const struct ship_column *columns;
	size_t column_cnt;
	const char *from; /* table of `query`; NULL: rows are made in other ways */
	struct ship_condition conditions[SHIP_CONDITIONS + 1];
	const char *wall; /* its column with the time; NULL: rows have the first day of the file */
	uint64_t period_ns; /* of rollups, which have sums of the rows that begin in each period */
	const char *order; /* sorting key */
	enum ship_keep keep;
	bool replaces; /* rows with equal keys are one: sending them again is harmless */
};

extern const struct ship_table ship_tables[SHIP_TABLE_CNT];

/* Columns of ship_tables[SHIP_STACKS], SHIP_FRAMES and SHIP_LEDGER, whose rows are made in other ways. */
enum { SHIP_STACKS_DAY, SHIP_STACKS_STACK, SHIP_STACKS_FRAMES };
enum {
	SHIP_FRAMES_FRAME,
	SHIP_FRAMES_DEPTH,
	SHIP_FRAMES_FUNCTION,
	SHIP_FRAMES_MODULE,
	SHIP_FRAMES_BUILD_ID,
	SHIP_FRAMES_OFFSET,
	SHIP_FRAMES_KERNEL,
	SHIP_FRAMES_FILE,
	SHIP_FRAMES_LINE,
};
enum {
	SHIP_LEDGER_DAY,
	SHIP_LEDGER_HOST,
	SHIP_LEDGER_LABELS,
	SHIP_LEDGER_FILE,
	SHIP_LEDGER_TABLE,
	SHIP_LEDGER_BATCH,
	SHIP_LEDGER_ROWS,
	SHIP_LEDGER_SEEN,
};

/* The day of a time (ns since 1970), as a column of type Date has it; 0: it has no such day. */
uint64_t ship_tables_day(int64_t wall);

/* The days of a table. */
uint64_t ship_tables_ttl(const struct ship_table *t, const struct ship_ttl *ttl);
/* CREATE TABLE. @rich: with compression of columns, dictionaries, a window of tokens and deletion after the days of @ttl. */
void ship_tables_put_create(struct buf *out, const struct ship_table *t, bool rich,
			    const struct ship_ttl *ttl);
/* ALTER TABLE for a column that an older table lacks. */
void ship_tables_put_alter(struct buf *out, const struct ship_table *t,
			   const struct ship_column *c);
/* INSERT INTO. */
void ship_tables_put_insert(struct buf *out, const struct ship_table *t);

#endif /* D9_SHIP_SHIP_TABLES_H */
