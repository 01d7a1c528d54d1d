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
 * Which files a command will likely map first, ELF_DEPS_FILES_MAX at most: its program, or what runs it if it is a
 * script, the loader and the libraries that it names. Each is told once it was looked into. A guess, from the
 * usual directories: what is wrong is of no use, and nothing else. Looks at files that anybody wrote and may
 * wait for them for ever: for a process that can be left to it (exec_probe.h).
 */
void elf_deps_find(const char *command, elf_deps_found_fn found, void *ctx);

#endif
