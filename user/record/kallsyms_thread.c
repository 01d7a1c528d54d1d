// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel's symbol table takes about as long to read as everything else until a recording starts, so a
 * thread reads it after that. Owns both.
 */
#include "record/kallsyms_thread.h"

#include <linux/capability.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "kernel/kallsyms.h"
#include "kernel/privileges.h"

struct kallsyms_thread {
	pthread_t thread;
	bool running; /* it is to be joined */
	bool done; /* set by the thread */
	struct kallsyms *kallsyms; /* NULL: not read */
};

static void *load(void *ctx)
{
	struct kallsyms_thread *t = ctx;

	privileges_drop_all_but(1ULL << CAP_SYSLOG);
	if (kallsyms_load(NULL, NULL, &t->kallsyms))
		t->kallsyms = NULL;
	__atomic_store_n(&t->done, true, __ATOMIC_RELEASE);
	return NULL;
}

struct kallsyms_thread *kallsyms_thread_new(void)
{
	struct kallsyms_thread *t = xcalloc(1, sizeof(*t));

	t->running = !pthread_create(&t->thread, NULL, load, t);
	if (!t->running)
		t->done = true;
	return t;
}

bool kallsyms_thread_is_done(const struct kallsyms_thread *t)
{
	return __atomic_load_n(&t->done, __ATOMIC_ACQUIRE);
}

const struct kallsyms *kallsyms_thread_get(struct kallsyms_thread *t)
{
	if (t->running)
		pthread_join(t->thread, NULL);
	t->running = false;
	return t->kallsyms;
}

void kallsyms_thread_free(struct kallsyms_thread *t)
{
	if (!t)
		return;
	kallsyms_thread_get(t);
	kallsyms_free(t->kallsyms);
	free(t);
}
