// SPDX-License-Identifier: BSD-2-Clause
/* LINK: -Wl,--wrap=privileges_drop_all_but */
/* Grace periods and chunks, in another thread than the caller. */
#include "unwind/waiter.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>

/* Replaces the real one, which cannot be made to fail. */
int __wrap_privileges_drop_all_but(uint64_t caps);

static int drop_err;
static uint64_t kept_caps;

int __wrap_privileges_drop_all_but(uint64_t caps)
{
	kept_caps = caps;
	return drop_err;
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static int memory[4];

static int make(void *ctx, uint32_t i, void **mem)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	if (i >= 4)
		return -ENOMEM;
	*mem = &memory[i];
	return 0;
}

static struct waiter *new_waiter(void)
{
	const struct waiter_cfg cfg = { .make_chunk = make };
	struct waiter *w;

	cr_assert_eq(waiter_new(&cfg, &w), 0);
	return w;
}

static int wait_chunk(struct waiter *w, void **mem)
{
	int got;

	while (!(got = waiter_chunk(w, mem)))
		sched_yield();
	return got;
}

Test(waiter, thread_that_keeps_its_privileges_is_not_used)
{
	const struct waiter_cfg cfg = { .make_chunk = make, .capabilities = 7 };
	struct waiter *w = NULL;

	drop_err = -EPERM;
	cr_expect_eq(waiter_new(&cfg, &w), -EPERM);
	cr_expect_null(w);
	cr_expect_eq(kept_caps, 7);
}

Test(waiter, ticket_is_over_after_a_period_that_began_later)
{
	struct waiter *w = new_waiter();
	uint64_t first, second;

	/* the thread can do neither */
	pthread_mutex_lock(&gate);
	waiter_ask_chunk(w, 0);
	first = waiter_grace(w);
	cr_expect_eq(waiter_grace(w), first, "none has begun");
	cr_expect_not(waiter_is_over(w, first));
	pthread_mutex_unlock(&gate);
	while (!waiter_is_over(w, first))
		sched_yield();
	second = waiter_grace(w);
	cr_expect_gt(second, first);
	while (!waiter_is_over(w, second))
		sched_yield();
	cr_expect(waiter_is_over(w, first));
	waiter_free(w);
}

Test(waiter, creates_the_requested_chunk)
{
	struct waiter *w = new_waiter();
	void *mem;

	cr_expect_eq(waiter_chunk(w, &mem), 0, "none was asked for");
	pthread_mutex_lock(&gate);
	waiter_ask_chunk(w, 2);
	cr_expect_eq(waiter_chunk(w, &mem), 0, "nobody waits for it");
	pthread_mutex_unlock(&gate);
	cr_expect_eq(wait_chunk(w, &mem), 1);
	cr_expect_eq(mem, &memory[2]);
	waiter_ask_chunk(w, 9);
	cr_expect_eq(wait_chunk(w, &mem), -ENOMEM);
	waiter_ask_chunk(w, 3);
	cr_expect_eq(wait_chunk(w, &mem), 1);
	cr_expect_eq(mem, &memory[3]);
	waiter_free(w);
}
