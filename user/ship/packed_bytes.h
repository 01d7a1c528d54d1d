/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_PACKED_BYTES_H
#define D9_SHIP_PACKED_BYTES_H

#include "base/buf.h"

/* Bytes that are compressed before more are collected. */
#define PACKED_BYTES_PIECE (64u << 10)

/* A compressor, which several packed_bytes share. NULL: out of memory. */
struct packer;

struct packer *packer_new(void);
void packer_free(struct packer *p);

/* Bytes that are compressed while they are collected, piece by piece. {0} is empty. Add to `plain`. */
struct packed_bytes {
	struct buf plain; /* not compressed yet */
	struct buf packed; /* deflate blocks of whole bytes, none of them the last one */
	uint64_t sz; /* of the bytes in packed */
	unsigned long crc; /* of the same */
};

/* Compresses what is in `plain`. */
void packed_bytes_pack(struct packed_bytes *b, struct packer *p);
void packed_bytes_free(struct packed_bytes *b);

/* A gzip file of packed bytes. */
struct packed_file {
	struct buf *out;
	struct packer *packer;
	uint64_t sz;
	unsigned long crc;
};

void packed_file_begin(struct packed_file *f, struct packer *p, struct buf *out);
/* Appends the bytes; @b is empty afterwards. */
void packed_file_move(struct packed_file *f, struct packed_bytes *b);
/* Appends some bytes @times times. */
void packed_file_repeat(struct packed_file *f, const struct buf *bytes, size_t times);
void packed_file_end(struct packed_file *f);

#endif /* D9_SHIP_PACKED_BYTES_H */
