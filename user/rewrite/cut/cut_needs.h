/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_CUT_CUT_NEEDS_H
#define D9_REWRITE_CUT_CUT_NEEDS_H

#include "trace/read/reader.h"

/*
 * The parts of a trace that kept events need: frames, modules, threads, names of values. Grows with distinct items.
 * {0} is empty; cut_needs_fini() releases it.
 */
struct cut_needs {
	struct hmap frames;
	struct hmap tasks; /* clock << 32 | tid -> struct cut_task */
	struct hmap events; /* string ids of event names */
	struct hmap schemas; /* struct trace_schema -> struct cut_schema */
	uint8_t *modules; /* by index */
	size_t module_cap;
};

/* Position of a naming event relative to the window. */
enum cut_place { CUT_BEFORE, CUT_INSIDE, CUT_AFTER };

void cut_needs_fini(struct cut_needs *n);

/* Adds a kept event. Call it for all of them in one pass, each right after reader_next(). */
void cut_needs_event(struct cut_needs *n, struct reader *r, const struct trace_event *ev);
/* A TaskEvent, whether it is needed or not, in the same pass. */
void cut_needs_add_task(struct cut_needs *n, struct reader *r, const struct trace_event *ev,
			enum cut_place place);

/* After that pass: whether an event that only names something is needed. */
bool cut_needs_naming(const struct cut_needs *n, struct reader *r, const struct trace_event *ev,
		      enum cut_place place);

/* Whether events of that name, a string id, are kept. */
bool cut_needs_has_event(const struct cut_needs *n, uint32_t name);

/* The module that an event is about, as an index of the names; 0: none. */
uint32_t cut_needs_module(struct reader *r, const struct trace_event *ev);

#endif /* D9_REWRITE_CUT_CUT_NEEDS_H */
