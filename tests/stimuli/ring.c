// SPDX-License-Identifier: BSD-2-Clause
/*
 * ring [--now] [LAPS]
 *
 * Five threads in a ring of pipes pass one byte round LAPS (40) times: each reads it, computes for a
 * millisecond and writes it to the next. So each is woken only by the thread before it, except the first one,
 * which gets the byte from the main thread once.
 *
 *	ready pid=P tid=T ring0=TID ... ring4=TID
 *	laps=N
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>

#include "stimulus.h"

enum { THREADS = 5, WORK_NS = 1000000 };

struct player {
	int from, to; /* ends of pipes */
	int index;
	unsigned long laps;
	atomic_long tid;
};

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *play(void *arg)
{
	struct player *p = arg;
	char name[16], byte;

	snprintf(name, sizeof(name), "ring%d", p->index);
	prctl(PR_SET_NAME, name);
	atomic_store(&p->tid, syscall(SYS_gettid));
	for (unsigned long i = 0; i < p->laps; i++) {
		uint64_t end;

		if (read(p->from, &byte, 1) != 1)
			return NULL;
		end = cpu_ns() + WORK_NS;
		while (cpu_ns() < end)
			;
		if (write(p->to, &byte, 1) != 1)
			return NULL;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	unsigned long laps = stim_arg(argc, argv, 1, 40);
	struct player players[THREADS] = { 0 };
	pthread_t threads[THREADS];
	int pipes[THREADS][2];
	char extra[160] = "";
	size_t len = 0;

	for (int i = 0; i < THREADS; i++)
		if (pipe(pipes[i]))
			return 2;
	for (int i = 0; i < THREADS; i++) {
		players[i].from = pipes[i][0];
		players[i].to = pipes[(i + 1) % THREADS][1];
		players[i].index = i;
		players[i].laps = laps;
		if (pthread_create(&threads[i], NULL, play, &players[i]) != 0)
			return 2;
		while (!atomic_load(&players[i].tid))
			sched_yield();
		len += (size_t)snprintf(extra + len, sizeof(extra) - len, "%sring%d=%ld",
					i ? " " : "", i, atomic_load(&players[i].tid));
	}
	stim_start(now, extra);
	if (write(pipes[0][1], "x", 1) != 1)
		return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("laps=%lu\n", laps);
	stim_done(now);
	return 0;
}
