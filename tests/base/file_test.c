// SPDX-License-Identifier: BSD-2-Clause
/* Files read at once: whole files, the first bytes of an endless file, and empty files. */
#include "base/file.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"

/* The number of the next descriptor: unchanged if none was left open. */
static int next_fd(void)
{
	int fd = dup(0);

	cr_assert_geq(fd, 0);
	close(fd);
	return fd;
}

Test(file, file_of_several_chunks_is_appended_whole)
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

/* The recorder reads thousands of short files in /proc. */
Test(file, short_file_takes_little_memory)
{
	struct buf b = { 0 };

	cr_assert_eq(file_read(AT_FDCWD, "/proc/self/statm", 1 << 20, &b), 0);
	cr_expect_gt(b.len, 0);
	cr_expect_leq(b.cap, 16384);
	buf_free(&b);
}

Test(file, file_read_stops_at_the_requested_size)
{
	static const size_t max[] = { 0,    1,	  4095,	 4096,	4097,  8191,
				      8192, 8193, 65535, 65536, 65537, 200000 };

	for (size_t i = 0; i < sizeof(max) / sizeof(max[0]); i++) {
		struct buf b = { 0 };

		buf_addstr(&b, "head");
		cr_assert_eq(file_read(AT_FDCWD, "/dev/zero", max[i], &b), 0);
		cr_expect_eq(b.len, 4 + max[i]);
		buf_free(&b);
	}
}

Test(file, empty_file_is_an_empty_string)
{
	struct buf b = { 0 };

	cr_assert_eq(file_read(AT_FDCWD, "/dev/null", 100, &b), 0);
	cr_assert_eq(b.len, 0);
	cr_assert_not_null(b.data);
	cr_assert_str_eq(b.data, "");
	buf_free(&b);
}

Test(file, failed_read_returns_the_reason)
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

Test(file, signal_does_not_end_a_read)
{
	const struct itimerval often = { { 0, 10000 }, { 0, 10000 } }, never = { 0 };
	struct sigaction act = { .sa_handler = on_alarm };
	char path[64];
	struct buf b = { 0 };
	int fds[2];

	cr_assert_eq(pipe(fds), 0);
	writer = fds[1];
	/* Opened again, the reading end is closed together with the writing end. */
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

static void on_tick(int sig)
{
	char c = '.';

	ticks++;
	if (write(writer, &c, 1) < 0)
		return; /* the reader has left: enough writes were read */
}

static int bytes_in(int fd)
{
	int n = 0;

	cr_assert_eq(ioctl(fd, FIONREAD, &n), 0);
	return n;
}

Test(file, write_is_whole_in_spite_of_signals)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	static char bytes[1 << 20], back[1 << 20];
	struct sigaction act = { .sa_handler = on_tick };
	int fds[2], notice[2], status, room;
	size_t got = 0;
	ssize_t n;
	pid_t pid;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7 + i / 256);
	cr_assert_eq(pipe(fds), 0);
	cr_assert_eq(pipe2(notice, O_NONBLOCK), 0);
	room = fcntl(fds[1], F_GETPIPE_SZ);
	pid = fork();
	if (!pid) {
		close(fds[0]);
		writer = notice[1];
		sigaction(SIGALRM, &act, NULL);
		setitimer(ITIMER_REAL, &often, NULL);
		n = file_write(fds[1], bytes, sizeof(bytes));
		setitimer(ITIMER_REAL, &never, NULL);
		_exit(n || !ticks);
	}
	close(fds[1]);
	/* The writer waits for room: from here on the second signal interrupts it. */
	while (bytes_in(fds[0]) < room)
		sched_yield();
	while (read(notice[0], back, sizeof(back)) > 0)
		;
	for (int i = 0; i < 2; i++) {
		struct pollfd readable = { .fd = notice[0], .events = POLLIN };

		cr_assert_eq(poll(&readable, 1, 10000), 1);
		cr_assert_eq(read(notice[0], back, 1), 1);
	}
	while ((n = read(fds[0], back + got, sizeof(back) - got)) > 0)
		got += (size_t)n;
	cr_assert_eq(got, sizeof(bytes));
	cr_assert_eq(memcmp(back, bytes, got), 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
	close(fds[0]);
	close(notice[0]);
	close(notice[1]);
}

