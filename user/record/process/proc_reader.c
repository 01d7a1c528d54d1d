// SPDX-License-Identifier: BSD-2-Clause
/*
 * proc_reader.c - reads /proc in threads, because its files may block
 *
 * Two bounded queues, of requests and of answers, share one lock, which is never held while a file is read. If all
 * threads have been reading one process each for a second, another thread is started, up to a limit. Blocked
 * threads keep the queues alive when the reader is freed.
 */
#include "record/process/proc_reader.h"

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "kernel/privileges.h"
#include "record/process/snapshot.h"

enum {
	QUEUE_MAX = 1024, /* requests and answers together */
	THREADS_MIN = 2,
	THREADS_MAX = 16,
	READER_NICE = 5,
	END_MS = 200, /* wait for threads that are reading */
};

#define SECOND_NS 1000000000ULL
#define HANG_NS SECOND_NS
#define SHORT_MAPS_SZ (512UL << 10) /* some 5000 mappings, which take milliseconds */

struct question {
	uint32_t pid;
	bool with_maps;
};

struct proc_reader {
	pthread_mutex_t lock;
	sem_t asked; /* signalling a condition variable would wait for threads that woke before */
	pthread_cond_t answered; /* on CLOCK_MONOTONIC */
	struct question questions[QUEUE_MAX];
	size_t question_pos, question_cnt;
	struct snapshot *answers[QUEUE_MAX];
	size_t answer_pos, answer_cnt;
	size_t open_cnt; /* requests whose answer was not fetched */
	size_t threads, busy;
	uint64_t all_busy_ns; /* since when; 0: a thread is free */
	size_t maps_sz; /* read of a list of mappings */
	uint64_t ns_per_s; /* CPU time for reading; 0: no limit */
	uint64_t next_ns; /* time of the next read */
	bool ends;
};

static void reader_destroy(struct proc_reader *r)
{
	while (r->answer_cnt--)
		snapshot_free(r->answers[r->answer_pos++ % QUEUE_MAX]);
	sem_destroy(&r->asked);
	pthread_cond_destroy(&r->answered);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static struct timespec to_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / SECOND_NS),
				  .tv_nsec = (long)(ns % SECOND_NS) };
}

/* With the lock held. The threads share one budget. */
static void charge(struct proc_reader *r, uint64_t cpu_ns)
{
	const uint64_t now = clock_mono_ns();

	if (!r->ns_per_s)
		return;
	if (r->next_ns < now)
		r->next_ns = now;
	r->next_ns += cpu_ns * (SECOND_NS / r->ns_per_s);
}

/* With the lock held; releases it while it waits. */
static void await_budget(struct proc_reader *r)
{
	uint64_t now;

	while (!r->ends && r->ns_per_s && (now = clock_mono_ns()) < r->next_ns) {
		struct timespec until = to_timespec(clock_timer_ns() + r->next_ns - now);

		pthread_cond_timedwait(&r->answered, &r->lock, &until);
	}
}

/* With the lock held; releases it while it reads. */
static void answer_one(struct proc_reader *r)
{
	struct question q = r->questions[r->question_pos++ % QUEUE_MAX];
	const size_t maps_sz = q.with_maps ? r->maps_sz : 0;
	struct snapshot *answer;

	r->question_cnt--;
	if (++r->busy == r->threads)
		r->all_busy_ns = clock_mono_ns();
	pthread_mutex_unlock(&r->lock);
	answer = snapshot_read(q.pid, maps_sz);
	pthread_mutex_lock(&r->lock);
	r->busy--;
	r->all_busy_ns = 0;
	charge(r, answer->cpu_ns);
	r->answers[(r->answer_pos + r->answer_cnt++) % QUEUE_MAX] = answer;
	pthread_cond_broadcast(&r->answered);
}

static void *run(void *ctx)
{
	struct proc_reader *r = ctx;
	bool last;

	/* reading is less urgent than the recorder, whose priority is inherited */
	setpriority(PRIO_PROCESS, (id_t)gettid(), READER_NICE);
	privileges_drop_all_but(1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH);
	pthread_mutex_lock(&r->lock);
	for (;;) {
		while (!r->question_cnt && !r->ends) {
			pthread_mutex_unlock(&r->lock);
			sem_wait(&r->asked);
			pthread_mutex_lock(&r->lock);
		}
		await_budget(r);
		if (r->ends)
			break;
		if (r->question_cnt)
			answer_one(r);
	}
	last = !--r->threads;
	pthread_cond_broadcast(&r->answered);
	pthread_mutex_unlock(&r->lock);
	if (last)
		reader_destroy(r);
	return NULL;
}

