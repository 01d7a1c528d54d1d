// SPDX-License-Identifier: BSD-2-Clause
/*
 * shortlived LINKS: one link of forkchain's chain
 *
 * Burns about 5 ms of CPU in short_spin(), prints "link=K pid=P", and when LINKS is above 1 forks a
 * child that executes this program again with one link less. It never waits for that child, so that
 * each process lives no longer than its own work.
 */
#include "stimulus.h"

STIM_NOINLINE static void short_spin(uint64_t rounds)
{
	uint64_t x = rounds | 1;

	for (uint64_t i = 0; i < rounds; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	STIM_KEEP(x);
}

int main(int argc, char **argv)
{
	unsigned long links = stim_arg(argc, argv, 1, 1);
	char text[32];

	while (stim_clock_ns(CLOCK_PROCESS_CPUTIME_ID) < 5000000)
		short_spin(200000);
	printf("link=%lu pid=%d\n", links, getpid());
	fflush(stdout);
	if (links <= 1)
		return 0;

	snprintf(text, sizeof(text), "%lu", links - 1);
	switch (fork()) {
	case -1:
		return 2;
	case 0:
		execl("/proc/self/exe", argv[0], text, (char *)NULL);
		_exit(2);
	}
	return 0;
}
