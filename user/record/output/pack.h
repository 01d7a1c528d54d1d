/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_OUTPUT_PACK_H
#define D9_RECORD_OUTPUT_PACK_H

#include <stdbool.h>
#include <stddef.h>

/* How a trace is packed on its way to a file. */
enum pack_kind {
	PACK_NONE,
	PACK_GZIP,
	PACK_ZSTD,
};

/*
 * A stream of packed bytes. What was put is readable from the next pack_flush() on, also when nothing comes
 * behind it any more: each costs some bytes.
 */
struct pack;

/* Gets the packed bytes. 0 or -errno, which whoever called returns. dial9_write_fn's signature. */
typedef int (*pack_write_fn)(void *ctx, const void *data, size_t sz);

/* Levels from 1, quick, to pack_level_max(); 0 is the library's own choice. NULL for PACK_NONE; never fails. */
struct pack *pack_new(enum pack_kind kind, unsigned int level, pack_write_fn fn, void *ctx);
void pack_free(struct pack *p);
unsigned int pack_level_max(enum pack_kind kind);
/* ".gz", and "" for PACK_NONE. */
const char *pack_suffix(enum pack_kind kind);

/* How quickly it is to go from here on, whatever that costs in bytes. zstd is quick as it is. */
enum pack_pace {
	PACK_AS_ASKED,
	PACK_QUICK,
	PACK_STORE,
};
int pack_set_pace(struct pack *p, enum pack_pace pace);

int pack_put(struct pack *p, const void *data, size_t sz);
/* Nothing is written when nothing was put since the last one. */
int pack_flush(struct pack *p);
/* Once, after the last byte. */
int pack_end(struct pack *p);
/*
 * The same, after some bytes more (PACK_TAIL_MAX), which stand in the file as they are: after them
 * come 8 bytes of gzip, and none of zstd.
 */
int pack_end_with(struct pack *p, const void *tail, size_t sz);
enum { PACK_TAIL_MAX = 255 };

enum { PACK_ENDING_MAX = 16 };
/* The bytes that end the stream right after its last flush, in place of all that was written since. Returns how many. */
size_t pack_ending(const struct pack *p, unsigned char out[PACK_ENDING_MAX]);

/* The first bytes of what is packed in a file, up to @sz. Returns how many there are. */
size_t pack_peek(enum pack_kind kind, int fd, void *out, size_t sz);
/* How a file is packed, by its first bytes. */
enum pack_kind pack_kind_of(int fd);

#endif
