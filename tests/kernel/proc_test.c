// SPDX-License-Identifier: BSD-2-Clause
/* /proc's texts: ordinary ones, those a hostile process can cause, and tasks that have ended. */
#include "kernel/proc.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"

struct maps {
	struct proc_map v[16];
	char paths[16][128];
	size_t cnt;
};

static int collect(const struct proc_map *map, void *ctx)
{
	struct maps *m = ctx;

	cr_assert_lt(m->cnt, 16);
	cr_assert_eq(strlen(map->path), map->path_len);
	m->v[m->cnt] = *map;
	snprintf(m->paths[m->cnt++], sizeof(m->paths[0]), "%s", map->path);
	return 0;
}

static const char maps_text[] =
	"55d0c7a5b000-55d0c7a60000 r-xp 00002000 fd:01 1234567                    /usr/bin/cat\n"
	"7f0000000000-7f0000001000 rw-s 00000000 00:01 42                         /memfd:jit (deleted)\n"
	"7f1000000000-7f1000001000 r-xp 00000000 fd:01 77                         /tmp/a\\012b (deleted)\n"
	"7f1100000000-7f1100001000 r-xp 00000000 fd:01 77                         /tmp/with blank \n"
	"7f1200000000-7f1200001000 rwxp 00000000 00:00 0 \n"
	"7f1300000000-7f1300001000 rw-p 00000000 00:00 0                          [heap]\n"
	"7f1400000000-7f1400001000 rw-p 00000000 00:05 9                          /dev/zero (deleted)\n"
	"7f1500000000-7f1500001000 rw-p 00000000 00:05 9                          /dev/zeroes\n"
	"7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0                          [vdso]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

Test(proc, maps_of_every_kind_are_parsed)
{
	static const struct {
		const char *path;
		enum proc_map_kind kind;
		bool deleted, exec;
	} want[] = {
		{ "/usr/bin/cat", PROC_MAP_FILE, false, true },
		{ "/memfd:jit", PROC_MAP_ANON, true, false },
		{ "/tmp/a\nb", PROC_MAP_FILE, true, true },
		{ "/tmp/with blank ", PROC_MAP_FILE, false, true },
		{ "", PROC_MAP_ANON, false, true },
		{ "[heap]", PROC_MAP_ANON, false, false },
		{ "/dev/zero", PROC_MAP_ANON, true, false },
		{ "/dev/zeroes", PROC_MAP_FILE, false, false },
		{ "[vdso]", PROC_MAP_VDSO, false, true },
		{ "[vsyscall]", PROC_MAP_ANON, false, true },
	};
	struct maps m = { .cnt = 0 };
	size_t bad = 9;

	cr_assert_eq(proc_parse_maps(maps_text, sizeof(maps_text) - 1, collect, &m, &bad), 0);
	cr_assert_eq(bad, 0);
	cr_assert_eq(m.cnt, sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < m.cnt; i++) {
		cr_expect_str_eq(m.paths[i], want[i].path);
		cr_expect_eq(m.v[i].kind, want[i].kind, "%s", want[i].path);
		cr_expect_eq(m.v[i].deleted, want[i].deleted, "%s", want[i].path);
		cr_expect_eq(m.v[i].exec, want[i].exec, "%s", want[i].path);
	}
	cr_assert_eq(m.v[0].start, 0x55d0c7a5b000);
	cr_assert_eq(m.v[0].end, 0x55d0c7a60000);
	cr_assert_eq(m.v[0].pgoff, 0x2000);
	cr_assert_eq(m.v[0].dev_major, 0xfd);
	cr_assert_eq(m.v[0].dev_minor, 1);
	cr_assert_eq(m.v[0].inode, 1234567);
	cr_assert(m.v[0].read && !m.v[0].write && !m.v[0].shared && m.v[1].shared);
}

