/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_EVENT_TABLES_H
#define D9_QUERY_EVENT_TABLES_H

#include "query/scan.h"

/* Fields of an event with a column of their own; all are in the table `events`. */
#define EVENT_TABLES_FIELDS_MAX 1000

/* The table `events`: all events, with their fields as JSON. */
struct scan_table event_tables_all(struct trace_inputs *all);

/* The same without events that have tables of their own: switches, wakeups, samples, losses, and what describes the trace. */
struct scan_table event_tables_other(struct trace_inputs *all);

/* A table for each name of events. {0} is empty. */
struct event_tables {
	struct event_name_table **v; /* in order of first use */
	size_t cnt, cap;
	struct strtab names; /* event name -> index; unique without regard to case */
};

/*
 * Makes the tables of all schemas in the traces. Names that are in @taken, which has @taken_cnt, or differ in case only,
 * get the prefix "event:".
 */
void event_tables_init(struct event_tables *e, struct trace_inputs *all, const char *const *taken,
		       size_t taken_cnt);
const struct scan_table *event_tables_get(const struct event_tables *e, size_t i);
void event_tables_fini(struct event_tables *e);

#endif /* D9_QUERY_EVENT_TABLES_H */
