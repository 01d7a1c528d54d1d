// SPDX-License-Identifier: BSD-2-Clause
/* A recorder below a service manager: when it is ready, that it lives, other files, and the end. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "tests/bpf/support.h"

TestSuite(notify, .fini = live_cleanup);

enum { NAPS = 20 };

static char manager[108];

/* The socket of a manager that knows the recorder by it. */
static int listen_as_manager(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(manager, sizeof(manager), "@d9-manager-%d", getpid());
	memcpy(addr.sun_path + 1, manager + 1, strlen(manager + 1));
	cr_assert_eq(bind(fd, (struct sockaddr *)&addr,
			  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(manager))),
		     0);
	return fd;
}

static void be_managed(void)
{
	setenv("NOTIFY_SOCKET", manager, 1);
	setenv("WATCHDOG_USEC", "1000000", 1);
}

/* Up to a message that begins so. */
static void expect(int fd, const char *message)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char text[512];
	ssize_t n;

	do {
		cr_assert_eq(poll(&p, 1, -1), 1, "no %s", message);
		n = recv(fd, text, sizeof(text) - 1, 0);
		cr_assert_gt(n, 0);
		text[n] = '\0';
	} while (strncmp(text, message, strlen(message)) != 0);
}

static void sleep_often(void)
{
	const struct timespec nap = { .tv_nsec = 1000000 };

	for (int i = 0; i < NAPS; i++)
		nanosleep(&nap, NULL);
}

Test(notify, events_after_the_newline_are_recorded)
{
	struct live_rec rec;
	int p[2];
	char c;

	cr_assert_eq(pipe(p), 0);
	fcntl(p[0], F_SETFD, FD_CLOEXEC);
	live_record(&rec, "-p", live_number(getpid()), "--ready-fd", live_number(p[1]), NULL);
	close(p[1]);
	cr_assert_eq(read(p[0], &c, 1), 1, "closed without a newline");
	sleep_often();
	cr_expect_eq(c, '\n');
	cr_expect_eq(read(p[0], &c, 1), 0, "somebody holds it open");
	cr_expect_eq(live_stop(&rec), 0);
	cr_expect_geq(live_blocked(rec.path, getpid()), NAPS);
	live_proc_fini(&rec.proc);
}

Test(notify, failed_start_closes_the_descriptor)
{
	struct live_proc proc;
	int p[2];
	char c;

	cr_assert_eq(pipe(p), 0);
	fcntl(p[0], F_SETFD, FD_CLOEXEC);
	cr_expect_eq(live_run(&proc,
			      (const char *[]){ "-a", "--ready-fd", live_number(p[1]), "-o",
						"/nonexistent/a.bin", NULL },
			      NULL),
		     3);
	close(p[1]);
	cr_expect_eq(read(p[0], &c, 1), 0, "it said that it was ready");
	live_proc_fini(&proc);
}

Test(notify, service_manager_is_notified_of_each_state)
{
	int fd = listen_as_manager();
	const char *path = live_path("m.bin");
	const char *argv[] = {
		live_program(),	   "-a",   "-o",	   path, "--switch-output", "-q",
		"--switch-stacks", "none", "--no-samples", NULL
	};
	struct live_proc proc;

	live_spawn(&proc, argv, be_managed);
	expect(fd, "READY=1\nSTATUS=Recording to ");
	expect(fd, "WATCHDOG=1");
	expect(fd, "WATCHDOG=1");
	cr_expect_eq(access(live_path("m.1.bin.active"), F_OK), -1);
	kill(proc.pid, SIGUSR2);
	expect(fd, "RELOADING=1\nMONOTONIC_USEC=");
	expect(fd, "READY=1\n");
	expect(fd, "WATCHDOG=1");
	kill(proc.pid, SIGTERM);
	expect(fd, "STOPPING=1\n");
	cr_expect_eq(live_wait(&proc), 0);
	cr_expect_eq(access(live_path("m.0.bin"), F_OK), 0);
	cr_expect_eq(access(live_path("m.1.bin"), F_OK), 0, "there is no second file");
	live_proc_fini(&proc);
	close(fd);
}

Test(notify, command_does_not_inherit_the_managers_variables)
{
	int fd = listen_as_manager();
	struct live_proc proc;

	cr_expect_eq(live_run(&proc,
			      (const char *[]){ "-q", "-o", live_path("c.bin"), "--", "sh", "-c",
						"echo ${NOTIFY_SOCKET-no} ${WATCHDOG_USEC-no}",
						NULL },
			      be_managed),
		     0);
	cr_expect_str_eq(buf_cstr(&proc.output), "no no\n");
	live_proc_fini(&proc);
	close(fd);
}
