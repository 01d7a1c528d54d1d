/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_EXPORT_REDIRECT_PAGE_H
#define D9_CMD_EXPORT_REDIRECT_PAGE_H

#include "base/buf.h"

/*
 * A page that leads to an address, in a file that only this user can read. A browser gets the path of this
 * file: other users can read command lines, so a secret address must not be in one.
 */
struct redirect_page {
	struct buf dir, file; /* paths; empty: there is none */
};

/* 0 or -errno. @url has no character that HTML would have to escape. */
int redirect_page_init(struct redirect_page *p, const char *url);
/* Removes the file and its directory. */
void redirect_page_fini(struct redirect_page *p);

#endif /* D9_CMD_EXPORT_REDIRECT_PAGE_H */
