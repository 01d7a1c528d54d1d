// SPDX-License-Identifier: BSD-2-Clause
/* Workers read files within a limit of CPU time, until that ends. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbol/broker/sym_client.h"
#include "tests/symbol/support.h"

#define SECOND 1000000000ull

TestSuite(symworker_pace, .timeout = 60);

static struct sym_client *start(uint64_t lines_ns_per_s)
{
	const struct sym_client_cfg cfg = { .lines_ns_per_s = lines_ns_per_s };
	struct sym_client *w;

	cr_assert_eq(sym_client_new(&cfg, &w), 0);
	return w;
}

static void add(struct sym_client *w, uint32_t id, const char *path)
{
	const struct sym_client_module m = { .pid = getpid(), .path = path };

	cr_assert_eq(sym_client_add_module(w, id, &m), 0);
}

static void request_text(struct sym_client *w, uint32_t id)
{
	const struct section text = section_of(stimulus("rust"), ".text");

	for (size_t i = 0; i < text.size; i += 64)
		sym_client_ask(w, id, text.off + i);
}

static int count_frames(void *ctx, const struct sym_client_answer *a)
{
	*(size_t *)ctx += a->kind == SYM_CLIENT_FRAME;
	return 0;
}

static void finish(struct sym_client *w, size_t *frames)
{
	const uint64_t deadline = clock_mono_ns() + 30 * SECOND;

	while (!sym_client_idle(w)) {
		cr_assert_lt(clock_mono_ns(), deadline, "no answers for 30 s");
		sym_client_wait(w, deadline);
		cr_assert_geq(sym_client_receive(w, count_frames, frames, SIZE_MAX), 0);
	}
}

static uint64_t cpu_of(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	cr_assert_eq(clock_getcpuclockid(pid, &clock), 0);
	cr_assert_eq(clock_gettime(clock, &ts), 0);
	return (uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec;
}

/* One file takes many slices. The time before the first one is the worker's start. */
Test(symworker_pace, debug_information_of_one_file_is_read_within_the_limit)
{
	struct sym_client *w = start(SECOND / 20);
	uint64_t began, cpu, before;
	size_t frames = 0;
	pid_t pid;

	add(w, 0, stimulus("rust"));
	pid = find_worker("d9-lines");
	before = cpu_of(pid);
	began = clock_mono_ns();
	request_text(w, 0);
	finish(w, &frames);
	cpu = cpu_of(pid) - before;
	cr_expect_gt(frames, 1000u);
	cr_expect_gt(cpu, SECOND / 50, "several slices");
	cr_expect_geq((clock_mono_ns() - began) / 15, cpu - SECOND / 100, "%" PRIu64 " ns", cpu);
	sym_client_free(w);
}

static int on_table(void *ctx, const struct sym_client_answer *a)
{
	*(bool *)ctx |= a->kind == SYM_CLIENT_TABLE;
	return 0;
}

static void wait_for_table(struct sym_client *w, uint32_t id)
{
	const uint64_t deadline = clock_mono_ns() + 30 * SECOND;
	bool is_here = false;

	cr_assert(sym_client_ask_table(w, id));
	while (!is_here && clock_mono_ns() < deadline) {
		sym_client_wait(w, clock_mono_ns() + SECOND / 10);
		cr_assert_geq(sym_client_receive(w, on_table, &is_here, SIZE_MAX), 0);
	}
	cr_assert(is_here, "no table of %u", id);
}

#ifdef __SANITIZE_ADDRESS__
enum { OVERRUN = 32 }; /* a slice takes many times as long on a busy machine */
#else
enum { OVERRUN = 8 };
#endif

/* One file takes many slices here, too, and none of them ends the worker. */
Test(symworker_pace, unwind_table_is_built_within_the_limit)
{
	const uint64_t limit = SECOND / 8000;
	struct sym_client *w = start(0);
	uint64_t began, cpu;
	pid_t pid;

	add(w, 0, stimulus("rust"));
	pid = find_worker("d9-tables");
	sym_client_limit_reading(w, limit);
	cpu = cpu_of(pid);
	began = clock_mono_ns();
	wait_for_table(w, 0);
	cpu = cpu_of(pid) - cpu;
	cr_expect_eq(sym_client_restarts(w), 0u);
	cr_expect_gt(cpu, limit, "several slices");
	/* rests do not make up for all that slices are too long; without rests it is 17 times the limit */
	cr_expect_geq((double)(clock_mono_ns() - began) / SECOND * (double)limit * OVERRUN +
			      (double)limit * 2,
		      (double)cpu, "%" PRIu64 " ns", cpu);
	sym_client_free(w);
}

/* A step may take longer than its slice. The rest that this would demand is a day here. */
Test(symworker_pace, rest_after_a_long_step_is_limited)
{
	struct sym_client *w = start(0);

	add(w, 0, stimulus("c-gcc"));
	add(w, 1, stimulus("cxx-gcc"));
	sym_client_limit_reading(w, 1);
	wait_for_table(w, 0);
	wait_for_table(w, 1);
	cr_expect_eq(sym_client_restarts(w), 0u);
	sym_client_free(w);
}

/* Also of a worker that starts later. */
Test(symworker_pace, debug_information_is_read_without_a_limit_at_the_end)
{
	struct sym_client *w = start(1);
	size_t frames = 0;

	add(w, 0, stimulus("rust"));
	request_text(w, 0);
	sym_client_wait(w, clock_mono_ns() + SECOND / 5);
	sym_client_hurry(w);
	finish(w, &frames);
	cr_expect_gt(frames, 1000u);
	cr_assert_eq(kill(find_worker("d9-lines"), SIGKILL), 0);
	add(w, 1, stimulus("rust"));
	request_text(w, 1);
	finish(w, &frames);
	sym_client_free(w);
}
