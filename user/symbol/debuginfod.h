/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_DEBUGINFOD_H
#define D9_SYMBOL_DEBUGINFOD_H

struct buf;

/*
 * Appends the directory where clients of debuginfod keep what they fetched, to read it or to put more there:
 * $DEBUGINFOD_CACHE_PATH, ~/.debuginfod_client_cache if there is one, $XDG_CACHE_HOME/debuginfod_client,
 * ~/.cache/debuginfod_client. -ENOENT when the environment names none.
 */
int debuginfod_cache(struct buf *out);

#endif /* D9_SYMBOL_DEBUGINFOD_H */
