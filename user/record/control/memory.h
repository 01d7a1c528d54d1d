/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CONTROL_MEMORY_H
#define D9_RECORD_CONTROL_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct frames;
struct stacks;
struct tasks;
struct unwind_loader;

/*
 * A cap on what the recorder remembers, whatever the recorded programs make up. Each part has a share
 * of it, so that none costs another its memory.
 */
struct memory {
	size_t max; /* of the whole recorder; what is mapped from files and rings is beside it */
	struct tasks *tasks; /* all borrowed */
	struct frames *frames;
	struct stacks *stacks;
	struct unwind_loader *unwinding; /* NULL: none */
	size_t held; /* bytes, when it was last checked */
	uint64_t forgotten; /* modules, and processes whose mappings went */
};

/* Has each part forget what is beyond its share. To be called a few times a second at least. */
void memory_check(struct memory *m);

/* The shares of what others keep, in bytes. */
size_t memory_early_max(size_t max); /* records from before the kernel's symbols were known */
size_t memory_pool_max(size_t max); /* each table of an encoder */
size_t memory_naming_max(size_t max); /* modules and files that names are asked of */

#endif
