// SPDX-License-Identifier: BSD-2-Clause
/*
 * One Tonbandgerät event: its table row, its payload, its frame.
 *
 * The format has no schema in the file: which fields an id has is fixed, so the table here is the
 * format. A payload is the id and the fields without tags or lengths; a frame is the payload in COBS
 * (zeros removed) and a zero.
 *
 * Limits equal the limits of the format's own reader, to the bit: a u32 has at most five bytes, bits
 * beyond the type are an error, redundant zero groups are not, and bytes after the last field make the
 * whole event invalid. Text is passed on as bytes, since targets cut it anywhere.
 */
#include "formats/tonbandgeraet/event.h"

#include <string.h>

/* clang-format off */
#define ROW(group_, has_ts_, name_, str_, ...) { .name = (name_), .group = (group_), \
	.has_ts = (has_ts_), .str = (str_), .fields = { __VA_ARGS__ } }
#define BASE(...) ROW(TONBAND_BASE, true, __VA_ARGS__)
#define BASE_META(...) ROW(TONBAND_BASE, false, __VA_ARGS__)
#define RTOS(...) ROW(TONBAND_FREERTOS, true, __VA_ARGS__)
#define RTOS_META(...) ROW(TONBAND_FREERTOS, false, __VA_ARGS__)
#define U32(name_) { .name = (name_), .kind = TONBAND_U32 }
#define U64(name_) { .name = (name_), .kind = TONBAND_U64 }
#define S64(name_) { .name = (name_), .kind = TONBAND_S64 }
#define QKIND(name_) { .name = (name_), .kind = TONBAND_QUEUE_KIND }

static const struct tonband_type types[256] = {
	[0x00] = BASE("core_id", NULL, U32("core_id")),
	[0x01] = BASE("dropped_evt_cnt", NULL, U32("cnt")),
	[0x02] = BASE_META("ts_resolution_ns", NULL, U64("ns_per_ts")),
	[0x03] = BASE_META("isr_name", "name", U32("isr_id")),
	[0x04] = BASE("isr_enter", NULL, U32("isr_id")),
	[0x05] = BASE("isr_exit", NULL, U32("isr_id")),
	[0x06] = BASE_META("evtmarker_name", "name", U32("evtmarker_id")),
	[0x07] = BASE("evtmarker", "msg", U32("evtmarker_id")),
	[0x08] = BASE("evtmarker_begin", "msg", U32("evtmarker_id")),
	[0x09] = BASE("evtmarker_end", NULL, U32("evtmarker_id")),
	[0x0a] = BASE_META("valmarker_name", "name", U32("valmarker_id")),
	[0x0b] = BASE("valmarker", NULL, U32("valmarker_id"), S64("val")),
	[0x54] = RTOS("task_switched_in", NULL, U32("task_id")),
	[0x55] = RTOS("task_to_rdy_state", NULL, U32("task_id")),
	[0x56] = RTOS("task_resumed", NULL, U32("task_id")),
	[0x57] = RTOS("task_resumed_from_isr", NULL, U32("task_id")),
	[0x58] = RTOS("task_suspended", NULL, U32("task_id")),
	[0x59] = RTOS("curtask_delay", NULL, U32("ticks")),
	[0x5a] = RTOS("curtask_delay_until", NULL, U32("time_to_wake")),
	[0x5b] = RTOS("task_priority_set", NULL, U32("task_id"), U32("priority")),
	[0x5c] = RTOS("task_priority_inherit", NULL, U32("task_id"), U32("priority")),
	[0x5d] = RTOS("task_priority_disinherit", NULL, U32("task_id"), U32("priority")),
	[0x5e] = RTOS("task_created", NULL, U32("task_id")),
	[0x5f] = RTOS_META("task_name", "name", U32("task_id")),
	[0x60] = RTOS_META("task_is_idle_task", NULL, U32("task_id"), U32("core_id")),
	[0x61] = RTOS_META("task_is_timer_task", NULL, U32("task_id")),
	[0x62] = RTOS("task_deleted", NULL, U32("task_id")),
	[0x63] = RTOS("queue_created", NULL, U32("queue_id")),
	[0x64] = RTOS_META("queue_name", "name", U32("queue_id")),
	[0x65] = RTOS_META("queue_kind", NULL, U32("queue_id"), QKIND("kind")),
	[0x66] = RTOS("queue_send", NULL, U32("queue_id"), U32("len_after")),
	[0x67] = RTOS("queue_send_from_isr", NULL, U32("queue_id"), U32("len_after")),
	[0x68] = RTOS("queue_overwrite", NULL, U32("queue_id"), U32("len_after")),
	[0x69] = RTOS("queue_overwrite_from_isr", NULL, U32("queue_id"), U32("len_after")),
	[0x6a] = RTOS("queue_receive", NULL, U32("queue_id"), U32("len_after")),
	[0x6b] = RTOS("queue_receive_from_isr", NULL, U32("queue_id"), U32("len_after")),
	[0x6c] = RTOS("queue_reset", NULL, U32("queue_id")),
	[0x6d] = RTOS("curtask_block_on_queue_peek", NULL, U32("queue_id"), U32("ticks_to_wait")),
	[0x6e] = RTOS("curtask_block_on_queue_send", NULL, U32("queue_id"), U32("ticks_to_wait")),
	[0x6f] = RTOS("curtask_block_on_queue_receive", NULL, U32("queue_id"), U32("ticks_to_wait")),
	[0x70] = RTOS("queue_cur_length", NULL, U32("queue_id"), U32("length")),
	[0x7a] = RTOS_META("task_evtmarker_name", "name", U32("evtmarker_id"), U32("task_id")),
	[0x7b] = RTOS("task_evtmarker", "msg", U32("evtmarker_id")),
	[0x7c] = RTOS("task_evtmarker_begin", "msg", U32("evtmarker_id")),
	[0x7d] = RTOS("task_evtmarker_end", NULL, U32("evtmarker_id")),
	[0x7e] = RTOS_META("task_valmarker_name", "name", U32("valmarker_id"), U32("task_id")),
	[0x7f] = RTOS("task_valmarker", NULL, U32("valmarker_id"), S64("val")),
};
/* clang-format on */

