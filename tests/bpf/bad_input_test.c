// SPDX-License-Identifier: BSD-2-Clause
/*
 * A recording that cannot start: one line with the remedy, exit status 2, and no file. And a recording that starts in
 * spite of what it meets.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/bpf/support.h"

TestSuite(bad_input, .fini = live_cleanup);

enum { FAILED = 121 };

static void must(bool done)
{
	if (!done)
		_exit(FAILED);
}

/* ---- what the machine lacks ----------------------------------------------------------------------- */

static void own_mounts(void)
{
	must(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

static void hide_btf(void)
{
	own_mounts();
	must(!mount("none", "/sys/kernel/btf", "tmpfs", 0, NULL));
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* As a kernel's command line says it: securityfs need not be there. */
static void lock_down(void)
{
	const char *path = live_path("cmdline");

	own_mounts();
	write_file(path, "quiet lockdown=confidentiality\n");
	must(!mount(path, "/proc/cmdline", NULL, MS_BIND, NULL));
	if (!access("/sys/kernel/security", F_OK))
		must(!mount("none", "/sys/kernel/security", "tmpfs", 0, NULL));
}

static void deny(int number)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	must(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	must(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
}

static void deny_bpf(void)
{
	deny(SYS_bpf);
}

static void deny_perf(void)
{
	deny(SYS_perf_event_open);
}

static void be_root_of_nobody(void)
{
	must(!unshare(CLONE_NEWUSER));
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/uid_map", "0 0 1");
	write_file("/proc/self/gid_map", "0 0 1");
}

/* What is left is a machine with version 1 alone. */
static void unmount_cgroup2(void)
{
	char type[64], path[256];
	FILE *mounts;
	bool again = true;

	own_mounts();
	while (again) {
		again = false;
		mounts = fopen("/proc/mounts", "re");
		must(mounts);
		while (!again && fscanf(mounts, "%*s %255s %63s %*[^\n]", path, type) == 2)
			again = !strcmp(type, "cgroup2");
		fclose(mounts);
		if (again)
			must(!umount2(path, MNT_DETACH));
	}
}

/* ---- messages ------------------------------------------------------------------------------------ */

static void expect(live_prepare_fn prepare, const char *option, const char *value,
		   const char *start, const char *remedy)
{
	const char *file = live_path("x.bin");
	const char *args[] = { "-o", file, "-a", "-d", "0.1", option, value, NULL };
	struct live_proc p;
	struct buf err;
	int code = live_run(&p, args, prepare);

	err = live_errors(&p);
	buf_cstr(&err);
	cr_expect_eq(code, 2, "%d: %s", code, err.data);
	cr_expect_eq(strncmp(err.data, "dial9-prof: record: ", 20), 0, "%s", err.data);
	cr_expect_eq(strncmp(err.data + 20, start, strlen(start)), 0, "%s", err.data);
	cr_expect(strstr(err.data, remedy), "%s", err.data);
	cr_expect_eq(strchr(err.data, '\n'), err.data + err.len - 1, "one line: %s", err.data);
	cr_expect_neq(access(file, F_OK), 0, "a file is left");
	buf_free(&err);
	live_proc_fini(&p);
}

Test(bad_input, kernel_without_btf)
{
	expect(hide_btf, NULL, NULL, "Linux ", "CONFIG_DEBUG_INFO_BTF=y");
}

Test(bad_input, lockdown_for_confidentiality)
{
	expect(lock_down, NULL, NULL, "may not load BPF programs: kernel lockdown",
	       "boot with lockdown=integrity\n");
}

Test(bad_input, container_that_denies_bpf)
{
	expect(deny_bpf, NULL, NULL, "may not load BPF programs: a seccomp filter denies",
	       "record outside of the container\n");
}

Test(bad_input, container_that_denies_perf_events)
{
	expect(deny_perf, NULL, NULL,
	       "no process metadata on CPU 0: Operation not permitted (a seccomp",
	       "record outside of the container)\n");
}

Test(bad_input, user_namespace)
{
	expect(be_root_of_nobody, NULL, NULL,
	       "may not load BPF programs: capabilities of a user namespace",
	       "as root of the host\n");
}

Test(bad_input, cgroup_file_system_with_version_1_only)
{
	expect(unmount_cgroup2, "-G", "web", "-G web: no cgroup2 is mounted",
	       "mount -t cgroup2 cgroup2 ");
}

static void expect_check(live_prepare_fn prepare, const char *row, const char *remedy)
{
	const char *args[] = { "check", NULL };
	struct live_proc p;
	int code = live_run(&p, args, prepare);

	buf_cstr(&p.output);
	cr_expect_eq(code, 2, "%d: %s", code, p.output.data);
	cr_expect(strstr(p.output.data, row), "no %s in: %s", row, p.output.data);
	cr_expect(strstr(p.output.data, remedy), "no %s in: %s", remedy, p.output.data);
	cr_expect(strstr(p.output.data, "\nRecording cannot start.\n"), "%s", p.output.data);
	live_proc_fini(&p);
}

/* ---- --btf ------------------------------------------------------------------------------------------ */

static void copy_and_hide_btf(void)
{
	static char bytes[32 << 20];
	int from = open("/sys/kernel/btf/vmlinux", O_RDONLY);
	int to = open(live_path("copy.btf"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ssize_t n = 0;

	must(from >= 0 && to >= 0);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		must(write(to, bytes, (size_t)n) == n);
	close(from);
	close(to);
	hide_btf();
}

Test(bad_input, kernel_with_hidden_btf_records_with_a_copy)
{
	const char *file = live_path("b.bin"), *copy = live_path("copy.btf");
	const char *args[] = { "-q", "-o", file, "--btf", copy, "--", "/bin/true", NULL };
	const char *programs[] = { "check", "--programs=summary", "--btf", copy, NULL };
	struct live_trace lt;
	struct live_proc p;
	struct buf err;

	cr_expect_eq(live_run(&p, args, copy_and_hide_btf), 0);
	err = live_errors(&p);
	cr_expect_eq(err.len, 0, "%s", buf_cstr(&err));
	buf_free(&err);
	live_proc_fini(&p);
	live_open(&lt, file, false);
	cr_expect_gt(lt.produced, 0);
	live_assert_no_loss(&lt);
	live_close(&lt);
	cr_expect_eq(live_run(&p, programs, copy_and_hide_btf), 0);
	cr_expect(strstr(buf_cstr(&p.output), "prof_summary_switch                  ok "), "%s",
		  p.output.data);
	live_proc_fini(&p);
}

static void expect_bad_btf(const char *path, const char *why)
{
	char line[512];

	snprintf(line, sizeof(line), "--btf %s: %s\n", path, why);
	expect(hide_btf, "--btf", path, line, why);
}

Test(bad_input, file_that_is_not_btf)
{
	write_file(live_path("text"), "a text and nothing else");
	expect_bad_btf(live_path("text"), "no BTF in it");
	write_file(live_path("empty"), "");
	expect_bad_btf(live_path("empty"), "no BTF in it");
	write_file(live_path("swapped"), "\xeb\x9f\x01");
	expect_bad_btf(live_path("swapped"), "BTF of a machine with another byte order");
	expect_bad_btf("/dev/null", "not a regular file of at most 512 MiB");
	expect_bad_btf("/nonexistent/btf", "No such file or directory");
	expect_bad_btf("/bin/true", "no BTF in it");
}

Test(bad_input, check_reports_the_same_reasons)
{
	expect_check(hide_btf, "\nmissing  kernel types (BTF) ", "CONFIG_DEBUG_INFO_BTF=y");
	expect_check(lock_down, "\nmissing  BPF programs ", "lockdown=integrity");
	expect_check(deny_bpf, "\nmissing  BPF programs ", "seccomp");
	expect_check(be_root_of_nobody, "\nmissing  BPF programs ", "user namespace");
}

/* ---- what is strange, but no reason not to record -------------------------------------------------- */

static void set_latin1_host(void)
{
	must(!unshare(CLONE_NEWUTS) && !sethostname("a\xff"
						    "b",
						    3));
}

Test(bad_input, host_name_that_is_not_utf8_is_escaped)
{
	const char *args[] = { "-q",  "-p", live_number(getpid()), "-d",
			       "0.1", "-o", live_path("t"),	   NULL };
	struct live_trace lt;
	struct live_proc p;

	cr_assert_eq(live_run(&p, args, set_latin1_host), 0);
	live_proc_fini(&p);
	live_open(&lt, live_path("t"), false);
	cr_expect_str_eq(names_meta(lt.names, 0, PROF_META_HOST), "a\\xffb");
	live_close(&lt);
}
