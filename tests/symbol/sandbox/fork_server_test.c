// SPDX-License-Identifier: BSD-2-Clause
/* Children are forked on request, their deaths are reported, and they end with the server. */
#include "symbol/sandbox/fork_server.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "kernel/proc.h"
#include "symbol/sandbox/sandbox.h"
#include "symbol/sandbox/symproto.h"

TestSuite(fork_server, .timeout = 60);

enum { URGENT_NICE = 3 }; /* every user may have it */

static int confine_nothing(void)
{
	return 0;
}

static int confine_in_vain(void)
{
	return -EPERM;
}

/* Sends its PID and its argument, then follows its orders. */
static void child(const void *ctx, int sock, uint32_t arg)
{
	uint32_t hello[2] = { getpid(), arg + *(const uint32_t *)ctx };
	char order;

	if (send(sock, hello, sizeof(hello), 0) < 0)
		return;
	while (recv(sock, &order, 1, 0) == 1)
		if (order == 'x')
			_exit(7);
}

static struct fork_server *start(int (*confine)(void))
{
	static const uint32_t ctx = 1000;
	const struct fork_server_cfg cfg = {
		.confine = confine, .child = child, .ctx = &ctx, .urgent_nice = URGENT_NICE
	};
	struct fork_server *s = NULL;

	cr_assert_eq(fork_server_start(&cfg, &s), 0);
	return s;
}

static struct fork_server_event await(struct fork_server *s)
{
	struct pollfd fd = { .fd = fork_server_fd(s), .events = POLLIN };
	struct fork_server_event ev = { 0 };
	int ret;

	while (!(ret = fork_server_next(s, &ev)))
		poll(&fd, 1, 1000);
	cr_assert_eq(ret, 1);
	return ev;
}

static struct fork_server_event await_child(struct fork_server *s, uint32_t arg)
{
	struct fork_server_event ev;

	cr_assert_eq(fork_server_ask(s, arg), 0);
	ev = await(s);
	cr_assert_eq(ev.kind, FORK_SERVER_BORN);
	cr_assert_eq(ev.error, 0);
	cr_assert_eq(ev.arg, arg);
	cr_assert_geq(ev.sock, 0);
	return ev;
}

static uint32_t await_hello(int sock, pid_t pid)
{
	uint32_t hello[2];

	cr_assert_eq(recv(sock, hello, sizeof(hello), 0), (ssize_t)sizeof(hello));
	cr_expect_eq(hello[0], (uint32_t)pid);
	return hello[1];
}

Test(fork_server, child_sends_messages_and_its_end_is_reported)
{
	struct fork_server *s = start(confine_nothing);
	struct fork_server_event born = await_child(s, 5), died;

	cr_expect_eq(await_hello(born.sock, born.pid), 1005u);
	cr_assert_eq(send(born.sock, "x", 1, 0), 1);
	died = await(s);
	cr_expect_eq(died.kind, FORK_SERVER_DIED);
	cr_expect_eq(died.pid, born.pid);
	cr_expect(WIFEXITED(died.status) && WEXITSTATUS(died.status) == 7);
	close(born.sock);
	fork_server_stop(s);
}

Test(fork_server, unsent_kill_is_sent_later)
{
	struct fork_server *s = start(confine_nothing);
	struct fork_server_event child = await_child(s, 1), died;
	struct proc_status status;

	cr_assert_eq(proc_read_status(child.pid, &status), 0);
	kill(status.ppid, SIGSTOP);
	while (!fork_server_set_pace(s, child.pid, FORK_SERVER_LOW))
		continue;
	fork_server_kill(s, child.pid);
	kill(status.ppid, SIGCONT);
	died = await(s);
	cr_expect_eq(died.kind, FORK_SERVER_DIED);
	cr_expect_eq(died.pid, child.pid);
	close(child.sock);
	fork_server_stop(s);
}

