// SPDX-License-Identifier: BSD-2-Clause
/* Mappings replace each other like in the kernel; a byte map has the expected result. */
#include "record/process/proc_maps.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "record/process/string_pool.h"

static struct string_pool *texts;
static size_t memory, texts_before;

static void setup(void)
{
	texts = string_pool_new();
	texts_before = string_pool_memory(texts);
}

/* Each test frees its sets first, so no memory may be left. */
static void teardown(void)
{
	cr_expect_eq(memory, 0);
	cr_expect_eq(string_pool_memory(texts), texts_before);
	string_pool_free(texts);
}

TestSuite(proc_maps, .init = setup, .fini = teardown);

static struct proc_maps new_maps(void)
{
	struct proc_maps maps;

	proc_maps_init(&maps, texts, &memory);
	return maps;
}

static bool insert(struct proc_maps *maps, uint64_t start, uint64_t end, uint64_t pgoff,
		   const char *path)
{
	struct map m = { .start = start, .end = end, .pgoff = pgoff };
	bool kept;

	m.path = string_pool_get(texts, path, strlen(path));
	kept = proc_maps_insert(maps, &m);
	string_pool_unref(texts, m.path);
	return kept;
}

static size_t count(const struct proc_maps *maps)
{
	return maps->table ? maps->table->cnt : 0;
}

static void assert_map(const struct proc_maps *maps, uint64_t start, uint64_t end, uint64_t pgoff,
		       const char *path)
{
	const struct map *m = proc_maps_find(maps, start);

	cr_assert_not_null(m);
	cr_expect_eq(m->start, start);
	cr_expect_eq(m->end, end);
	cr_expect_eq(m->pgoff, pgoff);
	cr_expect_str_eq(m->path, path);
}

Test(proc_maps, end_of_a_mapping_is_exclusive)
{
	struct proc_maps maps = new_maps();

	cr_expect_null(proc_maps_find(&maps, 0));
	cr_expect_null(proc_maps_edit(&maps, 0));
	insert(&maps, 0x1000, 0x2000, 0, "/a");
	cr_expect_null(proc_maps_find(&maps, 0xfff));
	cr_expect_null(proc_maps_edit(&maps, 0xfff));
	cr_expect_not_null(proc_maps_find(&maps, 0x1000));
	cr_expect_not_null(proc_maps_find(&maps, 0x1fff));
	cr_expect_null(proc_maps_find(&maps, 0x2000));
	proc_maps_free(&maps);
}

Test(proc_maps, mapping_in_the_middle_splits_another_and_file_offsets_stay_right)
{
	struct proc_maps maps = new_maps();

	insert(&maps, 0x10000, 0x50000, 0x3000, "/a");
	proc_maps_edit(&maps, 0x10000)->announced = 1;
	insert(&maps, 0x20000, 0x30000, 0, "/b");
	cr_assert_eq(count(&maps), 3);
	assert_map(&maps, 0x10000, 0x20000, 0x3000, "/a");
	assert_map(&maps, 0x20000, 0x30000, 0, "/b");
	assert_map(&maps, 0x30000, 0x50000, 0x23000, "/a");
	cr_expect_eq(proc_maps_find(&maps, 0x10000)->announced, 1);
	cr_expect_eq(proc_maps_find(&maps, 0x30000)->announced, 0,
		     "its start and offset are news to a reader");
	proc_maps_free(&maps);
}

Test(proc_maps, mapping_over_several_others_cuts_the_outer_and_removes_the_inner)
{
	struct proc_maps maps = new_maps();

	insert(&maps, 100, 200, 0, "/a");
	insert(&maps, 200, 300, 0, "/b");
	insert(&maps, 400, 500, 0, "/c");
	insert(&maps, 150, 450, 7, "/d");
	cr_assert_eq(count(&maps), 3);
	assert_map(&maps, 100, 150, 0, "/a");
	assert_map(&maps, 150, 450, 7, "/d");
	assert_map(&maps, 450, 500, 50, "/c");
	proc_maps_free(&maps);
}

Test(proc_maps, mapping_at_the_same_address_replaces_another)
{
	struct proc_maps maps = new_maps();

	insert(&maps, 100, 200, 0, "/a");
	insert(&maps, 100, 200, 8, "/b");
	cr_assert_eq(count(&maps), 1);
	assert_map(&maps, 100, 200, 8, "/b");
	proc_maps_free(&maps);
}

