// SPDX-License-Identifier: BSD-2-Clause
/*
 * enemy_user [--now] KIND [PROCESSES]
 *
 * As another user, if it may: PROCESSES (1) processes that cause work until they are killed:
 *
 *	execs   executes itself 400 times a second
 *	maps    maps and unmaps executable pages at falling addresses, and sleeps 1 ms after each 20 of them
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "stimulus.h"

enum { PAGE = 4096, USER = 65533, PROCESSES_MAX = 1000, MAPS = 20 };

static void nap(long us)
{
	nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
}

static void execute(void)
{
	nap(2500);
	execl("/proc/self/exe", "enemy_user", "--again", (char *)NULL);
	err(2, "exec");
}

static void map_and_unmap(void)
{
	char *at = (char *)0x600000000000;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	for (;; nap(1000)) {
		for (int i = 0; i < MAPS; i++, at -= PAGE) {
			void *page = mmap(at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
					  fd, 0);

			if (page == MAP_FAILED || munmap(page, PAGE))
				err(2, "mmap");
		}
	}
}

static void work(const char *kind)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!strcmp(kind, "execs"))
		execute();
	map_and_unmap();
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	unsigned long cnt = stim_arg(argc, argv, 2, 1);

	if (argc > 1 && !strcmp(argv[1], "--again"))
		execute();
	if (argc < 2 || cnt > PROCESSES_MAX)
		errx(2, "usage: enemy_user [--now] execs|maps [PROCESSES]");
	if (!getuid() && (setgid(USER) || setuid(USER)))
		err(2, "setuid");
	stim_start(now, "");
	for (unsigned long i = 0; i < cnt; i++) {
		pid_t pid = fork();

		if (pid < 0)
			err(2, "fork");
		if (pid == 0)
			work(argv[1]);
	}
	for (;;)
		pause();
}
