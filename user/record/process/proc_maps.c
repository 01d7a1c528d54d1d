// SPDX-License-Identifier: BSD-2-Clause
/*
 * proc_maps.c - the mappings of one process
 *
 * The kernel reports new mappings but not unmappings. A new mapping replaces whatever it covers, and cuts mappings
 * at both ends. They are stored here in the same way.
 *
 * The mappings are a sorted array in chunks: an insertion moves the mappings of one chunk and at most a thousand
 * pointers. A fork shares the table. A change copies the list of chunks and the affected chunk.
 */
#include "record/process/proc_maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "kernel/proc.h"
#include "record/process/snapshot.h"
#include "record/process/string_pool.h"

#define BUDGET_NS 1000000000ULL
#define MEMFD "/memfd:"
#define DELETED " (deleted)"

enum { BUDGET_MAPS = 20000 /* mappings per process in BUDGET_NS */ };

/* The position of a mapping, or where it would be inserted. */
struct pos {
	size_t c, i;
};

void proc_maps_init(struct proc_maps *maps, struct string_pool *texts, size_t *memory)
{
	*maps = (struct proc_maps){ .texts = texts, .memory = memory };
}

/* ---- chunks ------------------------------------------------------------------------------------- */

static struct proc_maps_chunk *chunk_new(struct proc_maps *maps)
{
	struct proc_maps_chunk *chunk = xcalloc(1, sizeof(*chunk));

	chunk->refs = 1;
	*maps->memory += sizeof(*chunk);
	return chunk;
}

static void chunk_unref(struct proc_maps *maps, struct proc_maps_chunk *chunk)
{
	uint32_t i;

	if (--chunk->refs)
		return;
	for (i = 0; i < chunk->cnt; i++)
		string_pool_unref(maps->texts, chunk->v[i].path);
	*maps->memory -= sizeof(*chunk);
	free(chunk);
}

static size_t table_bytes(const struct proc_maps_table *t)
{
	return sizeof(*t) + t->chunk_cap * sizeof(struct proc_maps_chunk *);
}

static void table_unref(struct proc_maps *maps)
{
	struct proc_maps_table *t = maps->table;
	size_t c;

	maps->table = NULL;
	if (!t || --t->refs)
		return;
	for (c = 0; c < t->chunk_cnt; c++)
		chunk_unref(maps, t->chunks[c]);
	*maps->memory -= table_bytes(t);
	free(t->chunks);
	free(t);
}

static void reserve_chunks(struct proc_maps *maps, struct proc_maps_table *t, size_t cnt)
{
	*maps->memory -= t->chunk_cap * sizeof(struct proc_maps_chunk *);
	t->chunks = array_reserve(t->chunks, &t->chunk_cap, cnt, sizeof(struct proc_maps_chunk *));
	*maps->memory += t->chunk_cap * sizeof(struct proc_maps_chunk *);
}

/* Returns a writable table that no other set shares. */
static struct proc_maps_table *own_table(struct proc_maps *maps)
{
	struct proc_maps_table *old = maps->table, *t;
	size_t c;

	if (old && old->refs == 1)
		return old;
	t = xcalloc(1, sizeof(*t));
	t->refs = 1;
	*maps->memory += sizeof(*t);
	if (old) {
		reserve_chunks(maps, t, old->chunk_cnt + 1);
		for (c = 0; c < old->chunk_cnt; c++) {
			t->chunks[c] = old->chunks[c];
			t->chunks[c]->refs++;
		}
		t->chunk_cnt = old->chunk_cnt;
		t->cnt = old->cnt;
		old->refs--;
	}
	maps->table = t;
	return t;
}

/* Returns a chunk that no other set shares. */
static struct proc_maps_chunk *own_chunk(struct proc_maps *maps, size_t c)
{
	struct proc_maps_table *t = own_table(maps);
	struct proc_maps_chunk *old = t->chunks[c], *chunk;
	uint32_t i;

	if (old->refs == 1)
		return old;
	chunk = chunk_new(maps);
	chunk->cnt = old->cnt;
	memcpy(chunk->v, old->v, old->cnt * sizeof(*old->v));
	for (i = 0; i < chunk->cnt; i++)
		string_pool_ref(chunk->v[i].path);
	old->refs--;
	t->chunks[c] = chunk;
	return chunk;
}

static struct proc_maps_chunk *add_chunk(struct proc_maps *maps, size_t c)
{
	struct proc_maps_table *t = own_table(maps);

	reserve_chunks(maps, t, t->chunk_cnt + 1);
	memmove(&t->chunks[c + 1], &t->chunks[c], (t->chunk_cnt - c) * sizeof(t->chunks[c]));
	t->chunk_cnt++;
	t->chunks[c] = chunk_new(maps);
	return t->chunks[c];
}