Test(fork_server, child_with_urgent_work_has_the_urgent_nice_value)
{
	struct fork_server *s = start(confine_nothing);
	struct fork_server_event child = await_child(s, 1);
	uint32_t server[FORK_SERVER_PIDS_MAX];

	cr_assert_eq(fork_server_set_pace(s, child.pid, FORK_SERVER_URGENT), 0);
	/* requests are handled in order */
	await_child(s, 2);
	fork_server_pids(s, server);
	cr_expect_eq(getpriority(PRIO_PROCESS, child.pid), URGENT_NICE);
	cr_expect_eq(getpriority(PRIO_PROCESS, server[0]), URGENT_NICE);
	close(child.sock);
	fork_server_stop(s);
}

Test(fork_server, only_own_children_are_killed)
{
	struct fork_server *s = start(confine_nothing);
	struct fork_server_event first = await_child(s, 1), second = await_child(s, 2), died;
	pid_t other = fork();

	if (!other)
		for (;;)
			pause();
	fork_server_kill(s, other);
	fork_server_kill(s, first.pid);
	died = await(s);
	cr_expect_eq(died.pid, first.pid);
	cr_expect(WIFSIGNALED(died.status) && WTERMSIG(died.status) == SIGKILL);
	cr_expect_eq(waitpid(other, NULL, WNOHANG), 0, "not its child, not its business");
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	cr_expect_eq(await_hello(second.sock, second.pid), 1002u);
	close(first.sock);
	close(second.sock);
	fork_server_stop(s);
}

Test(fork_server, children_end_with_the_server)
{
	struct fork_server *s = start(confine_nothing);
	struct fork_server_event born = await_child(s, 0);
	char c;

	await_hello(born.sock, born.pid);
	fork_server_stop(s);
	cr_expect_eq(recv(born.sock, &c, 1, 0), 0, "the last copy of the socket is closed");
	close(born.sock);
}

Test(fork_server, server_that_cannot_be_confined_starts_no_child)
{
	struct fork_server *s = start(confine_in_vain);
	struct pollfd fd = { .fd = fork_server_fd(s), .events = POLLIN };
	struct fork_server_event ev;

	poll(&fd, 1, -1);
	cr_expect_lt(fork_server_next(s, &ev), 0);
	cr_expect_eq(fork_server_ask(s, 0), -EPIPE);
	fork_server_stop(s);
}

Test(fork_server, stopped_server_continues)
{
	struct fork_server *s = start(confine_nothing);
	struct fork_server_event first = await_child(s, 1), second;
	struct proc_status status;

	cr_assert_eq(proc_read_status(first.pid, &status), 0);
	kill(status.ppid, SIGSTOP);
	second = await_child(s, 2);
	cr_expect_eq(await_hello(second.sock, second.pid), 1002u);
	close(first.sock);
	close(second.sock);
	fork_server_stop(s);
}

static pid_t spawner_of(pid_t child)
{
	struct proc_status status;

	cr_assert_eq(proc_read_status(child, &status), 0);
	return status.ppid;
}

static void kill_spawner_of(pid_t child)
{
	kill(spawner_of(child), SIGKILL);
}

Test(fork_server, spare_replaces_a_killed_server_and_is_the_last)
{
	struct fork_server *s = start(confine_nothing);
	struct fork_server_event first = await_child(s, 1), second, ev;
	struct pollfd fd = { .fd = fork_server_fd(s), .events = POLLIN };

	kill_spawner_of(first.pid);
	poll(&fd, 1, -1);
	cr_expect_lt(fork_server_next(s, &ev), 0);
	cr_assert_eq(fork_server_renew(s), 0);
	second = await_child(s, 2);
	cr_expect_eq(await_hello(second.sock, second.pid), 1002u);
	kill_spawner_of(second.pid);
	fd.fd = fork_server_fd(s);
	poll(&fd, 1, -1);
	cr_expect_lt(fork_server_next(s, &ev), 0);
	cr_expect_eq(fork_server_renew(s), -EPIPE);
	close(first.sock);
	close(second.sock);
	fork_server_stop(s);
}

