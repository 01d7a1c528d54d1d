/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FLEET_SQL_TEMPLATE_H
#define D9_FLEET_SQL_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * SQL of ClickHouse with values at the places :NAME. Servers older than 19.14 cannot bind values, so that values become
 * literals: quoted and escaped, whatever bytes they have.
 */
struct sql_template_value {
	const char *name;
	const char *literal; /* SQL */
	bool used; /* set by sql_template_put() */
};

/*
 * Appends @sql with literals for the names. Text, quoted names and comments stay as they are, and so does a name that
 * @values lacks.
 */
void sql_template_put(struct buf *out, const char *sql, struct sql_template_value *values,
		      size_t cnt);

/* Appends a decimal number as statement_params_is_number() has it; false: it is too large. */
bool sql_template_put_number(struct buf *out, const char *s, bool integer);
/* The "]" that ends the set of a GLOB after its "["; a "]" at the start belongs to the set. NULL: the set does not end. */
const char *sql_template_set_end(const char *at);
/* Appends the regular expression of a GLOB of SQLite as a literal, for match(). */
void sql_template_put_glob(struct buf *out, const char *glob);

#endif /* D9_FLEET_SQL_TEMPLATE_H */
