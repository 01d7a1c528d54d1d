/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_ELF_UNPACK_H
#define D9_SYMBOL_ELF_UNPACK_H

#include <stddef.h>
#include <stdint.h>

struct budget;
struct elfimg;
struct elfimg_sec;
struct unpack;

/*
 * Begins to decompress a section: one with SHF_COMPRESSED (zlib, zstd) or in the older form of
 * .zdebug_* names. The image and the budget are borrowed until unpack_free(). The memory for all
 * that the section claims to hold is taken from the budget now. Returns 1 and fills *out; 0 when the
 * section is not compressed; -EBADMSG when its header makes no sense; -EDQUOT.
 */
int unpack_new(const struct elfimg *img, const struct elfimg_sec *sec, struct budget *budget,
	       struct unpack **out);

/* Decompresses on. 0 when it is complete, -EAGAIN, -EDQUOT, or -EBADMSG when the data is broken. */
int unpack_run(struct unpack *u);

/*
 * What is complete, handed over: free() it and give *size bytes back to the budget. The size is the
 * one that the section claims.
 */
uint8_t *unpack_steal(struct unpack *u, size_t *size);

/* Frees it with all that it holds. NULL is allowed. */
void unpack_free(struct unpack *u);

#endif /* D9_SYMBOL_ELF_UNPACK_H */
