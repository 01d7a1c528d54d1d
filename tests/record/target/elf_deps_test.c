// SPDX-License-Identifier: BSD-2-Clause
/* Which files a command will map: this test's own, scripts, and malformed files. */
#include "record/target/elf_deps.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tests/record/found.h"

Test(elf_deps, finds_all_files_that_the_loader_maps)
{
	struct found f = { 0 };

	elf_deps_find("/proc/self/exe", found_add, &f);
	found_expect_mine(&f);
	found_fini(&f);
}

Test(elf_deps, file_is_identified_as_by_stat)
{
	struct found f = { 0 };
	struct stat st;

	elf_deps_find("/bin/sh", found_add, &f);
	cr_assert_gt(f.cnt, 2);
	cr_assert_eq(stat("/bin/sh", &st), 0);
	cr_expect_eq(f.v[0].inode, st.st_ino);
	cr_expect_eq(f.v[0].dev, (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev));
	cr_expect_eq(f.v[0].sz, (uint64_t)st.st_size);
	found_fini(&f);
}

static size_t count_found(const char *command)
{
	struct found f = { 0 };
	size_t cnt;

	elf_deps_find(command, found_add, &f);
	cnt = f.cnt;
	found_fini(&f);
	return cnt;
}

Test(elf_deps, searches_for_a_command_like_a_shell)
{
	char real[PATH_MAX];
	struct found f = { 0 };

	cr_assert(realpath("/bin/sh", real));
	setenv("PATH", "/nowhere:/bin", 1);
	elf_deps_find("sh", found_add, &f);
	cr_assert_gt(f.cnt, 2);
	cr_expect_str_eq(f.v[0].path, real);
	found_fini(&f);
	cr_expect_eq(count_found("no-such-command"), 0);
	cr_expect_eq(count_found("/etc"), 0, "a directory");
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

Test(elf_deps, script_depends_on_its_interpreter)
{
	const char text[] = "#!/usr/bin/env sh\nexit\n";
	char *path = file_of(text, strlen(text)), env[PATH_MAX], sh[PATH_MAX];
	struct found f = { 0 };

	cr_assert(realpath("/usr/bin/env", env) && realpath("/bin/sh", sh));
	elf_deps_find(path, found_add, &f);
	unlink(path);
	cr_expect(found_has(&f, env));
	cr_expect(found_has(&f, sh));
	cr_expect_gt(f.cnt, 4, "with their libraries");
	found_fini(&f);
}

/* A program with each byte of its headers changed in turn: a sanitizer checks. */
Test(elf_deps, malformed_files_are_safe)
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
	struct found f = { 0 };
	char *path;
	size_t i;

	memcpy(data, &h, sizeof(h));
	memcpy(data + 64, ph, sizeof(ph));
	memcpy(data + 512, dyn, sizeof(dyn));
	strcpy((char *)data + 1024, "/bin/sh");
	strcpy((char *)data + 2049, "true");
	strcpy((char *)data + 2148, "/nowhere:$ORIGIN/nowhere:/bin");
	path = file_of(data, sizeof(data));
	elf_deps_find(path, found_add, &f);
	unlink(path);
	cr_expect_gt(f.cnt, 4, "itself, the shell, true and their libraries");
	found_fini(&f);
	for (i = 0; i < 64 + sizeof(ph); i++) {
		data[i] ^= 0xff;
		path = file_of(data, sizeof(data));
		elf_deps_find(path, found_add, &f);
		unlink(path);
		found_fini(&f);
		data[i] ^= 0xff;
	}
}
