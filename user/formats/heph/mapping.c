// SPDX-License-Identifier: BSD-2-Clause
/*
 * What each dial9 type means to the Heph writer, decided once for a type and not for each event.
 *
 * Types that the import makes are known by their first fields, which no other program would put in
 * this order; their attributes get their true names back here. Of all other types a few fields have
 * a meaning (who ran, in which task, for how long) and the rest are attributes. Knows schemas only,
 * no values.
 */
#include "formats/heph/mapping.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/heph/attributes.h"
#include "formats/heph/layout.h"

static bool is(struct dial9_str s, const char *word)
{
	return s.len == strlen(word) && !memcmp(s.ptr, word, s.len);
}

static bool starts(struct dial9_str s, const char *word)
{
	return s.len >= strlen(word) && !memcmp(s.ptr, word, strlen(word));
}

static bool field_is(const struct dial9_schema *s, size_t i, const char *name, uint8_t type)
{
	return i < dial9_schema_field_cnt(s) && dial9_schema_field_type(s, i) == type &&
	       is(dial9_schema_field_name_n(s, i), name);
}

/*
 * ---- types that the import made -----------------------------------------------------------------
 */

static bool is_text(uint8_t type)
{
	return type == DIAL9_STRING || type == DIAL9_POOLED_STRING;
}

/* What an attribute can have become. */
static bool is_attr_type(uint8_t type)
{
	return type == DIAL9_VARINT || type == DIAL9_I64 || type == DIAL9_F64 || is_text(type) ||
	       type == DIAL9_BYTES || type == DIAL9_LIST;
}

static bool has_head(struct heph_mapping *p)
{
	const struct dial9_schema *s = p->schema;

	p->ends_before = field_is(s, 3, HEPH_LAYOUT_END, DIAL9_VARINT);
	return dial9_schema_has_timestamp(s) && field_is(s, 0, HEPH_LAYOUT_STREAM, DIAL9_U32) &&
	       field_is(s, 1, HEPH_LAYOUT_COUNTER, DIAL9_U32) &&
	       field_is(s, 2, HEPH_LAYOUT_SUBSTREAM, DIAL9_VARINT) &&
	       (p->ends_before || field_is(s, 3, HEPH_LAYOUT_DURATION, DIAL9_VARINT));
}

static bool is_packet(const struct heph_mapping *p)
{
	return is(p->desc, HEPH_LAYOUT_EVENT) && p->cnt == HEPH_LAYOUT_FIXED_CNT + 3 &&
	       field_is(p->schema, 4, HEPH_LAYOUT_DESCRIPTION, DIAL9_STRING) &&
	       field_is(p->schema, 5, HEPH_LAYOUT_ATTRIBUTES, DIAL9_STRING_MAP) &&
	       field_is(p->schema, 6, HEPH_LAYOUT_PACKET, DIAL9_BYTES);
}

/* Fields in the form that the import gives them; their true names go to p->names. */
static bool is_fields(struct heph_mapping *p)
{
	size_t i = HEPH_LAYOUT_FIXED_CNT;

	p->has_desc = is(p->desc, HEPH_LAYOUT_EVENT);
	p->undecoded =
		p->cnt > i && field_is(p->schema, p->cnt - 1, HEPH_LAYOUT_UNDECODED, DIAL9_BYTES);
	if (p->has_desc) {
		if (!field_is(p->schema, i, HEPH_LAYOUT_DESCRIPTION, DIAL9_STRING) &&
		    !field_is(p->schema, i, HEPH_LAYOUT_DESCRIPTION, DIAL9_POOLED_STRING))
			return false;
		i++;
	}
	if (p->cnt > HEPH_LAYOUT_FIELDS_MAX)
		return false;
	for (size_t k = i; k < p->cnt; k++)
		if (!is_attr_type(dial9_schema_field_type(p->schema, k)))
			return false;
	for (; i < p->cnt; i++)
		p->names[i] = heph_layout_strip(p->names[i], p->names, i);
	return true;
}

static bool is_one_map(const struct heph_mapping *p)
{
	return p->cnt == 1 && field_is(p->schema, 0, HEPH_LAYOUT_ENTRIES, DIAL9_STRING_MAP);
}

static bool find_imported(struct heph_mapping *p)
{
	const struct dial9_schema *s = p->schema;

	if (has_head(p) && is_packet(p))
		p->kind = HEPH_MAPPING_PACKET;
	else if (has_head(p) && is_fields(p))
		p->kind = HEPH_MAPPING_FIELDS;
	else if (is(p->desc, HEPH_LAYOUT_INVALID) && p->cnt == 2 &&
		 field_is(s, 0, HEPH_LAYOUT_OFFSET, DIAL9_VARINT) &&
		 field_is(s, 1, HEPH_LAYOUT_BYTES, DIAL9_BYTES))
		p->kind = HEPH_MAPPING_INVALID;
	else if (is(p->desc, HEPH_LAYOUT_LOST) && p->cnt == 3 &&
		 field_is(s, 0, HEPH_LAYOUT_STREAM, DIAL9_U32) &&
		 field_is(s, 1, HEPH_LAYOUT_EXPECTED, DIAL9_U32) &&
		 field_is(s, 2, HEPH_LAYOUT_GOT, DIAL9_U32))
		p->kind = HEPH_MAPPING_LOST;
	else if (is(p->desc, HEPH_LAYOUT_CLOCK) &&
		 field_is(s, 0, HEPH_LAYOUT_REALTIME, DIAL9_VARINT))
		p->kind = HEPH_MAPPING_CLOCK;
	else if (is(p->desc, HEPH_LAYOUT_METADATA) && is_one_map(p))
		p->kind = HEPH_MAPPING_METADATA;
	else
		return false;
	return true;
}

