// SPDX-License-Identifier: BSD-2-Clause
/*
 * pingpong [--now] [ROUNDS]
 *
 * Two threads, named "ping" and "pong", pass a futex to and fro ROUNDS (1000) times. A wake without a sleeper
 * wakes no thread, so the truth is the return value of futex(FUTEX_WAKE): each counted wake is one sched_waking
 * of one thread by the other.
 *
 *	ready pid=P tid=T ping=TID pong=TID
 *	ping_wakes=N  pong_wakes=N
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>

#include "stimulus.h"

enum { PING, PONG };

struct player {
	int side;
	unsigned long wakes;
	atomic_long tid;
};

/* Whose turn it is; -1 until both may start. */
static atomic_int turn = -1;
static unsigned long rounds;

static long futex(atomic_int *word, int op, int val)
{
	return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, val, NULL, NULL, 0);
}

static void wait_for_turn(int side)
{
	int seen;

	while ((seen = atomic_load(&turn)) != side)
		futex(&turn, FUTEX_WAIT, seen);
}

static void *play(void *arg)
{
	struct player *p = arg;

	prctl(PR_SET_NAME, p->side == PING ? "ping" : "pong");
	atomic_store(&p->tid, syscall(SYS_gettid));
	for (unsigned long i = 0; i < rounds; i++) {
		wait_for_turn(p->side);
		atomic_store(&turn, !p->side);
		p->wakes += (unsigned long)futex(&turn, FUTEX_WAKE, 1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	bool now = stim_parse_now(&argc, &argv);
	struct player players[] = { { .side = PING }, { .side = PONG } };
	pthread_t threads[2];
	char extra[64];

	rounds = stim_arg(argc, argv, 1, 1000);
	for (int i = 0; i < 2; i++) {
		if (pthread_create(&threads[i], NULL, play, &players[i]) != 0)
			return 2;
		while (!atomic_load(&players[i].tid))
			sched_yield();
	}
	snprintf(extra, sizeof(extra), "ping=%ld pong=%ld", atomic_load(&players[PING].tid),
		 atomic_load(&players[PONG].tid));
	stim_start(now, extra);

	/* Both may be asleep on -1; the main thread's own wake belongs to neither count. */
	atomic_store(&turn, PING);
	futex(&turn, FUTEX_WAKE, 2);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);

	printf("ping_wakes=%lu\npong_wakes=%lu\n", players[PING].wakes, players[PONG].wakes);
	stim_done(now);
	return 0;
}
