// SPDX-License-Identifier: BSD-2-Clause
/* What a recording says when it has ended, of its figures alone: there is no file to read back. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/record/end_summary.h"
#include "record/recorder.h"

static void expect(const struct recorder_result *result, const char *want)
{
	const struct end_summary summary = { .file = "-" };
	const struct recorder_cfg cfg = { .capture.ring_bytes = 4 << 20 };
	int saved = dup(STDERR_FILENO);
	FILE *said = tmpfile();
	char text[1024];

	dup2(fileno(said), STDERR_FILENO);
	end_summary_print(&summary, &cfg, result);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(said);
	text[fread(text, 1, sizeof(text) - 1, said)] = '\0';
	fclose(said);
	cr_expect_str_eq(text, want, "%s", text);
}

Test(end_summary, figures_of_a_recording)
{
	const struct recorder_result result = {
		.totals.stats = { .elapsed_ns = 2000000000,
				  .produced = 1001,
				  .written = 999,
				  .lost = 2,
				  .samples = 1,
				  .bpf_ns = 20000000,
				  .cpu_ns = 40000000,
				  .bytes_written = 25000 },
		.sampler = "cycles",
		.hz = 99,
	};

	expect(&result,
	       "[ dial9-prof: 2.0 s, 999 events (2 lost) and 1 sample in 25.0 kB (25.0 B "
	       "each); cost: BPF 1.0% + recorder 2.0% of one CPU ]\n"
	       "  events lost: ring buffer full; use a larger one (-m 16M) or fewer events\n");
}

Test(end_summary, nothing_has_no_size)
{
	const struct recorder_result result = {
		.totals.stats = { .elapsed_ns = 1000000000, .bytes_written = 1500 },
	};

	expect(&result, "[ dial9-prof: 1.0 s, 0 events (0 lost) and 0 samples in 1.5 kB; cost: BPF "
			"0.0% + recorder 0.0% of one CPU ]\n");
}
