/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COMMON_SYMBOL_FIT_H
#define D9_CMD_COMMON_SYMBOL_FIT_H

#include <stddef.h>

struct buf;

/*
 * Appends the name of a function in at most @cols columns by removing the least important parts: parameters become
 * (...), then template arguments <...>, innermost first. A name that is still too wide is unchanged:
 * report_text_column() cuts it. @cols 0: no limit.
 */
void symbol_fit_name(struct buf *out, const char *s, size_t n, size_t cols);

#endif /* D9_CMD_COMMON_SYMBOL_FIT_H */
