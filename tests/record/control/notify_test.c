// SPDX-License-Identifier: BSD-2-Clause
/* The messages to a service manager, received at a socket like its own. */
#include "record/control/notify.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SECOND_NS 1000000000ULL

static char dir[] = "/tmp/d9-notify-XXXXXX";

static void setup(void)
{
	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(chdir(dir), 0);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	signal(SIGPIPE, SIG_IGN);
}

static void teardown(void)
{
	unlink("socket");
	cr_expect_eq(rmdir(dir), 0);
}

TestSuite(notify, .init = setup, .fini = teardown, .timeout = 20);

/* Bound to $NOTIFY_SOCKET, which is a path, or a name of the abstract namespace. */
static int listener(const char *name)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	strcpy(addr.sun_path, name);
	setenv("NOTIFY_SOCKET", name, 1);
	if (*name == '@')
		addr.sun_path[0] = '\0';
	cr_assert_eq(bind(fd, (struct sockaddr *)&addr,
			  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
		     0);
	return fd;
}

static int path_listener(void)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/socket", dir);
	return listener(name);
}

static struct notify *started(const struct notify_cfg *cfg)
{
	struct notify *n = NULL;

	cr_assert_eq(notify_new(cfg, &n), 0);
	return n;
}

static void expect_message(int fd, const char *expected)
{
	char text[512] = "";

	if (recv(fd, text, sizeof(text) - 1, 0) < 0)
		strcpy(text, "(nothing)");
	cr_expect_str_eq(text, expected);
}

static void expect_stderr(const char *expected)
{
	char text[512] = "";
	FILE *f;

	fflush(stderr);
	f = cr_get_redirected_stderr();
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	cr_expect_str_eq(text, expected);
}

Test(notify, readiness_and_end_are_sent_to_a_path)
{
	int fd = path_listener();
	struct notify *n = started(&(struct notify_cfg){ 0 });

	notify_step(n, SECOND_NS, NULL);
	expect_message(fd, "(nothing)");
	notify_ready(n, "/var/a.bin");
	expect_message(fd, "READY=1\nSTATUS=Recording to /var/a.bin\n");
	notify_stopping(n);
	expect_message(fd, "STOPPING=1\nSTATUS=Writing the remaining data\n");
	notify_free(n);
}

Test(notify, abstract_socket_name_is_supported)
{
	char name[64];
	struct notify *n;
	int fd;

	snprintf(name, sizeof(name), "@d9-notify-%d", getpid());
	fd = listener(name);
	n = started(&(struct notify_cfg){ 0 });
	notify_ready(n, NULL);
	expect_message(fd, "READY=1\nSTATUS=Recording\n");
	notify_free(n);
}

Test(notify, file_name_cannot_add_lines)
{
	int fd = path_listener();
	struct notify *n = started(&(struct notify_cfg){ 0 });

	notify_ready(n, "a\nMAINPID=1");
	expect_message(fd, "READY=1\nSTATUS=Recording to a?MAINPID=1\n");
	notify_free(n);
}

Test(notify, started_commands_do_not_inherit_the_variables)
{
	path_listener();
	setenv("WATCHDOG_USEC", "1000000", 1);
	setenv("WATCHDOG_PID", "1", 1);
	notify_free(started(&(struct notify_cfg){ 0 }));
	cr_expect_null(getenv("NOTIFY_SOCKET"));
	cr_expect_null(getenv("WATCHDOG_USEC"));
	cr_expect_null(getenv("WATCHDOG_PID"));
}

Test(notify, watchdog_is_pinged_twice_per_timeout)
{
	int fd = path_listener();
	struct notify *n;

	setenv("WATCHDOG_USEC", "10000000", 1);
	n = started(&(struct notify_cfg){ 0 });
	notify_step(n, 100 * SECOND_NS, NULL);
	expect_message(fd, "WATCHDOG=1");
	notify_step(n, 105 * SECOND_NS - 1, NULL);
	expect_message(fd, "(nothing)");
	notify_step(n, 105 * SECOND_NS, NULL);
	expect_message(fd, "WATCHDOG=1");
	notify_free(n);
}

Test(notify, watchdog_of_another_process_is_ignored)
{
	int fd = path_listener();
	struct notify *n;

	setenv("WATCHDOG_USEC", "10000000", 1);
	setenv("WATCHDOG_PID", "1", 1);
	n = started(&(struct notify_cfg){ 0 });
	notify_step(n, 100 * SECOND_NS, NULL);
	expect_message(fd, "(nothing)");
	notify_free(n);
}

