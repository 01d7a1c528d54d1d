// SPDX-License-Identifier: BSD-2-Clause
/* The parts of URLs. The tests of ship send requests. */
#include <criterion/criterion.h>
#include <errno.h>

#include "ship/http_client.h"

Test(http_client, parts_of_a_url)
{
	struct http_url u;

	cr_assert_eq(http_url_parse("ship", "https://me%40x@ch1:8443/fleet", &u), 0);
	cr_expect_str_eq(u.base, "https://ch1:8443/");
	cr_expect_str_eq(u.user, "me@x");
	cr_expect_str_eq(u.path, "fleet");
	cr_expect(u.tls);
	http_url_fini(&u);
	cr_assert_eq(http_url_parse("ship", "http://[::1]:8123", &u), 0);
	cr_expect_str_eq(u.base, "http://[::1]:8123/");
	cr_expect_null(u.user);
	cr_expect_str_eq(u.path, "");
	cr_expect_not(u.tls);
	http_url_fini(&u);
}

Test(http_client, bad_urls)
{
	static const char *const bad[] = { "",
					   "ch1:8123/fleet",
					   "ftp://ch1/",
					   "file:///etc/passwd",
					   "http://me:secret@ch1/",
					   "http://ch1/?x=1" };
	struct http_url u;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_expect_eq(http_url_parse("ship", bad[i], &u), -EINVAL, "%s", bad[i]);
		http_url_fini(&u);
	}
}
