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
 * Starts to decompress a section: one with SHF_COMPRESSED (zlib, zstd), or with the older .zdebug_*
 * name. img and budget are borrowed until unpack_free(). The memory for the whole size in the
 * header is reserved now. Returns 1 and sets *out; 0 if the section is not compressed; -EBADMSG if
 * its header is invalid; -EDQUOT.
 */
int unpack_new(const struct elfimg *img, const struct elfimg_sec *sec, struct budget *budget,
	       struct unpack **out);

/* Continues to decompress. 0 if complete; -EAGAIN; -EDQUOT; -EBADMSG if the data is damaged. */
int unpack_run(struct unpack *u);

/*
 * Returns the complete output: the caller frees it with free() and returns *size bytes to the
 * budget. *size is the size in the header.
 */
uint8_t *unpack_steal(struct unpack *u, size_t *size);

/* Frees everything. NULL is allowed. */
void unpack_free(struct unpack *u);

#endif /* D9_SYMBOL_ELF_UNPACK_H */
