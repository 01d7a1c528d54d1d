// SPDX-License-Identifier: BSD-2-Clause
/* quantile() in a database of its own, compared with sorting. */
#include "query/quantile_function.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/chance.h"

static sqlite3 *open_db(void)
{
	sqlite3 *db;

	cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
	cr_assert_eq(quantile_function_register(db), SQLITE_OK);
	cr_assert_eq(sqlite3_exec(db, "CREATE TABLE t(x, g)", NULL, NULL, NULL), SQLITE_OK);
	return db;
}

/* The text of the one value of a query, "NULL", or the error. */
static void expect(sqlite3 *db, const char *sql, const char *want)
{
	sqlite3_stmt *stmt;
	const char *got;

	cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK, "%s: %s", sql,
		     sqlite3_errmsg(db));
	if (sqlite3_step(stmt) == SQLITE_ROW)
		got = (const char *)sqlite3_column_text(stmt, 0);
	else
		got = sqlite3_errmsg(db);
	cr_expect_str_eq(got ? got : "NULL", want, "%s", sql);
	sqlite3_finalize(stmt);
}

Test(quantile_function, small_groups)
{
	sqlite3 *db = open_db();

	expect(db, "SELECT quantile(x, 0.5) FROM t", "NULL");
	expect(db, "WITH v(x) AS (VALUES (1),(2),(3),(4)) SELECT quantile(x, 0.5) FROM v", "2");
	expect(db, "WITH v(x) AS (VALUES (1),(2),(3),(4)) SELECT quantile(x, 0.51) FROM v", "3");
	expect(db, "WITH v(x) AS (VALUES (4),(-2),(3),(1)) SELECT quantile(x, 0) FROM v", "-2");
	expect(db, "WITH v(x) AS (VALUES (4),(-2),(3),(1)) SELECT quantile(x, 1) FROM v", "4");
	/* the double next to 0.07 is above it */
	expect(db,
	       "WITH RECURSIVE v(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM v WHERE x < 100)"
	       " SELECT quantile(x, 0.07) || ' ' || quantile(x, 0.14) || ' ' || quantile(x, 0.55) FROM v",
	       "7 14 55");
	expect(db, "WITH v(x) AS (VALUES (NULL),(7),('text')) SELECT quantile(x, 0.9) FROM v", "7");
	expect(db, "WITH v(x) AS (VALUES (1),(2.5),(-3)) SELECT quantile(x, 1) FROM v", "2.5");
	expect(db, "WITH v(x) AS (VALUES (1),(2.5),(-3)) SELECT quantile(x, 0) FROM v", "-3.0");
	sqlite3_close(db);
}

Test(quantile_function, a_wrong_share_is_an_error)
{
	sqlite3 *db = open_db();
	const char *want = "quantile(X, Q): Q must be a number from 0 to 1";

	expect(db, "WITH v(x) AS (VALUES (1)) SELECT quantile(x, 1.1) FROM v", want);
	expect(db, "WITH v(x) AS (VALUES (1)) SELECT quantile(x, -0.1) FROM v", want);
	expect(db, "WITH v(x) AS (VALUES (1)) SELECT quantile(x, NULL) FROM v", want);
	expect(db, "SELECT quantile(1, 'x')", want);
	expect(db, "SELECT quantile(1, 'p99')", want);
	expect(db, "SELECT quantile(1, '')", want);
	expect(db, "SELECT quantile(1, x'30')", want);
	expect(db, "SELECT quantile(1, '0.5')", "1");
	want = "quantile(X, Q): Q must be the same in all rows of a group";
	expect(db, "WITH v(x, q) AS (VALUES (1, 0.5), (2, 0.6)) SELECT quantile(x, q) FROM v",
	       want);
	expect(db, "WITH v(x, q) AS (VALUES (1, 1), (NULL, 0)) SELECT quantile(x, q) FROM v", want);
	expect(db,
	       "WITH v(x, q) AS (VALUES (1, 1), (2, 0)) SELECT quantile(x, q) FROM v GROUP BY x",
	       "1");
	sqlite3_close(db);
}

static int compare(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

enum { N = 30000 };

Test(quantile_function, large_groups_are_as_sorting_has_them)
{
	static const double shares[] = { 0, 0.01, 0.5, 0.99, 0.999, 1 };
	struct chance c = { .state = 5 };
	int64_t *v = calloc(N, sizeof(*v));
	sqlite3 *db = open_db();
	sqlite3_stmt *stmt;

	sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
	sqlite3_prepare_v2(db, "INSERT INTO t VALUES (?, 0)", -1, &stmt, NULL);
	for (size_t i = 0; i < N; i++) {
		/* all magnitudes and both signs */
		v[i] = (int64_t)(chance_next(&c) >> chance_below(&c, 64));
		sqlite3_bind_int64(stmt, 1, v[i]);
		sqlite3_step(stmt);
		sqlite3_reset(stmt);
	}
	sqlite3_finalize(stmt);
	qsort(v, N, sizeof(*v), compare);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		const double rank = ceil(shares[i] * N);
		char sql[80], want[32];

		snprintf(sql, sizeof(sql), "SELECT quantile(x, %g) FROM t", shares[i]);
		snprintf(want, sizeof(want), "%lld", (long long)v[rank < 1 ? 0 : (size_t)rank - 1]);
		expect(db, sql, want);
	}
	sqlite3_close(db);
	free(v);
}
