// SPDX-License-Identifier: BSD-2-Clause
/*
 * family [--now] [NAPS]
 *
 * A process that does nothing itself: its work is done by a child and a grandchild, which exist before it
 * prints "ready". Each of the two naps NAPS (20) times after the line from the test.
 *
 *	child=P grandchild=P naps=N
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "stimulus.h"

static void nap(unsigned long naps)
{
	const struct timespec step = { .tv_nsec = 1000000 };

	while (naps--)
		nanosleep(&step, NULL);
}

/* Writes its pid, and waits for the end of the pipe. */
static void work(int go, int pids, unsigned long naps)
{
	pid_t pid = getpid();
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(pids, &pid, sizeof(pid)) != sizeof(pid) || read(go, &c, 1) != 0)
		_exit(2);
	nap(naps);
	while (wait(NULL) > 0)
		;
	_exit(0);
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	unsigned long naps = stim_arg(argc, argv, 1, 20);
	int go[2], pids[2], i;
	pid_t child, pid, grandchild = 0;

	if (pipe(go) || pipe(pids))
		return 2;
	child = fork();
	if (child == 0) {
		close(go[1]);
		fork();
		work(go[0], pids[1], naps);
	}
	for (i = 0; i < 2; i++) {
		if (read(pids[0], &pid, sizeof(pid)) != sizeof(pid))
			return 2;
		if (pid != child)
			grandchild = pid;
	}
	stim_start(now, "");
	close(go[1]);
	waitpid(child, NULL, 0);
	printf("child=%d\ngrandchild=%d\nnaps=%lu\n", child, grandchild, naps);
	stim_done(now);
	return 0;
}
