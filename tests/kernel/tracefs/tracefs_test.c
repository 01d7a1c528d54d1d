// SPDX-License-Identifier: BSD-2-Clause
/* A directory that looks like tracefs: ids, the order of the walk, and files that are no events. */
#include "kernel/tracefs/tracefs.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "kernel/tracefs/format.h"

static char top[] = "/tmp/d9_tracefs_XXXXXX";
static int dirfd = -1;

static void make_dir(const char *path)
{
	cr_assert_eq(mkdirat(dirfd, path, 0700), 0, "%s", path);
}

static void make_file(const char *path, const char *text)
{
	int fd = openat(dirfd, path, O_CREAT | O_EXCL | O_WRONLY, 0600);

	cr_assert_geq(fd, 0, "%s", path);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void setup(void)
{
	cr_assert_not_null(mkdtemp(top));
	dirfd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(dirfd, 0);
	make_dir("events");
}

static void teardown(void)
{
	char cmd[64];

	close(dirfd);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", top);
	cr_assert_eq(system(cmd), 0);
}

TestSuite(tracefs, .init = setup, .fini = teardown);

/* Directories come in any order, so more than a few are needed to see that they are sorted. */
static void make_event(const char *system, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "events/%s", system);
	mkdirat(dirfd, path, 0700);
	snprintf(path, sizeof(path), "events/%s/%s", system, name);
	make_dir(path);
	snprintf(path, sizeof(path), "events/%s/%s/format", system, name);
	make_file(path, "");
}

static int list(const char *system, const char *name, void *ctx)
{
	buf_printf(ctx, "%s:%s ", system, name);
	return 0;
}

static int next_fd(void)
{
	int fd = dup(dirfd);

	cr_assert_geq(fd, 0);
	close(fd);
	return fd;
}

Test(tracefs, events_are_sorted_by_system_and_name)
{
	static const char *const names[] = { "delta", "alpha", "echo", "charlie", "bravo" };
	struct buf b = { 0 };
	int before = next_fd();

	for (size_t i = 0; i < 5; i++)
		for (size_t j = 0; j < 5; j++)
			make_event(names[(i * 2) % 5], names[(j * 3 + i) % 5]);
	cr_assert_eq(tracefs_each_event(dirfd, list, &b), 0);
	cr_assert_str_eq(b.data,
			 "alpha:alpha alpha:bravo alpha:charlie alpha:delta alpha:echo "
			 "bravo:alpha bravo:bravo bravo:charlie bravo:delta bravo:echo "
			 "charlie:alpha charlie:bravo charlie:charlie charlie:delta charlie:echo "
			 "delta:alpha delta:bravo delta:charlie delta:delta delta:echo "
			 "echo:alpha echo:bravo echo:charlie echo:delta echo:echo ");
	cr_assert_eq(next_fd(), before);
	buf_free(&b);
}

Test(tracefs, files_that_are_no_events_are_skipped)
{
	struct buf b = { 0 };

	make_event("sys", "event");
	make_dir("events/empty");
	make_dir("events/sys/bare");
	make_event(".hidden", "event");
	make_event("sys", ".hidden");
	make_file("events/enable", "0\n");
	make_file("events/sys/filter", "none\n");
	cr_assert_eq(tracefs_each_event(dirfd, list, &b), 0);
	cr_assert_str_eq(b.data, "sys:event ");
	buf_free(&b);
}

Test(tracefs, empty_events_directory_is_no_error_but_a_missing_directory_is)
{
	struct buf b = { 0 };

	cr_assert_eq(tracefs_each_event(dirfd, list, &b), 0);
	cr_assert_eq(b.len, 0);
	cr_assert_eq(unlinkat(dirfd, "events", AT_REMOVEDIR), 0);
	cr_assert_eq(tracefs_each_event(dirfd, list, &b), -ENOENT);
	buf_free(&b);
}

static int stop_at_second(const char *system, const char *name, void *ctx)
{
	return ++*(int *)ctx == 2 ? 42 : 0;
}

