// SPDX-License-Identifier: BSD-2-Clause
/* jsonl: script's objects, and objects of off-CPU intervals, each complete. */
#include "tests/cmd/run_cmd.h"

/* Lines that contain, or do not contain, this text. */
static char *lines_with(const char *out, const char *text, bool with)
{
	char *lines = calloc(1, strlen(out) + 1);
	size_t n;

	for (; *out; out += n) {
		char *line = strndup(out, n = strcspn(out, "\n") + 1);

		if (!strstr(line, text) == !with)
			strcat(lines, line);
		free(line);
	}
	return lines;
}

/* Without the intervals the output equals the output of script, with the stack of the switch in its object. */
Test(jsonl, events_equal_the_output_of_script)
{
	struct run want = run_cmd(cmd_script, run_app_file(), "script", "-", "--json", NULL);
	struct run r = run_cmd(cmd_export, run_app_file(), "export", "jsonl", "-", NULL);
	char *got = lines_with(r.out, "\"event\":\"interval\"", false), *events;

	events = lines_with(got, "\"event\":\"ClockSyncEvent\"", false);
	free(got);
	got = lines_with(events, "\"event\":\"RecorderStats\"", false);
	cr_assert(strstr(want.out, "\"event\":\"sched:sched_switch\""));
	cr_expect_str_eq(got, want.out, "%s", got);
	free(events);
	free(got);
	run_free(&want);
	run_free(&r);
}

Test(jsonl, blocked_interval_is_exported)
{
	run_expect(run_cmd(cmd_export, run_app_file(), "export", "jsonl", "-", "--kind=offcpu",
			   NULL),
		   CMD_OK,
		   "{\"version\":2,\"ts\":12001234567,\"end\":13000000000,\"event\":\"interval\","
		   "\"state\":\"blocked\",\"comm\":\"pool\",\"pid\":10,\"tid\":11,\"cpu\":1,"
		   "\"letter\":\"S\",\"cut\":false,"
		   "\"waker\":{\"name\":\"app/10\",\"tid\":10,\"cpu\":0,\"ts\":13000000000},"
		   "\"stack\":[{\"addr\":\"0x8000030000000080\",\"sym\":\"schedule\",\"off\":64,"
		   "\"dso\":\"[kernel.kallsyms]\"},"
		   "{\"addr\":\"0x10000000210\",\"sym\":\"work\",\"off\":16,"
		   "\"dso\":\"/opt/app/bin/app\",\"file\":\"app.c\",\"line\":15},"
		   "{\"addr\":\"0x10000000110\",\"sym\":\"main\",\"off\":16,"
		   "\"dso\":\"/opt/app/bin/app\",\"file\":\"app.c\",\"line\":5}]}\n",
		   "");
}
