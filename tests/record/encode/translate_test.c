// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records to events. tests/fixtures/abi has records as a kernel wrote them, and next to each the output of
 * libtraceevent for its fields (capture.c there made both): a dial9 decoder must return the same numbers and
 * texts for the same bytes.
 */
#include "record/encode/translate.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "dial9.h"
#include "events/emit.h"
#include "kernel/perf_side.h"
#include "prof_events.h"
#include "record/process/tasks.h"
#include "record/symbols/frames.h"
#include "record/tracepoint/event.h"
#include "tests/record/support.h"

static const char *const captured[] = {
	"block.block_rq_issue",
	"exceptions.page_fault_user",
	"irq.irq_handler_entry",
	"irq.softirq_raise",
	"kmem.kmalloc",
	"kmem.mm_page_alloc",
	"net.net_dev_xmit",
	"raw_syscalls.sys_enter",
	"raw_syscalls.sys_exit",
	"sched.sched_process_exec",
	"sched.sched_process_exit",
	"sched.sched_process_fork",
	"sched.sched_switch",
	"sched.sched_waking",
	"signal.signal_generate",
	"sock.inet_sock_set_state",
	"syscalls.sys_enter_openat",
	"syscalls.sys_exit_openat",
	"task.task_rename",
	"timer.hrtimer_start",
	"timer.timer_start",
	"workqueue.workqueue_queue_work",
};
enum {
	CAPTURED_CNT = sizeof(captured) / sizeof(captured[0]),
	CONTEXT = PROF_CONTEXT_SOFTIRQ | 4 << PROF_CONTEXT_SHIFT, /* of wakeups */
};

/* ---- a fixture -------------------------------------------------------------------------------------- */

struct fixture {
	char *rec, *txt;
	size_t rec_sz, txt_sz;
};

static void fixture_load(struct fixture *fx, const char *name)
{
	struct buf path = { 0 };

	buf_printf(&path, "fixtures/abi/%s.rec", name);
	fx->rec = support_read(buf_cstr(&path), &fx->rec_sz);
	buf_clear(&path);
	buf_printf(&path, "fixtures/abi/%s.txt", name);
	fx->txt = support_read(buf_cstr(&path), &fx->txt_sz);
	buf_free(&path);
}

static void fixture_free(struct fixture *fx)
{
	free(fx->rec);
	free(fx->txt);
}

/* The next raw record from *pos on: false at the end. */
static bool fixture_next(const struct fixture *fx, size_t *pos, const char **raw, uint32_t *len)
{
	if (*pos == fx->rec_sz)
		return false;
	cr_assert_leq(*pos + sizeof(*len), fx->rec_sz);
	memcpy(len, fx->rec + *pos, sizeof(*len));
	*raw = fx->rec + *pos + sizeof(*len);
	*pos += sizeof(*len) + *len;
	cr_assert_leq(*pos, fx->rec_sz);
	return true;
}

/* "ARRAY[7f, 00]" to bytes; anything else is the text itself. */
static bool array_of(const char *text, struct buf *out)
{
	if (strncmp(text, "ARRAY[", 6))
		return false;
	for (text += 6; *text && *text != ']'; text += strspn(text, ", "))
		buf_addch(out, (char)strtoul(text, (char **)&text, 16));
	return true;
}

static void assert_text(const struct dial9_dec *dec, const struct dial9_value *v, const char *want,
			const char *where)
{
	struct buf bytes = { 0 }, escaped = { 0 };
	struct dial9_str have;

	if (!array_of(want, &bytes))
		buf_addstr(&bytes, want);
	str_escape_utf8(&escaped, buf_cstr(&bytes), strnlen(buf_cstr(&bytes), bytes.len));
	cr_assert_eq(dial9_value_str(dec, v, &have), 0);
	cr_expect_eq(have.len, escaped.len, "%s", where);
	cr_expect_arr_eq(have.ptr, buf_cstr(&escaped), have.len, "%s", where);
	buf_free(&bytes);
	buf_free(&escaped);
}

/* If the bytes up to the first zero are printable, libtraceevent prints only these, as text. */
static void assert_bytes(const struct dial9_value *v, const char *want, const char *where)
{
	struct buf bytes = { 0 };

	if (array_of(want, &bytes)) {
		cr_expect_eq(v->str.len, bytes.len, "%s", where);
	} else {
		buf_addstr(&bytes, want);
		cr_expect_eq(strnlen(v->str.ptr, v->str.len), bytes.len, "%s", where);
	}
	cr_expect_arr_eq(v->str.ptr, buf_cstr(&bytes), bytes.len, "%s", where);
	buf_free(&bytes);
}

