// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies of events: a decoded event is valid until the decoder's next call, its copy until it is
 * freed.
 *
 * A copy is one piece of memory: the event, its values, and after them all bytes that the values
 * point to, each at a multiple of 8. It holds a reference to the schema and resolves pool ids, so
 * it needs neither the decoder nor the trace. copies.c has copies of many events.
 */
#include "copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dial9.h"
#include "schema.h"

#define ALIGN 8

static size_t round_up(size_t sz)
{
	return (sz + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

/* The value for the copy, with bytes still borrowed: pooled text and stacks are resolved. */
static struct dial9_value resolve(const struct dial9_dec *dec, const struct dial9_value *v)
{
	struct dial9_value out = *v;
	struct dial9_str s;
	const uint8_t *le;
	uint32_t cnt;

	if (v->type == DIAL9_POOLED_STRING && !dial9_value_str(dec, v, &s)) {
		out.type = DIAL9_STRING;
		out.bad_utf8 = dial9_utf8_valid_len(s.ptr, s.len) != s.len;
		out.str.ptr = s.ptr;
		out.str.len = (uint32_t)s.len;
	} else if (v->type == DIAL9_POOLED_STACK && !dial9_value_stack(dec, v, &le, &cnt)) {
		out.type = DIAL9_STACK;
		out.stack.le = le;
		out.stack.cnt = cnt;
	}
	return out;
}

/* Size of the bytes of a value, through the pointer that is the first member of each such kind. */
static size_t payload_sz(const struct dial9_value *v)
{
	switch (v->type) {
	case DIAL9_STRING:
	case DIAL9_BYTES:
		return v->str.len;
	case DIAL9_STACK:
		return (size_t)v->stack.cnt * 8;
	case DIAL9_STRING_MAP:
	case DIAL9_LIST:
	case DIAL9_MAP:
		return v->map.sz;
	}
	return 0;
}

static void set_payload(struct dial9_value *v, const uint8_t *p)
{
	if (v->type == DIAL9_STRING || v->type == DIAL9_BYTES)
		v->str.ptr = (const char *)p;
	else if (v->type == DIAL9_STACK)
		v->stack.le = p;
	else
		v->map.raw = p;
}

static const uint8_t *get_payload(const struct dial9_value *v)
{
	if (v->type == DIAL9_STRING || v->type == DIAL9_BYTES)
		return (const uint8_t *)v->str.ptr;
	return v->type == DIAL9_STACK ? v->stack.le : v->map.raw;
}

static bool is_flat(uint8_t type)
{
	return type != DIAL9_POOLED_STRING && type != DIAL9_POOLED_STACK;
}

static struct dial9_value value_at(const struct dial9_dec *dec, const struct dial9_event *ev,
				   size_t i)
{
	return is_flat(ev->values[i].type) ? ev->values[i] : resolve(dec, &ev->values[i]);
}

static size_t fixed_size(const struct dial9_event *ev)
{
	return round_up(sizeof(*ev)) + ev->value_cnt * sizeof(*ev->values);
}

size_t copy_size(const struct dial9_dec *dec, const struct dial9_event *ev)
{
	size_t i, sz = fixed_size(ev);
	struct dial9_value v;

	for (i = 0; i < ev->value_cnt; i++) {
		v = value_at(dec, ev, i);
		sz += round_up(payload_sz(&v));
	}
	return sz;
}

struct dial9_event *copy_put(const struct dial9_dec *dec, const struct dial9_event *ev,
			     uint8_t **pos, const uint8_t *end)
{
	struct dial9_event *copy = (struct dial9_event *)*pos;
	struct dial9_value *values;
	uint8_t *p = *pos;
	size_t i, n;

	if ((size_t)(end - p) < fixed_size(ev))
		return NULL;
	values = (struct dial9_value *)(p + round_up(sizeof(*ev)));
	p += fixed_size(ev);
	*copy = *ev;
	copy->values = values;
	if (!ev->schema->payloads) {
		memcpy(values, ev->values, ev->value_cnt * sizeof(*values));
		*pos = p;
		return copy;
	}
	for (i = 0; i < ev->value_cnt; i++) {
		values[i] = value_at(dec, ev, i);
		n = payload_sz(&values[i]);
		if (!n)
			continue;
		if ((size_t)(end - p) < round_up(n))
			return NULL;
		memcpy(p, get_payload(&values[i]), n);
		set_payload(&values[i], p);
		p += round_up(n);
	}
	*pos = p;
	return copy;
}

int dial9_event_copy(const struct dial9_dec *dec, const struct dial9_event *ev,
		     struct dial9_event **out)
{
	const size_t sz = copy_size(dec, ev);
	uint8_t *mem = malloc(sz), *pos = mem;

	if (!mem)
		return -ENOMEM;
	*out = copy_put(dec, ev, &pos, mem + sz);
	dial9_schema_ref(ev->schema);
	return 0;
}

void dial9_event_free(struct dial9_event *copy)
{
	if (!copy)
		return;
	dial9_schema_free((struct dial9_schema *)copy->schema);
	free(copy);
}
