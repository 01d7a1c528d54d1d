// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads events into C structs by field name, so a reader compiled for one layout reads others.
 *
 * For each schema with the reader's event name, a binding maps each member to its field, if there
 * is one. It is made when the schema first occurs, and checks then which types can be converted.
 * For each event, values are then only copied and checked for range. Bindings hold a reference to
 * their schema, so its address stays unique during their lifetime.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dial9.h"
#include "schema.h"

#define BINDING_MAX 64

struct reader_binding {
	struct dial9_schema *schema;
	int *fields; /* field of each member, or -1 */
};

struct dial9_reader {
	char *name;
	struct dial9_member *members;
	size_t member_cnt, struct_sz;
	struct reader_binding bindings[BINDING_MAX];
	size_t binding_cnt, last;
	uint8_t *parts; /* parts of stacks, maps and lists of one event, consecutively */
	size_t part_cap, part_sz;
};

#define BIT(type) (1u << (type))
#define INTS                                                                                       \
	(BIT(DIAL9_VARINT) | BIT(DIAL9_U8) | BIT(DIAL9_U16) | BIT(DIAL9_U32) | BIT(DIAL9_I64) |    \
	 BIT(DIAL9_BOOL))

/* Wire types that can be converted to each kind of member. */
static const uint32_t accepts[16] = {
	[DIAL9_I64] = INTS,
	[DIAL9_F64] = BIT(DIAL9_F64),
	[DIAL9_BOOL] = BIT(DIAL9_BOOL),
	[DIAL9_STRING] = BIT(DIAL9_STRING) | BIT(DIAL9_POOLED_STRING),
	[DIAL9_BYTES] = BIT(DIAL9_BYTES),
	[DIAL9_POOLED_STACK] = BIT(DIAL9_POOLED_STACK),
	[DIAL9_POOLED_STRING] = BIT(DIAL9_POOLED_STRING),
	[DIAL9_STACK] = BIT(DIAL9_STACK) | BIT(DIAL9_POOLED_STACK),
	[DIAL9_VARINT] = INTS,
	[DIAL9_U8] = INTS,
	[DIAL9_U16] = INTS,
	[DIAL9_U32] = INTS,
	[DIAL9_STRING_MAP] = BIT(DIAL9_STRING_MAP),
	[DIAL9_LIST] = BIT(DIAL9_LIST),
	[DIAL9_MAP] = BIT(DIAL9_MAP) | BIT(DIAL9_STRING_MAP),
};

static const size_t align_of[16] = {
	[DIAL9_I64] = _Alignof(int64_t),
	[DIAL9_F64] = _Alignof(double),
	[DIAL9_BOOL] = _Alignof(bool),
	[DIAL9_STRING] = _Alignof(struct dial9_str),
	[DIAL9_BYTES] = _Alignof(struct dial9_bytes),
	[DIAL9_POOLED_STACK] = _Alignof(uint32_t),
	[DIAL9_POOLED_STRING] = _Alignof(uint32_t),
	[DIAL9_STACK] = _Alignof(struct dial9_stack),
	[DIAL9_VARINT] = _Alignof(uint64_t),
	[DIAL9_U8] = _Alignof(uint8_t),
	[DIAL9_U16] = _Alignof(uint16_t),
	[DIAL9_U32] = _Alignof(uint32_t),
	[DIAL9_STRING_MAP] = _Alignof(struct dial9_string_map),
	[DIAL9_LIST] = _Alignof(struct dial9_list),
	[DIAL9_MAP] = _Alignof(struct dial9_map),
};

_Static_assert(offsetof(struct dial9_opt_u32, value) == _Alignof(uint32_t), "presence, then value");
_Static_assert(offsetof(struct dial9_opt_stack, value) == _Alignof(struct dial9_stack), "likewise");

int dial9_reader_new(const char *event_name, const struct dial9_member *members, size_t cnt,
		     size_t struct_sz, struct dial9_reader **out)
{
	struct dial9_reader *r;
	size_t i;

	for (i = 0; i < cnt; i++)
		if ((members[i].type & 0x7f) > 15 || !accepts[members[i].type & 0x7f])
			return -EINVAL;
	if (struct_sz < sizeof(uint64_t))
		return -EINVAL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->name = strdup(event_name);
	r->members = calloc(cnt + 1, sizeof(*members));
	if (!r->name || !r->members) {
		dial9_reader_free(r);
		return -ENOMEM;
	}
	memcpy(r->members, members, cnt * sizeof(*members));
	r->member_cnt = cnt;
	r->struct_sz = struct_sz;
	*out = r;
	return 0;
}

static void drop_bindings(struct dial9_reader *r)
{
	while (r->binding_cnt) {
		r->binding_cnt--;
		dial9_schema_free(r->bindings[r->binding_cnt].schema);
		free(r->bindings[r->binding_cnt].fields);
	}
	r->last = 0;
}

