// SPDX-License-Identifier: BSD-2-Clause
/* What the recorder needs to start, and how little it keeps while it records. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/bpf/support.h"

TestSuite(privileges, .fini = live_cleanup);

enum { SOMEBODY = 12345 };

static const uint64_t five = 1ULL << CAP_BPF | 1ULL << CAP_PERFMON | 1ULL << CAP_SYS_PTRACE |
			     1ULL << CAP_DAC_READ_SEARCH | 1ULL << CAP_SYSLOG;
static const uint64_t for_draining = 1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH |
				     1ULL << CAP_SYS_NICE; /* in one thread */

/* Not in force until a CPU comes back. */
static const uint64_t for_cpus = 1ULL << CAP_PERFMON;

/* ---- while it records --------------------------------------------------------------------------- */

static uint64_t set_of(const char *status, const char *name)
{
	unsigned long long v = UINT64_MAX;
	const char *at = strstr(status, name);

	cr_assert(at, "no %s in: %s", name, status);
	sscanf(at + strlen(name), ": %llx", &v);
	return v;
}

/* False: the thread has ended. */
static bool read_status(const char *path, char *text, size_t sz)
{
	FILE *f = fopen(path, "re");
	size_t len;

	if (!f)
		return false;
	len = fread(text, 1, sz - 1, f);
	text[len] = '\0';
	fclose(f);
	return len > 0;
}

/* A thread drops privileges before all else, but a new thread may not have run yet. */
static bool read_when_dropped(const char *path, uint64_t may, char *text, size_t sz)
{
	int tries;

	for (tries = 0; tries < 5000; tries++) {
		if (!read_status(path, text, sz))
			return false;
		if (!(set_of(text, "CapPrm") & ~(may | for_cpus)))
			break;
		usleep(1000);
	}
	return true;
}

static void check_thread(const char *path, uint64_t may)
{
	static const char *const sets[] = { "CapPrm", "CapEff", "CapInh", "CapAmb", "CapBnd" };
	char text[8192];
	size_t i;

	if (!read_when_dropped(path, may, text, sizeof(text)))
		return;
	for (i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		cr_expect_eq(set_of(text, sets[i]) & ~(may | (i ? 0 : for_cpus)), 0,
			     "%s of %s: %llx", sets[i], path,
			     (unsigned long long)set_of(text, sets[i]));
	cr_expect_eq(set_of(text, "NoNewPrivs"), 1, "%s", path);
}

static size_t check_threads(pid_t pid)
{
	char path[300];
	struct dirent *ent;
	size_t cnt = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	cr_assert(dir);
	while ((ent = readdir(dir))) {
		if (*ent->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/status", pid, ent->d_name);
		/* the thread that reads the kernel's symbols may be at it, one makes maps */
		check_thread(path, atoi(ent->d_name) == pid ?
					   for_draining :
					   for_draining | 1ULL << CAP_SYSLOG | 1ULL << CAP_BPF);
		cnt++;
	}
	closedir(dir);
	return cnt;
}

Test(privileges, recorder_keeps_only_the_privileges_that_draining_needs)
{
	struct live_proc sleeper;
	struct live_rec rec;
	char path[64];

	live_stimulus(&sleeper, "sleeper", "10", NULL);
	live_record(&rec, "-p", live_number(sleeper.pid), NULL);
	live_recording(&rec);
	live_go(&sleeper);
	snprintf(path, sizeof(path), "/proc/%d/status", rec.proc.pid);
	cr_expect_gt(check_threads(rec.proc.pid), 0);
	cr_assert_eq(live_stop(&rec), 0);
	live_end(&sleeper);
}

/* ---- what it needs to start ------------------------------------------------------------------------ */

/* A copy of the program whose file gives these capabilities; NULL where files cannot. */
static const char *program_with(uint64_t caps)
{
	const struct vfs_cap_data data = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data = { { .permitted = caps }, { .permitted = caps >> 32 } },
	};
	const char *path = live_path("dial9-prof"), *built = live_built("dial9-prof");
	char part[65536];
	int from = open(built, O_RDONLY | O_CLOEXEC), to;
	ssize_t n;

	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	cr_assert(from >= 0 && to >= 0);
	while ((n = read(from, part, sizeof(part))) > 0)
		cr_assert_eq(write(to, part, n), n);
	close(from);
	cr_assert_eq(fchmod(to, 0755), 0);
	close(to);
	return setxattr(path, "security.capability", &data, sizeof(data), 0) ? NULL : path;
}

static void become_user(void)
{
	if (setgroups(0, NULL) || setgid(SOMEBODY) || setuid(SOMEBODY))
		_exit(121);
}

/* In mounts of this test's own: a program that is open from elsewhere has no capabilities there. */
static void mount_tracefs(bool on)
{
	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	while (!umount2("/sys/kernel/tracing", MNT_DETACH))
		;
	while (!umount2("/sys/kernel/debug", MNT_DETACH))
		;
	if (on)
		cr_assert_eq(mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL), 0);
}