Test(proc, invalid_map_lines_are_counted_and_skipped)
{
	static const char *const lines[] = {
		"",
		"hello",
		"1000-2000",
		"1000-2000 r-x",
		"2000-1000 r-xp 0 0:0 0",
		"1000-1000 r-xp 0 0:0 0",
		"1000-2000 r-xp 0 0:0 0x",
		"1000-2000 r-xp 0 123456789:0 0",
		"1000-11111111111111111 r-xp 0 0:0 0",
		"g000-2000 r-xp 0 0:0 0",
	};
	struct maps m = { .cnt = 0 };
	struct buf text = { 0 };
	size_t bad = 0;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		buf_printf(&text, "%s\n", lines[i]);
	buf_addstr(&text, "1000-2000 r-xp 0 0:0 0"); /* good, and the file ends here */
	cr_assert_eq(proc_parse_maps(text.data, text.len, collect, &m, &bad), 0);
	cr_assert_eq(bad, sizeof(lines) / sizeof(lines[0]));
	cr_assert_eq(m.cnt, 1);
	buf_free(&text);
}

static int refuse(const struct proc_map *map, void *ctx)
{
	++*(int *)ctx;
	return -ECANCELED;
}

Test(proc, callback_can_end_the_iteration)
{
	int calls = 0;

	cr_assert_eq(proc_parse_maps(maps_text, sizeof(maps_text) - 1, refuse, &calls, NULL),
		     -ECANCELED);
	cr_assert_eq(calls, 1);
}

Test(proc, status_of_a_thread_in_a_container_is_parsed)
{
	static const char text[] = "Name:\tx\\nTgid:\t1\nTgid:\t4711\nPid:\t4712\nPPid:\t1\n"
				   "Uid:\t1000\t0\t0\t0\nGid:\t100\t0\t0\t0\nNSpid:\t4712\t17\n"
				   "VmSize:\t    1234 kB\nvoluntary_ctxt_switches:\t12\n"
				   "nonvoluntary_ctxt_switches:\t34\n";
	struct proc_status s;

	cr_assert_eq(proc_parse_status(text, sizeof(text) - 1, &s), 0);
	cr_assert_eq(s.tgid, 4711);
	cr_assert_eq(s.pid, 4712);
	cr_assert_eq(s.ppid, 1);
	cr_assert_eq(s.nspid, 17);
	cr_assert_eq(s.uid, 1000);
	cr_assert_eq(s.gid, 100);
	cr_assert_eq(s.voluntary, 12);
	cr_assert_eq(s.involuntary, 34);
	cr_assert_not(s.kthread);
	cr_assert_eq(proc_parse_status("Name:\tx\n", 8, &s), -EINVAL);
}

Test(proc, status_identifies_kernel_threads)
{
	static const char old[] = "Tgid:\t2\nPid:\t2\n", new[] = "Tgid:\t2\nPid:\t2\nKthread:\t1\n";
	static const char user[] = "Tgid:\t2\nPid:\t2\nKthread:\t0\n";
	struct proc_status s;

	cr_assert_eq(proc_parse_status(old, sizeof(old) - 1, &s), 0);
	cr_assert(s.kthread);
	cr_assert_eq(proc_parse_status(new, sizeof(new) - 1, &s), 0);
	cr_assert(s.kthread);
	cr_assert_eq(proc_parse_status(user, sizeof(user) - 1, &s), 0);
	cr_assert_not(s.kthread);
}

Test(proc, stat_is_split_at_the_last_parenthesis)
{
	static const char text[] =
		"42 (a) R 1 (b\n) S 7 42 42 0 -1 4194560 1 2 3 4 500 600 7 8 20 0 1 0 987654 10 11\n";
	struct proc_stat s;

	cr_assert_eq(proc_parse_stat(text, sizeof(text) - 1, &s), 0);
	cr_assert_eq(s.pid, 42);
	cr_assert_str_eq(s.comm, "a) R 1 (b\n");
	cr_assert_eq(s.state, 'S');
	cr_assert_eq(s.ppid, 7);
	cr_assert_eq(s.flags, 4194560);
	cr_assert_eq(s.utime, 500);
	cr_assert_eq(s.stime, 600);
	cr_assert_eq(s.starttime, 987654);
	for (size_t len = 0; len < sizeof(text) - 14; len++)
		cr_assert_eq(proc_parse_stat(text, len, &s), -EINVAL, "%zu bytes", len);
}

