/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CONTROL_CACHE_LIMIT_H
#define D9_RECORD_CONTROL_CACHE_LIMIT_H

#include <stddef.h>
#include <stdint.h>

struct frames;
struct stacks;
struct tasks;
struct unwind_loader;

/*
 * A limit for the recorder's caches, independent of the recorded programs. Each part has a share, so that no part
 * uses another's memory.
 */
struct cache_limit {
	/* of all processes of the recorder, except mapped files, rings, tables in the kernel, and records that wait */
	size_t max;
	struct tasks *tasks; /* all borrowed */
	struct frames *frames;
	struct stacks *stacks;
	struct unwind_loader *unwinding; /* NULL: none */
	size_t held; /* bytes at the last check */
	uint64_t forgotten; /* modules, and processes whose mappings were freed */
};

/* Frees each part's memory above its share. Call it at least a few times per second. */
void cache_limit_enforce(struct cache_limit *m);

/* The shares of other modules in bytes. */
size_t cache_limit_waiting_max(size_t max); /* records that wait; in addition to max */
size_t cache_limit_pool_max(size_t max); /* each table of an encoder */
size_t cache_limit_naming_max(size_t max); /* modules and files with symbol lookups */
size_t cache_limit_helpers_max(size_t max); /* what the helper processes read of files */

#endif
