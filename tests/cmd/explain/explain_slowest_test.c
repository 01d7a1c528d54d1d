// SPDX-License-Identifier: BSD-2-Clause
/* Causes of slow pairs, as `explain --span` prints them. */
#include "base/buf.h"
#include "tests/cmd/run_cmd.h"

static const uint64_t ms = 1000000;

static int input_of_unknown_preemptor(void)
{
	const uint64_t t = 20 * RUN_SEC;
	struct make m;

	make_init(&m, NULL);
	make_task(&m, t, 11, 11, "victim");
	make_switch(&m, t, 0, "swapper/0", 0, 0, "victim", 11);
	MAKE_NUMBERS(&m, t + 1 * ms, "RequestStart", { "tid", 11 });
	make_switch(&m, t + 2 * ms, 0, "victim", 11, 0x100, "hog", 20);
	make_switch(&m, t + 6 * ms, 0, "third", 40, 1, "victim", 11);
	MAKE_NUMBERS(&m, t + 7 * ms, "RequestEnd", { "tid", 11 });
	make_switch(&m, t + 9 * ms, 0, "victim", 11, 1, "swapper/0", 0);
	return make_done(&m);
}

Test(explain_slowest, cause_with_an_unknown_preemptor_names_its_own_switches)
{
	struct run r;

	r = run_cmd(cmd_explain, input_of_unknown_preemptor(), "explain", "--span", "RequestStart",
		    "-", NULL);
	run_expect_in(r.out, "  runnable, replaced by: hog 20, ran before it returned: third 40\n");
	cr_expect_null(strstr(r.out, "runnable, ran instead: unknown task"));
	run_free(&r);
	r = run_cmd(cmd_explain, input_of_unknown_preemptor(), "explain", "--span", "RequestStart",
		    "--json", "-", NULL);
	run_expect_in(r.out, "\"ran_instead\":{\"tid\":null,\"pid\":null,\"comm\":null},"
			     "\"replaced_by\":{\"tid\":20,\"pid\":null,\"comm\":\"hog\"},"
			     "\"ran_before_return\":{\"tid\":40,\"pid\":null,\"comm\":\"third\"}}");
	run_free(&r);
}
