/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_SYMBOL_FIT_H
#define D9_CMD_COMMON_SYMBOL_FIT_H

#include <stddef.h>

struct buf;

/*
 * Appends the name of a function in at most @cols columns, if that can be done by leaving out what
 * tells least: parameters become (...), then template arguments <...>, the innermost first. What is
 * still too wide stays so: report_text_column() cuts it. A name that fits is not touched; @cols 0: all fit.
 */
void symbol_fit_name(struct buf *out, const char *s, size_t n, size_t cols);

#endif /* D9_CMD_COMMON_SYMBOL_FIT_H */
