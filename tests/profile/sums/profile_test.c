// SPDX-License-Identifier: BSD-2-Clause
/* Shares by function, module and thread; the expected values are counted by hand in the comments. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "profile/sched/intervals.h"
#include "profile/sums/profile.h"
#include "tests/profile/app.h"

static const struct profile_row *row(const struct names *n, const struct profile_rows *rows,
				     const char *sym)
{
	for (size_t i = 0; i < rows->cnt; i++)
		if (!strcmp(names_str(n, rows->v[i].sym, NULL), sym))
			return &rows->v[i];
	cr_assert_fail("no row for %s", sym);
	return NULL;
}

Test(profile, self_and_total_are_counted_by_function)
{
	struct names *n = make_names();
	struct profile *p = make_profile(n);
	struct profile_rows rows = { 0 };

	profile_flat(p, 1u << PROFILE_SYM | 1u << PROFILE_DSO, &rows);
	cr_assert_eq(profile_samples(p), 10);
	cr_assert_eq(rows.cnt, 4);
	cr_assert_str_eq(names_str(n, rows.v[0].sym, NULL), "hot");
	cr_assert_eq(row(n, &rows, "hot")->self, 7);
	cr_assert_eq(row(n, &rows, "hot")->total, 7);
	cr_assert_eq(row(n, &rows, "cold")->self, 3);
	cr_assert_eq(row(n, &rows, "cold")->module, 2);
	cr_assert_eq(row(n, &rows, "work")->self, 0);
	cr_assert_eq(row(n, &rows, "work")->total, 10, "recursion counts once");
	cr_assert_eq(row(n, &rows, "main")->total, 10);
	free(rows.v);
	profile_free(p);
	names_free(n);
}

Test(profile, samples_are_grouped_by_module_and_by_thread)
{
	struct names *n = make_names();
	struct profile *p = make_profile(n);
	struct profile_rows mod = { 0 }, tid = { 0 };

	profile_flat(p, 1u << PROFILE_DSO, &mod);
	cr_assert_eq(mod.cnt, 2);
	cr_assert_eq(mod.v[0].module, 1);
	cr_assert_eq(mod.v[0].self, 7);
	cr_assert_eq(mod.v[0].total, 10);
	cr_assert_eq(mod.v[1].self, 3);
	cr_assert_eq(mod.v[1].total, 3);
	profile_flat(p, 1u << PROFILE_TID, &tid);
	cr_assert_eq(tid.cnt, 2);
	cr_assert_eq(tid.v[0].tid, 11);
	cr_assert_eq(tid.v[0].self, 8);
	cr_assert_eq(tid.v[1].self, 2);
	free(mod.v);
	free(tid.v);
	profile_free(p);
	names_free(n);
}

/* Two processes with code generated at run time: one row for people, but a separate cause for each. */
Test(profile, modules_of_one_group_share_a_row)
{
	struct names_module anon = { .kind = PROF_MODULE_ANON, .announced = true };
	struct profile_rows mod = { 0 }, unnamed = { 0 };
	struct names *n = make_names();
	struct profile *p;
	uint64_t frame;

	cr_assert_eq(profile_new(n, &p), 0);
	anon.path = name(n, "[anon]");
	for (anon.id = 3; anon.id < 6; anon.id++) {
		cr_assert_eq(names_module_add(n, &anon), anon.id);
		frame = at(anon.id, 0x10);
		add(p, 11, &frame, 1, (int)anon.id);
	}
	names_module_set_status(n, 4, name(n, "no_map"), NAMES_NONE);
	profile_flat(p, 1u << PROFILE_DSO, &mod);
	cr_assert_eq(mod.cnt, 1);
	cr_assert_eq(mod.v[0].module, 3);
	cr_assert_eq(mod.v[0].self, 12);
	profile_unnamed(p, &unnamed);
	cr_assert_eq(unnamed.cnt, 2);
	cr_assert_eq(unnamed.v[0].module, 3);
	cr_assert_eq(unnamed.v[0].self, 8);
	cr_assert_eq(unnamed.v[1].module, 4);
	cr_assert_eq(unnamed.v[1].self, 4);
	free(mod.v);
	free(unnamed.v);
	profile_free(p);
	names_free(n);
}

