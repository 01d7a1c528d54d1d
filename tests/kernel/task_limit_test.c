// SPDX-License-Identifier: BSD-2-Clause
/* Messages about processes and threads that cannot be started. */
#include "kernel/task_limit.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sys/resource.h>

#include "base/buf.h"

static void expect_text(int err, const char *want)
{
	struct buf text = { 0 };

	task_limit_text(&text, err);
	cr_expect_str_eq(buf_cstr(&text), want);
	buf_free(&text);
}

Test(task_limit, message_names_the_limit_and_the_remedy)
{
	struct rlimit limit;

	cr_assert_eq(getrlimit(RLIMIT_NPROC, &limit), 0);
	limit.rlim_cur = 5;
	cr_assert_eq(setrlimit(RLIMIT_NPROC, &limit), 0);
	expect_text(-EAGAIN, "too many processes and threads; raise the user's limit (ulimit -u, "
			     "now 5) or the limit of the control group (pids.max)");
	expect_text(-ENOMEM, "Cannot allocate memory");
}
