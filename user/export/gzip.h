/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_GZIP_H
#define D9_EXPORT_GZIP_H

#include <stddef.h>

/* Compresses a stream. Memory is constant: zlib's. */
struct gzip;

/* Receives compressed bytes, in pieces. */
typedef void (*gzip_fn)(void *ctx, const void *data, size_t sz);

/* Never NULL; free with gzip_free(). */
struct gzip *gzip_new(gzip_fn fn, void *ctx);
void gzip_free(struct gzip *g);

/* Adds less than 4 GiB; calls fn when enough is compressed. */
void gzip_put(struct gzip *g, const void *data, size_t sz);
/* Call it once, at the end: passes the rest to fn. */
void gzip_end(struct gzip *g);

#endif /* D9_EXPORT_GZIP_H */
