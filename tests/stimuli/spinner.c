// SPDX-License-Identifier: BSD-2-Clause
/*
 * spinner [--now] [PERCENT_A [MILLISECONDS]]
 *
 * Burns MILLISECONDS (3000) of its own CPU time, PERCENT_A (70) of it in hot_a and the rest in
 * hot_b, both called by work() from main(). The truth printed is measured, not intended: the
 * thread's CPU clock is read around each call.
 *
 *	hot_a_ns=N  hot_b_ns=N  total_ns=N  hot_a_percent=P.PP  hot_b_percent=P.PP
 *
 * The hot loops make no calls, so that samples land in them and not in the clock. A slice lasts a
 * few milliseconds and varies, so that no sampling period can match the alternation.
 */
#include "stimulus.h"

STIM_NOINLINE static void hot_a(uint64_t rounds)
{
	uint64_t x = rounds | 1;

	for (uint64_t i = 0; i < rounds; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	STIM_KEEP(x);
}

STIM_NOINLINE static void hot_b(uint64_t rounds)
{
	uint64_t x = rounds | 1;

	for (uint64_t i = 0; i < rounds; i++)
		x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
	STIM_KEEP(x);
}

struct shares {
	uint64_t a_ns, b_ns;
};

STIM_NOINLINE static void work(uint64_t rounds_a, uint64_t rounds_b, struct shares *s)
{
	uint64_t t0, t1, t2;

	t0 = stim_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	hot_a(rounds_a);
	t1 = stim_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	hot_b(rounds_b);
	t2 = stim_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	s->a_ns += t1 - t0;
	s->b_ns += t2 - t1;
}

/* Rounds of each loop that take about a millisecond here and now. */
static void calibrate(uint64_t *per_ms_a, uint64_t *per_ms_b)
{
	const uint64_t rounds = 20000000;
	struct shares s = { 0 };

	work(rounds, rounds, &s);
	*per_ms_a = rounds * 1000000 / (s.a_ns | 1);
	*per_ms_b = rounds * 1000000 / (s.b_ns | 1);
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	uint64_t percent = stim_arg(argc, argv, 1, 70);
	uint64_t goal_ns = stim_arg(argc, argv, 2, 3000) * 1000000;
	uint64_t per_ms_a, per_ms_b, slice, begin, total;
	struct shares s = { 0 };
	uint32_t seed = 1;

	if (percent > 100)
		return 2;
	calibrate(&per_ms_a, &per_ms_b);
	stim_start(now, "");

	begin = stim_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	do {
		seed = seed * 1664525 + 1013904223;
		slice = 7 + (seed >> 16) % 7;
		work(per_ms_a * slice * percent / 100, per_ms_b * slice * (100 - percent) / 100,
		     &s);
		total = stim_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	} while (total < goal_ns);

	printf("hot_a_ns=%llu\nhot_b_ns=%llu\ntotal_ns=%llu\n", (unsigned long long)s.a_ns,
	       (unsigned long long)s.b_ns, (unsigned long long)total);
	printf("hot_a_percent=%.2f\nhot_b_percent=%.2f\n", 100.0 * (double)s.a_ns / (double)total,
	       100.0 * (double)s.b_ns / (double)total);
	stim_done(now);
	return 0;
}
