// SPDX-License-Identifier: BSD-2-Clause
/*
 * Conditions of a query that skip rows early. Owns the text that passes from xBestIndex to xFilter: the used columns in
 * hex, and two characters for each condition, its role and its operator. Independent of the tables.
 */
#include "query/scan_plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

/* Each scan reads the whole trace, so it costs nearly the same whatever it returns. */
#define COST_PER_ROW 10.0

static bool is_arg(enum scan_role role)
{
	return role >= SCAN_ROLE_ARG_1 && role <= SCAN_ROLE_ARG_3;
}

static char op_letter(const sqlite3_index_info *info, int i, enum scan_role role)
{
	switch (info->aConstraint[i].op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		/* of x IN (1, 2) each value would be a scan */
		return sqlite3_vtab_in((sqlite3_index_info *)info, i, -1) ? 0 : '=';
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_GE:
		return role == SCAN_ROLE_TS ? '>' : 0;
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_LE:
		return role == SCAN_ROLE_TS ? '<' : 0;
	default:
		return 0;
	}
}

static bool is_binary(sqlite3_index_info *info, int i, enum scan_role role)
{
	return (role != SCAN_ROLE_HOST && role != SCAN_ROLE_WORD) ||
	       !strcmp(sqlite3_vtab_collation(info, i), "BINARY");
}

int scan_plan_best(sqlite3_index_info *info, const struct scan_column *columns, size_t cnt,
		   uint64_t rows)
{
	double left = (double)rows + 1;
	struct buf plan = { 0 };
	bool is_missing = false, is_known[SCAN_ROLE_ARG_3 + 1] = { false };
	int argc = 0;

	buf_printf(&plan, "%" PRIx64 ":", (uint64_t)info->colUsed);
	for (int i = 0; i < info->nConstraint; i++) {
		const int column = info->aConstraint[i].iColumn;
		enum scan_role role;
		char op;

		if (column < 0 || (size_t)column >= cnt)
			continue;
		role = columns[column].role;
		if (!info->aConstraint[i].usable) {
			is_missing |= is_arg(role);
			continue;
		}
		if (role == SCAN_ROLE_NONE || !is_binary(info, i, role))
			continue;
		op = op_letter(info, i, role);
		/* SQLite compares a second value of an argument with the first one */
		if (!op || (is_arg(role) && is_known[role]))
			continue;
		is_known[role] = true;
		info->aConstraintUsage[i].argvIndex = ++argc;
		info->aConstraintUsage[i].omit = is_arg(role);
		buf_printf(&plan, "%c%c", 'a' + (int)role, op);
		left = left / (op == '=' ? 20 : 4) + 1;
	}
	info->estimatedCost = ((double)rows + 1) * COST_PER_ROW + left;
	info->estimatedRows = (sqlite3_int64)left;
	info->idxStr = sqlite3_mprintf("%s", buf_cstr(&plan));
	info->needToFreeIdxStr = 1;
	buf_free(&plan);
	if (is_missing)
		return SQLITE_CONSTRAINT;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- values ------------------------------------------------------------------------------------- */

static void set_number(bool *has, int64_t *to, sqlite3_value *v)
{
	if (sqlite3_value_type(v) != SQLITE_INTEGER)
		return;
	*has = true;
	*to = sqlite3_value_int64(v);
}

static void set_text(bool *has, char **to, sqlite3_value *v)
{
	if (sqlite3_value_type(v) != SQLITE_TEXT)
		return;
	free(*to);
	*has = true;
	*to = xstrdup((const char *)sqlite3_value_text(v));
}

static void set_arg(char **to, sqlite3_value *v)
{
	free(*to);
	*to = sqlite3_value_type(v) == SQLITE_NULL ? NULL :
						     xstrdup((const char *)sqlite3_value_text(v));
}

/* Bounds may include one row too many, never one too few. */
static void set_time(struct scan_filter *f, char op, sqlite3_value *v)
{
	const int type = sqlite3_value_type(v);
	int64_t low, high;
	double real;

	if (type == SQLITE_INTEGER) {
		low = high = sqlite3_value_int64(v);
	} else if (type == SQLITE_FLOAT) {
		real = sqlite3_value_double(v);
		if (!(fabs(real) < 9e18))
			return;
		low = (int64_t)floor(real);
		high = (int64_t)ceil(real);
	} else {
		return;
	}
	if (op != '<' && low > f->from)
		f->from = low;
	if (op != '>' && high < f->to)
		f->to = high;
}

static void set_condition(struct scan_filter *f, enum scan_role role, char op, sqlite3_value *v)
{
	switch (role) {
	case SCAN_ROLE_TS:
		set_time(f, op, v);
		break;
	case SCAN_ROLE_TID:
		set_number(&f->has_tid, &f->tid, v);
		break;
	case SCAN_ROLE_PID:
		set_number(&f->has_pid, &f->pid, v);
		break;
	case SCAN_ROLE_TRACE:
		set_number(&f->has_trace, &f->trace, v);
		break;
	case SCAN_ROLE_HOST:
		set_text(&f->has_host, &f->host, v);
		break;
	case SCAN_ROLE_WORD:
		set_text(&f->has_word, &f->word, v);
		break;
	case SCAN_ROLE_ARG_1:
	case SCAN_ROLE_ARG_2:
	case SCAN_ROLE_ARG_3:
		set_arg(&f->args[role - SCAN_ROLE_ARG_1], v);
		break;
	case SCAN_ROLE_NONE:
		break;
	}
}

void scan_filter_init(struct scan_filter *f, const char *plan, int argc, sqlite3_value **argv)
{
	char *at;

	*f = (struct scan_filter){ .from = INT64_MIN, .to = INT64_MAX };
	f->used = strtoull(plan, &at, 16);
	for (int i = 0; i < argc && at[1] && at[2]; i++, at += 2)
		set_condition(f, (enum scan_role)(at[1] - 'a'), at[2], argv[i]);
}