Test(fork_server, replaced_server_is_reaped_after_its_end)
{
	struct fork_server *s = start(confine_nothing);
	struct fork_server_event child = await_child(s, 1), ev;
	pid_t old = spawner_of(child.pid);
	siginfo_t info;

	/* not a zombie yet */
	kill(old, SIGSTOP);
	cr_assert_eq(fork_server_renew(s), 0);
	kill(old, SIGKILL);
	cr_assert_eq(waitid(P_PID, old, &info, WEXITED | WNOWAIT), 0);
	cr_expect_eq(fork_server_next(s, &ev), 0);
	cr_expect_eq(waitid(P_PID, old, &info, WEXITED | WNOHANG), -1, "it is still defunct");
	cr_expect_eq(errno, ECHILD);
	close(child.sock);
	fork_server_stop(s);
}

Test(fork_server, stop_waits_for_all_servers_together)
{
	struct fork_server *s = start(confine_nothing);
	struct fork_server_event child = await_child(s, 1);
	pid_t pid = spawner_of(child.pid), spare = 0;
	char path[64];
	uint64_t began;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "r");
	if (!f)
		cr_skip("no %s", path);
	while (fscanf(f, "%d", &spare) == 1 && spare == pid)
		continue;
	fclose(f);
	cr_assert(spare && spare != pid);
	kill(pid, SIGSTOP);
	kill(spare, SIGSTOP);
	began = clock_mono_ns();
	fork_server_stop(s);
	cr_expect_lt(clock_mono_ns() - began, 900000000ULL);
	kill(pid, SIGKILL);
	kill(spare, SIGKILL);
	close(child.sock);
}

/* Whether the last copy of a child's socket is closed: then no copy of the child is left. */
static void expect_end(int sock)
{
	struct pollfd fd = { .fd = sock, .events = POLLIN };
	char text[16];

	while (poll(&fd, 1, 20000) == 1)
		if (recv(sock, text, sizeof(text), 0) == 0)
			return;
	cr_assert_fail("somebody outlived who asked for it");
}

/* The parent is killed, with its spawner and a child stopped; the child's socket is passed to us. */
static void fork_and_die(int (*confine)(void), int to)
{
	struct fork_server *s = start(confine);
	struct fork_server_event born = await_child(s, 1);
	struct proc_status status;
	struct buf packet = { .data = (char *)"x", .len = 1 };

	await_hello(born.sock, born.pid);
	cr_assert_eq(proc_read_status(born.pid, &status), 0);
	cr_assert_eq(symproto_send(to, &packet, born.sock, 0), 0);
	kill(born.pid, SIGSTOP);
	kill(status.ppid, SIGSTOP);
	raise(SIGKILL);
}

static void expect_stopped_ones_end(int (*confine)(void))
{
	int pair[2], sock;
	char packet[SYMPROTO_PACKET_MAX];
	pid_t pid;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	pid = fork();
	if (!pid)
		fork_and_die(confine, pair[1]);
	cr_assert_eq(symproto_receive(pair[0], packet, &sock, 0), 1);
	waitpid(pid, NULL, 0);
	expect_end(sock);
	close(sock);
}

Test(fork_server, stopped_servers_end_with_their_parent)
{
	expect_stopped_ones_end(confine_nothing);
}

Test(fork_server, stopped_servers_of_another_user_end_with_their_parent)
{
	expect_stopped_ones_end(sandbox_drop_all);
}

/* The whole group gets a signal to end: helpers are still needed for symbols. */
Test(fork_server, termination_signals_do_not_end_the_server)
{
	struct fork_server *s = start(confine_nothing);
	struct fork_server_event born = await_child(s, 3), again;

	kill(born.pid, SIGTERM);
	kill(born.pid, SIGINT);
	kill(born.pid, SIGHUP);
	again = await_child(s, 4);
	cr_expect_eq(await_hello(born.sock, born.pid), 1003u);
	cr_assert_eq(send(born.sock, "-", 1, 0), 1);
	cr_assert_eq(send(born.sock, "x", 1, 0), 1);
	cr_expect(WIFEXITED(await(s).status));
	close(born.sock);
	close(again.sock);
	fork_server_stop(s);
}
