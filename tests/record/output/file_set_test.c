// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rotated files of one name: which belong to the set, what happens to files of a killed recorder, which are
 * deleted.
 */
#include "record/output/file_set.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"

enum { NOBODY = (uid_t)-1 };

#define TRACE "TRC\0\1" /* and one more byte */

static char dir[] = "/tmp/d9-set-XXXXXX";
static struct file_set_cfg cfg;
static struct file_set *set;

static void setup(void)
{
	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(chdir(dir), 0);
	cfg = (struct file_set_cfg){ .name = "a", .uid = NOBODY, .gid = NOBODY };
}

static void teardown(void)
{
	struct dirent *ent;
	DIR *d = opendir(".");

	file_set_free(set);
	while ((ent = readdir(d)))
		if (*ent->d_name != '.' && unlink(ent->d_name))
			rmdir(ent->d_name);
	closedir(d);
	cr_expect_eq(rmdir(dir), 0);
}

TestSuite(file_set, .init = setup, .fini = teardown, .timeout = 60);

static void write_bytes(const char *name, const void *data, size_t sz)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	cr_assert(fd >= 0 && write(fd, data, sz) == (ssize_t)sz, "%s", name);
	close(fd);
}

static void write_trace(const char *name)
{
	write_bytes(name, TRACE, sizeof(TRACE));
}

static void write_gzip(const char *name, const void *data, unsigned int sz)
{
	gzFile f = gzopen(name, "w");

	cr_assert_eq(gzwrite(f, data, sz), (int)sz);
	gzclose(f);
}

static void write_zstd(const char *name, const void *data, size_t sz)
{
	char out[256];

	write_bytes(name, out, ZSTD_compress(out, sizeof(out), data, sz, 1));
}

static bool is_there(const char *name)
{
	struct stat st;

	return !lstat(name, &st);
}

static void open_set(void)
{
	cr_assert_eq(file_set_open(&cfg, &set), 0);
}

/* The names of finished files, oldest first, as they are deleted. */
static const char *drop_all(const char *const *names, size_t cnt)
{
	static struct buf order;
	bool there[64] = { 0 };

	buf_clear(&order);
	for (size_t i = 0; i < cnt; i++)
		there[i] = is_there(names[i]);
	while (file_set_drop_oldest(set))
		for (size_t i = 0; i < cnt; i++)
			if (there[i] && !is_there(names[i])) {
				buf_printf(&order, "%s ", names[i]);
				there[i] = false;
			}
	return buf_cstr(&order);
}

Test(file_set, files_of_earlier_runs_are_counted_and_deleted_by_number)
{
	static const char *const names[] = { "a.10.bin", "a.9.bin.gz", "a.8.bin.zst", "a.11.bin" };

	write_trace("a.10.bin");
	write_trace("a.11.bin");
	write_gzip("a.9.bin.gz", TRACE, sizeof(TRACE));
	write_zstd("a.8.bin.zst", TRACE, sizeof(TRACE));
	open_set();
	cr_expect_eq(file_set_cnt(set), 4);
	cr_expect_gt(file_set_bytes(set), 3 * sizeof(TRACE));
	cr_expect_str_eq(drop_all(names, 4), "a.8.bin.zst a.9.bin.gz a.10.bin a.11.bin ");
	cr_expect_eq(file_set_cnt(set), 0);
	cr_expect_eq(file_set_bytes(set), 0);
}

/* Files with another name, directories, and files that are no traces are not touched. */
Test(file_set, other_files_are_neither_counted_nor_deleted)
{
	static const char *const names[] = { "a.1.bin.old",
					     "a.1.bin.gz.tmp",
					     "a.01.bin",
					     "a.x.bin",
					     "ab.1.bin",
					     "a.bin",
					     "b.1.bin",
					     "a..bin",
					     "a.1.bin.gzip",
					     "a.1.2.bin",
					     "a.20260131235959.bin",
					     "a.20260131235959.1.bin" };
	struct stat st;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		write_trace(names[i]);
	write_bytes("a.2.bin", "a,b,c\n1,2,3\n", 12);
	write_bytes("a.3.bin", "TRC", 3);
	write_bytes("a.4.bin", "", 0);
	write_gzip("a.5.bin.gz", "text that is packed", 19);
	write_trace("a.6.bin.zst");
	write_trace("elsewhere");
	cr_assert_eq(symlink("elsewhere", "a.7.bin"), 0);
	cr_assert_eq(symlink("nowhere", "a.8.bin.active"), 0);
	cr_assert_eq(mkdir("a.9.bin", 0700), 0);
	cr_assert_eq(mkfifo("a.10.bin", 0600), 0);
	cr_assert_eq(mkfifo("a.11.bin.active", 0600), 0);
	open_set();
	cr_expect_eq(file_set_cnt(set), 0);
	cr_expect(!file_set_drop_oldest(set));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cr_expect(is_there(names[i]), "%s", names[i]);
	cr_expect(is_there("a.2.bin") && is_there("a.7.bin") && is_there("a.10.bin"));
	cr_expect(!lstat("a.8.bin.active", &st) && S_ISLNK(st.st_mode));
	cr_expect(!lstat("a.11.bin.active", &st) && S_ISFIFO(st.st_mode));
}

Test(file_set, files_of_another_owner_are_ignored)
{
	struct file_set_file f;

	if (geteuid())
		cr_skip_test("files of others are made by root");
	write_trace("a.1.bin");
	write_trace("a.2.bin");
	write_trace("a.3.bin.active");
	cr_assert_eq(chown("a.1.bin", 1, 1), 0);
	cr_assert_eq(chown("a.3.bin.active", 1, 1), 0);
	open_set();
	cr_expect_eq(file_set_cnt(set), 1);
	cr_expect(is_there("a.3.bin.active"));
	cr_assert_eq(file_set_create(set, &f), 0);
	cr_expect_eq(f.number, 4, "after the number of our own, free of the other's");
	file_set_discard(set, &f);
	close(f.fd);
	file_set_free(set);
	cfg.uid = cfg.gid = 1;
	open_set();
	cr_expect_eq(file_set_cnt(set), 3, "of whom the files are to be, and our own");
	cr_expect(is_there("a.3.bin"));
}

