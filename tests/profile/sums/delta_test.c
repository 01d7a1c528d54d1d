// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of two traces are matched by properties that a rebuild does not change, and differences have the error
 * of counting statistics, computed here.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "profile/sums/delta.h"

struct both {
	struct names *n[DELTA_SIDES];
	struct delta *d;
};

static void both_init(struct both *b, bool by_stack)
{
	cr_assert_eq(names_new(&b->n[DELTA_OLD]), 0);
	cr_assert_eq(names_new(&b->n[DELTA_NEW]), 0);
	b->d = delta_new(by_stack);
}

static void both_fini(struct both *b)
{
	names_free(b->n[DELTA_OLD]);
	names_free(b->n[DELTA_NEW]);
	delta_free(b->d);
}

static uint32_t add_module(struct names *n, const char *path, const char *build_id)
{
	struct names_module m = { .path = names_add(n, path, strlen(path)),
				  .kind = PROF_MODULE_ELF,
				  .announced = true,
				  .build_id_sz = (uint8_t)strlen(build_id) };

	memcpy(m.build_id, build_id, strlen(build_id));
	return names_module_add(n, &m);
}

static uint64_t frame(uint32_t module, uint64_t off)
{
	return (uint64_t)module << PROF_FRAME_MODULE_SHIFT | off;
}

static void name(struct names *n, uint64_t at, uint32_t depth, const char *text)
{
	struct names_frame f = { .name = names_add(n, text, strlen(text)),
				 .file = NAMES_NONE,
				 .base = NAMES_BASE_UNKNOWN };

	names_symbol_set(n, at, depth, &f);
}

static void add(struct both *b, enum delta_side side, const uint64_t *frames, uint32_t cnt,
		uint64_t times)
{
	const struct delta_sum sum = { times, (double)times, (double)times };

	delta_add_stack(b->d, side, b->n[side], frames, cnt, &sum);
}

static const char *text(const struct both *b, size_t row, uint32_t place)
{
	return delta_str(b->d, b->d->rows[row].places[place].name, NULL);
}

/* One function of each build, with nothing but the source name in common. */
static void expect_match(const char *old_path, const char *old_name, const char *new_path,
			 const char *new_name, bool match)
{
	struct both b;
	uint64_t at;

	both_init(&b, false);
	add_module(b.n[DELTA_NEW], "/bin/other", "x");
	at = frame(add_module(b.n[DELTA_OLD], old_path, "1"), 0x100);
	if (old_name)
		name(b.n[DELTA_OLD], at, 0, old_name);
	add(&b, DELTA_OLD, &at, 1, 3);
	at = frame(add_module(b.n[DELTA_NEW], new_path, "2"), 0x2000);
	if (new_name)
		name(b.n[DELTA_NEW], at, 0, new_name);
	add(&b, DELTA_NEW, &at, 1, 5);
	cr_assert_eq(b.d->cnt, match ? 1 : 2, "%s and %s", old_name, new_name);
	if (match) {
		cr_assert_eq(b.d->rows[0].self[DELTA_OLD].cnt, 3);
		cr_assert_eq(b.d->rows[0].self[DELTA_NEW].cnt, 5);
		/* its name in the new trace */
		if (new_name)
			cr_assert_str_eq(text(&b, 0, 0), new_name);
	}
	both_fini(&b);
}

Test(delta, functions_are_matched_by_name_across_builds)
{
	expect_match("/opt/v1/app", "work", "/opt/v2/app", "work", true);
	expect_match("/opt/app", "work", "/opt/app", "rest", false);
	expect_match("/opt/app", "work", "/opt/api", "work", false);
	expect_match("/opt/app", "work", "/opt/app", "work.isra.0", true);
	expect_match("/opt/app", "work.constprop.1.cold", "/opt/app", "work.part.0", true);
	expect_match("/opt/app", "a::b::h0123456789abcdef", "/opt/app", "a::b::hfedcba9876543210",
		     true);
	expect_match("/opt/app", "a::b::h0123456789abcdeg", "/opt/app", "a::b::hfedcba9876543210",
		     false);
	expect_match("/lib/libz.so.1.2.13", "inflate", "/lib/libz.so.1.3", "inflate", true);
	expect_match("/lib/libc-2.31.so", "malloc", "/lib/libc.so.6", "malloc", true);
	expect_match("/lib/libav2.so", "f", "/lib/libav3.so", "f", false);
}