Test(file, failed_write_returns_the_reason)
{
	int fd = open("/dev/full", O_WRONLY);

	cr_assert_eq(file_write(fd, "x", 1), -ENOSPC);
	cr_assert_eq(file_write(fd, "", 0), 0);
	close(fd);
	cr_assert_eq(file_write(fd, "x", 1), -EBADF);
}

Test(file, reopened_file_has_its_own_offset)
{
	char got[8] = { 0 };
	int fd = file_temp(), again;

	cr_assert_geq(fd, 0);
	cr_assert_eq(file_write(fd, "abcdef", 6), 0);
	again = file_reopen(fd);
	cr_assert_geq(again, 0);
	cr_assert_eq(read(again, got, 3), 3);
	cr_assert_str_eq(got, "abc");
	cr_assert_eq(file_write(fd, "g", 1), 0);
	cr_assert_eq(read(again, got, sizeof(got)), 4);
	cr_assert_eq(memcmp(got, "defg", 4), 0);
	close(again);
	close(fd);
	cr_assert_lt(file_reopen(fd), 0);
}

Test(file, directory_listing_is_sorted_and_skips_hidden_files)
{
	static const char *const made[] = { "t.10", "t.9", ".hidden", "t.100", "a" };
	static const char *const want[] = { "a", "t.9", "t.10", "t.100" };
	char path[] = "/tmp/d9_file_XXXXXX";
	char **names = NULL;
	int dir, before, cnt;

	cr_assert(mkdtemp(path));
	dir = open(path, O_RDONLY | O_DIRECTORY);
	before = next_fd();
	cr_expect_eq(file_names(dir, false, &names), 0);
	file_names_free(names, 0);
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		close(openat(dir, made[i], O_CREAT | O_WRONLY, 0600));
	/* twice: each read starts at the beginning */
	for (int i = 0; i < 2; i++) {
		cnt = file_names(dir, false, &names);
		cr_assert_eq(cnt, 4);
		for (int j = 0; j < cnt; j++)
			cr_expect_str_eq(names[j], want[j]);
		file_names_free(names, cnt);
	}
	cnt = file_names(dir, true, &names);
	cr_assert_eq(cnt, 5);
	cr_expect_str_eq(names[0], ".hidden");
	file_names_free(names, cnt);
	cr_expect_eq(next_fd(), before);
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		unlinkat(dir, made[i], 0);
	close(dir);
	rmdir(path);
	cr_expect_eq(file_names(dir, false, &names), -EBADF);
}

/* 0: as expected */
static int try_null_without_dev(const char *dir)
{
	char c;
	int fd;

	if (getuid() && unshare(CLONE_NEWUSER))
		return 77;
	if (chroot(dir) || chdir("/"))
		return 1;
	fd = file_null(O_RDWR | O_CLOEXEC);
	if (fd < 0 || fcntl(fd, F_GETFD) != FD_CLOEXEC)
		return 2;
	if (write(fd, "x", 1) != -1 || ftruncate(fd, 1) != -1)
		return 3;
	return read(fd, &c, 1) == 0 ? 0 : 4;
}

Test(file, null_file_works_without_dev_null)
{
	char dir[] = "/tmp/d9_null_XXXXXX";
	int status;
	pid_t pid;

	cr_assert_not_null(mkdtemp(dir));
	pid = fork();
	if (!pid)
		_exit(try_null_without_dev(dir));
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	rmdir(dir);
	cr_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		cr_skip_test("no user namespaces here");
	cr_expect_eq(WEXITSTATUS(status), 0);
}
