// SPDX-License-Identifier: BSD-2-Clause
/* The summary at the end of a recording, from its figures alone: there is no file to read back. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/record/end_summary.h"
#include "record/recorder.h"

static void expect_text(FILE *output, int saved, const char *want)
{
	char text[1024];

	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(output);
	text[fread(text, 1, sizeof(text) - 1, output)] = '\0';
	fclose(output);
	cr_expect_str_eq(text, want, "%s", text);
}

static void expect(const struct recorder_result *result, const char *want)
{
	const struct end_summary summary = { .file = "-" };
	const struct recorder_cfg cfg = { .capture.ring_bytes = 4 << 20, .realtime.priority = 1 };
	int saved = dup(STDERR_FILENO);
	FILE *output = tmpfile();

	dup2(fileno(output), STDERR_FILENO);
	end_summary_print(&summary, &cfg, result);
	expect_text(output, saved, want);
}

static void lose(struct end_summary *s, uint64_t lost, uint64_t elapsed_ns, uint64_t full_ns,
		 const char *want)
{
	const struct status_totals totals = {
		.ring_lost = lost,
		.stats = { .elapsed_ns = elapsed_ns, .output_full_ns = full_ns },
	};
	int saved = dup(STDERR_FILENO);
	FILE *output = tmpfile();

	dup2(fileno(output), STDERR_FILENO);
	end_summary_loss(s, &totals);
	expect_text(output, saved, want);
}

#define SECOND_NS 1000000000ULL

Test(end_summary, losses_are_reported_as_they_happen_but_not_each_second)
{
	const struct recorder_cfg cfg = { .capture.ring_bytes = 4 << 20, .realtime.priority = 1 };
	const struct recorder_cfg ordinary = { .capture.ring_bytes = 4 << 20 };
	struct end_summary s = { .cfg = &cfg }, other = { .cfg = &ordinary, .on_terminal = true };

	lose(&s, 0, SECOND_NS, 0, "");
	lose(&s, 1234, 2 * SECOND_NS, 0,
	     "dial9-prof: record: 1,234 events lost so far: ring buffer full; use a larger one "
	     "(-m 16M) or fewer events\n");
	lose(&s, 1300, 3 * SECOND_NS, 0, "");
	lose(&s, 1300, 11 * SECOND_NS, 0, "");
	lose(&s, 1301, 14 * SECOND_NS, SECOND_NS / 2,
	     "dial9-prof: record: 1,301 events lost so far: the output was too slow for 0.5 s; use "
	     "faster storage, --compress=zstd or fewer events\n");
	lose(&s, 1302, 24 * SECOND_NS, SECOND_NS / 2,
	     "dial9-prof: record: 1,302 events lost so far: ring buffer full; use a larger one "
	     "(-m 16M) or fewer events\n");
	/* a short stall fills no ring */
	lose(&s, 1303, 34 * SECOND_NS, SECOND_NS / 2 + SECOND_NS / 50,
	     "dial9-prof: record: 1,303 events lost so far: ring buffer full; use a larger one "
	     "(-m 16M) or fewer events\n");
	lose(&other, 1, SECOND_NS, 0,
	     "\r\033[Kdial9-prof: record: 1 event lost so far: ring buffer full; use -r 1, a larger "
	     "one (-m 16M) or fewer events\n");
}

Test(end_summary, summary_has_the_figures_of_a_recording)
{
	const struct recorder_result result = {
		.totals.ring_lost = 2,
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
	       "each with stacks and symbols); cost: BPF 1.0% + recorder 2.0% of one CPU ]\n"
	       "  events lost: ring buffer full; use a larger one (-m 16M) or fewer events\n");
}

Test(end_summary, figures_of_0_are_not_printed)
{
	const struct recorder_result result = {
		.totals.stats = { .elapsed_ns = 1000000000, .bytes_written = 1500 },
	};

	expect(&result, "[ dial9-prof: 1.0 s, 0 events (0 lost) and 0 samples in 1.5 kB; cost: BPF "
			"0.0% + recorder 0.0% of one CPU ]\n");
}

static void expect_line(const struct recorder_cfg *cfg, const char *file, const char *want)
{
	const struct end_summary summary = { .file = file };
	const struct status_totals totals = {
		.stats = { .elapsed_ns = 3 * SECOND_NS,
			   .written = 1200,
			   .samples = 1,
			   .lost = 5,
			   .bytes_written = 12010 },
	};
	int saved = dup(STDERR_FILENO);
	FILE *output = tmpfile();

	dup2(fileno(output), STDERR_FILENO);
	end_summary_print_line(&summary, cfg, &totals);
	expect_text(output, saved, want);
}

Test(end_summary, without_a_terminal_it_is_one_line)
{
	const struct recorder_cfg one = { .names_wait_ns = 0 }, many = { .output.set = true };

	expect_line(&one, "x.bin",
		    "dial9-prof: record: 3.0 s, 1,200 events (5 lost) and 1 sample in 12.0 kB "
		    "(10.0 B each with stacks and symbols), written to x.bin\n");
	expect_line(&many, "x",
		    "dial9-prof: record: 3.0 s, 1,200 events (5 lost) and 1 sample in 12.0 kB "
		    "(10.0 B each with stacks and symbols), written to x.N.bin\n");
	expect_line(&one, "-",
		    "dial9-prof: record: 3.0 s, 1,200 events (5 lost) and 1 sample in 12.0 kB "
		    "(10.0 B each with stacks and symbols)\n");
}

static void warn_nothing(const struct recorder_cfg *cfg, const struct status_totals *totals,
			 const char *want)
{
	int saved = dup(STDERR_FILENO);
	FILE *output = tmpfile();

	dup2(fileno(output), STDERR_FILENO);
	end_summary_warn_nothing(cfg, totals);
	expect_text(output, saved, want);
}

Test(end_summary, recording_without_a_matching_task_is_reported)
{
	static const char *const comms[] = { "hot", "b*" }, *const users[] = { "web" };
	const struct status_totals none = { .at_most = 0 }, some = { .stats.samples = 1 },
				   lost = { .stats = { .produced = 1, .lost = 1 } },
				   cut = { .samples_lost = 1 };
	const struct recorder_cfg all = { .names_wait_ns = 0 };
	struct recorder_cfg cfg = {
		.selection = { .comms = { comms, 2 }, .users = { users, 1 } },
	};

	warn_nothing(&cfg, &none,
		     "dial9-prof: record: nothing recorded: no event or sample belongs to a "
		     "matching task (user web, process hot, process b*)\n");
	warn_nothing(&cfg, &some, "");
	warn_nothing(&cfg, &lost, "");
	warn_nothing(&cfg, &cut, "");
	warn_nothing(&all, &none, "");
	cfg.when.control = "fd:3";
	warn_nothing(&cfg, &none, "");
}
