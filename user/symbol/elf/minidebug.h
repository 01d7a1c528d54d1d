/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_ELF_MINIDEBUG_H
#define D9_SYMBOL_ELF_MINIDEBUG_H

#include <stddef.h>
#include <stdint.h>

struct budget;
struct elfimg;
struct minidebug;

/*
 * Begins to unpack .gnu_debugdata: a small ELF file, compressed by xz, with the symbols that
 * distributions leave out of .dynsym. The image and the budget are borrowed until minidebug_free().
 * Returns 1 and fills *out, 0 when there is none, -EDQUOT.
 */
int minidebug_new(const struct elfimg *img, struct budget *budget, struct minidebug **out);

/* Unpacks on. 0 when it is complete, -EAGAIN, -EDQUOT, or -EBADMSG when it is broken. */
int minidebug_run(struct minidebug *m);

/* What is complete, handed over: free() it and give *cap bytes back to the budget. */
uint8_t *minidebug_steal(struct minidebug *m, size_t *size, size_t *cap);

/* Frees it with all that it holds. NULL is allowed. */
void minidebug_free(struct minidebug *m);

#endif /* D9_SYMBOL_ELF_MINIDEBUG_H */
