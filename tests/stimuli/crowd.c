// SPDX-License-Identifier: BSD-2-Clause
/*
 * crowd [--now] [COUNT]
 *
 * Makes COUNT (8) threads that all wait for the same thing, and prints when all of them wait:
 *
 *	crowd=COUNT
 *
 * They wait until the program ends.
 */
#include <pthread.h>
#include <semaphore.h>

#include "stimulus.h"

enum { STACK = 65536 };

static sem_t there, never;

static void *wait_for_ever(void *arg)
{
	sem_post(&there);
	sem_wait(&never);
	return arg;
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	unsigned long cnt = stim_arg(argc, argv, 1, 8);
	pthread_attr_t attr;
	pthread_t thread;

	if (sem_init(&there, 0, 0) || sem_init(&never, 0, 0) || pthread_attr_init(&attr) ||
	    pthread_attr_setstacksize(&attr, STACK))
		return 2;
	stim_start(now, "");
	for (unsigned long i = 0; i < cnt; i++)
		if (pthread_create(&thread, &attr, wait_for_ever, NULL))
			return 2;
	for (unsigned long i = 0; i < cnt; i++)
		while (sem_wait(&there))
			;
	printf("crowd=%lu\n", cnt);
	stim_done(now);
	return 0;
}
