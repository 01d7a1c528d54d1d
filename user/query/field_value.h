/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_QUERY_FIELD_VALUE_H
#define D9_QUERY_FIELD_VALUE_H

#include "query/scan.h"

/* The SQL type of a field, from its type in the schema: INTEGER, REAL, TEXT or BLOB. */
const char *field_value_type(uint8_t type);
/*
 * A field of the current event as the value of a column, which is NULL before. Unsigned numbers of 2^63 and more keep their 64
 * bits and become negative; stacks become their number, lists and maps JSON text.
 */
void field_value_get(struct scan *s, const struct dial9_value *v, struct query_value *out);
/* The same as a value in JSON, with unsigned numbers as they are. */
void field_value_json(struct buf *out, struct trace_input *in, const struct trace *t,
		      const struct dial9_value *v);

#endif /* D9_QUERY_FIELD_VALUE_H */
