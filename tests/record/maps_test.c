// SPDX-License-Identifier: BSD-2-Clause
/* Mappings lie over each other as in the kernel; a byte map is the judge. */
#include "record/maps.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void insert(struct maps *maps, uint64_t start, uint64_t end, uint64_t pgoff,
		   const char *path)
{
	maps_insert(maps,
		    &(struct map){ .start = start, .end = end, .pgoff = pgoff, .path = path });
}

static void assert_map(const struct maps *maps, size_t i, uint64_t start, uint64_t end,
		       uint64_t pgoff, const char *path)
{
	cr_assert_lt(i, maps->cnt);
	cr_expect_eq(maps->v[i].start, start);
	cr_expect_eq(maps->v[i].end, end);
	cr_expect_eq(maps->v[i].pgoff, pgoff);
	cr_expect_str_eq(maps->v[i].path, path);
}

Test(maps, the_end_of_a_mapping_is_outside_of_it)
{
	struct maps maps = { 0 };

	cr_expect_null(maps_find(&maps, 0));
	insert(&maps, 0x1000, 0x2000, 0, "/a");
	cr_expect_null(maps_find(&maps, 0xfff));
	cr_expect_not_null(maps_find(&maps, 0x1000));
	cr_expect_not_null(maps_find(&maps, 0x1fff));
	cr_expect_null(maps_find(&maps, 0x2000));
	maps_free(&maps);
}

Test(maps, one_in_the_middle_splits_and_the_rest_keeps_its_file_offset)
{
	struct maps maps = { 0 };

	insert(&maps, 0x10000, 0x50000, 0x3000, "/a");
	maps.v[0].announced = true;
	insert(&maps, 0x20000, 0x30000, 0, "/b");
	cr_assert_eq(maps.cnt, 3);
	assert_map(&maps, 0, 0x10000, 0x20000, 0x3000, "/a");
	assert_map(&maps, 1, 0x20000, 0x30000, 0, "/b");
	assert_map(&maps, 2, 0x30000, 0x50000, 0x23000, "/a");
	cr_expect(maps.v[0].announced);
	cr_expect_not(maps.v[2].announced, "its start and offset are news to a reader");
	maps_free(&maps);
}

Test(maps, one_over_several_cuts_the_outer_and_swallows_the_inner)
{
	struct maps maps = { 0 };

	insert(&maps, 100, 200, 0, "/a");
	insert(&maps, 200, 300, 0, "/b");
	insert(&maps, 400, 500, 0, "/c");
	insert(&maps, 150, 450, 7, "/d");
	cr_assert_eq(maps.cnt, 3);
	assert_map(&maps, 0, 100, 150, 0, "/a");
	assert_map(&maps, 1, 150, 450, 7, "/d");
	assert_map(&maps, 2, 450, 500, 50, "/c");
	maps_free(&maps);
}

Test(maps, the_same_place_again_replaces)
{
	struct maps maps = { 0 };

	insert(&maps, 100, 200, 0, "/a");
	insert(&maps, 100, 200, 8, "/b");
	cr_assert_eq(maps.cnt, 1);
	assert_map(&maps, 0, 100, 200, 8, "/b");
	maps_free(&maps);
}

Test(maps, empty_and_reversed_mappings_change_nothing)
{
	struct maps maps = { 0 };
	uint32_t generation;

	insert(&maps, 100, 200, 0, "/a");
	generation = maps.generation;
	insert(&maps, 150, 150, 0, "/b");
	insert(&maps, 180, 120, 0, "/b");
	insert(&maps, UINT64_MAX, 0, 0, "/b");
	cr_assert_eq(maps.cnt, 1);
	assert_map(&maps, 0, 100, 200, 0, "/a");
	cr_expect_eq(maps.generation, generation);
	maps_free(&maps);
}

