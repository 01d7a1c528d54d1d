// SPDX-License-Identifier: BSD-2-Clause
/*
 * sleeper [--now] [COUNT [MICROSECONDS [COUNT MICROSECONDS]...]]
 *
 * Sleeps exactly COUNT (1000) times for MICROSECONDS (100) in its only thread, and so on, takes no signal, and
 * then stays blocked on standard input, where its counters stand still. After each further line it prints its
 * own counters, which already include the switch into that blocked interval:
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

static unsigned long sleep_times(unsigned long count, unsigned long us)
{
	struct timespec nap = { .tv_sec = (time_t)(us / 1000000),
				.tv_nsec = (long)(us % 1000000) * 1000 };

	for (unsigned long i = 0; i < count; i++)
		if (nanosleep(&nap, NULL) != 0)
			exit(2);
	return count;
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	unsigned long sleeps;

	stim_start(now, "");
	sleeps = sleep_times(stim_arg(argc, argv, 1, 1000), stim_arg(argc, argv, 2, 100));
	for (int i = 3; i < argc; i += 2)
		sleeps += sleep_times(stim_arg(argc, argv, i, 0), stim_arg(argc, argv, i + 1, 100));
	printf("sleeps=%lu\ndone\n", sleeps);
	fflush(stdout);
	while (!now && stim_wait_line())
		print_switches();
	return 0;
}
