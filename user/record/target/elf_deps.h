/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TARGET_ELF_DEPS_H
#define D9_RECORD_TARGET_ELF_DEPS_H

#include <stdint.h>

enum { ELF_DEPS_FILES_MAX = 64 };

struct elf_deps_file {
	const char *path; /* absolute, without symbolic links */
	uint64_t dev, inode; /* as in struct map */
	uint64_t sz;
};

typedef void (*elf_deps_found_fn)(void *ctx, const struct elf_deps_file *file);

/*
 * Finds the files that a command will probably map first, at most ELF_DEPS_FILES_MAX: its program or a script's
 * interpreter, the dynamic loader and the libraries that it names. Reports each after reading it. The result is a
 * guess from the usual directories; errors do no harm. Reads files of any user and may block forever: run it in a
 * separate process (exec_probe.h).
 */
void elf_deps_find(const char *command, elf_deps_found_fn found, void *ctx);

#endif
