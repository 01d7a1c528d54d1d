// SPDX-License-Identifier: BSD-2-Clause
/* From a tracepoint's format to the table of offsets, the two schemas and the values for BPF. */
#include "record/tracepoint/event.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "dial9.h"
#include "kernel/tracefs/format.h"
#include "tests/record/support.h"

static const struct event_field *field(const struct event_def *def, const char *name)
{
	size_t i;

	for (i = 0; i < def->field_cnt; i++)
		if (!strcmp(def->format->fields[i].name, name))
			return &def->fields[i];
	cr_assert_fail("no field %s", name);
	return NULL;
}

/* "common_cpu:9 ..." with the types' wire numbers. */
static const char *schema_text(const struct dial9_schema *s)
{
	static struct buf out;
	size_t i;

	buf_clear(&out);
	for (i = 0; i < dial9_schema_field_cnt(s); i++)
		buf_printf(&out, "%s%s:%u", i ? " " : "", dial9_schema_field_name(s, i),
			   dial9_schema_field_type(s, i));
	return buf_cstr(&out);
}

Test(event, switch_has_a_compact_and_a_wide_schema_with_one_name)
{
	struct event_def *def = support_event("abi", "sched.sched_switch");

	cr_expect_str_eq(def->name, "sched:sched_switch");
	cr_expect_str_eq(dial9_schema_name(def->compact), "sched:sched_switch");
	cr_expect_str_eq(dial9_schema_name(def->wide), "sched:sched_switch");
	cr_expect(dial9_schema_has_timestamp(def->compact));
	cr_expect(dial9_schema_has_timestamp(def->wide));
	cr_expect_str_eq(schema_text(def->compact),
			 "common_cpu:9 common_pid:9 prev_comm:7 prev_pid:9 prev_prio:9 "
			 "prev_state:9 next_comm:7 next_pid:9 next_prio:9");
	cr_expect_str_eq(schema_text(def->wide),
			 "common_cpu:9 common_pid:9 prev_comm:7 prev_pid:1 prev_prio:1 "
			 "prev_state:1 next_comm:7 next_pid:1 next_prio:1");
	event_def_free(def);
}

Test(event, unsigned_fields_need_no_second_schema)
{
	struct event_def *def = support_event("format", "irq.softirq_raise");

	cr_expect_str_eq(schema_text(def->compact), "common_cpu:9 common_pid:9 vec:13");
	cr_expect_null(def->wide);
	event_def_free(def);
}

static const char every_kind[] = "\tfield:u8 a;\toffset:8;\tsize:1;\tsigned:0;\n"
				 "\tfield:s8 b;\toffset:9;\tsize:1;\tsigned:1;\n"
				 "\tfield:u16 c;\toffset:10;\tsize:2;\tsigned:0;\n"
				 "\tfield:short d;\toffset:12;\tsize:2;\tsigned:1;\n"
				 "\tfield:bool e;\toffset:14;\tsize:1;\tsigned:0;\n"
				 "\tfield:u32 f;\toffset:16;\tsize:4;\tsigned:0;\n"
				 "\tfield:int g;\toffset:20;\tsize:4;\tsigned:1;\n"
				 "\tfield:u64 h;\toffset:24;\tsize:8;\tsigned:0;\n"
				 "\tfield:long i;\toffset:32;\tsize:8;\tsigned:1;\n"
				 "\tfield:void * j;\toffset:40;\tsize:8;\tsigned:0;\n"
				 "\tfield:char k[8];\toffset:48;\tsize:8;\tsigned:0;\n"
				 "\tfield:u16 l[4];\toffset:56;\tsize:8;\tsigned:0;\n"
				 "\tfield:__data_loc char[] m;\toffset:64;\tsize:4;\tsigned:0;\n"
				 "\tfield:__data_loc u32[] n;\toffset:68;\tsize:4;\tsigned:0;\n"
				 "\tfield:__rel_loc char[] o;\toffset:72;\tsize:4;\tsigned:0;\n"
				 "\tfield:__rel_loc u8[] p;\toffset:76;\tsize:4;\tsigned:0;\n";

