// SPDX-License-Identifier: BSD-2-Clause
/*
 * limit.c - the time limit of every test that sets none of its own
 *
 * Linked into each test program. Criterion kills the test that takes longer, says so, and goes on with the
 * next. D9_TEST_LIMIT (seconds) sets another limit, for machines of another speed. The option that
 * Criterion has for this would also shorten the limits that tests set themselves.
 */
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMIT_S 240
#else
#define LIMIT_S 60
#endif

static double limit_s(void)
{
	const char *text = getenv("D9_TEST_LIMIT");
	double limit = text ? strtod(text, NULL) : 0;

	return limit > 0 ? limit : LIMIT_S;
}

ReportHook(PRE_ALL)(struct criterion_test_set *set)
{
	double limit = limit_s();

	FOREACH_SET(struct criterion_suite_set * suite, set->suites)
	{
		const struct criterion_test_extra_data *own = suite->suite.data;

		if (own && own->timeout > 0)
			continue;
		FOREACH_SET(struct criterion_test * test, suite->tests)
		if (test->data->timeout <= 0)
			test->data->timeout = limit;
	}
}

#ifdef __SANITIZE_ADDRESS__
/*
 * Criterion 2.4 never frees the record of a limit. It makes them in the process that starts the
 * tests and runs none: what leaks in a test is still found. libtraceevent 1.7 forgets a few bytes
 * when it gives up on a print fmt.
 */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return getenv("BXFI_MAP") ? "leak:libtraceevent\n" : "leak:libcriterion.so\n";
}
#endif