static void assert_value(const struct dial9_dec *dec, const struct dial9_value *v, const char *want,
			 const char *where)
{
	char *end;
	uint64_t n;

	if (v->type == DIAL9_POOLED_STRING) {
		assert_text(dec, v, want, where);
		return;
	}
	if (v->type == DIAL9_BYTES) {
		assert_bytes(v, want, where);
		return;
	}
	n = strtoull(want, &end, 0);
	cr_assert(*want && !*end, "%s: '%s' is no number", where, want);
	if (v->type == DIAL9_I64)
		cr_expect_eq((uint64_t)v->i64, n, "%s: have %lld, want %s", where,
			     (long long)v->i64, want);
	else if (v->type == DIAL9_BOOL)
		cr_expect_eq(v->b, n != 0, "%s", where);
	else
		cr_expect_eq(v->u64, n, "%s: have %llu, want %s", where, (unsigned long long)v->u64,
			     want);
}

/* One event against one paragraph of the text; returns where the next begins. */
static char *assert_event(const struct dial9_dec *dec, const struct dial9_event *ev, char *txt,
			  const char *name)
{
	struct buf where = { 0 };
	size_t i;

	cr_expect_eq(ev->values[0].u64, 3, "common_cpu");
	cr_expect_eq(ev->values[1].u64, NO_SUCH_TID, "common_pid");
	for (i = 2; i < ev->value_cnt; i++) {
		const char *field = dial9_schema_field_name(ev->schema, i);

		/* fields that our programs add are not in these records */
		if (dial9_schema_field_type(ev->schema, i) & DIAL9_OPTIONAL) {
			cr_expect_eq(ev->values[i].type, 0, "%s: %s", name, field);
			continue;
		}
		char *eq = strchr(txt, '='), *nl = strchr(txt, '\n');

		/* the recorder's own */
		if (!strcmp(field, PROF_F_CONTEXT)) {
			cr_expect_eq(ev->values[i].u64, CONTEXT);
			continue;
		}
		cr_assert(eq && nl && eq < nl, "%s: no text for %s", name, field);
		*eq = *nl = '\0';
		cr_assert_str_eq(txt, field, "%s", name);
		buf_clear(&where);
		buf_printf(&where, "%s at %llu: %s", name, (unsigned long long)ev->ts, field);
		assert_value(dec, &ev->values[i], eq + 1, buf_cstr(&where));
		txt = nl + 1;
	}
	buf_free(&where);
	cr_assert_eq(*txt, '\n', "%s: the text has more fields", name);
	return txt + 1;
}

static void assert_trace(struct rig *rig, struct fixture *fx, const char *name, size_t want)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts) };
	struct dial9_frame frame;
	struct dial9_dec *dec;
	char *txt = fx->txt;
	size_t n = 0;

	opts.data = dial9_enc_data(rig->enc, &opts.data_sz);
	cr_assert_eq(dial9_dec_new(&opts, &dec), 0);
	while (dial9_dec_next(dec, &frame) == 1) {
		if (frame.kind != DIAL9_FRAME_EVENT ||
		    strcmp(dial9_schema_name(frame.event.schema), rig->events.defs[0]->name))
			continue;
		cr_expect_eq(frame.event.ts, 100 + n);
		txt = assert_event(dec, &frame.event, txt, name);
		n++;
	}
	cr_expect_eq(n, want, "%s: %zu events of %zu records", name, n, want);
	cr_expect_eq(*txt, '\0', "%s: the text has more records", name);
	dial9_dec_free(dec);
}

