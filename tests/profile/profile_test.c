// SPDX-License-Identifier: BSD-2-Clause
/* Shares by function, module and thread; what must come out is counted by hand in the comments. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "profile/profile.h"

static const struct profile_row *row(const struct names *n, const struct profile_rows *rows,
				     const char *sym)
{
	for (size_t i = 0; i < rows->cnt; i++)
		if (!strcmp(names_str(n, rows->v[i].sym, NULL), sym))
			return &rows->v[i];
	cr_assert_fail("no row for %s", sym);
	return NULL;
}

Test(profile, self_and_total_by_function)
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

Test(profile, by_module_and_by_thread)
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

/* Two processes with code made at run time: one row for people, but a cause of its own for each. */
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

Test(profile, inlined_functions_are_frames_of_their_own)
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

Test(profile, names_that_come_after_the_samples_count)
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
	rows.cnt = 0;
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
