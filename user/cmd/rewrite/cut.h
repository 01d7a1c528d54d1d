/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_REWRITE_CUT_H
#define D9_CMD_REWRITE_CUT_H

#include "cmd/common/select.h"
#include "rewrite/copy/cut_out.h"

/* As `dial9-prof cut` with that selection of the trace at @path, without a summary. An exit code. */
int cut_to(const struct select_opts *sel, const char *path, const struct cut_out *out);

#endif /* D9_CMD_REWRITE_CUT_H */
