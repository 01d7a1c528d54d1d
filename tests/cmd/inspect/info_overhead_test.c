// SPDX-License-Identifier: BSD-2-Clause
/* What `info` prints of the cost of a recording and its limit. */
#include "tests/cmd/run_cmd.h"

static void expect_limit(const char *ppm, bool stats, const char *want)
{
	const uint64_t s = RUN_SEC;
	const char *const kv[] = { "max_overhead_ppm", ppm, "cpus", "4", NULL };
	struct make m;
	struct run r;

	make_init(&m, NULL);
	make_metadata(&m, s, kv);
	if (stats)
		MAKE_NUMBERS(&m, 11 * s, "RecorderStats", { "elapsed_ns", 10 * s },
			     { "bpf_ns", s / 10 }, { "cpu_ns", s / 5 }, { "helpers", 2 },
			     { "helper_cpu_ns", s / 2 });
	r = run_cmd(cmd_info, make_done(&m), "info", "-", NULL);
	run_expect_in(r.out, want);
	run_free(&r);
}

/* 0.8 s in 10 s are 8% of one CPU, 2% of four. */
Test(info_overhead, cost_is_compared_with_the_limit_in_its_unit)
{
	expect_limit(
		"15000", true,
		"\noverhead limit  1.5% of all CPUs (--max-overhead); on average BPF + recorder + helpers "
		"used 2.00% of 4 CPUs: limit exceeded\n");
	expect_limit(
		"20000", true,
		"\noverhead limit  2% of all CPUs (--max-overhead); on average BPF + recorder + helpers "
		"used 2.00% of 4 CPUs\n");
	expect_limit("500", false, "\noverhead limit  0.05% of all CPUs (--max-overhead)\n");
}
