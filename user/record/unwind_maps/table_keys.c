// SPDX-License-Identifier: BSD-2-Clause
/*
 * table_keys.c - the file of each unwind table
 *
 * A process can choose the path of a mapping (by its own mount namespace or chroot), and the author of a file
 * chooses its build-id. So neither proves that a table is valid for others. A table for all processes is made only
 * from the file that the recorder finds at that path, and only if its build-id is equal. Otherwise the table is
 * made from the process's own file. It is then used only for processes of the same user in the same mount
 * namespace.
 *
 * A file without build-id is identified by device, inode, and the inode's last change.
 */
#include "record/unwind_maps/table_keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "kernel/proc.h"
#include "record/process/proc_maps.h"
#include "record/symbols/frames.h"
#include "symbol/broker/sym_client.h"
#include "unwind/store.h"

/* Ids for the broker, between the ids of files to identify and of programs with run-time code. */
#define FIRST_ID 0x40000000u

enum kind { KIND_VDSO = 'v', KIND_OURS = 'o', KIND_THEIRS = 't', KIND_INODE = 'i' };

/* The file of a slot, and its last known mapping. */
struct source {
	enum kind kind;
	uint64_t realm; /* for KIND_THEIRS */
	char *path;
	uint8_t build_id[PERF_BUILD_ID_MAX];
	uint8_t build_id_sz;
	uint64_t dev, inode, version; /* for KIND_INODE */
	uint32_t pid;
	uint64_t owner;
	uint64_t start, end;
};

struct table_keys {
	struct sym_client *broker;
	struct store *store;
	struct source *sources; /* by slot */
	size_t cap;
	size_t path_bytes;
	uint32_t moves;
};

struct table_keys *table_keys_new(struct sym_client *broker, struct store *store)
{
	struct table_keys *t = xcalloc(1, sizeof(*t));

	t->broker = broker;
	t->store = store;
	return t;
}

void table_keys_free(struct table_keys *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->cap; i++)
		free(t->sources[i].path);
	free(t->sources);
	free(t);
}

uint32_t table_keys_moves(const struct table_keys *t)
{
	return t->moves;
}

/* ---- slots -------------------------------------------------------------------------------------- */

static struct source *source_of(struct table_keys *t, uint32_t slot)
{
	size_t before = t->cap;

	t->sources = array_reserve(t->sources, &t->cap, slot + 1UL, sizeof(*t->sources));
	memset(t->sources + before, 0, (t->cap - before) * sizeof(*t->sources));
	return &t->sources[slot];
}

static bool is_source(const struct source *s, enum kind kind, uint64_t realm, const struct map *m)
{
	return s->path && s->kind == kind && s->realm == realm && !strcmp(s->path, m->path) &&
	       (kind != KIND_INODE ||
		(s->dev == m->dev && s->inode == m->inode && s->version == m->version)) &&
	       s->build_id_sz == m->build_id_sz &&
	       !memcmp(s->build_id, m->build_id, m->build_id_sz);
}

static void set_source(struct table_keys *t, uint32_t slot, enum kind kind, uint64_t realm,
		       const struct map *m)
{
	struct source *s = source_of(t, slot);

	if (is_source(s, kind, realm, m))
		return;
	t->path_bytes += strlen(m->path) - (s->path ? strlen(s->path) : 0);
	free(s->path);
	*s = (struct source){
		.kind = kind,
		.realm = realm,
		.path = xstrdup(m->path),
		.build_id_sz = m->build_id_sz,
		.dev = kind == KIND_INODE ? m->dev : 0,
		.inode = kind == KIND_INODE ? m->inode : 0,
		.version = kind == KIND_INODE ? m->version : 0,
	};
	memcpy(s->build_id, m->build_id, m->build_id_sz);
}

static uint32_t slot_of(struct table_keys *t, enum kind kind, uint64_t realm, const struct map *m)
{
	struct buf key = { 0 };
	uint32_t slot;

	buf_addch(&key, (char)kind);
	buf_add(&key, &realm, sizeof(realm));
	if (kind == KIND_INODE) {
		buf_add(&key, &m->dev, sizeof(m->dev));
		buf_add(&key, &m->inode, sizeof(m->inode));
		buf_add(&key, &m->version, sizeof(m->version));
	}
	buf_addch(&key, (char)m->build_id_sz);
	buf_add(&key, m->build_id, m->build_id_sz);
	if (kind != KIND_VDSO)
		buf_addstr(&key, m->path);
	slot = store_slot(t->store, buf_cstr(&key), key.len);
	buf_free(&key);
	if (slot != PROF_UNWIND_NO_SLOT)
		set_source(t, slot, kind, realm, m);
	return slot;
}

