/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_HTML_PAGE_H
#define D9_EXPORT_HTML_PAGE_H

#include "base/buf.h"

/*
 * The page of user/web, in one file, up to the place of its trace. @from: the address of the trace
 * on the page's server, without characters that have a meaning in HTML. NULL: the trace is in the
 * page, as base64 that the caller appends.
 */
void page_put_head(struct buf *out, const char *from);
/* The rest of the page. */
void page_put_tail(struct buf *out);

#endif /* D9_EXPORT_HTML_PAGE_H */
