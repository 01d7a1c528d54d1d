// SPDX-License-Identifier: BSD-2-Clause
/*
 * Schemas: immutable, reference counted, and shared by encoders, decoders and users.
 *
 * A schema is kept in wire form. So writing it is a copy, comparing two is a memcmp, and there is
 * one way to build it: dial9_schema_new() writes the wire form and parses it like a schema from a
 * file. In addition it has the types as a dense array, which both codecs walk for each event, and
 * terminated copies of the names.
 *
 * Only the reference count changes after creation, and it is atomic. Encoders use the schema's
 * address as a key, so the address must not be reused while they hold it.
 */
#include "schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"
#include "wire.h"

#define NAME_MAX_LEN 0xffff
#define FIELD_CNT_MAX 0xffff

/*
 * Maximum size of the fixed part of each base type on the wire: the value, or the count or length
 * before it.
 */
static const uint8_t fixed_sz[16] = {
	[DIAL9_I64] = 8,	   [DIAL9_F64] = 8,   [DIAL9_BOOL] = 1,
	[DIAL9_STRING] = 4,	   [DIAL9_BYTES] = 4, [DIAL9_POOLED_STACK] = 4,
	[DIAL9_POOLED_STRING] = 4, [DIAL9_STACK] = 4, [DIAL9_VARINT] = WIRE_VARINT_MAX,
	[DIAL9_STRING_MAP] = 4,	   [DIAL9_U8] = 1,    [DIAL9_U16] = 2,
	[DIAL9_U32] = 4,	   [DIAL9_LIST] = 4,  [DIAL9_MAP] = 4,
};

static const uint8_t codes[16] = {
	[DIAL9_I64] = SCHEMA_64,
	[DIAL9_F64] = SCHEMA_64,
	[DIAL9_BOOL] = SCHEMA_BOOL,
	[DIAL9_STRING] = SCHEMA_TEXT,
	[DIAL9_BYTES] = SCHEMA_BYTES,
	[DIAL9_POOLED_STACK] = SCHEMA_ID,
	[DIAL9_POOLED_STRING] = SCHEMA_ID,
	[DIAL9_STACK] = SCHEMA_STACK,
	[DIAL9_VARINT] = SCHEMA_VARINTS,
	[DIAL9_STRING_MAP] = SCHEMA_OTHER,
	[DIAL9_U8] = SCHEMA_8,
	[DIAL9_U16] = SCHEMA_16,
	[DIAL9_U32] = SCHEMA_32,
	[DIAL9_LIST] = SCHEMA_OTHER,
	[DIAL9_MAP] = SCHEMA_OTHER,
};

static struct schema_op *add_op(const struct schema_op *first, struct schema_op *op, uint8_t type)
{
	uint32_t code = codes[type & 0x7f] | (type & DIAL9_OPTIONAL ? SCHEMA_OPTIONAL : 0);

	if (code == SCHEMA_VARINTS && op > first && op[-1].code == SCHEMA_VARINTS) {
		op[-1].cnt++;
		return op;
	}
	*op = (struct schema_op){ code, 1 };
	return op + 1;
}

static uint64_t hash_wire(const uint8_t *p, size_t sz)
{
	uint64_t h = 0xcbf29ce484222325ull;

	while (sz--)
		h = (h ^ *p++) * 0x100000001b3ull;
	return h ^ h >> 29;
}

static int parse_name(const uint8_t **pos, const uint8_t *end, struct value_fault *f)
{
	const uint8_t *p = *pos;
	size_t left = (size_t)(end - p);

	if (left < 2)
		return value_short(f, 2 - left);
	if (left - 2 < wire_get_u16(p))
		return value_short(f, wire_get_u16(p) - (left - 2));
	*pos = p + 2 + wire_get_u16(p);
	return 0;
}

int schema_parse(const uint8_t **pos, const uint8_t *end, struct value_fault *f)
{
	const uint8_t *p = *pos;
	uint32_t left;
	int err;

	err = parse_name(&p, end, f);
	if (err)
		return err;
	if (end > p && *p > 1)
		return value_bad(f, p, "schema with a timestamp flag other than 0 or 1");
	if (end - p < 3)
		return value_short(f, (uint64_t)(3 - (end - p)));
	left = wire_get_u16(p + 1);
	for (p += 3; left; left--) {
		err = parse_name(&p, end, f);
		if (err)
			return err;
		if (p == end)
			return value_short(f, 1 + 3 * ((uint64_t)left - 1));
		if (!wire_base_type(*p))
			return value_bad(f, p, "unknown field type");
		p++;
	}
	*pos = p;
	return 0;
}

