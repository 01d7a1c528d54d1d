// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files that a program maps and then turns into something else: nothing opens what it should not. And the
 * recorder's own file, on a disk that fills up.
 */
/* ALONE: time and memory next to a hostile program */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/bpf/fault.h"

TestSuite(fault_files, .fini = live_cleanup);

Test(fault_files, file_system_that_never_answers)
{
	struct live_proc enemy;
	struct fault f;

	fault_begin(&f);
	live_stimulus(&enemy, "enemy_fuse", live_dir(), NULL);
	if (strstr(enemy.output.data, "unsupported")) {
		live_proc_fini(&enemy);
		fault_end(&f);
		cr_skip_test("no file systems in user space here");
	}
	fault_record_enemy(&f, &enemy);
}

static int enemy_mounts = -1;

static void join_enemy(void)
{
	if (setns(enemy_mounts, CLONE_NEWNS))
		_exit(126);
}

/* Not even its start is waited for: the exec may never be over. */
Test(fault_files, command_on_a_file_system_that_never_answers)
{
	const char *path = live_path("trace"), *command = live_path("mnt/enemy.elf");
	const char *argv[] = { live_program(), "-d", "1", "-o", path, "--", command, NULL };
	const char *info[] = { "info", path, NULL };
	struct live_proc enemy, p;
	struct buf output;
	uint64_t start;
	char ns[64];

	live_stimulus(&enemy, "enemy_fuse", live_dir(), NULL);
	if (strstr(enemy.output.data, "unsupported")) {
		live_proc_fini(&enemy);
		cr_skip_test("no file systems in user space here");
	}
	snprintf(ns, sizeof(ns), "/proc/%d/ns/mnt", enemy.pid);
	enemy_mounts = open(ns, O_RDONLY | O_CLOEXEC);
	cr_assert_geq(enemy_mounts, 0);
	start = clock_mono_ns();
	live_spawn(&p, argv, join_enemy);
	cr_expect_eq(live_wait(&p), 0);
	cr_expect_lt(clock_mono_ns() - start, 20000000000ULL);
	output = live_errors(&p);
	cr_expect(strstr(output.data, "enemy.elf' had not started when the recording ended"), "%s",
		  output.data);
	buf_free(&output);
	/* with it goes who waits for it, and holds the pipes */
	fault_kill(&enemy);
	live_proc_fini(&p);
	cr_assert_eq(live_run(&p, info, NULL), 0);
	cr_expect(strstr(p.output.data, "accounting "), "%s", p.output.data);
	live_proc_fini(&p);
	close(enemy_mounts);
}

/* How often these files were opened since the last call. */
static int opened(int watch)
{
	char events[4096] __attribute__((aligned(8)));
	const struct inotify_event *ev;
	ssize_t n, at;
	int cnt = 0;

	while ((n = read(watch, events, sizeof(events))) > 0)
		for (at = 0; at < n; at += sizeof(*ev) + ev->len) {
			ev = (const void *)(events + at);
			cnt += !!(ev->mask & IN_OPEN);
		}
	return cnt;
}

Test(fault_files, path_replaced_by_a_fifo_or_device_is_not_opened)
{
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), probe;
	struct live_proc enemy;
	struct fault f;

	fault_begin(&f);
	live_stimulus(&enemy, "enemy_swap", live_dir(), "150", NULL);
	cr_assert_geq(inotify_add_watch(watch, live_path("trap.fifo"), IN_OPEN), 0);
	cr_assert_geq(inotify_add_watch(watch, live_path("trap.device"), IN_OPEN), 0);
	probe = open(live_path("trap.fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	cr_assert_eq(opened(watch), 1, "the trap does not work");
	close(probe);
	fault_record(&f, 4, NULL);
	cr_assert_eq(write(enemy.in, "\n", 1), 1);
	fault_watch(&f, NULL, NULL);
	live_read_until(&enemy, "done");
	live_end(&enemy);
	cr_expect_eq(opened(watch), 0,
		     "the recorder opened what a program put in its file's place");
	close(watch);
	fault_check(&f);
	fault_end(&f);
}

/* A file system of two megabytes that only this test sees. */
static void mount_small(const char *at)
{
	cr_assert_eq(mkdir(at, 0755), 0);
	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	cr_assert_eq(mount("none", at, "tmpfs", 0, "size=2m"), 0);
}

Test(fault_files, disk_that_fills_up)
{
	const char *path = live_path("small/trace");
	const char *args[] = { "-q", "-a", "-d", "30", "-o", path, NULL };
	const char *info[] = { "info", path, NULL };
	struct live_proc p, storm;
	struct buf text;

	live_stimulus(&storm, "storm", "500", NULL);
	cr_assert_eq(write(storm.in, "\n", 1), 1);
	mount_small(live_path("small"));
	cr_assert_eq(live_run(&p, args, NULL), 3);
	live_end(&storm);
	text = live_errors(&p);
	cr_assert(strstr(text.data, "small/trace: No space left on device"), "%s", text.data);
	cr_assert_eq(strchr(text.data, '\n'), text.data + text.len - 1, "not one line: %s",
		     text.data);
	buf_free(&text);
	live_proc_fini(&p);
	cr_assert_eq(live_run(&p, info, NULL), 0);
	cr_assert(strstr(p.output.data, "accounting "), "%s", p.output.data);
	cr_assert(!strstr(p.output.data, "ADD UP"), "what was not written is held to be wrong: %s",
		  p.output.data);
	live_proc_fini(&p);
}