Test(profile, inlined_functions_are_separate_frames)
{
	struct names *n = make_names();
	struct profile_rows rows = { 0 };
	const uint64_t one = at(1, HOT);
	struct profile *p;

	symbol(n, one, 0, "outer");
	symbol(n, one, 1, "middle");
	symbol(n, one, 2, "inner");
	profile_new(n, &p);
	add(p, 1, &one, 1, 5);
	profile_flat(p, 1u << PROFILE_SYM, &rows);
	cr_assert_eq(rows.cnt, 3);
	cr_assert_eq(row(n, &rows, "inner")->self, 5);
	cr_assert_eq(row(n, &rows, "middle")->self, 0);
	cr_assert_eq(row(n, &rows, "outer")->total, 5);
	free(rows.v);
	profile_free(p);
	names_free(n);
}

Test(profile, symbols_that_come_after_the_samples_count)
{
	struct names *n = make_names();
	struct profile_rows rows = { 0 };
	const uint64_t one = at(1, NAMELESS);
	struct profile *p;

	profile_new(n, &p);
	add(p, 1, &one, 1, 2);
	profile_unnamed(p, &rows);
	cr_assert_eq(rows.cnt, 1);
	cr_assert_eq(rows.v[0].module, 1);
	cr_assert_eq(rows.v[0].self, 2);
	symbol(n, one, 0, "late");
	free(rows.v);
	profile_unnamed(p, &rows);
	cr_assert_eq(rows.cnt, 0);
	profile_flat(p, 1u << PROFILE_SYM, &rows);
	cr_assert_eq(row(n, &rows, "late")->self, 2);
	free(rows.v);
	profile_free(p);
	names_free(n);
}

Test(profile, samples_without_a_stack_are_counted)
{
	struct names *n = make_names();
	struct profile_rows rows = { 0 };
	struct profile *p;

	profile_new(n, &p);
	add(p, 1, NULL, 0, 3);
	profile_flat(p, 1u << PROFILE_SYM, &rows);
	cr_assert_eq(rows.cnt, 1);
	cr_assert_eq(rows.v[0].self, 3);
	cr_assert_eq(rows.v[0].sym, NAMES_NONE);
	free(rows.v);
	profile_free(p);
	names_free(n);
}

/* One sample of one frame, of this thread. */
static void add_of(struct profile *p, uint64_t frame, uint32_t pid, uint32_t tid, uint32_t comm,
		   uint32_t part)
{
	const struct trace_event ev = { .kind = TRACE_SAMPLE,
					.pid = pid,
					.tid = tid,
					.comm = comm,
					.part = part,
					.frames = &frame,
					.frame_cnt = 1 };

	profile_add(p, &ev);
}

Test(profile, stacks_are_merged_only_if_all_their_properties_are_equal)
{
	struct names *n = make_names();
	struct profile *p;
	size_t cnt;

	cr_assert_eq(profile_new(n, &p), 0);
	for (int i = 0; i < 2; i++) {
		add_of(p, at(1, HOT), 10, 11, 7, 0);
		add_of(p, at(1, WORK), 10, 11, 7, 0);
		add_of(p, at(1, HOT), 20, 11, 7, 0);
		add_of(p, at(1, HOT), 10, 12, 7, 0);
		add_of(p, at(1, HOT), 10, 11, 8, 0);
		add_of(p, at(1, HOT), 10, 11, 7, 1);
	}
	profile_stacks(p, &cnt);
	cr_expect_eq(cnt, 6);
	for (size_t i = 0; i < cnt; i++)
		cr_expect_eq(profile_stacks(p, &cnt)[i].samples, 2);
	cr_expect_eq(profile_samples(p), 12);
	profile_free(p);
	profile_free(NULL);
	names_free(n);
}

