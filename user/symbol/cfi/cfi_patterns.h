/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFI_CFI_PATTERNS_H
#define D9_SYMBOL_CFI_CFI_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elfimg;

#define CFI_PATTERNS_MAX 17

/* A row that applies from this file offset on, unless an FDE covers it */
struct cfi_patterns {
	uint64_t off;
	uint32_t row;
};

/*
 * Inserts a row; the offsets in @out stay sorted. What starts at an offset replaces the end of what is before it
 * (PROF_UNWIND_NONE). There must be room.
 */
void cfi_patterns_add(struct cfi_patterns *out, size_t *cnt, uint64_t off, uint32_t row);

/*
 * Finds code of x86-64 that never has an FDE. Returns the number of rows, at most CFI_PATTERNS_MAX;
 * offsets do not decrease.
 */
size_t cfi_patterns_find(const struct elfimg *img, struct cfi_patterns *out);

/*
 * Whether the function at these file offsets is the pseudo caller of goroutines (goexit). It has no
 * caller, but Go's call frame information describes one.
 */
bool cfi_patterns_is_goexit(const struct elfimg *img, uint64_t start, uint64_t end);

/*
 * Whether the function at these file offsets is glibc's __start_context. makecontext() stores its address as the
 * return address of a context's function, so it is not called, and has no caller.
 */
bool cfi_patterns_is_start_context(const struct elfimg *img, uint64_t start, uint64_t end);

/* A function that goes to an exception's handler, in file offsets */
struct cfi_eh_return {
	/*
	 * It rewrites its own frame from here on. libgcc's functions do so by their last but one call, and their last
	 * call is for debuggers. This is in the first of these calls, so it applies to return addresses minus one.
	 */
	uint64_t from;
	uint64_t leaving; /* it also rewrites the stack above its frame: after its last call */
	uint32_t context; /* how far below the frame pointer its own context is; 0: unknown */
};

/* The function starts at @start, and jumps to the handler at @end. False if there is no call. */
bool cfi_patterns_eh_return(const struct elfimg *img, uint64_t start, uint64_t end,
			    struct cfi_eh_return *out);

#endif /* D9_SYMBOL_CFI_CFI_PATTERNS_H */
