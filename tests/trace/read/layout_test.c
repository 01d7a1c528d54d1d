// SPDX-License-Identifier: BSD-2-Clause
/* Schemas by type id and by content: which are equal, what their role is, and when ids are invalid. */
#include "trace/read/layout.h"

#include <criterion/criterion.h>
#include <string.h>

#include "prof_events.h"

static struct dial9_schema *schema(const char *name, bool ts, const struct dial9_field *f,
				   size_t cnt)
{
	struct dial9_schema *s;

	cr_assert_eq(dial9_schema_new(name, ts, f, cnt, &s), 0);
	return s;
}

struct fixture {
	struct layout_set set;
	struct names *names;
};

static void setup(struct fixture *fx)
{
	memset(&fx->set, 0, sizeof(fx->set));
	cr_assert_eq(names_new(&fx->names), 0);
}

static void done(struct fixture *fx)
{
	layout_set_fini(&fx->set);
	names_free(fx->names);
}

/* Registers a layout under an id; returns the result. */
static const struct trace_schema *added(struct fixture *fx, uint16_t id, const char *name, bool ts,
					const struct dial9_field *f, size_t cnt)
{
	struct dial9_schema *s = schema(name, ts, f, cnt);

	layout_set_add(&fx->set, fx->names, id, s, (struct dial9_iter){ 0 });
	dial9_schema_free(s);
	return layout_set_get(&fx->set, id);
}

Test(layout, ids_are_valid_only_in_their_segment)
{
	const struct dial9_field f = { "n", DIAL9_U8 };
	const struct trace_schema *a, *b;
	struct fixture fx;

	setup(&fx);
	cr_expect_null(layout_set_get(&fx.set, 0));
	a = added(&fx, 0, "a", true, &f, 1);
	b = added(&fx, UINT16_MAX, "b", true, &f, 1);
	cr_assert(a && b && a != b);
	cr_expect_eq(layout_set_get(&fx.set, 0), a);
	cr_expect_null(layout_set_get(&fx.set, 1));
	layout_set_segment(&fx.set);
	cr_expect_null(layout_set_get(&fx.set, 0));
	cr_expect_null(layout_set_get(&fx.set, UINT16_MAX));
	cr_expect_eq(added(&fx, 5, "a", true, &f, 1), a, "the same content again");
	cr_expect_eq(added(&fx, 0, "b", true, &f, 1), b);
	cr_expect_eq(fx.set.cnt, 2);
	layout_set_segment(&fx.set);
	cr_expect_null(layout_set_get(&fx.set, 5));
	cr_expect_null(layout_set_get(&fx.set, 0));
	done(&fx);
}

Test(layout, repeated_id_has_its_last_meaning_and_is_removed_once)
{
	struct fixture fx;

	setup(&fx);
	added(&fx, 3, "a", true, NULL, 0);
	cr_expect_str_eq(names_str(fx.names, added(&fx, 3, "b", true, NULL, 0)->name, NULL), "b");
	cr_expect_eq(fx.set.used_cnt, 1);
	layout_set_segment(&fx.set);
	cr_expect_null(layout_set_get(&fx.set, 3));
	done(&fx);
}

Test(layout, any_difference_makes_another_layout)
{
	const struct dial9_field f[] = { { "n", DIAL9_U8 }, { "m", DIAL9_U16 } };
	const struct dial9_field turned[] = { { "m", DIAL9_U16 }, { "n", DIAL9_U8 } };
	const struct dial9_field wide[] = { { "n", DIAL9_U8 }, { "m", DIAL9_U32 } };
	struct fixture fx;

	setup(&fx);
	for (int i = 0; i < 2; i++) {
		added(&fx, 1, "a", true, f, 2);
		added(&fx, 2, "a", false, f, 2);
		added(&fx, 3, "a", true, f, 1);
		added(&fx, 4, "a", true, turned, 2);
		added(&fx, 5, "a", true, wide, 2);
		added(&fx, 6, "b", true, f, 2);
	}
	cr_expect_eq(fx.set.cnt, 6);
	for (uint16_t i = 1; i <= 6; i++)
		for (uint16_t k = 1; k < i; k++)
			cr_expect_neq(layout_set_get(&fx.set, i), layout_set_get(&fx.set, k));
	done(&fx);
}