Test(notify, rotation_is_a_reload_until_the_new_file_exists)
{
	volatile sig_atomic_t asked = 3;
	int fd = path_listener();
	struct notify *n = started(&(struct notify_cfg){ .reload_asked = &asked });
	unsigned long long us;
	char text[256] = "";

	notify_reloaded(n);
	notify_ready(n, NULL);
	expect_message(fd, "READY=1\nSTATUS=Recording\n");
	notify_step(n, SECOND_NS, NULL);
	expect_message(fd, "(nothing)");
	asked++;
	notify_step(n, SECOND_NS, NULL);
	cr_assert_gt(recv(fd, text, sizeof(text) - 1, 0), 0);
	cr_expect_eq(sscanf(text, "RELOADING=1\nMONOTONIC_USEC=%llu\n", &us), 1, "%s", text);
	asked++;
	notify_step(n, 2 * SECOND_NS, NULL);
	expect_message(fd, "(nothing)");
	notify_reloaded(n);
	expect_message(fd, "READY=1\n");
	notify_reloaded(n);
	expect_message(fd, "(nothing)");
	notify_free(n);
}

Test(notify, reload_ends_if_no_file_can_be_started)
{
	volatile sig_atomic_t asked = 0;
	int fd = path_listener();
	struct notify *n = started(&(struct notify_cfg){ .reload_asked = &asked });
	char text[256];

	notify_ready(n, NULL);
	expect_message(fd, "READY=1\nSTATUS=Recording\n");
	asked++;
	notify_step(n, 10 * SECOND_NS, NULL);
	cr_expect_gt(recv(fd, text, sizeof(text), 0), 0);
	notify_step(n, 14 * SECOND_NS, NULL);
	expect_message(fd, "(nothing)");
	notify_step(n, 16 * SECOND_NS, NULL);
	expect_message(fd, "READY=1\n");
	notify_free(n);
}

/* Fills the socket: returns how many messages of one byte it accepts. */
static int fill_up(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int other = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0), sent = 0;

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/socket", dir);
	while (sendto(other, "x", 1, 0, (struct sockaddr *)&addr, sizeof(addr)) == 1)
		sent++;
	cr_assert_eq(errno, EAGAIN);
	close(other);
	return sent;
}

Test(notify, messages_without_room_are_sent_later_in_order)
{
	int fd = path_listener(), sent;
	struct notify *n = started(&(struct notify_cfg){ 0 });
	char text[256];

	sent = fill_up();
	notify_ready(n, NULL);
	notify_stopping(n);
	while (sent--)
		cr_assert_eq(recv(fd, text, sizeof(text), 0), 1);
	expect_message(fd, "(nothing)");
	notify_step(n, SECOND_NS, NULL);
	expect_message(fd, "READY=1\nSTATUS=Recording\n");
	expect_message(fd, "STOPPING=1\nSTATUS=Writing the remaining data\n");
	expect_message(fd, "(nothing)");
	notify_free(n);
}

/* One datagram with both would mean that the reload is over before it began. */
Test(notify, unsent_reload_keeps_its_end_in_a_separate_message)
{
	int fd = path_listener(), sent;
	volatile sig_atomic_t asked = 0;
	struct notify *n = started(&(struct notify_cfg){ .reload_asked = &asked });
	char text[256];
	int i, cnt = 0;

	notify_ready(n, NULL);
	expect_message(fd, "READY=1\nSTATUS=Recording\n");
	sent = fill_up();
	for (i = 0; i < 1000; i++) {
		asked++;
		notify_step(n, SECOND_NS, NULL);
		notify_reloaded(n);
	}
	notify_stopping(n);
	while (sent--)
		cr_assert_eq(recv(fd, text, sizeof(text), 0), 1);
	notify_step(n, SECOND_NS, NULL);
	for (;; cnt++) {
		memset(text, 0, sizeof(text));
		cr_assert_gt(recv(fd, text, sizeof(text) - 1, 0), 0);
		if (!strncmp(text, "STOPPING=1\n", strlen("STOPPING=1\n")))
			break;
		if (cnt % 2)
			cr_expect_str_eq(text, "READY=1\n");
		else
			cr_expect(!strncmp(text, "RELOADING=1\nMONOTONIC_USEC=", 27) &&
					  !strstr(text, "READY=1\n"),
				  "%s", text);
	}
	cr_expect_eq(cnt % 2, 0, "each reload has an end");
	cr_expect_leq(cnt, 16);
	cr_expect_gt(cnt, 0);
	notify_free(n);
}

