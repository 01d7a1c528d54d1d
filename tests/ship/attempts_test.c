// SPDX-License-Identifier: BSD-2-Clause
/* LINK: -Wl,--wrap=ppoll */
/* Pauses between attempts, by what is asked of the kernel. */
#include "ship/attempts.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <time.h>

#define SECOND 1000000000ULL

static uint64_t paused_ns;

int __wrap_ppoll(struct pollfd *fds, nfds_t cnt, const struct timespec *ts, const sigset_t *mask);

int __wrap_ppoll(struct pollfd *fds, nfds_t cnt, const struct timespec *ts, const sigset_t *mask)
{
	(void)fds;
	(void)cnt;
	(void)mask;
	paused_ns = (uint64_t)ts->tv_sec * SECOND + (uint64_t)ts->tv_nsec;
	return 0;
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
