/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_EARLY_STACKS_H
#define D9_RECORD_UNWIND_MAPS_EARLY_STACKS_H

#include <stdbool.h>

struct frames;
struct launch;
struct scout;
struct tasks;
struct unwinding;

/* Whose first stacks are to be whole. All borrowed. */
struct early_stacks {
	struct tasks *tasks;
	struct frames *frames;
	struct unwinding *unwinding; /* NULL: stacks are not unwound by tables */
	struct launch *launch; /* the command that has not begun; NULL: none */
	struct scout *scout; /* of its files; NULL: none */
	bool settle; /* wait for tables, a while */
};

/* Before anything is recorded: the lists of mappings of those who are there, and for a while their tables. */
void early_stacks_prepare(const struct early_stacks *e);

#endif
