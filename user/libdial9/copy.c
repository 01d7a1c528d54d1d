// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies of events: a decoded event is valid until the decoder's next call, its copy until it is
 * freed.
 *
 * A copy is one piece of memory: the event, its values, and after them all bytes that the values
 * point to, each at a multiple of 8. It holds a reference to the schema and resolves pool ids, so
 * it needs neither the decoder nor the trace. dial9_event_copy() makes copies that are released one
 * by one; copies.c has copies that are released together.
 */
#include "copy.h"

#include <string.h>

#include "copy_slab.h"
#include "decode.h"
#include "dial9.h"
#include "schema.h"

#define ALIGN 8

/* What dial9_event_copy() makes */
struct owned_copy {
	struct copy_slab *slab;
	struct dial9_event event; /* its values and their bytes follow */
};

#define BIT(type) (1u << (type))
#define PAYLOAD_TYPES                                                                              \
	(BIT(DIAL9_STRING) | BIT(DIAL9_BYTES) | BIT(DIAL9_STACK) | BIT(DIAL9_POOLED_STRING) |      \
	 BIT(DIAL9_POOLED_STACK) | BIT(DIAL9_STRING_MAP) | BIT(DIAL9_LIST) | BIT(DIAL9_MAP))

/* The bytes of a value */
struct payload {
	uint8_t type; /* of the value in the copy */
	bool bad_utf8;
	const uint8_t *at;
	size_t sz;
	uint32_t cnt; /* of entries */
};

