/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_SYMBOLS_NAME_CACHE_H
#define D9_RECORD_SYMBOLS_NAME_CACHE_H

#include <stddef.h>
#include <stdint.h>

struct emit;
struct emit_symbol;

/* The names that frames got, for those segments of a recording that have these frames again. */
struct name_cache;

/* Never fails. */
struct name_cache *name_cache_new(void);
void name_cache_free(struct name_cache *k);

/* Copied; takes the place of what was kept of the same address and depth. */
void name_cache_put(struct name_cache *k, const struct emit_symbol *name);
/* Writes what is kept of an address (packed), at the current time. Returns how many, or the encoder's -errno. */
int name_cache_write(const struct name_cache *k, uint64_t addr, struct emit *emit);

/* Bytes held. */
size_t name_cache_memory(const struct name_cache *k);
/* Forgets them all. */
void name_cache_clear(struct name_cache *k);

#endif
