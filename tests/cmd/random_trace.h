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

/* With the words after STEPS, up to a NULL. Equal for equal arguments: a descriptor, at the start. */
static inline int random_trace_with(uint64_t seed, unsigned int steps, const char *const *words)
{
	char number[24], count[16], *argv[8] = { (char *)"sched_trace", number, count };
	int argc = 3;
	int out = make_fd("", 0), keep = dup(1);

	while (*words)
		argv[argc++] = (char *)*words++;
	snprintf(number, sizeof(number), "%" PRIu64, seed);
	snprintf(count, sizeof(count), "%u", steps);
	fflush(NULL);
	dup2(out, 1);
	cr_assert_eq(sched_trace_main(argc, argv), 0);
	fflush(NULL);
	dup2(keep, 1);
	close(keep);
	lseek(out, 0, SEEK_SET);
	return out;
}

static inline int random_trace(uint64_t seed, unsigned int steps)
{
	return random_trace_with(seed, steps, (const char *const[]){ NULL });
}

#endif /* D9_TESTS_CMD_RANDOM_TRACE_H */
