// SPDX-License-Identifier: BSD-2-Clause
/* Recordings that are sent: connections, and what happens if the reader stops. */
#include "record/output/stream.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/out_file.h"
#include "tests/record/support.h"

#define SECOND_NS 1000000000ULL

static char dir[] = "/tmp/d9-stream-XXXXXX";
static char path[64];

static void setup(void)
{
	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "unix:%s/s", dir);
}

static void teardown(void)
{
	unlink(path + 5);
	rmdir(dir);
}

TestSuite(stream, .init = setup, .fini = teardown, .timeout = 60);

static int listen_unix(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(addr.sun_path, path + 5);
	cr_assert_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	cr_assert_eq(listen(fd, 1), 0);
	return fd;
}

/* A connected pair: data sent to *sink arrives at the returned descriptor. */
static int connect_pair(struct out_file **sink)
{
	int at = listen_unix(), fd = -1, far;

	cr_assert_eq(stream_connect(path, SECOND_NS, &fd), 0);
	far = accept(at, NULL, NULL);
	cr_assert_geq(far, 0);
	close(at);
	*sink = out_file_adopt(fd, path);
	return far;
}

Test(stream, streams_are_recognized_by_their_prefix)
{
	cr_expect(stream_is("unix:/run/x"));
	cr_expect(stream_is("tcp:host:1"));
	cr_expect_not(stream_is("tcp"));
	cr_expect_not(stream_is("./unix:x"));
}

/* A name that looks like an unknown kind of stream is not silently used as a file name. */
Test(stream, misspelled_stream_names_are_refused_before_anything_is_done)
{
	static const char *const wrong[] = { "udp:1:2",	    "TCP:host:1", "https://host/x",
					     "tcp4:h:1",    "tcp:host",	  "tcp:host:",
					     "tcp::80",	    "tcp:",	  "tcp:h:0",
					     "tcp:h:65536", "tcp:[::1]",  "unix:" };
	static const char *const right[] = { "tcp:h:1",	    "tcp:h:65535",
					     "tcp:h:http",  "tcp:[::1]:80",
					     "unix:x",	    "./udp:1:2",
					     "/tmp/udp:1",  "run-12:30.bin",
					     "12:30.bin",   "a:b",
					     "dial9.bin",   "-",
					     "dir/a.b:c:d", "",
					     "a_b:c",	    "10h30:x" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_expect(stream_name_is_wrong(wrong[i]), "%s", wrong[i]);
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		cr_expect_not(stream_name_is_wrong(right[i]), "%s", right[i]);
}

Test(stream, written_data_arrives)
{
	volatile bool give_up = false;
	struct out_file *sink;
	char text[8] = "";
	int far = connect_pair(&sink);

	out_file_wait_until(sink, &give_up);
	cr_assert_eq(out_file_write(sink, "trace", 5), 0);
	cr_assert_eq(out_file_close(sink), 0);
	cr_expect_eq(read(far, text, sizeof(text)), 5);
	cr_expect_str_eq(text, "trace");
	cr_expect_eq(read(far, text, sizeof(text)), 0);
	close(far);
}

Test(stream, tcp_has_a_host_and_a_port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int at = socket(AF_INET, SOCK_STREAM, 0), fd = -1;
	socklen_t sz = sizeof(addr);
	char name[64];

	cr_assert_eq(bind(at, (struct sockaddr *)&addr, sz), 0);
	cr_assert_eq(getsockname(at, (struct sockaddr *)&addr, &sz), 0);
	snprintf(name, sizeof(name), "tcp:127.0.0.1:%u", ntohs(addr.sin_port));
	support_catch_stderr();
	cr_expect_eq(stream_connect(name, SECOND_NS, &fd), -ECONNREFUSED);
	cr_expect(strstr(support_stderr(), "Connection refused (is a listener running?)\n"));
	cr_assert_eq(listen(at, 1), 0);
	cr_assert_eq(stream_connect(name, SECOND_NS, &fd), 0);
	close(fd);
	close(at);
}

Test(stream, malformed_stream_names_are_refused)
{
	static const char *const names[] = { "tcp:host", "tcp:host:", "tcp::80", "tcp:", "unix:" };
	char longer[300] = "unix:/";
	int fd = -1;

	support_catch_stderr();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cr_expect_lt(stream_connect(names[i], SECOND_NS, &fd), 0, "%s", names[i]);
	memset(longer + 6, 'x', sizeof(longer) - 7);
	cr_expect_eq(stream_connect(longer, SECOND_NS, &fd), -ENAMETOOLONG);
	cr_expect_eq(stream_connect("unix:/nonexistent", SECOND_NS, &fd), -ENOENT);
	support_stderr();
}

/* An unused network: there is no route to it, or no answer. */
Test(stream, connect_has_a_timeout)
{
	int fd = -1;

	support_catch_stderr();
	cr_expect_lt(stream_connect("tcp:192.0.2.1:9", SECOND_NS / 20, &fd), 0);
	cr_expect(strstr(support_stderr(), "cannot connect to tcp:192.0.2.1:9: "));
}

Test(stream, closed_connection_is_an_error_and_is_reported)
{
	volatile bool give_up = false;
	struct out_file *sink;
	int far = connect_pair(&sink), err = 0;

	out_file_wait_until(sink, &give_up);
	close(far);
	support_catch_stderr();
	for (int i = 0; i < 3 && !err; i++)
		err = out_file_write(sink, "trace", 5);
	cr_expect_eq(err, -ECONNRESET);
	cr_expect(strstr(support_stderr(), "the other end closed the connection"));
	cr_assert_eq(out_file_close(sink), 0);
}

static volatile bool given_up;

static void on_alarm(int sig)
{
	given_up = true;
}

Test(stream, write_waits_for_a_slow_reader_until_it_is_given_up)
{
	static char block[1 << 20];
	const struct itimerval soon = { .it_value.tv_usec = 200000 };
	struct out_file *sink;
	int far = connect_pair(&sink), err = 0;

	out_file_wait_until(sink, &given_up);
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &soon, NULL);
	support_catch_stderr();
	for (int i = 0; i < 64 && !err; i++)
		err = out_file_write(sink, block, sizeof(block));
	cr_expect_eq(err, -ETIMEDOUT);
	cr_expect(strstr(support_stderr(), "the other end does not read"));
	cr_assert_eq(out_file_close(sink), 0);
	close(far);
}