/* Each start has its own name then. */
Test(file_set, runs_with_time_stamps_are_one_set)
{
	static const char *const names[] = { "a.20260131235959.7.bin", "a.20260201000000.0.bin",
					     "a.20270101000000.2.bin" };
	struct file_set_file f;

	for (size_t i = 0; i < 3; i++)
		write_trace(names[i]);
	write_trace("a.5.bin");
	cfg.stamp = "20270101000000";
	open_set();
	cr_expect_eq(file_set_cnt(set), 3);
	cr_assert_eq(file_set_create(set, &f), 0);
	cr_expect(is_there("a.20270101000000.3.bin.active"));
	cr_expect_eq(file_set_finish(set, &f, "", 1), 0);
	close(f.fd);
	cr_expect_str_eq(drop_all(names, 3), "a.20260131235959.7.bin a.20260201000000.0.bin "
					     "a.20270101000000.2.bin ");
	cr_expect(is_there("a.5.bin"));
}

Test(file_set, numbers_continue_after_all_existing_numbers)
{
	struct file_set_file f;

	write_trace("a.3.bin");
	write_trace("a.7.bin.old");
	write_trace("a.9223372036854775806.bin");
	write_trace("a.20260131235959.bin");
	open_set();
	cr_assert_eq(file_set_create(set, &f), 0);
	cr_expect_eq(f.number, 8);
	cr_expect(is_there("a.8.bin.active"));
	file_set_discard(set, &f);
	close(f.fd);
	cr_expect(!is_there("a.8.bin.active"));
	cr_assert_eq(file_set_create(set, &f), 0);
	cr_expect_eq(f.number, 8);
	close(f.fd);
}

Test(file_set, files_of_a_killed_recorder_are_finished)
{
	static const char *const names[] = { "a.1.bin", "a.2.bin.gz", "a.3.bin.zst" };

	write_trace("a.1.bin.active");
	write_gzip("a.2.bin.active", TRACE, sizeof(TRACE));
	write_zstd("a.3.bin.active", TRACE, sizeof(TRACE));
	write_bytes("a.4.bin.active", "", 0);
	write_bytes("a.5.bin.active", "notes", 5);
	open_set();
	cr_expect_eq(file_set_cnt(set), 3);
	cr_expect(!is_there("a.1.bin.active") && !is_there("a.2.bin.active"));
	cr_expect(!is_there("a.3.bin.active") && !is_there("a.4.bin.active"));
	cr_expect(is_there("a.5.bin.active"));
	cr_expect_str_eq(drop_all(names, 3), "a.1.bin a.2.bin.gz a.3.bin.zst ");
}

Test(file_set, existing_file_is_not_replaced_by_an_unfinished_file)
{
	write_trace("a.1.bin");
	write_trace("a.1.bin.active");
	open_set();
	cr_expect_eq(file_set_cnt(set), 1);
	cr_expect(is_there("a.1.bin.active"));
}

/* Locks belong to the opened file, so two sets in one process are like two processes. */
Test(file_set, two_recorders_of_one_name_do_not_touch_each_others_files)
{
	struct file_set *other = NULL;
	struct file_set_file ours, theirs, next;

	open_set();
	cr_assert_eq(file_set_create(set, &ours), 0);
	cr_assert_eq(write(ours.fd, TRACE, sizeof(TRACE)), (ssize_t)sizeof(TRACE));
	cr_assert_eq(file_set_open(&cfg, &other), 0);
	cr_expect(is_there("a.0.bin.active"));
	cr_expect_eq(file_set_cnt(other), 0);
	cr_assert_eq(file_set_create(other, &theirs), 0);
	cr_expect_eq(theirs.number, 1);
	cr_assert_eq(write(theirs.fd, TRACE, sizeof(TRACE)), (ssize_t)sizeof(TRACE));
	cr_expect_eq(file_set_finish(other, &theirs, "", sizeof(TRACE)), 0);
	close(theirs.fd);
	/* 1 is used, and finished already */
	cr_assert_eq(file_set_create(set, &next), 0);
	cr_expect_eq(next.number, 2);
	cr_expect(!is_there("a.1.bin.active") && is_there("a.1.bin"));
	cr_expect_eq(file_set_finish(set, &ours, "", sizeof(TRACE)), 0);
	close(ours.fd);
	close(next.fd);
	cr_expect_eq(file_set_cnt(set), 1);
	cr_expect_eq(file_set_cnt(other), 1);
	file_set_free(other);
}

Test(file_set, file_that_was_replaced_is_not_deleted)
{
	write_trace("a.1.bin");
	write_trace("a.2.bin");
	write_trace("a.3.bin");
	open_set();
	write_trace("other");
	cr_assert_eq(rename("other", "a.1.bin"), 0);
	cr_assert_eq(unlink("a.2.bin"), 0);
	file_set_refresh(set);
	cr_expect_eq(file_set_cnt(set), 1);
	cr_expect_eq(file_set_bytes(set), sizeof(TRACE));
	write_trace("other");
	cr_assert_eq(rename("other", "a.3.bin"), 0);
	cr_expect(!file_set_drop_oldest(set));
	cr_expect(is_there("a.1.bin") && is_there("a.3.bin"));
	cr_expect_eq(file_set_cnt(set), 0);
}
