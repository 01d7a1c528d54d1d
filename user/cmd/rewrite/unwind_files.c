// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind_files.c - unwind tables for conversions of copied stacks
 *
 * Owns the processes that read the files, and waits for each table with a limit. What a file does to them costs its own
 * table.
 */
#include "cmd/rewrite/unwind_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "symbol/broker/sym_client.h"

#define STEP_NS 50000000ull
#define TABLE_NS 30000000000ull /* for one file */

enum { TAKE_MAX = 64 };

struct unwind_files {
	struct foreign_unwind foreign;
	struct sym_client *client; /* NULL: no file so far */
	bool failed;
	uint32_t asked; /* module id of the last request */
	bool answered;
	void (*take)(void *arg, const struct unwind_table *table);
	void *arg;
};

static int take_answer(void *ctx, const struct sym_client_answer *a)
{
	struct unwind_files *u = ctx;

	if (a->kind != SYM_CLIENT_TABLE || a->module_id != u->asked)
		return 0;
	u->answered = true;
	if (!a->error && a->table)
		u->take(u->arg, a->table);
	return 0;
}

static bool start(struct unwind_files *u)
{
	const struct sym_client_cfg cfg = { .no_dwarf = true };
	int err;

	if (u->client || u->failed)
		return u->client;
	err = sym_client_new(&cfg, &u->client);
	if (err) {
		log_warn(
			"convert: cannot start processes that read files: %s; stacks copied by perf "
			"are unwound by frame pointers only",
			strerror(-err));
		u->failed = true;
		return false;
	}
	sym_client_hurry(u->client);
	return true;
}

static void find(void *ctx, const struct foreign_module *file,
		 void (*take)(void *arg, const struct unwind_table *table), void *arg)
{
	const struct sym_client_module module = { .kind = SYM_CLIENT_ELF,
						  .path = file->path,
						  .build_id = file->build_id,
						  .build_id_sz = file->build_id_sz,
						  .dev = file->dev,
						  .inode = file->inode,
						  .owner = 1 };
	struct unwind_files *u = ctx;
	uint64_t end;

	if (!start(u))
		return;
	u->take = take;
	u->arg = arg;
	u->answered = false;
	u->asked++;
	if (sym_client_add_module(u->client, u->asked, &module) ||
	    !sym_client_ask_table(u->client, u->asked))
		return;
	end = clock_mono_ns() + TABLE_NS;
	while (!u->answered && clock_mono_ns() < end) {
		sym_client_wait(u->client, clock_mono_ns() + STEP_NS);
		sym_client_receive(u->client, take_answer, u, TAKE_MAX);
	}
}

struct unwind_files *unwind_files_new(void)
{
	struct unwind_files *u = xcalloc(1, sizeof(*u));

	u->foreign = (struct foreign_unwind){ .find = find, .ctx = u };
	return u;
}

void unwind_files_free(struct unwind_files *u)
{
	if (!u)
		return;
	sym_client_free(u->client);
	free(u);
}

const struct foreign_unwind *unwind_files_foreign(const struct unwind_files *u)
{
	return &u->foreign;
}