Test(proc_maps, empty_and_reversed_mappings_change_nothing)
{
	struct proc_maps maps = new_maps();
	uint32_t generation;

	insert(&maps, 100, 200, 0, "/a");
	generation = maps.generation;
	insert(&maps, 150, 150, 0, "/b");
	insert(&maps, 180, 120, 0, "/b");
	insert(&maps, UINT64_MAX, 0, 0, "/b");
	cr_assert_eq(count(&maps), 1);
	assert_map(&maps, 100, 200, 0, "/a");
	cr_expect_eq(maps.generation, generation);
	proc_maps_free(&maps);
}

Test(proc_maps, every_change_has_a_new_generation)
{
	struct proc_maps maps = new_maps(), copy = new_maps();
	uint32_t before = maps.generation;

	insert(&maps, 1, 2, 0, "/a");
	cr_expect_neq(maps.generation, before);
	before = maps.generation;
	proc_maps_clear(&maps);
	cr_expect_neq(maps.generation, before);
	before = copy.generation;
	proc_maps_copy(&copy, &maps);
	cr_expect_neq(copy.generation, before);
	proc_maps_free(&maps);
	proc_maps_free(&copy);
}

Test(proc_maps, copy_is_independent)
{
	struct proc_maps maps = new_maps(), copy = new_maps();
	size_t alone;

	insert(&copy, 900, 1000, 0, "/old");
	insert(&maps, 100, 200, 5, "/a");
	proc_maps_edit(&maps, 100)->module_id = 9;
	alone = memory / 2;
	proc_maps_copy(&copy, &maps);
	cr_expect_eq(memory, alone, "what is the same is held once");
	cr_expect_eq(proc_maps_find(&copy, 100)->module_id, 9);
	proc_maps_edit(&copy, 100)->module_id = 8;
	cr_expect_eq(proc_maps_find(&maps, 100)->module_id, 9);
	insert(&maps, 150, 300, 0, "/b");
	assert_map(&copy, 100, 200, 5, "/a");
	proc_maps_clear(&maps);
	cr_assert_eq(count(&copy), 1);
	assert_map(&copy, 100, 200, 5, "/a");
	proc_maps_copy(&copy, &maps);
	cr_expect_eq(count(&copy), 0);
	proc_maps_free(&maps);
	proc_maps_free(&copy);
}

/* Without shared chunks, falling addresses moved every mapping each time; a copy for each fork moved all of them. */
Test(proc_maps, many_mappings_and_many_copies_share_equal_parts)
{
	struct proc_maps maps = new_maps(), copies[200];
	uint64_t i;
	size_t alone;

	for (i = 0; i < PROC_MAPS_MAX; i++)
		cr_assert(insert(&maps, 0x7f0000000000 - i * 0x2000,
				 0x7f0000000000 - i * 0x2000 + 0x1000, 0, "/a"));
	alone = memory;
	cr_expect_lt(alone, PROC_MAPS_MAX * 3 * sizeof(struct map));
	for (i = 0; i < 200; i++) {
		copies[i] = new_maps();
		proc_maps_copy(&copies[i], &maps);
	}
	cr_expect_eq(memory, alone);
	for (i = 0; i < 200; i++)
		proc_maps_edit(&copies[i], 0x7f0000000000)->module_id = i;
	cr_expect_lt(memory, 2 * alone);
	for (i = 0; i < 200; i++) {
		cr_expect_eq(proc_maps_find(&copies[i], 0x7f0000000000)->module_id, i);
		proc_maps_free(&copies[i]);
	}
	proc_maps_free(&maps);
}

Test(proc_maps, mapping_above_the_limit_is_dropped_with_the_mappings_below_it)
{
	struct proc_maps maps = new_maps();
	uint64_t i;

	for (i = 0; i < PROC_MAPS_MAX; i++)
		cr_assert(insert(&maps, i * 100, i * 100 + 50, 0, "/a"));
	cr_expect_not(insert(&maps, 60, 90, 0, "/b"));
	cr_expect_null(proc_maps_find(&maps, 60));
	cr_expect_not(insert(&maps, 10, 20, 0, "/b"));
	cr_expect_null(proc_maps_find(&maps, 10), "and not the mapping of before");
	assert_map(&maps, 20, 50, 20, "/a");
	cr_expect(insert(&maps, 100, 50000, 0, "/c"));
	cr_expect(insert(&maps, 60, 90, 0, "/b"));
	proc_maps_free(&maps);
}

/* Every other one of many mappings is removed, again and again: the holes must not create endless chunks. */
Test(proc_maps, holes_need_no_memory)
{
	struct proc_maps maps = new_maps();
	uint64_t i;
	size_t full;

	for (i = 0; i < PROC_MAPS_MAX; i++)
		insert(&maps, i * 100, i * 100 + 50, 0, "/a");
	full = memory;
	for (i = 0; i < PROC_MAPS_MAX; i += 32)
		insert(&maps, i * 100, i * 100 + 3100 - 50, 0, "/b");
	cr_expect_eq(count(&maps), PROC_MAPS_MAX / 32 * 2);
	cr_expect_lt(memory, full / 4);
	proc_maps_free(&maps);
}

