/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_OUTPUT_COMPRESS_H
#define D9_RECORD_OUTPUT_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

/* How a trace is packed on its way to a file. */
enum compress_kind {
	COMPRESS_NONE,
	COMPRESS_GZIP,
	COMPRESS_ZSTD,
};

/*
 * A stream of packed bytes. What was put is readable from the next compress_flush() on, also when nothing comes
 * behind it any more: each costs some bytes.
 */
struct compress;

/* Gets the packed bytes. 0 or -errno, which whoever called returns. dial9_write_fn's signature. */
typedef int (*compress_write_fn)(void *ctx, const void *data, size_t sz);

/* Levels from 1, quick, to compress_level_max(); 0 is the library's own choice. NULL for COMPRESS_NONE; never fails. */
struct compress *compress_new(enum compress_kind kind, unsigned int level, compress_write_fn fn,
			      void *ctx);
void compress_free(struct compress *p);
unsigned int compress_level_max(enum compress_kind kind);
/* ".gz", and "" for COMPRESS_NONE. */
const char *compress_suffix(enum compress_kind kind);

/* How quickly it is to go from here on, whatever that costs in bytes. zstd is quick as it is. */
enum compress_pace {
	COMPRESS_AS_ASKED,
	COMPRESS_QUICK,
	COMPRESS_STORE,
};
int compress_set_pace(struct compress *p, enum compress_pace pace);

int compress_put(struct compress *p, const void *data, size_t sz);
/* Nothing is written when nothing was put since the last one. */
int compress_flush(struct compress *p);
/* Once, after the last byte. */
int compress_end(struct compress *p);
/*
 * The same, after some bytes more (COMPRESS_TAIL_MAX), which stand in the file as they are: after them
 * come 8 bytes of gzip, and none of zstd.
 */
int compress_end_with(struct compress *p, const void *tail, size_t sz);
enum { COMPRESS_TAIL_MAX = 255 };

enum { COMPRESS_ENDING_MAX = 16 };
/* The bytes that end the stream right after its last flush, in place of all that was written since. Returns how many. */
size_t compress_ending(const struct compress *p, unsigned char out[COMPRESS_ENDING_MAX]);

/* The first bytes of what is packed in a file, up to @sz. Returns how many there are. */
size_t compress_peek(enum compress_kind kind, int fd, void *out, size_t sz);
/* How a file is packed, by its first bytes. */
enum compress_kind compress_kind_of(int fd);

#endif