void dial9_reader_free(struct dial9_reader *r)
{
	if (!r)
		return;
	drop_bindings(r);
	free(r->name);
	free(r->members);
	free(r->parts);
	free(r);
}

static int bind(struct dial9_reader *r, const struct dial9_schema *s)
{
	struct reader_binding *b;
	size_t i;
	int *fields, at;

	fields = calloc(r->member_cnt + 1, sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	for (i = 0; i < r->member_cnt; i++) {
		at = dial9_schema_find(s, r->members[i].name);
		fields[i] = at < 0 ? -1 : at;
		if (at >= 0 && !(accepts[r->members[i].type & 0x7f] & BIT(s->types[at] & 0x7f))) {
			free(fields);
			return -EPROTOTYPE;
		}
	}
	if (r->binding_cnt == BINDING_MAX)
		drop_bindings(r);
	b = &r->bindings[r->binding_cnt];
	b->schema = dial9_schema_ref(s);
	b->fields = fields;
	r->last = r->binding_cnt++;
	return 0;
}

/* Sets r->last to the binding of this schema. */
static int find_binding(struct dial9_reader *r, const struct dial9_schema *s)
{
	size_t i;

	if (r->binding_cnt && r->bindings[r->last].schema == s)
		return 0;
	for (i = 0; i < r->binding_cnt; i++) {
		if (r->bindings[i].schema == s) {
			r->last = i;
			return 0;
		}
	}
	return bind(r, s);
}

static int store_int(uint8_t kind, const struct dial9_value *v, void *to)
{
	static const uint64_t max[16] = {
		[DIAL9_I64] = INT64_MAX,  [DIAL9_VARINT] = UINT64_MAX, [DIAL9_U8] = UINT8_MAX,
		[DIAL9_U16] = UINT16_MAX, [DIAL9_U32] = UINT32_MAX,
	};
	uint64_t n = v->type == DIAL9_BOOL ? v->b : v->u64;

	if (kind == DIAL9_I64 && v->type == DIAL9_I64) {
		memcpy(to, &v->i64, sizeof(v->i64));
		return 0;
	}
	if ((v->type == DIAL9_I64 && v->i64 < 0) || n > max[kind])
		return -ERANGE;
	if (kind == DIAL9_U8)
		*(uint8_t *)to = (uint8_t)n;
	else if (kind == DIAL9_U16)
		*(uint16_t *)to = (uint16_t)n;
	else if (kind == DIAL9_U32)
		*(uint32_t *)to = (uint32_t)n;
	else
		memcpy(to, &n, sizeof(n));
	return 0;
}

/* Common layout of all kinds with parts that the reader owns */
struct counted {
	const void *parts;
	size_t cnt;
};

_Static_assert(sizeof(struct counted) == sizeof(struct dial9_stack) &&
		       sizeof(struct counted) == sizeof(struct dial9_string_map) &&
		       sizeof(struct counted) == sizeof(struct dial9_list) &&
		       sizeof(struct counted) == sizeof(struct dial9_map),
	       "a pointer and a count");

/* Copies the count, because the member's type differs between kinds. */
static void set_cnt(void *to, size_t cnt)
{
	struct counted c = { NULL, cnt };

	memcpy(to, &c, sizeof(c));
}

/*
 * Bytes per part of such a kind; 0 for other kinds. All are multiples of 8, which keeps parts
 * aligned.
 */
static size_t part_unit(uint8_t kind)
{
	static const uint8_t units[16] = {
		[DIAL9_STACK] = sizeof(uint64_t),
		[DIAL9_STRING_MAP] = sizeof(struct dial9_str[2]),
		[DIAL9_LIST] = sizeof(struct dial9_value),
		[DIAL9_MAP] = sizeof(struct dial9_value[2]),
	};

	return units[kind];
}

/*
 * Makes room for cnt parts. Parts may move while more are added, so pointers are set after all
 * parts of the event exist.
 */
static int add_parts(struct dial9_reader *r, uint8_t kind, size_t cnt, void **out)
{
	size_t sz = cnt * part_unit(kind), cap;
	uint8_t *parts;

	if (r->part_cap - r->part_sz < sz || !r->parts) {
		cap = (r->part_sz + sz + 8) * 2;
		parts = realloc(r->parts, cap);
		if (!parts)
			return -ENOMEM;
		r->parts = parts;
		r->part_cap = cap;
	}
	*out = r->parts + r->part_sz;
	r->part_sz += sz;
	return 0;
}

static int store_stack(struct dial9_reader *r, const struct dial9_dec *dec,
		       const struct dial9_value *v, void *to)
{
	const uint8_t *le;
	uint64_t *frames;
	uint32_t cnt, i;
	void *parts;

	if (dial9_value_stack(dec, v, &le, &cnt))
		return 0;
	if (add_parts(r, DIAL9_STACK, cnt, &parts))
		return -ENOMEM;
	frames = parts;
	for (i = 0; i < cnt; i++)
		frames[i] = dial9_frame_at(le, i);
	set_cnt(to, cnt);
	return 0;
}

static int store_string_map(struct dial9_reader *r, const struct dial9_value *v, void *to)
{
	struct dial9_value key, value;
	struct dial9_str(*kv)[2];
	struct dial9_iter it;
	void *parts;

	if (add_parts(r, DIAL9_STRING_MAP, v->map.cnt, &parts))
		return -ENOMEM;
	dial9_iter_init(&it, v);
	for (kv = parts; dial9_map_next(&it, &key, &value) == 1; kv++) {
		(*kv)[0] = (struct dial9_str){ key.str.ptr, key.str.len };
		(*kv)[1] = (struct dial9_str){ value.str.ptr, value.str.len };
	}
	set_cnt(to, v->map.cnt);
	return 0;
}

static int store_values(struct dial9_reader *r, uint8_t kind, const struct dial9_value *v, void *to)
{
	struct dial9_value *values;
	struct dial9_iter it;
	void *parts;

	if (add_parts(r, kind, v->map.cnt, &parts))
		return -ENOMEM;
	memset(parts, 0, v->map.cnt * part_unit(kind));
	values = parts;
	dial9_iter_init(&it, v);
	if (kind == DIAL9_LIST)
		while (dial9_list_next(&it, values) == 1)
			values++;
	else
		while (dial9_map_next(&it, &values[0], &values[1]) == 1)
			values += 2;
	set_cnt(to, v->map.cnt);
	return 0;
}

static int store(struct dial9_reader *r, const struct dial9_dec *dec, uint8_t kind,
		 const struct dial9_value *v, void *to)
{
	struct dial9_bytes *bytes = to;

	switch (kind) {
	case DIAL9_F64:
		memcpy(to, &v->f64, sizeof(v->f64));
		return 0;
	case DIAL9_BOOL:
		*(bool *)to = v->b;
		return 0;
	case DIAL9_STRING:
		/* An undefined id leaves the text empty, as if the field were absent. */
		if (dial9_value_str(dec, v, to))
			memset(to, 0, sizeof(struct dial9_str));
		return 0;
	case DIAL9_BYTES:
		bytes->ptr = v->str.ptr;
		bytes->sz = v->str.len;
		return 0;
	case DIAL9_POOLED_STACK:
	case DIAL9_POOLED_STRING:
		*(uint32_t *)to = v->id;
		return 0;
	case DIAL9_STACK:
		return store_stack(r, dec, v, to);
	case DIAL9_STRING_MAP:
		return store_string_map(r, v, to);
	case DIAL9_LIST:
	case DIAL9_MAP:
		return store_values(r, kind, v, to);
	}
	return store_int(kind, v, to);
}

static void *member_at(const struct dial9_member *m, void *dst)
{
	uint8_t *p = (uint8_t *)dst + m->off;

	return m->type & DIAL9_OPTIONAL ? p + align_of[m->type & 0x7f] : p;
}

/* Sets the pointer of each stack, map and list, in the order in which their parts were stored. */
static void point_parts(const struct dial9_reader *r, void *dst)
{
	const uint8_t *next = r->parts;
	struct counted c;
	size_t i, unit;
	void *at;

	for (i = 0; i < r->member_cnt; i++) {
		unit = part_unit(r->members[i].type & 0x7f);
		if (!unit)
			continue;
		at = member_at(&r->members[i], dst);
		memcpy(&c, at, sizeof(c));
		c.parts = next;
		memcpy(at, &c, sizeof(c));
		next += c.cnt * unit;
	}
}

int dial9_reader_read(struct dial9_reader *r, const struct dial9_dec *dec,
		      const struct dial9_event *ev, void *dst)
{
	const struct dial9_value *v;
	const struct dial9_member *m;
	size_t i;
	int err, at;

	if (!(r->binding_cnt && r->bindings[r->last].schema == ev->schema) &&
	    strcmp(dial9_schema_name(ev->schema), r->name))
		return 0;
	err = find_binding(r, ev->schema);
	memset(dst, 0, r->struct_sz);
	memcpy(dst, &ev->ts, sizeof(ev->ts));
	r->part_sz = 0;
	for (i = 0; !err && i < r->member_cnt; i++) {
		m = &r->members[i];
		at = r->bindings[r->last].fields[i];
		v = at < 0 ? NULL : &ev->values[at];
		if (!v || !v->type)
			continue;
		if (m->type & DIAL9_OPTIONAL)
			*((bool *)dst + m->off) = true;
		err = store(r, dec, m->type & 0x7f, v, member_at(m, dst));
	}
	if (err)
		return err;
	if (r->part_sz)
		point_parts(r, dst);
	return 1;
}