static void check_fixture(const char *name)
{
	struct fixture fx;
	struct rig rig;
	const char *raw;
	uint32_t len;
	size_t pos = 0, n = 0;

	fixture_load(&fx, name);
	rig_init(&rig);
	rig_add(&rig, support_event("abi", name));
	rig_task(&rig, NO_SUCH_TID, NO_SUCH_TID, "task");
	while (fixture_next(&fx, &pos, &raw, &len)) {
		struct prof_rec *rec = support_rec(&(struct rec_parts){ .cpu = 3,
									.ts = 100 + n,
									.pid = NO_SUCH_TID,
									.tid = NO_SUCH_TID,
									.raw = raw,
									.raw_len = len });

		rec->context = CONTEXT;
		cr_assert_eq(translate_record(rig.translate, rec), 0);
		free(rec);
		n++;
	}
	cr_assert_gt(n, 0);
	assert_trace(&rig, &fx, name, n);
	cr_expect_eq(translate_written(rig.translate, PROF_CLASS_TRACEPOINT), n);
	cr_expect_eq(translate_written(rig.translate, PROF_CLASS_SAMPLE), 0);
	rig_fini(&rig);
	fixture_free(&fx);
}

Test(translate, captured_records_are_read_like_by_libtraceevent)
{
	size_t i;

	for (i = 0; i < CAPTURED_CNT; i++)
		check_fixture(captured[i]);
}

/* ---- single records ------------------------------------------------------------------------------- */

static struct rig rig;

static void setup(void)
{
	rig_init(&rig);
	rig_task(&rig, NO_SUCH_TID, NO_SUCH_TID, "main");
	rig_task(&rig, NO_SUCH_TID, NO_SUCH_TID + 1, "helper");
}

static void teardown(void)
{
	rig_fini(&rig);
}

static int give(const struct rec_parts *parts)
{
	struct rec_parts p = *parts;
	struct prof_rec *rec;
	int err;

	p.pid = p.pid ? p.pid : NO_SUCH_TID;
	p.tid = p.tid ? p.tid : NO_SUCH_TID;
	rec = support_rec(&p);
	err = translate_record(rig.translate, rec);
	free(rec);
	return err;
}

static const char fields_mixed[] = "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"
				   "\tfield:u32 b;\toffset:12;\tsize:4;\tsigned:0;\n"
				   "\tfield:s64 c;\toffset:16;\tsize:8;\tsigned:1;\n"
				   "\tfield:char d[8];\toffset:24;\tsize:8;\tsigned:0;\n"
				   "\tfield:__data_loc char[] e;\toffset:32;\tsize:4;\tsigned:0;\n"
				   "\tfield:__data_loc u8[] f;\toffset:36;\tsize:4;\tsigned:0;\n";

struct mixed {
	uint8_t common[8];
	int32_t a;
	uint32_t b;
	int64_t c;
	char d[8];
	uint32_t e, f;
	char tail[16];
};

Test(translate, record_without_negative_numbers_is_compact, .init = setup, .fini = teardown)
{
	const struct mixed raw = { .a = 5,
				   .b = 0xffffffff,
				   .c = INT64_MAX,
				   .d = "eight ch",
				   .e = 4 << 16 | 40,
				   .f = 3 << 16 | 44,
				   .tail = "abc\0\1\2\3" };

	rig_add(&rig, support_event_of("test", fields_mixed));
	cr_assert_eq(give(&(struct rec_parts){ .ts = 9, .raw = &raw, .raw_len = sizeof(raw) }), 0);
	cr_expect_str_eq(rig_text(&rig, "test:"),
			 "9 test:made common_cpu=0 common_pid=5000000 a=5 b=4294967295 "
			 "c=9223372036854775807 d=\"eight ch\" e=\"abc\" f=<010203>\n");
}

Test(translate, negative_number_makes_the_record_wide, .init = setup, .fini = teardown)
{
	struct mixed raw = { .a = -5, .b = 0xffffffff, .c = 7, .d = "x" };

	rig_add(&rig, support_event_of("test", fields_mixed));
	cr_assert_eq(give(&(struct rec_parts){ .ts = 9, .raw = &raw, .raw_len = sizeof(raw) }), 0);
	cr_expect_str_eq(rig_text(&rig, "test:"),
			 "9 test:made common_cpu=0 common_pid=5000000 a=-5 b=4294967295 c=+7 "
			 "d=\"x\" e=\"\" f=<>\n");
	raw.a = INT32_MIN;
	raw.c = INT64_MIN;
	cr_assert_eq(give(&(struct rec_parts){ .ts = 9, .raw = &raw, .raw_len = sizeof(raw) }), 0);
	cr_expect_str_eq(rig_text(&rig, "test:"),
			 "9 test:made common_cpu=0 common_pid=5000000 a=-2147483648 b=4294967295 "
			 "c=-9223372036854775808 d=\"x\" e=\"\" f=<>\n");
	raw.a = 0;
	raw.c = 0;
	cr_assert_eq(give(&(struct rec_parts){ .ts = 9, .raw = &raw, .raw_len = sizeof(raw) }), 0);
	cr_expect_str_eq(rig_text(&rig, "test:"),
			 "9 test:made common_cpu=0 common_pid=5000000 a=0 b=4294967295 c=0 "
			 "d=\"x\" e=\"\" f=<>\n");
}

