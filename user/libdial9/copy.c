// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies of events: a decoded event is valid until the decoder's next call, its copy until it is
 * freed.
 *
 * A copy is one allocation: the event, its values, and after them all bytes that the values point
 * to. It holds a reference to the schema and resolves pool ids, so it needs neither the decoder nor
 * the trace. The bytes are measured first and then copied; stacks come first, which keeps them
 * aligned.
 */
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

int dial9_event_copy(const struct dial9_dec *dec, const struct dial9_event *ev,
		     struct dial9_event **out)
{
	size_t i, sz = round_up(sizeof(*ev)) + ev->value_cnt * sizeof(*ev->values), n;
	struct dial9_value *values, v;
	struct dial9_event *copy;
	uint8_t *p;

	for (i = 0; i < ev->value_cnt; i++) {
		v = is_flat(ev->values[i].type) ? ev->values[i] : resolve(dec, &ev->values[i]);
		sz += round_up(payload_sz(&v));
	}
	copy = malloc(sz);
	if (!copy)
		return -ENOMEM;
	*copy = *ev;
	copy->schema = dial9_schema_ref(ev->schema);
	values = (struct dial9_value *)((uint8_t *)copy + round_up(sizeof(*ev)));
	copy->values = values;
	p = (uint8_t *)(values + ev->value_cnt);
	for (i = 0; i < ev->value_cnt; i++) {
		values[i] =
			is_flat(ev->values[i].type) ? ev->values[i] : resolve(dec, &ev->values[i]);
		n = payload_sz(&values[i]);
		if (!n)
			continue;
		memcpy(p, get_payload(&values[i]), n);
		set_payload(&values[i], p);
		p += round_up(n);
	}
	*out = copy;
	return 0;
}

void dial9_event_free(struct dial9_event *copy)
{
	if (!copy)
		return;
	dial9_schema_free((struct dial9_schema *)copy->schema);
	free(copy);
}
