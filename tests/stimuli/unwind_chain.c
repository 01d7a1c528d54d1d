// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind_chain [--now] [ROUNDS]
 *
 * Spins ROUNDS (50) times in each place whose stack is known: at the end of a chain of functions with frames of
 * all kinds, in a thread likewise, and in the handler of a signal that interrupts the chain's leaf, where it
 * spends some part of the time. Then it sleeps at the end of a chain as often.
 *
 *	main chain_deep chain_huge chain_sized chain_leaf
 *	chain_thread chain_deep ...
 *	... chain_leaf, chain_handler chain_in_handler
 *	main chain_sleeps nanosleep
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "stimulus.h"

enum {
	SPIN = 300000,
	HUGE_SZ = 40000,
	DEEP_SZ = 1500,
	DEPTH = 10,
	NAP_NS = 1000000,
	HANDLER_LEAVES = 4,
	SIGNAL_US = 20000
};

static volatile unsigned long sink;

/* A leaf function that keeps nothing in memory. */
STIM_NOINLINE static unsigned long chain_leaf(unsigned long seed)
{
	for (unsigned long i = 0; i < SPIN; i++)
		seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed;
}

/* Its frame has a size that the compiler does not know. */
STIM_NOINLINE static unsigned long chain_sized(unsigned long seed)
{
	size_t sz = 16 + seed % 300;
	volatile unsigned char *p = alloca(sz);

	p[sz / 2] = 1;
	return chain_leaf(seed) + p[sz / 2];
}

STIM_NOINLINE static unsigned long chain_huge(unsigned long seed)
{
	volatile unsigned char huge[HUGE_SZ];

	huge[seed % HUGE_SZ] = 1;
	return chain_sized(seed) + huge[seed % HUGE_SZ];
}

STIM_NOINLINE static unsigned long chain_deep(unsigned int depth, unsigned long seed)
{
	volatile unsigned char large[DEEP_SZ];

	large[seed % DEEP_SZ] = 1;
	seed = depth ? chain_deep(depth - 1, seed + 1) : chain_huge(seed);
	return seed + large[seed % DEEP_SZ];
}

STIM_NOINLINE static unsigned long chain_in_handler(unsigned long seed)
{
	for (int i = 0; i < HANDLER_LEAVES; i++)
		seed = chain_leaf(seed) ^ 1;
	return seed;
}

static void chain_handler(int sig)
{
	sink += chain_in_handler(sink);
}

static void *chain_thread(void *arg)
{
	for (unsigned long i = 0; i < *(unsigned long *)arg; i++)
		sink += chain_deep(DEPTH, i);
	return NULL;
}

STIM_NOINLINE static void chain_sleeps(unsigned long rounds)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	for (unsigned long i = 0; i < rounds; i++)
		nanosleep(&nap, NULL);
}

int main(int argc, char **argv)
{
	const struct itimerval each = { .it_interval.tv_usec = SIGNAL_US,
					.it_value.tv_usec = SIGNAL_US };
	const struct itimerval never = { .it_value.tv_usec = 0 };
	const struct sigaction act = { .sa_handler = chain_handler, .sa_flags = SA_RESTART };
	bool now = stim_parse_now(&argc, &argv);
	unsigned long rounds = stim_arg(argc, argv, 1, 50);
	pthread_t thread;

	stim_start(now, "");
	for (unsigned long i = 0; i < rounds; i++)
		sink += chain_deep(DEPTH, i);
	if (sigaction(SIGPROF, &act, NULL) || setitimer(ITIMER_PROF, &each, NULL))
		return 2;
	for (unsigned long i = 0; i < rounds; i++)
		sink += chain_deep(DEPTH, i);
	setitimer(ITIMER_PROF, &never, NULL);
	if (pthread_create(&thread, NULL, chain_thread, &rounds))
		return 2;
	pthread_join(thread, NULL);
	chain_sleeps(rounds);
	stim_done(now);
	return 0;
}