static void drop_chunk(struct proc_maps *maps, size_t c)
{
	struct proc_maps_table *t = own_table(maps);

	chunk_unref(maps, t->chunks[c]);
	t->chunk_cnt--;
	memmove(&t->chunks[c], &t->chunks[c + 1], (t->chunk_cnt - c) * sizeof(t->chunks[c]));
}

/* ---- places ------------------------------------------------------------------------------------- */

/* The first mapping that ends after addr: c is the number of chunks if there is none. */
static struct pos lower(const struct proc_maps_table *t, uint64_t addr)
{
	size_t lo = 0, hi = t ? t->chunk_cnt : 0, mid;
	const struct proc_maps_chunk *chunk;
	struct pos pos = { 0, 0 };

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		chunk = t->chunks[mid];
		if (chunk->v[chunk->cnt - 1].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	pos.c = lo;
	if (!t || lo == t->chunk_cnt)
		return pos;
	chunk = t->chunks[lo];
	for (lo = 0, hi = chunk->cnt; lo < hi;) {
		mid = lo + (hi - lo) / 2;
		if (chunk->v[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	pos.i = lo;
	return pos;
}

static const struct map *map_at(const struct proc_maps_table *t, struct pos pos)
{
	return t && pos.c < t->chunk_cnt ? &t->chunks[pos.c]->v[pos.i] : NULL;
}

/* Moves the upper half of a full chunk to a new one. */
static void split(struct proc_maps *maps, struct pos *pos)
{
	struct proc_maps_chunk *upper = add_chunk(maps, pos->c + 1),
			       *chunk = own_chunk(maps, pos->c);

	upper->cnt = chunk->cnt / 2;
	chunk->cnt -= upper->cnt;
	memcpy(upper->v, &chunk->v[chunk->cnt], upper->cnt * sizeof(*upper->v));
	if (pos->i > chunk->cnt)
		*pos = (struct pos){ pos->c + 1, pos->i - chunk->cnt };
}

/* Inserts m before pos. The caller provides the reference to the path. */
static void put(struct proc_maps *maps, struct pos pos, const struct map *m)
{
	struct proc_maps_table *t = own_table(maps);
	struct proc_maps_chunk *chunk;

	if (pos.c == t->chunk_cnt && pos.c) {
		pos.c--;
		pos.i = t->chunks[pos.c]->cnt;
	} else if (!t->chunk_cnt) {
		add_chunk(maps, 0);
	}
	if (t->chunks[pos.c]->cnt == PROC_MAPS_CHUNK) {
		own_chunk(maps, pos.c);
		split(maps, &pos);
	}
	chunk = own_chunk(maps, pos.c);
	memmove(&chunk->v[pos.i + 1], &chunk->v[pos.i], (chunk->cnt - pos.i) * sizeof(*chunk->v));
	chunk->v[pos.i] = *m;
	chunk->cnt++;
	t->cnt++;
}

/* Joins two small neighbours, so that unmappings do not leave many small chunks. */
static void join_next(struct proc_maps *maps, size_t c)
{
	struct proc_maps_table *t = own_table(maps);
	struct proc_maps_chunk *chunk, *next;
	uint32_t i;

	if (c + 1 >= t->chunk_cnt ||
	    t->chunks[c]->cnt + t->chunks[c + 1]->cnt > PROC_MAPS_CHUNK / 2)
		return;
	chunk = own_chunk(maps, c);
	next = t->chunks[c + 1];
	memcpy(&chunk->v[chunk->cnt], next->v, next->cnt * sizeof(*next->v));
	for (i = 0; i < next->cnt; i++)
		string_pool_ref(next->v[i].path);
	chunk->cnt += next->cnt;
	drop_chunk(maps, c + 1);
}

static void remove_at(struct proc_maps *maps, struct pos pos)
{
	struct proc_maps_chunk *chunk = own_chunk(maps, pos.c);

	own_table(maps)->cnt--;
	string_pool_unref(maps->texts, chunk->v[pos.i].path);
	chunk->cnt--;
	memmove(&chunk->v[pos.i], &chunk->v[pos.i + 1], (chunk->cnt - pos.i) * sizeof(*chunk->v));
	if (!chunk->cnt)
		drop_chunk(maps, pos.c);
	else
		join_next(maps, pos.c);
	if (pos.c)
		join_next(maps, pos.c - 1);
}

/* ---- public functions --------------------------------------------------------------------------- */

/* Removes everything between start and end. */
static void cut(struct proc_maps *maps, uint64_t start, uint64_t end)
{
	struct pos pos = lower(maps->table, start);
	const struct map *old;
	struct map rest, *edit;

	while ((old = map_at(maps->table, pos)) && old->start < end) {
		rest = *old;
		rest.pgoff += end - rest.start;
		rest.start = end;
		rest.announced = 0;
		if (old->start >= start && old->end <= end) {
			remove_at(maps, pos);
		} else if (old->start >= start) {
			edit = &own_chunk(maps, pos.c)->v[pos.i];
			*edit = rest;
		} else {
			edit = &own_chunk(maps, pos.c)->v[pos.i];
			edit->end = start;
			if (rest.end > end) {
				string_pool_ref(rest.path);
				put(maps, lower(maps->table, start), &rest);
			}
		}
		pos = lower(maps->table, start);
	}
}

bool proc_maps_insert(struct proc_maps *maps, const struct map *m)
{
	if (m->start >= m->end)
		return true;
	cut(maps, m->start, m->end);
	maps->generation++;
	if (maps->table && maps->table->cnt >= PROC_MAPS_MAX)
		return false;
	string_pool_ref(m->path);
	put(maps, lower(maps->table, m->start), m);
	return true;
}

const struct map *proc_maps_find(const struct proc_maps *maps, uint64_t addr)
{
	const struct map *m = map_at(maps->table, lower(maps->table, addr));

	return m && m->start <= addr ? m : NULL;
}

const struct map *proc_maps_next(const struct proc_maps *maps, uint64_t addr)
{
	return map_at(maps->table, lower(maps->table, addr));
}

struct map *proc_maps_edit(struct proc_maps *maps, uint64_t addr)
{
	struct pos pos = lower(maps->table, addr);
	const struct map *m = map_at(maps->table, pos);

	return m && m->start <= addr ? &own_chunk(maps, pos.c)->v[pos.i] : NULL;
}

void proc_maps_copy(struct proc_maps *dst, const struct proc_maps *src)
{
	proc_maps_clear(dst);
	dst->table = src->table;
	if (dst->table)
		dst->table->refs++;
}

void proc_maps_clear(struct proc_maps *maps)
{
	table_unref(maps);
	maps->generation++;
}

size_t proc_maps_weight(const struct proc_maps *maps)
{
	const struct proc_maps_table *t = maps->table;
	size_t bytes = 0, c;
	uint32_t i;

	for (c = 0; t && c < t->chunk_cnt; c++) {
		bytes += sizeof(*t->chunks[c]);
		for (i = 0; i < t->chunks[c]->cnt; i++)
			bytes += strlen(t->chunks[c]->v[i].path);
	}
	return bytes;
}

void proc_maps_free(struct proc_maps *maps)
{
	table_unref(maps);
}

/* ---- records of mappings ------------------------------------------------------------------------ */

/* For code without a file, the kernel's page offsets are addresses: replace them. */
static void settle_pgoff(struct map *m)
{
	if (!proc_maps_is_file(m->path) && !proc_maps_is_memfd(m->path))
		m->pgoff = 0;
}

/* The kernel reports memfd files as deleted, but lines of /proc come without that suffix. */
static size_t path_length(const struct perf_side *side)
{
	const size_t mark = sizeof(DELETED) - 1;
	size_t len = side->name_len;

	if (!proc_maps_is_memfd(side->name) || len <= mark ||
	    memcmp(side->name + len - mark, DELETED, mark))
		return len;
	return len - mark;
}

struct map proc_maps_from_side(struct string_pool *texts, const struct perf_side *side)
{
	struct map m = {
		.start = side->addr,
		.end = side->addr + side->len,
		.pgoff = side->pgoff,
		.path = string_pool_get(texts, side->name, path_length(side)),
		.build_id_sz = side->build_id_sz,
		.build_id_known = side->build_id_sz != 0,
		.dev = (uint64_t)side->maj << 32 | side->min,
		.inode = side->ino,
	};

	memcpy(m.build_id, side->build_id, side->build_id_sz);
	settle_pgoff(&m);
	return m;
}

struct map proc_maps_from_snapshot(struct string_pool *texts, const struct snapshot *s, size_t i)
{
	const struct snapshot_map *from = &s->maps[i];
	const char *path = snapshot_text(s, from->path_off);
	struct map m = {
		.start = from->start,
		.end = from->end,
		.pgoff = from->pgoff,
		.path = string_pool_get(texts, path, strlen(path)),
		.dev = from->dev,
		.inode = from->inode,
	};

	settle_pgoff(&m);
	return m;
}

bool proc_maps_is_same(const struct map *a, const struct map *b)
{
	return a && a->start == b->start && a->end == b->end && a->pgoff == b->pgoff &&
	       !strcmp(a->path, b->path);
}

bool proc_maps_may_report(struct proc_maps_budget *budget, uint64_t time)
{
	if (time - budget->since >= BUDGET_NS)
		*budget = (struct proc_maps_budget){ .since = time };
	return ++budget->used <= BUDGET_MAPS;
}

bool proc_maps_is_vdso(const char *path)
{
	return !strcmp(path, "[vdso]");
}

bool proc_maps_is_file(const char *path)
{
	return *path == '/' && !proc_path_is_anon(path);
}

bool proc_maps_is_memfd(const char *path)
{
	return !strncmp(path, MEMFD, sizeof(MEMFD) - 1);
}

bool proc_maps_has_file(const struct map *m)
{
	return proc_maps_is_file(m->path) ||
	       (proc_maps_is_memfd(m->path) && (m->build_id_sz || m->version));
}