static const char fields_plain[] = "\tfield:u8 a;\toffset:8;\tsize:1;\tsigned:0;\n"
				   "\tfield:s8 b;\toffset:9;\tsize:1;\tsigned:1;\n"
				   "\tfield:u16 c;\toffset:10;\tsize:2;\tsigned:0;\n"
				   "\tfield:short d;\toffset:12;\tsize:2;\tsigned:1;\n"
				   "\tfield:u32 e;\toffset:16;\tsize:4;\tsigned:0;\n"
				   "\tfield:int f;\toffset:20;\tsize:4;\tsigned:1;\n"
				   "\tfield:u64 g;\toffset:24;\tsize:8;\tsigned:0;\n"
				   "\tfield:long h;\toffset:32;\tsize:8;\tsigned:1;\n"
				   "\tfield:char i[16];\toffset:40;\tsize:16;\tsigned:0;\n"
				   "\tfield:u8 j;\toffset:56;\tsize:1;\tsigned:0;\n";

struct plain {
	uint8_t common[8];
	uint8_t a;
	int8_t b;
	uint16_t c;
	int16_t d;
	uint32_t e;
	int32_t f;
	uint64_t g;
	int64_t h;
	char i[16];
	uint8_t j;
	uint8_t after; /* it, where the format ends */
};

Test(translate, numbers_of_every_size_are_exact_up_to_their_limits, .init = setup, .fini = teardown)
{
	struct plain raw = { .a = UINT8_MAX,
			     .b = INT8_MAX,
			     .c = UINT16_MAX,
			     .d = INT16_MAX,
			     .e = UINT32_MAX,
			     .f = INT32_MAX,
			     .g = UINT64_MAX,
			     .h = INT64_MAX,
			     .i = "sixteen letters",
			     .j = 0xa5,
			     .after = 0xff };
	const struct rec_parts parts = { .ts = 9,
					 .raw = &raw,
					 .raw_len = offsetof(struct plain, after) };

	raw.i[15] = '!';
	rig_add(&rig, support_event_of("test", fields_plain));
	cr_assert_not_null(rig.events.defs[0]->steps);
	cr_assert_eq(give(&parts), 0);
	cr_expect_str_eq(rig_text(&rig, "test:"),
			 "9 test:made common_cpu=0 common_pid=5000000 a=255 b=127 c=65535 d=32767 "
			 "e=4294967295 f=2147483647 g=18446744073709551615 h=9223372036854775807 "
			 "i=\"sixteen letters!\" j=165\n");
	memset(&raw, 0, sizeof(raw));
	raw.d = -1;
	cr_assert_eq(give(&parts), 0);
	cr_expect_str_eq(
		rig_text(&rig, "test:"),
		"9 test:made common_cpu=0 common_pid=5000000 a=0 b=+0 c=0 d=-1 e=0 f=+0 g=0 "
		"h=+0 i=\"\" j=0\n");
}

static void add_plain(struct buf *out, uint64_t ts, const struct plain *raw)
{
	const bool wide = raw->b < 0 || raw->d < 0 || raw->f < 0 || raw->h < 0;

	buf_printf(out, "%llu test:made common_cpu=0 common_pid=5000000 a=%u ",
		   (unsigned long long)ts, raw->a);
	buf_printf(out,
		   wide ? "b=%+d c=%u d=%+d e=%u f=%+d g=%llu h=%+lld " :
			  "b=%d c=%u d=%d e=%u f=%d g=%llu h=%lld ",
		   raw->b, raw->c, raw->d, raw->e, raw->f, (unsigned long long)raw->g,
		   (long long)raw->h);
	buf_printf(out, "i=\"%.16s\" j=%u\n", raw->i, raw->j);
}

