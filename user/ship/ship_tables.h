/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_SHIP_TABLES_H
#define D9_SHIP_SHIP_TABLES_H

#include "ship/anonymizer.h"
#include "ship/native_block.h"

/* Of the rows: a batch that one version began is not completed by another one. */
#define SHIP_TABLES_VERSION 2

/* Inserts whose tokens a server remembers for each table. */
#define SHIP_TABLES_WINDOW 10000

/* Where the values of a column come from. */
enum ship_value {
	SHIP_SQL, /* an expression over a table of `query` */
	SHIP_STACK, /* the same, the number of a stack: becomes its id by content */
	SHIP_BUILD, /* the same, becomes the build-id of the program */
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
	const char *sql;
	int64_t none; /* number for NULL */
	const char *rich; /* type on servers that know it; NULL: the same */
	enum anonymizer_text text; /* of texts */
};

enum ship_table_id {
	SHIP_STACKS,
	SHIP_FRAMES,
	SHIP_TASKS,
	SHIP_TRACES,
	SHIP_SAMPLES,
	SHIP_SLICES,
	SHIP_SPANS,
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
	const char *from; /* of the SELECT in `query`; NULL: no SQL */
	const char *wall; /* expression for the day of a row, ns since 1970 */
	const char *order; /* sorting key */
	enum ship_keep keep;
	bool replaces; /* rows with equal keys are one: sending them again is harmless */
};

extern const struct ship_table ship_tables[SHIP_TABLE_CNT];

/* Columns of ship_tables[SHIP_STACKS], SHIP_FRAMES and SHIP_LEDGER, which get their values without SQL. */
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

/* The SELECT that gives the rows: the wall-clock time, then each column that has SQL. */
void ship_tables_put_select(struct buf *out, const struct ship_table *t);
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
