// SPDX-License-Identifier: BSD-2-Clause
/* Own events as written by other versions and other programs. */
#include "trace/read/own_fields.h"

#include <criterion/criterion.h>

#include "dial9.h"

TestSuite(own_fields, .timeout = 60);

#define STR(s)                                                                                     \
	{                                                                                          \
		s, sizeof(s) - 1                                                                   \
	}

/* The event from a schema of @cnt fields. */
static uint64_t read_as(const char *name, const struct dial9_field *f, size_t cnt,
			const struct dial9_value *values, void *out)
{
	struct dial9_schema *schema;
	struct own_fields own;
	uint64_t filled;

	cr_assert_eq(dial9_schema_new(name, true, f, cnt, &schema), 0);
	own_fields_init(&own, schema);
	cr_assert_not_null(own.event);
	filled = own_fields_read(&own, NULL, values, out);
	own_fields_fini(&own);
	dial9_schema_free(schema);
	return filled;
}

Test(own_fields, fields_are_found_by_name_in_any_order)
{
	const struct dial9_field f[] = { { "comm", DIAL9_STRING },
					 { "from_the_future", DIAL9_VARINT },
					 { "tid", DIAL9_U32 },
					 { "pid", DIAL9_VARINT },
					 { "dial9:part", DIAL9_VARINT } };
	const struct dial9_value v[] = { { .type = DIAL9_STRING, .str = STR("name") },
					 { .type = DIAL9_VARINT, .u64 = 99 },
					 { .type = DIAL9_U32, .u64 = 12 },
					 { .type = DIAL9_VARINT, .u64 = 11 },
					 { .type = DIAL9_VARINT, .u64 = 1 } };
	struct own_task task = { .ppid = 77, .followed = 5 };
	const uint64_t filled = read_as("TaskEvent", f, 5, v, &task);

	cr_expect_eq(task.pid, 11);
	cr_expect_eq(task.tid, 12);
	cr_expect(task.comm.len == 4 && !memcmp(task.comm.ptr, "name", 4));
	cr_expect_eq(task.ppid, 77, "absent: as it was");
	cr_expect_eq(task.followed, 5);
	cr_expect_null(task.exe.ptr);
	cr_expect(OWN_HAS(filled, TASK, task, pid));
	cr_expect(OWN_HAS(filled, TASK, task, comm));
	cr_expect_not(OWN_HAS(filled, TASK, task, ppid));
	cr_expect_not(OWN_HAS(filled, TASK, task, exe));
}

Test(own_fields, values_that_a_member_cannot_hold_are_ignored)
{
	const struct dial9_field f[] = { { "pid", DIAL9_VARINT },
					 { "tid", DIAL9_STRING },
					 { "ppid", DIAL9_VARINT | DIAL9_OPTIONAL },
					 { "comm", DIAL9_VARINT },
					 { "followed", DIAL9_BOOL } };
	const struct dial9_value v[] = { { .type = DIAL9_VARINT, .u64 = 1ull << 32 },
					 { .type = DIAL9_STRING, .str = STR("1") },
					 { .type = 0 },
					 { .type = DIAL9_VARINT, .u64 = 3 },
					 { .type = DIAL9_BOOL, .b = true } };
	struct own_task task = { .pid = 1, .tid = 2, .ppid = 3 };
	const uint64_t filled = read_as("TaskEvent", f, 5, v, &task);

	cr_expect_eq(task.pid, 1);
	cr_expect_eq(task.tid, 2);
	cr_expect_eq(task.ppid, 3);
	cr_expect_null(task.comm.ptr);
	cr_expect_eq(task.followed, 1, "a truth is a number");
	cr_expect(OWN_HAS(filled, TASK, task, followed));
	cr_expect_not(OWN_HAS(filled, TASK, task, pid));
}

Test(own_fields, bytes_signed_numbers_and_booleans_are_read)
{
	const struct dial9_field bytes[] = { { "build_id", DIAL9_BYTES } };
	const struct dial9_value id[] = { { .type = DIAL9_BYTES, .str = STR("\xab\xcd") } };
	const struct dial9_field bools[] = { { "one_in", DIAL9_U8 }, { "stacks", DIAL9_U8 } };
	const struct dial9_value v[] = { { .type = DIAL9_U8, .u64 = 4 },
					 { .type = DIAL9_U8, .u64 = 2 } };
	const struct dial9_field i64[] = { { "first_ns", DIAL9_I64 } };
	const struct dial9_value minus[] = { { .type = DIAL9_I64, .i64 = -5 } };
	struct own_module module = { 0 };
	struct own_thinning thinning = { 0 };
	struct own_segment_end end = { 0 };

	read_as("ModuleEvent", bytes, 1, id, &module);
	cr_expect_eq(module.build_id.sz, 2);
	cr_expect_arr_eq(module.build_id.ptr, "\xab\xcd", 2);
	read_as("ThinningEvent", bools, 2, v, &thinning);
	cr_expect_eq(thinning.one_in, 4);
	cr_expect_not(thinning.stacks, "2 is no truth");
	read_as("SegmentEnd", i64, 1, minus, &end);
	cr_expect_eq(end.first_ns, -5);
}

Test(own_fields, other_events_have_no_own_fields)
{
	const struct dial9_field f[] = { { "pid", DIAL9_U32 } };
	struct dial9_schema *schema;
	struct own_fields own;

	cr_assert_eq(dial9_schema_new("TaskEvent2", true, f, 1, &schema), 0);
	own_fields_init(&own, schema);
	cr_expect_null(own.event);
	own_fields_fini(&own);
	dial9_schema_free(schema);
}
