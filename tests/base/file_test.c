// SPDX-License-Identifier: BSD-2-Clause
/* Files in one piece: all of them, the first bytes of an endless one, and none. */
#include "base/file.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/buf.h"

/* The number that the next file would get: the same again when none was left open. */
static int next_fd(void)
{
	int fd = dup(0);

	cr_assert_geq(fd, 0);
	close(fd);
	return fd;
}

Test(file, a_file_of_several_chunks_is_read_whole_behind_what_is_there)
{
	static char bytes[3 * 65536 + 17];
	char path[] = "/tmp/d9_file_XXXXXX";
	struct buf b = { 0 };
	int fd, before;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7 + i / 256);
	fd = mkstemp(path);
	cr_assert_eq(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	close(fd);
	before = next_fd();
	buf_addstr(&b, "head");
	cr_assert_eq(file_read(AT_FDCWD, path, 1 << 20, &b), 0);
	cr_assert_eq(b.len, 4 + sizeof(bytes));
	cr_assert_eq(memcmp(b.data, "head", 4), 0);
	cr_assert_eq(memcmp(b.data + 4, bytes, sizeof(bytes)), 0);
	cr_assert_eq(b.data[b.len], 0);
	cr_assert_eq(next_fd(), before);
	unlink(path);
	buf_free(&b);
}

Test(file, no_more_is_read_than_was_asked_for)
{
	static const size_t max[] = { 0, 1, 65535, 65536, 65537, 200000 };

	for (size_t i = 0; i < sizeof(max) / sizeof(max[0]); i++) {
		struct buf b = { 0 };

		buf_addstr(&b, "head");
		cr_assert_eq(file_read(AT_FDCWD, "/dev/zero", max[i], &b), 0);
		cr_expect_eq(b.len, 4 + max[i]);
		buf_free(&b);
	}
}

Test(file, an_empty_file_is_an_empty_string)
{
	struct buf b = { 0 };

	cr_assert_eq(file_read(AT_FDCWD, "/dev/null", 100, &b), 0);
	cr_assert_eq(b.len, 0);
	cr_assert_not_null(b.data);
	cr_assert_str_eq(b.data, "");
	buf_free(&b);
}

Test(file, what_cannot_be_read_says_why)
{
	int dir = open("/tmp", O_RDONLY | O_DIRECTORY), before = next_fd();
	struct buf b = { 0 };

	cr_assert_eq(file_read(dir, "no/such/file", 100, &b), -ENOENT);
	cr_assert_eq(file_read(dir, ".", 100, &b), -EISDIR);
	cr_assert_eq(b.len, 0);
	cr_assert_eq(next_fd(), before);
	close(dir);
	buf_free(&b);
}

static int writer = -1;
static volatile sig_atomic_t ticks;

static void on_alarm(int sig)
{
	if (++ticks == 3 && write(writer, "late", 4) == 4)
		close(writer);
}

Test(file, a_signal_does_not_end_a_file)
{
	const struct itimerval often = { { 0, 10000 }, { 0, 10000 } }, never = { 0 };
	struct sigaction act = { .sa_handler = on_alarm };
	char path[64];
	struct buf b = { 0 };
	int fds[2];

	cr_assert_eq(pipe(fds), 0);
	writer = fds[1];
	/* Opened anew, the reading end closes with the one that writes. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	cr_assert_eq(sigaction(SIGALRM, &act, NULL), 0);
	cr_assert_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
	cr_assert_eq(file_read(AT_FDCWD, path, 100, &b), 0);
	cr_assert_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
	cr_assert_geq(ticks, 3);
	cr_assert_str_eq(b.data, "late");
	close(fds[0]);
	buf_free(&b);
}
