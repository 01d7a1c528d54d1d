// SPDX-License-Identifier: BSD-2-Clause
/* What --start-at and -D take. Times were counted by hand, from 2023-11-14T22:13:20Z, which is 1700000000. */
#include "cmd/record/start_at.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define S 1000000000ULL
#define NOW (1700000000 * S + 5)

static void in_zone(const char *tz)
{
	setenv("TZ", tz, 1);
	tzset();
}

static uint64_t at(const char *text)
{
	uint64_t ns = 0, period = 0;

	cr_assert_eq(start_at_parse(text, NOW, &ns, &period), 0, "%s", text);
	cr_assert_eq(period, 0);
	cr_assert_eq(ns % S, 0);
	return ns / S;
}

Test(start_at, a_time_of_day_is_the_next_one)
{
	in_zone("UTC0");
	cr_expect_eq(at("22:13:21"), 1700000001);
	cr_expect_eq(at("22:14"), 1700000040);
	cr_expect_eq(at("22:13:20"), 1700000000 + 86400, "this one is over");
	cr_expect_eq(at("00:00"), 1700000000 + 6400);
	in_zone("XXX-2");
	cr_expect_eq(at("22:13:20"), 1700000000 + 86400 - 7200);
}

Test(start_at, a_day_is_taken_as_it_is)
{
	in_zone("XXX-2");
	cr_expect_eq(at("2023-11-14T22:13:21Z"), 1700000001);
	cr_expect_eq(at("2023-11-15 00:13:21"), 1700000001, "local time");
	cr_expect_eq(at("2023-11-14T21:14-01:00"), 1700000040);
	cr_expect_eq(at("2023-11-15T03:43:21+05:30"), 1700000001);
}

Test(start_at, a_period_is_left_to_whoever_is_ready)
{
	uint64_t ns = 7, period = 0;

	cr_assert_eq(start_at_parse("/250ms", NOW, &ns, &period), 0);
	cr_expect_eq(period, S / 4);
	cr_assert_eq(start_at_parse("/1h", NOW, &ns, &period), 0);
	cr_expect_eq(period, 3600 * S);
	cr_expect_eq(ns, 7, "left alone");
}

Test(start_at, anything_else_is_refused)
{
	static const char *const bad[] = { "",
					   "noon",
					   "25:00",
					   "12:00x",
					   "/",
					   "/0s",
					   "/x",
					   "2030-13-01T00:00",
					   "2030-01",
					   "2030-01-01",
					   "2030-01-01T00:00:00+1",
					   "12",
					   "2030-01-01T00:00:00+99:00",
					   "2030-01-01T00:00Zx" };
	uint64_t ns = 7, period = 7;

	in_zone("UTC0");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(start_at_parse(bad[i], NOW, &ns, &period), -EINVAL, "%s", bad[i]);
	cr_expect_eq(start_at_parse("2023-11-14T22:13:20Z", NOW, &ns, &period), -ERANGE);
	cr_expect_eq(start_at_parse("1969-01-01T00:00Z", NOW, &ns, &period), -ERANGE);
	cr_expect_eq(ns, 7, "left alone");
	cr_expect_eq(period, 7);
}

Test(start_at, a_delay_is_in_milliseconds_unless_it_says_otherwise)
{
	uint64_t ns = 0;
	bool hold = false;

	cr_expect_eq(start_at_delay("1500", &ns, &hold), 0);
	cr_expect_eq(ns, 1500 * S / 1000);
	cr_expect_eq(start_at_delay("2s", &ns, &hold), 0);
	cr_expect_eq(ns, 2 * S);
	cr_expect(!hold);
	cr_expect_eq(start_at_delay("-2", &ns, &hold), -EINVAL);
	cr_expect_eq(start_at_delay("soon", &ns, &hold), -EINVAL);
	cr_expect_eq(start_at_delay("0.5", &ns, &hold), -EINVAL, "of what?");
	cr_expect_eq(start_at_delay("0.5s", &ns, &hold), 0);
	cr_expect_eq(ns, S / 2);
	cr_expect_eq(start_at_delay("-1", &ns, &hold), 0);
	cr_expect(hold);
}
