// SPDX-License-Identifier: BSD-2-Clause
/* Statements of the server's tables, and for how long rows stay. */
#include "ship/ship_tables.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect_days(uint64_t raw, uint64_t rollup, uint64_t all)
{
	const struct ship_ttl ttl = { raw, rollup };

	cr_expect_eq(ship_tables_ttl(&ship_tables[SHIP_SLICES], &ttl), raw);
	cr_expect_eq(ship_tables_ttl(&ship_tables[SHIP_SAMPLES], &ttl), raw);
	cr_expect_eq(ship_tables_ttl(&ship_tables[SHIP_SPANS], &ttl), raw);
	cr_expect_eq(ship_tables_ttl(&ship_tables[SHIP_WAITS], &ttl), rollup);
	cr_expect_eq(ship_tables_ttl(&ship_tables[SHIP_STACKS], &ttl), all);
	cr_expect_eq(ship_tables_ttl(&ship_tables[SHIP_LOST], &ttl), all);
}

Test(ship_tables, tables_that_rows_refer_to_stay_for_the_longer_time)
{
	expect_days(7, 90, 90);
	expect_days(90, 7, 90);
	expect_days(7, 0, 0);
	expect_days(0, 7, 0);
	expect_days(0, 0, 0);
}

static void expect_ttl(enum ship_table_id id, bool rich, const char *want)
{
	struct buf sql = { 0 };
	const char *found;

	ship_tables_put_create(&sql, &ship_tables[id], rich, &(struct ship_ttl){ 7, 90 });
	found = strstr(buf_cstr(&sql), " TTL ");
	if (want)
		cr_expect(found && !strncmp(found, want, strlen(want)), "%s", buf_cstr(&sql));
	else
		cr_expect_null(found, "%s", buf_cstr(&sql));
	buf_free(&sql);
}

Test(ship_tables, days_are_in_the_statement_of_servers_that_know_them)
{
	expect_ttl(SHIP_SLICES, true, " TTL day + INTERVAL 7 DAY");
	expect_ttl(SHIP_OFFCPU, true, " TTL day + INTERVAL 90 DAY");
	expect_ttl(SHIP_SLICES, false, NULL);
	/* it has no day */
	expect_ttl(SHIP_FRAMES, true, NULL);
}
