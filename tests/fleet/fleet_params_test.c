// SPDX-License-Identifier: BSD-2-Clause
/* Conditions on hosts, services and times: of named queries and of SQL that asks for them. */
#include "fleet/fleet_params.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *literal_of(const struct fleet_params *p, const char *name)
{
	for (size_t i = 0; i < p->cnt; i++)
		if (!strcmp(p->values[i].name, name))
			return p->values[i].literal;
	return "(none)";
}

/* The condition :range of top-functions with one parameter. */
static void expect_range(const char *name, const char *value, const char *want)
{
	const struct query_param given = { name, value, QUERY_PARAM_ANY };
	struct buf message = { 0 };
	struct fleet_params p;

	cr_expect_eq(fleet_params_of_query(&p, fleet_queries_find("top-functions"), &given, 1, true,
					   &message),
		     0, "%s", buf_cstr(&message));
	cr_expect_str_eq(literal_of(&p, "range"), want, "%s", literal_of(&p, "range"));
	fleet_params_fini(&p);
	buf_free(&message);
}

Test(fleet_params, hosts_and_services_are_lists_of_globs)
{
	expect_range("host", "*", "(1)");
	expect_range("host", "web1", "(1 AND (match(host, '(?s)^web1$')))");
	expect_range("host", "web*,db[1,2]",
		     "(1 AND (match(host, '(?s)^web.*$') OR match(host, '(?s)^db[1,2]$')))");
	expect_range("host", "a,", "(1 AND (match(host, '(?s)^a$') OR match(host, '(?s)^$')))");
	expect_range("host", "", "(1 AND (match(host, '(?s)^$')))");
	expect_range("host", "[],]a,[^],]b",
		     "(1 AND (match(host, '(?s)^[\\\\],]a$') OR match(host, '(?s)^[^\\\\],]b$')))");
	expect_range("host", "[a],b,[,c",
		     "(1 AND (match(host, '(?s)^[a]$') OR match(host, '(?s)^b$') OR match(host, "
		     "'(?s)^\\\\z.')))");
	expect_range("service", "*/a.service",
		     "(1 AND (match(service, '(?s)^.*/a\\\\.service$')))");
	expect_range("to", "2001-09-09",
		     "(1 AND wall < 999993600000000000 AND day <= toDate(11574))");
}

Test(fleet_params, tables_without_services_have_no_such_parameter)
{
	static const char *const names[] = { "slowest-request", "hosts", "losses" };
	const struct query_param given = { "service", "*", QUERY_PARAM_ANY };

	for (size_t i = 0; i < 3; i++) {
		struct buf message = { 0 };
		struct fleet_params p;

		cr_expect_neq(fleet_params_of_query(&p, fleet_queries_find(names[i]), &given, 1,
						    true, &message),
			      0);
		fleet_params_fini(&p);
		buf_free(&message);
	}
}

Test(fleet_params, sql_gets_conditions_where_it_asks_for_them)
{
	const struct query_param given[] = { { "host", "w*", QUERY_PARAM_ANY },
					     { "service", "/a", QUERY_PARAM_ANY } };
	struct buf message = { 0 };
	struct fleet_params p;

	cr_expect_eq(fleet_params_of_sql(&p, "SELECT 1 FROM t WHERE :range AND x = :host", given, 2,
					 &message),
		     0);
	cr_expect(p.has_filters);
	cr_expect_str_eq(literal_of(&p, "host"), "'w*'");
	cr_expect_str_eq(literal_of(&p, "range"),
			 "(1 AND (match(host, '(?s)^w.*$')) AND (match(service, '(?s)^/a$')))");
	cr_expect_str_eq(literal_of(&p, "span"), "(1 AND (match(host, '(?s)^w.*$')))");
	fleet_params_fini(&p);
	/* in a comment it is text */
	cr_expect_eq(fleet_params_of_sql(&p, "SELECT :host -- :range", given, 1, &message), 0);
	cr_expect_not(p.has_filters);
	fleet_params_fini(&p);
}

static bool uses(const char *sql, const char *name)
{
	const struct query_param given = { name, "1", QUERY_PARAM_ANY };
	struct buf message = { 0 }, out = { 0 };
	struct fleet_params p;
	bool is;

	cr_assert_eq(fleet_params_of_sql(&p, sql, &given, 1, &message), 0);
	sql_template_put(&out, sql, p.values, p.cnt);
	is = fleet_params_is_used(&p, name);
	fleet_params_fini(&p);
	buf_free(&out);
	return is;
}

/* A value that no condition has would look as if it had selected the rows. */
Test(fleet_params, a_value_without_a_place_is_noticed)
{
	cr_expect(uses("SELECT :service", "service"));
	cr_expect(uses("SELECT 1 FROM t WHERE :range", "service"));
	cr_expect(uses("SELECT 1 FROM t WHERE :range", "host"));
	cr_expect(uses("SELECT 1 FROM t WHERE :span", "host"));
	cr_expect(uses("SELECT 1 FROM t WHERE :days", "host"));
	cr_expect_not(uses("SELECT 1 FROM t WHERE :span", "service"));
	cr_expect_not(uses("SELECT 1 FROM t WHERE :days", "service"));
	cr_expect_not(uses("SELECT 1 FROM t WHERE :range", "hosts"));
	cr_expect_not(uses("SELECT 1 FROM t", "host"));
}

Test(fleet_params, a_wrong_time_is_refused_where_it_is_one)
{
	const struct query_param given = { "from", "noon", QUERY_PARAM_ANY };
	struct buf message = { 0 };
	struct fleet_params p;

	cr_expect_eq(fleet_params_of_sql(&p, "SELECT :from", &given, 1, &message), 0);
	fleet_params_fini(&p);
	cr_expect_neq(fleet_params_of_sql(&p, "SELECT :range", &given, 1, &message), 0);
	cr_expect(strstr(buf_cstr(&message), "bad value 'noon' for --param from"));
	fleet_params_fini(&p);
	buf_free(&message);
}
