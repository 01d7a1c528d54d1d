// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind_bare [--now] [ROUNDS]
 *
 * Functions with and without a frame that call each other, directly and through pointers, in a file without unwind
 * information. Runs until it is killed, or ROUNDS times. Each chain is main < bare_caller < ... < bare_leaf, which has a
 * frame or not and naps now and then.
 */
#include "stimulus.h"

enum { WORK = 2000, NAP_EVERY = 16, NAP_NS = 50000 };

#define FRAME STIM_NOINLINE __attribute__((noclone, optimize("no-omit-frame-pointer")))
#define BARE STIM_NOINLINE __attribute__((noclone, optimize("omit-frame-pointer")))

typedef unsigned long (*bare_fn)(unsigned long seed);

static volatile unsigned long sink;
static volatile bare_fn pointer;

BARE static unsigned long bare_leaf(unsigned long seed)
{
	for (int i = 0; i < WORK; i++)
		seed = seed * 6364136223846793005u + (seed >> 7);
	return seed;
}

BARE static unsigned long bare_nap(unsigned long seed)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	if (seed % NAP_EVERY == 0)
		nanosleep(&nap, NULL);
	return bare_leaf(seed) + sink;
}

FRAME static unsigned long framed_nap(unsigned long seed)
{
	return bare_nap(seed + 1) + sink;
}

BARE static unsigned long bare_1(unsigned long seed)
{
	volatile unsigned long local[4] = { seed };

	return bare_nap(seed + 2) + local[0];
}

BARE static unsigned long bare_2(unsigned long seed)
{
	volatile unsigned long local[9] = { seed };

	return bare_1(seed + 3) + local[0];
}

FRAME static unsigned long framed_1(unsigned long seed)
{
	return framed_nap(seed) + bare_2(seed + 4) + sink;
}

BARE static unsigned long bare_by_pointer(unsigned long seed)
{
	pointer = seed & 1 ? bare_1 : bare_2;
	return pointer(seed) + sink;
}

FRAME static unsigned long framed_by_pointer(unsigned long seed)
{
	pointer = seed & 1 ? bare_by_pointer : framed_1;
	return pointer(seed) + sink;
}

FRAME static unsigned long framed_caller(unsigned long seed)
{
	return framed_1(seed) + bare_2(seed + 1) + framed_by_pointer(seed + 2) + sink;
}

BARE static unsigned long bare_caller(unsigned long seed)
{
	return framed_caller(seed) + bare_by_pointer(seed) + sink;
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	unsigned long rounds = stim_arg(argc, argv, 1, 0);

	stim_start(now, "");
	for (unsigned long i = 0; !rounds || i < rounds; i++)
		sink += bare_caller(i);
	stim_done(now);
	return 0;
}
