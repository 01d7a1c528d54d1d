/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_GZIP_H
#define D9_EXPORT_GZIP_H

#include <stddef.h>

/* Bytes packed as they come. Memory is what zlib takes, whatever their number. */
struct gzip;

/* Gets the packed bytes, piece by piece. */
typedef void (*gzip_fn)(void *ctx, const void *data, size_t sz);

/* Never NULL; free with gzip_free(). */
struct gzip *gzip_new(gzip_fn fn, void *ctx);
void gzip_free(struct gzip *g);

/* More bytes, less than 4 GiB of them; fn is called when enough are packed. */
void gzip_put(struct gzip *g, const void *data, size_t sz);
/* Once, after the last: fn gets all that is left. */
void gzip_end(struct gzip *g);

#endif /* D9_EXPORT_GZIP_H */