Test(tracefs, callback_ends_the_walk_within_a_system_and_between_systems)
{
	int calls = 0;

	make_event("a", "one");
	make_event("a", "three");
	make_event("a", "two");
	make_event("b", "one");
	cr_assert_eq(tracefs_each_event(dirfd, stop_at_second, &calls), 42);
	cr_assert_eq(calls, 2);
}

static int id_of(const char *system, const char *name, uint32_t *id)
{
	*id = 7;
	return tracefs_event_id(dirfd, system, name, id);
}

Test(tracefs, id_is_a_number_of_32_bits_and_a_newline)
{
	static const struct {
		const char *name, *text;
		int err;
		uint32_t id;
	} cases[] = {
		{ "plain", "316\n", 0, 316 },
		{ "bare", "317", 0, 317 },
		{ "largest", "4294967295\n", 0, 4294967295 },
		{ "larger", "4294967296\n", -ERANGE, 7 },
		{ "words", "many\n", -EINVAL, 7 },
		{ "two", "1\n2\n", -EINVAL, 7 },
		{ "lines", "1\n\n", -EINVAL, 7 },
		{ "nothing", "", -EINVAL, 7 },
		{ "newline", "\n", -EINVAL, 7 },
	};
	char path[128];
	uint32_t id;

	make_dir("events/sys");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(path, sizeof(path), "events/sys/%s", cases[i].name);
		make_dir(path);
		strcat(path, "/id");
		make_file(path, cases[i].text);
		cr_expect_eq(id_of("sys", cases[i].name, &id), cases[i].err, "%s", cases[i].name);
		cr_expect_eq(id, cases[i].id, "%s", cases[i].name);
	}
	cr_expect_eq(id_of("sys", "absent", &id), -ENOENT);
}

/* Each of these would open an existing file. */
Test(tracefs, names_with_path_separators_are_refused)
{
	char longest[257];
	uint32_t id;

	make_dir("events/sys");
	make_dir("events/sys/ev");
	make_dir("events/sys/.ev");
	make_file("events/sys/ev/id", "1\n");
	make_file("events/sys/.ev/id", "1\n");
	make_file("events/sys/id", "1\n");
	make_dir("events/id");
	cr_expect_eq(id_of("sys", "ev", &id), 0);
	cr_expect_eq(id_of("sys", ".ev", &id), -EINVAL);
	cr_expect_eq(id_of("../events/sys", "ev", &id), -EINVAL);
	cr_expect_eq(id_of("sys", "../sys/ev", &id), -EINVAL);
	cr_expect_eq(id_of("sys", "", &id), -EINVAL);
	cr_expect_eq(id_of("", "sys", &id), -EINVAL);
	cr_expect_eq(id_of(".", "sys", &id), -EINVAL);
	memset(longest, 'x', 256);
	longest[256] = '\0';
	cr_expect_eq(id_of("sys", longest, &id), -EINVAL);
	cr_expect_eq(id_of(longest, "ev", &id), -EINVAL);
	longest[255] = '\0';
	cr_expect_eq(id_of("sys", longest, &id), -ENOENT);
}

Test(tracefs, file_is_appended_whole)
{
	struct buf b = { 0 };

	make_file("events/header_page", "one\ntwo\n");
	buf_addstr(&b, "zero\n");
	cr_assert_eq(tracefs_read(dirfd, "events/header_page", &b), 0);
	cr_assert_str_eq(b.data, "zero\none\ntwo\n");
	cr_assert_eq(tracefs_read(dirfd, "events/absent", &b), -ENOENT);
	cr_assert_eq(tracefs_read(dirfd, "events", &b), -EISDIR);
	buf_free(&b);
}

Test(tracefs, missing_or_invalid_format_is_reported_with_its_event)
{
	static const char want[] =
		"dial9-prof: cannot read the format of sys:absent: No such file or directory\n"
		"dial9-prof: cannot use sys:ev: the text is not a format description\n";
	struct format_event *ev = NULL;

	make_event("sys", "ev");
	cr_redirect_stderr();
	cr_expect_eq(format_load(dirfd, "sys", "absent", &ev), -ENOENT);
	cr_expect_eq(format_load(dirfd, "sys", "ev", &ev), -EBADMSG);
	cr_expect_null(ev);
	fflush(stderr);
	cr_assert_stderr_eq_str(want);
}
