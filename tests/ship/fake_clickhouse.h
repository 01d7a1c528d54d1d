/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_SHIP_FAKE_CLICKHOUSE_H
#define D9_TESTS_SHIP_FAKE_CLICKHOUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * A server that answers as ClickHouse does to the statements of user/ship, and keeps what it was sent. It takes an insert
 * whole or not at all, and can fail in every way that was seen, at the insert of a given number.
 */
struct fake_clickhouse;

enum fake_fault {
	FAKE_FINE,
	FAKE_ERROR, /* status 500, nothing stored */
	FAKE_CUT, /* closes after half of the body, nothing stored */
	FAKE_EAT, /* stores, and closes without an answer */
	FAKE_PARTIAL, /* stores, and closes after half of the answer's head */
	FAKE_ENDLESS, /* stores, and answers without end */
	FAKE_STATUS, /* status 302, nothing stored */
	FAKE_HEADER, /* status 200 with a header that says it failed, nothing stored */
	FAKE_BODY, /* status 200 with a page of a proxy, nothing stored */
	FAKE_TABLE, /* status 404: no such table */
	FAKE_DOUBLE, /* stores it twice */
	FAKE_SILENT, /* neither answers nor closes before the client does, nothing stored */
};

struct fake_opts {
	bool tokens; /* remembers insert_deduplication_token */
	bool old; /* knows neither LowCardinality nor settings of tables */
	/* For each insert, from 0, after its head was read. May end another process. NULL: fine */
	enum fake_fault (*fault)(void *ctx, unsigned int insert);
	void *ctx;
};

/* A batch that was stored. */
struct fake_batch {
	char table[32];
	uint64_t id;
	uint64_t rows;
};

struct fake_clickhouse *fake_start(const struct fake_opts *opts);
/* Stops it, and leaves its batches. */
void fake_stop(struct fake_clickhouse *f);
void fake_free(struct fake_clickhouse *f);
unsigned int fake_port(const struct fake_clickhouse *f);

/* Appends the rows of a table as native_rows_put() does, in the order of their inserts. */
void fake_put_rows(struct fake_clickhouse *f, const char *table, const char *columns,
		   struct buf *csv);
/* The number of a table's first insert among all that were stored; of all of them if it has none. */
size_t fake_first(struct fake_clickhouse *f, const char *table);
/* Rows that were stored in a table, and inserts that arrived. */
uint64_t fake_rows(struct fake_clickhouse *f, const char *table);
unsigned int fake_inserts(struct fake_clickhouse *f);
/* Whether a request had this text in its head or, if it was no insert, in its body. */
bool fake_saw(struct fake_clickhouse *f, const char *text);
/* The same, and in the unpacked bodies of inserts. */
bool fake_got(struct fake_clickhouse *f, const char *text);

#endif /* D9_TESTS_SHIP_FAKE_CLICKHOUSE_H */
