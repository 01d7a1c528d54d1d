/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_RECORD_FOUND_H
#define D9_TESTS_RECORD_FOUND_H

/* Files that a command needs, as they are reported. */
#include <criterion/criterion.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/target/elf_deps.h"

struct found {
	struct elf_deps_file v[ELF_DEPS_FILES_MAX];
	size_t cnt;
};

/* A elf_deps_found_fn; ctx is a struct found. */
static inline void found_add(void *ctx, const struct elf_deps_file *file)
{
	struct found *f = ctx;

	cr_assert_lt(f->cnt, ELF_DEPS_FILES_MAX);
	f->v[f->cnt] = *file;
	f->v[f->cnt++].path = strdup(file->path);
}

static inline void found_fini(struct found *f)
{
	while (f->cnt)
		free((char *)f->v[--f->cnt].path);
}

static inline bool found_has(const struct found *f, const char *path)
{
	size_t i;

	for (i = 0; i < f->cnt; i++)
		if (!strcmp(f->v[i].path, path))
			return true;
	return false;
}

/* All files that this process has mapped by its start are among them. */
static inline void found_expect_mine(const struct found *f)
{
	char line[PATH_MAX + 100], *path;
	FILE *maps = fopen("/proc/self/maps", "re");
	size_t cnt = 0;

	cr_assert(maps);
	while (fgets(line, sizeof(line), maps)) {
		path = strchr(line, '/');
		if (!path || !strstr(line, "r-xp"))
			continue;
		path[strcspn(path, "\n")] = '\0';
		cr_expect(found_has(f, path), "%s", path);
		cnt++;
	}
	fclose(maps);
	cr_expect_gt(cnt, 3);
}

#endif /* D9_TESTS_RECORD_FOUND_H */