Test(event, every_kind_of_field_gets_its_operation_and_its_types)
{
	struct event_def *def = support_event_of("test", every_kind);
	static const enum event_op ops[] = {
		EVENT_OP_U8,	 EVENT_OP_S8,	     EVENT_OP_U16,	  EVENT_OP_S16,
		EVENT_OP_BOOL,	 EVENT_OP_U32,	     EVENT_OP_S32,	  EVENT_OP_U64,
		EVENT_OP_S64,	 EVENT_OP_U64,	     EVENT_OP_CHARS,	  EVENT_OP_BYTES,
		EVENT_OP_STRING, EVENT_OP_DYN_BYTES, EVENT_OP_REL_STRING, EVENT_OP_REL_BYTES,
	};
	static const uint16_t offs[] = { 8,  9,	 10, 12, 14, 16, 20, 24,
					 32, 40, 48, 56, 64, 68, 72, 76 };
	size_t i;

	cr_assert_eq(def->field_cnt, sizeof(ops) / sizeof(ops[0]));
	for (i = 0; i < def->field_cnt; i++) {
		cr_expect_eq(def->fields[i].op, ops[i], "field %zu", i);
		cr_expect_eq(def->fields[i].off, offs[i], "field %zu", i);
	}
	cr_expect_str_eq(schema_text(def->compact),
			 "common_cpu:9 common_pid:9 a:11 b:9 c:12 d:9 e:3 f:13 g:9 h:9 i:9 j:9 k:7 "
			 "l:5 m:7 n:5 o:7 p:5");
	cr_expect_str_eq(schema_text(def->wide),
			 "common_cpu:9 common_pid:9 a:11 b:1 c:12 d:1 e:3 f:13 g:1 h:9 i:1 j:9 k:7 "
			 "l:5 m:7 n:5 o:7 p:5");
	event_def_free(def);
}

Test(event, task_numbers_and_names_at_fixed_offsets_are_read_by_steps)
{
	static const char *const by_steps[] = { "sched.sched_switch", "sched.sched_waking",
						"irq.softirq_raise" };
	static const char *const others[] = { "sched.sched_process_exec", "block.block_rq_issue",
					      "timer.hrtimer_start" };
	struct event_def *def;
	size_t i;

	for (i = 0; i < 3; i++) {
		def = support_event("abi", by_steps[i]);
		cr_expect_not_null(def->steps, "%s", by_steps[i]);
		event_def_free(def);
		def = support_event("abi", others[i]);
		cr_expect_null(def->steps, "%s", others[i]);
		event_def_free(def);
	}
}

Test(event, bpf_gets_the_end_of_the_record_and_the_fields_that_name_tasks)
{
	struct event_def *def = support_event("abi", "sched.sched_process_exec");

	/* filename is dynamic and last; pid and old_pid name tasks. */
	cr_expect_eq(def->cfg.type, def->format->id);
	cr_expect_eq(def->cfg.dyn_off, field(def, "filename")->off);
	cr_expect_eq(def->cfg.dyn_relative, 0);
	cr_expect_eq(def->cfg.pid_cnt, 2);
	cr_expect_eq(def->cfg.pid_off[0], field(def, "pid")->off);
	cr_expect_eq(def->cfg.pid_off[1], field(def, "old_pid")->off);
	event_def_free(def);

	def = support_event("abi", "sched.sched_switch");
	cr_expect_eq(def->cfg.size, 64);
	cr_expect_eq(def->cfg.dyn_off, 0);
	cr_expect_eq(def->cfg.pid_cnt, 2);
	cr_expect_eq(def->cfg.pid_off[0], field(def, "prev_pid")->off);
	cr_expect_eq(def->cfg.pid_off[1], field(def, "next_pid")->off);
	event_def_free(def);

	def = support_event_of("test",
			       "\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;\n"
			       "\tfield:__rel_loc u8[] y;\toffset:12;\tsize:4;\tsigned:0;\n");
	cr_expect_eq(def->cfg.dyn_off, 12);
	cr_expect_eq(def->cfg.dyn_relative, 1);
	event_def_free(def);
}

