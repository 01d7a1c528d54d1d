/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_RECORD_COMMAND_H
#define D9_TESTS_RECORD_COMMAND_H

/* Shell commands run through user/record/launch. */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <time.h>

#include "record/target/launch.h"

/* sh -c SCRIPT, waiting to be released. */
static inline struct launch *launch(const char *script, bool as_root)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	struct launch *l = NULL;

	cr_assert_eq(launch_new(argv, as_root, false, &l), 0);
	return l;
}

static inline void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}

/* Its exit status; it has ten seconds. */
static inline int status_of(struct launch *l)
{
	int status = -1, tries;

	for (tries = 0; tries < 5000 && !launch_ended(l, &status); tries++)
		nap();
	cr_assert(launch_ended(l, &status), "it did not end in ten seconds");
	return status;
}

/* From its start to its end. */
static inline int run(const char *script, bool as_root)
{
	struct launch *l = launch(script, as_root);
	int status;

	cr_assert_eq(launch_go(l), 0);
	status = status_of(l);
	launch_free(l);
	return status;
}

#endif /* D9_TESTS_RECORD_COMMAND_H */
