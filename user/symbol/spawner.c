// SPDX-License-Identifier: BSD-2-Clause
/*
 * A fork server: small requests in, sockets of new children and news of dead ones out.
 *
 * It keeps a list of its children, since a number that it is told to kill may have become somebody
 * else's: a child keeps its number until the spawner has waited for it. It ends when the socket
 * does, and takes its children along; they in turn are told to die with it.
 */
#include "symbol/spawner.h"

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
#include "symbol/sandbox.h"
#include "symbol/symproto.h"

enum {
	CHILDREN_MAX = 256,
	STOP_WAIT_MS = 500,
	SENDING_SZ = 1 << 20, /* that a child may have under way, where the system allows so much */
};

enum op { OP_FORK, OP_KILL, OP_PACE };

struct request {
	enum op op;
	uint32_t arg; /* of the child, or enum spawner_pace */
	pid_t pid;
};

struct spawner {
	pid_t pid;
	int sock;
	pid_t kills[CHILDREN_MAX]; /* that it did not take yet */
	size_t kill_cnt;
};

/* ---- in the spawner ----------------------------------------------------------------------------- */

struct server {
	const struct spawner_cfg *cfg;
	int sock, signals;
	pid_t children[CHILDREN_MAX];
	size_t cnt;
};

static void tell(const struct server *s, const struct spawner_event *ev, int fd)
{
	struct buf packet = { .data = (char *)ev, .len = sizeof(*ev) };

	if (symproto_send(s->sock, &packet, fd, 0))
		_exit(1);
}

static void run_child(const struct server *s, int sock, uint32_t arg)
{
	const int sending = SENDING_SZ;
	pid_t parent = getppid();
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
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
	struct spawner_event ev = { .kind = SPAWNER_BORN, .arg = arg };
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
	if (ev.pid > 0)
		s->children[s->cnt++] = ev.pid;
	tell(s, &ev, ev.error ? -1 : pair[0]);
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

static void set_pace(pid_t pid, enum spawner_pace pace)
{
	const struct sched_param param = { 0 };

	static const int policies[] = {
		[SPAWNER_IDLE] = SCHED_IDLE,
		[SPAWNER_LOW] = SCHED_BATCH,
		[SPAWNER_EQUAL] = SCHED_OTHER,
	};

	sched_setscheduler(pid, policies[pace], &param);
	setpriority(PRIO_PROCESS, pid, pace == SPAWNER_EQUAL ? 0 : 19);
}

static void do_request(struct server *s, const struct request *r)
{
	if (r->op == OP_FORK)
		do_fork(s, r->arg);
	else if (!is_child(s, r->pid))
		return;
	else if (r->op == OP_KILL)
		kill(r->pid, SIGKILL);
	else
		set_pace(r->pid, r->arg);
}

static void bury(struct server *s)
{
	struct spawner_event ev = { .kind = SPAWNER_DIED };
	size_t i;

	while ((ev.pid = waitpid(-1, &ev.status, WNOHANG)) > 0) {
		for (i = 0; i < s->cnt; i++)
			if (s->children[i] == ev.pid)
				s->children[i] = s->children[--s->cnt];
		tell(s, &ev, -1);
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
	const struct spawner_cfg *cfg = ctx;
	struct server s = { .cfg = cfg, .sock = sock };
	sigset_t chld;
	size_t i;

	prctl(PR_SET_NAME, "d9-spawner");
	if (sandbox_detach(sock) || cfg->confine())
		return;
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

/* ---- in who asks --------------------------------------------------------------------------------- */

int spawner_start(const struct spawner_cfg *cfg, struct spawner **out)
{
	struct spawner *s = xcalloc(1, sizeof(*s));
	int err = sandbox_fork(run, cfg, &s->pid, &s->sock);

	if (err)
		free(s);
	else
		*out = s;
	return err;
}

/* One that a child of its own holds up does not hold us up. */
static void wait_for_end(pid_t pid)
{
	int left;

	for (left = STOP_WAIT_MS; left && waitpid(pid, NULL, WNOHANG) == 0; left--)
		poll(NULL, 0, 1);
}

void spawner_stop(struct spawner *s)
{
	if (!s)
		return;
	/* somebody else may hold a copy of the socket */
	shutdown(s->sock, SHUT_RDWR);
	close(s->sock);
	wait_for_end(s->pid);
	free(s);
}

int spawner_fd(const struct spawner *s)
{
	return s->sock;
}

static int request(struct spawner *s, enum op op, uint32_t arg, pid_t pid)
{
	struct request r = { .op = op, .arg = arg, .pid = pid };
	struct buf packet = { .data = (char *)&r, .len = sizeof(r) };

	return symproto_send(s->sock, &packet, -1, MSG_DONTWAIT);
}

int spawner_ask(struct spawner *s, uint32_t arg)
{
	return request(s, OP_FORK, arg, 0);
}

static void send_kills(struct spawner *s)
{
	while (s->kill_cnt && !request(s, OP_KILL, 0, s->kills[s->kill_cnt - 1]))
		s->kill_cnt--;
}

void spawner_kill(struct spawner *s, pid_t pid)
{
	/* more than all children are none of them */
	if (s->kill_cnt < CHILDREN_MAX)
		s->kills[s->kill_cnt++] = pid;
	send_kills(s);
}

int spawner_set_pace(struct spawner *s, pid_t pid, enum spawner_pace pace)
{
	return request(s, OP_PACE, pace, pid);
}

int spawner_next(struct spawner *s, struct spawner_event *ev)
{
	char packet[SYMPROTO_PACKET_MAX];
	ssize_t n;
	int fd;

	send_kills(s);
	n = symproto_receive(s->sock, packet, &fd, MSG_DONTWAIT);
	if (n == -EAGAIN)
		return 0;
	if (n == sizeof(*ev)) {
		memcpy(ev, packet, sizeof(*ev));
		ev->sock = fd;
		return 1;
	}
	if (fd >= 0)
		close(fd);
	return n < 0 ? n : -EPIPE;
}