Test(proc_maps, path_determines_the_kind_of_a_mapping)
{
	cr_expect(proc_maps_is_file("/usr/bin/env"));
	cr_expect(proc_maps_is_file("/tmp/x (deleted)"));
	cr_expect_not(proc_maps_is_file("//anon"));
	cr_expect_not(proc_maps_is_file("[vdso]"));
	cr_expect_not(proc_maps_is_file(""));
	cr_expect(proc_maps_is_vdso("[vdso]"));
	cr_expect_not(proc_maps_is_vdso("[vsyscall]"));
}

/* JITs have memfds as well, which are no ELF files. */
Test(proc_maps, memfd_is_a_file_once_it_is_identified)
{
	struct map m = { .path = "/memfd:x", .build_id_sz = 20 };

	cr_expect(proc_maps_has_file(&m));
	m = (struct map){ .path = "/memfd:x", .version = 1 };
	cr_expect(proc_maps_has_file(&m));
	m = (struct map){ .path = "/memfd:x", .build_id_known = true };
	cr_expect_not(proc_maps_has_file(&m));
	m = (struct map){ .path = "/dev/zero", .version = 1 };
	cr_expect_not(proc_maps_has_file(&m));
	m = (struct map){ .path = "/bin/x" };
	cr_expect(proc_maps_has_file(&m));
	cr_expect_not(proc_maps_is_memfd("/memf"));
}

static void expect_announced(const char *path, const char *kept, uint64_t pgoff)
{
	const struct perf_side side = { .addr = 0x1000,
					.len = 0x1000,
					.pgoff = 0x3000,
					.name = path,
					.name_len = strlen(path) };
	struct map m = proc_maps_from_side(texts, &side);

	cr_expect_str_eq(m.path, kept);
	cr_expect_eq(m.pgoff, pgoff, "%s", path);
	string_pool_unref(texts, m.path);
}

/* /proc has the same name for it, without the suffix. */
Test(proc_maps, memfd_is_not_marked_as_deleted)
{
	expect_announced("/memfd:x (deleted)", "/memfd:x", 0x3000);
	expect_announced("/memfd:x", "/memfd:x", 0x3000);
	expect_announced("/bin/x (deleted)", "/bin/x (deleted)", 0x3000);
	expect_announced("//anon", "//anon", 0);
}

/* ---- against a naive model ------------------------------------------------------------------------ */

enum { SPACE = 512, PATHS = 7 };

static const char *const names[PATHS] = { "/a", "/b", "/c", "/d", "/e", "/f", "/g" };

/* For each byte, the file and the offset in it. */
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

static void assert_same(const struct proc_maps *maps, const struct model *model)
{
	uint64_t addr;

	for (addr = 0; addr < SPACE; addr++) {
		const struct map *m = proc_maps_find(maps, addr);

		cr_assert_eq(m != NULL, model->path[addr] >= 0, "address %d", (int)addr);
		if (!m)
			continue;
		cr_assert_str_eq(m->path, names[model->path[addr]]);
		cr_assert_eq(addr - m->start + m->pgoff, model->off[addr]);
	}
}

Test(proc_maps, random_operations_agree_with_a_map_of_bytes)
{
	struct proc_maps maps = new_maps(), copy = new_maps();
	struct model model, copy_model;
	unsigned int seed = 1;
	int round;

	memset(model.path, 0xff, sizeof(model.path));
	copy_model = model;
	for (round = 0; round < 4000; round++) {
		uint64_t start = rand_r(&seed) % SPACE, end = rand_r(&seed) % (SPACE + 1);
		uint64_t pgoff = rand_r(&seed) % 10000;
		int path = rand_r(&seed) % PATHS;

		if (rand_r(&seed) % 3)
			end = start + (end & 15) < SPACE ? start + (end & 15) : SPACE;
		insert(&maps, start, end, pgoff, names[path]);
		model_insert(&model, start, end, pgoff, path);
		assert_same(&maps, &model);
		if (rand_r(&seed) % 50 == 0) {
			proc_maps_copy(&copy, &maps);
			copy_model = model;
		}
		if (rand_r(&seed) % 200 == 0) {
			proc_maps_clear(&maps);
			memset(model.path, 0xff, sizeof(model.path));
		}
		if (rand_r(&seed) % 100 == 0) {
			assert_same(&copy, &copy_model);
			proc_maps_copy(&maps, &copy);
			model = copy_model;
		}
	}
	proc_maps_free(&maps);
	proc_maps_free(&copy);
}
