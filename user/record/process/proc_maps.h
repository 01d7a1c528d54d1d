/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_PROCESS_PROC_MAPS_H
#define D9_RECORD_PROCESS_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/perf_side.h"

struct snapshot;
struct string_pool;

/* Executable mappings that one process may have, about half of vm.max_map_count; a JIT has a few thousand. */
enum { PROC_MAPS_MAX = 32384, PROC_MAPS_CHUNK = 32 };

/* One executable mapping of a process. */
struct map {
	uint64_t start, end;
	uint64_t pgoff;
	const char *path; /* a text of the set's table; may be "[vdso]", "//anon" or "" */
	uint64_t announced; /* serial of the process in the last ProcMapsEntry for it; 0: none */
	uint8_t build_id[PERF_BUILD_ID_MAX];
	uint8_t build_id_sz;
	bool build_id_known; /* even if it is empty */
	uint64_t dev, inode; /* of a file listed in /proc; 0: unknown */
	uint64_t version; /* of a file without build-id: see sym_client.h; 0: unknown, or memory without an ELF file */
	uint32_t module_id; /* 0: not looked up yet */
	uint32_t slot; /* of its unwind table; used by unwind_loader.c in its own sets */
};

/* Its device in the kernel's numbering: 12 bits major, 20 minor. */
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
	size_t *memory; /* borrowed: bytes held by all sets together */
	struct proc_maps_table *table; /* NULL: empty */
	uint32_t generation; /* changes whenever a mapping does */
};

/* Limits the mappings that a process may report. */
struct proc_maps_budget {
	uint64_t since;
	uint32_t used;
};

/* An empty set. */
void proc_maps_init(struct proc_maps *maps, struct string_pool *texts, size_t *memory);
void proc_maps_free(struct proc_maps *maps);

/*
 * Inserts m and replaces what it covers, like the kernel; takes a separate reference to the path. False if there
 * are PROC_MAPS_MAX already: m is not stored, but what it covers is removed.
 */
bool proc_maps_insert(struct proc_maps *maps, const struct map *m);
/* The mapping that contains addr, borrowed until the next change; NULL: none. */
const struct map *proc_maps_find(const struct proc_maps *maps, uint64_t addr);
/* The first mapping that ends after addr, borrowed likewise; NULL: none. */
const struct map *proc_maps_next(const struct proc_maps *maps, uint64_t addr);
/* Like proc_maps_find(), to set module_id, announced or build-id. */
struct map *proc_maps_edit(struct proc_maps *maps, uint64_t addr);
/* Makes dst equal to src; copies only when one of them changes. Both use the same table. */
void proc_maps_copy(struct proc_maps *dst, const struct proc_maps *src);
void proc_maps_clear(struct proc_maps *maps);
/* Bytes that it refers to, including shared ones. */
size_t proc_maps_weight(const struct proc_maps *maps);

/*
 * The mapping in a metadata record, or in one line of /proc. The caller owns the reference to the path.
 */
struct map proc_maps_from_side(struct string_pool *texts, const struct perf_side *side);
struct map proc_maps_from_snapshot(struct string_pool *texts, const struct snapshot *s, size_t i);
/* Whether they are the same mapping, ignoring the other members. a may be NULL. */
bool proc_maps_is_same(const struct map *a, const struct map *b);

/* Whether a process may report one more mapping at that time: a limited number per second. */
bool proc_maps_may_report(struct proc_maps_budget *budget, uint64_t time);

/* Whether a path names a file, unlike "[vdso]" or "//anon". */
bool proc_maps_is_file(const char *path);
bool proc_maps_is_vdso(const char *path);
/* A file in memory: an executable, or memory for generated code. */
bool proc_maps_is_memfd(const char *path);
/* Whether its code belongs to a file: memory counts if it has been identified as an ELF file. */
bool proc_maps_has_file(const struct map *m);

#endif
