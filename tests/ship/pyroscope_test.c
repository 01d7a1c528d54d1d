// SPDX-License-Identifier: BSD-2-Clause
/* Names as a server of profiles accepts them. */
#include "ship/pyroscope.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect_service(const char *s, const char *want)
{
	struct buf out = { 0 };

	pyroscope_put_service(&out, s, strlen(s));
	cr_expect_str_eq(buf_cstr(&out), want);
	buf_free(&out);
}

/* Users choose names of control groups: these must not make the server refuse profiles. */
Test(pyroscope, a_service_has_characters_and_a_length_that_servers_take)
{
	struct buf path = { 0 }, out = { 0 };

	expect_service("/system.slice/a-b_1.service", "/system.slice/a-b_1.service");
	expect_service("/a{b=\"c\"},d\xff", "/a_b__c___d_");
	for (int i = 0; i < 2000; i++)
		buf_addstr(&path, "/x");
	pyroscope_put_service(&out, path.data, path.len);
	cr_expect_eq(out.len, 1000);
	cr_expect(!memcmp(out.data, path.data, 1000));
	buf_free(&path);
	buf_free(&out);
}
