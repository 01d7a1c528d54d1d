// SPDX-License-Identifier: BSD-2-Clause
/*
 * waiter [--now] [TURNS [MICROSECONDS [PID]]]
 *
 * TURNS (100) times, it naps for MICROSECONDS (0: not at all), and then burns about a millisecond. It
 * measures its run-queue latency, its first and last time by CLOCK_MONOTONIC, and the CPU time of the other
 * process during that time:
 *
 *	turns=N  waited_ns=N  from_ns=N  until_ns=N  other_ns=N
 */
#include "stimulus.h"

enum { BURN_NS = 1000000 };

struct times {
	uint64_t now, waited, other;
};

static void read_times(const char *path, uint64_t *ran, uint64_t *waited)
{
	unsigned long long r, w;
	FILE *f = fopen(path, "r");

	if (!f || fscanf(f, "%llu %llu", &r, &w) != 2)
		exit(2);
	fclose(f);
	*ran = r;
	*waited = w;
}

static struct times measure(unsigned long other)
{
	struct times t = { .other = 0 };
	uint64_t ignored;
	char path[64];

	if (other) {
		snprintf(path, sizeof(path), "/proc/%lu/schedstat", other);
		read_times(path, &t.other, &ignored);
	}
	t.now = stim_clock_ns(CLOCK_MONOTONIC);
	read_times("/proc/thread-self/schedstat", &ignored, &t.waited);
	return t;
}

static void burn(void)
{
	uint64_t end = stim_clock_ns(CLOCK_THREAD_CPUTIME_ID) + BURN_NS;

	while (stim_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	unsigned long turns = stim_arg(argc, argv, 1, 100);
	unsigned long us = stim_arg(argc, argv, 2, 0);
	struct timespec nap = { .tv_sec = (time_t)(us / 1000000),
				.tv_nsec = (long)(us % 1000000) * 1000 };
	unsigned long other = stim_arg(argc, argv, 3, 0);
	struct times from, until;

	stim_start(now, "");
	from = measure(other);
	for (unsigned long i = 0; i < turns; i++) {
		if (us && nanosleep(&nap, NULL))
			return 2;
		burn();
	}
	until = measure(other);
	printf("turns=%lu\nwaited_ns=%llu\n", turns,
	       (unsigned long long)(until.waited - from.waited));
	printf("from_ns=%llu\nuntil_ns=%llu\nother_ns=%llu\n", (unsigned long long)from.now,
	       (unsigned long long)until.now, (unsigned long long)(until.other - from.other));
	stim_done(now);
	return 0;
}
