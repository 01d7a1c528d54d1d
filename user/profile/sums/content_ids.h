/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_CONTENT_IDS_H
#define D9_PROFILE_SUMS_CONTENT_IDS_H

#include "profile/sched/stack_table.h"
#include "trace/read/names.h"

/*
 * Ids of frames and stacks by content, which are the same in the traces of all hosts. An id is the 64-bit FNV-1a hash of:
 *
 *   frame  the build-id, and the offset in the module as 8 bytes, little endian; of a module without build-id its path
 *          in place of the build-id. Of code that no file has, and of addresses in no known module: host, boot id, path
 *          and number of the module, so that it is not taken for another one.
 *   stack  the ids of its frames as 8 bytes each, leaf first.
 */
struct content_ids {
	struct stack_table stacks;
	uint64_t *stack_ids; /* by row of stacks */
	size_t stack_cap;
	struct hmap frames; /* frame as in the names -> struct content_frame */
};

struct content_frame {
	uint64_t frame, id;
};

/* The row of a stack that is not empty, in ids->stacks and ids->stack_ids; adds it if it is new. */
uint32_t content_ids_stack(struct content_ids *ids, const struct names *n, const uint64_t *frames,
			   uint32_t cnt);
/* The id of such a stack, which is not added. */
uint64_t content_ids_hash_stack(struct content_ids *ids, const struct names *n,
				const uint64_t *frames, uint32_t cnt);
/* Never NULL; valid until content_ids_fini(). */
const struct content_frame *content_ids_frame(struct content_ids *ids, const struct names *n,
					      uint64_t frame);
void content_ids_fini(struct content_ids *ids);

/* FNV-1a over more bytes; begin with CONTENT_IDS_HASH. */
#define CONTENT_IDS_HASH 0xcbf29ce484222325ULL
uint64_t content_ids_hash(uint64_t hash, const void *p, size_t sz);

/* The offset of a frame in its module; of an address in no known module the address. */
uint64_t content_ids_offset(const struct names *n, uint64_t frame);

#endif /* D9_PROFILE_SUMS_CONTENT_IDS_H */