Test(profile, each_key_groups_rows_only_on_request)
{
	static const struct {
		unsigned int keys;
		size_t rows;
	} cases[] = {
		{ 0, 1 },
		{ 1u << PROFILE_SYM, 2 },
		{ 1u << PROFILE_DSO, 2 },
		{ 1u << PROFILE_COMM, 3 },
		{ 1u << PROFILE_PID, 3 },
		{ 1u << PROFILE_TID, 4 },
		{ 1u << PROFILE_PART, 3 },
		{ 1u << PROFILE_PID | 1u << PROFILE_TID, 6 },
		{ (1u << PROFILE_KEY_CNT) - 1, 8 },
	};
	struct names *n = make_names();
	struct profile *p;

	cr_assert_eq(profile_new(n, &p), 0);
	add_of(p, at(1, HOT), 10, 11, 7, 0);
	add_of(p, at(2, COLD), 10, 11, 7, 0);
	add_of(p, at(1, HOT), 20, 11, 7, 0);
	add_of(p, at(1, HOT), 30, 11, 8, 0);
	add_of(p, at(1, HOT), 10, 12, 7, 0);
	add_of(p, at(1, HOT), 10, 13, 9, 0);
	add_of(p, at(1, HOT), 10, 14, 7, 1);
	add_of(p, at(1, HOT), 10, 14, 7, 2);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile_rows rows = { 0 };
		uint64_t self = 0;

		profile_flat(p, cases[i].keys, &rows);
		cr_expect_eq(rows.cnt, cases[i].rows, "keys %x: %zu", cases[i].keys, rows.cnt);
		for (size_t k = 0; k < rows.cnt; k++)
			self += rows.v[k].self;
		cr_expect_eq(self, 8);
		free(rows.v);
	}
	profile_free(p);
	names_free(n);
}

/* Of rows with equal weight: by function, module, thread, process, recording. */
static const struct {
	uint64_t frame;
	uint32_t pid, tid, part;
	int times;
} order[] = {
	{ 1ULL << PROF_FRAME_MODULE_SHIFT | WORK, 1, 1, 0, 3 },
	{ 2ULL << PROF_FRAME_MODULE_SHIFT | COLD, 1, 1, 0, 2 },
	{ 1ULL << PROF_FRAME_MODULE_SHIFT | HOT, 2, 1, 0, 2 },
	{ 1ULL << PROF_FRAME_MODULE_SHIFT | HOT, 2, 1, 1, 2 },
	{ 1ULL << PROF_FRAME_MODULE_SHIFT | HOT, 3, 1, 0, 2 },
	{ 1ULL << PROF_FRAME_MODULE_SHIFT | HOT, 1, 2, 0, 2 },
	{ 2ULL << PROF_FRAME_MODULE_SHIFT | HOT, 1, 1, 0, 2 },
	{ 1ULL << PROF_FRAME_MODULE_SHIFT | MAIN, 1, 1, 0, 2 },
	{ 1ULL << PROF_FRAME_MODULE_SHIFT | COLD, 1, 1, 0, 1 },
};

/* The samples come in steps of N rows, which gives another order each time. */
static void check_order(size_t step)
{
	const size_t cnt = sizeof(order) / sizeof(order[0]);
	struct profile_rows rows = { 0 };
	struct names *n = make_names();
	struct profile *p;

	symbol(n, at(2, HOT), 0, "hot");
	symbol(n, at(1, COLD), 0, "cold");
	cr_assert_eq(profile_new(n, &p), 0);
	for (size_t i = 0; i < cnt; i++) {
		size_t at = (i + 1) * step % (cnt + 1) - 1;

		for (int k = 0; k < order[at].times; k++)
			add_of(p, order[at].frame, order[at].pid, order[at].tid, NAMES_NONE,
			       order[at].part);
	}
	profile_flat(p, (1u << PROFILE_KEY_CNT) - 1, &rows);
	cr_assert_eq(rows.cnt, cnt);
	for (size_t i = 0; i < cnt; i++)
		cr_expect(rows.v[i].module == names_frame_module(order[i].frame) &&
				  rows.v[i].pid == order[i].pid && rows.v[i].tid == order[i].tid &&
				  rows.v[i].part == order[i].part &&
				  rows.v[i].self == (uint64_t)order[i].times,
			  "step %zu: row %zu is %s", step, i, names_str(n, rows.v[i].sym, NULL));
	free(rows.v);
	profile_free(p);
	names_free(n);
}

Test(profile, rows_have_a_fixed_order)
{
	/* coprime to the number of rows and one: 1 is the expected order, 9 the reverse */
	check_order(1);
	check_order(3);
	check_order(7);
	check_order(9);
}

