/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_UNWIND_H
#define D9_RECORD_CAPTURE_CAPTURE_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include "prof_unwind.h"

struct bpf_map;
struct prof;

/* How much of prof_unwind.h's there is room for. 0: as little as can be. */
struct capture_unwind_cfg {
	uint32_t module_cnt;
	uint32_t map_cnt;
	uint32_t proc_cnt; /* a power of two */
	uint32_t known_cnt; /* walks of switch-outs that are kept, on each CPU; a power of two */
	uint32_t chunk_cnt; /* of PROF_UNWIND_CHUNK_BLOCKS blocks, at most so many */
};

/*
 * What prof_unwind.h describes, in memory that programs read: written with plain stores, in the order
 * that is told there. Zeroed at first.
 */
struct capture_unwind {
	struct prof_unwind_module *modules;
	struct prof_unwind_map *maps;
	struct prof_unwind_proc *procs;
	struct capture_unwind_cfg cnt; /* of each, as it came out */
	/* To be raised when the table of a module goes or another takes its slot, after it is unlinked and
	 * before walks are waited for: walks remember rows. */
	uint32_t *generation;
	uint64_t *condemned; /* of lists, for each PROF_UNWIND_LIST_ROUND mappings a bit */
	/* To be raised when a list is freed, before its place among maps is another's: walks are kept. */
	uint32_t *list_generation;
	int chunks_fd; /* borrowed */
	void **chunks; /* mapped; NULL: not made yet */
};

/* Of a user's address of code, the bits that are no signature. */
uint64_t capture_unwind_code_mask(void);

/* Configures the programs and sets the sizes of the maps, before they are loaded. */
int capture_unwind_size(struct prof *skel, const struct capture_unwind_cfg *cfg);
/* Maps what was loaded. 0, or -errno with nothing left mapped. */
int capture_unwind_init(const struct prof *skel, struct capture_unwind *u);
void capture_unwind_fini(struct capture_unwind *u);

/*
 * The memory of chunk i, which is made when it is first asked for: 4 * PROF_UNWIND_BLOCK_WORDS *
 * PROF_UNWIND_CHUNK_BLOCKS bytes, zeroed, valid as long as `u`. Making it needs CAP_BPF and waits for the
 * kernel for milliseconds: not for the thread that drains. One caller at a time. 0 or -errno: -EINVAL for a
 * chunk beyond cnt.chunk_cnt, -ENOMEM, -EPERM.
 */
int capture_unwind_chunk(struct capture_unwind *u, uint32_t i, void **mem);

#endif
