// SPDX-License-Identifier: BSD-2-Clause
/* Maps of generated code: which lines are read, which are skipped, which have priority. */
#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/elf/perfmap.h"

/* A map that text can be appended to. */
static int new_file(const char *text)
{
	int fd = memfd_create("map", MFD_CLOEXEC);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	return fd;
}

static void append(int fd, const char *text)
{
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static const char *at(const struct perfmap *p, uint64_t addr)
{
	static char name[PERFMAP_NAME_MAX + 1];
	struct perfmap_entry e;

	if (!perfmap_find(p, addr, &e))
		return "none";
	cr_assert(addr >= e.start && addr - e.start < e.size);
	memcpy(name, e.name, e.name_len);
	name[e.name_len] = '\0';
	return name;
}

Test(perfmap, names_addresses_by_its_lines)
{
	int fd = new_file("1000 10 first\n0x2000 0x20 LazyCompile:*f (eval):1\nABC0 f third one\n");
	struct perfmap *p = perfmap_new(0);
	struct perfmap_entry e;

	cr_assert_eq(perfmap_read(p, fd), 0);
	cr_expect_str_eq(at(p, 0xfff), "none");
	cr_expect_str_eq(at(p, 0x1000), "first");
	cr_expect_str_eq(at(p, 0x100f), "first");
	cr_expect_str_eq(at(p, 0x1010), "none");
	cr_expect_str_eq(at(p, 0x2010), "LazyCompile:*f (eval):1");
	cr_expect_str_eq(at(p, 0xabce), "third one");
	cr_assert(perfmap_find(p, 0x2001, &e));
	cr_expect_eq(e.start, 0x2000u);
	cr_expect_eq(e.size, 0x20u);
	cr_expect_null(perfmap_gave_up(p));
	perfmap_free(p);
	close(fd);
}

Test(perfmap, skips_malformed_lines)
{
	int fd =
		new_file("\n1000\n1000 10\n1000 10 \nxyz 10 a\n1000 -1 b\n10000000000000000 1 c\n"
			 "ffffffffffffffff 10 wraps\n1000 0 empty\n 1000 10 blank\n5000 10 good\n");
	struct perfmap *p = perfmap_new(0);

	cr_assert_eq(perfmap_read(p, fd), 0);
	cr_expect_str_eq(at(p, 0x1000), "none");
	cr_expect_str_eq(at(p, UINT64_MAX - 1), "none");
	cr_expect_str_eq(at(p, 0x5000), "good");
	perfmap_free(p);
	close(fd);
}

Test(perfmap, later_line_overrides_earlier_lines_in_its_range)
{
	int fd = new_file("1000 100 old\n1040 20 new\n2000 10 a\n2000 10 b\n");
	struct perfmap *p = perfmap_new(0);

	cr_assert_eq(perfmap_read(p, fd), 0);
	cr_expect_str_eq(at(p, 0x103f), "old");
	cr_expect_str_eq(at(p, 0x1040), "new");
	cr_expect_str_eq(at(p, 0x1060), "old");
	cr_expect_str_eq(at(p, 0x2000), "b");
	append(fd, "1050 100 newest\n");
	cr_assert_eq(perfmap_read(p, fd), 0);
	cr_expect_str_eq(at(p, 0x1040), "new");
	cr_expect_str_eq(at(p, 0x1050), "newest");
	cr_expect_str_eq(at(p, 0x114f), "newest");
	perfmap_free(p);
	close(fd);
}

Test(perfmap, line_counts_when_it_is_complete)
{
	int fd = new_file("1000 10 fir");
	struct perfmap *p = perfmap_new(0);

	cr_assert_eq(perfmap_read(p, fd), 0);
	cr_expect_str_eq(at(p, 0x1000), "none");
	append(fd, "st\n2000 1");
	cr_assert_eq(perfmap_read(p, fd), 0);
	cr_expect_str_eq(at(p, 0x1000), "first");
	append(fd, "0 second\n");
	cr_assert_eq(perfmap_read(p, fd), 0);
	cr_expect_str_eq(at(p, 0x200f), "second");
	perfmap_free(p);
	close(fd);
}

Test(perfmap, reads_a_truncated_or_replaced_file_again)
{
	int fd = new_file("1000 10 before\n"), other = new_file("3000 10 other\n");
	struct perfmap *p = perfmap_new(0);

	cr_assert_eq(perfmap_read(p, fd), 0);
	cr_assert_eq(ftruncate(fd, 0), 0);
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	append(fd, "2000 10 x\n");
	cr_assert_eq(perfmap_read(p, fd), 0);
	cr_expect_str_eq(at(p, 0x1000), "none");
	cr_expect_str_eq(at(p, 0x2000), "x");
	cr_assert_eq(perfmap_read(p, other), 0);
	cr_expect_str_eq(at(p, 0x2000), "none");
	cr_expect_str_eq(at(p, 0x3000), "other");
	perfmap_free(p);
	close(fd);
	close(other);
}

Test(perfmap, cuts_too_long_names)
{
	char *line = malloc(1 << 20);
	struct perfmap *p = perfmap_new(0);
	struct perfmap_entry e;
	size_t n = sprintf(line, "1000 10 ");
	int fd;

	memset(line + n, 'a', 100000);
	strcpy(line + n + 100000, "\n2000 10 next\n");
	fd = new_file(line);
	cr_assert_eq(perfmap_read(p, fd), 0);
	cr_assert(perfmap_find(p, 0x1000, &e));
	cr_expect_eq(e.name_len, (size_t)PERFMAP_NAME_MAX);
	cr_expect_str_eq(at(p, 0x2000), "next");
	perfmap_free(p);
	close(fd);
	free(line);
}

/* A file that grows and is read in the shortest slices, against the last line that fits. */
Test(perfmap, agrees_with_a_linear_search)
{
	enum { CNT = 3000, SPAN = 5000 };
	static uint64_t start[CNT], size[CNT];
	struct perfmap *p = perfmap_new(0);
	int fd = new_file(""), err;
	size_t i, k, pauses = 0;
	uint64_t addr;
	char line[64];

	srandom(4);
	for (i = 0; i < CNT; i++) {
		start[i] = random() % SPAN;
		size[i] = 1 + random() % 50;
		snprintf(line, sizeof(line), "%" PRIx64 " %" PRIx64 " f%zu\n", start[i], size[i],
			 i);
		append(fd, line);
		if (i % 500 && i != CNT - 1)
			continue;
		perfmap_slice(p, 0);
		while ((err = perfmap_read(p, fd)) == -EAGAIN)
			pauses++;
		cr_assert_eq(err, 0);
		for (addr = 0; addr < SPAN + 50; addr++) {
			for (k = i + 1; k-- > 0;)
				if (addr >= start[k] && addr - start[k] < size[k])
					break;
			snprintf(line, sizeof(line), "f%zu", k);
			cr_assert_str_eq(at(p, addr), k == SIZE_MAX ? "none" : line);
		}
	}
	cr_expect_gt(pauses, 1000u);
	perfmap_free(p);
	close(fd);
}

static void read_all(struct perfmap *p, int fd, int expected, const char *why)
{
	int err;

	while ((err = perfmap_read(p, fd)) == -EAGAIN)
		perfmap_slice(p, 20000000);
	cr_expect_eq(err, expected);
	cr_expect_str_eq(perfmap_gave_up(p), why);
	cr_expect_str_eq(at(p, 0x1000), "first");
	/* and so it stays */
	cr_expect_eq(perfmap_read(p, fd), expected);
	cr_expect_str_eq(at(p, 0x1000), "first");
}

Test(perfmap, limits_the_number_of_entries_to_a_million)
{
	struct perfmap *p = perfmap_new(UINT64_MAX);
	char *text = malloc(PERFMAP_ENTRIES_MAX * 12ul + 100), *end = text;
	size_t i;
	int fd;

	end += sprintf(end, "1000 1 first\n");
	for (i = 0; i < PERFMAP_ENTRIES_MAX; i++)
		end += sprintf(end, "%zx 1 f\n", 0x2000 + i);
	fd = new_file(text);
	free(text);
	read_all(p, fd, -EDQUOT, "entries");
	perfmap_free(p);
	close(fd);
}

Test(perfmap, limits_the_number_of_bytes)
{
	struct perfmap *p = perfmap_new(UINT64_MAX);
	int fd = new_file("1000 1 first\n");

	cr_assert_eq(ftruncate(fd, 1ll << 40), 0);
	read_all(p, fd, -EDQUOT, "memory");
	perfmap_free(p);
	close(fd);
}

Test(perfmap, reports_errors_of_the_file)
{
	struct perfmap *p = perfmap_new(0);
	int fds[2];

	cr_expect_eq(perfmap_read(p, -1), -EBADF);
	cr_assert_eq(pipe(fds), 0);
	cr_expect_eq(perfmap_read(p, fds[0]), -ESPIPE);
	close(fds[0]);
	close(fds[1]);
	perfmap_free(p);
}
