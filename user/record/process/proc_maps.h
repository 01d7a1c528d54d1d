/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_PROCESS_PROC_MAPS_H
#define D9_RECORD_PROCESS_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/perf_side.h"

struct snapshot;
struct string_pool;

/* Executable mappings that one process may have; a JIT has a few thousand. */
enum { PROC_MAPS_MAX = 16384, PROC_MAPS_CHUNK = 32 };

/* One executable mapping of a process. */
struct map {
	uint64_t start, end;
	uint64_t pgoff;
	const char *path; /* a text of the set's table; "[vdso]", "//anon" or "" too */
	uint64_t announced; /* serial of the process that its ProcMapsEntry was written for; 0: none */
	uint8_t build_id[PERF_BUILD_ID_MAX];
	uint8_t build_id_sz;
	bool build_id_known; /* even if it is empty */
	uint64_t dev, inode; /* of a file that /proc listed; 0: not known */
	uint64_t version; /* of a file without build-id: see sym_client.h; 0: not known, or memory that is no ELF file */
	uint32_t module_id; /* 0: not looked up yet */
	uint32_t slot; /* of its unwind table; unwind_loader.c's, in sets of its own */
};

/* Its device as the kernel numbers it: 12 bits major, 20 minor. */
static inline uint32_t proc_maps_dev(const struct map *m)
{
	return (uint32_t)(m->dev >> 32) << 20 | (m->dev & 0xfffff);
}

struct proc_maps_chunk {
	uint32_t refs;
	uint32_t cnt; /* at least 1 */
	struct map v[PROC_MAPS_CHUNK];
};

struct proc_maps_table {
	uint32_t refs;
	size_t cnt; /* of mappings */
	size_t chunk_cnt, chunk_cap;
	struct proc_maps_chunk **chunks;
};

/* The executable mappings of a process, sorted, without overlaps. */
struct proc_maps {
	struct string_pool *texts; /* borrowed */
	size_t *memory; /* borrowed: what all sets together hold, in bytes */
	struct proc_maps_table *table; /* NULL: empty */
	uint32_t generation; /* changes whenever a mapping does */
};

/* What a process told of mappings. */
struct proc_maps_budget {
	uint64_t since;
	uint32_t used;
};

/* An empty set. */
void proc_maps_init(struct proc_maps *maps, struct string_pool *texts, size_t *memory);
void proc_maps_free(struct proc_maps *maps);

/*
 * Puts m in, over whatever it covers, as the kernel did; takes a reference of its own to the path.
 * False when there are PROC_MAPS_MAX already: m is not kept, but what it covers is gone.
 */
bool proc_maps_insert(struct proc_maps *maps, const struct map *m);
/* The mapping that addr lies in, borrowed until the next change; NULL when there is none. */
const struct map *proc_maps_find(const struct proc_maps *maps, uint64_t addr);
/* The first mapping that ends behind addr, borrowed likewise; NULL when there is none. */
const struct map *proc_maps_next(const struct proc_maps *maps, uint64_t addr);
/* The same as proc_maps_find(), to set what is known of it: module_id, announced, build-id. */
struct map *proc_maps_edit(struct proc_maps *maps, uint64_t addr);
/* dst becomes what src is, at no cost until one of them changes. Both are of the same table. */
void proc_maps_copy(struct proc_maps *dst, const struct proc_maps *src);
void proc_maps_clear(struct proc_maps *maps);
/* Bytes that it refers to, shared ones too. */
size_t proc_maps_weight(const struct proc_maps *maps);

/*
 * The mapping that a record, or one line of an answer of /proc, tells of. The path is a reference of the
 * caller's, who gives it back.
 */
struct map proc_maps_from_side(struct string_pool *texts, const struct perf_side *side);
struct map proc_maps_from_snapshot(struct string_pool *texts, const struct snapshot *s, size_t i);
/* Whether they are one mapping, whatever else is known of it. a may be NULL. */
bool proc_maps_is_same(const struct map *a, const struct map *b);

/* Whether a process may tell of one more mapping at that time: of so many in a second, and then of none. */
bool proc_maps_may_report(struct proc_maps_budget *budget, uint64_t time);

/* A path that names a file, not "[vdso]", "//anon" or such. */
bool proc_maps_is_file(const char *path);
bool proc_maps_is_vdso(const char *path);
/* A file in memory, which may be an executable or a place for code that a program makes. */
bool proc_maps_is_memfd(const char *path);
/* Whether its code is a file's: of memory that is known when it has been identified as an ELF file. */
bool proc_maps_has_file(const struct map *m);

#endif
