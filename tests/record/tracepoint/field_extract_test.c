// SPDX-License-Identifier: BSD-2-Clause
/* Extracts by the types of a kernel that is made up here: the results of rules, and refused rules. */
#include "record/tracepoint/field_extract.h"

#include <bpf/btf.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "record/tracepoint/field_extract_rules.h"

/*
 * struct clock { char name[8]; const char *label; u32 bits: 4; s16 skew; };
 * struct timer { u64 next; s64 key; union { u32 flags; bool soft; }; struct clock *clock; struct clock own[2]; };
 * int __traceiter_tick(void *__data, const struct timer *t, s64 *now, int cpu, char *why, clockid id);
 */
enum { KEY = 8, FLAGS = 16, CLOCK = 24, OWN = 32, LABEL = 8, SKEW = 20 };

static struct btf *types;

struct member {
	const char *name;
	int type;
	uint32_t bit;
};

static int add_struct(const char *name, uint32_t size, const struct member *m, size_t cnt)
{
	int id = btf__add_struct(types, name, size);

	for (size_t i = 0; i < cnt; i++)
		cr_assert_eq(btf__add_field(types, m[i].name, m[i].type, m[i].bit,
					    strcmp(m[i].name, "bits") ? 0 : 4),
			     0);
	return id;
}

static void add_function(const char *name, const struct member *params, size_t cnt, int ret)
{
	int proto = btf__add_func_proto(types, ret);

	for (size_t i = 0; i < cnt; i++)
		cr_assert_eq(btf__add_func_param(types, params[i].name, params[i].type), 0);
	cr_assert_gt(btf__add_func(types, name, BTF_FUNC_STATIC, proto), 0);
}

static void make_types(void)
{
	int chr, u32, u64, s16, s64, num, truth, text, name, clock, clock_ptr, own, either, timer;
	int args[4];

	types = btf__new_empty();
	cr_assert_not_null(types);
	chr = btf__add_int(types, "char", 1, BTF_INT_CHAR);
	u32 = btf__add_int(types, "u32", 4, 0);
	u64 = btf__add_int(types, "u64", 8, 0);
	s16 = btf__add_int(types, "short", 2, BTF_INT_SIGNED);
	s64 = btf__add_typedef(types, "s64", btf__add_int(types, "long", 8, BTF_INT_SIGNED));
	num = btf__add_int(types, "int", 4, BTF_INT_SIGNED);
	truth = btf__add_int(types, "_Bool", 1, BTF_INT_BOOL);
	text = btf__add_ptr(types, btf__add_const(types, chr));
	name = btf__add_array(types, u32, chr, 8);
	const struct member clock_has[] = { { "name", name, 0 },
					    { "label", text, 64 },
					    { "bits", u32, 128 },
					    { "skew", s16, 160 } };
	clock = add_struct("clock", 24, clock_has, 4);
	clock_ptr = btf__add_ptr(types, clock);
	own = btf__add_array(types, u32, clock, 2);
	either = btf__add_union(types, NULL, 4);
	cr_assert_eq(btf__add_field(types, "flags", u32, 0, 0), 0);
	cr_assert_eq(btf__add_field(types, "soft", truth, 0, 0), 0);
	const struct member timer_has[] = {
		{ "next", u64, 0 },	     { "key", s64, 64 },  { "", either, 128 },
		{ "clock", clock_ptr, 192 }, { "own", own, 256 },
	};
	timer = add_struct("timer", 80, timer_has, 5);
	args[0] = btf__add_ptr(types, 0);
	args[1] = btf__add_ptr(types, btf__add_const(types, timer));
	args[2] = btf__add_ptr(types, s64);
	args[3] = btf__add_enum(types, "clockid", 4);
	const struct member params[] = {
		{ "__data", args[0], 0 }, { "t", args[1], 0 }, { "now", args[2], 0 },
		{ "cpu", num, 0 },	  { "why", text, 0 },  { "id", args[3], 0 },
	};
	add_function("__traceiter_tick", params, 6, num);
}

static void drop_types(void)
{
	btf__free(types);
}

TestSuite(field_extract, .init = make_types, .fini = drop_types);

enum { FIELD_OFF = 16 };

/* The only step of an event with one field, by one rule. */
static int compile(enum format_kind kind, uint16_t size, const char *rules,
		   struct prof_extract_step *step)
{
	char name[] = "f", event[] = "tick", system[] = "test";
	struct format_field field = { .name = name, .off = FIELD_OFF, .size = size, .kind = kind };
	const struct format_event ev = {
		.system = system,
		.name = event,
		.size = (uint16_t)(FIELD_OFF + size),
		.fields = &field,
		.cnt = 1,
		.last_dyn = kind == FORMAT_STRING ? 0 : -1,
	};
	struct prof_extract r;
	int err = field_extract_compile_rules(types, &ev, rules, &r);