static void name_in_file(struct names *n, uint64_t at, const char *text, const char *file)
{
	struct names_frame f = { .name = names_add(n, text, strlen(text)),
				 .file = names_add(n, file, strlen(file)),
				 .base = NAMES_BASE_UNKNOWN };

	names_symbol_set(n, at, 0, &f);
}

/* The frame of a function; @file may be NULL. */
static uint64_t place(struct both *b, enum delta_side side, uint32_t module, uint64_t off,
		      const char *fn, const char *file)
{
	const uint64_t at = frame(module, off);

	if (file)
		name_in_file(b->n[side], at, fn, file);
	else
		name(b->n[side], at, 0, fn);
	return at;
}

static void match(struct both *b)
{
	delta_match_init(&b->d->match, b->n[DELTA_OLD], b->n[DELTA_NEW]);
}

Test(delta, file_with_two_names_is_one_module)
{
	struct both b;
	uint64_t old, new;

	both_init(&b, false);
	old = place(&b, DELTA_OLD, add_module(b.n[DELTA_OLD], "/opt/app-v1", "same"), 1, "f", NULL);
	add_module(b.n[DELTA_NEW], "/bin/other", "x");
	new = place(&b, DELTA_NEW, add_module(b.n[DELTA_NEW], "/opt/app", "same"), 1, "f", NULL);
	match(&b);
	add(&b, DELTA_OLD, &old, 1, 3);
	add(&b, DELTA_NEW, &new, 1, 5);
	cr_assert_eq(b.d->cnt, 1);
	cr_assert_float_eq(delta_matched(b.d, DELTA_OLD, false), 1, 1e-9);
	both_fini(&b);
}

Test(delta, base_names_match_before_build_ids)
{
	struct both b;
	uint64_t old, new;

	both_init(&b, false);
	old = place(&b, DELTA_OLD, add_module(b.n[DELTA_OLD], "/bin/perl", "same"), 1, "f", NULL);
	add_module(b.n[DELTA_NEW], "/bin/perl5.36", "same");
	new = place(&b, DELTA_NEW, add_module(b.n[DELTA_NEW], "/bin/perl", "same"), 1, "f", NULL);
	match(&b);
	add(&b, DELTA_OLD, &old, 1, 3);
	add(&b, DELTA_NEW, &new, 1, 5);
	cr_assert_eq(b.d->cnt, 1);
	both_fini(&b);
}

Test(delta, versions_in_file_names_are_matched_by_source_file)
{
	struct both b;
	uint64_t old[2], new[2];
	uint32_t module;

	both_init(&b, true);
	module = add_module(b.n[DELTA_OLD], "/a/svc-v1", "1");
	old[0] = place(&b, DELTA_OLD, module, 1, "parse.constprop.0", "/a/src/svc.c");
	old[1] = place(&b, DELTA_OLD, module, 2, "_start", NULL);
	add_module(b.n[DELTA_NEW], "/bin/other", "x");
	module = add_module(b.n[DELTA_NEW], "/b/svc-v2", "2");
	new[0] = place(&b, DELTA_NEW, module, 7, "parse", "/b/src/svc.c");
	new[1] = place(&b, DELTA_NEW, module, 8, "_start", NULL);
	match(&b);
	add(&b, DELTA_OLD, old, 2, 3);
	add(&b, DELTA_NEW, new, 2, 5);
	/* the whole stack: parse by its file, which pairs the modules, and so _start */
	cr_assert_eq(b.d->cnt, 1);
	both_fini(&b);
}

Test(delta, function_in_two_other_modules_is_not_matched_by_source_file)
{
	struct both b;
	uint64_t a, c, new;

	both_init(&b, false);
	a = place(&b, DELTA_OLD, add_module(b.n[DELTA_OLD], "/bin/as", "1"), 1, "xmalloc", "x.c");
	c = place(&b, DELTA_OLD, add_module(b.n[DELTA_OLD], "/bin/cc1", "2"), 1, "xmalloc", "x.c");
	new = place(&b, DELTA_NEW, add_module(b.n[DELTA_NEW], "/bin/tar", "3"), 1, "xmalloc",
		    "x.c");
	match(&b);
	add(&b, DELTA_OLD, &a, 1, 1);
	add(&b, DELTA_OLD, &c, 1, 1);
	add(&b, DELTA_NEW, &new, 1, 1);
	cr_assert_eq(b.d->cnt, 3);
	cr_assert_float_eq(delta_matched(b.d, DELTA_OLD, false), 0, 1e-9);
	cr_assert_float_eq(delta_matched(b.d, DELTA_OLD, true), 1, 1e-9);
	cr_assert_float_eq(delta_matched(b.d, DELTA_NEW, true), 1, 1e-9);
	both_fini(&b);
}

