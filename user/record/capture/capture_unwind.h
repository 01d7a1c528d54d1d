/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_UNWIND_H
#define D9_RECORD_CAPTURE_CAPTURE_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include "prof_unwind.h"

struct bpf_map;
struct prof;

/* Capacities of prof_unwind.h's tables. 0: the minimum. */
struct capture_unwind_cfg {
	uint32_t module_cnt;
	uint32_t map_cnt;
	uint32_t proc_cnt; /* a power of two */
	uint32_t known_cnt; /* stored walks of switches out, per CPU; a power of two */
	uint32_t chunk_cnt; /* of PROF_UNWIND_CHUNK_BLOCKS blocks, the maximum */
};

/*
 * prof_unwind.h's data in memory that programs read: written with plain stores in the order described there. Zeroed
 * at first.
 */
struct capture_unwind {
	struct prof_unwind_module *modules;
	struct prof_unwind_map *maps;
	struct prof_unwind_proc *procs;
	struct capture_unwind_cfg cnt; /* effective capacities */
	/*
	 * Increment when a module's table is removed or another uses its slot, after it is unlinked and before
	 * waiting for walks: walks cache rows.
	 */
	uint32_t *generation;
	uint64_t *condemned; /* of lists: one bit for each PROF_UNWIND_LIST_ROUND mappings */
	/* Increment when a list is freed, before another list uses its place: walks are stored. */
	uint32_t *list_generation;
	int chunks_fd; /* borrowed */
	void **chunks; /* mapped; NULL: not made yet */
};

/* The bits of a user code address that are not a signature. */
uint64_t capture_unwind_code_mask(void);

/* Configures the programs and sets the sizes of the maps, before they are loaded. */
int capture_unwind_size(struct prof *skel, const struct capture_unwind_cfg *cfg);
/* Maps what was loaded. 0, or -errno with nothing left mapped. */
int capture_unwind_init(const struct prof *skel, struct capture_unwind *u);
void capture_unwind_fini(struct capture_unwind *u);

/*
 * The memory of chunk i, made by the first call for it: 4 * PROF_UNWIND_BLOCK_WORDS * PROF_UNWIND_CHUNK_BLOCKS
 * bytes, zeroed, valid until `u` ends. Making it needs CAP_BPF and blocks for milliseconds, so do not call it in
 * the draining thread. One caller at a time. 0 or -errno: -EINVAL for a chunk beyond cnt.chunk_cnt, -ENOMEM,
 * -EPERM.
 */
int capture_unwind_chunk(struct capture_unwind *u, uint32_t i, void **mem);

#endif
