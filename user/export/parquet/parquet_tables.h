/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_PARQUET_PARQUET_TABLES_H
#define D9_EXPORT_PARQUET_PARQUET_TABLES_H

#include "base/hmap.h"
#include "export/parquet/parquet_file.h"

struct names;
struct out_dir;

/*
 * Tables, each with a file for every day and every host, or boot of a host:
 *
 *	TABLE/day=YYYY-MM-DD/host=HOST/HASH.parquet
 *
 * Rows go to the file of their day, by the wall clock in UTC. Memory is bounded: if all rows that are not written take
 * more than PARQUET_TABLES_BYTES, the largest file writes its rows.
 */
struct parquet_tables;

#define PARQUET_TABLES_BYTES (40u << 20)
#define PARQUET_TABLES_FILES_MAX 16384
#define PARQUET_TABLES_SCHEMA_VERSION "1"

/* The value of a partition whose value is not known, as in Hive. */
#define PARQUET_TABLES_UNKNOWN "__HIVE_DEFAULT_PARTITION__"

/* The first two columns of a table with times. */
enum { PARQUET_TS, PARQUET_WALL, PARQUET_TIMES };

/* Rows of struct parquet_def for them. */
#define PARQUET_DEFS_TIMES                                                                         \
	{ "ts", PARQUET_I64, true, PARQUET_DELTA },                                                \
	{                                                                                          \
		"wall", PARQUET_I64, true, PARQUET_DELTA                                           \
	}

/* One day of one host. */
struct parquet_partition {
	uint32_t no; /* from 1 */
	uint32_t source; /* see parquet_tables_source() */
	int64_t day; /* since 1970; -1: unknown */
	uint64_t token; /* name of its files */
	struct parquet_file **files; /* by table; NULL: none */
	size_t file_cap;
	/* what was written: ids of stacks; rows of tasks; ids -> struct content_frame */
	struct hmap stacks, tasks, frames;
};

/* Never NULL. Borrows both. */
struct parquet_tables *parquet_tables_new(struct out_dir *dir, const struct names *names);
void parquet_tables_free(struct parquet_tables *t);

/*
 * A new table: its number. @defs is borrowed. Tables with other columns may have the same name: their files are in the
 * same directory.
 */
uint32_t parquet_tables_add(struct parquet_tables *t, const char *name,
			    const struct parquet_def *defs, size_t def_cnt, bool has_times);
/* Appends the name of the table for an event, which no other event and no fixed table has. */
void parquet_tables_put_event_name(struct buf *out, const char *event, size_t len);

/* When and where a row belongs. */
struct parquet_place {
	bool has_ts;
	uint64_t ts;
	uint32_t part;
};

/*
 * The first part with the host, boot and clock of @part. Recordings in containers may have different hosts, but the same
 * boot and clock.
 */
uint32_t parquet_tables_source(const struct names *n, uint32_t part);

/* The partition of a place; NULL after an error. */
struct parquet_partition *parquet_tables_partition(struct parquet_tables *t,
						   const struct parquet_place *at);
/* The table's file there, for a row; NULL after an error. */
struct parquet_file *parquet_tables_file(struct parquet_tables *t, struct parquet_partition *p,
					 uint32_t table);
/* The same, and its times are put: for tables with times. */
struct parquet_file *parquet_tables_row(struct parquet_tables *t, const struct parquet_place *at,
					uint32_t table);
/* Ends the row of a file. */
void parquet_tables_end_row(struct parquet_tables *t, struct parquet_file *f);

/* For each partition. */
void parquet_tables_each(struct parquet_tables *t,
			 void (*fn)(void *ctx, struct parquet_partition *p), void *ctx);

/* Number of lost events of a source, for the metadata. */
typedef uint64_t (*parquet_tables_lost_fn)(void *ctx, uint32_t source);
/* Ends all files: 0 or -errno of the first error, which was printed. */
int parquet_tables_end(struct parquet_tables *t, parquet_tables_lost_fn lost, void *ctx);

#endif /* D9_EXPORT_PARQUET_PARQUET_TABLES_H */