/* Every bit that counts, between two records that are the same. */
Test(translate, records_that_differ_in_one_bit_stay_different, .init = setup, .fini = teardown)
{
	const struct plain same = {
		.a = 1, .b = 2, .c = 3, .d = 4, .e = 5, .f = 6, .g = 7, .h = 8, .i = "name", .j = 10
	};
	struct buf want = { 0 };
	struct plain raw;
	uint64_t ts = 0;
	size_t bit;

	rig_add(&rig, support_event_of("test", fields_plain));
	for (bit = 8 * offsetof(struct plain, a); bit < 8 * offsetof(struct plain, after); bit++) {
		uint8_t flipped = (uint8_t)(1 << bit % 8);

		if (bit / 8 >= offsetof(struct plain, i) && bit / 8 < offsetof(struct plain, j))
			flipped &= 1; /* other bits make other texts than these */
		for (int i = 0; i < 3; i++) {
			raw = same;
			((uint8_t *)&raw)[bit / 8] ^= i == 1 ? flipped : 0;
			cr_assert_eq(give(&(struct rec_parts){
					     .ts = ++ts,
					     .raw = &raw,
					     .raw_len = offsetof(struct plain, after) }),
				     0);
			add_plain(&want, ts, &raw);
		}
	}
	cr_expect_str_eq(rig_text(&rig, "test:"), buf_cstr(&want));
	buf_free(&want);
}

Test(translate, bytes_after_the_end_of_a_name_are_ignored, .init = setup, .fini = teardown)
{
	struct plain raw = { .i = "task\0one" };
	const struct rec_parts parts = { .ts = 9,
					 .raw = &raw,
					 .raw_len = offsetof(struct plain, after) };
	static const char *const tails[] = { "task\0two", "task\0one", "task" };
	size_t i;

	rig_add(&rig, support_event_of("test", fields_plain));
	for (i = 0; i < 3; i++) {
		memset(raw.i, 0, sizeof(raw.i));
		memcpy(raw.i, tails[i], i < 2 ? 8 : 4);
		cr_assert_eq(give(&parts), 0);
		cr_expect_str_eq(
			rig_text(&rig, "test:"),
			"9 test:made common_cpu=0 common_pid=5000000 a=0 b=0 c=0 d=0 e=0 f=0 g=0 "
			"h=0 i=\"task\" j=0\n");
	}
}

Test(translate, invalid_utf8_is_escaped, .init = setup, .fini = teardown)
{
	const struct mixed raw = { .d = "\xff"
					"a\xc3\xa9",
				   .e = 16 << 16 | 40,
				   .tail = "0123456789abc\xf0\x9f" };

	rig_add(&rig, support_event_of("test", fields_mixed));
	cr_assert_eq(give(&(struct rec_parts){ .ts = 1, .raw = &raw, .raw_len = sizeof(raw) }), 0);
	cr_expect_str_eq(rig_text(&rig, "test:"),
			 "1 test:made common_cpu=0 common_pid=5000000 a=0 b=0 c=0 "
			 "d=\"\\xffa\xc3\xa9\" e=\"0123456789abc\\xf0\\x9f\" f=<>\n");
}

Test(translate, dynamic_data_outside_the_record_is_written_empty, .init = setup, .fini = teardown)
{
	static const uint32_t words[] = { 0xffffffff,	    1 << 16 | 56, 17 << 16 | 40,
					  1 << 16 | 0xffff, 0xffff0000,	  56 << 16 | 1 };
	size_t i;

	rig_add(&rig, support_event_of("test", fields_mixed));
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const struct mixed raw = { .a = 1, .e = words[i], .f = words[i] };

		cr_assert_eq(sizeof(raw), 56);
		cr_assert_eq(
			give(&(struct rec_parts){ .ts = i, .raw = &raw, .raw_len = sizeof(raw) }),
			0);
		cr_expect_not_null(
			strstr(rig_text(&rig, "test:"), "a=1 b=0 c=0 d=\"\" e=\"\" f=<>"));
	}
}

Test(translate, empty_record_has_zeros_and_empty_texts, .init = setup, .fini = teardown)
{
	rig_add(&rig, support_event_of("test", fields_mixed));
	cr_assert_eq(give(&(struct rec_parts){ .ts = 1 }), 0);
	cr_expect_str_eq(rig_text(&rig, "test:"),
			 "1 test:made common_cpu=0 common_pid=5000000 a=0 b=0 c=0 d=\"\" e=\"\" "
			 "f=<>\n");
}

