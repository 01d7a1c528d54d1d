// SPDX-License-Identifier: BSD-2-Clause
/*
 * The dial9 schemas that Heph events become.
 *
 * A runtime has a few dozen descriptions, each with the same attributes every time, so that
 * description and attributes make a good event type. Nothing in the format says that it must be so:
 * descriptions may hold numbers, attributes may come and go. So the table is bounded three times
 * over, and what does not fit is for the caller to carry whole. The table never drops an entry: a
 * type once named keeps its name.
 *
 * The way back is decided here as well: a schema is refused when its names would not come out of
 * the exporter as they went in.
 */
#include "formats/heph/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/log.h"

#define KEY_BYTES_MAX (32u << 20)
#define TYPE_NAME_MAX 256

struct heph_layouts {
	struct strtab keys; /* id: index in v */
	struct heph_layout *v;
	size_t cap;
	struct strtab names; /* descriptions that are types */
	struct buf key;
	struct dial9_schema *packet[2];
};

/*
 * ---- names -------------------------------------------------------------------------------------
 */

static bool same(struct dial9_str a, struct dial9_str b)
{
	return a.len == b.len && (!a.len || !memcmp(a.ptr, b.ptr, a.len));
}

static size_t occurrences(struct dial9_str name, const struct dial9_str *v, size_t cnt)
{
	size_t n = 0;

	for (size_t i = 0; i < cnt; i++)
		n += same(v[i], name);
	return n;
}

struct dial9_str heph_layout_strip(struct dial9_str field, const struct dial9_str *before,
				   size_t cnt)
{
	size_t n = 0, weight = 1, i = field.len;

	for (; i && field.ptr[i - 1] >= '0' && field.ptr[i - 1] <= '9' && weight < 1000000; i--) {
		n += (size_t)(field.ptr[i - 1] - '0') * weight;
		weight *= 10;
	}
	if (i && i < field.len && field.ptr[i - 1] == '#' && field.ptr[i] != '0' && n >= 2 &&
	    occurrences((struct dial9_str){ field.ptr, i - 1 }, before, cnt) == n - 1)
		field.len = i - 1;
	return field;
}

static const struct {
	const char *word;
	bool prefix;
} reserved[] = {
	{ "heph.", true },
	{ "SpanEnter", true },
	{ "SpanExit", true },
	{ "SpanCloseEvent", false },
	{ "PollStartEvent", false },
	{ "PollEndEvent", false },
	{ "CpuSampleEvent", false },
	{ "ModuleEvent", false },
	{ "ProcMapsEntry", false },
	{ "TaskEvent", false },
	{ "SymbolTableEntry", false },
	{ "ClockSyncEvent", false },
	{ "LostEvents", false },
	{ "RecorderStats", false },
	{ "TracepointSymbol", false },
	{ "TaskDumpEvent", false },
	{ "TaskSpawnEvent", false },
	{ "SegmentMetadataEvent", false },
	{ "sched:", true },
};

/* Types of these names mean something to readers, who expect other fields in them. */
static bool is_reserved(struct dial9_str desc)
{
	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
		size_t n = strlen(reserved[i].word);

		if (desc.len >= n && !memcmp(desc.ptr, reserved[i].word, n) &&
		    (reserved[i].prefix || desc.len == n))
			return true;
	}
	return false;
}

/* Whether events of that description get a type of its name; the table of those fills up. */
static bool gets_type(struct heph_layouts *s, struct dial9_str desc)
{
	if (!desc.len || desc.len > TYPE_NAME_MAX || is_reserved(desc))
		return false;
	if (s->names.cnt < HEPH_LAYOUT_NAMES_MAX)
		strtab_add(&s->names, desc.ptr, desc.len);
	return strtab_find(&s->names, desc.ptr, desc.len) != UINT32_MAX;
}

/*
 * ---- schemas -----------------------------------------------------------------------------------
 */

static struct dial9_str str(const char *s)
{
	return (struct dial9_str){ s, strlen(s) };
}

