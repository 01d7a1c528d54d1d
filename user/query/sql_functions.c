// SPDX-License-Identifier: BSD-2-Clause
/*
 * The functions of SQL about stacks, numbers and control groups, and the list of all functions. Independent of tables. A stack
 * that does not exist is NULL.
 */
#include "query/sql_functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "query/cgroup_names.h"
#include "query/quantile_function.h"
#include "query/stack_names.h"

const struct sql_function sql_functions_list[] = {
	{ "leaf(STACK)", "name of the function at the leaf, as report prints it" },
	{ "folded(STACK)",
	  "all functions, root first, separated by semicolons, as for flame graphs" },
	{ "has_frame(STACK, NAME)",
	  "1: a function of the stack has this name; NAME may be a GLOB" },
	{ "quantile(X, Q)",
	  "exact Q-quantile (0 to 1): the smallest X with at least Q of all below or equal" },
	{ "ilog2(X)", "whole part of the base-2 logarithm of a number; NULL below 1" },
	{ "container(CGROUP)", "id of the container in the path of a control group" },
	{ "pod(CGROUP)", "UID of the Kubernetes pod in the path of a control group" },
};
const size_t sql_functions_cnt = sizeof(sql_functions_list) / sizeof(sql_functions_list[0]);

/* A stack as an argument; false: NULL. */
struct stack_arg {
	struct trace_input *in;
	const uint64_t *frames;
	uint32_t cnt;
};

static bool get_stack(sqlite3_context *ctx, sqlite3_value *v, struct stack_arg *out)
{
	const struct trace_inputs *all = sqlite3_user_data(ctx);

	if (sqlite3_value_type(v) != SQLITE_INTEGER)
		return false;
	out->frames = trace_inputs_stack(all, sqlite3_value_int64(v), &out->in, &out->cnt);
	return out->frames != NULL;
}

static struct stack_names walk_of(const struct stack_arg *arg)
{
	return (struct stack_names){ .names = arg->in->names,
				     .frames = arg->frames,
				     .cnt = arg->cnt };
}

static void leaf(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct stack_names_function f;
	struct buf out = { 0 };
	struct stack_names walk;
	struct stack_arg arg;

	if (!get_stack(ctx, argv[0], &arg))
		return;
	walk = walk_of(&arg);
	if (!stack_names_next(&walk, &f))
		return;
	stack_names_put(&out, arg.in->names, &f);
	sqlite3_result_text64(ctx, out.data, out.len, SQLITE_TRANSIENT, SQLITE_UTF8);
	buf_free(&out);
}

static void folded(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct buf out = { 0 };
	struct stack_arg arg;

	if (!get_stack(ctx, argv[0], &arg))
		return;
	stack_names_put_folded(&out, arg.in->names, arg.frames, arg.cnt);
	sqlite3_result_text64(ctx, out.data, out.len, SQLITE_TRANSIENT, SQLITE_UTF8);
	buf_free(&out);
}

/* Results of has_frame() for one name, by stack: 1 + whether it has the function. */
static void free_results(void *p)
{
	hmap_fini(p);
	free(p);
}

static bool has_function(const struct stack_arg *arg, const char *pattern)
{
	struct stack_names walk = walk_of(arg);
	struct stack_names_function f;

	while (stack_names_next(&walk, &f))
		if (f.name != NAMES_NONE &&
		    str_glob(pattern, names_str(arg->in->names, f.name, NULL)))
			return true;
	return false;
}

static void has_frame(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct hmap *results = sqlite3_get_auxdata(ctx, 1);
	const bool fresh = !results;
	struct stack_arg arg;
	uintptr_t result;
	uint64_t key;

	if (sqlite3_value_type(argv[1]) != SQLITE_TEXT || !get_stack(ctx, argv[0], &arg))
		return;
	if (fresh)
		results = xcalloc(1, sizeof(*results));
	key = (uint64_t)sqlite3_value_int64(argv[0]);
	result = (uintptr_t)hmap_get(results, key);
	if (!result) {
		result = 1 + has_function(&arg, (const char *)sqlite3_value_text(argv[1]));
		hmap_set(results, key, (void *)result);
	}
	sqlite3_result_int(ctx, (int)result - 1);
	/* it may be freed at once, if the name is not constant */
	if (fresh)
		sqlite3_set_auxdata(ctx, 1, results, free_results);
}

/* The number of a bucket that is twice as wide as the one before it. */
static void ilog2(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const int64_t v = sqlite3_value_int64(argv[0]);

	if (v >= 1)
		sqlite3_result_int(ctx, 63 - __builtin_clzll((unsigned long long)v));
}

/* ---- control groups ----------------------------------------------------------------------------- */

static void container(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *path = (const char *)sqlite3_value_text(argv[0]);
	const char *id = path ? cgroup_names_container(path, strlen(path)) : NULL;

	if (id)
		sqlite3_result_text(ctx, id, CGROUP_NAMES_CONTAINER, SQLITE_TRANSIENT);
}

static void pod(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *path = (const char *)sqlite3_value_text(argv[0]);
	struct buf out = { 0 };

	if (path && cgroup_names_pod(&out, path, strlen(path)))
		sqlite3_result_text64(ctx, out.data, out.len, SQLITE_TRANSIENT, SQLITE_UTF8);
	buf_free(&out);
}

int sql_functions_register(sqlite3 *db, struct trace_inputs *all)
{
	static const struct {
		const char *name;
		int argc;
		void (*fn)(sqlite3_context *ctx, int argc, sqlite3_value **argv);
	} functions[] = {
		{ "leaf", 1, leaf },   { "folded", 1, folded },	      { "has_frame", 2, has_frame },
		{ "ilog2", 1, ilog2 }, { "container", 1, container }, { "pod", 1, pod },
	};
	int ret = quantile_function_register(db);

	for (size_t i = 0; !ret && i < sizeof(functions) / sizeof(functions[0]); i++)
		ret = sqlite3_create_function_v2(db, functions[i].name, functions[i].argc,
						 SQLITE_UTF8 | SQLITE_DETERMINISTIC, all,
						 functions[i].fn, NULL, NULL, NULL);
	return ret;
}
