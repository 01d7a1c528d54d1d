// SPDX-License-Identifier: BSD-2-Clause
/* When text is coloured, and how. */
#include "tests/cmd/pty.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "cmd/common/color.h"

Test(color, text_is_coloured_only_if_colours_are_on_and_the_text_has_a_colour)
{
	struct buf b = { 0 };

	color_put(&b, true, COLOR_HOT, "hot", 3);
	color_put(&b, true, COLOR_PLAIN, " plain ", 7);
	color_put(&b, true, COLOR_WARN, "", 0);
	color_put(&b, false, COLOR_WARN, "off", 3);
	cr_expect_str_eq(buf_cstr(&b), "\033[31mhot\033[0m plain off");
	buf_free(&b);
}

Test(color, percentages_have_the_colour_of_their_size)
{
	cr_expect_eq(color_percent(100), COLOR_HOT);
	cr_expect_eq(color_percent(5), COLOR_HOT);
	cr_expect_eq(color_percent(4.99), COLOR_WARM);
	cr_expect_eq(color_percent(0.5), COLOR_WARM);
	cr_expect_eq(color_percent(0.49), COLOR_PLAIN);
}

/* Whether colours are wanted with standard output on a terminal. */
static bool on_terminal(enum color_when when, const char *term, const char *no_color)
{
	int keep = dup(1);
	struct pty t;
	bool ret;

	pty_open(&t, 24, 80);
	setenv("TERM", term, 1);
	if (no_color)
		setenv("NO_COLOR", no_color, 1);
	else
		unsetenv("NO_COLOR");
	dup2(t.slave, 1);
	ret = color_wanted(when);
	dup2(keep, 1);
	close(keep);
	close(t.slave);
	close(t.master);
	return ret;
}

Test(color, terminals_with_colours_get_colours_by_default)
{
	cr_expect(on_terminal(COLOR_AUTO, "xterm", NULL));
	cr_expect(on_terminal(COLOR_AUTO, "xterm", ""));
	cr_expect_not(on_terminal(COLOR_AUTO, "xterm", "1"));
	cr_expect_not(on_terminal(COLOR_AUTO, "dumb", NULL));
	cr_expect_not(on_terminal(COLOR_AUTO, "", NULL));
	cr_expect_not(on_terminal(COLOR_NEVER, "xterm", NULL));
	cr_expect(on_terminal(COLOR_ALWAYS, "dumb", "1"), "who asks gets them");
}

Test(color, files_get_colours_only_on_request)
{
	FILE *f = tmpfile();
	int keep = dup(1);

	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	dup2(fileno(f), 1);
	cr_expect_not(color_wanted(COLOR_AUTO));
	cr_expect(color_wanted(COLOR_ALWAYS));
	dup2(keep, 1);
	close(keep);
	fclose(f);
}
