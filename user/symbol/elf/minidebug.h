/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_ELF_MINIDEBUG_H
#define D9_SYMBOL_ELF_MINIDEBUG_H

#include <stddef.h>
#include <stdint.h>

struct budget;
struct elfimg;
struct minidebug;

/*
 * Starts to unpack .gnu_debugdata: a small ELF file, compressed by xz, with symbols that .dynsym
 * lacks. img and budget are borrowed until minidebug_free(). Returns 1 and sets *out; 0 if there is
 * none; -EDQUOT.
 */
int minidebug_new(const struct elfimg *img, struct budget *budget, struct minidebug **out);

/* Continues to unpack. 0 if complete; -EAGAIN; -EDQUOT; -EBADMSG if it is damaged. */
int minidebug_run(struct minidebug *m);

/*
 * Returns the complete output: the caller frees it with free() and returns *cap bytes to the
 * budget.
 */
uint8_t *minidebug_steal(struct minidebug *m, size_t *size, size_t *cap);

/* Frees everything. NULL is allowed. */
void minidebug_free(struct minidebug *m);

#endif /* D9_SYMBOL_ELF_MINIDEBUG_H */
