// SPDX-License-Identifier: BSD-2-Clause
/*
 * limit.c - the time limit of every test that sets none of its own
 *
 * Linked into each test program. Criterion kills a test that takes longer, reports it, and
 * continues with the next. D9_TEST_LIMIT (seconds) sets another limit, for slower machines.
 * Criterion's own option would also shorten the limits that tests set themselves.
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
 * Criterion 2.4 never frees the record of a limit. It allocates it in the parent process, which
 * runs no tests: leaks of tests are still found. libtraceevent 1.7 leaks a few bytes when it fails
 * to parse a print fmt.
 */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return getenv("BXFI_MAP") ? "leak:libtraceevent\n" : "leak:libcriterion.so\n";
}
#endif
