// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind_framed [--now] [ROUNDS]
 *
 * A program with frame pointers, without unwind information. Each chain is
 * main < framed_outer < framed_middle < framed_inner < leaf_X, and the leaf functions have no frame: leaf_loop works,
 * leaf_naps sleeps before its last instruction. Runs until it is killed, or ROUNDS times.
 */
#include "stimulus.h"

enum { WORK = 2000, NAP_NS = 100000 };

#define LEAF STIM_NOINLINE __attribute__((noclone, optimize("omit-frame-pointer")))
#define FRAME STIM_NOINLINE __attribute__((noclone))

static volatile unsigned long sink;

#if defined(__x86_64__)
__asm__(".pushsection .text\n.type leaf_naps, @function\nleaf_naps:\n"
	"mov $35, %eax; xor %esi, %esi; syscall; ret\n.size leaf_naps, . - leaf_naps\n.popsection\n");
void leaf_naps(const struct timespec *nap);
#else
static void leaf_naps(const struct timespec *nap)
{
	nanosleep(nap, NULL);
}
#endif

LEAF static unsigned long leaf_loop(unsigned long seed)
{
	for (int i = 0; i < WORK; i++)
		seed = seed * 6364136223846793005u + (seed >> 7);
	return seed;
}

FRAME static unsigned long framed_inner(unsigned long seed)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	if (seed % 64 == 0)
		leaf_naps(&nap);
	return leaf_loop(seed) + sink;
}

FRAME static unsigned long framed_middle(unsigned long seed)
{
	return framed_inner(seed + 1) + sink;
}

FRAME static unsigned long framed_outer(unsigned long seed)
{
	return framed_middle(seed) + sink;
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	unsigned long rounds = stim_arg(argc, argv, 1, 0);

	stim_start(now, "");
	for (unsigned long i = 0; !rounds || i < rounds; i++)
		sink += framed_outer(i);
	stim_done(now);
	return 0;
}
