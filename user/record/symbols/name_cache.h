/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_SYMBOLS_NAME_CACHE_H
#define D9_RECORD_SYMBOLS_NAME_CACHE_H

#include <stddef.h>
#include <stdint.h>

struct emit;
struct emit_symbol;

/* The symbols of frames, for later segments of a recording with the same frames. */
struct name_cache;

/* Never fails. */
struct name_cache *name_cache_new(void);
void name_cache_free(struct name_cache *k);

/* Copies it; replaces the entry of the same address and depth. */
void name_cache_put(struct name_cache *k, const struct emit_symbol *name);
/* Writes the entries of an address (packed) at the current time. Returns their number, or the encoder's -errno. */
int name_cache_write(const struct name_cache *k, uint64_t addr, struct emit *emit);

/* Bytes held. */
size_t name_cache_memory(const struct name_cache *k);
/* Removes all entries. */
void name_cache_clear(struct name_cache *k);

#endif