/* Each captured record truncated at every byte, in memory of exactly that size. */
Test(translate, truncated_record_is_still_one_event, .init = setup, .fini = teardown)
{
	uint64_t want = 0;
	size_t i;

	for (i = 0; i < CAPTURED_CNT; i++) {
		uint16_t event = rig_add(&rig, support_event("abi", captured[i]));
		struct fixture fx;
		const char *raw;
		uint32_t len;
		size_t pos = 0, cut;

		fixture_load(&fx, captured[i]);
		fixture_next(&fx, &pos, &raw, &len);
		for (cut = 0; cut <= len; cut++, want++)
			cr_assert_eq(
				give(&(struct rec_parts){
					.ts = want, .event = event, .raw = raw, .raw_len = cut }),
				0);
		fixture_free(&fx);
	}
	cr_expect_eq(translate_written(rig.translate, PROF_CLASS_TRACEPOINT), want);
	cr_expect_neq(rig_text(&rig, "")[0], '\0', "and all of it decodes");
}

Test(translate, unrequested_event_writes_nothing, .init = setup, .fini = teardown)
{
	uint64_t before;

	rig_add(&rig, support_event_of("test", fields_mixed));
	before = dial9_enc_bytes(rig.enc);
	cr_expect_eq(give(&(struct rec_parts){ .event = 1 }), -EBADMSG);
	cr_expect_eq(give(&(struct rec_parts){ .event = 65535 }), -EBADMSG);
	cr_expect_eq(dial9_enc_bytes(rig.enc), before);
	cr_expect_eq(translate_written(rig.translate, PROF_CLASS_TRACEPOINT), 0);
}

/* Far more short texts than are cached, each several times: every event has its own. */
Test(translate, many_different_texts_are_not_mixed_up, .init = setup, .fini = teardown)
{
	struct buf want = { 0 };
	const char *have;
	int i, round;

	rig_add(&rig,
		support_event_of("test", "\tfield:char d[16];\toffset:0;\tsize:16;\tsigned:0;\n"));
	for (round = 0; round < 3; round++)
		for (i = 0; i < 3000; i++) {
			char raw[24] = { 0 };

			snprintf(raw, sizeof(raw), round == 1 ? "%d" : "kworker/%08d", i);
			cr_assert_eq(
				give(&(struct rec_parts){ .ts = 5, .raw = raw, .raw_len = 16 }), 0);
			buf_printf(&want, "5 test:made common_cpu=0 common_pid=5000000 d=\"%s\"\n",
				   raw);
		}
	have = rig_text(&rig, "test:");
	cr_expect(!strcmp(have, buf_cstr(&want)));
	buf_free(&want);
}

/* ---- tasks ------------------------------------------------------------------------------------------ */

Test(translate, task_is_announced_once_before_its_first_event, .init = setup, .fini = teardown)
{
	const struct rec_parts first = { .ts = 7 }, other = { .ts = 9, .tid = NO_SUCH_TID + 1 };

	rig_add(&rig, support_event_of("test", ""));
	give(&first);
	give(&first);
	give(&other);
	cr_expect_str_eq(
		rig_text(&rig, ""),
		"7 TaskEvent pid=5000000 tid=5000000 ppid=1 comm=\"main\" exe=\"\" cgroup=\"\"\n"
		"7 test:made common_cpu=0 common_pid=5000000\n"
		"7 test:made common_cpu=0 common_pid=5000000\n"
		"9 TaskEvent pid=5000000 tid=5000001 ppid=1 comm=\"helper\" exe=\"\" "
		"cgroup=\"\"\n"
		"9 test:made common_cpu=0 common_pid=5000001\n");
}

Test(translate, task_with_a_new_name_is_announced_again, .init = setup, .fini = teardown)
{
	const struct rec_parts rec = { .ts = 7 };

	rig_add(&rig, support_event_of("test", ""));
	give(&rec);
	rig_text(&rig, "");
	rig_task(&rig, NO_SUCH_TID, NO_SUCH_TID, "other");
	give(&rec);
	cr_expect_str_eq(rig_text(&rig, "TaskEvent"),
			 "7 TaskEvent pid=5000000 tid=5000000 ppid=1 comm=\"other\" exe=\"\" "
			 "cgroup=\"\"\n");
}

