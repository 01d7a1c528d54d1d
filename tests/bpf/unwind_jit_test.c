// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program that maps and unmaps code without end, with little memory for tables, next to programs that use them:
 * its stacks are true, what is skipped is counted, and the recorder does not grow.
 *
 * D9_UNWIND_SECONDS=60 makes it a long one.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/bpf/workload.h"

TestSuite(unwind_jit, .fini = live_cleanup, .timeout = 3600);

enum { SECONDS = 8, SHOWN = 5, SETTLED_S = 3, SLACK = 16 << 20 };

enum place { LEAF, CODE, RUN, WORK, THREAD, MAIN, OTHER };

static struct figures {
	uint64_t stacks, complete, through_code, wrong;
	uint64_t by_end[PROF_END_CNT];
	int64_t settled_bytes, last_bytes, lists, left_out, tables;
} figures;

static enum place place_of(const struct names *n, uint64_t frame)
{
	static const char *const names[] = {
		[LEAF] = "jit_leaf", [RUN] = "jit_run",	      [WORK] = "jit_work",
		[MAIN] = "main",     [THREAD] = "jit_thread",
	};
	const struct names_module *m = names_module(n, names_frame_module(frame));
	const struct names_symbol *sym = names_symbol(n, frame);
	const char *name = sym ? names_str(n, sym->frames[0].name, NULL) : "";
	size_t i;

	/* code that is gone when its address is looked up is in no mapping */
	if (!m->announced || m->kind == PROF_MODULE_ANON)
		return CODE;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i] && !strncmp(name, names[i], strlen(names[i])))
			return i;
	return OTHER;
}

static bool may_call(enum place callee, enum place caller)
{
	switch (callee) {
	case LEAF:
		return caller == CODE;
	case CODE:
		return caller == RUN;
	case RUN:
		return caller == WORK;
	case WORK:
		return caller == THREAD || caller == MAIN;
	case THREAD:
	case MAIN:
		return caller == OTHER;
	case OTHER:
		return caller != LEAF && caller != CODE;
	}
	return false;
}

static void show(const struct names *n, const uint64_t *frames, uint32_t cnt, uint8_t end)
{
	uint32_t i;

	printf("end %u:\n", end);
	for (i = 0; i < cnt; i++) {
		const struct names_symbol *sym = names_symbol(n, frames[i]);

		printf("  %llx %s\n", (unsigned long long)frames[i],
		       sym ? names_str(n, sym->frames[0].name, NULL) : "?");
	}
}

static void check_stack(const struct names *n, const struct trace_event *ev)
{
	uint8_t end = ev->user_end & PROF_USER_END_MASK;
	enum place here = OTHER, next;
	bool through = false, wrong = false;
	const uint64_t *frames;
	uint32_t cnt, i;

	frames = workload_user(ev, &cnt);
	if (end == PROF_END_NOT_WALKED || !cnt)
		return;
	figures.stacks++;
	figures.by_end[end < PROF_END_CNT ? end : 0]++;
	figures.complete += end == PROF_END_COMPLETE;
	if (end == PROF_END_NO_LIST)
		cnt = 1; /* the walk without tables promises nothing but the leaf */
	for (i = 0; i < cnt; i++, here = next) {
		next = place_of(n, frames[i]);
		wrong |= i && !may_call(here, next);
		through |= next == RUN && here == CODE;
	}
	figures.through_code += through;
	wrong |= end == PROF_END_COMPLETE && here != OTHER;
	if (wrong && figures.wrong++ < SHOWN)
		show(n, frames, cnt, ev->user_end);
}

static void check_stats(const struct trace_event *ev)
{
	figures.last_bytes = live_int(ev, "rss_bytes");
	if (live_int(ev, "elapsed_ns") <= SETTLED_S * 1000000000LL)
		figures.settled_bytes = figures.last_bytes;
	figures.lists = live_int(ev, "unwind_lists");
	figures.left_out = live_int(ev, "unwind_lists_left_out");
	figures.tables = live_int(ev, "unwind_tables");
}

static void print_figures(void)
{
	const struct figures *f = &figures;
	int i;

	printf("%llu stacks: %llu complete, %llu through code, %llu wrong; %lld lists, %lld left out, "
	       "%lld tables, %lld and %lld bytes; by end:",
	       (unsigned long long)f->stacks, (unsigned long long)f->complete,
	       (unsigned long long)f->through_code, (unsigned long long)f->wrong,
	       (long long)f->lists, (long long)f->left_out, (long long)f->tables,
	       (long long)f->settled_bytes, (long long)f->last_bytes);
	for (i = 0; i < PROF_END_CNT; i++)
		if (f->by_end[i])
			printf(" %d: %llu", i, (unsigned long long)f->by_end[i]);
	puts("");
}

Test(unwind_jit, no_frame_is_wrong_while_code_is_mapped_and_unmapped_without_end)
{
	unsigned int seconds = workload_number("D9_UNWIND_SECONDS", SECONDS);
	struct live_trace lt;
	struct live_proc jit;
	struct trace_event ev;
	struct live_rec rec;

	live_stimulus(&jit, "unwind_jit", live_number(1000 * seconds), NULL);
	live_record(&rec, "-F", "1999", "--unwind-mem", "1M", "-p", live_number(jit.pid), NULL);
	live_recording(&rec);
	live_go(&jit);
	cr_assert_gt(live_truth(&jit, "mapped"), 100 * seconds);
	cr_assert_eq(live_stop(&rec), 0);
	live_end(&jit);
	live_open(&lt, rec.path, false);
	while (live_event(&lt, &ev))
		if (ev.kind == TRACE_SAMPLE)
			check_stack(lt.names, &ev);
		else if (ev.kind == TRACE_STATS)
			check_stats(&ev);
	live_close(&lt);
	print_figures();
	cr_assert_eq(figures.wrong, 0, "%llu wrong stacks", (unsigned long long)figures.wrong);
	cr_expect_gt(figures.stacks, 10 * seconds);
	cr_expect_gt(figures.through_code, 0);
	cr_expect_lt(figures.last_bytes, figures.settled_bytes * 5 / 4 + SLACK);
}
