// SPDX-License-Identifier: BSD-2-Clause
/* What `wakeup` and `explain` say of a ring of threads on a live kernel, each woken by the one before. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bpf/support.h"

TestSuite(wakeup, .fini = live_cleanup);

enum { THREADS = 5 };

/* Whose number this is; THREADS: of none of the ring. */
static int place(const uint64_t *tids, uint64_t tid)
{
	int k = 0;

	while (k < THREADS && tids[k] != tid)
		k++;
	return k;
}

/*
 * Each link is the one before in the ring, and their steps cover all the time. How many there are: a thread
 * that lost its CPU before it could block ends the path.
 */
static int expect_chain(const char *output, const uint64_t *tids, int last)
{
	const char *line = strstr(output, "\n{\"tid\":");
	uint64_t until = live_output_number(output, "\"to_ns\":");
	int links = 0;

	for (; line; line = strstr(line + 1, "\n{\"tid\":"), links++) {
		const char *at = line + 1;
		const int who = place(tids, live_output_number(at, "\"tid\":"));
		const uint64_t woken = live_output_number(at, "\"woken_ns\":"),
			       woke = live_output_number(at, "\"woke_ns\":");

		if (who == THREADS)
			break;
		cr_assert_eq(who, (last + THREADS * 10 - links) % THREADS, "link %d: %s", links,
			     output);
		cr_assert_eq(woke, until);
		cr_assert_eq(woke - woken, live_output_number(at, "\"running_ns\":") +
						   live_output_number(at, "\"runnable_ns\":") +
						   live_output_number(at, "\"unknown_ns\":"));
		until = woken;
	}
	cr_assert_geq(links, 2, "%s", output);
	return links;
}

/* The table of all threads of the process, each of whose rows covers the window. */
static void expect_sums(const char *output)
{
	const uint64_t span = live_output_number(output, "\"to_ns\":") -
			      live_output_number(output, "\"from_ns\":");
	const char *story = strstr(output, "],\"steps\":"), *line = strstr(output, "\n{\"tid\":");
	int rows = 0;

	cr_assert(story);
	for (; line && line < story; line = strstr(line + 1, "\n{\"tid\":"), rows++) {
		const char *at = line + 1;

		cr_expect_eq(live_output_number(at, "\"running_ns\":") +
				     live_output_number(at, "\"runnable_ns\":") +
				     live_output_number(at, "\"blocked_ns\":") +
				     live_output_number(at, "\"unknown_ns\":") +
				     live_output_number(at, "\"absent_ns\":"),
			     span, "%s", at);
	}
	cr_expect_geq(rows, THREADS);
}

static void expect_explained(const char *path, int64_t pid)
{
	const char *args[] = { "explain", "--json", "--time=0%,100%", "-p", live_number(pid),
			       path,	  NULL };
	struct buf output = live_output(args);

	expect_sums(output.data);
	buf_free(&output);
}

Test(wakeup, ring_of_wakeups_is_followed_backwards_and_its_times_add_up)
{
	struct live_proc ring;
	struct live_rec rec;
	uint64_t tids[THREADS];
	struct buf output;
	char key[16];
	int links, longest = 0;
	int64_t pid;

	live_stimulus(&ring, "ring", "40", NULL);
	pid = ring.pid;
	for (int k = 0; k < THREADS; k++) {
		snprintf(key, sizeof(key), "ring%d", k);
		tids[k] = (uint64_t)live_truth(&ring, key);
	}
	live_record(&rec, "-a", NULL);
	live_recording(&rec);
	live_go(&ring);
	cr_assert_eq(live_stop(&rec), 0);
	live_end(&ring);
	for (int k = 0; k < THREADS; k++) {
		const char *chain[] = { "wakeup",  "--json",
					"--chain", live_number((int64_t)tids[k]),
					rec.path,  NULL };

		output = live_output(chain);
		links = expect_chain(output.data, tids, k);
		longest = links > longest ? links : longest;
		buf_free(&output);
	}
	cr_expect_geq(longest, THREADS - 1);
	expect_explained(rec.path, pid);
}
