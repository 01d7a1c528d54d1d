// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind_contexts [--now] [ROUNDS]
 *
 * Two threads run CONTEXTS contexts of makecontext() each, which switch to the next one by swapcontext(). Each context
 * runs and sleeps ROUNDS (100) times in contexts_nap < contexts_work < contexts_root, and ends by a return to its start.
 */
#include <pthread.h>
#include <ucontext.h>

#include "stimulus.h"

enum { CONTEXTS = 3, STACK_SZ = 1 << 16, NAP_NS = 200000, WORK = 20000 };

struct team {
	unsigned long rounds;
	ucontext_t caller, contexts[CONTEXTS];
	int done; /* contexts */
};

static volatile unsigned long sink;

STIM_NOINLINE static void contexts_nap(void)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	nanosleep(&nap, NULL);
	STIM_KEEP(sink);
}

STIM_NOINLINE static unsigned long contexts_work(unsigned long seed)
{
	for (int i = 0; i < WORK; i++)
		seed = seed * 6364136223846793005u + (seed >> 7);
	contexts_nap();
	return seed + sink;
}

STIM_NOINLINE static void contexts_root(unsigned int low, unsigned int high, int i)
{
	struct team *t = (struct team *)((uintptr_t)high << 32 | low);

	for (unsigned long k = 0; k < t->rounds; k++) {
		sink += contexts_work(k);
		swapcontext(&t->contexts[i], &t->contexts[(i + 1) % CONTEXTS]);
	}
	t->done++;
}

static void *run_team(void *arg)
{
	struct team *t = arg;
	unsigned int low = (uintptr_t)t, high = (uintptr_t)t >> 32;
	char *stacks = malloc(CONTEXTS * STACK_SZ);

	for (int i = 0; i < CONTEXTS; i++) {
		ucontext_t *c = &t->contexts[i];

		if (!stacks || getcontext(c))
			exit(2);
		c->uc_stack.ss_sp = stacks + i * STACK_SZ;
		c->uc_stack.ss_size = STACK_SZ;
		c->uc_link = i + 1 < CONTEXTS ? &t->contexts[i + 1] : &t->caller;
		makecontext(c, (void (*)(void))contexts_root, 3, low, high, i);
	}
	swapcontext(&t->caller, &t->contexts[0]);
	free(stacks);
	return NULL;
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	unsigned long rounds = stim_arg(argc, argv, 1, 100);
	static struct team teams[2];
	pthread_t thread;

	teams[0].rounds = teams[1].rounds = rounds;
	stim_start(now, "");
	if (pthread_create(&thread, NULL, run_team, &teams[1]))
		return 2;
	run_team(&teams[0]);
	pthread_join(thread, NULL);
	stim_done(now);
	return teams[0].done == CONTEXTS && teams[1].done == CONTEXTS ? 0 : 3;
}