Test(profile, functions_without_self_time_are_sorted_by_total)
{
	const uint64_t deep[] = { at(1, HOT), at(1, WORK), at(1, MAIN) };
	const uint64_t flat[] = { at(1, HOT), at(1, WORK) };
	struct profile_rows rows = { 0 };
	struct names *n = make_names();
	struct profile *p;

	cr_assert_eq(profile_new(n, &p), 0);
	add(p, 1, deep, 3, 2);
	add(p, 1, flat, 2, 3);
	profile_flat(p, 1u << PROFILE_SYM, &rows);
	cr_assert_eq(rows.cnt, 3);
	cr_expect_str_eq(names_str(n, rows.v[1].sym, NULL), "work");
	cr_expect(rows.v[1].total == 5 && rows.v[1].self == 0);
	cr_expect_str_eq(names_str(n, rows.v[2].sym, NULL), "main");
	cr_expect_eq(rows.v[2].total, 2);
	free(rows.v);
	profile_free(p);
	names_free(n);
}

Test(profile, sample_has_the_weight_of_its_recording)
{
	static const uint64_t weight[] = { 100, 7 };
	struct profile_rows rows = { 0 };
	struct names *n = make_names();
	struct profile *p;
	size_t cnt;

	cr_assert_eq(profile_new(n, &p), 0);
	add_of(p, at(1, HOT), 1, 1, NAMES_NONE, 0);
	for (int i = 0; i < 3; i++) {
		add_of(p, at(1, WORK), 1, 1, NAMES_NONE, 1);
		add_of(p, at(1, MAIN), 1, 1, NAMES_NONE, 2);
	}
	cr_expect_eq(profile_weight(p), 7, "one each, unless told otherwise");
	profile_weigh(p, weight, 1);
	cr_expect_eq(profile_weight(p), 100);
	profile_weigh(p, weight, 2);
	cr_expect_eq(profile_weight(p), 121);
	cr_expect_eq(profile_stack_weight(p, &profile_stacks(p, &cnt)[1]), 21);
	cr_expect_eq(profile_stack_weight(p, &profile_stacks(p, &cnt)[2]), 0);
	profile_flat(p, 1u << PROFILE_SYM, &rows);
	cr_assert_eq(rows.cnt, 3);
	cr_expect_str_eq(names_str(n, rows.v[0].sym, NULL), "hot");
	cr_expect(rows.v[0].self == 1 && rows.v[0].self_weight == 100);
	cr_expect(rows.v[0].total == 1 && rows.v[0].total_weight == 100);
	cr_expect(rows.v[1].self == 3 && rows.v[1].self_weight == 21);
	free(rows.v);
	rows = (struct profile_rows){ 0 };
	add_of(p, at(1, NAMELESS), 1, 1, NAMES_NONE, 1);
	profile_unnamed(p, &rows);
	cr_assert_eq(rows.cnt, 1);
	cr_expect(rows.v[0].self == 1 && rows.v[0].self_weight == 7);
	free(rows.v);
	profile_free(p);
	names_free(n);
}

Test(profile, stacks_are_truncated_at_their_root)
{
	static uint64_t frames[PROFILE_DEPTH_MAX + 1];
	struct names *n = make_names();
	const struct profile_frame *f;
	struct profile *p;
	size_t cnt;

	for (size_t i = 0; i <= PROFILE_DEPTH_MAX; i++)
		frames[i] = at(1, WORK);
	frames[0] = at(1, HOT);
	frames[PROFILE_DEPTH_MAX] = at(1, MAIN);
	cr_assert_eq(profile_new(n, &p), 0);
	add(p, 1, frames, PROFILE_DEPTH_MAX + 1, 1);
	f = profile_expand(p, profile_stacks(p, &cnt), &cnt);
	cr_assert_eq(cnt, PROFILE_DEPTH_MAX);
	cr_expect_str_eq(names_str(n, f[0].sym, NULL), "hot");
	cr_expect_str_eq(names_str(n, f[PROFILE_DEPTH_MAX - 1].sym, NULL), "work");
	profile_free(p);
	names_free(n);
}

