/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_CMD_RUN_CMD_H
#define D9_TESTS_CMD_RUN_CMD_H

/* Runs a subcommand in this process on a trace that a test made, and catches what it prints. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cmd/common/cmd.h"
#include "tests/support/make_trace.h"

typedef int (*run_fn)(int argc, char **argv);

struct run {
	int code;
	char *out, *err; /* from malloc */
};

static inline char *run_slurp(int fd)
{
	struct stat st;
	char *s;

	fstat(fd, &st);
	s = calloc(1, (size_t)st.st_size + 1);
	cr_assert_eq(pread(fd, s, (size_t)st.st_size, 0), st.st_size);
	close(fd);
	return s;
}

/* @fd becomes standard input and is closed; further arguments follow, NULL ends them. */
static inline struct run run_cmd(run_fn cmd, int fd, ...)
{
	static char words[16][1024];
	int out = make_fd("", 0), err = make_fd("", 0), keep_in = dup(0), keep_out = dup(1),
	    keep_err = dup(2);
	char *argv[17];
	struct run r;
	const char *w;
	va_list ap;
	int argc = 0;

	va_start(ap, fd);
	while ((w = va_arg(ap, const char *))) {
		snprintf(words[argc], sizeof(words[0]), "%s", w);
		argv[argc] = words[argc];
		argc++;
	}
	va_end(ap);
	argv[argc] = NULL;
	fflush(NULL);
	dup2(fd, 0);
	dup2(out, 1);
	dup2(err, 2);
	r.code = cmd(argc, argv);
	fflush(NULL);
	dup2(keep_in, 0);
	dup2(keep_out, 1);
	dup2(keep_err, 2);
	close(keep_in);
	close(keep_out);
	close(keep_err);
	close(fd);
	r.out = run_slurp(out);
	r.err = run_slurp(err);
	return r;
}

static inline void run_free(struct run *r)
{
	free(r->out);
	free(r->err);
}

/* Expects exactly this output. */
static inline void run_expect(struct run r, int code, const char *out, const char *err)
{
	cr_assert_eq(r.code, code, "exit code %d; stderr: %s", r.code, r.err);
	cr_assert_str_eq(r.out, out, "printed:\n%s\nwanted:\n%s", r.out, out);
	cr_assert_str_eq(r.err, err, "complained:\n%s\nwanted:\n%s", r.err, err);
	run_free(&r);
}

/* Expects this part of the output. */
static inline void run_expect_in(const char *text, const char *want)
{
	cr_expect(strstr(text, want), "no '%s' in:\n%s", want, text);
}

#define RUN_SEC 1000000000ULL

/*
 * A trace with one of everything: app (pid 10, tids 10 and 11) on libc and a kernel; 8 samples of hot (6 under
 * work, of which 2 in the inlined leaf, and 2 at an address without a symbol), one switch with its stack, one
 * wakeup, some loss.
 */
static inline void run_make_app(struct make *m)
{
	static const char *const kv[] = { "host",
					  "box",
					  "kernel",
					  "Linux 6.18.0",
					  "command_line",
					  "dial9-prof -p 10",
					  "sample_event",
					  "cpu-clock",
					  "sample_hz",
					  "99",
					  "sample_period_ns",
					  "10101010",
					  "flavour",
					  "mint",
					  NULL };
	const uint64_t hot = make_frame(1, 0x310), work = make_frame(1, 0x210),
		       start = make_frame(1, 0x110), blank = make_frame(2, 0x910),
		       sched = make_frame(3, 0x80) | PROF_FRAME_KERNEL;
	const uint64_t a[] = { hot, work, start }, b[] = { blank, start },
		       c[] = { sched, work, start };

	make_init(m, NULL);
	make_metadata(m, 10 * RUN_SEC, kv);
	make_clock(m, 10 * RUN_SEC, 1700000000 * RUN_SEC);
	make_module(m, 10 * RUN_SEC, 1, "/opt/app/bin/app", PROF_MODULE_ELF);
	make_module(m, 10 * RUN_SEC, 2, "/lib/libc.so.6", PROF_MODULE_ELF);
	make_module(m, 10 * RUN_SEC, 3, "[kernel.kallsyms]", PROF_MODULE_KERNEL);
	make_task(m, 10 * RUN_SEC, 10, 10, "app");
	make_task(m, 10 * RUN_SEC, 10, 11, "pool");
	make_prev_state(m, 10 * RUN_SEC);
	for (uint64_t i = 0; i < 6; i++)
		make_sample(m, 11 * RUN_SEC + i * 1000000, 10, i < 4 ? 10 : 11, PROF_SOURCE_SAMPLE,
			    1, a, 3);
	make_sample(m, 12 * RUN_SEC, 10, 10, PROF_SOURCE_SAMPLE, 0, b, 2);
	make_sample(m, 12 * RUN_SEC + 5, 10, 10, PROF_SOURCE_SAMPLE, 0, b, 2);
	make_switch(m, 12 * RUN_SEC + 1234567, 1, "pool", 11, 1, "swapper/1", 0);
	make_sample(m, 12 * RUN_SEC + 1234567, 10, 11, PROF_SOURCE_SWITCH_OUT, 1, c, 3);
	make_waking(m, 13 * RUN_SEC, 0, 10, "pool", 11);
	make_lost(m, 14 * RUN_SEC, "ring_full", 3, 13 * RUN_SEC + 5000, 13 * RUN_SEC + 7000);
	make_symbol(m, 14 * RUN_SEC, start, 0, make_frame(1, 0x100), "main", "app.c", 5);
	make_symbol(m, 14 * RUN_SEC, work, 0, make_frame(1, 0x200), "work", "app.c", 15);
	make_symbol(m, 14 * RUN_SEC, hot, 0, make_frame(1, 0x300), "hot", "", 0);
	make_symbol(m, 14 * RUN_SEC, hot, 0, make_frame(1, 0x300), "hot", "app.c", 21);
	make_symbol(m, 14 * RUN_SEC, hot, 1, make_frame(1, 0x300), "leaf", "leaf.h", 7);
	make_symbol(m, 14 * RUN_SEC, sched, 0, make_frame(3, 0x40) | PROF_FRAME_KERNEL, "schedule",
		    "", 0);
	make_stats(m, 14 * RUN_SEC, 13, 3);
}

/* An open file of run_make_app()'s trace. */
static inline int run_app_file(void)
{
	struct make m;

	run_make_app(&m);
	return make_done(&m);
}

/* One file of several: metadata, @events switches, and the figures @stats of them if not NULL. */
static inline void run_make_segment(struct make *m, uint64_t ts, int events,
				    const uint64_t stats[4])
{
	make_init(m, NULL);
	make_metadata(m, ts, (const char *const[]){ "start_realtime_ns", "5", NULL });
	for (int i = 0; i < events; i++)
		make_switch(m, ts + 1 + (uint64_t)i, 0, "a", 11, 1, "b", 12);
	if (!stats)
		return;
	MAKE_NUMBERS(m, ts + 100, "RecorderStats", { "produced", stats[0] },
		     { "written", stats[1] }, { "lost", stats[2] }, { "closed", stats[3] });
	make_clock(m, ts + 100, ts + 1000);
}

#endif /* D9_TESTS_CMD_RUN_CMD_H */