Test(layout, fields_have_their_names_and_the_first_of_equal_names_has_the_role)
{
	const struct dial9_field f[] = {
		{ "x", DIAL9_U8 },
		{ "tid", DIAL9_U32 },
		{ "pid", DIAL9_U32 },
		{ "ti", DIAL9_U32 },
	};
	const struct trace_schema *ts;
	struct fixture fx;

	setup(&fx);
	ts = added(&fx, 1, "Something", true, f, 4);
	cr_assert_eq(ts->field_cnt, 4);
	for (size_t i = 0; i < 4; i++)
		cr_expect_str_eq(names_str(fx.names, ts->field_names[i], NULL), f[i].name);
	cr_expect_eq(ts->role[ROLE_TID], 1);
	cr_expect_eq(ts->role[ROLE_PID], 2);
	cr_expect_eq(ts->role[ROLE_COMM], -1);
	done(&fx);
}

Test(layout, numbers_have_a_fixed_place_unless_it_depends_on_the_event)
{
	const struct dial9_field f[] = {
		{ "tid", DIAL9_U32 },	      { "pid", DIAL9_I64 },
		{ "comm", DIAL9_STRING },     { "cpu", DIAL9_VARINT | DIAL9_OPTIONAL },
		{ "unfinished", DIAL9_BOOL },
	};
	const struct dial9_value v[] = { { .u64 = 7 }, { .i64 = 8 } };
	const struct trace_schema *ts;
	struct fixture fx;

	setup(&fx);
	ts = added(&fx, 1, "Something", true, f, 5);
	cr_expect_eq((const char *)v + ts->number[ROLE_TID], (const char *)&v[0].u64);
	cr_expect_eq((const char *)v + ts->number[ROLE_PID], (const char *)&v[1].i64);
	cr_expect_eq(ts->number[ROLE_COMM], -1);
	cr_expect_eq(ts->number[ROLE_CPU], TRACE_NUMBER_MAYBE);
	cr_expect_eq(ts->number[ROLE_UNFINISHED], TRACE_NUMBER_MAYBE);
	cr_expect_eq(ts->number[ROLE_PPID], -1);
	done(&fx);
}

Test(layout, kinds_are_recognized_by_name_and_tracepoints_by_their_fields)
{
	static const struct {
		const char *name;
		bool common_pid;
		enum trace_kind kind;
	} cases[] = {
		{ "sched:sched_switch", true, TRACE_SCHED_SWITCH },
		{ "sched:sched_waking", true, TRACE_SCHED_WAKING },
		{ "sched:sched_wakeup_new", true, TRACE_SCHED_WAKING },
		{ "CpuSampleEvent", false, TRACE_SAMPLE },
		{ "ModuleEvent", false, TRACE_MODULE },
		{ "ModuleStatus", false, TRACE_MODULE_STATUS },
		{ "ProcMapsEntry", false, TRACE_PROC_MAPS },
		{ "TaskEvent", false, TRACE_TASK },
		{ "SymbolTableEntry", false, TRACE_SYMBOL },
		{ "ClockSyncEvent", false, TRACE_CLOCK_SYNC },
		{ "SegmentMetadataEvent", false, TRACE_METADATA },
		{ "TracepointSymbol", false, TRACE_TP_SYMBOL },
		{ "LostEvents", false, TRACE_LOST },
		{ "RecorderStats", false, TRACE_STATS },
		{ "RecorderCost", false, TRACE_COST },
		{ "irq:irq_handler_entry", true, TRACE_TRACEPOINT },
		{ "irq:irq_handler_entry", false, TRACE_OTHER },
		{ "irq_handler_entry", true, TRACE_OTHER },
		{ "ModuleEvents", false, TRACE_OTHER },
		{ "ModuleEven", false, TRACE_OTHER },
	};
	const struct dial9_field f[] = { { "common_pid", DIAL9_VARINT }, { "x", DIAL9_U8 } };
	struct fixture fx;

	setup(&fx);
	for (uint16_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(added(&fx, i, cases[i].name, true, f + !cases[i].common_pid, 1)->kind,
			     cases[i].kind, "%s", cases[i].name);
	done(&fx);
}

Test(layout, level_4_types_are_recognized_also_if_optional)
{
	static const struct {
		uint8_t type;
		bool level4;
	} cases[] = {
		{ DIAL9_VARINT, false },      { DIAL9_STACK, false },
		{ DIAL9_STRING_MAP, false },  { DIAL9_POOLED_STRING | DIAL9_OPTIONAL, false },
		{ DIAL9_POOLED_STACK, true }, { DIAL9_POOLED_STACK | DIAL9_OPTIONAL, true },
		{ DIAL9_LIST, true },	      { DIAL9_MAP | DIAL9_OPTIONAL, true },
	};
	struct fixture fx;

	setup(&fx);
	for (uint16_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct dial9_field f[] = { { "n", DIAL9_U8 }, { "x", cases[i].type } };

		cr_expect_eq(trace_schema_needs_level4(added(&fx, i, "e", true, f, 2)),
			     cases[i].level4, "type %#x", cases[i].type);
	}
	done(&fx);
}
