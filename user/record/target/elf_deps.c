// SPDX-License-Identifier: BSD-2-Clause
/*
 * elf_deps.c - the libraries that a program will map
 *
 * Reads the few structures of an ELF file that the dynamic loader reads first. Files may belong to any user, so
 * each number is used only as a position to read from: missing data ends the search.
 */
#include "record/target/elf_deps.h"

#include <elf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/machine.h"
#include "symbol/sandbox/symopen.h"

enum { PHDRS_MAX = 64, DYNS_MAX = 512, NAME_MAX_SZ = 256, LINE_MAX_SZ = 256 };

static const char *const lib_dirs[] = {
	"/lib/" MACHINE_LIB_DIR,
	"/usr/lib/" MACHINE_LIB_DIR,
	"/lib64",
	"/usr/lib64",
	"/lib",
	"/usr/lib",
	"/usr/local/lib",
};

static const char *const path_default = "/usr/local/bin:/usr/bin:/bin";

struct file {
	int fd;
	char dir[PATH_MAX]; /* the file's directory */
	Elf64_Phdr phdrs[PHDRS_MAX];
	size_t phdr_cnt;
	Elf64_Dyn dyns[DYNS_MAX];
	size_t dyn_cnt;
};

struct elf_deps {
	struct elf_deps_file v[ELF_DEPS_FILES_MAX];
	size_t cnt;
};

static bool is_known(const struct elf_deps *n, const char *path)
{
	size_t i;

	for (i = 0; i < n->cnt; i++)
		if (!strcmp(n->v[i].path, path))
			return true;
	return false;
}

/* False: the file does not exist. */
static bool add(struct elf_deps *n, const char *path)
{
	char real[PATH_MAX];
	struct stat st;

	if (!realpath(path, real) || stat(real, &st) || !S_ISREG(st.st_mode))
		return false;
	if (n->cnt == ELF_DEPS_FILES_MAX || is_known(n, real))
		return true;
	n->v[n->cnt++] = (struct elf_deps_file){
		.path = xstrdup(real),
		.dev = (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev),
		.inode = st.st_ino,
		.sz = st.st_size,
	};
	return true;
}

/* ---- directories --------------------------------------------------------------------------------- */

static bool add_in(struct elf_deps *n, const char *dir, size_t dir_len, const char *name)
{
	char path[PATH_MAX];
	int len = snprintf(path, sizeof(path), "%.*s/%s", (int)dir_len, dir, name);

	return len > 0 && (size_t)len < sizeof(path) && add(n, path);
}

/* Adds the file from the first directory in a colon-separated list that has it. */
static bool add_from(struct elf_deps *n, const char *dirs, const char *name)
{
	size_t len;

	for (;; dirs += len + 1) {
		len = strcspn(dirs, ":");
		if (add_in(n, len ? dirs : ".", len ? len : 1, name))
			return true;
		if (!dirs[len])
			return false;
	}
}

static bool add_command(struct elf_deps *n, const char *command)
{
	const char *dirs = getenv("PATH");

	if (strchr(command, '/'))
		return add(n, command);
	return add_from(n, dirs ? dirs : path_default, command);
}

/* ---- ELF ------------------------------------------------------------------------------------------- */

static bool read_at(const struct file *f, void *to, size_t sz, uint64_t off)
{
	return off <= INT64_MAX && pread(f->fd, to, sz, (off_t)off) == (ssize_t)sz;
}

/* A string with a NUL within max bytes. */
static bool read_text(const struct file *f, char *to, size_t max, uint64_t off)
{
	ssize_t got = off <= INT64_MAX ? pread(f->fd, to, max, (off_t)off) : -1;

	return got > 0 && memchr(to, '\0', (size_t)got);
}

static bool read_heads(struct file *f)
{
	Elf64_Ehdr h;
	size_t i;

	if (!read_at(f, &h, sizeof(h), 0) || memcmp(h.e_ident, ELFMAG, SELFMAG) ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_phentsize != sizeof(Elf64_Phdr))
		return false;
	f->phdr_cnt = h.e_phnum < PHDRS_MAX ? h.e_phnum : PHDRS_MAX;
	if (!read_at(f, f->phdrs, f->phdr_cnt * sizeof(*f->phdrs), h.e_phoff))
		return false;
	for (i = 0; i < f->phdr_cnt; i++) {
		const Elf64_Phdr *p = &f->phdrs[i];

		if (p->p_type != PT_DYNAMIC)
			continue;
		f->dyn_cnt = p->p_filesz / sizeof(Elf64_Dyn);
		f->dyn_cnt = f->dyn_cnt < DYNS_MAX ? f->dyn_cnt : DYNS_MAX;
		if (!read_at(f, f->dyns, f->dyn_cnt * sizeof(*f->dyns), p->p_offset))
			f->dyn_cnt = 0;
	}
	return true;
}

