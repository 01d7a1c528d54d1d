/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_LIBDIAL9_POOL_H
#define D9_LIBDIAL9_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The encoder's side: bytes -> id. */
struct pool {
	struct pool_slot *slots; /* a power of two, at most 3/4 full */
	size_t slot_cnt;
	size_t used;
	uint8_t *text; /* all bytes, one after the other */
	size_t text_sz, text_cap;
	size_t bytes_max; /* of slots and text together */
	uint64_t next_id; /* 2^32: all ids are used */
	uint64_t seed;
};

/* bytes_max 0: 64 MiB. Allocates no memory yet. */
void pool_init(struct pool *p, size_t bytes_max);
void pool_fini(struct pool *p);

/* Removes the contents and keeps the memory; ids go on rising unless restart_ids. */
void pool_clear(struct pool *p, bool restart_ids);

uint64_t pool_hash(const struct pool *p, const void *data, size_t sz);

bool pool_find(const struct pool *p, uint64_t hash, const void *data, uint32_t sz, uint32_t *id);

/*
 * Adds data under id. If the table would exceed its cap, it is emptied first; data larger than the
 * cap is not added, which is no error. 0 or -ENOMEM.
 */
int pool_add(struct pool *p, uint64_t hash, const void *data, uint32_t sz, uint32_t id);

/* The decoder's side: id -> bytes. */
struct pool_defs {
	struct pool_def *defs; /* a power of two, at most 3/4 full */
	size_t def_cnt;
	size_t used;
	struct pool_block *blocks;
	size_t bytes; /* size of all data here */
	size_t bytes_max;
	uint64_t seed;
	bool borrow;
};

/* borrow: the given bytes outlive the pool, so only pointers are kept. */
void pool_defs_init(struct pool_defs *d, size_t bytes_max, bool borrow);
void pool_defs_fini(struct pool_defs *d);

/*
 * Defines or redefines an id. Copies do not move until the id is redefined. 0; -ENOMEM; -E2BIG at
 * bytes_max.
 */
int pool_defs_set(struct pool_defs *d, uint32_t id, const uint8_t *data, size_t sz);

/* Borrowed bytes; NULL if the id is not defined. */
const uint8_t *pool_defs_get(const struct pool_defs *d, uint32_t id, size_t *sz);

#endif