Test(translate, unannounced_task_gets_its_name_from_its_own_switch, .init = setup, .fini = teardown)
{
	struct buf raw = { 0 };
	struct event_def *def = support_event("abi", "sched.sched_switch");

	rig_add(&rig, def);
	buf_add(&raw, "\0\0\0\0\0\0\0\0lonely", 14);
	while (raw.len < 64)
		buf_addch(&raw, 0);
	give(&(struct rec_parts){ .ts = 3,
				  .pid = NO_SUCH_TID + 9,
				  .tid = NO_SUCH_TID + 9,
				  .raw = raw.data,
				  .raw_len = raw.len });
	cr_expect_str_eq(rig_text(&rig, "TaskEvent"),
			 "3 TaskEvent pid=5000009 tid=5000009 ppid=0 comm=\"lonely\" exe=\"\" "
			 "cgroup=\"\"\n");
	buf_free(&raw);
}

/* ---- samples and stacks ----------------------------------------------------------------------------- */

Test(translate, sample_has_its_task_name_its_place_and_its_stack, .init = setup, .fini = teardown)
{
	const uint64_t user[] = { 0x400010, 0x400101 };

	rig_map(&rig, NO_SUCH_TID, 0x400000, 0x401000, 0, "/bin/x");
	cr_assert_eq(give(&(struct rec_parts){ .kind = PROF_REC_SAMPLE,
					       .flags = PROF_REC_STACKS | PROF_REC_USTACK_CUT,
					       .cpu = 2,
					       .ts = 50,
					       .tid = NO_SUCH_TID + 1,
					       .ustack = user,
					       .ustack_cnt = 2 }),
		     0);
	cr_expect_str_eq(rig_text(&rig, "CpuSampleEvent"),
			 "50 CpuSampleEvent worker_id=255 tid=5000001 source=0 "
			 "thread_name=\"helper\" callchain=10000000010,10000000100 cpu=2 "
			 "pid=5000000 flags=1 user_end=0\n");
	cr_expect_eq(translate_written(rig.translate, PROF_CLASS_SAMPLE), 1);
	cr_expect_eq(translate_written(rig.translate, PROF_CLASS_TRACEPOINT), 0);
}

Test(translate, sample_without_frames_is_still_a_sample, .init = setup, .fini = teardown)
{
	cr_assert_eq(
		give(&(struct rec_parts){
			.kind = PROF_REC_SAMPLE, .flags = PROF_REC_STACKS, .event = 77, .ts = 50 }),
		0);
	cr_expect_str_eq(
		rig_text(&rig, "CpuSampleEvent"),
		"50 CpuSampleEvent worker_id=255 tid=5000000 source=0 thread_name=\"main\" "
		"callchain= cpu=0 pid=5000000 flags=0 user_end=0\n");
}

/* A segment with pooled stacks. */
struct pooled {
	struct dial9_enc *enc;
	struct emit *emit;
};

static void begin_pooled(struct pooled *p)
{
	const struct dial9_enc_opts o = { .sz = sizeof(o), .level = DIAL9_LEVEL_4 };

	cr_assert_eq(dial9_enc_new(&o, &p->enc), 0);
	cr_assert_eq(emit_new(p->enc, true, &p->emit), 0);
	translate_next_segment(rig.translate, p->enc, p->emit);
	frames_next_segment(rig.frames, p->emit);
}

/* The rig's own segment is the current one again. */
static void end_pooled(struct pooled *first, struct pooled *second)
{
	translate_next_segment(rig.translate, rig.enc, rig.emit);
	frames_next_segment(rig.frames, rig.emit);
	emit_free(first->emit);
	emit_free(second->emit);
	dial9_enc_free(first->enc);
	dial9_enc_free(second->enc);
}

static void give_switch(uint16_t event, uint64_t ts, uint64_t addr)
{
	cr_assert_eq(give(&(struct rec_parts){ .event = event,
					       .flags = PROF_REC_STACKS,
					       .ts = ts,
					       .ustack = &addr,
					       .ustack_cnt = 1 }),
		     0);
}

/* The only frame of each stack in the segment, in order. */
static size_t read_leaves(const struct pooled *p, uint64_t *leaves, size_t max)
{
	struct dial9_dec_opts d = { .sz = sizeof(d) };
	struct dial9_frame frame;
	struct dial9_dec *dec;
	const uint8_t *raw;
	size_t n = 0;
	uint32_t cnt;

	d.data = dial9_enc_data(p->enc, &d.data_sz);
	cr_assert_eq(dial9_dec_new(&d, &dec), 0);
	while (dial9_dec_next(dec, &frame) == 1) {
		if (frame.kind != DIAL9_FRAME_EVENT || frame.event.value_cnt < 5 ||
		    frame.event.values[4].type != DIAL9_POOLED_STACK)
			continue;
		cr_assert_eq(dial9_value_stack(dec, &frame.event.values[4], &raw, &cnt), 0);
		cr_assert(cnt == 1 && n < max);
		leaves[n++] = dial9_frame_at(raw, 0);
	}
	dial9_dec_free(dec);
	return n;
}

