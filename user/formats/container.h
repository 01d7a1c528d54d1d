/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_CONTAINER_H
#define D9_FORMATS_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/foreign.h"

/*
 * The compressed containers of apitrace streams, and the container that is written.
 * Memory is bounded by the largest chunk or window, never by the size of the file.
 */
enum container_kind {
	CONTAINER_SNAPPY, /* "at", then chunks: u32 compressed length, raw snappy block */
	CONTAINER_GZIP,
	CONTAINER_ZSTD,
	CONTAINER_BROTLI, /* no magic: what is none of the others */
};

struct container;

/* Called for each complete snappy chunk: its size in the file and decompressed. */
typedef void (*container_chunk_fn)(void *ctx, size_t packed, size_t plain);

/* The kind by the first bytes of a file; sz may be 0. */
enum container_kind container_detect(const void *head, size_t sz);

/* "snappy", "gzip", "zstd", "brotli?" (a guess, since nothing in the file says so). Static. */
const char *container_kind_name(enum container_kind kind);

/*
 * Reads from @in, which must outlive it, from where it stands. on_chunk may be NULL. 0, -ENOMEM, or
 * an error of read(). Free with container_close(), which accepts NULL.
 */
int container_open(const struct foreign_input *in, container_chunk_fn on_chunk, void *ctx,
		   struct container **out);
void container_close(struct container *c);

enum container_kind container_kind(const struct container *c);

/*
 * Has the signature of dial9_read_fn; @c is a struct container. 1 to sz decompressed bytes, 0 at the
 * end, -EBADMSG at damage (all good bytes before it were given), or an error of the input.
 */
ssize_t container_read(void *c, void *buf, size_t sz);

/* What is wrong with the container, static text ("snappy: bad offset"); NULL when nothing is. */
const char *container_error(const struct container *c);

/* True once the end was met and it was not where a chunk or a compressed stream ends. */
bool container_is_cut(const struct container *c);

/* Bytes after the end of the container; counted when the end was reached. */
uint64_t container_trailing(const struct container *c);

/* ---- writing ------------------------------------------------------------------------------------ */

/* A snappy container in the making: 1 MiB of stream a chunk, as the tracer itself writes. */
struct container_out;

/* Writes the magic at once. write() has 0/-errno. */
int container_out_new(dial9_write_fn write, void *ctx, struct container_out **out);
int container_out_add(struct container_out *o, const void *data, size_t sz);
/* Writes what waits as the last chunk. */
int container_out_finish(struct container_out *o);
void container_out_free(struct container_out *o);

#endif /* D9_FORMATS_CONTAINER_H */
