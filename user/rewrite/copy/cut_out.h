/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_COPY_CUT_OUT_H
#define D9_REWRITE_COPY_CUT_OUT_H

#include <stddef.h>

/* Destination of a rewritten trace. write() takes all of it: 0, or -errno after one printed line. */
struct cut_out {
	int (*write)(void *ctx, const void *data, size_t sz);
	void *ctx;
};

#endif /* D9_REWRITE_COPY_CUT_OUT_H */