Test(proc, cgroup_v2_is_preferred)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "0::/user.slice/x\n", "/user.slice/x" },
		{ "12:cpu,cpuacct:/a/b\n1:name=systemd:/a/b/c\n", "/a/b/c" },
		{ "12:cpu:/much/longer\n0::/x\n", "/x" },
		{ "", "/" },
		{ "garbage\n3:x\n4:x:relative\n", "/" },
		{ "0::/with:colon\n", "/with:colon" },
	};
	struct buf b = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buf_clear(&b);
		cr_assert_eq(proc_parse_cgroup(cases[i].text, strlen(cases[i].text), &b), 0);
		cr_expect_str_eq(buf_cstr(&b), cases[i].want);
	}
	buf_free(&b);
}

static bool is_among(pid_t pid, const pid_t *pids, size_t cnt)
{
	while (cnt && pids[cnt - 1] != pid)
		cnt--;
	return cnt > 0;
}

Test(proc, values_of_this_process_are_right)
{
	char exe[4096] = { 0 };
	struct proc_status status;
	struct proc_stat stat;
	struct buf b = { 0 };
	pid_t *pids;
	size_t cnt;

	cr_assert_eq(prctl(PR_SET_NAME, "a) R (\n"), 0);
	cr_assert_eq(proc_read_status(getpid(), &status), 0);
	cr_assert_eq(status.tgid, getpid());
	cr_assert_eq(status.ppid, getppid());
	cr_assert_not(status.kthread);
	cr_assert_eq(proc_read_stat(getpid(), &stat), 0);
	cr_assert_str_eq(stat.comm, "a) R (\n");
	cr_assert_eq(stat.ppid, getppid());
	cr_assert_eq(proc_read_comm(getpid(), &b), 0);
	cr_assert_str_eq(b.data, "a) R (\n");
	buf_clear(&b);
	cr_assert_gt(readlink("/proc/self/exe", exe, sizeof(exe) - 1), 0);
	cr_assert_eq(proc_read_exe(getpid(), &b), 0);
	cr_assert_str_eq(b.data, exe);
	buf_free(&b);
	cr_assert_eq(proc_list_tids(getpid(), &pids, &cnt), 0);
	cr_assert_geq(cnt, 1);
	cr_assert_eq(pids[0], getpid());
	free(pids);
	cr_assert_eq(proc_list_pids(&pids, &cnt), 0);
	cr_assert(is_among(getpid(), pids, cnt) && is_among(getppid(), pids, cnt));
	for (size_t i = 0; i < cnt; i++)
		cr_expect(pids[i] > 0 && !is_among(pids[i], pids, i), "%d", pids[i]);
	free(pids);
}

static int find_own_code(const struct proc_map *map, void *ctx)
{
	uint64_t here = (uintptr_t)find_own_code;

	return map->exec && map->kind == PROC_MAP_FILE && here >= map->start && here < map->end;
}

Test(proc, own_maps_contain_own_code)
{
	bool cut;

	cr_assert_eq(proc_read_maps(getpid(), 1 << 20, &cut, find_own_code, NULL), 1);
}

static int count_mapping(const struct proc_map *map, void *ctx)
{
	++*(size_t *)ctx;
	return 0;
}

Test(proc, long_list_of_mappings_is_cut_after_a_whole_line)
{
	size_t all = 0, some = 0;
	bool cut;

	cr_assert_eq(proc_read_maps(getpid(), 1 << 20, &cut, count_mapping, &all), 0);
	cr_expect_not(cut);
	cr_assert_eq(proc_read_maps(getpid(), 500, &cut, count_mapping, &some), 0);
	cr_expect(cut);
	cr_expect_gt(some, 0);
	cr_expect_lt(some, all);
}

Test(proc, task_that_has_ended_is_esrch_everywhere)
{
	struct proc_status status;
	struct proc_stat stat;
	struct buf b = { 0 };
	pid_t *tids, gone = fork();
	size_t cnt;
	bool cut;

	if (!gone)
		_exit(0);
	waitpid(gone, NULL, 0);
	cr_expect_eq(proc_read_maps(gone, 1 << 20, &cut, find_own_code, NULL), -ESRCH);
	cr_expect_eq(proc_read_status(gone, &status), -ESRCH);
	cr_expect_eq(proc_read_stat(gone, &stat), -ESRCH);
	cr_expect_eq(proc_read_cgroup(gone, &b), -ESRCH);
	cr_expect_eq(proc_read_comm(gone, &b), -ESRCH);
	cr_expect_eq(proc_read_exe(gone, &b), -ESRCH);
	cr_expect_eq(proc_list_tids(gone, &tids, &cnt), -ESRCH);
	cr_expect_eq(b.len, 0);
	buf_free(&b);
}

