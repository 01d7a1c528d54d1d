// SPDX-License-Identifier: BSD-2-Clause
/* LINK: -Wl,--wrap=sym_client_add_module */
/*
 * Which files are identified, and the data about them afterwards. The broker is a list of requests, which the
 * linker puts in place of the real one.
 */
#include "record/symbols/build_ids.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "prof_events.h"
#include "record/process/string_pool.h"
#include "record/process/tasks.h"
#include "symbol/broker/sym_client.h"

/* ---- the broker ----------------------------------------------------------------------------------- */

struct sym_client {
	size_t cnt;
	uint32_t last_id;
	struct sym_client_module last;
	char path[64];
	int refuse_with;
};

int __wrap_sym_client_add_module(struct sym_client *b, uint32_t module_id,
				 const struct sym_client_module *module);

int __wrap_sym_client_add_module(struct sym_client *b, uint32_t module_id,
				 const struct sym_client_module *module)
{
	cr_assert(!b->cnt || module_id >= b->last_id, "an id for each");
	b->cnt++;
	b->last_id = module_id;
	b->last = *module;
	snprintf(b->path, sizeof(b->path), "%s", module->path);
	return b->refuse_with;
}

/* ---- the tests --------------------------------------------------------------------------------------- */

static struct sym_client broker;
static struct string_pool *texts;
static size_t memory;
static struct process proc;
static struct build_ids *ids;

static void setup(void)
{
	broker = (struct sym_client){ .cnt = 0 };
	texts = string_pool_new();
	proc = (struct process){ .pid = 77 };
	proc_maps_init(&proc.maps, texts, &memory);
	ids = build_ids_new(&broker);
}

static void teardown(void)
{
	build_ids_free(ids);
	proc_maps_free(&proc.maps);
	string_pool_free(texts);
}

TestSuite(build_ids, .init = setup, .fini = teardown, .timeout = 60);

static struct map mapping(uint64_t start, const char *path, uint64_t dev, uint64_t inode)
{
	return (struct map){
		.start = start, .end = start + 0x1000, .path = path, .dev = dev, .inode = inode
	};
}

static void map(uint64_t start, const char *path, uint64_t dev, uint64_t inode)
{
	struct map m = mapping(start, string_pool_get(texts, path, strlen(path)), dev, inode);

	cr_assert(proc_maps_insert(&proc.maps, &m));
	string_pool_unref(texts, m.path);
}

static uint64_t version = 7;

static void answer(uint32_t id, const char *build_id, size_t sz)
{
	build_ids_answer(ids, &(struct sym_client_answer){ .module_id = id,
							   .version = version,
							   .build_id = (const uint8_t *)build_id,
							   .build_id_sz = sz });
}

/* Its path may be another file by the time it is opened. */
Test(build_ids, file_is_requested_by_its_inode)
{
	struct map m = mapping(0x1000, "/bin/a", 8ULL << 32 | 3, 42);

	build_ids_expect_map(ids, 77, 0, &m);
	cr_assert_eq(broker.cnt, 1);
	cr_expect_eq(broker.last.inode, 42);
	cr_expect_eq(broker.last.dev, 8U << 20 | 3);
}

Test(build_ids, each_file_is_requested_once)
{
	map(0x400000, "/bin/a", 8, 100);
	build_ids_expect(ids, &proc);
	cr_assert_eq(broker.cnt, 1);
	cr_expect_gt(broker.last_id, PROF_FRAME_MODULE_MAX, "modules have the numbers up to there");
	cr_expect_eq(broker.last.kind, SYM_CLIENT_IDENTIFY);
	cr_expect_eq(broker.last.pid, 77);
	cr_expect_str_eq(broker.path, "/bin/a");
	cr_expect_eq(broker.last.map_start, 0x400000);
	cr_expect_eq(broker.last.map_end, 0x401000);
	map(0x500000, "/bin/a", 8, 100);
	build_ids_expect(ids, &proc);
	cr_expect_eq(broker.cnt, 1);
	map(0x600000, "/bin/a", 9, 100);
	map(0x700000, "/bin/a", 8, 101);
	map(0x800000, "/bin/b", 8, 100);
	build_ids_expect(ids, &proc);
	cr_expect_eq(broker.cnt, 4, "others by device, by inode, and by name");
}

