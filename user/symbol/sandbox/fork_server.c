// SPDX-License-Identifier: BSD-2-Clause
/*
 * A fork server. It receives small requests, and sends the sockets of new children and the PIDs of dead ones.
 *
 * It kills only PIDs in its list of children: a child keeps its PID until the fork server has waited for it. The
 * fork server ends when its socket is closed, and its children die with it. The recorder cannot fork another one
 * later with the privileges of the start, so it starts a spare.
 */
#include "symbol/sandbox/fork_server.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "symbol/sandbox/readiness.h"
#include "symbol/sandbox/sandbox.h"
#include "symbol/sandbox/symproto.h"

#define MS_NS 1000000ULL

enum {
	SILENT_MS = 1000, /* without a message while it owes an answer */
	CHILDREN_MAX = 256,
	STOP_WAIT_MS = 500,
	SENDING_SZ = 1 << 20, /* socket buffer of a child, if the system allows it */
};

enum op { OP_FORK, OP_KILL, OP_PACE };

struct request {
	enum op op;
	uint32_t arg; /* argument of the child, or enum fork_server_pace */
	pid_t pid;
};

struct fork_server {
	pid_t pid;
	int sock;
	pid_t spare_pid; /* 0: none */
	int spare_sock;
	pid_t old_pid; /* the server replaced by the spare, until it is waited for; 0: none */
	size_t owed; /* children requested and not reported */
	uint64_t heard_ns; /* time of the last message, request or SIGCONT */
	pid_t kills[CHILDREN_MAX]; /* not sent yet */
	size_t kill_cnt;
	char *packet; /* SYMPROTO_PACKET_MAX bytes */
	int epoll_fd; /* that watches sock; -1: none */
	struct readiness ready; /* sock */
};

/*
 * ---- in the fork server ------------------------------------------------------------------------
 */

struct server {
	const struct fork_server_cfg *cfg;
	int nice; /* at the start */
	pid_t pid;
	int sock, signals;
	pid_t children[CHILDREN_MAX];
	size_t cnt;
};

static void send_event(const struct server *s, const struct fork_server_event *ev, int fd)
{
	struct buf packet = { .data = (char *)ev, .len = sizeof(*ev) };

	if (symproto_send(s->sock, &packet, fd, 0))
		_exit(1);
}

static void run_child(const struct server *s, int sock, uint32_t arg)
{
	const int sending = SENDING_SZ;
	sigset_t none;

	if (sandbox_die_with(s->pid))
		_exit(1);
	/*
	 * A scheduler with autogroups gives each session a share of the CPU. An own session does
	 * not share with programs of the recorder's terminal.
	 */
	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	close(s->sock);
	close(s->signals);
	setsockopt(sock, SOL_SOCKET, SO_SNDBUF, &sending, sizeof(sending));
	s->cfg->child(s->cfg->ctx, sock, arg);
	_exit(0);
}

static void do_fork(struct server *s, uint32_t arg)
{
	struct fork_server_event ev = { .kind = FORK_SERVER_BORN, .arg = arg };
	int pair[2] = { -1, -1 };

	if (s->cnt == CHILDREN_MAX)
		ev.error = -EAGAIN;
	else if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		ev.error = -errno;
	else
		ev.pid = fork();
	if (!ev.error && !ev.pid) {
		close(pair[0]);
		run_child(s, pair[1], arg);
	}
	if (ev.pid < 0)
		ev.error = -errno;
	if (ev.pid > 0) {
		/* here, so that it comes before requests for another nice value */
		setpriority(PRIO_PROCESS, ev.pid, s->nice);
		s->children[s->cnt++] = ev.pid;
	}
	send_event(s, &ev, ev.error ? -1 : pair[0]);
	if (pair[0] >= 0) {
		close(pair[0]);
		close(pair[1]);
	}
}

static bool is_child(const struct server *s, pid_t pid)
{
	size_t i;

	for (i = 0; i < s->cnt; i++)
		if (s->children[i] == pid)
			return true;
	return false;
}