Test(delta, modules_are_ignored_when_matching_by_name)
{
	struct both b;
	uint64_t old, new;

	both_init(&b, false);
	b.d->by_name = true;
	old = place(&b, DELTA_OLD, add_module(b.n[DELTA_OLD], "/a/svc-v1", "1"), 1, "f", NULL);
	new = place(&b, DELTA_NEW, add_module(b.n[DELTA_NEW], "/b/svc-v2", "2"), 9, "f", NULL);
	match(&b);
	add(&b, DELTA_OLD, &old, 1, 3);
	add(&b, DELTA_NEW, &new, 1, 5);
	cr_assert_eq(b.d->cnt, 1);
	/* code without a symbol has only its module */
	old = frame(names_frame_module(old), 0x100);
	new = frame(names_frame_module(new), 0x100);
	add(&b, DELTA_OLD, &old, 1, 1);
	add(&b, DELTA_NEW, &new, 1, 5);
	cr_assert_eq(b.d->cnt, 3);
	cr_assert_float_eq(delta_matched(b.d, DELTA_OLD, false), 0.75, 1e-9);
	cr_assert_float_eq(delta_matched(b.d, DELTA_NEW, false), 0.5, 1e-9);
	both_fini(&b);
}

Test(delta, code_without_symbols_is_one_row_per_module)
{
	expect_match("/opt/app", NULL, "/opt/app", NULL, true);
	expect_match("/lib/libz.so.1.2.13", NULL, "/lib/libz.so.1.3", NULL, true);
	expect_match("/opt/app", NULL, "/opt/app", "work", false);
}

Test(delta, recursion_counts_once_and_inlined_functions_are_functions)
{
	uint64_t at[3];
	struct both b;

	both_init(&b, false);
	at[0] = frame(add_module(b.n[0], "/opt/app", "1"), 0x10);
	at[1] = at[0] + 0x10;
	at[2] = at[0] + 0x20;
	name(b.n[0], at[0], 0, "outer");
	name(b.n[0], at[0], 1, "inner");
	name(b.n[0], at[1], 0, "outer");
	name(b.n[0], at[2], 0, "main");
	add(&b, DELTA_OLD, at, 3, 4);
	cr_assert_eq(b.d->cnt, 3);
	cr_assert_str_eq(text(&b, 0, 0), "inner");
	cr_assert_eq(b.d->rows[0].self[DELTA_OLD].cnt, 4);
	cr_assert_str_eq(text(&b, 1, 0), "outer");
	cr_assert_eq(b.d->rows[1].self[DELTA_OLD].cnt, 0);
	cr_assert_eq(b.d->rows[1].total[DELTA_OLD].cnt, 4);
	both_fini(&b);
}

Test(delta, row_of_a_stack_has_the_whole_stack)
{
	uint64_t at[2];
	struct both b;

	both_init(&b, true);
	for (int side = 0; side < DELTA_SIDES; side++) {
		at[0] = frame(add_module(b.n[side], "/opt/app", side ? "1" : "2"), 0x10);
		at[1] = at[0] + 0x10 + (uint64_t)side;
		name(b.n[side], at[0], 0, "leaf");
		name(b.n[side], at[1], 0, "main");
		add(&b, (enum delta_side)side, at, 2, 1);
		add(&b, (enum delta_side)side, at, 1, 1);
	}
	cr_assert_eq(b.d->cnt, 2);
	cr_assert_eq(b.d->rows[0].place_cnt, 2);
	cr_assert_str_eq(text(&b, 0, 1), "main");
	cr_assert_eq(b.d->rows[1].place_cnt, 1);
	both_fini(&b);
}

/* ---- errors ------------------------------------------------------------------------------------ */

static struct delta_change compare(uint64_t old, uint64_t old_all, uint64_t new, uint64_t new_all,
				   bool share)
{
	const uint64_t it = 1, rest = 2;
	struct delta_scale scale = {
		.by = { share ? 1.0 / (double)old_all : 1, share ? 1.0 / (double)new_all : 1 },
		.share = share,
	};
	struct delta_change c;
	struct both b;

	both_init(&b, false);
	for (int side = 0; side < DELTA_SIDES; side++) {
		uint64_t cnt = side ? new : old, all = side ? new_all : old_all;
		uint64_t at = frame(add_module(b.n[side], "/opt/app", "1"), it);

		name(b.n[side], at, 0, "it");
		add(&b, (enum delta_side)side, &at, 1, cnt);
		at = frame(add_module(b.n[side], "/opt/app", "1"), rest);
		name(b.n[side], at, 0, "rest");
		if (all > cnt)
			add(&b, (enum delta_side)side, &at, 1, all - cnt);
	}
	c = delta_change_sum(b.d, &b.d->rows[0], false, &scale);
	both_fini(&b);
	return c;
}

