// SPDX-License-Identifier: BSD-2-Clause
/*
 * exec_probe.c - a process that finds the libraries of a program before it starts; its answers are validated
 *
 * The command's files may belong to any user and lie on a file system that does not respond. So the recorder itself
 * neither opens nor stats them. A packet of a SOCK_SEQPACKET pair is one file: packets arrive complete or not at
 * all.
 */
#include "record/target/exec_probe.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sudo_user.h"
#include "symbol/sandbox/sandbox.h"

#define RECEIVE_NS 100000000ULL /* receive until this long after the start */

enum { LIFE_S = 2 };

struct exec_probe {
	pid_t pid; /* 0: ended */
	int sock;
	uint64_t until_ns;
};

/* Arguments of the process. */
struct probe_args {
	exec_probe_life_fn life;
	const void *ctx;
	const struct sudo_user *user;
};

struct packet {
	uint64_t dev, inode, sz;
	char path[PATH_MAX]; /* sent up to its NUL */
};

/* ---- in the process --------------------------------------------------------------------------------- */

static void send_file(void *ctx, const struct elf_deps_file *file)
{
	struct packet p = { .dev = file->dev, .inode = file->inode, .sz = file->sz };
	size_t len = strlen(file->path);

	if (len >= sizeof(p.path))
		return;
	memcpy(p.path, file->path, len + 1);
	if (send(*(int *)ctx, &p, offsetof(struct packet, path) + len + 1, 0) < 0)
		_exit(1);
}

static void find_files(const void *ctx, int sock)
{
	elf_deps_find(ctx, send_file, &sock);
}

static void run(const void *ctx, int sock)
{
	const struct probe_args *j = ctx;
	const pid_t parent = getppid();

	prctl(PR_SET_NAME, "d9-scout");
	if (sandbox_detach(sock) || (j->user->known && sudo_user_become(j->user)) ||
	    sandbox_die_with(parent) || sandbox_only_look(LIFE_S))
		return;
	j->life(j->ctx, sock);
	_exit(0);
}

/* ---- in who listens --------------------------------------------------------------------------------- */

int exec_probe_start(exec_probe_life_fn life, const void *ctx, const struct sudo_user *user,
		     struct exec_probe **out)
{
	const struct probe_args j = { .life = life, .ctx = ctx, .user = user };
	struct exec_probe *s = xcalloc(1, sizeof(*s));
	int err = sandbox_fork(run, &j, &s->pid, &s->sock);

	if (err) {
		free(s);
		return err;
	}
	s->until_ns = clock_mono_ns() + RECEIVE_NS;
	*out = s;
	return 0;
}

int exec_probe_new(const char *command, bool as_root, struct exec_probe **out)
{
	struct sudo_user user = { .known = false };
	int err = as_root ? 0 : sudo_user_read(&user);

	return err ? err : exec_probe_start(find_files, command, &user, out);
}

/* Whether a packet or the end of the stream arrives before the time limit. */
static bool wait_for(const struct exec_probe *s)
{
	struct pollfd polled = { .fd = s->sock, .events = POLLIN };
	uint64_t now;
	int n;

	do {
		now = clock_mono_ns();
		n = ppoll(&polled, 1,
			  &(struct timespec){ .tv_nsec =
						      now < s->until_ns ? s->until_ns - now : 0 },
			  NULL);
	} while (n < 0 && errno == EINTR);
	return n > 0;
}

/* Received descriptors are rejected. False: nothing, or not a file. */
static bool receive(const struct exec_probe *s, struct packet *p)
{
	const size_t head = offsetof(struct packet, path);
	ssize_t n = recv(s->sock, p, sizeof(*p), MSG_DONTWAIT | MSG_TRUNC);

	return n > (ssize_t)head && n <= (ssize_t)sizeof(*p) && p->path[0] == '/' &&
	       strnlen(p->path, n - head) + 1 == n - head;
}

static void end(struct exec_probe *s)
{
	if (!s->pid)
		return;
	kill(s->pid, SIGKILL);
	if (waitpid(s->pid, NULL, WNOHANG) == s->pid)
		s->pid = 0;
}

void exec_probe_receive(struct exec_probe *s, elf_deps_found_fn found, void *ctx)
{
	struct packet p;
	int n;

	for (n = 0; n < ELF_DEPS_FILES_MAX && wait_for(s) && receive(s, &p); n++)
		found(ctx, &(struct elf_deps_file){ p.path, p.dev, p.inode, p.sz });
	end(s);
}

void exec_probe_free(struct exec_probe *s)
{
	if (!s)
		return;
	end(s);
	close(s->sock);
	free(s);
}