static void set_pace(const struct server *s, pid_t pid, enum fork_server_pace pace)
{
	const struct sched_param param = { 0 };
	const int nices[] = {
		[FORK_SERVER_IDLE] = 19,
		[FORK_SERVER_LOW] = 19,
		[FORK_SERVER_EQUAL] = 0,
		[FORK_SERVER_URGENT] = s->cfg->urgent_nice,
	};

	static const int policies[] = {
		[FORK_SERVER_IDLE] = SCHED_IDLE,
		[FORK_SERVER_LOW] = SCHED_BATCH,
		[FORK_SERVER_EQUAL] = SCHED_OTHER,
		[FORK_SERVER_URGENT] = SCHED_OTHER,
	};

	sched_setscheduler(pid, policies[pace], &param);
	setpriority(PRIO_PROCESS, pid, nices[pace]);
}

static void do_request(struct server *s, const struct request *r)
{
	prctl(PR_SET_NAME, "d9-spawner"); /* for a spare from here on */
	if (r->op == OP_FORK)
		do_fork(s, r->arg);
	else if (!is_child(s, r->pid))
		return;
	else if (r->op == OP_KILL)
		kill(r->pid, SIGKILL);
	else
		set_pace(s, r->pid, r->arg);
}

static void bury(struct server *s)
{
	struct fork_server_event ev = { .kind = FORK_SERVER_DIED };
	size_t i;

	while ((ev.pid = waitpid(-1, &ev.status, WNOHANG)) > 0) {
		for (i = 0; i < s->cnt; i++)
			if (s->children[i] == ev.pid)
				s->children[i] = s->children[--s->cnt];
		send_event(s, &ev, -1);
	}
}

static void serve(struct server *s)
{
	struct pollfd fds[] = {
		{ .fd = s->sock, .events = POLLIN },
		{ .fd = s->signals, .events = POLLIN },
	};
	struct signalfd_siginfo info;
	struct request r;

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
		if (fds[1].revents && read(s->signals, &info, sizeof(info)) > 0)
			bury(s);
		if (!fds[0].revents)
			continue;
		if (recv(s->sock, &r, sizeof(r), 0) != sizeof(r))
			return;
		do_request(s, &r);
	}
}

static void run(const void *ctx, int sock)
{
	const struct fork_server_cfg *cfg = ctx;
	struct server s = { .cfg = cfg, .pid = getpid(), .sock = sock };
	const pid_t parent = getppid();
	sigset_t chld;
	size_t i;

	prctl(PR_SET_NAME, "d9-spare");
	if (sandbox_detach(sock) || cfg->confine() || sandbox_die_with(parent))
		return;
	/* otherwise a request to raise a child would be late on a busy machine */
	s.nice = getpriority(PRIO_PROCESS, 0);
	setpriority(PRIO_PROCESS, 0, cfg->urgent_nice);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	s.signals = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s.signals >= 0)
		serve(&s);
	for (i = 0; i < s.cnt; i++)
		kill(s.children[i], SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		continue;
}

/*
 * ---- in the recorder
 * -----------------------------------------------------------------------------
 */

int fork_server_start(const struct fork_server_cfg *cfg, struct fork_server **out)
{
	struct fork_server *s = xcalloc(1, sizeof(*s));
	int err = sandbox_fork(run, cfg, &s->pid, &s->sock);

	if (err) {
		free(s);
		return err;
	}
	if (sandbox_fork(run, cfg, &s->spare_pid, &s->spare_sock))
		s->spare_pid = 0;
	s->packet = xmalloc(SYMPROTO_PACKET_MAX);
	s->epoll_fd = -1;
	*out = s;
	return 0;
}

/* Waits for the old server. Its socket closes before it exits. */
static void wait_for_old(struct fork_server *s)
{
	if (s->old_pid && waitpid(s->old_pid, NULL, WNOHANG))
		s->old_pid = 0;
}

int fork_server_renew(struct fork_server *s)
{
	if (!s->spare_pid)
		return -EPIPE;
	/* a closed socket is always readable */
	readiness_unwatch(&s->ready, s->epoll_fd, s->sock);
	close(s->sock);
	s->old_pid = s->pid;
	wait_for_old(s);
	s->pid = s->spare_pid;
	s->sock = s->spare_sock;
	readiness_watch(&s->ready, s->epoll_fd, s->sock);
	s->spare_pid = 0;
	s->kill_cnt = 0;
	s->owed = 0;
	return 0;
}