/* With the lock held. Blocks signals, which belong to the thread that made the reader. */
static int add_thread(struct proc_reader *r)
{
	pthread_t thread;
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, NULL, run, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return -err;
	pthread_detach(thread);
	r->threads++;
	r->all_busy_ns = 0;
	return 0;
}

int proc_reader_new(struct proc_reader **out)
{
	struct proc_reader *r = xcalloc(1, sizeof(*r));
	pthread_mutexattr_t mutex_attr;
	pthread_condattr_t attr;
	int err = 0;

	/*
	 * A thread that holds the lock must not be preempted while the drain waits for it. Inheritance helps
	 * against tasks with a priority only: so the drain does not wait for answers either.
	 */
	pthread_mutexattr_init(&mutex_attr);
	pthread_mutexattr_setprotocol(&mutex_attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&r->lock, &mutex_attr);
	pthread_mutexattr_destroy(&mutex_attr);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	sem_init(&r->asked, 0, 0);
	pthread_cond_init(&r->answered, &attr);
	pthread_condattr_destroy(&attr);
	r->maps_sz = SNAPSHOT_MAPS_SZ;
	pthread_mutex_lock(&r->lock);
	while (!err && r->threads < THREADS_MIN)
		err = add_thread(r);
	pthread_mutex_unlock(&r->lock);
	if (!r->threads) {
		reader_destroy(r);
		return err;
	}
	*out = r;
	return 0;
}

/* The last user destroys it: the caller, or a thread that was blocked. */
void proc_reader_free(struct proc_reader *r)
{
	struct timespec until = to_timespec(clock_timer_ns() + END_MS * 1000000ULL);
	size_t i;
	bool last;

	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->ends = true;
	r->threads++; /* the caller, so that no thread destroys it during the wait */
	for (i = 1; i < r->threads; i++)
		sem_post(&r->asked);
	pthread_cond_broadcast(&r->answered);
	while (r->threads > 1)
		if (pthread_cond_timedwait(&r->answered, &r->lock, &until))
			break;
	last = !--r->threads;
	pthread_mutex_unlock(&r->lock);
	if (last)
		reader_destroy(r);
}

void proc_reader_limit(struct proc_reader *r, uint64_t ns_per_s)
{
	pthread_mutex_lock(&r->lock);
	r->maps_sz = SHORT_MAPS_SZ;
	r->ns_per_s = ns_per_s;
	pthread_mutex_unlock(&r->lock);
}

bool proc_reader_ask(struct proc_reader *r, uint32_t pid, bool with_maps)
{
	bool taken = false;

	pthread_mutex_lock(&r->lock);
	if (r->all_busy_ns && clock_mono_ns() - r->all_busy_ns > HANG_NS &&
	    r->threads < THREADS_MAX)
		add_thread(r);
	if (r->open_cnt < QUEUE_MAX) {
		r->questions[(r->question_pos + r->question_cnt++) % QUEUE_MAX] =
			(struct question){ pid, with_maps };
		r->open_cnt++;
		sem_post(&r->asked);
		taken = true;
	}
	pthread_mutex_unlock(&r->lock);
	return taken;
}

/* With the lock held. */
static struct snapshot *next_answer(struct proc_reader *r, uint64_t until_ns)
{
	if (!r->answer_cnt || r->answers[r->answer_pos % QUEUE_MAX]->to_ns > until_ns)
		return NULL;
	r->answer_cnt--;
	r->open_cnt--;
	return r->answers[r->answer_pos++ % QUEUE_MAX];
}

struct snapshot *proc_reader_receive(struct proc_reader *r, uint64_t until_ns)
{
	struct snapshot *answer;

	if (pthread_mutex_trylock(&r->lock))
		return NULL;
	answer = next_answer(r, until_ns);
	pthread_mutex_unlock(&r->lock);
	return answer;
}

struct snapshot *proc_reader_wait(struct proc_reader *r, uint64_t deadline_ns)
{
	const uint64_t now = clock_mono_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
	struct timespec until = to_timespec(clock_timer_ns() + left);
	struct snapshot *answer;

	pthread_mutex_lock(&r->lock);
	while (!(answer = next_answer(r, UINT64_MAX)))
		if (pthread_cond_timedwait(&r->answered, &r->lock, &until))
			break;
	pthread_mutex_unlock(&r->lock);
	return answer;
}
