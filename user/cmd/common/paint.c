// SPDX-License-Identifier: BSD-2-Clause
/* Colours by meaning. Owns the escape sequences, which no other file has. */
#include "cmd/common/paint.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

static const char *const codes[] = {
	[PAINT_PLAIN] = NULL,  [PAINT_HOT] = "31",  [PAINT_WARM] = "32",
	[PAINT_WARN] = "1;33", [PAINT_TITLE] = "1", [PAINT_DIM] = "2",
};

bool paint_wanted(enum paint_when when)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (when != PAINT_AUTO)
		return when == PAINT_ALWAYS;
	return isatty(STDOUT_FILENO) && !(no && *no) && term && *term && strcmp(term, "dumb") != 0;
}

void paint_put(struct buf *out, bool on, enum paint_as as, const char *s, size_t n)
{
	on = on && n && codes[as];
	if (on)
		buf_printf(out, "\033[%sm", codes[as]);
	buf_add(out, s, n);
	if (on)
		buf_addstr(out, "\033[0m");
}

enum paint_as paint_percent(double percent)
{
	return percent >= 5 ? PAINT_HOT : percent >= 0.5 ? PAINT_WARM : PAINT_PLAIN;
}
