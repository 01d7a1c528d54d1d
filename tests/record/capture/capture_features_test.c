// SPDX-License-Identifier: BSD-2-Clause
/* Each BPF program has a row, and a recording continues without features that were not requested. */
#include "record/capture/capture_features.h"

#include <bpf/libbpf.h>
#include <criterion/criterion.h>
#include <string.h>

#include "prof_abi.h"
#include "prof_select.h"
#include "prof.skel.h"
#include "record/capture/capture.h"
#include "record/tracepoint/eventset.h"

enum { WARNING_MAX = 100 };

Test(capture_features, each_program_has_a_feature_that_prints_a_warning_or_an_error)
{
	struct prof *skel = prof__open();
	const struct capture_feature *f;
	struct bpf_program *prog;
	char line[256];
	int cnt = 0;

	cr_assert(skel);
	bpf_object__for_each_program(prog, skel->obj) {
		f = capture_feature_of(bpf_program__name(prog));
		cr_assert(f, "%s", bpf_program__name(prog));
		cr_expect(f->leave_out || f->option, "%s", bpf_program__name(prog));
		snprintf(line, sizeof(line),
			 "dial9-prof: record: no %s: refused by this kernel (-v shows why)",
			 f->name);
		cr_expect_leq(strlen(line), WARNING_MAX, "%s", line);
		cnt++;
	}
	cr_expect_gt(cnt, 40);
	prof__destroy(skel);
	cr_expect_null(capture_feature_of("other"));
	cr_expect_null(capture_feature_of(""));
}

Test(capture_features, features_requested_by_name_are_not_disabled)
{
	static const char *const asked[] = { "prof_wait_wakeup",    "prof_off_cpu_switch",
					     "prof_summary_switch", "prof_latency_switch",
					     "prof_select_fork",    "prof_tracepoint",
					     "prof_sched_switch",   "prof_follow_fork" };
	const struct eventset one = { .cnt = 1 }, none = { 0 };
	const struct capture_cfg cfg = { .samples = true, .events = &one };
	const struct capture_cfg cycles = { .samples = true, .events = &one, .force_cycles = true };
	const struct capture_cfg alone = { .samples = true, .events = &none };
	size_t i;

	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		cr_expect_not(capture_feature_is_optional(capture_feature_of(asked[i]), &cfg), "%s",
			      asked[i]);
	cr_expect(capture_feature_is_optional(capture_feature_of("prof_sample"), &cfg));
	cr_expect_not(capture_feature_is_optional(capture_feature_of("prof_sample"), &cycles));
	cr_expect_not(capture_feature_is_optional(capture_feature_of("prof_sample"), &alone));
	cr_expect(capture_feature_is_optional(capture_feature_of("prof_sample_orc"), &alone));
	cr_expect_not(capture_feature_is_optional(NULL, &cfg));
}

Test(capture_features, disabled_features_are_switched_off)
{
	struct capture_cfg cfg = { .samples = true, .call_graph = PROF_CALL_GRAPH_AUTO };

	capture_feature_of("prof_sample_orc")->leave_out(&cfg);
	cr_expect(cfg.no_orc && cfg.samples);
	capture_feature_of("prof_sample")->leave_out(&cfg);
	cr_expect_not(cfg.samples);
	capture_feature_of("prof_unwind_fork")->leave_out(&cfg);
	cr_expect_eq(cfg.call_graph, PROF_CALL_GRAPH_FP);
	capture_feature_of("prof_mark_irq_work_entry")->leave_out(&cfg);
	cr_expect(cfg.no_marks);
	capture_feature_of("prof_extract_stand_in_2")->leave_out(&cfg);
	cr_expect(cfg.no_extracts);
	capture_feature_of("prof_forget_freed")->leave_out(&cfg);
	cr_expect(cfg.no_forget);
}
