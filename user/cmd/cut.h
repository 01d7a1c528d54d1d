/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_CUT_H
#define D9_CMD_CUT_H

#include "cmd/select.h"

/* Where the smaller trace goes. write() takes all of it: 0, or -errno after one printed line. */
struct cut_out {
	int (*write)(void *ctx, const void *data, size_t sz);
	void *ctx;
};

/* As `dial9-prof cut` with that selection of the trace at @path, without a summary. An exit code. */
int cut_to(const struct select_opts *sel, const char *path, const struct cut_out *out);

#endif /* D9_CMD_CUT_H */
