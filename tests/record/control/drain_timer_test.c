// SPDX-License-Identifier: BSD-2-Clause
/* LINK: -Wl,--wrap=sym_client_step,--wrap=sym_client_send,--wrap=sym_client_fd */
/* LINK: -Wl,--wrap=sym_client_has_table,--wrap=unwind_loader_poll,--wrap=unwind_loader_fd */
/* LINK: -Wl,--wrap=targets_pollfds,--wrap=capture_wakeups_fd,--wrap=capture_read_wakeups */
/* LINK: -Wl,--wrap=sideband_reader_fd */
/*
 * What is handled between two passes of the drain, and what ends the wait. Broker, side-band events and targets
 * are pipes and counters here: the linker puts them in place of the real ones.
 */
#include "record/control/drain_timer.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/capture/capture.h"
#include "record/target/targets.h"
#include "record/unwind_maps/sideband_reader.h"
#include "record/unwind_maps/unwind_loader.h"
#include "symbol/broker/sym_client.h"

#define MS 1000000ULL
#define LONG (50000 * MS) /* longer than a test may take */

enum { BROKER, NEWS, RINGS, TARGET, PIPES };

static int pipes[PIPES][2];
static int steps, sends, checks;
static uint64_t check_again_ns; /* after the first check; 0: only with events */
static bool has_table, was_woken;
static size_t target_cnt;

void __wrap_sym_client_step(struct sym_client *b);
void __wrap_sym_client_send(struct sym_client *b);
int __wrap_sym_client_fd(const struct sym_client *b);
bool __wrap_sym_client_has_table(const struct sym_client *b);
uint64_t __wrap_unwind_loader_poll(struct unwind_loader *u);
int __wrap_unwind_loader_fd(const struct unwind_loader *u);
size_t __wrap_targets_pollfds(const struct targets *t, struct pollfd *fds, size_t max);
int __wrap_capture_wakeups_fd(const struct capture *c);
int __wrap_sideband_reader_fd(const struct sideband_reader *l);
bool __wrap_capture_read_wakeups(const struct capture *c);

int __wrap_sideband_reader_fd(const struct sideband_reader *l)
{
	return pipes[NEWS][0];
}

int __wrap_capture_wakeups_fd(const struct capture *c)
{
	return pipes[RINGS][0];
}

bool __wrap_capture_read_wakeups(const struct capture *c)
{
	bool was = was_woken;
	char byte;

	was_woken = false;
	cr_assert_eq(read(pipes[RINGS][0], &byte, 1), 1);
	return was;
}

void __wrap_sym_client_step(struct sym_client *b)
{
	steps++;
}

void __wrap_sym_client_send(struct sym_client *b)
{
	sends++;
}

int __wrap_sym_client_fd(const struct sym_client *b)
{
	return pipes[BROKER][0];
}

bool __wrap_sym_client_has_table(const struct sym_client *b)
{
	return has_table;
}

uint64_t __wrap_unwind_loader_poll(struct unwind_loader *u)
{
	return checks++ || !check_again_ns ? UINT64_MAX : clock_mono_ns() + check_again_ns;
}

int __wrap_unwind_loader_fd(const struct unwind_loader *u)
{
	return pipes[NEWS][0];
}

size_t __wrap_targets_pollfds(const struct targets *t, struct pollfd *fds, size_t max)
{
	size_t i;

	for (i = 0; i < target_cnt && i < max; i++)
		fds[i] = (struct pollfd){ .fd = pipes[TARGET][0], .events = POLLIN };
	return target_cnt;
}

static void setup(void)
{
	int i;

	for (i = 0; i < PIPES; i++)
		cr_assert_eq(pipe2(pipes[i], O_CLOEXEC), 0);
}

