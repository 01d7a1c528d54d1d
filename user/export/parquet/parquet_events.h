/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_PARQUET_PARQUET_EVENTS_H
#define D9_EXPORT_PARQUET_PARQUET_EVENTS_H

#include "export/exporter.h"
#include "export/parquet/parquet_tables.h"

/*
 * A table for each event, made from its schema: a typed column for each field. Schemas with equal columns share one,
 * such as those that the recorder writes for small and for negative numbers. {0} with tables set is empty.
 */
struct parquet_events {
	struct parquet_tables *tables; /* borrowed */
	struct hmap by_schema; /* struct trace_schema -> struct event_table */
	struct event_table *first;
	struct buf text;
};

/* Columns of all of these tables, before the columns of the fields. */
enum {
	PARQUET_EVENT_CPU = PARQUET_TIMES,
	PARQUET_EVENT_TID,
	PARQUET_EVENT_PID,
	PARQUET_EVENT_COMM,
	PARQUET_EVENT_FIELDS,
};

/* Adds a row. @thread as in struct exporter's event(). */
void parquet_events_add(struct parquet_events *e, struct export *x,
			const struct export_thread *thread, const struct trace_event *ev);
/* After the tables were freed. */
void parquet_events_fini(struct parquet_events *e);

#endif /* D9_EXPORT_PARQUET_PARQUET_EVENTS_H */