Test(build_ids, only_unidentified_files_are_requested)
{
	struct map known = mapping(0x800000, string_pool_get(texts, "/bin/k", 6), 8, 100);

	map(0x400000, "[vdso]", 8, 100);
	map(0x500000, "//anon", 8, 100);
	map(0x600000, "/bin/a", 0, 0);
	known.build_id_known = true;
	proc_maps_insert(&proc.maps, &known);
	string_pool_unref(texts, known.path);
	build_ids_expect(ids, &proc);
	cr_expect_eq(broker.cnt, 0);
	cr_expect(build_ids_find(ids, proc_maps_edit(&proc.maps, 0x400000), false),
		  "there is no more to know");
	cr_expect(build_ids_find(ids, proc_maps_edit(&proc.maps, 0x600000), false));
}

static void expect_memory_file(uint64_t start, int error, bool has_file)
{
	map(start, "/memfd:x", 1, start);
	build_ids_expect(ids, &proc);
	build_ids_answer(ids, &(struct sym_client_answer){
				      .module_id = broker.last_id, .version = 7, .error = error });
	cr_assert(build_ids_find(ids, proc_maps_edit(&proc.maps, start), false));
	cr_expect_eq(proc_maps_has_file(proc_maps_find(&proc.maps, start)), has_file);
}

/* Of a program, or memory for generated code. */
Test(build_ids, memfd_is_requested_and_is_a_file_if_it_is_elf)
{
	expect_memory_file(0x400000, 0, true);
	expect_memory_file(0x500000, -ENOEXEC, false);
	cr_expect_eq(broker.cnt, 2);
}

Test(build_ids, answer_is_used_for_all_mappings_of_the_file)
{
	struct map *m;

	map(0x400000, "/bin/a", 8, 100);
	map(0x500000, "/bin/b", 8, 101);
	build_ids_expect(ids, &proc);
	cr_expect_not(build_ids_find(ids, proc_maps_edit(&proc.maps, 0x400000), false), "not yet");
	answer(broker.last_id, "\x12\x34\x56", 3);
	cr_expect_not(build_ids_find(ids, proc_maps_edit(&proc.maps, 0x400000), false),
		      "that was another's");
	answer(broker.last_id - 1, "\xab\xcd", 2);
	m = proc_maps_edit(&proc.maps, 0x400000);
	cr_assert(build_ids_find(ids, m, false));
	cr_expect(m->build_id_known);
	cr_expect_eq(m->build_id_sz, 2);
	cr_expect_eq(m->build_id[1], 0xcd);
	map(0x600000, "/bin/b", 8, 101);
	m = proc_maps_edit(&proc.maps, 0x600000);
	cr_assert(build_ids_find(ids, m, false));
	cr_expect_eq(m->build_id_sz, 3);
	cr_expect_eq(m->build_id[2], 0x56);
}

Test(build_ids, file_without_a_build_id_is_known_to_have_none)
{
	static const char longer[PERF_BUILD_ID_MAX + 1];
	struct map *m;

	map(0x400000, "/bin/a", 8, 100);
	build_ids_expect(ids, &proc);
	answer(broker.last_id, NULL, 0);
	m = proc_maps_edit(&proc.maps, 0x400000);
	cr_expect(build_ids_find(ids, m, false));
	cr_expect_eq(m->build_id_sz, 0);
	map(0x500000, "/bin/b", 8, 101);
	build_ids_expect(ids, &proc);
	answer(broker.last_id, longer, sizeof(longer));
	m = proc_maps_edit(&proc.maps, 0x500000);
	cr_expect(build_ids_find(ids, m, false), "it is longer than what the kernel compares");
	cr_expect_eq(m->build_id_sz, 0);
	answer(broker.last_id, longer, PERF_BUILD_ID_MAX);
	m->build_id_known = false;
	cr_expect(build_ids_find(ids, m, false));
	cr_expect_eq(m->build_id_sz, PERF_BUILD_ID_MAX);
	broker.refuse_with = -EINVAL;
	map(0x600000, "/bin/c", 8, 102);
	build_ids_expect(ids, &proc);
	cr_expect(build_ids_find(ids, proc_maps_edit(&proc.maps, 0x600000), false),
		  "nobody will answer");
}

