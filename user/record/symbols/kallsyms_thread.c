// SPDX-License-Identifier: BSD-2-Clause
/*
 * kallsyms_thread.c - reads the kernel's symbol table in a thread
 *
 * Reading needs about the time of all other work before a recording starts, so a thread reads it afterwards. Owns
 * both.
 *
 * The kernel reports BPF images, but not modules. After an address outside all known ranges, the thread reads the
 * list of modules. If the list has changed, it reads the symbols again. The recorder does not wait for it. The
 * interval between two reads is limited, so unknown addresses remain unknown for a while.
 */
#include "record/symbols/kallsyms_thread.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "kernel/kallsyms.h"
#include "kernel/privileges.h"
#include "kernel/realtime.h"
#include "record/symbols/frames.h"

#define LOOK_NS 2000000000ull /* between two reads of the list */
#define LIST_MAX (16UL << 20)

struct kallsyms_thread {
	pthread_t thread;
	bool running; /* the thread must be joined */
	const char *symbols_path, *modules_path;
	uint64_t modules; /* used by the thread: hash of the list at the last read of the symbols */
	uint64_t looked_ns; /* last read, used by the caller */
	struct kallsyms *kallsyms; /* used by the caller; NULL: not read */
	struct realtime *realtime; /* NULL: none */
	pthread_mutex_t
		lock; /* protects the following; held briefly, with the drain's priority if it waits */
	pthread_cond_t changed;
	bool busy, ends;
	struct kallsyms *fresh; /* read, but not fetched */
	struct kallsyms *stale; /* the thread will free it */
};

static uint64_t read_modules(const struct kallsyms_thread *t)
{
	struct buf list = { 0 };
	uint64_t state = 0;

	if (!file_read(AT_FDCWD, t->modules_path, LIST_MAX, &list))
		state = kallsyms_modules_state(list.data, list.len);
	buf_free(&list);
	return state;
}

/* Reads the list first: a module that is loaded in between changes it again. NULL: unchanged, or an error. */
static struct kallsyms *load(struct kallsyms_thread *t, bool first)
{
	struct kallsyms *out = NULL;
	uint64_t modules = read_modules(t);

	if (!first && modules == t->modules)
		return NULL;
	t->modules = modules;
	return kallsyms_load(t->symbols_path, t->modules_path, &out) ? NULL : out;
}

/* With the lock held; releases it temporarily. */
static void free_stale(struct kallsyms_thread *t)
{
	struct kallsyms *stale = t->stale;

	t->stale = NULL;
	pthread_mutex_unlock(&t->lock);
	kallsyms_free(stale);
	pthread_mutex_lock(&t->lock);
}

static void *run(void *ctx)
{
	struct kallsyms_thread *t = ctx;
	struct kallsyms *out;
	bool first = true;

	privileges_drop_all_but(1ULL << CAP_SYSLOG);
	/* until the first read has ended, records are held in memory, which is limited */
	realtime_join(t->realtime);
	pthread_mutex_lock(&t->lock);
	for (;;) {
		while (!t->busy && !t->ends && !t->stale)
			pthread_cond_wait(&t->changed, &t->lock);
		free_stale(t);
		if (t->ends && !t->busy)
			break;
		if (!t->busy)
			continue;
		pthread_mutex_unlock(&t->lock);
		out = load(t, first);
		if (first)
			realtime_leave(t->realtime);
		first = false;
		pthread_mutex_lock(&t->lock);
		t->fresh = out;
		t->busy = false;
		pthread_cond_broadcast(&t->changed);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

struct kallsyms_thread *kallsyms_thread_new(const char *symbols_path, const char *modules_path,
					    struct realtime *realtime)
{
	struct kallsyms_thread *t = xcalloc(1, sizeof(*t));
	pthread_mutexattr_t attr;
	sigset_t all, before;

	t->realtime = realtime;
	t->symbols_path = symbols_path ? symbols_path : "/proc/kallsyms";
	t->modules_path = modules_path ? modules_path : "/proc/modules";
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&t->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	pthread_cond_init(&t->changed, NULL);
	t->busy = true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	t->running = !pthread_create(&t->thread, NULL, run, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!t->running)
		t->busy = false;
	return t;
}

bool kallsyms_thread_is_done(struct kallsyms_thread *t)
{
	bool done;

	if (!t)
		return true;
	pthread_mutex_lock(&t->lock);
	done = !t->busy;
	pthread_mutex_unlock(&t->lock);
	return done;
}

/* With the lock held. */
static bool use_fresh(struct kallsyms_thread *t)
{
	if (t->busy || !t->fresh || t->stale)
		return false;
	t->stale = t->kallsyms;
	t->kallsyms = t->fresh;
	t->fresh = NULL;
	pthread_cond_broadcast(&t->changed);
	return true;
}

const struct kallsyms *kallsyms_thread_get(struct kallsyms_thread *t)
{
	if (!t)
		return NULL;
	pthread_mutex_lock(&t->lock);
	while (t->busy)
		pthread_cond_wait(&t->changed, &t->lock);
	if (!t->kallsyms)
		use_fresh(t);
	pthread_mutex_unlock(&t->lock);
	return t->kallsyms;
}

void kallsyms_thread_renew(struct kallsyms_thread *t, struct frames *frames)
{
	uint64_t now;

	if (!t || !t->kallsyms)
		return;
	now = clock_mono_ns();
	pthread_mutex_lock(&t->lock);
	if (use_fresh(t))
		frames_set_kallsyms(frames, t->kallsyms);
	if (!t->busy && !t->fresh && now - t->looked_ns >= LOOK_NS &&
	    frames_missed_kernel(frames)) {
		t->looked_ns = now;
		t->busy = true;
		pthread_cond_broadcast(&t->changed);
	}
	pthread_mutex_unlock(&t->lock);
}

void kallsyms_thread_free(struct kallsyms_thread *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->ends = true;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
	if (t->running)
		pthread_join(t->thread, NULL);
	kallsyms_free(t->kallsyms);
	kallsyms_free(t->fresh);
	kallsyms_free(t->stale);
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
	free(t);
}
