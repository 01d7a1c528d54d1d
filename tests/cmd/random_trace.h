/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_CMD_RANDOM_TRACE_H
#define D9_TESTS_CMD_RANDOM_TRACE_H

/* Traces of tests/web/sched_trace.c, which makes random switches, wakeups, samples and losses. One file includes it. */
#include "tests/cmd/run_cmd.h"

#include <inttypes.h>

#define main sched_trace_main
int sched_trace_main(int argc, char **argv);
#include "tests/web/sched_trace.c"
#undef main

/* Equal for equal arguments: a descriptor, at the start. */
static inline int random_trace(uint64_t seed, unsigned int steps)
{
	char number[24], count[16], *argv[] = { (char *)"sched_trace", number, count, NULL };
	int out = make_fd("", 0), keep = dup(1);

	snprintf(number, sizeof(number), "%" PRIu64, seed);
	snprintf(count, sizeof(count), "%u", steps);
	fflush(NULL);
	dup2(out, 1);
	cr_assert_eq(sched_trace_main(3, argv), 0);
	fflush(NULL);
	dup2(keep, 1);
	close(keep);
	lseek(out, 0, SEEK_SET);
	return out;
}

#endif /* D9_TESTS_CMD_RANDOM_TRACE_H */