static int record_pingpong(const char *program, struct live_proc *p)
{
	/* Without real-time priority, other tests delay the recorder: the rings hold the whole second. */
	const char *argv[] = {
		program, "record", "-o", live_path("trace.bin"), "-F", "999", "-d", "1", "-m",
		"64M",	 "-p",	   NULL, "--no-progress",	 NULL
	};
	struct live_proc player;
	int code;

	live_stimulus(&player, "pingpong", "100000000", NULL);
	argv[11] = live_number(player.pid);
	cr_assert_eq(write(player.in, "\n", 1), 1);
	live_spawn(p, argv, become_user);
	live_read_rest(p);
	code = live_wait(p);
	kill(player.pid, SIGKILL);
	live_proc_fini(&player);
	return code;
}

/* Another user's process, with names from its file and the kernel's. */
static void check_trace(void)
{
	bool user_named = false, kernel_named = false;
	struct live_trace lt;
	struct trace_event ev;
	uint32_t i;

	live_open(&lt, live_path("trace.bin"), false);
	cr_expect_gt(lt.produced, 1000);
	while (live_event(&lt, &ev)) {
		if (ev.kind != TRACE_SAMPLE)
			continue;
		user_named |= live_stack_has(&lt, &ev, "play");
		for (i = 0; i < ev.frame_cnt; i++)
			if (ev.frames[i] & PROF_FRAME_KERNEL)
				kernel_named |= live_frame_in(&lt, ev.frames[i], "schedule");
	}
	cr_expect(user_named, "no function of the other user's program has a name");
	cr_expect(kernel_named, "no function of the kernel has a name");
	live_close(&lt);
}

Test(privileges, five_capabilities_suffice_to_record_another_users_process)
{
	const char *program = program_with(five);
	struct live_proc p;
	struct buf text;
	struct stat st;
	int code;

	if (!program)
		cr_skip_test("files have no capabilities in /tmp here");
	mount_tracefs(true);
	code = record_pingpong(program, &p);
	text = live_errors(&p);
	cr_assert_eq(code, 0, "exit code %d: %s", code, text.data);
	cr_expect_str_eq(text.data, "dial9-prof: record: no real-time priority: needs CAP_SYS_NICE "
				    "or RLIMIT_RTPRIO; on a busy machine, events may be lost "
				    "(-r 0 hides this)\n");
	buf_free(&text);
	cr_assert_eq(stat(live_path("trace.bin"), &st), 0);
	cr_expect_eq(st.st_uid, SOMEBODY);
	check_trace();
	live_proc_fini(&p);
}

/* Messages of the program for a user with its capabilities; the arguments end with NULL. */
static struct buf run_output(const char *program, const char *const *args, bool errors)
{
	const char *argv[LIVE_ARGS_MAX] = { program };
	struct live_proc p;
	struct buf text;

	for (size_t i = 0; args[i]; i++)
		argv[i + 1] = args[i];
	live_spawn(&p, argv, become_user);
	live_read_rest(&p);
	cr_expect_eq(live_wait(&p), 0, "%s", live_errors(&p).data);
	if (errors) {
		text = live_errors(&p);
	} else {
		text = p.output;
		p.output = (struct buf){ 0 };
	}
	live_proc_fini(&p);
	return text;
}

