// SPDX-License-Identifier: BSD-2-Clause
/*
 * A recording in rotated files: each is a trace that says everything itself, and together they have each
 * event once.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/bpf/support.h"
#include "trace/source/source.h"

TestSuite(segments, .fini = live_cleanup);

enum { TURNS = 100 };

#define MS_NS 1000000LL

static const char *file_of(const struct live_rec *rec, unsigned int number, const char *end)
{
	static struct buf path;

	buf_clear(&path);
	buf_printf(&path, "%s.%u.bin%s", rec->path, number, end);
	return buf_cstr(&path);
}

static bool is_there(const char *path)
{
	struct stat st;

	return !stat(path, &st) && st.st_size;
}

/* Begun, and perhaps complete. */
static bool has_begun(const struct live_rec *rec, unsigned int number, const char *packed)
{
	return is_there(file_of(rec, number, ".active")) || is_there(file_of(rec, number, packed));
}

static void wait_for(struct live_rec *rec, unsigned int number, const char *packed)
{
	const struct timespec step = { .tv_nsec = MS_NS };

	while (!has_begun(rec, number, packed)) {
		if (waitpid(rec->proc.pid, NULL, WNOHANG) == rec->proc.pid)
			cr_assert_fail("the recorder ended: %s", buf_cstr(&rec->proc.output));
		nanosleep(&step, NULL);
	}
}

/* The numbers that the stimulus closed, from the files. */
struct found {
	long next;
	uint64_t count, stacks, named, last_ns;
};

static void read_file(const char *path, struct found *f)
{
	bool meta = false, synced = false, task = false;
	struct live_trace lt;
	struct trace_event ev;

	live_open(&lt, path, false);
	while (live_event(&lt, &ev)) {
		meta |= live_is(&ev, PROF_EV_METADATA);
		synced |= ev.kind == TRACE_CLOCK_SYNC;
		task |= ev.kind == TRACE_TASK;
		cr_assert_geq(ev.ts + MS_NS, f->last_ns,
			      "%s begins before the end of the one before", path);
		if (ev.kind == TRACE_SAMPLE) {
			f->stacks++;
			f->named += ev.frame_cnt && live_stack_has(&lt, &ev, "main");
		}
		if (!live_is(&ev, "syscalls:sys_enter_close") || live_int(&ev, "fd") < 1000000)
			continue;
		if (f->next < 0)
			f->next = live_int(&ev, "fd");
		cr_assert_eq(live_int(&ev, "fd"), f->next, "%s has %ld where %ld is next", path,
			     (long)live_int(&ev, "fd"), f->next);
		f->next++;
		f->count++;
		f->last_ns = ev.ts;
	}
	live_close(&lt);
	cr_assert(meta && synced && (task || !f->count), "%s does not say everything", path);
}

Test(segments, hundred_files_have_each_event_once_and_symbols_each)
{
	struct found found = { .next = 1000000 };
	struct live_proc numbers;
	struct live_rec rec;
	unsigned int i;

	live_stimulus(&numbers, "numbers", "2", NULL);
	live_record(&rec, "--switch-output", "-e", "syscalls:sys_enter_close", "-p",
		    live_number(numbers.pid), NULL);
	wait_for(&rec, 0, "");
	cr_assert_eq(write(numbers.in, "\n", 1), 1);
	for (i = 1; i <= TURNS; i++) {
		kill(rec.proc.pid, i % 2 ? SIGUSR2 : SIGHUP);
		wait_for(&rec, i, "");
	}
	live_go(&numbers);
	cr_assert_eq(live_stop(&rec), 0);
	for (i = 0; i <= TURNS; i++) {
		struct found before = found;

		read_file(file_of(&rec, i, ""), &found);
		cr_expect_eq(found.named - before.named, found.stacks - before.stacks,
			     "%s: %llu of %llu stacks have names", file_of(&rec, i, ""),
			     (unsigned long long)(found.named - before.named),
			     (unsigned long long)(found.stacks - before.stacks));
	}
	cr_expect_eq(found.count, live_truth(&numbers, "count"));
	cr_expect_gt(found.stacks, 100);
	cr_expect(!is_there(file_of(&rec, TURNS + 1, "")));
	live_end(&numbers);
}

/* What /proc says that a process does itself with a signal. */
static bool catches(pid_t pid, int sig)
{
	unsigned long long mask = 0;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SigCgt: %llx", &mask) == 1)
			break;
	if (f)
		fclose(f);
	return mask >> (sig - 1) & 1;
}

