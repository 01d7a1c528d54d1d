// SPDX-License-Identifier: BSD-2-Clause
/*
 * The recorder killed at any moment: what it had flushed is there, in a file, compressed, and in rotated files.
 * D9_KILLS says how often each, twice if it does not.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/bpf/support.h"

TestSuite(kill, .fini = live_cleanup, .timeout = 600);

#define MS_NS 1000000LL

enum { WITHIN_MS = 700 };

static unsigned int kills(void)
{
	const char *text = getenv("D9_KILLS");

	return text ? (unsigned int)atoi(text) : 2;
}

/* A different number of milliseconds each time. */
static void wait_somewhat(unsigned int *ms)
{
	struct timespec until;

	cr_assert_eq(getrandom(ms, sizeof(*ms), 0), (ssize_t)sizeof(*ms));
	*ms %= WITHIN_MS;
	until = (struct timespec){ .tv_nsec = *ms * MS_NS };
	while (nanosleep(&until, &until) && errno == EINTR)
		;
}

static off_t size_of(const char *path, const char *end)
{
	struct buf whole = { 0 };
	struct stat st;
	off_t sz;

	buf_printf(&whole, "%s%s", path, end);
	sz = stat(buf_cstr(&whole), &st) ? 0 : st.st_size;
	buf_free(&whole);
	return sz;
}

/* Of one file, or of the first of several. */
static off_t first_size(const char *path)
{
	return size_of(path, "") + size_of(path, ".0.bin.active") + size_of(path, ".0.bin");
}

/* Until the file, or the first of them, is larger than that. */
static off_t wait_for_more(const char *path, off_t than)
{
	const struct timespec step = { .tv_nsec = MS_NS };
	off_t sz;

	while ((sz = first_size(path)) <= than)
		nanosleep(&step, NULL);
	return sz;
}

/* How many numbers were closed, in the order of closing, from the first one on. */
static int64_t count_numbers(const char *path, unsigned int ms)
{
	struct live_trace lt;
	struct trace_event ev;
	int64_t next = 1000000;

	live_open(&lt, path, true);
	while (live_event(&lt, &ev)) {
		if (!live_is(&ev, "syscalls:sys_enter_close") || live_int(&ev, "fd") < 1000000)
			continue;
		cr_assert_eq(live_int(&ev, "fd"), next,
			     "%lld where %lld is next, killed after %u ms",
			     (long long)live_int(&ev, "fd"), (long long)next, ms);
		next++;
	}
	live_close(&lt);
	return next - 1000000;
}

/* Stops the recorder while others read its files: nothing is renamed then. */
static void stop_recorder(const struct live_rec *rec)
{
	int status;

	kill(rec->proc.pid, SIGSTOP);
	cr_assert_eq(waitpid(rec->proc.pid, &status, WUNTRACED), rec->proc.pid);
	cr_assert(WIFSTOPPED(status), "the recorder ended: %s", live_errors(&rec->proc).data);
}

/* What another reader can see of the trace while it is written. */
static int64_t count_flushed(const struct live_rec *rec)
{
	int64_t cnt;

	stop_recorder(rec);
	cnt = count_numbers(rec->path, 0);
	kill(rec->proc.pid, SIGCONT);
	return cnt;
}

/* `info` says what it is, and that is neither damaged nor unreadable. */
static void check_info(const char *path)
{
	const char *const args[] = { "info", "--verify", path, NULL };
	struct live_proc p;
	int code = live_run(&p, args, NULL);

	cr_expect(code == 0 || code == 5, "info ends with %d", code);
	cr_expect(strstr(buf_cstr(&p.output), ": good: ") ||
			  strstr(buf_cstr(&p.output), ": torn: "),
		  "%s", buf_cstr(&p.output));
	live_proc_fini(&p);
}

static void kill_once(const char *option)
{
	struct live_proc numbers;
	struct live_rec rec;
	int64_t flushed;
	unsigned int ms;
	off_t sz;

	live_stimulus(&numbers, "numbers", "5", NULL);
	live_record(&rec, "-e", "syscalls:sys_enter_close", "-p", live_number(numbers.pid), option,
		    NULL);
	sz = wait_for_more(rec.path, 0);
	cr_assert_eq(write(numbers.in, "\n", 1), 1);
	/* what was flushed when the target ran already, twice: the first flush may have begun before */
	wait_for_more(rec.path, wait_for_more(rec.path, sz));
	flushed = count_flushed(&rec);
	wait_somewhat(&ms);
	kill(rec.proc.pid, SIGKILL);
	cr_assert_eq(live_wait(&rec.proc), 128 + SIGKILL);
	live_proc_fini(&rec.proc);
	live_kill(&numbers);
	cr_expect_gt(flushed, 0);
	cr_expect_geq(count_numbers(rec.path, ms), flushed);
	check_info(rec.path);
}