	*step = r.steps[0];
	cr_assert_eq(r.cnt, err ? 0 : 1, "%s: %d steps", rules, r.cnt);
	if (!err) {
		cr_assert_eq(r.arg_cnt, 5);
		cr_assert_eq(step->at, FIELD_OFF);
		cr_assert_eq(step->size, size);
	}
	return err;
}

static void expect_step(enum format_kind kind, uint16_t size, const char *rules,
			const struct prof_extract_step *want)
{
	struct prof_extract_step got;

	cr_assert_eq(compile(kind, size, rules, &got), 0, "%s", rules);
	cr_expect_eq(got.kind, want->kind, "%s: kind %u", rules, got.kind);
	cr_expect_eq(got.arg, want->arg, "%s: argument %u", rules, got.arg);
	cr_expect_eq(got.from, want->from, "%s: from %u bytes", rules, got.from);
	cr_expect_eq(got.is_signed, want->is_signed, "%s: signed", rules);
	cr_expect_eq(got.hop_cnt, want->hop_cnt, "%s: %u hops", rules, got.hop_cnt);
	for (unsigned int i = 0; i < want->hop_cnt && i < PROF_EXTRACT_HOPS; i++)
		cr_expect_eq(got.hops[i], want->hops[i], "%s: hop %u is %u", rules, i, got.hops[i]);
}

#define EXPECT_STEP(kind, size, rules, ...)                                                        \
	expect_step(kind, size, rules, &(const struct prof_extract_step){ __VA_ARGS__ })

Test(field_extract, argument_is_read_directly)
{
	EXPECT_STEP(FORMAT_UINT, 8, "f=t", .from = 8);
	EXPECT_STEP(FORMAT_SINT, 8, "f=cpu", .arg = 2, .from = 4, .is_signed = 1);
	EXPECT_STEP(FORMAT_UINT, 4, "f=id", .arg = 4, .from = 4);
	EXPECT_STEP(FORMAT_BOOL, 1, "f=cpu", .kind = PROF_EXTRACT_BOOL, .arg = 2, .from = 4,
		    .is_signed = 1);
}

Test(field_extract, members_have_the_offsets_of_the_types)
{
	EXPECT_STEP(FORMAT_SINT, 8, "f=*now", .arg = 1, .from = 8, .is_signed = 1, .hop_cnt = 1);
	EXPECT_STEP(FORMAT_SINT, 8, "f=t.key", .from = 8, .is_signed = 1, .hop_cnt = 1,
		    .hops = { KEY });
	EXPECT_STEP(FORMAT_UINT, 4, "f=t.flags", .from = 4, .hop_cnt = 1, .hops = { FLAGS });
	EXPECT_STEP(FORMAT_UINT, 8, "f=t.clock", .from = 8, .hop_cnt = 1, .hops = { CLOCK });
	EXPECT_STEP(FORMAT_SINT, 4, "f=t.clock.skew", .from = 2, .is_signed = 1, .hop_cnt = 2,
		    .hops = { CLOCK, SKEW });
	EXPECT_STEP(FORMAT_SINT, 4, "f=t.own.skew", .from = 2, .is_signed = 1, .hop_cnt = 1,
		    .hops = { OWN + SKEW });
}

Test(field_extract, texts_are_arrays_or_pointers)
{
	EXPECT_STEP(FORMAT_STRING, 4, "f=why", .kind = PROF_EXTRACT_TEXT_AT, .arg = 3);
	EXPECT_STEP(FORMAT_STRING, 4, "f=t.clock.label", .kind = PROF_EXTRACT_TEXT_AT, .hop_cnt = 2,
		    .hops = { CLOCK, LABEL });
	EXPECT_STEP(FORMAT_STRING, 4, "f=t.clock.name", .kind = PROF_EXTRACT_TEXT, .hop_cnt = 2,
		    .hops = { CLOCK, 0 });
	EXPECT_STEP(FORMAT_CHARS, 8, "f=t.clock.name", .kind = PROF_EXTRACT_CHARS, .hop_cnt = 2,
		    .hops = { CLOCK, 0 });
}

Test(field_extract, jiffies_need_no_argument)
{
	EXPECT_STEP(FORMAT_UINT, 8, "f=jiffies", .kind = PROF_EXTRACT_JIFFIES);
}

Test(field_extract, rules_for_missing_fields_are_skipped)
{
	EXPECT_STEP(FORMAT_SINT, 4, "gone=absent ff=t.key f=cpu fff", .arg = 2, .from = 4,
		    .is_signed = 1);
}