static const char *const queue_kinds[] = {
	"queue", "counting_semphr", "binary_semphr", "mutex", "recursive_mutex", "queue_set",
};

#define QUEUE_KIND_CNT (sizeof(queue_kinds) / sizeof(queue_kinds[0]))

const struct tonband_type *tonband_event_type(unsigned int id)
{
	return id < 256 && types[id].name ? &types[id] : NULL;
}

int tonband_event_find(const char *name, size_t len)
{
	for (int id = 0; id < 256; id++)
		if (types[id].name && strlen(types[id].name) == len &&
		    !memcmp(types[id].name, name, len))
			return id;
	return -1;
}

const char *tonband_event_queue_kind(uint64_t kind)
{
	return kind < QUEUE_KIND_CNT ? queue_kinds[kind] : NULL;
}

/* ---- reading ----------------------------------------------------------------------------------- */

const char *tonband_event_unframe(uint8_t *frame, size_t sz, size_t *out_sz)
{
	size_t in = 0, out = 0;

	if (!sz)
		return "empty frame";
	while (in < sz) {
		uint8_t code = frame[in++];
		size_t run = (size_t)code - 1;

		/* The delimiter was the first zero, so a code of 0 cannot stand here. */
		if (run > sz - in)
			return "frame ends inside a block";
		memmove(frame + out, frame + in, run);
		in += run;
		out += run;
		if (code != 0xff && in < sz)
			frame[out++] = 0;
	}
	*out_sz = out;
	return out ? NULL : "frame without an event";
}

struct cursor {
	const uint8_t *p, *end;
};

/* LEB128 of at most `bits` bits. Redundant zero groups are allowed within the limit of bytes. */
static const char *read_leb(struct cursor *c, unsigned int bits, uint64_t *out)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; shift < bits; shift += 7) {
		uint8_t byte;

		if (c->p == c->end)
			return "event ends inside a number";
		byte = *c->p++;
		if (bits - shift < 7 && byte >> (bits - shift))
			return "number too large for its field";
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	*out = v;
	return NULL;
}