Test(delta, counts_have_poisson_errors)
{
	/* sqrt(100 + 144) = 15.62 */
	struct delta_change c = compare(100, 1000, 144, 1000, false);

	cr_assert_float_eq(c.delta, 44, 1e-9);
	cr_assert_float_eq(c.error, 2 * sqrt(244), 1e-9);
	cr_assert_eq(c.verdict, DELTA_CHANGED);
	cr_assert_float_eq(c.ratio, 1.44, 1e-9);
	cr_assert_float_eq(c.ratio_error, 1.44 * 2 * sqrt(1 / 100.0 + 1 / 144.0), 1e-9);
	c = compare(100, 1000, 120, 1000, false);
	cr_assert_eq(c.verdict, DELTA_NOISE);
}

Test(delta, shares_have_binomial_errors)
{
	/* p (1-p) / n: 0.9 * 0.1 / 100 and 0.8 * 0.2 / 400 */
	struct delta_change c = compare(90, 100, 320, 400, true);

	cr_assert_float_eq(c.delta, -0.1, 1e-9);
	cr_assert_float_eq(c.error, 2 * sqrt(0.0009 + 0.0004), 1e-9);
	cr_assert_eq(c.verdict, DELTA_CHANGED);
	/* the total has no error except the error of one sample */
	c = compare(100, 100, 100, 100, true);
	cr_assert_eq(c.verdict, DELTA_NOISE);
	cr_assert_eq(c.delta, 0);
}

Test(delta, count_of_0_may_have_been_1)
{
	/* 2 of 100 against 0 of 50: the possible one is 2% */
	struct delta_change c = compare(2, 100, 0, 50, true);

	cr_assert_eq(c.verdict, DELTA_NOISE);
	cr_assert_float_eq(c.error, 2 * sqrt(0.02 * 0.98 / 100 + 1.0 / 2500), 1e-9);
	cr_assert_eq(c.ratio, 0);
	/* compared with an empty trace there is no significance */
	c = compare(2, 100, 0, 0, false);
	cr_assert_eq(c.verdict, DELTA_UNSURE);
	cr_assert_lt(c.error, 0);
}

/* Blocked in the kernel below libc, below the program, below libc again. */
Test(delta, blocked_time_belongs_to_the_innermost_own_function)
{
	struct both b;

	both_init(&b, false);
	b.d->own = true;
	for (int side = 0; side < DELTA_SIDES; side++) {
		struct names *n = b.n[side];
		const uint32_t app = add_module(n, "/opt/app", "1"),
			       libc = add_module(n, "/lib/libc.so.6", "2"),
			       kernel = add_module(n, "[kernel.kallsyms]", "3");
		const uint64_t own[] = { frame(kernel, 1) | PROF_FRAME_KERNEL, frame(libc, 1),
					 frame(app, 1), frame(app, 2), frame(libc, 2) },
			       kernels[] = { frame(kernel, 1) | PROF_FRAME_KERNEL,
					     frame(kernel, 2) | PROF_FRAME_KERNEL };

		name(n, own[0], 0, "__schedule");
		name(n, own[1], 0, "nanosleep");
		name(n, own[2], 0, "wait_a_bit");
		name(n, own[3], 0, "main");
		name(n, own[4], 0, "__libc_start_main");
		name(n, kernels[1], 0, "worker_thread");
		add(&b, (enum delta_side)side, own, 5, 3);
		add(&b, (enum delta_side)side, kernels, 2, 2);
	}
	for (size_t i = 0; i < b.d->cnt; i++) {
		const struct delta_row *row = &b.d->rows[i];
		const char *text = delta_str(b.d, row->places[0].name, NULL);
		const double want = !strcmp(text, "wait_a_bit")	   ? 3 :
				    !strcmp(text, "worker_thread") ? 2 :
								     0;

		cr_expect_eq(row->self[DELTA_NEW].sum, want, "%s %g", text,
			     row->self[DELTA_NEW].sum);
	}
	cr_assert_eq(b.d->cnt, 6);
	both_fini(&b);
}

