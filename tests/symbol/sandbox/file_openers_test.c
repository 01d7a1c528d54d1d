// SPDX-License-Identifier: BSD-2-Clause
/* Hanging files occupy openers, and each owner has a share of them. */
#include "symbol/sandbox/file_openers.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbol/sandbox/symproto.h"
#include "tests/symbol/fakes.h"

#define SECOND 1000000000ull

TestSuite(file_openers, .timeout = 100);

/* Requests to all openers; in memory that all processes of a test share. */
static unsigned int *opens;

static void setup(void)
{
	opens = fakes_shared(sizeof(*opens));
}

static void count_and_hang(const struct symproto_msg *msg)
{
	__atomic_add_fetch(opens, 1, __ATOMIC_RELEASE);
	fakes_hang(msg);
}

static void fake_opener(const void *ctx, int sock, uint32_t arg)
{
	(void)ctx;
	(void)arg;
	fakes_open(sock, count_and_hang, NULL);
}

struct results {
	size_t cnt;
	int errors[256];
};

static void on_result(void *ctx, const struct file_openers_result *result)
{
	struct results *r = ctx;

	cr_assert_lt(result->token, 256u);
	r->errors[result->token] = result->error;
	r->cnt++;
	if (result->fd >= 0)
		close(result->fd);
}

static void request(struct file_openers *o, uint32_t token, const char *path, uint64_t owner)
{
	file_openers_ask(o,
			 &(struct symproto_msg){ .kind = SYMPROTO_OPEN,
						 .id = token,
						 .text = path,
						 .text_len = strlen(path) },
			 owner);
}

static struct file_openers *start(uint64_t patience_ns, struct results *r)
{
	const struct file_openers_cfg cfg = { .child = fake_opener,
					      .patience_ns = patience_ns,
					      .epoll_fd = -1,
					      .done = on_result,
					      .done_ctx = r };
	struct file_openers *o;

	cr_assert_eq(file_openers_start(&cfg, &o), 0);
	return o;
}

static void step(struct file_openers *o, uint64_t deadline)
{
	cr_assert_lt(clock_mono_ns(), deadline);
	file_openers_step(o, clock_mono_ns());
	poll(NULL, 0, 1);
}

/* One owner's files all hang: they get no more openers than that owner's share, others get theirs. */
Test(file_openers, hanging_files_of_one_owner_use_at_most_its_share, .init = setup)
{
	struct results r = { 0 };
	struct file_openers *o = start(SECOND / 5, &r);
	uint64_t deadline = clock_mono_ns() + 60 * SECOND;
	uint32_t i;

	for (i = 0; i < 100; i++)
		request(o, i, "/hangs", 1000);
	for (; i < 150; i++)
		request(o, i, "/answers", 1001);
	while (r.cnt < 150)
		step(o, deadline);
	for (i = 0; i < 100; i++)
		cr_expect(r.errors[i] == -ETIMEDOUT || r.errors[i] == -EBUSY, "%d", r.errors[i]);
	for (; i < 150; i++)
		cr_expect_eq(r.errors[i], 0);
	file_openers_stop(o);
}

Test(file_openers, hanging_files_are_refused_with_all_later_ones, .init = setup)
{
	struct results r = { 0 };
	struct file_openers *o = start(1000 * SECOND, &r);
	uint64_t deadline = clock_mono_ns() + 60 * SECOND;
	uint32_t i;

	for (i = 0; i < FILE_OPENERS_OWNER_MAX; i++)
		request(o, i, "/hangs", 1000);
	while (__atomic_load_n(opens, __ATOMIC_ACQUIRE) < i)
		step(o, deadline);
	request(o, i, "/hangs", 1000);
	file_openers_step(o, clock_mono_ns());
	cr_expect_eq(r.cnt, 0, "each has time left");
	file_openers_step(o, clock_mono_ns() + 1000 * SECOND);
	cr_assert_eq(r.cnt, i + 1);
	cr_expect_eq(r.errors[i], -EBUSY);
	while (i--)
		cr_expect_eq(r.errors[i], -ETIMEDOUT);
	file_openers_stop(o);
}