/* Returns the field count of validated bytes, and the total length of names. */
static uint32_t measure(const uint8_t *wire, size_t wire_sz, size_t *text_sz)
{
	size_t name_len = wire_get_u16(wire);
	uint32_t cnt = wire_get_u16(wire + 2 + name_len + 1);

	/* Everything except the lengths, the flag, the count and the types is text. */
	*text_sz = wire_sz - 2 - 3 - (size_t)cnt * 3;
	return cnt;
}

size_t schema_alloc_size(const uint8_t *wire, size_t wire_sz)
{
	size_t text_sz;
	uint32_t cnt = measure(wire, wire_sz, &text_sz);

	return sizeof(struct dial9_schema) + (cnt + 1) * sizeof(struct schema_name) +
	       cnt * sizeof(struct schema_op) + cnt + text_sz + cnt + 1 + wire_sz;
}

/* Copies one name from the wire form to the text area. */
static const uint8_t *copy_name(const uint8_t *p, struct schema_name *name, char **text)
{
	name->len = wire_get_u16(p);
	name->ptr = *text;
	memcpy(*text, p + 2, name->len);
	(*text)[name->len] = '\0';
	*text += name->len + 1;
	return p + 2 + name->len;
}

static void fill(struct dial9_schema *s, struct schema_name *names, struct schema_op *op,
		 uint8_t *types, char *text)
{
	const uint8_t *p = copy_name(s->wire, &names[0], &text);
	uint32_t i;

	s->has_ts = p[0] == 1;
	s->fixed_max = s->has_ts ? WIRE_EVENT_TS_SZ : WIRE_EVENT_SZ;
	p += 3;
	for (i = 0; i < s->field_cnt; i++) {
		p = copy_name(p, &names[i + 1], &text);
		types[i] = *p++;
		op = add_op(s->ops, op, types[i]);
		s->fixed_max += fixed_sz[types[i] & 0x7f] + (types[i] >> 7);
		s->level4 |= wire_is_level4(types[i]);
	}
	s->ops_end = op;
}

int schema_from_wire(const uint8_t *wire, size_t wire_sz, struct dial9_schema **out)
{
	size_t text_sz, alloc_sz = schema_alloc_size(wire, wire_sz);
	uint32_t cnt = measure(wire, wire_sz, &text_sz);
	struct schema_name *names;
	struct dial9_schema *s;
	struct schema_op *ops;
	uint8_t *types, *copy;

	s = calloc(1, alloc_sz);
	if (!s)
		return -ENOMEM;
	names = (struct schema_name *)(s + 1);
	ops = (struct schema_op *)(names + cnt + 1);
	types = (uint8_t *)(ops + cnt);
	copy = types + cnt;
	memcpy(copy, wire, wire_sz);
	s->refs = 1;
	s->field_cnt = cnt;
	s->names = names;
	s->types = types;
	s->ops = ops;
	s->wire = copy;
	s->wire_sz = wire_sz;
	s->alloc_sz = alloc_sz;
	s->hash = hash_wire(wire, wire_sz);
	fill(s, names, ops, types, (char *)copy + wire_sz);
	*out = s;
	return 0;
}

static int check_name(struct dial9_str name)
{
	if (name.len > NAME_MAX_LEN)
		return -E2BIG;
	if (dial9_utf8_valid_len(name.ptr, name.len) != name.len)
		return -EILSEQ;
	return 0;
}

/* Size of the wire form, or -errno. */
static int64_t check_fields(struct dial9_str name, const struct dial9_field_n *fields, size_t cnt)
{
	int64_t sz = 2 + (int64_t)name.len + 3;
	size_t i;
	int err;

	if (cnt > FIELD_CNT_MAX)
		return -E2BIG;
	err = check_name(name);
	for (i = 0; !err && i < cnt; i++) {
		err = check_name(fields[i].name);
		if (!err && !wire_base_type(fields[i].type))
			err = -EINVAL;
		sz += 2 + (int64_t)fields[i].name.len + 1;
	}
	return err ? err : sz;
}