struct dial9_schema *heph_layout_schema(const char *name, const struct dial9_field *f, size_t cnt)
{
	struct dial9_schema *out;
	int err = dial9_schema_new(name, true, f, cnt, &out);

	if (err) {
		log_error("heph: out of memory for a schema");
		exit(EXIT_FAILURE);
	}
	return out;
}

/* What printing a number asks for, whatever it needs. */
#define MADE_SLACK 80

/* Fields in the making: as they are named, and what the names stand for. */
struct draft {
	struct dial9_field_n fields[HEPH_LAYOUT_FIELDS_MAX];
	struct dial9_str truth[HEPH_LAYOUT_FIELDS_MAX];
	size_t cnt;
	struct buf made; /* the names with a number; sized in advance, so that they stay in place */
};

static void add_fixed(struct draft *d, const char *name, uint8_t type)
{
	d->fields[d->cnt] = (struct dial9_field_n){ str(name), type };
	d->truth[d->cnt++] = str(name);
}

static bool add_attr(struct draft *d, struct dial9_str name, uint8_t type)
{
	size_t n = occurrences(name, d->truth, d->cnt), from = d->made.len;
	struct dial9_str field = name;

	if (dial9_utf8_valid_len(name.ptr, name.len) < name.len || name.len > HEPH_TEXT_MAX - 8)
		return false;
	if (n) {
		buf_add(&d->made, name.ptr, name.len);
		buf_printf(&d->made, "#%zu", n + 1);
		field = (struct dial9_str){ d->made.data + from, d->made.len - from };
	}
	if (!same(heph_layout_strip(field, d->truth, d->cnt), name))
		return false;
	d->fields[d->cnt] = (struct dial9_field_n){ field, type };
	d->truth[d->cnt++] = name;
	return true;
}

static void add_head(struct draft *d, bool ends_before)
{
	add_fixed(d, HEPH_LAYOUT_STREAM, DIAL9_U32);
	add_fixed(d, HEPH_LAYOUT_COUNTER, DIAL9_U32);
	add_fixed(d, HEPH_LAYOUT_SUBSTREAM, DIAL9_VARINT);
	add_fixed(d, ends_before ? HEPH_LAYOUT_END : HEPH_LAYOUT_DURATION, DIAL9_VARINT);
}

static bool draft_fields(struct draft *d, const struct heph_layout_key *key, bool has_desc)
{
	size_t room = 0;

	for (size_t i = 0; i < key->cnt; i++)
		room += key->attrs[i].name.len + 16;
	buf_reserve(&d->made, room + MADE_SLACK);
	add_head(d, key->ends_before);
	if (has_desc)
		add_fixed(d, HEPH_LAYOUT_DESCRIPTION, key->desc_type);
	for (size_t i = 0; i < key->cnt; i++)
		if (!add_attr(d, key->attrs[i].name, key->types[i]) ||
		    same(key->attrs[i].name, str(HEPH_LAYOUT_UNDECODED)))
			return false;
	if (key->undecoded)
		add_fixed(d, HEPH_LAYOUT_UNDECODED, DIAL9_BYTES);
	return true;
}

/* NULL when the names cannot be used. */
static struct dial9_schema *make_schema(const struct heph_layout_key *key, bool has_desc)
{
	struct draft *d = xcalloc(1, sizeof(*d));
	struct dial9_str name = has_desc ? str(HEPH_LAYOUT_EVENT) : key->desc;
	struct dial9_schema *out = NULL;

	if (draft_fields(d, key, has_desc) &&
	    dial9_schema_new_n(name, true, d->fields, d->cnt, &out))
		out = NULL;
	buf_free(&d->made);
	free(d);
	return out;
}

/*
 * ---- the table ---------------------------------------------------------------------------------
 */

void heph_layout_new(struct heph_layouts **out)
{
	*out = xcalloc(1, sizeof(**out));
}

