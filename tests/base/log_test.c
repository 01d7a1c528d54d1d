// SPDX-License-Identifier: BSD-2-Clause
/* One line per message, filtered by level, without characters that move the cursor of a terminal. */
#include "base/log.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void assert_stderr(const char *want)
{
	char got[8192];
	FILE *f = cr_get_redirected_stderr();
	size_t n = fread(got, 1, sizeof(got) - 1, f);

	got[n] = '\0';
	cr_assert_str_eq(got, want);
}

Test(log, default_level_shows_errors_and_warnings, .init = cr_redirect_stderr)
{
	log_error("a %d", 1);
	log_warn("b");
	log_info("c");
	assert_stderr("dial9-prof: a 1\ndial9-prof: b\n");
}

Test(log, quiet_shows_errors_only, .init = cr_redirect_stderr)
{
	log_set_level(LOG_LEVEL_QUIET);
	log_error("a");
	log_warn("b");
	assert_stderr("dial9-prof: a\n");
}

Test(log, debug_shows_everything, .init = cr_redirect_stderr)
{
	log_set_level(LOG_LEVEL_DEBUG);
	log_info("c");
	assert_stderr("dial9-prof: c\n");
}

Test(log, control_characters_never_reach_the_terminal, .init = cr_redirect_stderr)
{
	log_error("x\033[2Jy\nz");
	assert_stderr("dial9-prof: x?[2Jy?z\n");
}

/* A terminal that takes eight bits obeys them as it does escape sequences. */
Test(log, control_characters_above_ascii_are_escaped_too, .init = cr_redirect_stderr)
{
	log_error("a\xc2\x9b"
		  "2Jb\x9b"
		  "2Jc\xc2\xa0\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xe2\x82");
	assert_stderr("dial9-prof: a??2Jb?2Jc\xc2\xa0\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80??\n");
}

Test(log, characters_that_reverse_text_are_escaped_too, .init = cr_redirect_stderr)
{
	log_error("a\xe2\x80\xae"
		  "b\xe2\x80\xa8"
		  "c\xed\xa0\x80");
	assert_stderr("dial9-prof: a???b???c???\n");
}

Test(log, too_long_message_is_cut_to_one_line, .init = cr_redirect_stderr)
{
	char text[5000], want[2049];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_error("%s", text);
	memset(want, 'a', sizeof(want));
	memcpy(want, "dial9-prof: ", 12);
	want[2046] = '\n';
	want[2047] = '\0';
	assert_stderr(want);
}

Test(log, logging_preserves_errno, .init = cr_redirect_stderr)
{
	errno = E2BIG;
	log_error("x");
	cr_assert_eq(errno, E2BIG);
}