/*
 * ---- all others ---------------------------------------------------------------------------------
 */

static bool is_number(uint8_t type)
{
	type &= (uint8_t)~DIAL9_OPTIONAL;
	return type == DIAL9_VARINT || type == DIAL9_U32 || type == DIAL9_U16 || type == DIAL9_U8;
}

static size_t find_number(const struct dial9_schema *s, const char *name)
{
	int i = dial9_schema_find(s, name);

	return i >= 0 && is_number(dial9_schema_field_type(s, (size_t)i)) ? (size_t)i :
									    HEPH_MAPPING_NONE;
}

static enum heph_mapping_kind role(const struct heph_mapping *p)
{
	if (!dial9_schema_has_timestamp(p->schema))
		return HEPH_MAPPING_OTHER;
	if (p->span != HEPH_MAPPING_NONE) {
		if (starts(p->desc, "SpanEnter:") || is(p->desc, "SpanEnterEvent"))
			return HEPH_MAPPING_SPAN_ENTER;
		if (starts(p->desc, "SpanExit:") || is(p->desc, "SpanExitEvent"))
			return HEPH_MAPPING_SPAN_EXIT;
	}
	if (p->worker != HEPH_MAPPING_NONE) {
		if (is(p->desc, "PollStartEvent"))
			return HEPH_MAPPING_POLL_START;
		if (is(p->desc, "PollEndEvent"))
			return HEPH_MAPPING_POLL_END;
	}
	return HEPH_MAPPING_OTHER;
}

static void find_meanings(struct heph_mapping *p)
{
	const struct dial9_schema *s = p->schema;
	int name = dial9_schema_find(s, "span_name");

	p->worker = find_number(s, "worker_id");
	p->tid = find_number(s, "tid");
	p->task = find_number(s, "task_id");
	p->span = find_number(s, "span_id");
	p->duration = find_number(s, HEPH_LAYOUT_DURATION);
	p->end = find_number(s, HEPH_LAYOUT_END);
	p->span_name = HEPH_MAPPING_NONE;
	if (name >= 0 && is_text(dial9_schema_field_type(s, (size_t)name)))
		p->span_name = (size_t)name;
	p->kind = role(p);
}

/*
 * ---- the table ----------------------------------------------------------------------------------
 */

static void free_mapping(struct heph_mapping *p)
{
	if (!p)
		return;
	dial9_schema_free(p->schema);
	free(p->names);
	free(p->wire_types);
	free(p);
}

static struct heph_mapping *make_mapping(const struct dial9_schema *schema)
{
	struct heph_mapping *p = xcalloc(1, sizeof(*p));

	p->schema = dial9_schema_ref(schema);
	p->desc = dial9_schema_name_n(p->schema);
	p->cnt = dial9_schema_field_cnt(p->schema);
	p->names = xcalloc(p->cnt + 1, sizeof(*p->names));
	p->wire_types = xcalloc(p->cnt + 1, 1);
	for (size_t i = 0; i < p->cnt; i++)
		p->names[i] = dial9_schema_field_name_n(p->schema, i);
	find_meanings(p);
	find_imported(p);
	return p;
}

static struct heph_mapping *get(struct heph_mappings *p, uint16_t type_id,
				const struct dial9_schema *schema)
{
	p->v = array_reserve(p->v, &p->cap, (size_t)type_id + 1, sizeof(*p->v));
	if (p->v[type_id] && p->v[type_id]->schema != schema) {
		free_mapping(p->v[type_id]);
		p->v[type_id] = NULL;
	}
	if (!p->v[type_id])
		p->v[type_id] = make_mapping(schema);
	return p->v[type_id];
}

const struct heph_mapping *heph_mapping_get(struct heph_mappings *p, uint16_t type_id,
					    const struct dial9_schema *schema)
{
	return get(p, type_id, schema);
}

void heph_mapping_annotate(struct heph_mappings *p, uint16_t type_id,
			   const struct dial9_schema *schema, uint16_t field, struct dial9_str key,
			   struct dial9_str value)
{
	struct heph_mapping *mapping = get(p, type_id, schema);

	if (is(key, HEPH_LAYOUT_TYPE_KEY) && field < mapping->cnt)
		mapping->wire_types[field] = heph_attr_type_find(value);
}

void heph_mapping_clear(struct heph_mappings *p)
{
	for (size_t i = 0; i < p->cap; i++)
		free_mapping(p->v[i]);
	free(p->v);
	*p = (struct heph_mappings){ 0 };
}
