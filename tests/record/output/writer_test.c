// SPDX-License-Identifier: BSD-2-Clause
/* The thread that writes: in order, with limited memory, and only the end waits for it. */
#include "record/output/writer.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"

TestSuite(writer, .timeout = 60);

enum { NICE = 19 };

/* The output of the writer: it may block, or fail. */
static struct sink {
	pthread_mutex_t held;
	struct buf text;
	int err;
	bool closed;
	int nice;
	unsigned int quarters[4]; /* bytes that waited at each write */
	size_t writes;
	volatile bool give_up;
} sink = { .held = PTHREAD_MUTEX_INITIALIZER };

static int sink_begin(void *ctx, void **segment)
{
	*segment = &sink;
	return sink.err == -ENOENT ? sink.err : 0;
}

static int sink_write(void *segment, const void *data, size_t sz)
{
	const struct timespec step = { .tv_nsec = 1000000 };

	while (pthread_mutex_trylock(&sink.held)) {
		if (sink.give_up)
			return -ETIMEDOUT;
		nanosleep(&step, NULL);
	}
	sink.nice = getpriority(PRIO_PROCESS, (id_t)gettid());
	if (!sink.err)
		buf_add(&sink.text, data, sz);
	pthread_mutex_unlock(&sink.held);
	return sink.err;
}

static void sink_waits(void *ctx, unsigned int quarters)
{
	if (sink.writes < 4)
		sink.quarters[sink.writes] = quarters;
	sink.writes++;
}

static int sink_end(void *segment)
{
	buf_addch(&sink.text, '.');
	return 0;
}

static int sink_close(void *ctx)
{
	sink.closed = true;
	return 0;
}

static volatile sig_atomic_t stop;

static struct segment_ops open_writer(size_t max, uint64_t patience_ns)
{
	const struct segment_ops inner = { .begin = sink_begin,
					   .write = sink_write,
					   .end = sink_end,
					   .waits = sink_waits,
					   .close = sink_close };
	const struct writer_cfg cfg = { .nice = NICE,
					.max = max,
					.stop = &stop,
					.give_up = &sink.give_up,
					.patience_ns = patience_ns };
	struct segment_ops out;

	cr_assert_eq(writer_new(&cfg, &inner, &out), 0);
	return out;
}

static void *begin(const struct segment_ops *out)
{
	void *segment = NULL;

	cr_assert_eq(out->begin(out->ctx, &segment), 0);
	return segment;
}

static void expect_text(const char *text)
{
	cr_expect_str_eq(buf_cstr(&sink.text), text);
	cr_expect(sink.closed);
	buf_free(&sink.text);
}

Test(writer, data_is_written_in_its_order)
{
	struct segment_ops out = open_writer(1 << 20, 0);
	void *a = begin(&out), *b;

	cr_assert_eq(out.write(a, "one ", 4), 0);
	b = begin(&out);
	cr_assert_eq(out.write(b, "two ", 4), 0);
	cr_assert_eq(out.write(a, "three", 5), 0);
	cr_assert_eq(out.end(a), 0);
	cr_assert_eq(out.end(b), 0);
	cr_assert_eq(out.close(out.ctx), 0);
	cr_expect_eq(sink.nice, NICE);
	expect_text("one two three..");
}

Test(writer, producer_does_not_wait_and_full_buffer_is_reported)
{
	struct segment_ops out = open_writer(16, 0);
	void *a = begin(&out);

	pthread_mutex_lock(&sink.held);
	cr_expect(out.has_room(out.ctx));
	cr_assert_eq(out.write(a, "0123456789", 10), 0);
	cr_expect(out.has_room(out.ctx));
	cr_assert_eq(out.write(a, "0123456789", 10), 0);
	cr_expect_not(out.has_room(out.ctx));
	cr_assert_eq(out.write(a, "is taken nevertheless", 21), 0);
	pthread_mutex_unlock(&sink.held);
	cr_assert_eq(out.end(a), 0);
	cr_assert_eq(out.close(out.ctx), 0);
	expect_text("01234567890123456789is taken nevertheless.");
}

/* The first chunk is written before it is known that others come after it. */
Test(writer, write_callback_gets_the_amount_of_waiting_data)
{
	struct segment_ops out = open_writer(40, 0);
	void *a = begin(&out);
	int i;

	pthread_mutex_lock(&sink.held);
	for (i = 0; i < 3; i++)
		cr_assert_eq(out.write(a, "0123456789", 10), 0);
	pthread_mutex_unlock(&sink.held);
	cr_assert_eq(out.end(a), 0);
	cr_assert_eq(out.close(out.ctx), 0);
	cr_assert_eq(sink.writes, 4);
	cr_expect_geq(sink.quarters[0], 1);
	cr_expect_eq(sink.quarters[1], 2);
	cr_expect_eq(sink.quarters[2], 1);
	cr_expect_eq(sink.quarters[3], 0);
	expect_text("012345678901234567890123456789.");
}

Test(writer, write_error_is_returned_and_nothing_is_written_after_it)
{
	const struct timespec step = { .tv_nsec = 1000000 };
	struct segment_ops out = open_writer(1 << 20, 0);
	void *a = begin(&out);

	sink.err = -ENOSPC;
	while (!out.write(a, "x", 1))
		nanosleep(&step, NULL);
	sink.err = 0;
	cr_expect_eq(out.write(a, "y", 1), -ENOSPC);
	cr_assert_eq(out.end(a), 0);
	cr_expect_eq(out.close(out.ctx), -ENOSPC);
	expect_text(".");
}

Test(writer, error_of_the_last_write_is_returned_at_the_end)
{
	struct segment_ops out = open_writer(1 << 20, 0);
	void *a = begin(&out);

	sink.err = -EPIPE;
	out.write(a, "x", 1);
	cr_assert_eq(out.end(a), 0);
	cr_expect_eq(out.close(out.ctx), -EPIPE);
	expect_text(".");
}

Test(writer, failed_begin_is_returned_at_once)
{
	struct segment_ops out = open_writer(1 << 20, 0);
	void *a;

	sink.err = -ENOENT;
	cr_expect_eq(out.begin(out.ctx, &a), -ENOENT);
	cr_assert_eq(out.close(out.ctx), 0);
	expect_text("");
}

Test(writer, slow_reader_is_given_up_after_the_timeout)
{
	struct segment_ops out = open_writer(1 << 20, 1);
	void *a = begin(&out);

	pthread_mutex_lock(&sink.held);
	cr_assert_eq(out.write(a, "x", 1), 0);
	cr_assert_eq(out.end(a), 0);
	cr_expect_eq(out.close(out.ctx), -ETIMEDOUT);
	cr_expect(sink.give_up);
	expect_text(".");
}

Test(writer, slow_reader_is_given_up_at_the_second_stop)
{
	struct segment_ops out = open_writer(1 << 20, 0);
	void *a = begin(&out);

	pthread_mutex_lock(&sink.held);
	cr_assert_eq(out.write(a, "x", 1), 0);
	cr_assert_eq(out.end(a), 0);
	stop = 2;
	cr_expect_eq(out.close(out.ctx), -ETIMEDOUT);
	expect_text(".");
}
