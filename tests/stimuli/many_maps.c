// SPDX-License-Identifier: BSD-2-Clause
/*
 * many_maps [--now] MAPPINGS [NAPS [MICROSECONDS]]
 *
 * Maps its own file MAPPINGS times, 8 KiB each, executable; the second page of each becomes unreadable, so that
 * no two mappings are merged. Then it works and sleeps NAPS (0: until it is killed) times for MICROSECONDS
 * (100) in maps_leaf, called by maps_enter > maps_outer > maps_inner.
 *
 *	naps=N		before "done"
 */
#include <err.h>
#include <sys/mman.h>
#include <fcntl.h>

#include "stimulus.h"

enum { PAGE = 4096, WORK = 2000 };

static unsigned long sum;

static void map(unsigned long cnt)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	for (unsigned long i = 0; i < cnt; i++) {
		char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		if (p == MAP_FAILED || mprotect(p + PAGE, PAGE, PROT_NONE))
			err(2, "mmap");
	}
}

STIM_NOINLINE static int maps_leaf(unsigned long us)
{
	struct timespec nap = { .tv_nsec = (long)us * 1000 };

	for (unsigned long i = 0; i < WORK; i++)
		sum += i * i;
	return nanosleep(&nap, NULL) + 1;
}

STIM_NOINLINE static int maps_inner(unsigned long us)
{
	return maps_leaf(us) + 1;
}

STIM_NOINLINE static int maps_outer(unsigned long us)
{
	return maps_inner(us) + 1;
}

STIM_NOINLINE static int maps_enter(unsigned long us)
{
	return maps_outer(us) + 1;
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	unsigned long naps = stim_arg(argc, argv, 2, 0), us = stim_arg(argc, argv, 3, 100), n;

	map(stim_arg(argc, argv, 1, 8000));
	stim_start(now, "");
	for (n = 0; !naps || n < naps; n++)
		STIM_KEEP(maps_enter(us));
	printf("naps=%lu\n", n);
	stim_done(now);
	return 0;
}
