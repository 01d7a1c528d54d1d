// SPDX-License-Identifier: BSD-2-Clause
/* Columns of `query` for columns of the server, by name. Owns the search for them, and the conditions on rows. */
#include "ship/source_row.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"

static int find(struct source_plan *p, const char *name, const struct scan_column *columns,
		size_t cnt, size_t *out)
{
	for (size_t i = 0; name && i < cnt; i++) {
		if (strcmp(columns[i].name, name) != 0)
			continue;
		*out = i;
		p->used |= scan_filter_bit(i);
		return 0;
	}
	return name ? -ENOENT : 0;
}

int source_plan_init(struct source_plan *p, const struct ship_table *table,
		     const struct scan_column *columns, size_t cnt)
{
	const struct ship_condition *c = table->conditions;
	int err;

	*p = (struct source_plan){
		.table = table,
		.columns = xcalloc(table->column_cnt, sizeof(*p->columns)),
	};
	err = find(p, table->wall, columns, cnt, &p->wall);
	for (size_t i = 0; i < table->column_cnt && !err; i++)
		err = find(p, table->columns[i].from, columns, cnt, &p->columns[i]);
	for (size_t i = 0; c[i].from && !err; i++)
		err = find(p, c[i].from, columns, cnt, &p->conditions[i]);
	return err;
}

void source_plan_fini(struct source_plan *p)
{
	free(p->columns);
	p->columns = NULL;
}

static bool meets(const struct ship_condition *c, const struct query_value *v)
{
	if (!c->text)
		return v->type == QUERY_INTEGER && !v->integer;
	return v->type == QUERY_TEXT &&
	       (v->sz != strlen(c->text) || memcmp(v->data, c->text, v->sz) != 0) == c->differs;
}

bool source_plan_wants(const struct source_plan *p, const struct source_row *row)
{
	const struct ship_condition *c = p->table->conditions;
	struct query_value v;

	for (size_t i = 0; c[i].from; i++) {
		row->value(row->of, p->conditions[i], &v);
		if (!meets(&c[i], &v))
			return false;
	}
	return true;
}