static uint64_t from_sign_magnitude(uint64_t v)
{
	if (v == 1)
		return (uint64_t)INT64_MIN;
	return v & 1 ? -(v >> 1) : v >> 1;
}

static const char *read_field(struct cursor *c, enum tonband_kind kind, uint64_t *out)
{
	const char *why;

	switch (kind) {
	case TONBAND_U32:
		return read_leb(c, 32, out);
	case TONBAND_U64:
		return read_leb(c, 64, out);
	case TONBAND_S64:
		why = read_leb(c, 64, out);
		if (!why)
			*out = from_sign_magnitude(*out);
		return why;
	case TONBAND_QUEUE_KIND:
		if (c->p == c->end)
			return "event ends before a field";
		*out = *c->p++;
		return *out < QUEUE_KIND_CNT ? NULL : "unknown kind of queue";
	case TONBAND_STR:
		break;
	}
	return "no such field";
}

const char *tonband_event_parse(const uint8_t *payload, size_t sz, struct tonband_event *ev)
{
	struct cursor c = { payload, payload + sz };
	const struct tonband_type *type;
	const char *why = NULL;

	if (!sz)
		return "frame without an event";
	*ev = (struct tonband_event){ .id = *c.p++ };
	ev->type = type = tonband_event_type(ev->id);
	if (!type)
		return "unknown event id";
	if (type->has_ts)
		why = read_leb(&c, 64, &ev->ts);
	for (int i = 0; !why && i < TONBAND_FIELDS_MAX && type->fields[i].name; i++)
		why = read_field(&c, type->fields[i].kind, &ev->num[i]);
	if (why)
		return why;
	if (type->str) {
		ev->str = (const char *)c.p;
		ev->str_len = (size_t)(c.end - c.p);
	} else if (c.p != c.end) {
		return "bytes left over behind the event";
	}
	return NULL;
}

/* ---- writing ----------------------------------------------------------------------------------- */

static void put_leb(struct buf *b, uint64_t v)
{
	while (v >= 0x80) {
		buf_addch(b, (char)(v | 0x80));
		v >>= 7;
	}
	buf_addch(b, (char)v);
}

static uint64_t to_sign_magnitude(uint64_t bits)
{
	if ((int64_t)bits == INT64_MIN)
		return 1;
	return (int64_t)bits < 0 ? -bits << 1 | 1 : bits << 1;
}

static void put_payload(struct buf *b, const struct tonband_event *ev)
{
	const struct tonband_type *type = ev->type;

	buf_addch(b, (char)ev->id);
	if (type->has_ts)
		put_leb(b, ev->ts);
	for (int i = 0; i < TONBAND_FIELDS_MAX && type->fields[i].name; i++) {
		if (type->fields[i].kind == TONBAND_QUEUE_KIND)
			buf_addch(b, (char)ev->num[i]);
		else if (type->fields[i].kind == TONBAND_S64)
			put_leb(b, to_sign_magnitude(ev->num[i]));
		else
			put_leb(b, ev->num[i]);
	}
	if (type->str)
		buf_add(b, ev->str, ev->str_len);
}

/* A run of 254 bytes at the end of the payload has no code after it: the shorter of two encodings. */
static void put_frame(struct buf *out, const uint8_t *p, size_t sz)
{
	size_t i = 0;

	for (;;) {
		size_t run = 0;

		while (i + run < sz && run < 254 && p[i + run])
			run++;
		buf_addch(out, (char)(run + 1));
		buf_add(out, p + i, run);
		i += run;
		if (run == 254) {
			if (i == sz)
				break;
		} else if (i++ == sz) {
			break;
		}
	}
	buf_addch(out, '\0');
}

void tonband_event_write(struct buf *out, const struct tonband_event *ev)
{
	struct buf payload = { 0 };

	put_payload(&payload, ev);
	put_frame(out, (const uint8_t *)payload.data, payload.len);
	buf_free(&payload);
}
