// SPDX-License-Identifier: BSD-2-Clause
/* Colours by meaning. Owns the escape sequences, which no other file has. */
#include "cmd/common/color.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

static const char *const codes[] = {
	[COLOR_PLAIN] = NULL,  [COLOR_HOT] = "31",  [COLOR_WARM] = "32",
	[COLOR_WARN] = "1;33", [COLOR_TITLE] = "1", [COLOR_DIM] = "2",
};

bool color_wanted(enum color_when when)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (when != COLOR_AUTO)
		return when == COLOR_ALWAYS;
	return isatty(STDOUT_FILENO) && !(no && *no) && term && *term && strcmp(term, "dumb") != 0;
}

void color_put(struct buf *out, bool on, enum color_as as, const char *s, size_t n)
{
	on = on && n && codes[as];
	if (on)
		buf_printf(out, "\033[%sm", codes[as]);
	buf_add(out, s, n);
	if (on)
		buf_addstr(out, "\033[0m");
}

enum color_as color_percent(double percent)
{
	return percent >= 5 ? COLOR_HOT : percent >= 0.5 ? COLOR_WARM : COLOR_PLAIN;
}