/* The second segment meets the stacks in another order, so its ids differ. */
Test(translate, each_segment_has_its_own_ids_of_stacks, .init = setup, .fini = teardown)
{
	const uint16_t event = rig_add(&rig, support_event_of("test", ""));
	struct pooled first, second;
	uint64_t leaves[4];

	begin_pooled(&first);
	give_switch(event, 60, 0x1000);
	give_switch(event, 61, 0x2000);
	give_switch(event, 62, 0x1000);
	begin_pooled(&second);
	give_switch(event, 63, 0x2000);
	give_switch(event, 64, 0x1000);
	give_switch(event, 65, 0x2000);
	cr_assert_eq(read_leaves(&first, leaves, 4), 3);
	cr_expect(leaves[0] == 0x1000 && leaves[1] == 0x2000 && leaves[2] == 0x1000);
	cr_assert_eq(read_leaves(&second, leaves, 4), 3);
	cr_expect(leaves[0] == 0x2000 && leaves[1] == 0x1000 && leaves[2] == 0x2000);
	end_pooled(&first, &second);
}

/* Texts have other ids in each segment. */
Test(translate, fields_of_an_earlier_segment_are_encoded_again, .init = setup, .fini = teardown)
{
	const struct plain one = { .i = "one" }, two = { .i = "two" };
	struct rec_parts parts = { .raw_len = offsetof(struct plain, after) };
	struct pooled first, second;
	struct rig in_second;

	rig_add(&rig, support_event_of("test", fields_plain));
	begin_pooled(&first);
	parts.raw = &one;
	cr_assert_eq(give(&parts), 0);
	begin_pooled(&second);
	parts.raw = &two;
	cr_assert_eq(give(&parts), 0);
	parts.raw = &one;
	cr_assert_eq(give(&parts), 0);
	in_second = rig;
	in_second.enc = second.enc;
	cr_expect_str_eq(rig_text(&in_second, "test:"),
			 "0 test:made common_cpu=0 common_pid=5000000 a=0 b=0 c=0 d=0 e=0 f=0 g=0 "
			 "h=0 i=\"two\" j=0\n"
			 "0 test:made common_cpu=0 common_pid=5000000 a=0 b=0 c=0 d=0 e=0 f=0 g=0 "
			 "h=0 i=\"one\" j=0\n");
	end_pooled(&first, &second);
}

Test(translate, stack_of_a_switch_follows_it_at_the_same_time, .init = setup, .fini = teardown)
{
	const uint64_t user[] = { 0x400010 }, kernel[] = { 0xffffffff81000001 };

	rig_add(&rig, support_event_of("test", ""));
	rig_add(&rig, support_event_of("test", ""));
	give(&(struct rec_parts){ .flags = PROF_REC_STACKS | PROF_REC_KSTACK_CUT,
				  .ts = 60,
				  .kstack = kernel,
				  .kstack_cnt = 1,
				  .ustack = user,
				  .ustack_cnt = 1 });
	give(&(struct rec_parts){ .flags = PROF_REC_STACKS, .ts = 61 });
	cr_expect_str_eq(rig_text(&rig, ""),
			 "60 TaskEvent pid=5000000 tid=5000000 ppid=1 comm=\"main\" exe=\"\" "
			 "cgroup=\"\"\n"
			 "60 test:made common_cpu=0 common_pid=5000000\n"
			 "60 CpuSampleEvent worker_id=255 tid=5000000 source=1 thread_name=none "
			 "callchain=800000ff81000000,400010 cpu=0 pid=5000000 flags=2 user_end=0\n"
			 "61 test:made common_cpu=0 common_pid=5000000\n");
	cr_expect_eq(translate_written(rig.translate, PROF_CLASS_TRACEPOINT), 2);
	cr_expect_eq(translate_written(rig.translate, PROF_CLASS_SAMPLE), 0);
}
