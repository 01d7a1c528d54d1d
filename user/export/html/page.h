/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_EXPORT_HTML_PAGE_H
#define D9_EXPORT_HTML_PAGE_H

#include "base/buf.h"

/*
 * The page of user/web, in one file, up to the place of its trace. @from: the address at which the server of
 * the page has the trace, a name without characters that mean something in HTML; NULL: it stands in the page, as
 * base64, which the caller appends.
 */
void page_put_head(struct buf *out, const char *from);
/* The rest of it. */
void page_put_tail(struct buf *out);

#endif /* D9_EXPORT_HTML_PAGE_H */
