// SPDX-License-Identifier: BSD-2-Clause
/* The configurations of `check --programs` against the options of record. */
#include <string.h>

#include "cmd/record/check_programs.h"
#include "tests/cmd/run_cmd.h"

/* These change nothing that a BPF program sees. An option that does belongs to a configuration. */
static const char *const elsewhere[] = {
	"--annotate",
	"--anonymize",
	"--anonymize-key",
	"--app-trace",
	"--as-root",
	"--btf",
	"--ca-file",
	"--compress",
	"--control",
	"--delay",
	"--disk-budget",
	"--duration",
	"--freq",
	"--help",
	"--label",
	"--max-size",
	"--mem-max",
	"--meta",
	"--names-wait",
	"--nice",
	"--no-names",
	"--no-progress",
	"--on-full",
	"--output",
	"--port",
	"--post",
	"--progress",
	"--quiet",
	"--raw-ttl",
	"--ready-fd",
	"--realtime",
	"--rearm",
	"--rollup-ttl",
	"--ship",
	"--ship-events",
	"--spec",
	"--switch-max-files",
	"--switch-output",
	"--timestamp-filename",
	"--verbose",
};

static bool is_configured(const char *option)
{
	for (size_t i = 0; i < check_configuration_cnt; i++)
		for (const char *const *w = check_configurations[i].words; *w; w++)
			if (!strcmp(*w, option))
				return true;
	return false;
}

static bool is_elsewhere(const char *option)
{
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		if (!strcmp(elsewhere[i], option))
			return true;
	return false;
}

/* A line of the help is "  -k, --name=VALUE  ..." or "      --name  ...". */
static bool read_option(const char *line, char *key, char *name)
{
	snprintf(key, 3, "%.2s", line + 2);
	return sscanf(line, "%*[ ]-%*1s, %63[a-z-]", name) == 1 ||
	       sscanf(line, "      %63[a-z-]", name) == 1;
}

Test(check_programs, each_option_of_record_is_tried_or_changes_no_program)
{
	struct run r = run_cmd(cmd_record, dup(0), "record", "--help", NULL);
	char key[8], name[64], *at = NULL, *line;
	size_t cnt = 0;

	for (line = strtok_r(r.out, "\n", &at); line; line = strtok_r(NULL, "\n", &at)) {
		if (!read_option(line, key, name) || strncmp(name, "--", 2))
			continue;
		cnt++;
		cr_expect(is_configured(name) || is_configured(key) || is_elsewhere(name),
			  "%s: needs a row in check_configurations, or in this test", name);
		cr_expect_not((is_configured(name) || is_configured(key)) && is_elsewhere(name),
			      "%s: is in both", name);
	}
	cr_expect_gt(cnt, 50, "%zu options of: %s", cnt, r.out);
	run_free(&r);
}

static int count_use(const struct recorder_cfg *cfg, void *ctx)
{
	++*(size_t *)ctx;
	return 0;
}

Test(check_programs, each_configuration_is_a_command_line_that_record_accepts)
{
	size_t used = 0;

	for (size_t i = 0; i < check_configuration_cnt; i++)
		cr_expect_eq(check_configured(&check_configurations[i], NULL, count_use, &used), 0,
			     "%s", check_configurations[i].name);
	cr_expect_eq(used, check_configuration_cnt);
}
