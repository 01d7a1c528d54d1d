// SPDX-License-Identifier: BSD-2-Clause
/*
 * launch.c - starts a command once recording is on
 *
 * The child waits at a pipe while programs are loaded and attached. So the trace contains all of the command, and
 * nothing of the recorder's start: before it waits, the child has become the command's user and found its program, so
 * that only one exec follows. A second pipe, closed by the exec, returns the error if the exec failed.
 */
#include "record/target/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/sudo_user.h"
#include "kernel/privileges.h"
#include "kernel/task_limit.h"

enum { START_MS = 1000 }; /* wait for an exec */

struct launch {
	pid_t pid;
	int go_fd;
	int err_fd;
	char *name;
	bool gone;
	bool starting; /* exec was allowed, but has not been confirmed */
	bool ended;
	int status;
};

/* The file that execvp() would probably run. False: it has to search. */
static bool find_program(const char *name, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH");
	struct stat st;
	size_t len;
	int n;

	if (strchr(name, '/'))
		return false;
	for (; dirs; dirs = dirs[len] ? dirs + len + 1 : NULL) {
		len = strcspn(dirs, ":");
		n = snprintf(path, PATH_MAX, "%.*s%s%s", (int)len, dirs, len ? "/" : "", name);
		if (n < PATH_MAX && !stat(path, &st) && S_ISREG(st.st_mode) &&
		    !faccessat(AT_FDCWD, path, X_OK, AT_EACCESS))
			return true;
	}
	return false;
}

static void run_child(char *const *argv, const struct sudo_user *user, int go_fd, int err_fd)
{
	char c, path[PATH_MAX];
	sigset_t none;
	bool found;
	int err;

	/* The command would inherit ignored signals; the exec resets caught ones. */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	err = user->known ? sudo_user_become(user) : 0;
	/* our file capabilities must not affect the search for the command */
	if (!err && geteuid())
		err = privileges_suspend(UINT64_MAX);
	found = !err && find_program(argv[0], path);
	if (read(go_fd, &c, 1) != 1)
		_exit(0);
	if (found)
		execv(path, argv);
	if (!err) {
		/* a script without an interpreter, or a file that has changed: as a shell does it */
		execvp(argv[0], argv);
		err = -errno;
	}
	if (write(err_fd, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

int launch_new(char *const *argv, bool as_root, bool stdout_taken, struct launch **out)
{
	struct sudo_user user = { .known = false };
	int go[2], err[2], e;
	struct launch *l;
	pid_t pid;

	e = as_root ? 0 : sudo_user_read(&user);
	if (e)
		return e;
	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(err, O_CLOEXEC)) {
		e = -errno;
		close(go[0]);
		close(go[1]);
		return e;
	}
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		close(err[0]);
		if (stdout_taken)
			dup2(STDERR_FILENO, STDOUT_FILENO);
		run_child(argv, &user, go[0], err[1]);
	}
	close(go[0]);
	close(err[1]);
	if (pid < 0) {
		e = -errno;
		task_limit_error("record: cannot fork", e);
		close(go[1]);
		close(err[0]);
		return e;
	}
	l = xcalloc(1, sizeof(*l));
	l->pid = pid;
	l->go_fd = go[1];
	l->err_fd = err[0];
	l->name = xstrdup(argv[0]);
	*out = l;
	return 0;
}

pid_t launch_pid(const struct launch *l)
{
	return l->pid;
}

/* The exec may block on the command's file system: also returns 0 while it has not finished. */
static int check_start(struct launch *l, int patience_ms)
{
	struct pollfd polled = { .fd = l->err_fd, .events = POLLIN };
	int err = 0;
	ssize_t n;

	if (poll(&polled, 1, patience_ms) <= 0)
		return 0;
	l->starting = false;
	do
		n = read(l->err_fd, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	return err;
}

static void report_error(const struct launch *l, int err)
{
	if (err)
		log_error("record: cannot start '%s': %s", l->name, strerror(-err));
}

int launch_go(struct launch *l)
{
	int err = 0;

	l->gone = true;
	/* EPIPE: the command was killed while it waited */
	if (write(l->go_fd, "", 1) != 1)
		err = errno == EPIPE ? -EINTR : -errno;
	l->starting = !err;
	if (!err)
		err = check_start(l, START_MS);
	report_error(l, err);
	return err;
}

bool launch_ended(struct launch *l, int *status)
{
	int ws;

	if (!l->ended && waitpid(l->pid, &ws, WNOHANG) == l->pid) {
		l->ended = true;
		l->status = WIFSIGNALED(ws) ? 128 + WTERMSIG(ws) : WEXITSTATUS(ws);
	}
	if (l->starting)
		report_error(l, check_start(l, 0));
	*status = l->status;
	return l->ended;
}

void launch_free(struct launch *l)
{
	if (!l)
		return;
	if (l->starting && !l->ended)
		log_warn("record: '%s' had not started when the recording ended", l->name);
	close(l->go_fd);
	close(l->err_fd);
	if (!l->gone && !l->ended) {
		/* Our other children may hold the pipe, so it may never be closed. */
		kill(l->pid, SIGKILL);
		waitpid(l->pid, NULL, 0);
	}
	free(l->name);
	free(l);
}
