/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_UNWIND_PREFETCH_H
#define D9_RECORD_UNWIND_MAPS_UNWIND_PREFETCH_H

#include <stdbool.h>

struct frames;
struct launch;
struct exec_probe;
struct tasks;
struct unwind_loader;

/* Whose first stacks are to be whole. All borrowed. */
struct unwind_prefetch {
	struct tasks *tasks;
	struct frames *frames;
	struct unwind_loader *unwinding; /* NULL: stacks are not unwound by tables */
	struct launch *launch; /* the command that has not begun; NULL: none */
	struct exec_probe *exec_probe; /* of its files; NULL: none */
	bool settle; /* wait for tables, a while */
};

/* Before anything is recorded: the lists of mappings of those who are there, and for a while their tables. */
void unwind_prefetch_prepare(const struct unwind_prefetch *e);

#endif
