// SPDX-License-Identifier: BSD-2-Clause
/*
 * build_ids.c - files by path, device and inode, and their build-ids
 *
 * A path may be a different file in each container, and inode numbers are reused after a file is deleted. Together
 * they identify a file while it is mapped. A file may be rewritten in place: known properties are valid for a
 * moment, and are requested again if that matters.
 */
#include "record/symbols/build_ids.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hmap.h"
#include "base/strtab.h"
#include "prof_events.h"
#include "record/process/proc_maps.h"
#include "record/process/tasks.h"
#include "symbol/broker/sym_client.h"

/* Above the ids of modules: the broker uses one space of ids. */
#define FIRST_ID (PROF_FRAME_MODULE_MAX + 1)

/* In total; each owner gets 1 / PART. */
enum { FILES_MAX = 65536, KEYS_MAX = 16 << 20 /* bytes */, PART = 4 };

#define RECENT_NS 200000000ull

struct share {
	size_t files, bytes;
};

struct file {
	bool answered, asked;
	bool elf;
	uint8_t sz;
	uint64_t version, answered_ns;
	uint8_t build_id[PERF_BUILD_ID_MAX];
};

struct build_ids {
	struct sym_client *broker;
	struct strtab keys;
	struct hmap shares; /* owner -> his share in use */
	struct file *files; /* by the number of the key */
	size_t cap;
	uint32_t changes;
};

struct build_ids *build_ids_new(struct sym_client *broker)
{
	struct build_ids *b = xcalloc(1, sizeof(*b));

	b->broker = broker;
	strtab_init(&b->keys);
	return b;
}

void build_ids_free(struct build_ids *b)
{
	size_t pos = 0;
	uint64_t owner;
	void *share;

	if (!b)
		return;
	while (hmap_next(&b->shares, &pos, &owner, &share))
		free(share);
	hmap_fini(&b->shares);
	strtab_fini(&b->keys);
	free(b->files);
	free(b);
}

static bool is_unknown_file(const struct map *m)
{
	return !m->build_id_known && m->inode &&
	       (proc_maps_is_file(m->path) || proc_maps_is_memfd(m->path));
}

static void make_key(const struct map *m, struct buf *key)
{
	buf_add(key, &m->dev, sizeof(m->dev));
	buf_add(key, &m->inode, sizeof(m->inode));
	buf_addstr(key, m->path);
}

/* Whether there is room for one more file, and this owner has not used up his share. */
static bool use_share(struct build_ids *b, uint64_t owner, size_t bytes)
{
	struct share *share = hmap_get(&b->shares, owner);

	if (b->keys.cnt >= FILES_MAX || b->keys.bytes >= KEYS_MAX)
		return false;
	if (!share) {
		share = xcalloc(1, sizeof(*share));
		hmap_set(&b->shares, owner, share);
	}
	if (share->files >= FILES_MAX / PART || share->bytes >= KEYS_MAX / PART)
		return false;
	share->files++;
	share->bytes += bytes;
	return true;
}

/* NULL: there is no room. */
static struct file *get_file(struct build_ids *b, uint64_t owner, const struct map *m)
{
	struct buf key = { 0 };
	uint32_t idx;

	make_key(m, &key);
	idx = strtab_find(&b->keys, buf_cstr(&key), key.len);
	if (idx == UINT32_MAX && use_share(b, owner, key.len)) {
		idx = strtab_add(&b->keys, buf_cstr(&key), key.len);
		b->files = array_reserve(b->files, &b->cap, b->keys.cnt, sizeof(*b->files));
		b->files[idx] = (struct file){ 0 };
	}
	buf_free(&key);
	return idx == UINT32_MAX ? NULL : &b->files[idx];
}

static bool is_recent(const struct file *f)
{
	return f->answered && clock_mono_ns() - f->answered_ns < RECENT_NS;
}

static void end_question(struct file *f)
{
	f->asked = false;
	f->answered = true;
	f->answered_ns = clock_mono_ns();
}

static void expect(struct build_ids *b, uint32_t pid, uint64_t owner, const struct map *m)
{
	const struct sym_client_module module = {
		.kind = SYM_CLIENT_IDENTIFY,
		.pid = (pid_t)pid,
		.path = m->path,
		.map_start = m->start,
		.map_end = m->end,
		.dev = proc_maps_dev(m),
		.inode = m->inode,
		.owner = owner,
	};
	struct file *f = get_file(b, owner, m);

	if (!f || f->asked || is_recent(f))
		return;
	f->asked = true;
	if (sym_client_add_module(b->broker, FIRST_ID + (uint32_t)(f - b->files), &module))
		end_question(f);
}

static void expect_all(struct build_ids *b, struct process *proc, const struct proc_maps *maps)
{
	const struct map *m;
	uint64_t addr = 0;

	while ((m = proc_maps_next(maps, addr))) {
		if (is_unknown_file(m))
			expect(b, proc->pid, tasks_owner(proc), m);
		addr = m->end;
	}
}

void build_ids_expect_map(struct build_ids *b, uint32_t pid, uint64_t owner, const struct map *m)
{
	if (b->broker && is_unknown_file(m))
		expect(b, pid, owner, m);
}

void build_ids_expect(struct build_ids *b, struct process *proc)
{
	if (!b->broker)
		return;
	expect_all(b, proc, &proc->maps);
	expect_all(b, proc, &proc->before);
}

bool build_ids_find(struct build_ids *b, struct map *m, bool recent)
{
	struct buf key = { 0 };
	const struct file *f;
	uint32_t idx;

	if (!is_unknown_file(m))
		return true;
	make_key(m, &key);
	idx = strtab_find(&b->keys, buf_cstr(&key), key.len);
	buf_free(&key);
	f = idx == UINT32_MAX ? NULL : &b->files[idx];
	if (!f || !f->answered || (recent && b->broker && (f->asked || !is_recent(f))))
		return false;
	m->build_id_sz = f->sz;
	memcpy(m->build_id, f->build_id, m->build_id_sz);
	m->version = f->sz || (proc_maps_is_memfd(m->path) && !f->elf) ? 0 : f->version;
	m->build_id_known = true;
	return true;
}

uint32_t build_ids_changes(const struct build_ids *b)
{
	return b->changes;
}

/* Longer build-ids than the kernel's are ignored: they could not be compared. */
void build_ids_answer(struct build_ids *b, const struct sym_client_answer *answer)
{
	uint32_t idx = answer->module_id - FIRST_ID;
	size_t sz = answer->build_id_sz <= PERF_BUILD_ID_MAX ? answer->build_id_sz : 0;
	struct file *f;

	if (answer->module_id < FIRST_ID || idx >= b->keys.cnt)
		return;
	f = &b->files[idx];
	b->changes += f->answered && !answer->error &&
		      (f->version != answer->version || f->sz != sz ||
		       (sz && memcmp(f->build_id, answer->build_id, sz)));
	end_question(f);
	if (answer->error && f->version)
		return; /* unchanged, as far as known */
	f->elf = !answer->error;
	f->version = answer->version;
	f->sz = sz;
	if (sz)
		memcpy(f->build_id, answer->build_id, sz);
}