Test(event, field_with_an_odd_size_is_an_error_that_names_it)
{
	struct format_event *format = calloc(1, sizeof(*format));
	struct event_def *def = NULL;
	const char *output;
	int err;

	format->system = strdup("test");
	format->name = strdup("odd");
	format->fields = calloc(1, sizeof(*format->fields));
	format->cnt = 1;
	format->last_dyn = -1;
	format->fields[0].name = strdup("three");
	format->fields[0].size = 3;
	format->fields[0].kind = FORMAT_UINT;
	support_catch_stderr();
	err = event_def_new(format, &def);
	output = support_stderr();
	cr_expect_eq(err, -ENOTSUP);
	cr_expect_null(def);
	cr_expect_str_eq(output,
			 "dial9-prof: cannot record test:odd: its field 'three' has 3 bytes, "
			 "which no dial9 type holds\n");
}

Test(event, numbers_keep_their_sign_at_every_size)
{
	static const struct {
		enum event_op op;
		uint16_t size;
		int64_t all_ones;
	} cases[] = {
		{ EVENT_OP_U8, 1, 0xff },	 { EVENT_OP_U16, 2, 0xffff },
		{ EVENT_OP_U32, 4, 0xffffffff }, { EVENT_OP_U64, 8, -1 },
		{ EVENT_OP_S8, 1, -1 },		 { EVENT_OP_S16, 2, -1 },
		{ EVENT_OP_S32, 4, -1 },	 { EVENT_OP_S64, 8, -1 },
		{ EVENT_OP_BOOL, 1, 0xff },
	};
	uint8_t raw[16];
	size_t i;

	memset(raw, 0xff, sizeof(raw));
	raw[0] = 0;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_field f = { .off = 1, .size = cases[i].size, .op = cases[i].op };

		cr_expect_eq(event_field_int(&f, raw, sizeof(raw)), cases[i].all_ones, "case %zu",
			     i);
		cr_expect_eq(event_field_int(&f, raw, 1 + f.size), cases[i].all_ones, "case %zu",
			     i);
		cr_expect_eq(event_field_int(&f, raw, f.size), 0, "case %zu: one byte short", i);
	}
}

Test(event, little_endian_bytes_are_read_in_order)
{
	static const uint8_t raw[] = { 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x88 };
	struct event_field f = { .size = 8, .op = EVENT_OP_U64 };

	cr_expect_eq((uint64_t)event_field_int(&f, raw, 8), 0x8807060504030201);
	f = (struct event_field){ .off = 6, .size = 2, .op = EVENT_OP_S16 };
	cr_expect_eq(event_field_int(&f, raw, 8), (int16_t)0x8807);
}

static uint32_t loc(uint32_t off, uint32_t len)
{
	return len << 16 | off;
}

Test(event, text_ends_before_its_first_nul_or_with_its_field)
{
	static const char raw[] = "abcd\0fgh";
	struct event_field f = { .size = 8, .op = EVENT_OP_CHARS };
	const uint8_t *data;
	size_t sz;

	cr_assert_eq(event_field_bytes(&f, (const uint8_t *)raw, 8, &data, &sz), 0);
	cr_expect_eq(sz, 4);
	f.size = 3;
	cr_assert_eq(event_field_bytes(&f, (const uint8_t *)raw, 8, &data, &sz), 0);
	cr_expect_eq(sz, 3);
	f = (struct event_field){ .size = 8, .op = EVENT_OP_BYTES };
	cr_assert_eq(event_field_bytes(&f, (const uint8_t *)raw, 8, &data, &sz), 0);
	cr_expect_eq(sz, 8, "bytes are no text");
}

