// SPDX-License-Identifier: BSD-2-Clause
/*
 * One value: from bytes to struct dial9_value, and iteration over nested values.
 *
 * A value borrows its bytes. Strings, stacks, maps and lists are validated here, with all nested
 * values, and left in place. So an iterator over a decoded value cannot fail, and costs nothing
 * until it is used. Lists come from untrusted input, so a decreasing depth bounds the nesting.
 *
 * A length is compared with the available bytes before it is used. If it is too long, the result is
 * the number of missing bytes, never an allocation: the decoder finds out whether the rest will
 * arrive.
 */
#include "value.h"

#include <errno.h>
#include <string.h>

#include "wire.h"

int value_bad(struct value_fault *f, const uint8_t *at, const char *reason)
{
	f->at = at;
	f->reason = reason;
	f->short_by = 0;
	return -EBADMSG;
}

int value_short(struct value_fault *f, uint64_t short_by)
{
	f->at = NULL;
	f->reason = "the input ends inside a frame";
	f->short_by = short_by;
	return -ENODATA;
}

/* Fails unless *pos has n more bytes. */
static inline int want(const uint8_t *pos, const uint8_t *end, uint64_t n, struct value_fault *f)
{
	if ((uint64_t)(end - pos) < n)
		return value_short(f, n - (uint64_t)(end - pos));
	return 0;
}

/* Reads a u32 count at *pos, which must be followed by at least `each` bytes per entry. */
static int read_count(const uint8_t **pos, const uint8_t *end, uint32_t each, uint32_t *cnt,
		      struct value_fault *f)
{
	int err = want(*pos, end, 4, f);

	if (err)
		return err;
	*cnt = wire_get_u32(*pos);
	*pos += 4;
	return want(*pos, end, (uint64_t)*cnt * each, f);
}

static int read_text(const uint8_t **pos, const uint8_t *end, struct dial9_str *out,
		     struct value_fault *f)
{
	uint32_t len;
	int err = read_count(pos, end, 1, &len, f);

	if (err)
		return err;
	out->ptr = (const char *)*pos;
	out->len = len;
	*pos += len;
	return 0;
}

static bool text_ok(const struct dial9_str *s)
{
	return dial9_utf8_valid_len(s->ptr, s->len) == s->len;
}

static int parse_scalar(const uint8_t **pos, const uint8_t *end, uint8_t type,
			struct dial9_value *out, struct value_fault *f)
{
	static const uint8_t sizes[16] = {
		[DIAL9_I64] = 8,	   [DIAL9_F64] = 8,
		[DIAL9_BOOL] = 1,	   [DIAL9_U8] = 1,
		[DIAL9_U16] = 2,	   [DIAL9_U32] = 4,
		[DIAL9_POOLED_STRING] = 4, [DIAL9_POOLED_STACK] = 4,
	};
	const uint8_t *p = *pos;
	int err = want(p, end, sizes[type], f);

	if (err)
		return err;
	switch (sizes[type]) {
	case 1:
		out->u64 = *p;
		if (type == DIAL9_BOOL)
			out->b = *p != 0;
		break;
	case 2:
		out->u64 = wire_get_u16(p);
		break;
	case 4:
		out->u64 = wire_get_u32(p);
		if (type != DIAL9_U32)
			out->id = wire_get_u32(p);
		break;
	case 8:
		out->u64 = wire_get_u64(p);
		break;
	}
	*pos = p + sizes[type];
	return 0;
}

static int parse_varint(const uint8_t **pos, const uint8_t *end, struct dial9_value *out,
			struct value_fault *f)
{
	const uint8_t *start = *pos;
	int err = wire_get_varint(pos, end, &out->u64);

	if (err == -EBADMSG)
		return value_bad(f, start, "varint beyond 64 bits");
	return err ? value_short(f, 1) : 0;
}

static int parse_stack(const uint8_t **pos, const uint8_t *end, struct dial9_value *out,
		       struct value_fault *f)
{
	uint32_t cnt;
	int err = read_count(pos, end, 8, &cnt, f);

	if (err)
		return err;
	out->stack.le = *pos;
	out->stack.cnt = cnt;
	*pos += (size_t)cnt * 8;
	return 0;
}

static int parse_text(const uint8_t **pos, const uint8_t *end, uint8_t type,
		      struct dial9_value *out, struct value_fault *f)
{
	struct dial9_str s;
	int err = read_text(pos, end, &s, f);

	if (err)
		return err;
	out->str.ptr = s.ptr;
	out->str.len = (uint32_t)s.len;
	out->bad_utf8 = type == DIAL9_STRING && !text_ok(&s);
	return 0;
}