static void expect_refused(const char *value)
{
	struct notify *n;

	setenv("NOTIFY_SOCKET", value, 1);
	n = started(&(struct notify_cfg){ 0 });
	notify_ready(n, NULL);
	notify_step(n, SECOND_NS, NULL);
	notify_free(n);
	expect_stderr(
		"dial9-prof: record: NOTIFY_SOCKET: expected /PATH or @NAME: readiness is not "
		"reported\n");
}

Test(notify, invalid_socket_is_one_warning, .init = cr_redirect_stderr)
{
	expect_refused("run/notify");
}

Test(notify, empty_socket_name_is_one_warning, .init = cr_redirect_stderr)
{
	expect_refused("@");
}

Test(notify, too_long_socket_name_is_one_warning, .init = cr_redirect_stderr)
{
	char name[200];

	memset(name, 'a', sizeof(name));
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	expect_refused(name);
}

Test(notify, missing_receiver_is_one_warning, .init = cr_redirect_stderr)
{
	struct notify *n;

	setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1);
	n = started(&(struct notify_cfg){ 0 });
	notify_ready(n, NULL);
	notify_step(n, SECOND_NS, NULL);
	notify_stopping(n);
	notify_free(n);
	expect_stderr(
		"dial9-prof: record: NOTIFY_SOCKET: cannot send: No such file or directory: the "
		"service manager gets no messages\n");
}

Test(notify, invalid_watchdog_time_is_one_warning, .init = cr_redirect_stderr)
{
	setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1);
	setenv("WATCHDOG_USEC", "10s", 1);
	notify_free(started(&(struct notify_cfg){ 0 }));
	expect_stderr(
		"dial9-prof: record: WATCHDOG_USEC: expected microseconds, at least 1000: the "
		"watchdog gets no pings\n");
}

Test(notify, ready_descriptor_gets_a_newline_and_is_closed)
{
	int p[2];
	struct notify *n;
	char c[4];

	cr_assert_eq(pipe2(p, O_NONBLOCK), 0);
	n = started(&(struct notify_cfg){ .ready_fd = p[1] });
	cr_expect_eq(fcntl(p[1], F_GETFD), FD_CLOEXEC);
	cr_expect_eq(read(p[0], c, sizeof(c)), -1);
	notify_ready(n, "a");
	cr_expect_eq(read(p[0], c, sizeof(c)), 1);
	cr_expect_eq(c[0], '\n');
	cr_expect_eq(read(p[0], c, sizeof(c)), 0, "it is still open");
	notify_free(n);
}

Test(notify, full_pipe_does_not_block_the_recording, .init = cr_redirect_stderr)
{
	struct notify *n;
	int p[2];

	cr_assert_eq(pipe2(p, O_NONBLOCK), 0);
	while (write(p[1], "x", 1) == 1)
		continue;
	cr_assert_eq(fcntl(p[1], F_SETFL, 0), 0);
	n = started(&(struct notify_cfg){ .ready_fd = p[1] });
	notify_ready(n, "a");
	notify_free(n);
	expect_stderr(
		"dial9-prof: record: --ready-fd: cannot write: Resource temporarily unavailable\n");
}

Test(notify, recording_that_never_runs_closes_the_descriptor_without_a_newline)
{
	int p[2];
	char c;

	cr_assert_eq(pipe2(p, O_NONBLOCK), 0);
	notify_free(started(&(struct notify_cfg){ .ready_fd = p[1] }));
	cr_expect_eq(read(p[0], &c, 1), 0);
}

Test(notify, closed_ready_descriptor_is_refused, .init = cr_redirect_stderr)
{
	struct notify *n = NULL;

	cr_expect_eq(notify_new(&(struct notify_cfg){ .ready_fd = 777 }, &n), -EBADF);
	expect_stderr(
		"dial9-prof: record: --ready-fd 777: cannot write to this descriptor: Bad file "
		"descriptor\n");
}

Test(notify, read_only_ready_descriptor_is_refused, .init = cr_redirect_stderr)
{
	struct notify *n = NULL;
	int fd = open("/dev/null", O_RDONLY);

	cr_expect_eq(notify_new(&(struct notify_cfg){ .ready_fd = fd }, &n), -EBADF);
}