void heph_layout_free(struct heph_layouts *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->keys.cnt; i++) {
		dial9_schema_free(s->v[i].schema);
		free(s->v[i].wire_types);
	}
	free(s->v);
	strtab_fini(&s->keys);
	strtab_fini(&s->names);
	buf_free(&s->key);
	dial9_schema_free(s->packet[0]);
	dial9_schema_free(s->packet[1]);
	free(s);
}

const struct dial9_schema *heph_layout_packet(struct heph_layouts *s, bool ends_before)
{
	const struct dial9_field fields[] = {
		{ HEPH_LAYOUT_STREAM, DIAL9_U32 },
		{ HEPH_LAYOUT_COUNTER, DIAL9_U32 },
		{ HEPH_LAYOUT_SUBSTREAM, DIAL9_VARINT },
		{ ends_before ? HEPH_LAYOUT_END : HEPH_LAYOUT_DURATION, DIAL9_VARINT },
		{ HEPH_LAYOUT_DESCRIPTION, DIAL9_STRING },
		{ HEPH_LAYOUT_ATTRIBUTES, DIAL9_STRING_MAP },
		{ HEPH_LAYOUT_PACKET, DIAL9_BYTES },
	};

	if (!s->packet[ends_before])
		s->packet[ends_before] = heph_layout_schema(HEPH_LAYOUT_EVENT, fields,
							    sizeof(fields) / sizeof(fields[0]));
	return s->packet[ends_before];
}

static void add_len_str(struct buf *b, struct dial9_str s)
{
	uint32_t len = (uint32_t)s.len;

	buf_add(b, &len, sizeof(len));
	if (len)
		buf_add(b, s.ptr, len);
}

static void make_key(struct buf *b, const struct heph_layout_key *key, bool has_desc)
{
	buf_clear(b);
	buf_addch(b, (char)(key->ends_before | key->undecoded << 1 | has_desc << 2));
	if (has_desc)
		buf_addch(b, (char)key->desc_type);
	else
		add_len_str(b, key->desc);
	for (size_t i = 0; i < key->cnt; i++) {
		buf_addch(b, (char)key->types[i]);
		add_len_str(b, key->attrs[i].name);
	}
}

/* Lists of one layout must be of one type, since a list that is empty does not say its own. */
static bool lists_agree(const struct heph_layout *layout, const struct heph_layout_key *key)
{
	for (size_t i = 0; i < key->cnt; i++)
		if (key->types[i] == DIAL9_LIST && layout->wire_types[i] != key->attrs[i].type)
			return false;
	return true;
}

static void add_layout(struct heph_layouts *s, uint32_t id, const struct heph_layout_key *key,
		       struct dial9_schema *schema, bool has_desc)
{
	s->v = array_reserve(s->v, &s->cap, (size_t)id + 1, sizeof(*s->v));
	s->v[id] = (struct heph_layout){ .schema = schema,
					 .has_desc = has_desc,
					 .wire_types = xmalloc(key->cnt + 1) };
	for (size_t i = 0; i < key->cnt; i++)
		s->v[id].wire_types[i] = key->attrs[i].type;
}

const struct heph_layout *heph_layout_get(struct heph_layouts *s, const struct heph_layout_key *key,
					  bool *is_new)
{
	bool has_desc = !gets_type(s, key->desc);
	struct dial9_schema *schema;
	uint32_t id;

	*is_new = false;
	if (key->cnt > HEPH_LAYOUT_ATTRS_MAX)
		return NULL;
	make_key(&s->key, key, has_desc);
	id = strtab_find(&s->keys, s->key.data, s->key.len);
	if (id != UINT32_MAX)
		return lists_agree(&s->v[id], key) ? &s->v[id] : NULL;
	if (s->keys.cnt == HEPH_LAYOUT_SCHEMAS_MAX || s->keys.bytes + s->key.len > KEY_BYTES_MAX)
		return NULL;
	schema = make_schema(key, has_desc);
	if (!schema)
		return NULL;
	id = strtab_add(&s->keys, s->key.data, s->key.len);
	add_layout(s, id, key, schema, has_desc);
	*is_new = true;
	return &s->v[id];
}