/* Sets the raw entries of a container; `start` is after the count. */
static int set_raw(struct dial9_value *out, const uint8_t *start, const uint8_t *end, uint32_t cnt,
		   struct value_fault *f)
{
	if (end - start > UINT32_MAX) {
		value_bad(f, start, "list or map over 4 GiB");
		return -E2BIG;
	}
	out->map.raw = start;
	out->map.sz = (uint32_t)(end - start);
	out->map.cnt = cnt;
	return 0;
}

static int parse_string_map(const uint8_t **pos, const uint8_t *end, struct dial9_value *out,
			    struct value_fault *f)
{
	const uint8_t *start;
	struct dial9_str text;
	uint32_t cnt, i;
	int err = read_count(pos, end, 8, &cnt, f);

	start = *pos;
	for (i = 0; !err && i < cnt * 2ull; i++) {
		err = read_text(pos, end, &text, f);
		if (!err && !text_ok(&text))
			out->bad_utf8 = true;
	}
	return err ? err : set_raw(out, start, *pos, cnt, f);
}

/* Parses an element with its own type. */
static int parse_tagged(const uint8_t **pos, const uint8_t *end, unsigned int depth,
			struct dial9_value *out, struct value_fault *f)
{
	const uint8_t *tag = *pos;
	int err = want(tag, end, 1, f);

	if (err)
		return err;
	if (*tag & DIAL9_OPTIONAL || !wire_base_type(*tag))
		return value_bad(f, tag, "unknown type of a list or map element");
	*pos = tag + 1;
	return value_parse(pos, end, *tag, depth, out, f);
}

static int parse_nested(const uint8_t **pos, const uint8_t *end, uint8_t type, unsigned int depth,
			struct dial9_value *out, struct value_fault *f)
{
	uint32_t per_entry = type == DIAL9_MAP ? 2 : 1;
	const uint8_t *start = *pos;
	struct dial9_value elem;
	uint64_t left;
	uint32_t cnt;
	int err;

	if (!depth)
		return value_bad(f, start, "lists nested too deep");
	err = read_count(pos, end, 2 * per_entry, &cnt, f);
	start = *pos;
	for (left = (uint64_t)cnt * per_entry; !err && left; left--) {
		err = parse_tagged(pos, end, depth - 1, &elem, f);
		if (!err && elem.bad_utf8)
			out->bad_utf8 = true;
	}
	return err ? err : set_raw(out, start, *pos, cnt, f);
}

int value_parse(const uint8_t **pos, const uint8_t *end, uint8_t type, unsigned int depth,
		struct dial9_value *out, struct value_fault *f)
{
	*out = (struct dial9_value){ .type = type };
	switch ((enum dial9_type)type) {
	case DIAL9_I64:
	case DIAL9_F64:
	case DIAL9_BOOL:
	case DIAL9_U8:
	case DIAL9_U16:
	case DIAL9_U32:
	case DIAL9_POOLED_STRING:
	case DIAL9_POOLED_STACK:
		return parse_scalar(pos, end, type, out, f);
	case DIAL9_VARINT:
		return parse_varint(pos, end, out, f);
	case DIAL9_STRING:
	case DIAL9_BYTES:
		return parse_text(pos, end, type, out, f);
	case DIAL9_STACK:
		return parse_stack(pos, end, out, f);
	case DIAL9_STRING_MAP:
		return parse_string_map(pos, end, out, f);
	case DIAL9_LIST:
	case DIAL9_MAP:
		return parse_nested(pos, end, type, depth, out, f);
	case DIAL9_OPTIONAL:
		break;
	}
	return value_bad(f, *pos, "unknown type");
}

int value_check_raw(const struct dial9_value *v, unsigned int depth)
{
	const uint8_t *pos = v->map.raw, *end = v->map.sz ? pos + v->map.sz : pos;
	uint64_t left = (uint64_t)v->map.cnt * (v->type == DIAL9_LIST ? 1 : 2);
	struct dial9_value elem;
	struct value_fault f;
	int err;

	if (depth >= VALUE_DEPTH_MAX && v->type != DIAL9_STRING_MAP)
		return -EBADMSG;
	for (; left; left--) {
		if (v->type == DIAL9_STRING_MAP)
			err = value_parse(&pos, end, DIAL9_STRING, 0, &elem, &f);
		else
			err = parse_tagged(&pos, end, VALUE_DEPTH_MAX - 1 - depth, &elem, &f);
		if (err)
			return -EBADMSG;
		if (elem.bad_utf8)
			return -EILSEQ;
	}
	return pos == end ? 0 : -EBADMSG;
}

