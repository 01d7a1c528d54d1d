// SPDX-License-Identifier: BSD-2-Clause
/*
 * numbers [--now] [PER_NAP [COUNT]]
 *
 * Closes a missing descriptor, and then the next one: FIRST, FIRST + 1 and so on, with a nap of 100
 * microseconds after every PER_NAP (10) of them, until a line comes or COUNT is reached.
 *
 *	first=N count=N		before "done"
 */
#include <poll.h>

#include "stimulus.h"

enum { FIRST = 1000000 };

static STIM_NOINLINE void close_number(long n)
{
	long err = syscall(SYS_close, n);

	STIM_KEEP(err);
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	unsigned long per_nap = stim_arg(argc, argv, 1, 10), count = 0;
	unsigned long max = stim_arg(argc, argv, 2, -1UL);
	const struct timespec nap = { .tv_nsec = 100000 };
	struct pollfd line = { .fd = STDIN_FILENO, .events = POLLIN };

	stim_start(now, "");
	while (count < max && !poll(&line, 1, 0)) {
		for (unsigned long i = 0; i < per_nap; i++)
			close_number((long)(FIRST + count++));
		nanosleep(&nap, NULL);
	}
	printf("first=%d count=%lu\n", FIRST, count);
	stim_done(now);
	return 0;
}
