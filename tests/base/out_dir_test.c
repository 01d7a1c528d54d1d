// SPDX-License-Identifier: BSD-2-Clause
/* Files of a directory: all get their names, or nothing is left. */
#include "base/out_dir.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/buf.h"
#include "base/file.h"
#include "tests/support/temp_dir.h"

TestSuite(out_dir, .init = cr_redirect_stderr);

struct place {
	char top[64], dir[80];
};

static struct place place(void)
{
	struct place p;

	temp_dir_make(p.top, sizeof(p.top));
	snprintf(p.dir, sizeof(p.dir), "%s/out", p.top);
	return p;
}

static bool is_there(const struct place *p, const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	return !access(path, F_OK);
}

Test(out_dir, files_get_their_names_at_the_end)
{
	struct out_dir_file *a, *b;
	struct place p = place();
	struct buf text = { 0 };
	struct stat st;
	struct out_dir *d;
	char path[160];

	cr_assert_eq(out_dir_open(p.dir, &d), 0);
	cr_assert_eq(out_dir_file_new(d, "x/y/a", &a), 0);
	cr_assert_eq(out_dir_file_new(d, "x/b", &b), 0);
	cr_assert_eq(out_dir_append(a, "one", 3), 0);
	cr_assert_eq(out_dir_append(b, "other", 5), 0);
	cr_assert_eq(out_dir_append(a, "two", 3), 0);
	cr_expect(is_there(&p, "x/y/a.tmp") && !is_there(&p, "x/y/a"));
	cr_assert_eq(out_dir_commit(d), 0);
	out_dir_free(d);
	cr_expect(is_there(&p, "x/y/a") && is_there(&p, "x/b"));
	cr_expect(!is_there(&p, "x/y/a.tmp") && !is_there(&p, "x/b.tmp"));
	snprintf(path, sizeof(path), "%s/x/y/a", p.dir);
	cr_assert_eq(file_read(AT_FDCWD, path, 100, &text), 0);
	cr_expect_str_eq(buf_cstr(&text), "onetwo");
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_mode & 0777, 0600);
	buf_free(&text);
	temp_dir_remove(p.top);
}

Test(out_dir, without_the_end_nothing_is_left)
{
	struct out_dir_file *f;
	struct place p = place();
	struct out_dir *d;

	cr_assert_eq(out_dir_open(p.dir, &d), 0);
	cr_assert_eq(out_dir_file_new(d, "x/y/a", &f), 0);
	cr_assert_eq(out_dir_append(f, "one", 3), 0);
	out_dir_free(d);
	cr_expect(access(p.dir, F_OK));
	/* a directory that was there stays, empty */
	cr_assert_eq(mkdir(p.dir, 0700), 0);
	cr_assert_eq(out_dir_open(p.dir, &d), 0);
	cr_assert_eq(out_dir_file_new(d, "x/y/a", &f), 0);
	out_dir_free(d);
	cr_expect(!rmdir(p.dir));
	temp_dir_remove(p.top);
}

Test(out_dir, a_directory_with_files_is_refused)
{
	struct place p = place();
	struct out_dir *d = NULL;
	char want[200];

	cr_assert_eq(mkdir(p.dir, 0700), 0);
	cr_assert_eq(out_dir_open(p.top, &d), -ENOTEMPTY);
	snprintf(
		want, sizeof(want),
		"dial9-prof: cannot write %s: the directory is not empty; choose a new one with -o\n",
		p.top);
	cr_expect_null(d);
	fflush(stderr);
	cr_assert_stderr_eq_str(want);
	temp_dir_remove(p.top);
}

Test(out_dir, hidden_files_count)
{
	struct place p = place();
	struct out_dir *d;
	char path[160];

	cr_assert_eq(mkdir(p.dir, 0700), 0);
	snprintf(path, sizeof(path), "%s/.hidden", p.dir);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	cr_expect_eq(out_dir_open(p.dir, &d), -ENOTEMPTY);
	cr_expect_eq(out_dir_open(path, &d), -ENOTDIR);
	snprintf(path, sizeof(path), "%s/no/where", p.dir);
	cr_expect_eq(out_dir_open(path, &d), -ENOENT);
	temp_dir_remove(p.top);
}

/* The second file does not fit: the first one does not get its name either, and one line is printed. */
Test(out_dir, after_an_error_nothing_is_left)
{
	const struct rlimit limit = { 100, 100 };
	static const char bytes[200];
	struct out_dir_file *a, *b;
	struct place p = place();
	struct out_dir *d;
	char want[200];

	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(out_dir_open(p.dir, &d), 0);
	cr_assert_eq(out_dir_file_new(d, "x/a", &a), 0);
	cr_assert_eq(out_dir_file_new(d, "x/b", &b), 0);
	cr_assert_eq(out_dir_append(a, "one", 3), 0);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_expect_eq(out_dir_append(b, bytes, sizeof(bytes)), -EFBIG);
	cr_expect_eq(out_dir_append(a, "two", 3), -EFBIG);
	cr_expect_eq(out_dir_error(d), -EFBIG);
	cr_expect_eq(out_dir_commit(d), -EFBIG);
	out_dir_free(d);
	cr_expect(access(p.dir, F_OK));
	snprintf(want, sizeof(want), "dial9-prof: cannot write %s/x/b: File too large\n", p.dir);
	fflush(stderr);
	cr_assert_stderr_eq_str(want);
	temp_dir_remove(p.top);
}

/* Of the second file the name is taken, by a directory that holds something: the first one loses its name. */
Test(out_dir, one_name_that_is_taken_takes_all)
{
	struct out_dir_file *a, *b;
	struct place p = place();
	struct out_dir *d;
	char path[160];

	cr_assert_eq(out_dir_open(p.dir, &d), 0);
	cr_assert_eq(out_dir_file_new(d, "a", &a), 0);
	cr_assert_eq(out_dir_file_new(d, "b", &b), 0);
	snprintf(path, sizeof(path), "%s/b", p.dir);
	cr_assert_eq(mkdir(path, 0700), 0);
	cr_expect_lt(out_dir_commit(d), 0);
	out_dir_free(d);
	cr_expect(!is_there(&p, "a") && !is_there(&p, "a.tmp") && !is_there(&p, "b.tmp"));
	temp_dir_remove(p.top);
}