const char *dial9_type_name(uint8_t type)
{
	static const char *const names[16][2] = {
		[DIAL9_I64] = { "I64", "I64?" },
		[DIAL9_F64] = { "F64", "F64?" },
		[DIAL9_BOOL] = { "Bool", "Bool?" },
		[DIAL9_STRING] = { "String", "String?" },
		[DIAL9_BYTES] = { "Bytes", "Bytes?" },
		[DIAL9_POOLED_STACK] = { "PooledStack", "PooledStack?" },
		[DIAL9_POOLED_STRING] = { "PooledString", "PooledString?" },
		[DIAL9_STACK] = { "Stack", "Stack?" },
		[DIAL9_VARINT] = { "Varint", "Varint?" },
		[DIAL9_STRING_MAP] = { "StringMap", "StringMap?" },
		[DIAL9_U8] = { "U8", "U8?" },
		[DIAL9_U16] = { "U16", "U16?" },
		[DIAL9_U32] = { "U32", "U32?" },
		[DIAL9_LIST] = { "List", "List?" },
		[DIAL9_MAP] = { "Map", "Map?" },
	};
	uint8_t base = wire_base_type(type);

	return base ? names[base][!!(type & DIAL9_OPTIONAL)] : "?";
}

uint64_t dial9_value_frame(const struct dial9_value *v, uint32_t i)
{
	if (v->type != DIAL9_STACK || i >= v->stack.cnt)
		return 0;
	return dial9_frame_at(v->stack.le, i);
}

void dial9_iter_init(struct dial9_iter *it, const struct dial9_value *v)
{
	memset(it, 0, sizeof(*it));
	if (v->type != DIAL9_LIST && v->type != DIAL9_MAP && v->type != DIAL9_STRING_MAP)
		return;
	it->pos = v->map.raw;
	it->end = v->map.sz ? v->map.raw + v->map.sz : v->map.raw;
	it->left = v->map.cnt;
	it->type = v->type;
}

int dial9_list_next(struct dial9_iter *it, struct dial9_value *elem)
{
	struct value_fault f;

	if (!it->left || it->type != DIAL9_LIST)
		return 0;
	if (parse_tagged(&it->pos, it->end, VALUE_DEPTH_MAX - 1, elem, &f))
		return -EBADMSG;
	it->left--;
	return 1;
}

static int map_entry(struct dial9_iter *it, struct dial9_value *out)
{
	struct value_fault f;

	if (it->type == DIAL9_STRING_MAP)
		return value_parse(&it->pos, it->end, DIAL9_STRING, 0, out, &f);
	return parse_tagged(&it->pos, it->end, VALUE_DEPTH_MAX - 1, out, &f);
}

int dial9_map_next(struct dial9_iter *it, struct dial9_value *key, struct dial9_value *value)
{
	if (!it->left || (it->type != DIAL9_MAP && it->type != DIAL9_STRING_MAP))
		return 0;
	if (map_entry(it, key) || map_entry(it, value))
		return -EBADMSG;
	it->left--;
	return 1;
}

int dial9_strings_next(struct dial9_iter *it, uint32_t *id, struct dial9_str *str)
{
	const uint8_t *p = it->pos;

	if (!it->left || it->type != WIRE_STRINGS)
		return 0;
	*id = wire_get_u32(p);
	str->len = wire_get_u32(p + 4);
	str->ptr = (const char *)p + WIRE_POOL_ENTRY_SZ;
	it->pos = p + WIRE_POOL_ENTRY_SZ + str->len;
	it->left--;
	return 1;
}

int dial9_stacks_next(struct dial9_iter *it, uint32_t *id, const uint8_t **le, uint32_t *cnt)
{
	const uint8_t *p = it->pos;

	if (!it->left || it->type != WIRE_STACKS)
		return 0;
	*id = wire_get_u32(p);
	*cnt = wire_get_u32(p + 4);
	*le = p + WIRE_POOL_ENTRY_SZ;
	it->pos = *le + (size_t)*cnt * 8;
	it->left--;
	return 1;
}

int dial9_annotations_next(struct dial9_iter *it, uint16_t *field, struct dial9_str *key,
			   struct dial9_str *value)
{
	const uint8_t *p = it->pos;

	if (!it->left || it->type != WIRE_ANNOTATIONS)
		return 0;
	*field = wire_get_u16(p);
	key->len = wire_get_u16(p + 2);
	key->ptr = (const char *)p + 4;
	p += 4 + key->len;
	value->len = wire_get_u32(p);
	value->ptr = (const char *)p + 4;
	it->pos = p + 4 + value->len;
	it->left--;
	return 1;
}