Test(proc, numbers_are_limited_to_their_type)
{
	static const struct {
		const char *line;
		bool good;
	} cases[] = {
		{ "1000-fffffffffffffff0 r-xp 0 0:0 0", true },
		{ "1000-10000000000000000 r-xp 0 0:0 0", false },
		{ "1000-2000 r-xp 0 ffffffff:ffffffff 18446744073709551600", true },
		{ "1000-2000 r-xp 0 100000000:0 0", false },
		{ "1000-2000 r-xp 0 0:100000000 0", false },
		{ "1000-2000 r-xp 0 0:0 18446744073709551616", false },
		{ "1000-2000 r-xp 0 0:0 a", false },
		{ "1000-2000 r-xp 0 0:0 ", false },
		{ "1000-2000 r-x 0 0:0 0", false },
		{ "1000-2000 r-xpp 0 0:0 0", false },
		{ "1000 2000 r-xp 0 0:0 0", false },
		{ "1000-2000 r-xp 0 0 0 0", false },
		{ "1000-2000 r-xp 0 0:0 0/x", false },
		{ "1000-200G r-xp 0 0:0 0", false },
		{ "1000-200` r-xp 0 0:0 0", false },
		{ "1000-200: r-xp 0 0:0 0", false },
		{ "09af-9af0 r-xp 0 0:0 0", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct maps m = { .cnt = 0 };
		size_t bad = 9;

		cr_assert_eq(proc_parse_maps(cases[i].line, strlen(cases[i].line), collect, &m,
					     &bad),
			     0);
		cr_expect_eq(m.cnt, cases[i].good, "%s", cases[i].line);
		cr_expect_eq(bad, !cases[i].good, "%s", cases[i].line);
	}
}

Test(proc, path_with_a_nul_is_refused)
{
	static const char text[] = "1000-2000 r-xp 0 0:0 1 /a\0b\n2000-3000 r-xp 0 0:0 1 /c";
	struct maps m = { .cnt = 0 };
	size_t bad = 0;

	cr_assert_eq(proc_parse_maps(text, sizeof(text) - 1, collect, &m, &bad), 0);
	cr_expect_eq(bad, 1);
	cr_assert_eq(m.cnt, 1);
	cr_expect_str_eq(m.paths[0], "/c");
}

Test(proc, special_paths_are_anonymous)
{
	static const struct {
		const char *path;
		bool anon;
	} cases[] = {
		{ "", true },
		{ "[stack]", true },
		{ "relative", true },
		{ "//anon", true },
		{ "/memfd:x", true },
		{ "/anon_hugepage", true },
		{ "/SYSV00000000", true },
		{ "/[aio]", true },
		{ "/dev/zero", true },
		{ "/dev/zero (deleted)", true },
		{ "/dev/zero (deleted) ", false },
		{ "/dev/zero2", false },
		{ "/dev/zer", false },
		{ "/usr/memfd:", false },
		{ "/", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(proc_path_is_anon(cases[i].path), cases[i].anon, "%s", cases[i].path);
}

Test(proc, escapes_and_deleted_suffix_in_paths_are_exact)
{
	static const struct {
		const char *text, *path;
		bool deleted;
	} cases[] = {
		{ "/a\\012", "/a\n", false },
		{ "/a\\012\\012b", "/a\n\nb", false },
		{ "/a\\01", "/a\\01", false },
		{ "/a\\013", "/a\\013", false },
		{ "/ (deleted)", "/", true },
		{ "/x (deleted) (deleted)", "/x (deleted)", true },
		{ "/x(deleted)", "/x(deleted)", false },
		{ "/x (deleted)y", "/x (deleted)y", false },
		{ " (deleted)", "(deleted)", false },
	};
	char line[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct maps m = { .cnt = 0 };

		snprintf(line, sizeof(line), "1000-2000 r-xp 0 0:0 1 %s", cases[i].text);
		cr_assert_eq(proc_parse_maps(line, strlen(line), collect, &m, NULL), 0);
		cr_assert_eq(m.cnt, 1);
		cr_expect_str_eq(m.paths[0], cases[i].path);
		cr_expect_eq(m.v[0].deleted, cases[i].deleted, "%s", cases[i].text);
	}
}

Test(proc, status_belongs_to_a_task_and_has_its_capabilities)
{
	static const char text[] = "Tgid:\t7\nPid:\t8\nNSpid:\t8\t3\t1\nCapEff:\t000001ffffffffff\n"
				   "VmSize:\t1 kB\n";
	struct proc_status s;

	cr_assert_eq(proc_parse_status(text, sizeof(text) - 1, &s), 0);
	cr_expect_eq(s.caps, 0x1ffffffffff);
	cr_expect_eq(s.nspid, 1);
	cr_expect_eq(proc_parse_status("Tgid:\t7\n", 8, &s), -EINVAL);
	cr_expect_eq(proc_parse_status("Pid:\t8\n", 7, &s), -EINVAL);
	/* a file name that is no PID is ignored */
	cr_expect_eq(proc_parse_status("Tgid:\t7\nPid:\t2147483648\n", 24, &s), -EINVAL);
	cr_expect_eq(proc_parse_status("Tgid:\t7\nPid:\t2147483647\n", 24, &s), 0);
	cr_expect_eq(s.pid, 2147483647);
}

Test(proc, stat_keeps_63_bytes_of_a_name_and_negative_numbers)
{
	char text[256], name[101] = { 0 };
	struct proc_stat s;

	memset(name, 'n', 100);
	for (size_t len = 62; len <= 65; len++) {
		snprintf(text, sizeof(text),
			 "42 (%.*s) S -1 42 42 0 -1 64 1 2 3 4 500 600 7 8 20 0 1 0 987 10 11\n",
			 (int)len, name);
		cr_assert_eq(proc_parse_stat(text, strlen(text), &s), 0);
		cr_expect_eq(strlen(s.comm), len < 63 ? len : 63);
		cr_expect_eq(s.ppid, 1);
		cr_expect_eq(s.starttime, 987);
	}
	cr_expect_eq(proc_parse_stat("42 ) (x S", 9, &s), -EINVAL);
	cr_expect_eq(proc_parse_stat("42) (x", 6, &s), -EINVAL);
}

Test(proc, longest_path_of_cgroup_v1_is_the_cgroup)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "2:b:/a/b\n1:c:/c/d\n", "/a/b" }, { "2:b:/a\n1:c:/c/d\n", "/c/d" },
		{ "2:b:/a/b\n1:c:/c\n", "/a/b" },   { "0::/x\n2:b:/much/longer\n", "/x" },
		{ "0::\n2:b:/y\n", "/y" },
	};
	struct buf b = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buf_clear(&b);
		cr_assert_eq(proc_parse_cgroup(cases[i].text, strlen(cases[i].text), &b), 0);
		cr_expect_str_eq(buf_cstr(&b), cases[i].want, "%s", cases[i].text);
	}
	buf_free(&b);
}

