// SPDX-License-Identifier: BSD-2-Clause
/* A program that runs from a file in memory: its functions have names all the same. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bpf/support.h"

TestSuite(memfd, .fini = live_cleanup);

struct found {
	uint64_t samples, named, modules;
	char module[64]; /* the path of the module that is such a file */
};

static void read_trace(const char *path, struct found *found)
{
	struct live_trace lt;
	struct trace_event ev;

	memset(found, 0, sizeof(*found));
	live_open(&lt, path, false);
	while (live_event(&lt, &ev)) {
		if (live_is(&ev, PROF_EV_MODULE) &&
		    !strncmp(live_text(&lt, &ev, PROF_F_PATH), "/memfd:", 7)) {
			found->modules++;
			snprintf(found->module, sizeof(found->module), "%s",
				 live_text(&lt, &ev, PROF_F_PATH));
		}
		if (ev.kind != TRACE_SAMPLE || ev.source != PROF_SOURCE_SAMPLE)
			continue;
		found->samples++;
		found->named +=
			live_stack_has(&lt, &ev, "hot_a") || live_stack_has(&lt, &ev, "hot_b");
	}
	live_close(&lt);
}

/* Some samples hit the kernel's part of a clock interrupt, or what is around the two functions. */
static void assert_named(const char *path)
{
	struct found found;

	read_trace(path, &found);
	cr_assert_gt(found.samples, 300, "%llu samples", (unsigned long long)found.samples);
	cr_expect_gt(found.named, found.samples * 8 / 10, "%llu of %llu named",
		     (unsigned long long)found.named, (unsigned long long)found.samples);
	cr_expect_str_eq(found.module, "/memfd:program");
	cr_expect_eq(found.modules, 1u, "one file is one module");
}

static void record_running(const char *program)
{
	struct live_proc proc;
	struct live_rec rec;

	live_stimulus(&proc, "memfd", program, "70", "500", NULL);
	live_record(&rec, "-F", "999", "-p", live_number(proc.pid), NULL);
	live_recording(&rec);
	live_go(&proc);
	cr_assert_eq(live_stop(&rec), 0);
	live_end(&proc);
	assert_named(rec.path);
}

static void record_started(const char *program)
{
	struct live_rec rec;

	live_record(&rec, "-F", "999", "--", live_built("stimuli/memfd"), program, "--now", "70",
		    "500", NULL);
	cr_assert_eq(live_finish(&rec), 0);
	assert_named(rec.path);
}

Test(memfd, program_that_ran_before_the_recording_has_symbols)
{
	record_running(live_built("stimuli/spinner"));
}

Test(memfd, program_that_starts_during_the_recording_has_symbols)
{
	record_started(live_built("stimuli/spinner"));
}

Test(memfd, programs_without_a_build_id_have_symbols)
{
	char program[128], cmd[512];

	snprintf(program, sizeof(program), "%s", live_path("plain"));
	snprintf(cmd, sizeof(cmd), "objcopy -R .note.gnu.build-id %s %s",
		 live_built("stimuli/spinner"), program);
	cr_assert_eq(system(cmd), 0);
	record_running(program);
	record_started(program);
}
