/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_FIREFOX_FIREFOX_TABLES_H
#define D9_EXPORT_FIREFOX_FIREFOX_TABLES_H

/*
 * The tables of one thread in a Firefox profile, and its columns. Stacks and functions are numbered
 * on first use; strings also while columns are written, so the string table comes last.
 */
#include "base/strtab.h"
#include "export/exporter.h"
#include "export/stack_tree.h"

/* Indices in the list of categories that firefox.c writes. */
enum firefox_category {
	FIREFOX_OTHER,
	FIREFOX_USER,
	FIREFOX_KERNEL,
	FIREFOX_JIT,
	FIREFOX_OFF,
	FIREFOX_EVENT,
};

struct firefox_tables {
	struct stack_tree stacks; /* of all threads */
	struct buf text;
	/* of the thread being written */
	struct strtab strings, resources;
	uint32_t *stack_ids, *func_ids; /* by number in stacks: the thread's number + 1 */
	uint32_t *stack_order, *func_order; /* inverse of the ids */
	uint32_t stack_cnt, func_cnt;
	const char *sep;
};

/* After all stacks are added, and before the first thread. */
void firefox_tables_begin(struct firefox_tables *t);
/* Clears the tables of a thread. */
void firefox_tables_thread(struct firefox_tables *t);
void firefox_tables_fini(struct firefox_tables *t);

/* Numbers a stack and its ancestors, if they are new. Ignores STACK_TREE_NONE. */
void firefox_tables_use(struct firefox_tables *t, uint32_t leaf);
/* Its number, or null. */
void firefox_tables_put_stack(struct firefox_tables *t, struct buf *out, uint32_t stack);
uint32_t firefox_tables_string(struct firefox_tables *t, const char *s, size_t len);
/* All tables, each with a leading comma. */
void firefox_tables_put(struct export *x, struct firefox_tables *t);

/* ,"NAME":[ */
void firefox_tables_column(struct export *x, struct firefox_tables *t, const char *name);
/* Before each value. */
void firefox_tables_next(struct export *x, struct firefox_tables *t);
void firefox_tables_end_column(struct export *x);

#endif /* D9_EXPORT_FIREFOX_FIREFOX_TABLES_H */