Test(maps, every_change_is_a_new_generation)
{
	struct maps maps = { 0 }, copy = { 0 };
	uint32_t before = maps.generation;

	insert(&maps, 1, 2, 0, "/a");
	cr_expect_neq(maps.generation, before);
	before = maps.generation;
	maps_clear(&maps);
	cr_expect_neq(maps.generation, before);
	before = copy.generation;
	maps_copy(&copy, &maps);
	cr_expect_neq(copy.generation, before);
	maps_free(&maps);
	maps_free(&copy);
}

Test(maps, a_copy_is_its_own_and_still_to_be_announced)
{
	struct maps maps = { 0 }, copy = { 0 };

	insert(&copy, 900, 1000, 0, "/old");
	insert(&maps, 100, 200, 5, "/a");
	maps.v[0].announced = true;
	maps.v[0].module_id = 9;
	maps_copy(&copy, &maps);
	maps_clear(&maps);
	cr_assert_eq(copy.cnt, 1);
	assert_map(&copy, 0, 100, 200, 5, "/a");
	cr_expect_eq(copy.v[0].module_id, 9);
	cr_expect_not(copy.v[0].announced);
	maps_copy(&copy, &maps);
	cr_expect_eq(copy.cnt, 0);
	maps_free(&maps);
	maps_free(&copy);
}

Test(maps, a_path_says_what_is_behind_it)
{
	cr_expect(maps_is_file("/usr/bin/env"));
	cr_expect(maps_is_file("/tmp/x (deleted)"));
	cr_expect_not(maps_is_file("//anon"));
	cr_expect_not(maps_is_file("[vdso]"));
	cr_expect_not(maps_is_file(""));
	cr_expect(maps_is_vdso("[vdso]"));
	cr_expect_not(maps_is_vdso("[vsyscall]"));
}

/* ---- against a naive model ------------------------------------------------------------------------ */

enum { SPACE = 512, PATHS = 7 };

static const char *const names[PATHS] = { "/a", "/b", "/c", "/d", "/e", "/f", "/g" };

/* For each byte which file, and which byte of it. */
struct model {
	int path[SPACE]; /* -1: nothing */
	uint64_t off[SPACE];
};

static void model_insert(struct model *model, uint64_t start, uint64_t end, uint64_t pgoff,
			 int path)
{
	uint64_t i;

	for (i = start; i < end; i++) {
		model->path[i] = path;
		model->off[i] = pgoff + (i - start);
	}
}

static void assert_same(const struct maps *maps, const struct model *model)
{
	uint64_t addr;
	size_t i;

	for (i = 0; i + 1 < maps->cnt; i++)
		cr_assert_leq(maps->v[i].end, maps->v[i + 1].start);
	for (addr = 0; addr < SPACE; addr++) {
		const struct map *m = maps_find(maps, addr);

		cr_assert_eq(m != NULL, model->path[addr] >= 0, "address %d", (int)addr);
		if (!m)
			continue;
		cr_assert_eq(m->path, names[model->path[addr]]);
		cr_assert_eq(addr - m->start + m->pgoff, model->off[addr]);
	}
}

Test(maps, random_operations_agree_with_a_map_of_bytes)
{
	struct maps maps = { 0 };
	struct model model;
	unsigned int seed = 1;
	int round;

	memset(model.path, 0xff, sizeof(model.path));
	for (round = 0; round < 4000; round++) {
		uint64_t start = rand_r(&seed) % SPACE, end = rand_r(&seed) % (SPACE + 1);
		uint64_t pgoff = rand_r(&seed) % 10000;
		int path = rand_r(&seed) % PATHS;

		if (rand_r(&seed) % 3)
			end = start + (end & 15) < SPACE ? start + (end & 15) : SPACE;
		insert(&maps, start, end, pgoff, names[path]);
		model_insert(&model, start, end, pgoff, path);
		assert_same(&maps, &model);
		if (rand_r(&seed) % 200 == 0) {
			maps_clear(&maps);
			memset(model.path, 0xff, sizeof(model.path));
		}
	}
	maps_free(&maps);
}
