// SPDX-License-Identifier: BSD-2-Clause
/* LINK: -Wl,--wrap=sym_client_add_module,--wrap=sym_client_ask_table,--wrap=sym_client_drop */
/* LINK: -Wl,--wrap=proc_realm */
/*
 * Which mappings share a table, and from whose file it is built. The broker is a list of requests, and the user
 * of a process is set by the test: the linker replaces the real ones.
 */
#include "record/unwind_maps/table_keys.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/proc.h"
#include "record/process/proc_maps.h"
#include "record/symbols/frames.h"
#include "symbol/broker/sym_client.h"
#include "unwind/store.h"
#include "unwind/waiter.h"

enum { MODULES = 16, ROOT = 100, EVIL = 200, EVIL_TOO = 201 };

/* ---- requests ------------------------------------------------------------------------------------- */

struct sym_client {
	int cnt, dropped;
	uint32_t id;
	struct sym_client_module module;
};

int __wrap_sym_client_add_module(struct sym_client *b, uint32_t id,
				 const struct sym_client_module *module);
bool __wrap_sym_client_ask_table(struct sym_client *b, uint32_t id);
bool __wrap_sym_client_drop(struct sym_client *b, uint32_t id, sym_client_take_fn fn, void *ctx);
uint64_t __wrap_proc_realm(pid_t pid);

int __wrap_sym_client_add_module(struct sym_client *b, uint32_t id,
				 const struct sym_client_module *module)
{
	b->id = id;
	b->module = *module;
	return 0;
}

bool __wrap_sym_client_ask_table(struct sym_client *b, uint32_t id)
{
	b->cnt++;
	return id == b->id;
}

bool __wrap_sym_client_drop(struct sym_client *b, uint32_t id, sym_client_take_fn fn, void *ctx)
{
	b->dropped++;
	return true;
}

static uint64_t evil_realm = 2;

uint64_t __wrap_proc_realm(pid_t pid)
{
	return pid == ROOT ? 1 : pid == EVIL || pid == EVIL_TOO ? evil_realm : 0;
}

/* ---- the tests ------------------------------------------------------------------------------------ */

static struct sym_client broker;
static struct prof_unwind_module modules[MODULES];
static uint32_t generation, *chunk;
static struct waiter *waiter;
static struct store *store;
static struct table_keys *tables;

static int make(void *ctx, uint32_t i, void **mem)
{
	*mem = chunk;
	return 0;
}

static void setup(void)
{
	struct store_cfg cfg = { .modules = modules,
				 .module_cnt = MODULES,
				 .block_max = PROF_UNWIND_CHUNK_BLOCKS,
				 .generation = &generation };

	chunk = calloc(PROF_UNWIND_CHUNK_BLOCKS, 4 * PROF_UNWIND_BLOCK_WORDS);
	cr_assert_eq(waiter_new(&(struct waiter_cfg){ .make_chunk = make }, &waiter), 0);
	cfg.waiter = waiter;
	store = store_new(&cfg);
	tables = table_keys_new(&broker, store);
	store_step(store, 1);
}

static void teardown(void)
{
	table_keys_free(tables);
	store_free(store);
	waiter_free(waiter);
	free(chunk);
}

TestSuite(table_keys, .init = setup, .fini = teardown);

static struct map file(const char *path, uint8_t build_id)
{
	return (struct map){ .path = path,
			     .start = 0x400000,
			     .end = 0x500000,
			     .build_id = { build_id },
			     .build_id_sz = build_id != 0,
			     .build_id_known = true };
}

static uint32_t slot_for(uint32_t pid, const struct map *m)
{
	const struct frames_from from = { pid, 10 * pid };
	uint32_t slot = table_keys_slot(tables, &from, m);

	if (slot != PROF_UNWIND_NO_SLOT)
		table_keys_note(tables, slot, &from, m);
	return slot;
}

static void request(uint32_t slot)
{
	int before = broker.cnt;

	cr_assert(store_expect(store, slot));
	table_keys_ask(tables, slot);
	cr_assert_eq(broker.cnt, before + 1);
}

static void answer(int error)
{
	uint32_t words[] = { 1 << PROF_UNWIND_INDEX_COUNT_BITS, 0 };
	const struct unwind_table table = { .words = words, .cnt = 2, .page_cnt = 1 };

	table_keys_answer(tables, &(struct sym_client_answer){ .kind = SYM_CLIENT_TABLE,
							       .module_id = broker.id,
							       .error = error,
							       .table = error ? NULL : &table });
	while (!store_is_settled(store)) {
		store_step(store, 1);
		sched_yield();
	}
}

Test(table_keys, shared_table_is_built_from_the_recorders_own_file)
{
	const struct map libc = file("/lib/libc.so.6", 1);
	uint32_t slot = slot_for(EVIL, &libc);

	cr_expect_eq(slot_for(ROOT, &libc), slot);
	request(slot);
	cr_expect_eq(broker.module.pid, 0, "no process's view of the path");
	cr_expect_eq(broker.module.map_start, 0);
	cr_expect_eq(broker.module.map_end, 0);
	cr_expect_str_eq(broker.module.path, "/lib/libc.so.6");
	cr_expect_eq(broker.module.build_id_sz, 1, "and it must be the same");
	cr_expect_eq(broker.module.owner, 10 * ROOT);
	answer(0);
	cr_expect_neq(modules[slot].table, 0);
	cr_expect_eq(slot_for(EVIL, &libc), slot);
	cr_expect_eq(table_keys_moves(tables), 0);
	cr_expect_gt(broker.dropped, 0, "the broker keeps nothing of it");
}