int dial9_schema_new_n(struct dial9_str name, bool has_timestamp,
		       const struct dial9_field_n *fields, size_t field_cnt,
		       struct dial9_schema **out)
{
	int64_t sz = check_fields(name, fields, field_cnt);
	uint8_t *wire, *p;
	size_t i;
	int err;

	if (sz < 0)
		return (int)sz;
	wire = malloc((size_t)sz);
	if (!wire)
		return -ENOMEM;
	p = wire_put_u16(wire, (uint16_t)name.len);
	p = wire_put_bytes(p, name.ptr, name.len);
	p = wire_put_u8(p, has_timestamp);
	p = wire_put_u16(p, (uint16_t)field_cnt);
	for (i = 0; i < field_cnt; i++) {
		p = wire_put_u16(p, (uint16_t)fields[i].name.len);
		p = wire_put_bytes(p, fields[i].name.ptr, fields[i].name.len);
		p = wire_put_u8(p, fields[i].type);
	}
	err = schema_from_wire(wire, (size_t)sz, out);
	free(wire);
	return err;
}

int dial9_schema_new(const char *name, bool has_timestamp, const struct dial9_field *fields,
		     size_t field_cnt, struct dial9_schema **out)
{
	struct dial9_str str = { name, strlen(name) };
	struct dial9_field_n *copy;
	size_t i;
	int err;

	if (field_cnt > FIELD_CNT_MAX)
		return -E2BIG;
	copy = calloc(field_cnt + 1, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	for (i = 0; i < field_cnt; i++) {
		copy[i].name.ptr = fields[i].name;
		copy[i].name.len = strlen(fields[i].name);
		copy[i].type = fields[i].type;
	}
	err = dial9_schema_new_n(str, has_timestamp, copy, field_cnt, out);
	free(copy);
	return err;
}

struct dial9_schema *dial9_schema_ref(const struct dial9_schema *s)
{
	struct dial9_schema *counted = (struct dial9_schema *)s;

	__atomic_add_fetch(&counted->refs, 1, __ATOMIC_RELAXED);
	return counted;
}

void dial9_schema_free(struct dial9_schema *s)
{
	if (s && !__atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL))
		free(s);
}

static struct dial9_str name_at(const struct dial9_schema *s, size_t i)
{
	return (struct dial9_str){ s->names[i].ptr, s->names[i].len };
}

const char *dial9_schema_name(const struct dial9_schema *s)
{
	return s->names[0].ptr;
}

struct dial9_str dial9_schema_name_n(const struct dial9_schema *s)
{
	return name_at(s, 0);
}

bool dial9_schema_has_timestamp(const struct dial9_schema *s)
{
	return s->has_ts;
}

size_t dial9_schema_field_cnt(const struct dial9_schema *s)
{
	return s->field_cnt;
}

const char *dial9_schema_field_name(const struct dial9_schema *s, size_t i)
{
	return i < s->field_cnt ? s->names[i + 1].ptr : NULL;
}

struct dial9_str dial9_schema_field_name_n(const struct dial9_schema *s, size_t i)
{
	return i < s->field_cnt ? name_at(s, i + 1) : (struct dial9_str){ NULL, 0 };
}

uint8_t dial9_schema_field_type(const struct dial9_schema *s, size_t i)
{
	return i < s->field_cnt ? s->types[i] : 0;
}

int dial9_schema_find_n(const struct dial9_schema *s, struct dial9_str field)
{
	uint32_t i;

	for (i = 1; i <= s->field_cnt; i++)
		if (s->names[i].len == field.len && !memcmp(s->names[i].ptr, field.ptr, field.len))
			return (int)i - 1;
	return -ENOENT;
}

int dial9_schema_find(const struct dial9_schema *s, const char *field)
{
	return dial9_schema_find_n(s, (struct dial9_str){ field, strlen(field) });
}

bool dial9_schema_equal(const struct dial9_schema *a, const struct dial9_schema *b)
{
	return a == b || (a->hash == b->hash && a->wire_sz == b->wire_sz &&
			  !memcmp(a->wire, b->wire, a->wire_sz));
}