Test(profile, labels_and_unannounced_modules_have_no_symbol)
{
	struct names_frame label = { .label = true, .file = NAMES_NONE };
	struct profile_rows rows = { 0 };
	struct names *n = make_names();
	const struct profile_frame *f;
	struct profile *p;
	uint32_t raw;
	size_t cnt;

	label.name = name(n, "[libc.so]");
	names_symbol_set(n, at(2, NAMELESS), 0, &label);
	raw = names_module_raw(n, 0, 77);
	cr_assert_eq(profile_new(n, &p), 0);
	add_of(p, at(2, NAMELESS), 1, 1, NAMES_NONE, 0);
	add_of(p, at(raw, NAMELESS), 1, 1, NAMES_NONE, 0);
	f = profile_expand(p, &profile_stacks(p, &cnt)[0], &cnt);
	cr_assert_eq(cnt, 1);
	cr_expect(f->sym == label.name && f->module == 2 && !f->named);
	f = profile_expand(p, &profile_stacks(p, &cnt)[1], &cnt);
	cr_assert_eq(cnt, 1);
	cr_expect(f->sym == NAMES_NONE && f->module == 0 && !f->named);
	profile_unnamed(p, &rows);
	cr_expect_eq(rows.cnt, 2);
	free(rows.v);
	profile_free(p);
	names_free(n);
}

/* Depth 1 was reported, its containing function was not: only known functions are in the stack, but never none. */
Test(profile, inlined_functions_without_a_name_are_skipped)
{
	struct names *n = make_names();
	const struct profile_frame *f;
	struct profile *p;
	size_t cnt;

	symbol(n, at(1, NAMELESS), 2, "inner");
	cr_assert_eq(profile_new(n, &p), 0);
	add_of(p, at(1, NAMELESS), 1, 1, NAMES_NONE, 0);
	f = profile_expand(p, profile_stacks(p, &cnt), &cnt);
	cr_assert_eq(cnt, 2);
	cr_expect_str_eq(names_str(n, f[0].sym, NULL), "inner");
	cr_expect(f[0].named && !f[1].named && f[1].sym == NAMES_NONE);
	profile_free(p);
	names_free(n);
}

Test(profile, thread_without_an_own_name_has_the_first_recorded_name)
{
	struct profile_rows rows = { 0 };
	struct names *n = make_names();
	struct names_task task = { .tid = 11, .pid = 10, .comm = name(n, "told") };
	struct profile *p;

	names_task_learn(n, 0, &task);
	cr_assert_eq(profile_new(n, &p), 0);
	add_of(p, at(1, HOT), 10, 11, NAMES_NONE, 0);
	add_of(p, at(1, HOT), 10, 11, NAMES_NONE, 0);
	add_of(p, at(1, HOT), 10, 12, NAMES_NONE, 0);
	add_of(p, at(1, WORK), 10, 11, name(n, "own"), 0);
	profile_flat(p, 1u << PROFILE_COMM, &rows);
	cr_assert_eq(rows.cnt, 3);
	cr_expect_str_eq(names_str(n, rows.v[0].comm, NULL), "told");
	cr_expect_eq(rows.v[0].self, 2);
	cr_expect(rows.v[1].comm == NAMES_NONE || rows.v[2].comm == NAMES_NONE);
	free(rows.v);
	profile_free(p);
	names_free(n);
}

Test(profile, thread_belongs_to_a_process_that_is_reported_later)
{
	struct profile_rows rows = { 0 };
	struct names *n = make_names();
	struct names_task task = { .tid = 11, .pid = 10, .comm = NAMES_NONE };
	struct profile *p;

	cr_assert_eq(profile_new(n, &p), 0);
	add_of(p, at(1, HOT), NAMES_NONE, 11, NAMES_NONE, 0);
	add_of(p, at(1, HOT), 10, 11, NAMES_NONE, 0);
	add_of(p, at(1, HOT), NAMES_NONE, 12, NAMES_NONE, 0);
	names_task_learn(n, 0, &task);
	profile_flat(p, 1u << PROFILE_PID, &rows);
	cr_assert_eq(rows.cnt, 2);
	cr_expect_eq(rows.v[0].pid, 10);
	cr_expect_eq(rows.v[0].self, 2);
	cr_expect_eq(rows.v[1].pid, NAMES_NONE);
	free(rows.v);
	profile_free(p);
	names_free(n);
}

