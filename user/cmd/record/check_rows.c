// SPDX-License-Identifier: BSD-2-Clause
/* check_rows.c - what check has found, a row each */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "cmd/record/check.h"

struct check_row *check_add(struct check *c, const char *name, enum check_state state,
			    const char *fmt, ...)
{
	struct check_row *row;
	char detail[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	c->rows = array_reserve(c->rows, &c->cap, c->cnt + 1, sizeof(*c->rows));
	row = &c->rows[c->cnt++];
	*row = (struct check_row){ .name = name, .state = state, .detail = xstrdup(detail) };
	return row;
}

void check_explain(struct check_row *row, const char *costs, const char *mend)
{
	row->costs = costs;
	row->mend = mend ? xstrdup(mend) : NULL;
}

void check_fini(struct check *c)
{
	for (size_t i = 0; i < c->cnt; i++) {
		free(c->rows[i].detail);
		free(c->rows[i].mend);
	}
	free(c->rows);
	*c = (struct check){ 0 };
}

bool check_can_record(const struct check *c)
{
	for (size_t i = 0; i < c->cnt; i++)
		if (c->rows[i].state == CHECK_BAD)
			return false;
	return true;
}