/* Shuts the socket down, because another process may hold a copy of it. */
static void end(int sock)
{
	shutdown(sock, SHUT_RDWR);
	close(sock);
}

static bool has_ended(pid_t pid)
{
	return !pid || waitpid(pid, NULL, WNOHANG);
}

/* Waits for a limited time, because a server may hang on a child. */
static void wait_for_ends(pid_t *pids, size_t cnt)
{
	const uint64_t deadline = clock_mono_ns() + STOP_WAIT_MS * MS_NS;
	size_t i, left;

	for (;;) {
		for (left = i = 0; i < cnt; i++) {
			pids[i] = has_ended(pids[i]) ? 0 : pids[i];
			left += pids[i] != 0;
		}
		if (!left || clock_mono_ns() >= deadline)
			return;
		poll(NULL, 0, 1);
	}
}

void fork_server_stop(struct fork_server *s)
{
	pid_t pids[3];

	if (!s)
		return;
	pids[0] = s->pid;
	pids[1] = s->spare_pid;
	pids[2] = s->old_pid;
	if (s->spare_pid)
		end(s->spare_sock);
	end(s->sock);
	wait_for_ends(pids, 3);
	free(s->packet);
	free(s);
}

int fork_server_fd(const struct fork_server *s)
{
	return s->sock;
}

void fork_server_watch(struct fork_server *s, int epoll_fd)
{
	s->epoll_fd = epoll_fd;
	readiness_watch(&s->ready, epoll_fd, s->sock);
}

void fork_server_unwatch(struct fork_server *s)
{
	readiness_unwatch(&s->ready, s->epoll_fd, s->sock);
	s->epoll_fd = -1;
}

size_t fork_server_pids(const struct fork_server *s, uint32_t pids[FORK_SERVER_PIDS_MAX])
{
	pids[0] = (uint32_t)s->pid;
	if (!s->spare_pid)
		return 1;
	pids[1] = (uint32_t)s->spare_pid;
	return 2;
}

static int request(struct fork_server *s, enum op op, uint32_t arg, pid_t pid)
{
	struct request r = { .op = op, .arg = arg, .pid = pid };
	struct buf packet = { .data = (char *)&r, .len = sizeof(r) };

	return symproto_send(s->sock, &packet, -1, MSG_DONTWAIT);
}

int fork_server_ask(struct fork_server *s, uint32_t arg)
{
	const int err = request(s, OP_FORK, arg, 0);

	if (!err && !s->owed++)
		s->heard_ns = clock_mono_ns();
	return err;
}

/* A silent server may have been stopped. SIGCONT does not affect others. */
static void wake(struct fork_server *s)
{
	const uint64_t now = clock_mono_ns();

	if (!s->owed || now - s->heard_ns <= SILENT_MS * MS_NS)
		return;
	kill(s->pid, SIGCONT);
	s->heard_ns = now;
}

static void send_kills(struct fork_server *s)
{
	while (s->kill_cnt && !request(s, OP_KILL, 0, s->kills[s->kill_cnt - 1]))
		s->kill_cnt--;
}

void fork_server_kill(struct fork_server *s, pid_t pid)
{
	/* more requests than children cannot be valid */
	if (s->kill_cnt < CHILDREN_MAX)
		s->kills[s->kill_cnt++] = pid;
	send_kills(s);
}

int fork_server_set_pace(struct fork_server *s, pid_t pid, enum fork_server_pace pace)
{
	return request(s, OP_PACE, pace, pid);
}

int fork_server_next(struct fork_server *s, struct fork_server_event *ev)
{
	ssize_t n;
	int fd;

	wait_for_old(s);
	send_kills(s);
	n = readiness_has_data(&s->ready) ?
		    symproto_receive(s->sock, s->packet, &fd, MSG_DONTWAIT) :
		    -EAGAIN;
	if (n == -EAGAIN) {
		readiness_set_empty(&s->ready);
		wake(s);
		return 0;
	}
	if (n == sizeof(*ev)) {
		memcpy(ev, s->packet, sizeof(*ev));
		s->owed -= s->owed && ev->kind == FORK_SERVER_BORN;
		s->heard_ns = clock_mono_ns();
		ev->sock = fd;
		return 1;
	}
	if (fd >= 0)
		close(fd);
	return n < 0 ? n : -EPIPE;
}