/* One sample of the leaf, on a CPU and in a control group. */
static void add_on(struct profile *p, uint32_t cpu, uint32_t cgroup)
{
	const uint64_t frame = at(1, HOT);
	const struct trace_event ev = { .kind = TRACE_SAMPLE,
					.pid = 10,
					.tid = 11,
					.comm = NAMES_NONE,
					.cpu = cpu,
					.cgroup = cgroup,
					.frames = &frame,
					.frame_cnt = 1 };

	profile_add(p, &ev);
}

/* They would multiply the number of kept stacks. */
Test(profile, cpus_and_cgroups_are_kept_on_request)
{
	const unsigned int keys = 1u << PROFILE_CPU | 1u << PROFILE_CGROUP;
	struct names *n = make_names();
	struct profile *p;
	size_t cnt;

	for (int kept = 0; kept < 2; kept++) {
		struct profile_rows rows = { 0 };

		cr_assert_eq(profile_new(n, &p), 0);
		if (kept)
			profile_keep(p, keys);
		add_on(p, 0, name(n, "/a"));
		add_on(p, 1, name(n, "/a"));
		add_on(p, 1, name(n, "/b"));
		add_on(p, 1, name(n, "/b"));
		profile_stacks(p, &cnt);
		cr_expect_eq(cnt, kept ? 3 : 1);
		profile_flat(p, keys, &rows);
		cr_assert_eq(rows.cnt, kept ? 3 : 1);
		cr_expect_eq(rows.v[0].self, kept ? 2 : 4);
		cr_expect_eq(rows.v[0].cpu, kept ? 1 : NAMES_NONE);
		cr_expect_str_eq(names_str(n, rows.v[0].cgroup, NULL), kept ? "/b" : "");
		free(rows.v);
		profile_free(p);
	}
	names_free(n);
}

/* The trace names a thread after it ran. */
Test(profile, cgroup_of_a_thread_may_be_reported_later)
{
	struct names *n = make_names();
	struct names_task task = { .tid = 11,
				   .pid = 10,
				   .comm = NAMES_NONE,
				   .exe = NAMES_NONE,
				   .cgroup = name(n, "/late"),
				   .recorded = true };
	struct profile_rows rows = { 0 };
	struct profile *p;

	cr_assert_eq(profile_new(n, &p), 0);
	profile_keep(p, 1u << PROFILE_CGROUP);
	add_on(p, 0, NAMES_NONE);
	names_task_learn(n, 0, &task);
	profile_flat(p, 1u << PROFILE_CGROUP, &rows);
	cr_expect_str_eq(names_str(n, rows.v[0].cgroup, NULL), "/late");
	free(rows.v);
	profile_free(p);
	names_free(n);
}

static void line_at(struct names *n, uint64_t frame, uint32_t depth, const char *sym, uint32_t line)
{
	struct names_frame f = {
		.name = name(n, sym), .file = name(n, "a.c"), .line = line, .base = frame
	};

	names_symbol_set(n, frame, depth, &f);
}

Test(profile, line_belongs_to_the_instruction_and_inlined_functions_can_be_merged)
{
	const unsigned int keys = 1u << PROFILE_SYM | 1u << PROFILE_SRCLINE;
	const uint64_t one = at(1, HOT);
	struct names *n = make_names();
	struct profile_rows rows = { 0 };
	struct profile *p;

	line_at(n, one, 0, "outer", 5);
	line_at(n, one, 1, "inner", 7);
	profile_new(n, &p);
	add(p, 1, &one, 1, 5);
	profile_flat(p, keys, &rows);
	cr_assert_eq(rows.cnt, 2);
	cr_expect_eq(row(n, &rows, "inner")->line, 7);
	cr_expect_eq(row(n, &rows, "inner")->inlined, 1);
	cr_expect_eq(row(n, &rows, "outer")->line, 5);
	cr_expect_eq(row(n, &rows, "outer")->inlined, 0);
	free(rows.v);
	profile_fold_inlined(p);
	profile_flat(p, keys, &rows);
	cr_assert_eq(rows.cnt, 1);
	cr_expect_eq(row(n, &rows, "outer")->self, 5);
	free(rows.v);
	profile_free(p);
	names_free(n);
}

