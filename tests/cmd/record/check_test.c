// SPDX-License-Identifier: BSD-2-Clause
/* What `check` prints for made-up findings; real findings are tested with root. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/record/check.h"

#define GOOD                                                                                       \
	{                                                                                          \
		.name = "tracefs", .state = CHECK_GOOD, .detail = (char *)"mounted"                \
	}
#define SAMPLER                                                                                    \
	{                                                                                          \
		.name = "sampling clock", .state = CHECK_LIMITED, .detail = (char *)"none",        \
		.option = "--no-samples", .costs = "no CPU samples"                                \
	}
#define CAP(cap, mended)                                                                           \
	{                                                                                          \
		.name = cap, .state = CHECK_BAD, .detail = (char *)"not there",                    \
		.costs = "nothing can be recorded", .mend = (char *)(mended)                       \
	}

static void expect(void (*print)(const struct check *), struct check_row *rows, size_t cnt,
		   const char *want)
{
	const struct check check = { .rows = rows, .cnt = cnt };
	int saved = dup(STDOUT_FILENO);
	FILE *output = tmpfile();
	char text[2048];

	fflush(stdout);
	dup2(fileno(output), STDOUT_FILENO);
	print(&check);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	rewind(output);
	text[fread(text, 1, sizeof(text) - 1, output)] = '\0';
	fclose(output);
	cr_expect_str_eq(text, want, "%s", text);
}

Test(check, missing_optional_feature_does_not_prevent_recording)
{
	struct check_row rows[] = { GOOD, SAMPLER };

	expect(check_print_text, rows, 1,
	       "ok       tracefs                mounted\n"
	       "Recording can start.\n");
	expect(check_print_text, rows, 2,
	       "ok       tracefs                mounted\n"
	       "limited  sampling clock         none\n"
	       "         without it: no CPU samples\n"
	       "Recording can start with --no-samples.\n");
	expect(check_print_json, rows, 2,
	       "{\"can_record\":true,\"checks\":[{\"state\":\"ok\",\"name\":\"tracefs\",\"detail\":"
	       "\"mounted\",\"option\":null,\"costs\":null,\"fix\":null},{\"state\":\"limited\","
	       "\"name\":\"sampling clock\",\"detail\":\"none\",\"option\":\"--no-samples\",\"costs\":"
	       "\"no CPU samples\",\"fix\":null}]}\n");
}

Test(check, command_that_fixes_several_things_is_printed_once)
{
	struct check_row rows[] = { CAP("CAP_A", "sudo setcap x"),
				    GOOD,
				    SAMPLER,
				    CAP("CAP_B", "sudo setcap x"),
				    CAP("CAP_C", "sudo"),
				    CAP("CAP_D", "sudo") };

	expect(check_print_text, rows, 6,
	       "missing  CAP_A                  not there\n"
	       "         without it: nothing can be recorded\n"
	       "         fix: sudo setcap x\n"
	       "ok       tracefs                mounted\n"
	       "limited  sampling clock         none\n"
	       "         without it: no CPU samples\n"
	       "missing  CAP_B                  not there\n"
	       "         without it: nothing can be recorded\n"
	       "         fix: the same command\n"
	       "missing  CAP_C                  not there\n"
	       "         without it: nothing can be recorded\n"
	       "         fix: sudo\n"
	       "missing  CAP_D                  not there\n"
	       "         without it: nothing can be recorded\n"
	       "         fix: sudo\n"
	       "Recording cannot start.\n");
	expect(check_print_json, rows + 3, 1,
	       "{\"can_record\":false,\"checks\":[{\"state\":\"missing\",\"name\":\"CAP_B\",\"detail\":"
	       "\"not there\",\"option\":null,\"costs\":\"nothing can be recorded\",\"fix\":"
	       "\"sudo setcap x\"}]}\n");
}
