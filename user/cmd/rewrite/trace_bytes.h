/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_REWRITE_TRACE_BYTES_H
#define D9_CMD_REWRITE_TRACE_BYTES_H

#include "cmd/common/select.h"
#include "rewrite/copy/cut_out.h"

/*
 * The plain bytes of the trace at @path: of what @sel selects, as cut_to() writes them, or if that is all, as they
 * stand there, damage included. @word is the command, for messages. An exit code.
 */
int trace_bytes_write(const char *word, const struct select_opts *sel, const char *path,
		      const struct cut_out *out);
/* The same into a temporary file without a name: *fd, if it is not negative, is the caller's to close. */
int trace_bytes_to_temp(const char *word, const struct select_opts *sel, const char *path, int *fd);
/* Only checks the first bytes of the traces. */
int trace_bytes_check(const char *word, const char *path);

#endif /* D9_CMD_REWRITE_TRACE_BYTES_H */