/* 50 intervals of 9 and 11 ms, then of 10 and 12: two standard deviations of their number are 0.15 s of 0.5 s. */
Test(delta, longer_duration_of_all_intervals_is_not_noise)
{
	const struct delta_sum was = { 50, 500, 25 * (81 + 121) },
			       is = { 50, 550, 25 * (100 + 144) },
			       more = { 55, 550, 27.5 * (81 + 121) }, few = { 5, 55, 605 };
	struct delta_row row = { .self = { was, is } };
	struct delta_scale scale = { .by = { 1, 1 }, .lengths = true };
	struct delta d = { .all = { was, is } };
	struct delta_change c = delta_change_sum(&d, &row, false, &scale);

	cr_expect_eq(c.verdict, DELTA_CHANGED);
	cr_expect_float_eq(c.delta, 50, 1e-9);
	/* each side: the spread of one, 1.0102 ms, by the root of 50 */
	cr_expect_float_eq(c.error, 2 * sqrt(2) * sqrt(50 * 50.0 / 49), 1e-6, "%g", c.error);
	/* by counts alone it is within noise; also with more intervals of the same length; or too few */
	scale.lengths = false;
	cr_expect_eq(delta_change_sum(&d, &row, false, &scale).verdict, DELTA_NOISE);
	scale.lengths = true;
	row.self[DELTA_NEW] = more;
	cr_expect_eq(delta_change_sum(&d, &row, false, &scale).verdict, DELTA_NOISE);
	row.self[DELTA_OLD] = row.self[DELTA_NEW] = few;
	cr_expect_eq(delta_change_sum(&d, &row, false, &scale).verdict, DELTA_NOISE);
}

Test(delta, run_queue_latencies_are_compared_by_a_percentile)
{
	struct delta_change c;
	struct both b;

	both_init(&b, false);
	for (uint64_t i = 1; i <= 10000; i++) {
		delta_add_wait(b.d, DELTA_OLD, "app", 3, i);
		delta_add_wait(b.d, DELTA_NEW, "app", 3, i * 3);
	}
	delta_add_wait(b.d, DELTA_NEW, "late", 4, 7);
	cr_assert_eq(b.d->cnt, 2);
	c = delta_change_quantile(&b.d->rows[0], 0.5);
	cr_assert_float_eq(c.v[DELTA_OLD], 5000, 50);
	cr_assert_float_eq(c.v[DELTA_NEW], 15000, 150);
	/* ranks +- 100: +- 100 and +- 300 */
	cr_assert_float_eq(c.error, hypot(100, 300), 200);
	cr_assert_eq(c.verdict, DELTA_CHANGED);
	c = delta_change_quantile(&b.d->rows[1], 0.5);
	cr_assert_eq(c.verdict, DELTA_UNSURE);
	cr_assert_eq(c.delta, 0);
	cr_assert_lt(c.error, 0);
	both_fini(&b);
}

/* With 20 intervals the 99th percentile is unknown, but the median differs. */
Test(delta, changed_median_counts_if_the_percentile_is_unknown)
{
	struct delta_change c;
	struct both b;

	both_init(&b, false);
	for (uint64_t i = 0; i < 20; i++) {
		delta_add_wait(b.d, DELTA_OLD, "app", 3, 50 + i);
		delta_add_wait(b.d, DELTA_NEW, "app", 3, 1500 + i);
		delta_add_wait(b.d, DELTA_OLD, "same", 4, 50 + i);
		delta_add_wait(b.d, DELTA_NEW, "same", 4, 50 + i);
	}
	/* a row without significance, which would change the sign */
	delta_add_wait(b.d, DELTA_OLD, "app", 3, 100000);
	delta_add_wait(b.d, DELTA_NEW, "app", 3, 1600);
	c = delta_change_quantile(&b.d->rows[0], 0.99);
	cr_expect_lt(c.error, 0);
	cr_expect_lt(c.delta, 0);
	cr_expect_float_eq(c.median_delta, 1450, 20);
	cr_expect_gt(c.median_error, 0);
	cr_expect_eq(c.verdict, DELTA_CHANGED);
	cr_expect_float_eq(c.verdict_delta, 1450, 20);
	cr_expect_float_eq(c.verdict_ratio, 1510.0 / 60, 1);
	c = delta_change_quantile(&b.d->rows[1], 0.99);
	cr_expect_lt(c.error, 0);
	cr_expect_eq(c.verdict, DELTA_UNSURE);
	both_fini(&b);
}