/* What `check` finds to be less is what -v says that the recorder does without. */
Test(privileges, missing_optional_features_are_reported_with_v)
{
	static const char *const pairs[][2] = {
		{ "limited  CAP_SYS_NICE ", "record: without CAP_SYS_NICE: more may be lost" },
		{ "limited  sampling clock ",
		  "record: without a cycle counter: samples by a timer" },
		{ "limited  locked memory ",
		  "record: without locked memory for larger metadata buffers" },
		{ "limited  landlock ", "record: without landlock: less isolation" },
	};
	const char *record[] = { "-v", "-o", live_path("v.bin"), "--", "/bin/true", NULL };
	const char *check[] = { "check", NULL };
	const char *program = program_with(five);
	struct buf found, output;

	if (!program)
		cr_skip_test("files have no capabilities in /tmp here");
	mount_tracefs(true);
	found = run_output(program, check, false);
	output = run_output(program, record, true);
	cr_expect(strstr(found.data, pairs[0][0]), "%s", found.data);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		cr_expect_eq(!strstr(found.data, pairs[i][0]), !strstr(output.data, pairs[i][1]),
			     "%s but %s", found.data, output.data);
	buf_free(&found);
	buf_free(&output);
}

static int code_of(const char *const *argv, live_prepare_fn prepare)
{
	struct live_proc p;
	int code;

	live_spawn(&p, argv, prepare);
	live_read_rest(&p);
	code = live_wait(&p);
	live_proc_fini(&p);
	return code;
}

/* What a user may not reach stays closed to him: the file's capabilities are for the kernel's sake. */
Test(privileges, file_capabilities_open_no_other_files)
{
	char *program = strdup(live_path("dial9-prof")), *trace = strdup(live_path("closed/t.bin"));
	char *command = strdup(live_path("closed/true")), *own = strdup(live_path("own.bin"));
	const char *make[] = {
		live_built("dial9-prof"), "-q", "-o", trace, "--", "/bin/true", NULL
	};
	const char *copy[] = { "/bin/cp", "/bin/true", command, NULL };
	const char *read[] = { program, "info", trace, NULL };
	const char *run[] = { program, "-q", "-o", own, "--", command, NULL };

	if (!program_with(five))
		cr_skip_test("files have no capabilities in /tmp here");
	cr_assert_eq(mkdir(live_path("closed"), 0700), 0);
	cr_assert_eq(code_of(make, NULL), 0);
	cr_assert_eq(code_of(copy, NULL), 0);
	mount_tracefs(true);
	cr_expect_eq(code_of(read, become_user), 5);
	cr_expect_eq(code_of(run, become_user), 2);
	cr_expect_eq(code_of(read, NULL), 0, "root may");
	free(program);
	free(trace);
	free(command);
	free(own);
}

static void expect_refusal(uint64_t caps, const char *word)
{
	const char *program = program_with(caps);
	struct live_proc p;
	struct buf text;
	int code;

	if (!program)
		cr_skip_test("files have no capabilities in /tmp here");
	code = record_pingpong(program, &p);
	text = live_errors(&p);
	cr_expect_eq(code, 2, "exit code %d", code);
	cr_expect(strstr(text.data, word), "no '%s' in: %s", word, text.data);
	buf_free(&text);
	live_proc_fini(&p);
}

Test(privileges, missing_privileges_are_named)
{
	mount_tracefs(true);
	expect_refusal(five & ~(1ULL << CAP_BPF), "CAP_SYS_PTRACE");
	expect_refusal(five & ~(1ULL << CAP_PERFMON), "CAP_PERFMON");
	expect_refusal(five & ~(1ULL << CAP_DAC_READ_SEARCH), "CAP_DAC_READ_SEARCH");
}

Test(privileges, unmounted_tracefs_needs_one_command)
{
	mount_tracefs(false);
	expect_refusal(five, "mount -t tracefs tracefs");
}