static size_t round_up(size_t sz)
{
	return (sz + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static bool find_text(const struct dial9_dec *dec, uint32_t id, struct payload *out)
{
	struct dial9_str s;

	if (dial9_dec_string(dec, id, &s))
		return false;
	*out = (struct payload){ .type = DIAL9_STRING,
				 .bad_utf8 = dial9_utf8_valid_len(s.ptr, s.len) != s.len,
				 .at = (const uint8_t *)s.ptr,
				 .sz = s.len };
	return true;
}

static bool find_stack(const struct dial9_dec *dec, uint32_t id, struct payload *out)
{
	uint32_t cnt;

	*out = (struct payload){ .type = DIAL9_STACK };
	if (dial9_dec_stack(dec, id, &out->at, &cnt))
		return false;
	out->sz = (size_t)cnt * 8;
	return true;
}

/*
 * The bytes of a value, where pool ids are looked up. false: it is a number or an unknown id. Reads
 * each member with the width that the decoder has just written; otherwise the CPU would wait.
 */
static __attribute__((noinline)) bool find_bytes(const struct dial9_dec *dec,
						 const struct dial9_value *v, struct payload *out)
{
	switch (v->type) {
	case DIAL9_STRING:
	case DIAL9_BYTES:
		*out = (struct payload){ .type = v->type,
					 .bad_utf8 = v->bad_utf8,
					 .at = (const uint8_t *)v->str.ptr,
					 .sz = v->str.len };
		return true;
	case DIAL9_STACK:
		*out = (struct payload){ .type = v->type,
					 .at = v->stack.le,
					 .sz = (size_t)v->stack.cnt * 8 };
		return true;
	case DIAL9_STRING_MAP:
	case DIAL9_LIST:
	case DIAL9_MAP:
		*out = (struct payload){ .type = v->type,
					 .bad_utf8 = v->bad_utf8,
					 .at = v->map.raw,
					 .sz = v->map.sz,
					 .cnt = v->map.cnt };
		return true;
	case DIAL9_POOLED_STRING:
		return find_text(dec, v->id, out);
	case DIAL9_POOLED_STACK:
		return find_stack(dec, v->id, out);
	}
	return false;
}

static inline bool find_payload(const struct dial9_dec *dec, const struct dial9_value *v,
				struct payload *out)
{
	return (PAYLOAD_TYPES >> v->type & 1) && find_bytes(dec, v, out);
}

/* A value whose bytes are at `at`. */
static void set_value(struct dial9_value *out, const struct payload *b, const uint8_t *at)
{
	*out = (struct dial9_value){ .type = b->type, .bad_utf8 = b->bad_utf8 };
	if (b->type == DIAL9_STRING || b->type == DIAL9_BYTES)
		out->str = (struct dial9_text){ (const char *)at, (uint32_t)b->sz };
	else if (b->type == DIAL9_STACK)
		out->stack = (struct dial9_frames){ at, (uint32_t)(b->sz / 8) };
	else
		out->map = (struct dial9_entries){ at, (uint32_t)b->sz, b->cnt };
}

static size_t fixed_size(const struct dial9_event *ev)
{
	return round_up(sizeof(*ev)) + ev->value_cnt * sizeof(*ev->values);
}

size_t copy_size(const struct dial9_dec *dec, const struct dial9_event *ev)
{
	size_t i, sz = fixed_size(ev);
	struct payload b;

	for (i = 0; i < ev->value_cnt; i++)
		if (find_payload(dec, &ev->values[i], &b))
			sz += round_up(b.sz);
	return sz;
}

struct dial9_event *copy_put(const struct dial9_dec *dec, const struct dial9_event *ev,
			     uint8_t **pos, const uint8_t *end)
{
	struct dial9_event *copy = (struct dial9_event *)*pos;
	const struct dial9_value *v = ev->values, *v_end = v + ev->value_cnt;
	struct dial9_value *out;
	uint8_t *p = *pos;
	struct payload b;

	if ((size_t)(end - p) < fixed_size(ev))
		return NULL;
	out = (struct dial9_value *)(p + round_up(sizeof(*ev)));
	p += fixed_size(ev);
	*copy = (struct dial9_event){ .schema = ev->schema,
				      .type_id = ev->type_id,
				      .has_ts = ev->has_ts,
				      .ts = ev->ts,
				      .values = out,
				      .value_cnt = ev->value_cnt };
	for (; v < v_end; v++, out++) {
		if (!find_payload(dec, v, &b)) {
			*out = (struct dial9_value){ .type = v->type, .u64 = v->u64 };
			continue;
		}
		if ((size_t)(end - p) < round_up(b.sz))
			return NULL;
		set_value(out, &b, p);
		dial9_inline_copy(p, b.at, b.sz);
		p += round_up(b.sz);
	}
	*pos = p;
	return copy;
}

/* A copy with a reference to the slab that it is in. NULL if the slab has too little room. */
static struct dial9_event *put_owned(const struct dial9_dec *dec, const struct dial9_event *ev,
				     struct copy_slabs *slabs)
{
	struct owned_copy *owned = (struct owned_copy *)slabs->pos;
	uint8_t *pos = (uint8_t *)&owned->event;

	if ((size_t)(slabs->end - slabs->pos) < sizeof(*owned) ||
	    !copy_put(dec, ev, &pos, slabs->end))
		return NULL;
	owned->slab = slabs->slab;
	copy_slab_commit(slabs, pos);
	return &owned->event;
}

static int copy_to_new_slab(const struct dial9_dec *dec, const struct dial9_event *ev,
			    struct copy_slabs *slabs, struct dial9_event **out)
{
	const size_t sz = offsetof(struct owned_copy, event) + copy_size(dec, ev);
	struct copy_slabs alone = { 0 };
	int err;

	if (sz <= COPY_SLAB_SHARED) {
		err = copy_slab_reserve(slabs, sz);
		if (!err)
			*out = put_owned(dec, ev, slabs);
		return err;
	}
	err = copy_slab_reserve_alone(&alone, sz);
	if (!err)
		*out = put_owned(dec, ev, &alone);
	copy_slab_close(&alone);
	return err;
}

int dial9_event_copy(const struct dial9_dec *dec, const struct dial9_event *ev,
		     struct dial9_event **out)
{
	struct copy_slabs *slabs = decode_slabs(dec);
	struct dial9_event *copy = slabs->slab ? put_owned(dec, ev, slabs) : NULL;
	int err = copy ? 0 : copy_to_new_slab(dec, ev, slabs, &copy);

	if (err)
		return err;
	dial9_schema_ref(copy->schema);
	*out = copy;
	return 0;
}

void dial9_event_free(struct dial9_event *copy)
{
	struct owned_copy *owned;

	if (!copy)
		return;
	owned = (struct owned_copy *)((char *)copy - offsetof(struct owned_copy, event));
	dial9_schema_free((struct dial9_schema *)copy->schema);
	copy_slab_put(owned->slab);
}
