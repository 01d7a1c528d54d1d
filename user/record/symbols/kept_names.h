/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_SYMBOLS_KEPT_NAMES_H
#define D9_RECORD_SYMBOLS_KEPT_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct emit;
struct emit_symbol;

/* The names that frames got, for those segments of a recording that have these frames again. */
struct kept_names;

/* Never fails. */
struct kept_names *kept_names_new(void);
void kept_names_free(struct kept_names *k);

/* Copied; takes the place of what was kept of the same address and depth. */
void kept_names_put(struct kept_names *k, const struct emit_symbol *name);
/* Writes what is kept of an address (packed), at the current time. Returns how many, or the encoder's -errno. */
int kept_names_write(const struct kept_names *k, uint64_t addr, struct emit *emit);

/* Bytes held. */
size_t kept_names_memory(const struct kept_names *k);
/* Forgets them all. */
void kept_names_clear(struct kept_names *k);

#endif
