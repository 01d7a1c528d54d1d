// SPDX-License-Identifier: BSD-2-Clause
/*
 * `count` against strace -c and bpftrace, which count the system calls of one thread while we record them: all numbers are
 * equal. The thread runs the shell by a link, whose name no other process has.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/alloc.h"
#include "tests/bpf/support.h"

TestSuite(count, .fini = live_cleanup);

#define NAME "d9-counted"
#define SCRIPT "i=0; while [ $i -lt 300 ]; do cd /; [ -e /nowhere ]; i=$((i + 1)); done"

static const char strace_path[] = "/usr/bin/strace", bpftrace_path[] = "/usr/bin/bpftrace";

enum { LINES_MAX = 400 };

/* Lines of text, to be compared as sets. */
struct lines {
	char *v[LINES_MAX];
	size_t cnt;
};

static void add_line(struct lines *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add_line(struct lines *l, const char *fmt, ...)
{
	va_list ap;

	cr_assert_lt(l->cnt, LINES_MAX);
	va_start(ap, fmt);
	cr_assert_geq(vasprintf(&l->v[l->cnt++], fmt, ap), 0);
	va_end(ap);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void expect_equal(struct lines *ours, struct lines *theirs)
{
	qsort(ours->v, ours->cnt, sizeof(ours->v[0]), by_text);
	qsort(theirs->v, theirs->cnt, sizeof(theirs->v[0]), by_text);
	cr_assert_gt(theirs->cnt, 5, "too few system calls");
	cr_expect_eq(ours->cnt, theirs->cnt);
	for (size_t i = 0; i < ours->cnt && i < theirs->cnt; i++)
		cr_expect_str_eq(ours->v[i], theirs->v[i]);
	for (size_t i = 0; i < ours->cnt; i++)
		free(ours->v[i]);
	for (size_t i = 0; i < theirs->cnt; i++)
		free(theirs->v[i]);
}

static const char *shell_link(void)
{
	const char *path = live_path(NAME);

	cr_assert_eq(symlink("/bin/sh", path), 0);
	return path;
}

/* The lines of a JSON object that --json prints, each a row. */
static char *next_row(char **at)
{
	char *row = strstr(*at, "\n{");

	if (row)
		*at = row + 1;
	return row ? row + 1 : NULL;
}

/* "getppid 300 0": name, calls, errors. */
static void read_strace(const char *path, struct lines *out)
{
	char line[256], word[6][64];
	FILE *f = fopen(path, "re");

	cr_assert(f);
	while (fgets(line, sizeof(line), f)) {
		const int n = sscanf(line, "%63s %63s %63s %63s %63s %63s", word[0], word[1],
				     word[2], word[3], word[4], word[5]);

		if (n < 5 || !strchr("0123456789", word[0][0]) || !strcmp(word[n - 1], "total"))
			continue;
		add_line(out, "%s %s %s", word[n - 1], word[3], n == 6 ? word[4] : "0");
	}
	fclose(f);
}

/* When the thread of that name began its last execve: before that, it was strace's. */
static void find_thread(const char *path, uint32_t *tid, uint64_t *from)
{
	struct live_trace lt;
	struct trace_event ev;

	*tid = TRACE_NONE;
	live_open(&lt, path, false);
	live_assert_no_loss(&lt);
	while (*tid == TRACE_NONE && live_event(&lt, &ev))
		if (live_is(&ev, "raw_syscalls:sys_enter") &&
		    !strcmp(names_str(lt.names, ev.comm, NULL), NAME))
			*tid = ev.tid;
	live_close(&lt);
	cr_assert_neq(*tid, TRACE_NONE);
	live_open(&lt, path, false);
	while (live_event(&lt, &ev) && strcmp(names_str(lt.names, ev.comm, NULL), NAME))
		if (ev.tid == *tid && live_is(&ev, "raw_syscalls:sys_enter"))
			*from = ev.ts;
	live_close(&lt);
}

static void record(struct live_rec *r, const char *const *command)
{
	struct live_proc p;

	live_record(r, "-a", "-e", "raw_syscalls:*", "--no-sched", "--no-samples", NULL);
	live_recording(r);
	live_spawn(&p, command, NULL);
	live_read_rest(&p);
	cr_assert_eq(live_wait(&p), 0, "%s", live_errors(&p).data);
	live_proc_fini(&p);
	cr_assert_eq(live_stop(r), 0);
}

Test(count, system_calls_equal_strace)
{
	char *their_path = xstrdup(live_path("strace"));
	const char *const command[] = { strace_path,  "-c", "-o",   their_path,
					shell_link(), "-c", SCRIPT, NULL };
	struct lines ours = { .cnt = 0 }, theirs = { .cnt = 0 };
	char range[64], tid_text[16], *at, *row;
	struct live_rec rec;
	struct buf said;
	uint64_t from = 0;
	uint32_t tid;

	if (access(strace_path, X_OK))
		cr_skip("needs %s (Debian: strace)", strace_path);
	record(&rec, command);
	find_thread(rec.path, &tid, &from);
	snprintf(range, sizeof(range), "%" PRIu64 ".%09" PRIu64 ",", from / 1000000000,
		 from % 1000000000);
	snprintf(tid_text, sizeof(tid_text), "%u", tid);
	said = live_output((const char *[]){ "count", rec.path, "--syscalls", "--json", "-t",
					     tid_text, "--time", range, NULL });
	for (at = said.data; (row = next_row(&at));) {
		char *name = strstr(row, "\"syscall\":\"") + strlen("\"syscall\":\"");

		add_line(&ours, "%.*s %" PRIu64 " %" PRIu64, (int)strcspn(name, "\""), name,
			 live_output_number(row, "\"count\":"),
			 live_output_number(row, "\"errors\":"));
	}
	read_strace(their_path, &theirs);
	expect_equal(&ours, &theirs);
	free(their_path);
	buf_free(&said);
}

/* bpftrace needs tracefs at its usual place. */
static void mount_tracefs(void)
{
	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	cr_assert(!mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL) || errno == EBUSY);
}

/* "@[231]: 1" */
static void read_bpftrace(const char *path, struct lines *out)
{
	unsigned long long id, cnt;
	char line[256];
	FILE *f = fopen(path, "re");

	cr_assert(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "@[%llu]: %llu", &id, &cnt) == 2)
			add_line(out, "%llu %llu", id, cnt);
	fclose(f);
}

