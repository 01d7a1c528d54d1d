// SPDX-License-Identifier: BSD-2-Clause
/* Names of error numbers, against the C library's. */
#include "base/errname.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

Test(errname, names_equal_the_names_of_the_c_library)
{
	int cnt = 0;

	for (int err = 1; err < 4096; err++) {
		const char *want = strerrorname_np(err), *got = errname(err);

		cr_expect((!want && !got) || (want && got && !strcmp(want, got)), "%d: %s, not %s",
			  err, got ? got : "no name", want ? want : "no name");
		cnt += want != NULL;
	}
	cr_expect_gt(cnt, 100);
}

Test(errname, number_that_is_no_error_has_no_name)
{
	cr_expect_null(errname(0));
	cr_expect_null(errname(-2));
	cr_expect_null(errname(INT_MAX));
	cr_expect_null(errname(INT_MIN));
}
