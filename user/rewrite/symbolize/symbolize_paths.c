// SPDX-License-Identifier: BSD-2-Clause
/*
 * Validates the paths on the command line of `symbolize`. Other processes read the files. Here only a kernel's ELF
 * file is recognised by its symbol names, in bounded time and memory.
 */
#include "rewrite/symbolize/symbolize_paths.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_SZ = 8192, STRINGS_MAX = 1 << 28 };

int symbolize_paths_dir(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

static bool read_at(int fd, void *to, size_t sz, uint64_t at)
{
	return at <= INT64_MAX && pread(fd, to, sz, (off_t)at) == (ssize_t)sz;
}

/* The string table of the ELF file's symbols. False: none. */
static bool find_strings(int fd, Elf64_Shdr *strings)
{
	Elf64_Ehdr head;

	if (!read_at(fd, &head, sizeof(head), 0) || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_shentsize != sizeof(*strings))
		return false;
	for (size_t i = 0; i < head.e_shnum; i++) {
		if (!read_at(fd, strings, sizeof(*strings), head.e_shoff + i * sizeof(*strings)))
			return false;
		if (strings->sh_type == SHT_SYMTAB && strings->sh_link < head.e_shnum)
			return read_at(fd, strings, sizeof(*strings),
				       head.e_shoff + strings->sh_link * sizeof(*strings));
	}
	return false;
}

/* Whether a file has the symbol at which a kernel's text begins: addresses are relative to it. */
static bool is_kernel(int fd)
{
	static const char name[] =
		"\0_stext"; /* with the terminators of the string before and its own */
	char block[BLOCK_SZ];
	Elf64_Shdr strings;
	uint64_t at = 0, sz;

	if (!find_strings(fd, &strings))
		return false;
	while (at < strings.sh_size && at < STRINGS_MAX) {
		sz = strings.sh_size - at < sizeof(block) ? strings.sh_size - at : sizeof(block);
		if (!read_at(fd, block, sz, strings.sh_offset + at))
			return false;
		if (memmem(block, sz, name, sizeof(name)))
			return true;
		if (sz < sizeof(block))
			break;
		at += sz - sizeof(name) + 1;
	}
	return false;
}

int symbolize_paths_vmlinux(const char *path)
{
	struct stat st;
	int fd, err = 0;

	/* a FIFO must not block */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (S_ISDIR(st.st_mode))
		err = -EISDIR;
	else if (!S_ISREG(st.st_mode) || !is_kernel(fd))
		err = -ENOEXEC;
	close(fd);
	return err;
}
