// SPDX-License-Identifier: BSD-2-Clause
/*
 * Kernel stacks that are walked by the kernel's own tables, and user stacks that are known from a walk before:
 * each compared with what the slow way finds, under a load that goes through the kernel by many ways.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "kernel/kallsyms.h"
#include "prof_abi.h"
#include "record/capture/capture_orc.h"
#include "tests/bpf/support.h"

TestSuite(kernel_stacks, .fini = live_cleanup);

enum {
	STACKS_MIN = 2000, /* of the load's: each trip through a pipe is two */
	HELPED_SHARE = 10, /* of N walked stacks, at most one is left to the kernel's helper */
	HELPED_MIN = 200,
};

static bool kernel_lets_walk(void)
{
	struct prof_orc_tables tables;
	struct kallsyms *kallsyms;
	bool lets = false;

	if (!capture_orc_is_likely() || kallsyms_load(NULL, NULL, &kallsyms))
		return false;
	lets = capture_orc_find(kallsyms, &tables);
	kallsyms_free(kallsyms);
	return lets;
}

/* Records the load, the system's other tasks too; returns what info prints. */
static struct buf record_mix(const char *option, struct live_rec *rec)
{
	struct live_proc mix;

	live_stimulus(&mix, "mixed", "100", NULL);
	live_record(rec, "-a", "-F", "997", "--switch-stacks=both", "--waking-stacks=both", option,
		    NULL);
	live_recording(rec);
	live_go(&mix);
	cr_assert_eq(live_stop(rec), 0);
	live_end(&mix);
	return live_output((const char *const[]){ "info", "--json", rec->path, NULL });
}

static uint64_t number(const struct buf *info, const char *key)
{
	const char *at = strstr(info->data, key);

	cr_assert(at, "no %s in %s", key, info->data);
	return live_output_number(at, key);
}

/* What was counted, and since when stacks can be walked: before, the kernel's symbols are not read yet. */
struct counted {
	int64_t walked, helped, compared, differing;
	int64_t walked_first, helped_first;
};

static void count_stacks(const char *path, struct counted *c)
{
	struct live_trace lt;
	struct trace_event ev;

	live_open(&lt, path, false);
	while (live_event(&lt, &ev)) {
		if (!live_is(&ev, PROF_EV_STATS))
			continue;
		c->walked = live_int(&ev, "kernel_stacks_walked");
		c->helped = live_int(&ev, "kernel_stacks_helped");
		c->compared = live_int(&ev, "stacks_compared");
		c->differing = live_int(&ev, "stacks_differing");
		if (!c->walked_first) {
			c->walked_first = c->walked;
			c->helped_first = c->helped;
		}
	}
	live_close(&lt);
}

Test(kernel_stacks, walked_stacks_equal_the_stacks_of_the_kernels_unwinder)
{
	struct counted c = { 0 };
	struct live_rec rec;
	struct buf info;

	if (!kernel_lets_walk())
		cr_skip("this kernel's stacks cannot be walked");
	info = record_mix("--debug=verify-stacks", &rec);
	buf_free(&info);
	count_stacks(rec.path, &c);
	fprintf(stderr, "%ld walked, %ld not; %ld compared\n", c.walked, c.helped, c.compared);
	cr_expect_eq(c.differing, 0);
	cr_expect_gt(c.compared, c.walked, "reused user stacks, too");
	cr_expect_geq(c.walked, STACKS_MIN);
	cr_expect_leq(c.helped - c.helped_first,
		      (c.walked - c.walked_first) / HELPED_SHARE + HELPED_MIN, "%ld, %ld before",
		      c.helped, c.helped_first);
}

struct seen {
	uint64_t switches, in_schedule;
};

static void read_stacks(const char *path, struct seen *s)
{
	struct live_trace lt;
	struct trace_event ev;

	live_open(&lt, path, false);
	while (live_event(&lt, &ev)) {
		if (!live_is(&ev, PROF_EV_CPU_SAMPLE) ||
		    live_int(&ev, PROF_F_SOURCE) != PROF_SOURCE_SWITCH_OUT)
			continue;
		s->switches++;
		s->in_schedule += live_stack_has(&lt, &ev, "__schedule");
	}
	live_close(&lt);
}

Test(kernel_stacks, without_orc_tables_the_kernels_helper_takes_the_stacks)
{
	struct live_rec rec;
	struct seen s = { 0 };
	struct buf info = record_mix("--debug=no-orc", &rec);

	cr_expect_eq(number(&info, "\"kernel_stacks_walked\":"), 0);
	cr_expect_geq(number(&info, "\"kernel_stacks_helped\":"), STACKS_MIN);
	buf_free(&info);
	read_stacks(rec.path, &s);
	cr_expect_geq(s.switches, STACKS_MIN);
	cr_expect_eq(s.in_schedule, s.switches);
}

/* By either way a switch is made in the same function. */
Test(kernel_stacks, walked_stacks_begin_in_the_same_function_as_others)
{
	struct live_rec rec;
	struct seen s = { 0 };
	struct buf info = record_mix(NULL, &rec);

	buf_free(&info);
	read_stacks(rec.path, &s);
	cr_expect_geq(s.switches, STACKS_MIN);
	cr_expect_eq(s.in_schedule, s.switches);
}