/* A split function, and a recursive function: once, at its line. */
Test(profile, function_inlined_into_itself_counts_once)
{
	const uint64_t one = at(1, HOT);
	struct names *n = make_names();
	const struct profile_frame *f;
	struct profile *p;
	size_t cnt;

	line_at(n, one, 0, "caller", 1);
	line_at(n, one, 1, "twice", 2);
	line_at(n, one, 2, "twice", 3);
	line_at(n, one, 3, "leaf", 4);
	profile_new(n, &p);
	add(p, 1, &one, 1, 1);
	f = profile_expand(p, profile_stacks(p, &cnt), &cnt);
	cr_assert_eq(cnt, 3);
	cr_expect_str_eq(names_str(n, f[0].sym, NULL), "leaf");
	cr_expect_eq(f[0].line, 4);
	cr_expect_str_eq(names_str(n, f[1].sym, NULL), "twice");
	cr_expect_eq(f[1].line, 3);
	cr_expect(f[1].inlined);
	cr_expect_eq(f[2].line, 1);
	cr_expect_not(f[2].inlined);
	profile_free(p);
	names_free(n);
}

Test(profile, rows_can_be_sorted_by_total)
{
	struct names *n = make_names();
	struct profile *p = make_profile(n);
	struct profile_rows rows = { 0 };

	profile_flat(p, 1u << PROFILE_SYM, &rows);
	profile_sort_total(p, &rows);
	cr_assert_eq(rows.cnt, 4);
	cr_expect_str_eq(names_str(n, rows.v[0].sym, NULL), "main");
	cr_expect_str_eq(names_str(n, rows.v[1].sym, NULL), "work");
	cr_expect_str_eq(names_str(n, rows.v[2].sym, NULL), "hot");
	cr_expect_str_eq(names_str(n, rows.v[3].sym, NULL), "cold");
	free(rows.v);
	profile_free(p);
	names_free(n);
}

/* One stack of one thread: 3 samples of 10, 5 and 7 blocked, 100 runnable. */
Test(profile, intervals_have_their_duration_as_weight_next_to_samples)
{
	static const uint64_t weight[] = { 10 };
	const uint64_t frame = at(1, HOT);
	const struct trace_event ev = {
		.tid = 11, .pid = 10, .comm = NAMES_NONE, .frames = &frame, .frame_cnt = 1
	};
	struct names *n = make_names();
	struct profile_rows rows = { 0 };
	struct profile *p;

	cr_assert_eq(profile_new(n, &p), 0);
	profile_keep(p, 1u << PROFILE_STATE);
	profile_weigh(p, weight, 1);
	add(p, 11, &frame, 1, 3);
	profile_add_time(p, &ev, INTERVAL_BLOCKED, 5);
	profile_add_time(p, &ev, INTERVAL_BLOCKED, 7);
	profile_add_time(p, &ev, INTERVAL_RUNNABLE, 100);
	cr_expect_eq(profile_samples(p), 3);
	cr_expect_eq(profile_weight(p), 142);
	profile_flat(p, 1u << PROFILE_STATE | 1u << PROFILE_SYM, &rows);
	cr_assert_eq(rows.cnt, 3);
	cr_expect_eq(rows.v[0].state, INTERVAL_RUNNABLE);
	cr_expect_eq(rows.v[0].self_weight, 100);
	cr_expect_eq(rows.v[1].state, INTERVAL_RUNNING);
	cr_expect_eq(rows.v[1].self_weight, 30);
	cr_expect_eq(rows.v[2].state, INTERVAL_BLOCKED);
	cr_expect_eq(rows.v[2].self_weight, 12);
	cr_expect_eq(rows.v[2].self, 2);
	free(rows.v);
	profile_forget_times(p);
	cr_expect_eq(profile_weight(p), 30);
	profile_flat(p, 1u << PROFILE_STATE, &rows);
	cr_expect_eq(rows.v[0].state, INTERVAL_RUNNING);
	cr_expect_eq(rows.v[1].total, 0);
	free(rows.v);
	profile_free(p);
	names_free(n);
}