Test(table_keys, table_of_another_file_is_shared_by_processes_with_the_same_file_system)
{
	const struct map lib = file("/lib/libx.so", 1);
	uint32_t shared = slot_for(EVIL, &lib), evil, root;

	request(shared);
	answer(-ESTALE);
	cr_expect_eq(table_keys_moves(tables), 1);
	evil = slot_for(EVIL, &lib);
	root = slot_for(ROOT, &lib);
	cr_assert(evil != shared && root != shared && evil != root);
	cr_expect_eq(slot_for(EVIL_TOO, &lib), evil);
	cr_expect_eq(slot_for(300, &lib), PROF_UNWIND_NO_SLOT, "who is gone is nobody");
	request(evil);
	cr_expect_eq(broker.module.pid, EVIL_TOO);
	cr_expect_eq(broker.module.map_start, 0x400000);
	answer(0);
	cr_expect_neq(modules[evil].table, 0);
	cr_expect_eq(modules[root].table, 0);
	cr_expect(store_expect(store, root), "it has one of its own");
	cr_expect_not(store_expect(store, shared));
}

Test(table_keys, another_build_or_another_path_has_another_table)
{
	const struct map a = file("/lib/a.so", 1), b = file("/lib/b.so", 1),
			 c = file("/lib/a.so", 2);

	cr_expect_neq(slot_for(ROOT, &a), slot_for(ROOT, &b));
	cr_expect_neq(slot_for(ROOT, &a), slot_for(ROOT, &c));
}

Test(table_keys, pid_reused_by_another_user_gives_no_table)
{
	const struct map lib = file("/lib/libx.so", 1);
	uint32_t slot = slot_for(EVIL, &lib);

	request(slot);
	answer(-ENOENT);
	slot = slot_for(EVIL, &lib);
	request(slot);
	evil_realm = 3;
	answer(0);
	cr_expect_eq(modules[slot].table, 0);
	cr_expect_eq(modules[slot].without, 0, "another time");
}

Test(table_keys, own_file_without_a_table_stays_without)
{
	const struct map lib = file("/lib/libx.so", 1);
	uint32_t slot = slot_for(EVIL, &lib);

	request(slot);
	answer(-ENODATA);
	cr_expect_eq(modules[slot].without, 1);
	cr_expect_eq(slot_for(EVIL, &lib), slot);
	cr_expect_eq(table_keys_moves(tables), 0);
}

/* Otherwise its stacks would be walked by frame pointers, which such a file need not keep. */
Test(table_keys, unread_file_is_requested_again)
{
	static const int errors[] = { -ECHILD, -ETIMEDOUT, -EBUSY };
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		const struct map lib = file("/lib/libx.so", 1 + i);
		uint32_t slot = slot_for(ROOT, &lib);

		request(slot);
		answer(errors[i]);
		cr_expect_eq(modules[slot].without, 0, "%s", strerror(-errors[i]));
		cr_expect_eq(modules[slot].left_out, 1, "%s", strerror(-errors[i]));
	}
}

Test(table_keys, file_without_a_build_id_is_identified_by_its_last_change)
{
	struct map m = file("/bin/x", 0), other;
	uint32_t slot;

	m.dev = 8ULL << 32 | 1;
	m.inode = 5;
	cr_expect_eq(slot_for(ROOT, &m), PROF_UNWIND_NO_SLOT, "it is not known which it is");
	m.version = 70;
	slot = slot_for(ROOT, &m);
	cr_expect_eq(slot_for(EVIL, &m), slot);
	request(slot);
	cr_expect_eq(broker.module.pid, EVIL);
	cr_expect_eq(broker.module.inode, 5);
	cr_expect_eq(broker.module.dev, 8 << 20 | 1);
	cr_expect_eq(broker.module.version, 70, "no other will do");
	answer(0);
	cr_expect_neq(modules[slot].table, 0);
	other = m;
	other.version = 71;
	cr_expect_neq(slot_for(ROOT, &other), slot);
	other = m;
	other.inode = 6;
	cr_expect_neq(slot_for(ROOT, &other), slot);
	other = m;
	other.dev = 9;
	cr_expect_neq(slot_for(ROOT, &other), slot);
}

Test(table_keys, vdso_has_one_table)
{
	const struct map vdso = file("[vdso]", 0);
	uint32_t slot = slot_for(ROOT, &vdso);

	cr_expect_eq(slot_for(EVIL, &vdso), slot);
	request(slot);
	cr_expect_eq(broker.module.kind, SYM_CLIENT_VDSO);
}

Test(table_keys, answers_to_other_requests_are_ignored)
{
	uint32_t id;

	for (id = 0x3fffffff; id < 0x40000004; id++)
		table_keys_answer(tables, &(struct sym_client_answer){ .kind = SYM_CLIENT_TABLE,
								       .module_id = id,
								       .error = -EIO });
	cr_expect_eq(broker.dropped, 0);
	cr_expect_gt(table_keys_memory(tables), 0);
}
