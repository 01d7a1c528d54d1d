// SPDX-License-Identifier: BSD-2-Clause
/*
 * own_fields.c - values of an event into the struct of an own event
 *
 * Names are looked up once for each schema. Traces come from other versions and other programs: a field may be
 * absent, elsewhere, or of another type.
 */
#include "trace/read/own_fields.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "trace/read/trace.h"

void own_fields_init(struct own_fields *f, const struct dial9_schema *schema)
{
	f->event = own_event_find(dial9_schema_name_n(schema));
	f->at = NULL;
	if (!f->event)
		return;
	f->at = xcalloc(f->event->cnt, sizeof(*f->at));
	for (size_t i = 0; i < f->event->cnt; i++)
		f->at[i] = dial9_schema_find_n(schema, own_text(f->event->fields[i].name));
}

void own_fields_fini(struct own_fields *f)
{
	free(f->at);
}

static bool read_number(const struct dial9_value *v, uint64_t max, uint64_t *out)
{
	if (v->type == DIAL9_BOOL)
		*out = v->b;
	else if (!trace_value_u64(v, out))
		return false;
	return *out <= max;
}

static bool read_field(const struct own_field *field, const struct dial9_dec *dec,
		       const struct dial9_value *v, void *member)
{
	uint64_t n;

	switch (field->type) {
	case DIAL9_U8:
		if (!read_number(v, UINT8_MAX, &n))
			return false;
		*(uint8_t *)member = (uint8_t)n;
		return true;
	case DIAL9_U32:
		if (!read_number(v, UINT32_MAX, &n))
			return false;
		*(uint32_t *)member = (uint32_t)n;
		return true;
	case DIAL9_BOOL:
		if (!read_number(v, 1, &n))
			return false;
		*(bool *)member = n;
		return true;
	case DIAL9_VARINT:
	case DIAL9_I64:
		if (!read_number(v, UINT64_MAX, &n))
			return false;
		memcpy(member, &n, sizeof(n));
		return true;
	case DIAL9_POOLED_STRING:
		return !dial9_value_str(dec, v, member);
	case DIAL9_BYTES:
		if (v->type != DIAL9_BYTES)
			return false;
		*(struct dial9_bytes *)member = (struct dial9_bytes){ v->str.ptr, v->str.len };
		return true;
	default:
		return false;
	}
}

uint64_t own_fields_read(const struct own_fields *f, const struct dial9_dec *dec,
			 const struct dial9_value *values, void *out)
{
	uint64_t filled = 0;

	for (size_t i = 0; i < f->event->cnt; i++) {
		const struct own_field *field = &f->event->fields[i];

		if (f->at[i] >= 0 &&
		    read_field(field, dec, &values[f->at[i]], (char *)out + field->off))
			filled |= 1ull << i;
	}
	return filled;
}