/* File offset of an address; UINT64_MAX: none. */
static uint64_t offset_of(const struct file *f, uint64_t addr)
{
	size_t i;

	for (i = 0; i < f->phdr_cnt; i++) {
		const Elf64_Phdr *p = &f->phdrs[i];

		if (p->p_type == PT_LOAD && addr >= p->p_vaddr && addr - p->p_vaddr < p->p_filesz)
			return p->p_offset + (addr - p->p_vaddr);
	}
	return UINT64_MAX;
}

static const Elf64_Dyn *find_dyn(const struct file *f, int64_t tag)
{
	size_t i;

	for (i = 0; i < f->dyn_cnt && f->dyns[i].d_tag != DT_NULL; i++)
		if (f->dyns[i].d_tag == tag)
			return &f->dyns[i];
	return NULL;
}

/* "$ORIGIN/../lib:/opt/lib" */
static bool add_from_runpath(struct elf_deps *n, const struct file *f, const char *dirs,
			     const char *name)
{
	static const char origin[] = "$ORIGIN";
	char path[2 * PATH_MAX];
	size_t len;

	for (;; dirs += len + 1) {
		bool own = !strncmp(dirs, origin, strlen(origin));
		const char *rest = own ? dirs + strlen(origin) : dirs;

		len = strcspn(dirs, ":");
		snprintf(path, sizeof(path), "%s%.*s/%s", own ? f->dir : "",
			 (int)(len - (size_t)(rest - dirs)), rest, name);
		if (len && add(n, path))
			return true;
		if (!dirs[len])
			return false;
	}
}

static void add_library(struct elf_deps *n, const struct file *f, const char *runpath,
			const char *name)
{
	size_t i;

	if (strchr(name, '/') ? add(n, name) : *runpath && add_from_runpath(n, f, runpath, name))
		return;
	for (i = 0; i < sizeof(lib_dirs) / sizeof(lib_dirs[0]); i++)
		if (add_in(n, lib_dirs[i], strlen(lib_dirs[i]), name))
			return;
}

static void add_libraries(struct elf_deps *n, const struct file *f)
{
	const Elf64_Dyn *strings = find_dyn(f, DT_STRTAB), *run = find_dyn(f, DT_RUNPATH);
	uint64_t base = strings ? offset_of(f, strings->d_un.d_ptr) : UINT64_MAX;
	char name[NAME_MAX_SZ], runpath[PATH_MAX] = "";
	size_t i;

	if (base == UINT64_MAX)
		return;
	run = run ? run : find_dyn(f, DT_RPATH);
	if (run && !read_text(f, runpath, sizeof(runpath), base + run->d_un.d_val))
		*runpath = '\0';
	for (i = 0; i < f->dyn_cnt && f->dyns[i].d_tag != DT_NULL; i++)
		if (f->dyns[i].d_tag == DT_NEEDED &&
		    read_text(f, name, sizeof(name), base + f->dyns[i].d_un.d_val))
			add_library(n, f, runpath, name);
}

static void add_loader(struct elf_deps *n, const struct file *f)
{
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < f->phdr_cnt; i++)
		if (f->phdrs[i].p_type == PT_INTERP &&
		    read_text(f, path, sizeof(path), f->phdrs[i].p_offset))
			add(n, path);
}

/* "#!/usr/bin/env python3": adds the interpreter, and its argument in case that is a program. */
static void add_interpreter(struct elf_deps *n, const struct file *f)
{
	char line[LINE_MAX_SZ] = "", *word, *save;
	ssize_t got = pread(f->fd, line, sizeof(line) - 1, 0);

	if (got < 2 || memcmp(line, "#!", 2))
		return;
	line[strcspn(line, "\n")] = '\0';
	word = strtok_r(line + 2, " \t", &save);
	if (!word || !add(n, word))
		return;
	word = strtok_r(NULL, " \t", &save);
	if (word && *word != '-')
		add_command(n, word);
}

static void scan_word(struct elf_deps *n, const char *path)
{
	struct file *f = xcalloc(1, sizeof(*f));

	snprintf(f->dir, sizeof(f->dir), "%.*s", (int)(strrchr(path, '/') - path), path);
	f->fd = symopen_own(path);
	if (f->fd >= 0 && read_heads(f)) {
		add_loader(n, f);
		add_libraries(n, f);
	} else if (f->fd >= 0) {
		add_interpreter(n, f);
	}
	if (f->fd >= 0)
		close(f->fd);
	free(f);
}

void elf_deps_find(const char *command, elf_deps_found_fn found, void *ctx)
{
	struct elf_deps n = { 0 };
	size_t i;

	add_command(&n, command);
	for (i = 0; i < n.cnt; i++) {
		scan_word(&n, n.v[i].path);
		found(ctx, &n.v[i]);
	}
	for (i = 0; i < n.cnt; i++)
		free((char *)n.v[i].path);
}
