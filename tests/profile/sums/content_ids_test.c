// SPDX-License-Identifier: BSD-2-Clause
/* Ids of frames and stacks. The hashes are published vectors of FNV-1a, or were computed with a few lines of Python. */
#include <criterion/criterion.h>

#include "profile/sums/content_ids.h"

#define BUILD_ID "\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20\21\22\23\24"

static uint64_t frame_in(struct names *n, struct names_module m, const char *path,
			 const char *build_id, uint64_t offset)
{
	m.path = names_add(n, path, strlen(path));
	m.announced = true;
	m.build_id_sz = (uint8_t)strlen(build_id);
	memcpy(m.build_id, build_id, m.build_id_sz);
	return (uint64_t)names_module_add(n, &m) << PROF_FRAME_MODULE_SHIFT | offset;
}

static uint64_t id_of(struct names *n, uint64_t frame)
{
	struct content_ids ids = { 0 };
	uint64_t id = content_ids_frame(&ids, n, frame)->id;

	content_ids_fini(&ids);
	return id;
}

Test(content_ids, the_hash_is_fnv_1a)
{
	cr_expect_eq(content_ids_hash(CONTENT_IDS_HASH, "", 0), 0xcbf29ce484222325);
	cr_expect_eq(content_ids_hash(CONTENT_IDS_HASH, "a", 1), 0xaf63dc4c8601ec8c);
	cr_expect_eq(content_ids_hash(CONTENT_IDS_HASH, "foobar", 6), 0x85944171f73967e8);
}

/* fnv1a(build-id + offset as <Q), fnv1a(path + offset as <Q), fnv1a of both ids as <QQ */
Test(content_ids, of_a_build_id_of_a_path_and_of_a_stack)
{
	struct content_ids ids = { 0 };
	struct names *n;
	uint64_t stack[2];
	uint32_t row;

	cr_assert_eq(names_new(&n), 0);
	stack[0] = frame_in(n, (struct names_module){ 0 }, "/bin/app", BUILD_ID, 0x310);
	stack[1] = frame_in(n, (struct names_module){ .id = 2 }, "/lib/x.so", "", 0x20);
	cr_expect_eq(content_ids_frame(&ids, n, stack[0])->id, 0xdcb9839a60b5202c);
	cr_expect_eq(content_ids_frame(&ids, n, stack[1])->id, 0x91dc704a4c596606);
	row = content_ids_stack(&ids, n, stack, 2);
	cr_expect_eq(ids.stack_ids[row], 0x9d693244df8d83c6);
	cr_expect_eq(content_ids_stack(&ids, n, stack, 2), row);
	cr_expect_neq(content_ids_stack(&ids, n, stack, 1), row);
	content_ids_fini(&ids);
	names_free(n);
}

/* The same build below another path, as in a container, is the same code. */
Test(content_ids, the_path_does_not_matter_with_a_build_id)
{
	struct names *n;

	cr_assert_eq(names_new(&n), 0);
	cr_expect_eq(id_of(n, frame_in(n, (struct names_module){ 0 }, "/a", BUILD_ID, 7)),
		     id_of(n, frame_in(n, (struct names_module){ 0 }, "/b", BUILD_ID, 7)));
	cr_expect_neq(id_of(n, frame_in(n, (struct names_module){ 0 }, "/a", BUILD_ID, 7)),
		      id_of(n, frame_in(n, (struct names_module){ 0 }, "/a", BUILD_ID, 8)));
	names_free(n);
}

/* Code made at run time differs between processes: fnv1a(b"box\0b1\0[anon]\0" + 7 as <I + 0x40 as <Q). */
Test(content_ids, code_without_a_file_belongs_to_its_host)
{
	const struct names_module anon = { .id = 7, .kind = PROF_MODULE_ANON };
	const struct names_module other = { .id = 8, .kind = PROF_MODULE_ANON };
	struct names *n;
	uint64_t id;

	cr_assert_eq(names_new(&n), 0);
	n->parts.v[0].host = names_add(n, "box", 3);
	n->parts.v[0].boot_id = names_add(n, "b1", 2);
	id = id_of(n, frame_in(n, anon, "[anon]", "", 0x40));
	cr_expect_eq(id, 0x4e3cd040c917094a);
	cr_expect_neq(id, id_of(n, frame_in(n, other, "[anon]", "", 0x40)));
	n->parts.v[0].host = names_add(n, "cube", 4);
	cr_expect_neq(id, id_of(n, frame_in(n, anon, "[anon]", "", 0x40)));
	names_free(n);
}