/* A program runs from a deleted copy of itself: its link has a suffix, which is removed. */
Test(proc, program_name_has_no_deleted_suffix)
{
	char dir[] = "/tmp/d9_proc_XXXXXX", path[64], cmd[128];
	struct buf b = { 0 };
	int out[2], in[2];
	char c;
	pid_t pid;

	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/cat", dir);
	snprintf(cmd, sizeof(cmd), "cp \"$(command -v cat)\" %s", path);
	cr_assert_eq(system(cmd), 0);
	cr_assert_eq(pipe(out) | pipe(in), 0);
	pid = fork();
	if (!pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		execl(path, "cat", NULL);
		_exit(1);
	}
	/* An answer shows that it runs. */
	cr_assert_eq(write(in[1], "x", 1), 1);
	cr_assert_eq(read(out[0], &c, 1), 1);
	unlink(path);
	rmdir(dir);
	cr_assert_eq(proc_read_exe(pid, &b), 0);
	cr_expect_str_eq(buf_cstr(&b), path);
	close(in[1]);
	waitpid(pid, NULL, 0);
	buf_free(&b);
}

/* Kernel threads have no program; their parent is the second process. */
Test(proc, kernel_thread_has_no_program)
{
	struct proc_status status;
	struct buf b = { 0 };

	if (proc_read_status(2, &status) || !status.kthread)
		cr_skip_test("With -a: exclude kernel threads are seen here");
	cr_expect_eq(proc_read_exe(2, &b), geteuid() ? -EACCES : -ENOENT);
	cr_expect_eq(b.len, 0);
	buf_free(&b);
}

