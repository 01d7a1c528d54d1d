/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_CFI_SYMTABLE_H
#define D9_SYMBOL_CFI_SYMTABLE_H

#include <stddef.h>
#include <stdint.h>

struct unwind_table;

/* A file whose unwind table is built, bounded as a symbolizer is, and in the same place. */
struct symtable;

/* Errors and ownership are those of symbolizer_open() and symbolizer_open_vdso(). */
int symtable_open(int fd, const uint8_t *build_id, size_t build_id_sz, struct symtable **out);
int symtable_open_vdso(struct symtable **out);

/*
 * Builds on for that much CPU time of the calling thread. 0: *out is filled, and the caller's to free
 * with unwind_table_free(); -EAGAIN: call again; -EDQUOT: given up; -ENODATA: there is nothing to build
 * it from. After any but -EAGAIN it begins anew.
 */
int symtable_build(struct symtable *t, uint64_t cpu_ns, struct unwind_table *out);

/* NULL is allowed. */
void symtable_free(struct symtable *t);

#endif /* D9_SYMBOL_CFI_SYMTABLE_H */
