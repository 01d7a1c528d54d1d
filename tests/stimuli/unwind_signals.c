// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind_signals
 *
 * Calls itself up to 60 deep, with frames of sizes that the compiler does not know and without frame pointers,
 * while signals come each millisecond of CPU time; their handler does the same on its own stack, and some of
 * its calls are interrupted again. Runs until it is killed.
 */
#include <alloca.h>
#include <signal.h>
#include <sys/time.h>

#include "stimulus.h"

enum { MAIN_DEPTH = 60, HANDLER_DEPTH = 20, SPIN = 3000, STACK = 1 << 18 };

static volatile unsigned long sink;

STIM_NOINLINE static void spin(unsigned long seed)
{
	for (unsigned long i = 0; i < SPIN; i++)
		seed = seed * 6364136223846793005u + 1442695040888963407u;
	sink = seed;
}

STIM_NOINLINE static unsigned long fixed(unsigned int depth, unsigned long seed);

/* Its frame is found by a frame pointer only, with any compiler options. */
STIM_NOINLINE static unsigned long sized(unsigned int depth, unsigned long seed)
{
	size_t sz = 16 + seed % 300;
	unsigned char *p = alloca(sz);

	memset(p, (int)depth, sz);
	seed += depth ? fixed(depth - 1, seed * 31 + p[sz / 2]) : 1;
	return seed + p[0];
}

STIM_NOINLINE static unsigned long fixed(unsigned int depth, unsigned long seed)
{
	unsigned long words[8];

	for (int i = 0; i < 8; i++)
		words[i] = seed + depth;
	if (!(depth & 3))
		spin(seed);
	if (depth)
		seed += seed & 16 ? sized(depth - 1, seed / 3 + 7) : fixed(depth - 1, seed / 5 + 3);
	for (int i = 0; i < 8; i++)
		seed ^= words[i];
	return seed;
}

static void on_clock(int sig)
{
	static unsigned long n;

	n++;
	sink += fixed(n * 7 % HANDLER_DEPTH, n);
	if (n % 3 == 0)
		raise(SIGUSR1);
}

static void on_raise(int sig)
{
	sink += sized(3, sink);
}

int main(void)
{
	const struct itimerval each = { .it_interval.tv_usec = 1000, .it_value.tv_usec = 1000 };
	struct sigaction clock = { .sa_handler = on_clock, .sa_flags = SA_ONSTACK | SA_RESTART };
	struct sigaction raised = { .sa_handler = on_raise };
	stack_t stack = { .ss_sp = malloc(STACK), .ss_size = STACK };

	if (!stack.ss_sp || sigaltstack(&stack, NULL) || sigaction(SIGPROF, &clock, NULL) ||
	    sigaction(SIGUSR1, &raised, NULL) || setitimer(ITIMER_PROF, &each, NULL))
		return 2;
	for (unsigned long i = 0;; i++)
		sink += fixed(i * 13 % MAIN_DEPTH, i);
}