static void kill_often(const char *option)
{
	for (unsigned int i = 0; i < kills(); i++)
		kill_once(option);
}

Test(kill, file_has_all_flushed_events)
{
	kill_often(NULL);
}

Test(kill, compressed_file_has_all_flushed_events)
{
	kill_often("-z");
}

Test(kill, rotated_files_have_all_flushed_events)
{
	kill_often("--switch-output=100ms");
}

/* ---- a set with a budget, by one recorder after the other ------------------------------------------ */

enum { BUDGET = 1 << 20, STOPS = 5 };

/* What the set takes, and how many of its files have no finished name. */
static uint64_t sum_set(size_t *active)
{
	DIR *dir = opendir(live_dir());
	struct dirent *ent;
	uint64_t sum = 0;
	struct stat st;

	*active = 0;
	while ((ent = readdir(dir))) {
		if (strncmp(ent->d_name, "set.", 4) || fstatat(dirfd(dir), ent->d_name, &st, 0))
			continue;
		sum += (uint64_t)st.st_size;
		*active += strstr(ent->d_name, ".active") != NULL;
	}
	closedir(dir);
	return sum;
}

static void check_set(void)
{
	DIR *dir = opendir(live_dir());
	struct dirent *ent;

	while ((ent = readdir(dir)))
		if (!strncmp(ent->d_name, "set.", 4))
			check_info(live_path(ent->d_name));
	closedir(dir);
}

static void check_budget(const struct live_rec *rec)
{
	size_t active;

	stop_recorder(rec);
	cr_expect_leq(sum_set(&active), (uint64_t)BUDGET);
	kill(rec->proc.pid, SIGCONT);
}

/* The highest number, of those that are not finished or of all; -1: there is none. */
static long highest(bool active)
{
	DIR *dir = opendir(live_dir());
	struct dirent *ent;
	long max = -1, number;

	while ((ent = readdir(dir)))
		if (sscanf(ent->d_name, "set.%ld.bin", &number) == 1 && number > max &&
		    (!active || strstr(ent->d_name, ".active")))
			max = number;
	closedir(dir);
	return max;
}

static void begin_set(struct live_proc *numbers, struct live_rec *rec, const char *option)
{
	const struct timespec step = { .tv_nsec = MS_NS };
	const long before = highest(false);

	live_stimulus(numbers, "numbers", "300", NULL);
	live_record(rec, "-o", live_path("set.bin"), "--switch-output=200K", "--disk-budget=1M",
		    "-e", "syscalls:sys_enter_close", "-p", live_number(numbers->pid), option,
		    NULL);
	cr_assert_eq(write(numbers->in, "\n", 1), 1);
	while (highest(true) <= before)
		nanosleep(&step, NULL);
}

static void kill_set(const char *option)
{
	struct live_proc numbers;
	struct live_rec rec;
	unsigned int ms;
	size_t active;

	begin_set(&numbers, &rec, option);
	for (int i = 0; i < STOPS; i++) {
		wait_somewhat(&ms);
		check_budget(&rec);
	}
	kill(rec.proc.pid, SIGKILL);
	cr_assert_eq(live_wait(&rec.proc), 128 + SIGKILL);
	live_proc_fini(&rec.proc);
	live_kill(&numbers);
	cr_expect_leq(sum_set(&active), (uint64_t)BUDGET);
	check_set();
}

static void keep_budget(const char *option)
{
	struct live_proc numbers;
	struct live_rec rec;
	size_t active;

	for (unsigned int i = 0; i < kills(); i++)
		kill_set(option);
	begin_set(&numbers, &rec, option);
	cr_expect_eq(live_stop(&rec), 0);
	live_kill(&numbers);
	cr_expect_leq(sum_set(&active), (uint64_t)BUDGET);
	cr_expect_eq(active, 0, "files of the killed recorder are finished");
	check_set();
}

Test(kill, rotated_files_stay_within_their_budget)
{
	keep_budget(NULL);
}

Test(kill, compressed_rotated_files_stay_within_their_budget)
{
	keep_budget("--compress=zstd");
}