Test(proc, file_of_a_task_is_appended_and_a_directory_is_refused)
{
	struct buf b = { 0 };

	buf_addstr(&b, "head ");
	cr_assert_eq(proc_read_comm(getpid(), &b), 0);
	cr_expect_eq(strncmp(b.data, "head ", 5), 0);
	cr_expect_gt(b.len, 5);
	cr_expect_neq(b.data[b.len - 1], '\n');
	cr_expect_eq(proc_read_file(getpid(), "task", &b), -EISDIR);
	cr_expect_eq(proc_read_file(getpid(), "no_such_file", &b), -ESRCH);
	buf_free(&b);
}

/* A child with another user and new namespaces, if these are not 0; with @hides it hides its /proc. */
static pid_t child_that(uid_t uid, int namespaces, bool hides)
{
	int ready[2];
	pid_t pid;
	char c;

	cr_assert_eq(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		if ((namespaces && unshare(namespaces)) || (uid && setuid(uid)) ||
		    (hides && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)) || write(ready[1], "+", 1) != 1)
			_exit(1);
		pause();
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		cr_skip_test("a child with another user or mount namespace takes root");
	close(ready[0]);
	return pid;
}

static pid_t child_of(uid_t uid, int namespaces)
{
	return child_that(uid, namespaces, false);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

Test(proc, realm_is_a_user_in_a_mount_namespace)
{
	pid_t users[] = { child_of(12345, 0), child_of(12345, 0), child_of(12346, 0),
			  child_of(12345, CLONE_NEWNS) };
	pid_t gone = child_of(0, 0);
	size_t i;

	cr_expect_eq(proc_realm(users[0]), proc_realm(users[1]));
	cr_expect_neq(proc_realm(users[0]), proc_realm(users[2]));
	cr_expect_neq(proc_realm(users[0]), proc_realm(users[3]));
	cr_expect_neq(proc_realm(users[0]), proc_realm(getpid()));
	cr_expect_eq(proc_realm(gone), proc_realm(getpid()));
	end(gone);
	cr_expect_eq(proc_realm(gone), 0);
	cr_expect_eq(proc_realm(0), 0);
	for (i = 0; i < sizeof(users) / sizeof(users[0]); i++)
		end(users[i]);
}

Test(proc, process_with_a_hidden_proc_is_not_treated_as_root)
{
	pid_t user = child_of(12345, 0), hidden = child_that(12345, 0, true);

	cr_expect_eq(proc_realm(hidden), proc_realm(user));
	end(user);
	end(hidden);
}

Test(proc, owner_is_a_user_or_for_root_a_namespace_or_process)
{
	pid_t users[] = { child_of(12345, 0), child_of(12345, 0), child_of(12346, 0) };
	pid_t roots[] = { child_of(0, 0), child_of(0, 0) };
	pid_t inside = child_of(0, CLONE_NEWNS), gone = child_of(0, 0);
	size_t i;

	cr_expect_eq(proc_owner(users[0]), proc_owner(users[1]));
	cr_expect_neq(proc_owner(users[0]), proc_owner(users[2]));
	cr_expect_neq(proc_owner(roots[0]), proc_owner(roots[1]));
	cr_expect_neq(proc_owner(inside), proc_owner(roots[0]));
	cr_expect_neq(proc_owner(inside) & UINT32_MAX, (uint64_t)inside, "its namespace counts");
	cr_expect_neq(proc_owner(users[0]), PROC_OWNER_GONE);
	end(gone);
	cr_expect_eq(proc_owner(gone), PROC_OWNER_GONE);
	end(inside);
	for (i = 0; i < 3; i++)
		end(users[i]);
	for (i = 0; i < 2; i++)
		end(roots[i]);
}

Test(proc, boot_id_has_the_kernels_format)
{
	char id[PROC_BOOT_ID_SIZE], want[64] = { 0 };
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");

	cr_assert(f && fgets(want, sizeof(want), f));
	fclose(f);
	want[strcspn(want, "\n")] = '\0';
	cr_assert_eq(proc_read_boot_id(id), 0);
	cr_expect_str_eq(id, want);
}
