// SPDX-License-Identifier: BSD-2-Clause
/*
 * filtered [--now]
 *
 * One thread that makes ROUNDS turns: in turn i it names itself "turn-<i % 10>", requests the priority of
 * process i + 1, and sleeps for 100 us. Then it runs /bin/true EXECS times.
 *
 *	rounds=N execs=N		before "done"
 */
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "stimulus.h"

enum { ROUNDS = 200, EXECS = 3 };

static int run_true(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int main(int argc, char **argv)
{
	const struct timespec nap = { .tv_nsec = 100000 };
	bool now = stim_parse_now(&argc, &argv);
	char name[16];
	int i;

	stim_start(now, "");
	for (i = 0; i < ROUNDS; i++) {
		snprintf(name, sizeof(name), "turn-%d", i % 10);
		prctl(PR_SET_NAME, name);
		getpriority(PRIO_PROCESS, (id_t)i + 1);
		nanosleep(&nap, NULL);
	}
	for (i = 0; i < EXECS; i++)
		if (!run_true())
			return 2;
	printf("rounds=%d execs=%d\n", ROUNDS, EXECS);
	stim_done(now);
	return 0;
}