Test(field_extract, field_that_does_not_match_the_rules_has_no_step)
{
	static const struct {
		enum format_kind kind;
		uint16_t size;
		const char *rules;
	} bad[] = {
		{ FORMAT_UINT, 4, "" },
		{ FORMAT_UINT, 4, "ff=cpu" },
		{ FORMAT_UINT, 4, "f" },
		{ FORMAT_UINT, 4, "f=" },
		{ FORMAT_UINT, 4, "f=." },
		{ FORMAT_UINT, 4, "f=*" },
		{ FORMAT_UINT, 4, "f=absent" },
		{ FORMAT_UINT, 4, "f=__data" },
		{ FORMAT_UINT, 4, "f=t.absent" },
		{ FORMAT_UINT, 4, "f=t." },
		{ FORMAT_UINT, 4, "f=cpu.key" },
		{ FORMAT_UINT, 4, "f=*cpu" },
		{ FORMAT_UINT, 4, "f=*t" }, /* a structure */
		{ FORMAT_UINT, 4, "f=t.own" },
		{ FORMAT_UINT, 4, "f=t.clock.bits" },
		{ FORMAT_UINT, 4, "f=jiffies" },
		{ FORMAT_UINT, 3, "f=cpu" },
		{ FORMAT_STRING, 4, "f=cpu" },
		{ FORMAT_STRING, 4, "f=now" },
		{ FORMAT_CHARS, 16, "f=t.clock.name" },
		{ FORMAT_CHARS, 8, "f=t.clock.label" },
		{ FORMAT_REL_STRING, 4, "f=why" },
		{ FORMAT_ARRAY, 8, "f=t.key" },
		{ FORMAT_DYN_ARRAY, 4, "f=why" },
		{ FORMAT_UINT, PROF_EXTRACT_FIXED_MAX, "f=cpu" },
	};
	struct prof_extract_step step;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(compile(bad[i].kind, bad[i].size, bad[i].rules, &step), -ENOTSUP,
			     "'%s' for %u bytes of kind %d", bad[i].rules, bad[i].size,
			     bad[i].kind);
}

Test(field_extract, each_field_needs_a_rule_and_each_event_its_function)
{
	char name[] = "cpu", other[] = "other", event[] = "tick", unknown[] = "tock";
	struct format_field fields[PROF_EXTRACT_STEPS + 1];
	struct format_event ev = { .name = event, .fields = fields, .cnt = 2, .size = 16 };
	struct prof_extract r;

	for (size_t i = 0; i <= PROF_EXTRACT_STEPS; i++)
		fields[i] = (struct format_field){
			.name = name, .off = 8, .size = 4, .kind = FORMAT_SINT
		};
	cr_expect_eq(field_extract_compile_rules(types, &ev, "cpu", &r), 0);
	cr_expect_eq(r.cnt, 2);
	fields[1].name = other;
	cr_expect_eq(field_extract_compile_rules(types, &ev, "cpu", &r), -ENOTSUP);
	cr_expect_eq(r.cnt, 0);
	fields[1].name = name;
	ev.cnt = PROF_EXTRACT_STEPS + 1;
	cr_expect_eq(field_extract_compile_rules(types, &ev, "cpu", &r), -ENOTSUP);
	ev.cnt = 1;
	ev.name = unknown;
	cr_expect_eq(field_extract_compile_rules(types, &ev, "cpu", &r), -ENOTSUP);
}

Test(field_extract, events_are_found_by_system_and_name)
{
	char timer[] = "timer", irq[] = "irq", start[] = "hrtimer_start", tick[] = "tick";
	struct format_event ev = { .system = timer, .name = start };
	struct prof_extract r;

	cr_expect(field_extract_is_known(&ev));
	cr_expect_not_null(field_extract_rules(timer, start));
	ev.system = irq;
	cr_expect_not(field_extract_is_known(&ev));
	ev.name = tick;
	cr_expect_eq(field_extract_compile(types, &ev, &r), -ENOTSUP);
}

Test(field_extract, interrupt_events_are_recognized)
{
	static const struct {
		const char *system, *name;
		bool is;
	} events[] = {
		{ "irq", "softirq_entry", true },
		{ "irq_vectors", "local_timer_exit", true },
		{ "timer", "hrtimer_expire_exit", true },
		{ "timer", "timer_expire_entry", true },
		{ "timer", "hrtimer_start", false },
		{ "kmem", "kfree", false },
	};
	char system[16], name[32];
	struct format_event ev = { .system = system, .name = name };

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		strcpy(system, events[i].system);
		strcpy(name, events[i].name);
		cr_expect_eq(field_extract_is_of_interrupts(&ev), events[i].is, "%s:%s", system,
			     name);
	}
}
