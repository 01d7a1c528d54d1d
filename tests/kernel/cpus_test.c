// SPDX-License-Identifier: BSD-2-Clause
/* CPU lists as sysfs writes them. */
#include "kernel/cpus.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

Test(cpus, kernel_list_format_is_parsed)
{
	static const uint32_t want[] = { 0, 1, 2, 3, 8, 64 };
	uint32_t *cpus = NULL;
	size_t cnt = 0;

	cr_assert_eq(cpus_parse("0-3,8,64\n", &cpus, &cnt), 0);
	cr_assert_eq(cnt, 6);
	cr_assert_arr_eq(cpus, want, sizeof(want));
	free(cpus);
}

Test(cpus, empty_list_has_no_cpu)
{
	uint32_t *cpus = NULL;
	size_t cnt = 7;

	cr_assert_eq(cpus_parse("\n", &cpus, &cnt), 0);
	cr_assert_eq(cnt, 0);
	free(cpus);
}

Test(cpus, other_text_is_refused)
{
	uint32_t *cpus = NULL;
	size_t cnt = 0;

	cr_assert_eq(cpus_parse("0-", &cpus, &cnt), -EINVAL);
	cr_assert_eq(cpus_parse("a", &cpus, &cnt), -EINVAL);
	cr_assert_eq(cpus_parse("0-99999", &cpus, &cnt), -ERANGE);
	cr_assert_null(cpus);
}

Test(cpus, online_cpus_agree_with_libc)
{
	uint32_t *cpus;
	size_t cnt;

	cr_assert_eq(cpus_online(&cpus, &cnt), 0);
	cr_assert_eq(cnt, (size_t)sysconf(_SC_NPROCESSORS_ONLN));
	free(cpus);
}

Test(cpus, online_cpus_are_possible_cpus)
{
	uint32_t *cpus, last;
	size_t cnt;

	cr_assert_eq(cpus_online(&cpus, &cnt), 0);
	cr_assert_eq(cpus_last_possible(&last), 0);
	cr_expect_geq(last, cpus[cnt - 1]);
	cr_expect_geq(last + 1, sysconf(_SC_NPROCESSORS_CONF));
	free(cpus);
}
