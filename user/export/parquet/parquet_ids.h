/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_PARQUET_PARQUET_IDS_H
#define D9_EXPORT_PARQUET_PARQUET_IDS_H

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
struct parquet_ids {
	struct stack_table stacks;
	uint64_t *stack_ids; /* by row of stacks */
	size_t stack_cap;
	struct hmap frames; /* frame as in the names -> struct parquet_frame */
};

struct parquet_frame {
	uint64_t frame, id;
};

/* The row of a stack that is not empty, in ids->stacks and ids->stack_ids; adds it if it is new. */
uint32_t parquet_ids_stack(struct parquet_ids *ids, const struct names *n, const uint64_t *frames,
			   uint32_t cnt);
/* Never NULL; valid until parquet_ids_fini(). */
const struct parquet_frame *parquet_ids_frame(struct parquet_ids *ids, const struct names *n,
					      uint64_t frame);
void parquet_ids_fini(struct parquet_ids *ids);

/* FNV-1a over more bytes; begin with PARQUET_IDS_HASH. */
#define PARQUET_IDS_HASH 0xcbf29ce484222325ULL
uint64_t parquet_ids_hash(uint64_t hash, const void *p, size_t sz);

/* The offset of a frame in its module; of an address in no known module the address. */
uint64_t parquet_ids_offset(const struct names *n, uint64_t frame);

#endif /* D9_EXPORT_PARQUET_PARQUET_IDS_H */
