// SPDX-License-Identifier: BSD-2-Clause
/*
 * ticks [--now] [ROUNDS]
 *
 * Stays on one CPU, where a timer fires every 30 us, and creates and closes ROUNDS (20000) pipes, for which the
 * kernel allocates and frees: events of one kind interrupt the other. Reads the count of the timer.
 *
 *	ready pid=P tid=T
 *	fired=N
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/timerfd.h>

#include "stimulus.h"

enum { EVERY_NS = 30000 };

int main(int argc, char **argv)
{
	const struct itimerspec often = { { 0, EVERY_NS }, { 0, EVERY_NS } }, never = { 0 };
	bool now = stim_parse_now(&argc, &argv);
	long rounds = argc > 1 ? atol(argv[1]) : 20000, i;
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), ends[2];
	uint64_t fired = 0;
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	if (timer < 0 || sched_setaffinity(0, sizeof(here), &here))
		return 2;
	stim_start(now, "");
	if (timerfd_settime(timer, 0, &often, NULL))
		return 2;
	for (i = 0; i < rounds; i++) {
		if (pipe(ends))
			return 2;
		close(ends[0]);
		close(ends[1]);
	}
	if (read(timer, &fired, sizeof(fired)) != sizeof(fired) ||
	    timerfd_settime(timer, 0, &never, NULL))
		return 2;
	printf("fired=%llu\n", (unsigned long long)fired);
	stim_done(now);
	return 0;
}