Test(segments, signal_during_the_start_begins_another_file)
{
	struct live_proc numbers;
	struct live_rec rec;

	live_stimulus(&numbers, "numbers", "2", NULL);
	live_record(&rec, "--switch-output", "-p", live_number(numbers.pid), NULL);
	while (!catches(rec.proc.pid, SIGUSR2))
		cr_assert_eq(waitpid(rec.proc.pid, NULL, WNOHANG), 0);
	cr_expect(!has_begun(&rec, 0, ""), "it still starts");
	kill(rec.proc.pid, SIGUSR2);
	wait_for(&rec, 1, "");
	cr_assert_eq(live_stop(&rec), 0);
	cr_expect(is_there(file_of(&rec, 0, "")) && is_there(file_of(&rec, 1, "")));
	live_kill(&numbers);
}

/* No process forks while the second is written, and their parent does nothing. */
Test(segments, children_of_the_target_are_known_in_each_file)
{
	struct live_proc family;
	struct live_rec rec;

	live_stimulus(&family, "family", "20", NULL);
	live_record(&rec, "--switch-output", "-p", live_number(family.pid), NULL);
	wait_for(&rec, 0, "");
	kill(rec.proc.pid, SIGUSR2);
	wait_for(&rec, 1, "");
	live_go(&family);
	cr_assert_eq(live_stop(&rec), 0);
	cr_expect_geq(live_blocked(file_of(&rec, 1, ""), live_truth(&family, "child")), 15);
	cr_expect_geq(live_blocked(file_of(&rec, 1, ""), live_truth(&family, "grandchild")), 15);
	live_end(&family);
}

/* Of the files of a recording that are there: the first number, and how many. */
static size_t find_files(const struct live_rec *rec, const char *end, unsigned int *first)
{
	size_t cnt = 0;

	for (unsigned int i = 0; i < 1000; i++) {
		if (!is_there(file_of(rec, i, end)))
			continue;
		if (!cnt++)
			*first = i;
	}
	return cnt;
}

Test(segments, newest_compressed_files_are_kept_with_rotation_by_size)
{
	struct live_proc numbers;
	struct live_rec rec;
	unsigned int first = 0;
	struct found found = { 0 };
	struct live_trace lt;

	live_stimulus(&numbers, "numbers", "50", NULL);
	live_record(&rec, "--switch-output=64K", "--switch-max-files=3", "-z1", "--switch-stacks",
		    "none", "--no-samples", "-e", "syscalls:sys_enter_close", "-p",
		    live_number(numbers.pid), NULL);
	wait_for(&rec, 0, ".gz");
	cr_assert_eq(write(numbers.in, "\n", 1), 1);
	wait_for(&rec, 6, ".gz");
	live_go(&numbers);
	cr_assert_eq(live_stop(&rec), 0);
	cr_expect_eq(find_files(&rec, ".gz", &first), 3);
	cr_assert_geq(first, 4);
	found.next = -1;
	for (unsigned int i = first; i < first + 3; i++)
		read_file(file_of(&rec, i, ".gz"), &found);
	cr_expect_eq(found.next, 1000000 + live_truth(&numbers, "count"));
	/* files of the recording are recognised by their name */
	live_open(&lt, rec.path, false);
	cr_expect_eq(lt.produced, lt.written + lt.lost);
	live_close(&lt);
	live_end(&numbers);
}

Test(segments, recording_ends_at_its_size_limit)
{
	struct live_proc numbers;
	struct live_rec rec;
	struct stat st;

	live_stimulus(&numbers, "numbers", "50", NULL);
	live_record(&rec, "--max-size", "300K", "-e", "syscalls:sys_enter_close", "-p",
		    live_number(numbers.pid), NULL);
	live_recording(&rec);
	cr_assert_eq(write(numbers.in, "\n", 1), 1);
	cr_expect_eq(live_finish(&rec), 0);
	cr_assert_eq(stat(rec.path, &st), 0);
	cr_expect_geq(st.st_size, 300 << 10);
	live_kill(&numbers);
}

/* It is taken as soon as there is a handler. */
static void with_a_signal_that_waits(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR2);
}

/* The recording is over before the first records can be written. */
Test(segments, signal_before_the_start_is_not_lost_to_a_short_recording)
{
	struct live_proc p;
	const char *args[] = { "record", "-a",
			       "-q",	 "-d",
			       "0.001",	 "--switch-output=signal",
			       "-o",	 live_path("short.bin"),
			       NULL };

	cr_assert_eq(live_run(&p, args, with_a_signal_that_waits), 0, "%s", live_errors(&p).data);
	cr_expect(is_there(live_path("short.0.bin")));
	cr_expect(is_there(live_path("short.1.bin")));
	cr_expect(!is_there(live_path("short.2.bin")));
}
