// SPDX-License-Identifier: BSD-2-Clause
/* Commands from outside: perf's commands, acknowledgements, and attempts of hostile writers. */
#include "record/control/control.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/d9-control-XXXXXX";

static void setup(void)
{
	cr_redirect_stderr();
	unsetenv("SUDO_UID");
	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(chdir(dir), 0);
	umask(022);
	cr_assert_eq(mkfifo("in", 0600), 0);
	cr_assert_eq(mkfifo("out", 0600), 0);
}

static void teardown(void)
{
	unlink("in");
	unlink("out");
	unlink("link");
	unlink("file");
	cr_expect_eq(rmdir(dir), 0);
}

TestSuite(control, .init = setup, .fini = teardown, .timeout = 20);

static struct control *opened(const char *text)
{
	struct control *c = NULL;

	cr_assert_eq(control_open(text, &c), 0);
	return c;
}

static void send_text(int fd, const char *text)
{
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

Test(control, each_perf_control_command_is_known_and_acknowledged)
{
	struct control *c = opened("fifo:in,out");
	int in = open("in", O_WRONLY), out = open("out", O_RDONLY | O_NONBLOCK);
	char text[64] = "";

	cr_expect_eq(control_next(c), CONTROL_NONE);
	send_text(in, "enable\ndisable \nsnapshot\r\n\nping\nstop\nstart\npause\nquit\nsto");
	cr_expect_eq(control_next(c), CONTROL_ENABLE);
	cr_expect_eq(control_next(c), CONTROL_DISABLE);
	cr_expect_eq(control_next(c), CONTROL_SNAPSHOT);
	cr_expect_eq(control_next(c), CONTROL_PING);
	control_ack(c);
	cr_expect_eq(control_next(c), CONTROL_STOP);
	control_ack(c);
	cr_expect_eq(control_next(c), CONTROL_ENABLE);
	cr_expect_eq(control_next(c), CONTROL_DISABLE);
	cr_expect_eq(control_next(c), CONTROL_STOP);
	cr_expect_eq(control_next(c), CONTROL_NONE, "a line has an end");
	send_text(in, "p\n");
	cr_expect_eq(control_next(c), CONTROL_STOP, "which may come later");
	cr_expect_eq(read(out, text, sizeof(text)), 8);
	cr_expect_str_eq(text, "ack\nack\n");
	close(in);
	cr_expect_eq(control_next(c), CONTROL_NONE);
	in = open("in", O_WRONLY);
	send_text(in, "ping\n");
	cr_expect_eq(control_next(c), CONTROL_PING, "writers come and go");
	close(in);
	close(out);
	control_close(c);
}

Test(control, unknown_commands_are_skipped)
{
	struct control *c = opened("fifo:in");
	int in = open("in", O_WRONLY), rounds = 0;
	char junk[4096];

	send_text(in, "enabled\nENABLE\n enable\nenable x\nenabl\n");
	cr_assert_eq(write(in, "enable\0\nping\n", 13), 13);
	cr_expect_eq(control_next(c), CONTROL_PING);
	memset(junk, 'e', sizeof(junk));
	cr_assert_eq(write(in, junk, sizeof(junk)), (ssize_t)sizeof(junk));
	cr_assert_eq(write(in, junk, sizeof(junk)), (ssize_t)sizeof(junk));
	send_text(in, "\nstop\n");
	while (control_next(c) == CONTROL_NONE)
		cr_assert_lt(++rounds, 10);
	cr_expect_geq(rounds, 2, "a part of it in each round");
	control_ack(c);
	close(in);
	control_close(c);
}

Test(control, fifo_that_another_user_could_have_created_is_refused)
{
	struct control *c = NULL;
	int fd;

	cr_assert_eq(symlink("in", "link"), 0);
	cr_expect_eq(control_open("fifo:link", &c), -ELOOP);
	fd = open("file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	cr_expect_eq(control_open("fifo:file", &c), -EINVAL);
	cr_expect_eq(control_open("fifo:none", &c), -ENOENT);
	cr_assert_eq(chmod("in", 0602), 0);
	cr_expect_eq(control_open("fifo:in", &c), -EPERM);
	cr_assert_eq(chmod("in", 0600), 0);
	cr_expect_eq(control_open("fifo:in,link", &c), -ELOOP);
	if (!geteuid()) {
		cr_assert_eq(chown("in", 4242, 4242), 0);
		cr_expect_eq(control_open("fifo:in", &c), -EPERM);
		setenv("SUDO_UID", "4242", 1);
		setenv("SUDO_GID", "4242", 1);
		cr_expect_eq(control_open("fifo:in", &c), 0);
		control_close(c);
	}
}

Test(control, descriptors_end_with_their_writer)
{
	struct control *c;
	char text[64], answer[8] = "";
	int in[2], out[2];

	cr_assert_eq(pipe(in), 0);
	cr_assert_eq(pipe(out), 0);
	snprintf(text, sizeof(text), "fd:%d,%d", in[0], out[1]);
	c = opened(text);
	send_text(in[1], "ping\n");
	cr_expect_eq(control_next(c), CONTROL_PING);
	control_ack(c);
	cr_expect_eq(read(out[0], answer, sizeof(answer)), 4);
	cr_expect_str_eq(answer, "ack\n");
	cr_expect_eq(control_next(c), CONTROL_NONE);
	send_text(in[1], "disable\n");
	close(in[1]);
	cr_expect_eq(control_next(c), CONTROL_DISABLE);
	cr_expect_eq(control_next(c), CONTROL_NONE);
	cr_expect_eq(control_next(c), CONTROL_NONE);
	control_close(c);
}

Test(control, malformed_specifications_are_refused)
{
	static const char *const bad[] = {
		"",    "fifo:", "fifo:,x", "fifo:a,",	     "fifo:a,b,c",
		"fd:", "fd:x",	"fd:-1",   "fd:1,",	     "fd:1,2,3",
		"in",  "fifo",	"FIFO:a",  "fd:99999999999", "fifo:a,a"
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(control_check(bad[i]), -EINVAL, "%s", bad[i]);
	cr_expect_eq(control_check("fifo:a,b"), 0);
	cr_expect_eq(control_check("fd:3,4"), 0);
}
