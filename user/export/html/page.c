// SPDX-License-Identifier: BSD-2-Clause
/* The page as built by user/web/assemble.sh, with its placeholders filled in. */
#include "export/html/page.h"

#include <string.h>

#include "page_html.h"

/* Appends the page from *at up to @hole, and sets *at to the text after the hole. */
static void put_up_to(struct buf *out, const char **at, const char *hole)
{
	const char *end = strstr(*at, hole);

	buf_add(out, *at, (size_t)(end - *at));
	*at = end + strlen(hole);
}

void page_put_head(struct buf *out, const char *from)
{
	const char *at = page_html;

	put_up_to(out, &at, "@CONNECT@");
	buf_addstr(out, from ? "'self'" : "'none'");
	put_up_to(out, &at, "@FROM@");
	if (from)
		buf_printf(out, " data-from=\"%s\"", from);
	put_up_to(out, &at, "@TRACE@");
}

void page_put_tail(struct buf *out)
{
	static const char hole[] = "@TRACE@";

	buf_addstr(out, strstr(page_html, hole) + strlen(hole));
}
