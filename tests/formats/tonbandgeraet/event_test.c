// SPDX-License-Identifier: BSD-2-Clause
/*
 * One frame: the bytes of the reference writer, the limits of its reader, and that any event survives.
 */
#include "tests/formats/tonbandgeraet/support.h"

struct frame {
	const char *bytes;
	size_t sz;
	const char *why; /* NULL: decodes */
};
#define FRAME(s, w)                                                                                \
	{                                                                                          \
		.bytes = s, .sz = sizeof(s) - 1, .why = w                                          \
	}

static const char *decode(const char *bytes, size_t sz, uint8_t *mem, struct tonband_event *ev)
{
	const char *why;
	size_t n;

	memcpy(mem, bytes, sz);
	why = tonband_event_unframe(mem, sz, &n);
	return why ? why : tonband_event_parse(mem, n, ev);
}

Test(tonband_event, accepts_and_refuses_the_same_as_the_reference_reader)
{
	static const struct frame frames[] = {
		FRAME("\x01\x01\x01\x01", NULL), /* core_id 0 at 0 */
		FRAME("\x03\x02\x08", NULL), /* ts_resolution_ns 8 */
		FRAME("\x04\x02\x80\x08", NULL), /* the same with a needless group */
		FRAME("\x02\x03\x08SysTick", NULL),
		FRAME("\x0e\x03\xff\xff\xff\xff\x0fisr-max", NULL),
		FRAME("\x0e\x03\xff\xff\xff\xff\x1fisr-max", "number too large for its field"),
		FRAME("\x0e\x03\xff\xff\xff\xff\x8fisr-max", "number too large for its field"),
		FRAME("\x0c\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", NULL),
		FRAME("\x0c\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
		      "number too large for its field"),
		FRAME("\x03\x02\x80", "event ends inside a number"),
		FRAME("\x02\x02", "event ends inside a number"),
		FRAME("\x04\x02\x08\x08", "bytes left over behind the event"),
		FRAME("\x04\x65\x01\x05", NULL),
		FRAME("\x04\x65\x01\x06", "unknown kind of queue"),
		FRAME("\x03\x65\x01", "event ends before a field"),
		FRAME("\x02\x0c", "unknown event id"),
		FRAME("\x02\x80", "unknown event id"),
		FRAME("", "empty frame"),
		FRAME("\x01", "frame without an event"),
		FRAME("\x05\x02\x08", "frame ends inside a block"),
	};
	struct tonband_event ev;
	uint8_t mem[64];

	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		const char *why = decode(frames[i].bytes, frames[i].sz, mem, &ev);

		if (frames[i].why)
			cr_assert(why && !strcmp(why, frames[i].why), "frame %zu: %s", i,
				  why ? why : "read");
		else
			cr_assert_null(why, "frame %zu: %s", i, why);
	}
}

Test(tonband_event, encodes_signs_in_the_lowest_bit_and_the_minimum_as_minus_zero)
{
	static const struct {
		int64_t v;
		uint8_t byte;
	} cases[] = { { 0, 0 }, { 1, 2 }, { -1, 3 }, { 2, 4 }, { -2, 5 }, { INT64_MIN, 1 } };
	struct tonband_event ev;
	uint8_t mem[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b = { 0 };

		event(&b, TONBAND_VALMARKER, 1, 1, (uint64_t)cases[i].v, NULL);
		/* 04 0b 01 01 VV 00, and a zero has no byte of its own in COBS. */
		if (cases[i].byte)
			cr_assert_eq((uint8_t)b.data[4], cases[i].byte);
		cr_assert_null(decode(b.data, b.len - 1, mem, &ev));
		cr_assert_eq((int64_t)ev.num[1], cases[i].v);
		buf_free(&b);
	}
}

/* Payloads of 253, 254 and 255 bytes without a zero: where a second code begins. */
Test(tonband_event, encodes_frames_of_long_runs_in_the_shorter_form)
{
	struct tonband_event ev;
	uint8_t mem[512];
	char text[256];

	for (size_t len = 250; len < 256; len++) {
		struct buf b = { 0 };
		size_t payload = len + 2;

		memset(text, 'x', len);
		text[len] = '\0';
		event(&b, TONBAND_ISR_NAME, 0, 1, 0, text);
		cr_assert_eq(b.len, payload + (payload > 254 ? 3 : 2), "%zu", len);
		cr_assert_eq((uint8_t)b.data[0], payload < 254 ? payload + 1 : 0xff);
		cr_assert_null(decode(b.data, b.len - 1, mem, &ev));
		cr_assert_eq(ev.str_len, len);
		/* The long form of a full block has one more code, and means the same. */
		if (payload == 254) {
			b.data[b.len - 1] = 1;
			cr_assert_null(decode(b.data, b.len, mem, &ev));
			cr_assert_eq(ev.str_len, len);
		}
		buf_free(&b);
	}
}

Test(tonband_event, restores_any_event)
{
	uint64_t seed = 0x9e3779b97f4a7c15;
	struct tonband_event ev, got;
	char text[RANDOM_TEXT_MAX];
	uint8_t mem[2048];

	for (int i = 0; i < 200000; i++) {
		struct buf b = { 0 };

		if (!random_event(&seed, text, &ev))
			continue;
		tonband_event_write(&b, &ev);
		cr_assert_eq(memchr(b.data, 0, b.len), b.data + b.len - 1);
		cr_assert_null(decode(b.data, b.len - 1, mem, &got));
		cr_assert(got.id == ev.id && got.ts == ev.ts && got.num[0] == ev.num[0] &&
			  got.num[1] == ev.num[1] && got.str_len == ev.str_len);
		cr_assert(!ev.str_len || !memcmp(got.str, text, ev.str_len));
		buf_free(&b);
	}
}

Test(tonband_event, finds_47_types_by_name)
{
	int cnt = 0;

	for (unsigned int id = 0; id < 300; id++) {
		const struct tonband_type *t = tonband_event_type(id);

		cnt += t != NULL;
		if (t)
			cr_assert_eq(tonband_event_find(t->name, strlen(t->name)), (int)id);
	}
	cr_assert_eq(cnt, 47);
	cr_assert_eq(tonband_event_find("task_switched_out", 17), -1);
}