Test(event, dynamic_bytes_are_found_from_the_record_or_from_the_end_of_the_word)
{
	uint8_t raw[32] = { 0 };
	struct event_field f = { .off = 8, .size = 4, .op = EVENT_OP_STRING };
	uint32_t word = loc(20, 5);
	const uint8_t *data;
	size_t sz;

	memcpy(raw + 20, "four", 5);
	memcpy(raw + 8, &word, 4);
	cr_assert_eq(event_field_bytes(&f, raw, sizeof(raw), &data, &sz), 0);
	cr_expect_eq(data, raw + 20);
	cr_expect_eq(sz, 4);
	word = loc(8, 5);
	memcpy(raw + 8, &word, 4);
	f.op = EVENT_OP_REL_STRING;
	cr_assert_eq(event_field_bytes(&f, raw, sizeof(raw), &data, &sz), 0);
	cr_expect_eq(data, raw + 8 + 4 + 8);
	cr_expect_eq(sz, 4);
	f.op = EVENT_OP_REL_BYTES;
	cr_assert_eq(event_field_bytes(&f, raw, sizeof(raw), &data, &sz), 0);
	cr_expect_eq(sz, 5);
}

/* Every combination of offset and length with every length of record, by the definition alone. */
Test(event, dynamic_bytes_outside_the_record_are_refused_and_all_inside_are_found)
{
	static const enum event_op ops[] = { EVENT_OP_DYN_BYTES, EVENT_OP_REL_BYTES };
	size_t o, len, off, n, sz;

	for (o = 0; o < 2; o++)
		for (len = 0; len <= 24; len++) {
			uint8_t *raw = calloc(1, len ? len : 1); /* exact size, for sanitizers */
			struct event_field f = { .off = 8, .size = 4, .op = ops[o] };

			for (off = 0; off <= 28; off++)
				for (n = 0; n <= 28; n++) {
					size_t at = off + (o ? 12 : 0);
					bool fits = len >= 12 && at + n <= len;
					const uint8_t *data = NULL;
					uint32_t word = loc(off, n);

					if (len >= 12)
						memcpy(raw + 8, &word, 4);
					cr_assert_eq(event_field_bytes(&f, raw, len, &data, &sz),
						     fits ? 0 : -EBADMSG);
					if (fits)
						cr_assert(data == raw + at && sz == n);
				}
			free(raw);
		}
}

Test(event, largest_offset_and_length_do_not_wrap)
{
	uint8_t raw[16] = { 0 };
	struct event_field f = { .off = 8, .size = 4, .op = EVENT_OP_STRING };
	uint32_t word = 0xffffffff;
	const uint8_t *data;
	size_t sz;

	memcpy(raw + 8, &word, 4);
	cr_expect_eq(event_field_bytes(&f, raw, sizeof(raw), &data, &sz), -EBADMSG);
	f.op = EVENT_OP_REL_STRING;
	cr_expect_eq(event_field_bytes(&f, raw, sizeof(raw), &data, &sz), -EBADMSG);
	f = (struct event_field){ .off = 65535, .size = 65535, .op = EVENT_OP_CHARS };
	cr_expect_eq(event_field_bytes(&f, raw, sizeof(raw), &data, &sz), -EBADMSG);
	cr_expect_eq(event_field_int(&(struct event_field){ .off = 65535, .size = 8 }, raw, 16), 0);
}

Test(event, dynamic_field_too_small_for_its_word_is_refused)
{
	uint8_t raw[16] = { 0 };
	struct event_field f = { .off = 8, .size = 2, .op = EVENT_OP_STRING };
	const uint8_t *data;
	size_t sz;

	cr_expect_eq(event_field_bytes(&f, raw, sizeof(raw), &data, &sz), -EBADMSG);
}
