/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_UNWIND_MAPS_UNWIND_PREFETCH_H
#define D9_RECORD_UNWIND_MAPS_UNWIND_PREFETCH_H

#include <stdbool.h>

struct frames;
struct launch;
struct exec_probe;
struct tasks;
struct unwind_loader;

/* The processes whose first stacks should be complete. All borrowed. */
struct unwind_prefetch {
	struct tasks *tasks;
	struct frames *frames;
	struct unwind_loader *unwinding; /* NULL: stacks are not unwound by tables */
	struct launch *launch; /* a command that has not started; NULL: none */
	struct exec_probe *exec_probe; /* search for its files; NULL: none */
	bool all; /* system-wide */
};

/* Before recording: makes the mapping lists of existing processes, and waits some time for their tables. */
void unwind_prefetch_prepare(const struct unwind_prefetch *e);

#endif
