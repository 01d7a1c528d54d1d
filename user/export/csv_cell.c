// SPDX-License-Identifier: BSD-2-Clause
/* Cells of comma-separated values. */
#include "export/csv_cell.h"

#include <stdbool.h>
#include <string.h>

void csv_cell_put(struct buf *out, const char *s, size_t n)
{
	const bool formula = n && strchr("=+-@", *s);

	if (!formula && !memchr(s, ',', n) && !memchr(s, '"', n)) {
		buf_add(out, s, n);
		return;
	}
	buf_addstr(out, formula ? "\"'" : "\"");
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"')
			buf_addch(out, '"');
		buf_addch(out, s[i]);
	}
	buf_addch(out, '"');
}
