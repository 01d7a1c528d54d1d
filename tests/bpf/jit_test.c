// SPDX-License-Identifier: BSD-2-Clause
/* Code that a program made while it ran, with and without a map of it. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/bpf/support.h"

TestSuite(jit, .fini = live_cleanup);

struct found {
	uint64_t samples, named, labelled;
	char status[32]; /* the last one of an anonymous mapping */
};

static void read_trace(const char *path, struct found *found)
{
	struct live_trace lt;
	struct trace_event ev;

	live_open(&lt, path, false);
	while (live_event(&lt, &ev)) {
		if (live_is(&ev, PROF_EV_MODULE_STATUS) &&
		    strcmp(live_text(&lt, &ev, PROF_F_STATUS), PROF_STATUS_NAMED))
			snprintf(found->status, sizeof(found->status), "%s",
				 live_text(&lt, &ev, PROF_F_STATUS));
		if (ev.kind != TRACE_SAMPLE || ev.source != PROF_SOURCE_SAMPLE)
			continue;
		found->samples++;
		found->named += live_stack_has(&lt, &ev, "made_spin");
		found->labelled += live_stack_has(&lt, &ev, "[jit]");
	}
	live_assert_no_loss(&lt);
	live_close(&lt);
}

static void record(const char *map, struct found *found)
{
	struct live_proc jit;
	struct live_rec rec;

	live_stimulus(&jit, "jit", map, "500", NULL);
	live_record(&rec, "-F", "999", "-p", live_number(jit.pid), NULL);
	live_recording(&rec);
	live_go(&jit);
	cr_assert_eq(live_stop(&rec), 0);
	live_end(&jit);
	memset(found, 0, sizeof(*found));
	read_trace(rec.path, found);
	cr_assert_gt(found->samples, 300, "%llu samples", (unsigned long long)found->samples);
}

/* Some samples hit the kernel's part of a clock interrupt, or the loop around. */
static void assert_nearly_all(const struct found *found, uint64_t cnt)
{
	cr_assert_gt(cnt, found->samples * 9 / 10, "%llu of %llu", (unsigned long long)cnt,
		     (unsigned long long)found->samples);
}

Test(jit, code_has_the_symbols_of_its_programs_perf_map)
{
	struct found found;

	record("early", &found);
	assert_nearly_all(&found, found.named);
	cr_assert_eq(found.labelled, 0);
}

Test(jit, code_in_a_memfd_has_the_symbols_of_the_perf_map)
{
	struct found found;

	record("memfd", &found);
	assert_nearly_all(&found, found.named);
	cr_assert_eq(found.labelled, 0);
}

Test(jit, lines_written_after_the_code_ran_still_name_it)
{
	struct found found;

	record("late", &found);
	assert_nearly_all(&found, found.named);
}

Test(jit, code_without_a_perf_map_is_called_jit)
{
	struct found found;

	record("none", &found);
	assert_nearly_all(&found, found.labelled);
	cr_assert_str_eq(found.status, PROF_STATUS_NO_MAP);
}

Test(jit, symlink_in_place_of_the_perf_map_is_not_followed)
{
	struct found found;

	record("link", &found);
	cr_assert_eq(found.named, 0);
	cr_assert_str_eq(found.status, PROF_STATUS_DENIED);
}

Test(jit, perf_map_of_another_user_is_not_read)
{
	struct found found;

	record("other", &found);
	cr_assert_eq(found.named, 0);
	cr_assert_str_eq(found.status, PROF_STATUS_DENIED);
}