static void teardown(void)
{
	int i;

	for (i = 0; i < PIPES; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
}

TestSuite(drain_timer, .init = setup, .fini = teardown, .timeout = 40);

/* It stays so. */
static void make_readable(int which)
{
	cr_assert_eq(write(pipes[which][1], "+", 1), 1);
}

/* Returns whether the time was over when it returned. */
static bool wait_for(uint64_t ns, bool unwinds)
{
	const struct drain_timer_cfg cfg = { .unwinding = unwinds ? (struct unwind_loader *)pipes :
								    NULL };
	uint64_t now = clock_mono_ns();

	drain_timer_wait(&cfg, now, now + ns);
	return clock_mono_ns() >= now + ns;
}

Test(drain_timer, wait_without_events_lasts_until_its_end)
{
	cr_expect(wait_for(20 * MS, true));
	cr_expect_eq(checks, 1, "what came before");
	cr_expect_eq(sends, 1, "which may have asked for tables");
	cr_expect_eq(steps, 0, "of which none came");
}

Test(drain_timer, wait_without_unwinding_ignores_side_band_events)
{
	make_readable(NEWS);
	cr_expect(wait_for(5 * MS, false));
	cr_expect_eq(checks, 0);
}

Test(drain_timer, wait_ends_with_the_only_target)
{
	target_cnt = 1;
	make_readable(TARGET);
	cr_expect_not(wait_for(LONG, true));
}

Test(drain_timer, wait_continues_when_one_of_several_targets_ends)
{
	target_cnt = 2;
	make_readable(TARGET);
	cr_expect(wait_for(20 * MS, true));
}

Test(drain_timer, wait_limits_the_steps_of_the_broker)
{
	make_readable(BROKER);
	cr_expect(wait_for(50 * MS, false));
	cr_expect_eq(steps, 16);
}

Test(drain_timer, wait_handles_events_of_half_a_millisecond_together)
{
	uint64_t start = clock_mono_ns(), took;

	make_readable(BROKER);
	make_readable(NEWS);
	cr_expect(wait_for(4 * MS, true));
	took = clock_mono_ns() - start;
	cr_expect_geq(steps, 1);
	cr_expect_leq((uint64_t)steps, took / (MS / 2));
	cr_expect_leq((uint64_t)checks, 1 + took / (MS / 2));
}

Test(drain_timer, wait_ends_when_a_table_has_arrived)
{
	has_table = true;
	make_readable(BROKER);
	cr_expect_not(wait_for(LONG, true));
	cr_expect_eq(steps, 1);
}

Test(drain_timer, wait_without_unwinding_does_not_end_for_a_table)
{
	has_table = true;
	make_readable(BROKER);
	cr_expect(wait_for(5 * MS, false));
}

Test(drain_timer, wait_reads_endless_side_band_events_at_intervals)
{
	uint64_t start = clock_mono_ns(), took;

	make_readable(NEWS);
	cr_expect(wait_for(20 * MS, true));
	took = clock_mono_ns() - start;
	cr_expect_geq(checks, 2);
	cr_expect_leq((uint64_t)checks, 2 + took / (MS / 2));
}

Test(drain_timer, wait_checks_again_when_a_check_is_due)
{
	check_again_ns = 5 * MS;
	cr_expect(wait_for(50 * MS, true));
	cr_expect_eq(checks, 2);
}

/* Like wait_for(), for a tick that rings may end, and that is only this long once an event came. */
static bool wait_calmly_for(uint64_t ns, uint64_t hurry_ns)
{
	const uint64_t now = clock_mono_ns();
	const struct drain_timer_cfg cfg = {
		.unwinding = (struct unwind_loader *)pipes,
		.rings = (struct capture *)pipes,
		.hurry_ns = now + hurry_ns,
	};

	drain_timer_wait(&cfg, now, now + ns);
	return clock_mono_ns() >= now + ns;
}

Test(drain_timer, calm_wait_ends_when_rings_fill_up)
{
	was_woken = true;
	make_readable(RINGS);
	cr_expect_not(wait_calmly_for(LONG, LONG));
	cr_expect_not(was_woken);
}

Test(drain_timer, calm_wait_continues_after_a_spurious_wakeup)
{
	make_readable(RINGS);
	cr_expect(wait_calmly_for(20 * MS, 20 * MS));
}

Test(drain_timer, normal_wait_is_not_ended_by_rings)
{
	was_woken = true;
	make_readable(RINGS);
	cr_expect(wait_for(5 * MS, true));
	cr_expect(was_woken);
}

Test(drain_timer, calm_wait_ends_sooner_after_side_band_events)
{
	make_readable(NEWS);
	cr_expect_not(wait_calmly_for(LONG, 5 * MS));
	cr_expect_geq(checks, 2);
}

Test(drain_timer, calm_wait_ends_sooner_after_an_answer)
{
	make_readable(BROKER);
	cr_expect_not(wait_calmly_for(LONG, 5 * MS));
	cr_expect_geq(steps, 1);
}

Test(drain_timer, calm_wait_without_events_lasts_until_its_end)
{
	cr_expect(wait_calmly_for(20 * MS, MS));
}

Test(drain_timer, timer_is_due_at_first_and_then_once_per_period)
{
	uint64_t due_ns = 0;

	cr_expect(drain_timer_is_due(&due_ns, 1000, 50));
	cr_expect_not(drain_timer_is_due(&due_ns, 1049, 50));
	cr_expect(drain_timer_is_due(&due_ns, 1050, 50));
	cr_expect(drain_timer_is_due(&due_ns, 5000, 50), "late");
	cr_expect_not(drain_timer_is_due(&due_ns, 5049, 50), "what was missed is not made up for");
}

Test(drain_timer, calm_wait_is_shortened_once_by_unread_side_band_events)
{
	const uint64_t now = clock_mono_ns();
	const struct drain_timer_cfg cfg = {
		.sides = (struct sideband_reader *)pipes,
		.hurry_ns = now + 20 * MS,
	};

	make_readable(NEWS);
	drain_timer_wait(&cfg, now, now + LONG);
	cr_expect_geq(clock_mono_ns(), now + 20 * MS, "it ended too soon");
	cr_expect_lt(clock_mono_ns(), now + LONG);
	cr_expect_eq(checks, 0);
}
