// SPDX-License-Identifier: BSD-2-Clause
/* LINK: -Wl,--wrap=ppoll */
/* Pauses between attempts, by what is asked of the kernel. */
#include "ship/attempts.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ULL

static uint64_t paused_ns;

int __wrap_ppoll(struct pollfd *fds, nfds_t cnt, const struct timespec *ts, const sigset_t *mask);

int __real_ppoll(struct pollfd *fds, nfds_t cnt, const struct timespec *ts, const sigset_t *mask);

int __wrap_ppoll(struct pollfd *fds, nfds_t cnt, const struct timespec *ts, const sigset_t *mask)
{
	const struct timespec none = { 0 };

	paused_ns = (uint64_t)ts->tv_sec * SECOND + (uint64_t)ts->tv_nsec;
	return __real_ppoll(fds, cnt, &none, mask);
}

/* Many hosts lose the same server: they must not come back at once. */
Test(attempts, long_pauses_vary_as_much_as_short_ones)
{
	static const uint64_t pauses[] = { SECOND / 1000, SECOND, 60 * SECOND, 3600 * SECOND };

	for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
		const uint64_t ns = pauses[i];
		struct attempts *a = attempts_new(&(struct attempts_opts){ .pause_min_ns = ns,
									   .pause_max_ns = ns,
									   .end_fd = -1 },
						  "server");
		uint64_t least = UINT64_MAX, most = 0;

		for (int k = 0; k < 200; k++) {
			cr_assert_eq(attempts_fail(a, "reason"), 0);
			least = paused_ns < least ? paused_ns : least;
			most = paused_ns > most ? paused_ns : most;
		}
		cr_expect_geq(least, ns - ns / 4);
		cr_expect_leq(most, ns + ns / 4);
		/* with 200 values the chance of less is 0.8^200 for each end */
		cr_expect_lt(least, ns - ns / 4 + ns / 10);
		cr_expect_gt(most, ns + ns / 4 - ns / 10);
		attempts_free(a);
	}
}

Test(attempts, a_pause_ends_when_it_is_time_to_give_up)
{
	struct attempts *a = attempts_new(&(struct attempts_opts){ .pause_min_ns = 60 * SECOND,
								   .pause_max_ns = 60 * SECOND,
								   .give_up_ns = 30 * SECOND,
								   .end_fd = -1 },
					  "server");

	cr_expect_eq(attempts_fail(a, "reason"), 0);
	cr_expect_leq(paused_ns, 30 * SECOND);
	cr_expect_gt(paused_ns, 20 * SECOND);
	attempts_free(a);
}

Test(attempts, a_pause_after_the_end_is_no_longer_than_the_time_for_it)
{
	struct attempts_opts opts = { .pause_min_ns = 60 * SECOND,
				      .pause_max_ns = 60 * SECOND,
				      .give_up_ns = 3600 * SECOND,
				      .end_give_up_ns = 10 * SECOND };
	struct attempts *a;
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	opts.end_fd = ends[0];
	a = attempts_new(&opts, "server");
	cr_expect_eq(attempts_fail(a, "reason"), 0);
	cr_expect_gt(paused_ns, 40 * SECOND);
	close(ends[1]);
	cr_expect_eq(attempts_fail(a, "reason"), 0);
	cr_expect_leq(paused_ns, 10 * SECOND);
	cr_expect_gt(paused_ns, 0);
	attempts_free(a);
	close(ends[0]);
}