Test(count, counts_equal_bpftrace)
{
	static const char program[] = "tracepoint:raw_syscalls:sys_enter /comm == \"" NAME
				      "\"/ { @[args->id] = count(); }";
	char *their_path = xstrdup(live_path("bpftrace"));
	char shell[512];
	const char *const command[] = { bpftrace_path, "-o", their_path, "-c",
					shell,	       "-e", program,	 NULL };
	struct lines ours = { .cnt = 0 }, theirs = { .cnt = 0 };
	struct live_rec rec;
	struct buf said;
	char *at, *row;
	FILE *f;

	if (access(bpftrace_path, X_OK))
		cr_skip("needs %s (Debian: bpftrace)", bpftrace_path);
	mount_tracefs();
	/* it splits the command at blanks */
	snprintf(shell, sizeof(shell), "%s %s", shell_link(), live_path("script"));
	f = fopen(live_path("script"), "we");
	cr_assert(f);
	fputs(SCRIPT "\n", f);
	fclose(f);
	record(&rec, command);
	said = live_output((const char *[]){ "count", rec.path, "-e", "raw_syscalls:sys_enter",
					     "--comm", NAME, "--by", "id", "--json", NULL });
	for (at = said.data; (row = next_row(&at));)
		add_line(&ours, "%" PRIu64 " %" PRIu64, live_output_number(row, "\"id\":"),
			 live_output_number(row, "\"count\":"));
	read_bpftrace(their_path, &theirs);
	expect_equal(&ours, &theirs);
	free(their_path);
	buf_free(&said);
}

/* The search in PATH, and what the child does to become the command's user, precede the recording. */
Test(count, started_command_has_one_exec)
{
	const char *path = live_path("started");
	const char *const args[] = { "record", "-q", "-e", "raw_syscalls:*", "--no-sched",
				     "-o",     path, "--", "true",	     NULL };
	struct live_proc p;
	struct buf said;
	char *row;

	cr_assert_eq(live_run(&p, args, NULL), 0, "%s", live_errors(&p).data);
	live_proc_fini(&p);
	said = live_output((const char *[]){ "count", path, "--syscalls", "--json", NULL });
	row = strstr(said.data, "\"syscall\":\"execve\"");
	cr_assert(row, "%s", said.data);
	cr_expect_eq(live_output_number(row, "\"count\":"), 1);
	cr_expect_eq(live_output_number(row, "\"errors\":"), 0);
	cr_expect_null(strstr(said.data, "\"syscall\":\"setuid\""));
	buf_free(&said);
}
