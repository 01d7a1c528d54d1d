// SPDX-License-Identifier: BSD-2-Clause
/* Which files a command will map: this test's own, scripts, and files that lie. */
#include "record/needed.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has(const struct needed *n, const char *path)
{
	size_t i;

	for (i = 0; i < n->cnt; i++)
		if (!strcmp(n->v[i], path))
			return true;
	return false;
}

/* Whether all files that this process has mapped by its start are among them. */
static void expect_mine(const struct needed *n)
{
	char line[PATH_MAX + 100], *path;
	FILE *f = fopen("/proc/self/maps", "re");
	size_t cnt = 0;

	cr_assert(f);
	while (fgets(line, sizeof(line), f)) {
		path = strchr(line, '/');
		if (!path || !strstr(line, "r-xp"))
			continue;
		path[strcspn(path, "\n")] = '\0';
		cr_expect(has(n, path), "%s", path);
		cnt++;
	}
	fclose(f);
	cr_expect_gt(cnt, 3);
}

Test(needed, finds_all_that_the_loader_maps)
{
	struct needed n;

	needed_find("/proc/self/exe", &n);
	expect_mine(&n);
	needed_fini(&n);
	cr_expect_eq(n.cnt, 0);
}

Test(needed, looks_for_a_command_where_a_shell_would)
{
	char real[PATH_MAX];
	struct needed n;

	cr_assert(realpath("/bin/sh", real));
	setenv("PATH", "/nowhere:/bin", 1);
	needed_find("sh", &n);
	cr_assert_gt(n.cnt, 2);
	cr_expect_str_eq(n.v[0], real);
	needed_fini(&n);
	needed_find("no-such-command", &n);
	cr_expect_eq(n.cnt, 0);
	needed_find("/etc", &n);
	cr_expect_eq(n.cnt, 0, "a directory");
}

static char *file_of(const void *data, size_t sz)
{
	static char path[] = "/tmp/d9-needed-XXXXXX";
	int fd;

	strcpy(path, "/tmp/d9-needed-XXXXXX");
	fd = mkstemp(path);
	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, data, sz), (ssize_t)sz);
	close(fd);
	return path;
}

Test(needed, a_script_needs_what_runs_it)
{
	const char text[] = "#!/usr/bin/env sh\nexit\n";
	char *path = file_of(text, strlen(text)), env[PATH_MAX], sh[PATH_MAX];
	struct needed n;

	cr_assert(realpath("/usr/bin/env", env) && realpath("/bin/sh", sh));
	needed_find(path, &n);
	unlink(path);
	cr_expect(has(&n, env));
	cr_expect(has(&n, sh));
	cr_expect_gt(n.cnt, 4, "with their libraries");
	needed_fini(&n);
}

/* A program with each byte of its heads changed in turn: a sanitizer is the judge. */
Test(needed, files_that_lie_are_survived)
{
	uint8_t data[4096] = { 0 };
	const Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			       .e_phoff = 64,
			       .e_phentsize = sizeof(Elf64_Phdr),
			       .e_phnum = 3 };
	const Elf64_Phdr ph[3] = {
		{ .p_type = PT_LOAD, .p_filesz = 4096 },
		{ .p_type = PT_DYNAMIC, .p_offset = 512, .p_filesz = 4 * sizeof(Elf64_Dyn) },
		{ .p_type = PT_INTERP, .p_offset = 1024 },
	};
	const Elf64_Dyn dyn[4] = { { DT_STRTAB, { 2048 } },
				   { DT_RUNPATH, { 100 } },
				   { DT_NEEDED, { 1 } },
				   { DT_NULL, { 0 } } };
	struct needed n;
	char *path;
	size_t i;

	memcpy(data, &h, sizeof(h));
	memcpy(data + 64, ph, sizeof(ph));
	memcpy(data + 512, dyn, sizeof(dyn));
	strcpy((char *)data + 1024, "/bin/sh");
	strcpy((char *)data + 2049, "true");
	strcpy((char *)data + 2148, "/nowhere:$ORIGIN/nowhere:/bin");
	path = file_of(data, sizeof(data));
	needed_find(path, &n);
	unlink(path);
	cr_expect_gt(n.cnt, 4, "itself, the shell, true and their libraries");
	needed_fini(&n);
	for (i = 0; i < 64 + sizeof(ph); i++) {
		data[i] ^= 0xff;
		path = file_of(data, sizeof(data));
		needed_find(path, &n);
		unlink(path);
		needed_fini(&n);
		data[i] ^= 0xff;
	}
}