Test(build_ids, file_that_is_rewritten_is_another_file, .timeout = 20)
{
	struct map *m;

	map(0x400000, "/bin/a", 8, 100);
	m = proc_maps_edit(&proc.maps, 0x400000);
	build_ids_expect_map(ids, 77, 1, m);
	cr_assert_eq(broker.cnt, 1);
	cr_expect_not(build_ids_find(ids, m, true));
	answer(broker.last_id, NULL, 0);
	cr_assert(build_ids_find(ids, m, true));
	cr_expect_eq(m->version, 7);
	while (m->build_id_known = false, build_ids_find(ids, m, true))
		;
	cr_expect(build_ids_find(ids, m, false), "for what was mapped then it is good enough");
	m->build_id_known = false;
	build_ids_expect_map(ids, 77, 1, m);
	build_ids_expect_map(ids, 77, 1, m);
	cr_expect_eq(broker.cnt, 2, "asked again, once");
	cr_expect_not(build_ids_find(ids, m, true));
	answer(broker.last_id, NULL, 0);
	cr_expect_eq(build_ids_changes(ids), 0, "it is as it was");
	cr_assert(build_ids_find(ids, m, true));
	while (m->build_id_known = false, build_ids_find(ids, m, true))
		;
	build_ids_expect_map(ids, 77, 1, m);
	version = 8;
	answer(broker.last_id, NULL, 0);
	cr_expect_eq(build_ids_changes(ids), 1);
	cr_assert(build_ids_find(ids, m, true));
	cr_expect_eq(m->version, 8);
	m->build_id_known = false;
	answer(broker.last_id, "\x01", 1);
	cr_expect_eq(build_ids_changes(ids), 2);
	cr_assert(build_ids_find(ids, m, true));
	cr_expect_eq(m->version, 0, "its build-id says which it is");
}

Test(build_ids, answers_to_no_request_are_ignored)
{
	map(0x400000, "/bin/a", 8, 100);
	build_ids_expect(ids, &proc);
	answer(broker.last_id + 1, "\xab", 1);
	answer(broker.last_id - 1, "\xab", 1);
	answer(0, "\xab", 1);
	cr_expect_not(build_ids_find(ids, proc_maps_edit(&proc.maps, 0x400000), false));
}

Test(build_ids, endless_different_files_have_a_limit)
{
	int i;

	for (i = 0; i < 70000; i++) {
		proc.owner = 1 + i % 8;
		map(0x400000, "/bin/a", 8, 100 + i);
		build_ids_expect(ids, &proc);
	}
	cr_expect_eq(broker.cnt, 65536);
	cr_expect_not(build_ids_find(ids, proc_maps_edit(&proc.maps, 0x400000), false),
		      "it was never asked");
}

Test(build_ids, endless_files_of_one_owner_leave_room_for_other_owners)
{
	int i;

	for (i = 0; i < 20000; i++) {
		proc.owner = 7;
		map(0x400000, "/bin/a", 8, 100 + i);
		build_ids_expect(ids, &proc);
	}
	cr_expect_eq(broker.cnt, 65536 / 4);
	cr_expect_eq(broker.last.owner, 7);
	proc.owner = 8;
	build_ids_expect(ids, &proc);
	cr_expect_eq(broker.cnt, 65536 / 4 + 1, "the same file, for somebody else");
	cr_expect_eq(broker.last.owner, 8);
}

Test(build_ids, no_build_id_is_known_without_a_broker)
{
	struct build_ids *none = build_ids_new(NULL);

	map(0x400000, "/bin/a", 8, 100);
	build_ids_expect(none, &proc);
	cr_expect_not(build_ids_find(none, proc_maps_edit(&proc.maps, 0x400000), false));
	build_ids_free(none);
	build_ids_free(NULL);
}
