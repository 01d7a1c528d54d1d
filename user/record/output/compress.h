/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_OUTPUT_COMPRESS_H
#define D9_RECORD_OUTPUT_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

/* Compression of the output. */
enum compress_kind {
	COMPRESS_NONE,
	COMPRESS_GZIP,
	COMPRESS_ZSTD,
};

/*
 * A compressed stream. Input is readable after the next compress_flush(), even if nothing follows it. Each flush
 * costs some bytes.
 */
struct compress;

/* Receives the compressed bytes. 0, or -errno, which the calling function returns. dial9_write_fn's signature. */
typedef int (*compress_write_fn)(void *ctx, const void *data, size_t sz);

/* Levels from 1 (fast) to compress_level_max(); 0 is the library's default. NULL for COMPRESS_NONE; never fails. */
struct compress *compress_new(enum compress_kind kind, unsigned int level, compress_write_fn fn,
			      void *ctx);
void compress_free(struct compress *p);
unsigned int compress_level_max(enum compress_kind kind);
/* ".gz", and "" for COMPRESS_NONE. */
const char *compress_suffix(enum compress_kind kind);

/* Speed from here on, at the expense of size. zstd is always fast. */
enum compress_pace {
	COMPRESS_AS_ASKED,
	COMPRESS_QUICK,
	COMPRESS_STORE,
};
int compress_set_pace(struct compress *p, enum compress_pace pace);

int compress_put(struct compress *p, const void *data, size_t sz);
/* Writes nothing if there was no input since the last flush. */
int compress_flush(struct compress *p);
/* Call once, after the last byte. */
int compress_end(struct compress *p);
/*
 * The same, with a tail of at most COMPRESS_TAIL_MAX bytes that is stored uncompressed. In gzip 8 bytes follow it,
 * in zstd none.
 */
int compress_end_with(struct compress *p, const void *tail, size_t sz);
enum { COMPRESS_TAIL_MAX = 255 };

enum { COMPRESS_ENDING_MAX = 16 };
/*
 * The bytes that end the stream right after its last flush, in place of everything written since. Returns their
 * number.
 */
size_t compress_ending(const struct compress *p, unsigned char out[COMPRESS_ENDING_MAX]);

/* Reads the first uncompressed bytes of a compressed file, up to @sz. Returns their number. */
size_t compress_peek(enum compress_kind kind, int fd, void *out, size_t sz);
/* The compression of a file, detected by its first bytes. */
enum compress_kind compress_kind_of(int fd);

#endif
