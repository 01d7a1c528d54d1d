// SPDX-License-Identifier: BSD-2-Clause
/*
 * waiter.c - a thread for slow kernel requests
 *
 * BPF programs run with preemption off, or inside an RCU read-side section. A global membarrier
 * waits for all of these: after it, no walk uses data that was unpublished before. The membarrier
 * takes tens of milliseconds, which the draining thread must not wait. If the kernel refuses it
 * (CPUs without a tick), the thread sleeps for a second instead: a walk takes microseconds.
 *
 * Tickets are numbers of grace periods. A ticket names the next period to start, because the
 * current one may have started too early.
 */
#include "unwind/waiter.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "kernel/privileges.h"

struct waiter {
	struct waiter_cfg cfg;
	pthread_t thread;
	pthread_mutex_t lock;
	sem_t work; /* signalling a condition variable may wait for the thread */
	pthread_cond_t started;
	bool has_started;
	int start_err;
	uint64_t begun, over, wanted; /* grace periods */
	bool chunk_wanted, chunk_done;
	uint32_t chunk;
	void *mem;
	int chunk_err;
	bool ends;
};

/* Call all of these with the lock held. They release it while they wait. */

static void pass_grace(struct waiter *w)
{
	const struct timespec second = { .tv_sec = 1 };
	uint64_t period = ++w->begun;

	pthread_mutex_unlock(&w->lock);
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&second, NULL);
	pthread_mutex_lock(&w->lock);
	w->over = period;
}

static void make_chunk(struct waiter *w)
{
	uint32_t i = w->chunk;
	void *mem = NULL;
	int err;

	w->chunk_wanted = false;
	pthread_mutex_unlock(&w->lock);
	err = w->cfg.make_chunk(w->cfg.ctx, i, &mem);
	pthread_mutex_lock(&w->lock);
	w->mem = mem;
	w->chunk_err = err;
	w->chunk_done = true;
}

static void wait_for_work(struct waiter *w)
{
	pthread_mutex_unlock(&w->lock);
	sem_wait(&w->work);
	pthread_mutex_lock(&w->lock);
}

static void *run(void *ctx)
{
	struct waiter *w = ctx;
	int err = privileges_drop_all_but(w->cfg.capabilities);

	pthread_mutex_lock(&w->lock);
	w->start_err = err;
	w->has_started = true;
	pthread_cond_signal(&w->started);
	while (!w->ends && !err) {
		if (w->chunk_wanted)
			make_chunk(w);
		else if (w->wanted > w->begun)
			pass_grace(w);
		else
			wait_for_work(w);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Waits until the thread has dropped its privileges, or has failed. */
static int wait_for_start(struct waiter *w)
{
	int err;

	pthread_mutex_lock(&w->lock);
	while (!w->has_started)
		pthread_cond_wait(&w->started, &w->lock);
	err = w->start_err;
	pthread_mutex_unlock(&w->lock);
	return err;
}

static void fini(struct waiter *w)
{
	pthread_cond_destroy(&w->started);
	sem_destroy(&w->work);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

int waiter_new(const struct waiter_cfg *cfg, struct waiter **out)
{
	struct waiter *w = xcalloc(1, sizeof(*w));
	pthread_mutexattr_t attr;
	sigset_t all, before;
	int err;

	w->cfg = *cfg;
	/* Priority inheritance, because the drain may wait for the thread that holds the lock. */
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&w->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	sem_init(&w->work, 0, 0);
	pthread_cond_init(&w->started, NULL);
	/* The creator of the waiter handles signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&w->thread, NULL, run, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err) {
		fini(w);
		return -err;
	}
	err = wait_for_start(w);
	if (err)
		waiter_free(w);
	else
		*out = w;
	return err;
}

void waiter_free(struct waiter *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->ends = true;
	sem_post(&w->work);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	fini(w);
}

uint64_t waiter_grace(struct waiter *w)
{
	uint64_t ticket;

	pthread_mutex_lock(&w->lock);
	ticket = w->begun + 1;
	if (w->wanted != ticket) {
		w->wanted = ticket;
		sem_post(&w->work);
	}
	pthread_mutex_unlock(&w->lock);
	return ticket;
}

bool waiter_is_over(struct waiter *w, uint64_t ticket)
{
	bool over;

	pthread_mutex_lock(&w->lock);
	over = w->over >= ticket;
	pthread_mutex_unlock(&w->lock);
	return over;
}

void waiter_ask_chunk(struct waiter *w, uint32_t i)
{
	pthread_mutex_lock(&w->lock);
	w->chunk = i;
	w->chunk_wanted = true;
	w->chunk_done = false;
	sem_post(&w->work);
	pthread_mutex_unlock(&w->lock);
}

int waiter_chunk(struct waiter *w, void **mem)
{
	int ret;

	pthread_mutex_lock(&w->lock);
	ret = !w->chunk_done ? 0 : w->chunk_err ? w->chunk_err : 1;
	*mem = w->mem;
	pthread_mutex_unlock(&w->lock);
	return ret;
}
