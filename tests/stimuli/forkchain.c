// SPDX-License-Identifier: BSD-2-Clause
/*
 * forkchain [--now] [LINKS]
 *
 * Starts a chain of LINKS (20) processes of about 5 ms each: every link executes the program `shortlived` next
 * to this one, which forks the next link and exits at once. This process adopts orphans, and waits for the end
 * of the last.
 *
 *	link=K pid=P		one per link, printed by the link itself, K falling from LINKS to 1
 *	exited=N		how many ended with status 0: N == LINKS
 */
#include <limits.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "stimulus.h"

static void sibling_path(char *path, size_t sz, const char *name)
{
	ssize_t n = readlink("/proc/self/exe", path, sz - 1);
	char *slash;

	if (n < 0)
		exit(2);
	path[n] = '\0';
	slash = strrchr(path, '/') + 1;
	snprintf(slash, sz - (size_t)(slash - path), "%s", name);
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	unsigned long links = stim_arg(argc, argv, 1, 20);
	unsigned long exited = 0;
	char path[PATH_MAX], text[32];
	int status;

	sibling_path(path, sizeof(path), "shortlived");
	snprintf(text, sizeof(text), "%lu", links);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
		return 2;
	stim_start(now, "");

	switch (fork()) {
	case -1:
		return 2;
	case 0:
		execl(path, "shortlived", text, (char *)NULL);
		_exit(2);
	}
	while (wait(&status) > 0)
		exited += status == 0;

	printf("exited=%lu\n", exited);
	stim_done(now);
	return 0;
}
