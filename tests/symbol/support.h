/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_SYMBOL_SUPPORT_H
#define D9_TESTS_SYMBOL_SUPPORT_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbol/budget.h"
#include "symbol/dwarf/symbolizer.h"
#include "symbol/sandbox/symopen.h"

/* Path of a program below build/stimuli/symbol; valid for the next three calls. */
const char *stimulus(const char *name);

/*
 * Copies the programs "whole" and "split" of tests/stimuli/split.sh, as FLAVOUR, and the .dwo files of "split" to
 * scratch(), which becomes the build directory in their debug information.
 */
void copy_split(const char *flavour);

/* A directory of the test program's own, removed at its end. */
const char *scratch(void);

/* Runs a shell command made by format; the test fails when it does. */
void shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A descendant process, by name. It may still be about to start. */
pid_t find_worker(const char *name);

/* A file that is open for a test: its symbolizer with everything that it borrows. */
struct opened {
	struct symbolizer *sym;
	struct symopen_where where;
	char path[PATH_MAX];
};

/* Opens path; the test fails if that fails. debug_root and mem_max may be NULL and 0. */
void open_path(struct opened *o, const char *path, const char *debug_root, size_t mem_max);

/* The section's bytes, as file offsets and addresses. */
struct section {
	uint64_t addr, off, size;
};
struct section section_of(const char *path, const char *name);

/* One budget for the whole test program, which never ends. */
struct budget *unbounded(void);

#endif /* D9_TESTS_SYMBOL_SUPPORT_H */
