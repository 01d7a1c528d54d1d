// SPDX-License-Identifier: BSD-2-Clause
/*
 * sleeper [--now] [COUNT [MICROSECONDS]]
 *
 * Sleeps exactly COUNT (1000) times for MICROSECONDS (100) in its only thread, takes no signal, and
 * then stays blocked on standard input, where its counters stand still. Each further line that it
 * is sent makes it print its own counters, with the switch into that wait already in them:
 *
 *	sleeps=N			before "done"
 *	voluntary=N nonvoluntary=N	after each further line
 */
#include "stimulus.h"

static void print_switches(void)
{
	unsigned long voluntary = 0, nonvoluntary = 0;
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");

	if (!f)
		exit(2);
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "voluntary_ctxt_switches: %lu", &voluntary);
		sscanf(line, "nonvoluntary_ctxt_switches: %lu", &nonvoluntary);
	}
	fclose(f);
	printf("voluntary=%lu nonvoluntary=%lu\n", voluntary, nonvoluntary);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	bool now = stim_take_now(&argc, &argv);
	unsigned long count = stim_arg(argc, argv, 1, 1000);
	unsigned long us = stim_arg(argc, argv, 2, 100);
	struct timespec nap = { .tv_sec = (time_t)(us / 1000000),
				.tv_nsec = (long)(us % 1000000) * 1000 };
	unsigned long sleeps = 0;

	stim_start(now, "");
	while (sleeps < count) {
		if (nanosleep(&nap, NULL) != 0)
			return 2;
		sleeps++;
	}
	printf("sleeps=%lu\ndone\n", sleeps);
	fflush(stdout);
	while (!now && stim_wait_line())
		print_switches();
	return 0;
}