uint32_t table_keys_slot(struct table_keys *t, const struct frames_from *from, const struct map *m)
{
	uint64_t realm;
	uint32_t slot;

	if (proc_maps_is_vdso(m->path))
		return slot_of(t, KIND_VDSO, 0, m);
	if (!m->build_id_sz)
		return m->version ? slot_of(t, KIND_INODE, 0, m) : PROF_UNWIND_NO_SLOT;
	slot = slot_of(t, KIND_OURS, 0, m);
	if (slot == PROF_UNWIND_NO_SLOT || !store_is_elsewhere(t->store, slot))
		return slot;
	realm = proc_realm((pid_t)from->pid);
	return realm ? slot_of(t, KIND_THEIRS, realm, m) : PROF_UNWIND_NO_SLOT;
}

void table_keys_note(struct table_keys *t, uint32_t slot, const struct frames_from *from,
		     const struct map *m)
{
	struct source *s = source_of(t, slot);

	s->pid = from->pid;
	s->owner = from->owner;
	s->start = m ? m->start : 0;
	s->end = m ? m->end : 0;
}

uint32_t table_keys_pid(const struct table_keys *t, uint32_t slot)
{
	return slot < t->cap ? t->sources[slot].pid : 0;
}

/* ---- questions and answers ----------------------------------------------------------------------- */

static int ignore(void *ctx, const struct sym_client_answer *answer)
{
	return 0;
}

void table_keys_ask(struct table_keys *t, uint32_t slot)
{
	const struct source *s = source_of(t, slot);
	const bool ours = s->kind == KIND_OURS;
	const struct sym_client_module module = {
		.kind = s->kind == KIND_VDSO ? SYM_CLIENT_VDSO : SYM_CLIENT_ELF,
		.pid = ours ? 0 : (pid_t)s->pid, /* 0: at the path as the recorder sees it */
		.path = s->path,
		.map_start = ours ? 0 : s->start,
		.map_end = ours ? 0 : s->end,
		.dev = (uint32_t)(s->dev >> 32) << 20 | (s->dev & 0xfffff),
		.inode = s->inode,
		.version = s->version,
		.build_id = s->build_id,
		.build_id_sz = s->build_id_sz,
		.owner = s->owner ? s->owner : PROC_OWNER_GONE,
	};
	bool asked = false;

	if (t->broker && s->path) {
		sym_client_drop(t->broker, FIRST_ID + slot, ignore, NULL);
		asked = !sym_client_add_module(t->broker, FIRST_ID + slot, &module) &&
			sym_client_ask_table(t->broker, FIRST_ID + slot);
	}
	if (!asked)
		store_put_none(t->store, slot, true);
}

/* Whether the file is missing or another one, except for files without a table. */
static bool is_other_file(int error)
{
	switch (-error) {
	case ENODATA: /* no unwind information, or too much */
	case EDQUOT:
	case EIO: /* it crashed the worker */
	case ECHILD: /* no worker to open it, or not in time */
	case ETIMEDOUT:
	case EBUSY:
		return false;
	default:
		return true;
	}
}

/* Whether the file may have a table, but could not be read for now: then frame pointers are no replacement. */
static bool is_passing(int error)
{
	return error == -ECHILD || error == -ETIMEDOUT || error == -EBUSY;
}

static void handle_failure(struct table_keys *t, uint32_t slot, int error)
{
	if (is_passing(error)) {
		store_put_none(t->store, slot, true);
		return;
	}
	switch (t->sources[slot].kind) {
	case KIND_OURS:
		if (is_other_file(error)) {
			store_put_elsewhere(t->store, slot);
			t->moves++;
			return;
		}
		break;
	case KIND_THEIRS:
	case KIND_INODE:
		if (is_other_file(error)) { /* the next process with it may live longer */
			store_put_none(t->store, slot, true);
			return;
		}
		break;
	case KIND_VDSO:
		break;
	}
	store_put_none(t->store, slot, false);
}

/* Whether the process is still the same: its number may have been reused. */
static bool is_still_theirs(const struct source *s)
{
	uint64_t realm = s->kind == KIND_THEIRS ? proc_realm((pid_t)s->pid) : 0;

	return !realm || realm == s->realm;
}

void table_keys_answer(struct table_keys *t, const struct sym_client_answer *answer)
{
	uint32_t slot = answer->module_id - FIRST_ID;

	if (answer->module_id < FIRST_ID || slot >= t->cap || !t->sources[slot].path)
		return;
	if (answer->error)
		handle_failure(t, slot, answer->error);
	else if (!is_still_theirs(&t->sources[slot]))
		store_put_none(t->store, slot, true);
	else
		store_put(t->store, slot, answer->table);
	sym_client_drop(t->broker, answer->module_id, ignore, NULL);
}

size_t table_keys_memory(const struct table_keys *t)
{
	return sizeof(*t) + t->cap * sizeof(*t->sources) + t->path_bytes;
}
