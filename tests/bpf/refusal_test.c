// SPDX-License-Identifier: BSD-2-Clause
/*
 * Recordings on a kernel that refuses programs: bpf() of this process is ours, and refuses by name as a
 * verifier does, with a log.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prof_abi.h"
#include "tests/bpf/own_capture.h"
#include "tests/bpf/support.h"
#include "tests/cmd/run_cmd.h"

TestSuite(refusal, .fini = live_cleanup);

#define REASON "R3 unbounded memory access, use 'var &= const'"

#define DENIED "dial9-prof: record: may not load BPF programs: "

/* Beginnings of names, as the kernel keeps them: of 15 bytes at most. */
static const char *const *refused;
static int refused_err; /* 0: EACCES, with a log */

static bool is_refused(const char *name)
{
	for (const char *const *r = refused; r && *r; r++)
		if (!strncmp(name, *r, strlen(*r)))
			return true;
	return false;
}

static long refuse_bpf(const union bpf_attr *attr)
{
	static const char log[] =
		"0: (bf) r8 = r1\n" REASON "\nprocessed 12 insns (limit 1000000)\n";

	if ((!refused_err || refused_err == EMFILE) && attr->log_level &&
	    attr->log_size > sizeof(log))
		memcpy((void *)(uintptr_t)attr->log_buf, log, sizeof(log));
	errno = refused_err ? refused_err : EACCES;
	return -1;
}

/* What libbpf calls, and everybody else in this process. */
__attribute__((visibility("default"))) long syscall(long number, ...)
{
	static long (*next)(long, ...);
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_bpf && a[0] == BPF_PROG_LOAD &&
	    is_refused(((const union bpf_attr *)a[1])->prog_name))
		return refuse_bpf((const union bpf_attr *)a[1]);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static struct run record_without(const char *const *programs, const char *option, const char *value,
				 const char *file)
{
	struct run r;

	refused = programs;
	r = run_cmd(cmd_record, dup(0), "record", "--no-progress", "-o", file, option, value, "--",
		    "/bin/true", NULL);
	refused = NULL;
	return r;
}

/* BPF programs and links that this process holds. */
static int held(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *ent;
	char to[64];
	int cnt = 0;
	ssize_t n;

	while ((ent = readdir(dir))) {
		n = readlinkat(dirfd(dir), ent->d_name, to, sizeof(to) - 1);
		to[n > 0 ? n : 0] = '\0';
		cnt += !strncmp(to, "anon_inode:bpf", strlen("anon_inode:bpf"));
	}
	closedir(dir);
	return cnt;
}

static void expect_error(const char *program, const char *option, const char *value,
			 const char *leave_out)
{
	const char *const programs[] = { program, NULL };
	struct run r = record_without(programs, option, value, live_path("e.bin"));

	cr_expect_eq(r.code, CMD_START);
	cr_expect_eq(strncmp(r.err, "dial9-prof: record: Linux ", 26), 0, "%s", r.err);
	cr_expect(strstr(r.err, " refuses BPF program "), "%s", r.err);
	cr_expect(strstr(r.err, ": " REASON "; "), "%s", r.err);
	cr_expect(strstr(r.err, leave_out), "%s", r.err);
	cr_expect_eq(strchr(r.err, '\n'), r.err + strlen(r.err) - 1, "one line: %s", r.err);
	cr_expect_eq(held(), 0);
	run_free(&r);
}

Test(refusal, refused_program_of_a_requested_feature_is_an_error_with_the_option)
{
	expect_error("prof_sched_swit", "-F", "99", "use --no-sched, and please report with -vv\n");
}

Test(refusal, refused_program_of_an_option_is_an_error_with_that_option)
{
	expect_error("prof_off_cpu_wa", "--min-block", "1ms",
		     "leave out --min-block and --max-block");
}

Test(refusal, refused_samples_are_an_error_if_an_option_names_them)
{
	expect_error("prof_sample", "-e", "cpu-clock", "use --no-samples");
}

/* Warns of each feature in a line, and what is recorded has the rest. */
static void expect_without(const char *const *programs, const char *feature, const char *missing,
			   const char *there)
{
	const char *file = live_path("w.bin");
	struct run r = record_without(programs, "-F", "999", file), info;

	cr_expect_eq(r.code, CMD_OK, "%s", r.err);
	cr_expect(strstr(r.err, feature), "%s", r.err);
	cr_expect_null(strstr(r.err, REASON), "that is for -v: %s", r.err);
	info = run_cmd(cmd_info, dup(0), "info", file, NULL);
	cr_expect(strstr(info.out, "sched:sched_switch\n"), "%s", info.out);
	if (missing)
		cr_expect_null(strstr(info.out, missing), "%s", info.out);
	if (there)
		cr_expect(strstr(info.out, there), "%s", info.out);
	run_free(&r);
	run_free(&info);
}

Test(refusal, without_sampling_the_rest_is_recorded)
{
	static const char *const programs[] = { "prof_sample", NULL };

	expect_without(programs, "record: no CPU samples: refused by this kernel (-v shows why)\n",
		       "sampled by", "call graph      auto");
}

Test(refusal, without_unwind_tables_frame_pointers_are_used)
{
	static const char *const programs[] = { "prof_unwind_", NULL };

	expect_without(programs, "record: no unwind tables for user stacks: refused by this kernel",
		       NULL, "call graph      fp");
}

Test(refusal, without_unwind_tables_no_memory_is_reserved_for_them, .init = cr_redirect_stderr)
{
	static const char *const programs[] = { "prof_unwind_", NULL };
	struct capture_cfg cfg = {
		.call_graph = PROF_CALL_GRAPH_AUTO,
		.ring_bytes = 1 << 16,
	};

	refused = programs;
	own_capture_open(&(struct eventset_cfg){ .sched = true }, &cfg);
	cr_expect_eq(capture_config(capture)->call_graph, PROF_CALL_GRAPH_FP);
	cr_expect_null(unwind);
	own_capture_close();
}

Test(refusal, several_features_may_be_missing)
{
	static const char *const programs[] = { "prof_unwind_", "prof_sample", "prof_mark_", NULL };

	expect_without(programs, "record: no interrupts as wakers: refused by this kernel",
		       "sampled by", "call graph      fp");
}

Test(refusal, other_ways_to_the_same_stacks_are_used_without_a_message)
{
	static const char *const programs[] = { "prof_sample_orc", NULL };
	const char *file = live_path("o.bin");
	struct run r;

	r = record_without(programs, "-F", "99", file);
	cr_expect_eq(r.code, CMD_OK, "%s", r.err);
	cr_expect_str_eq(r.err, "");
	run_free(&r);
}

Test(refusal, lack_of_memory_is_no_refusal_and_disables_no_feature)
{
	static const char *const programs[] = { "prof_mark_", NULL };
	struct run r;

	refused_err = ENOMEM;
	r = record_without(programs, "-F", "99", live_path("m.bin"));
	cr_expect_eq(r.code, CMD_START);
	cr_expect_str_eq(r.err, "dial9-prof: record: cannot load BPF programs: Cannot allocate "
				"memory; raise the memory limit of the cgroup\n");
	cr_expect_eq(held(), 0);
	run_free(&r);
}

Test(refusal, denial_by_a_security_module_is_no_refusal_and_disables_no_feature)
{
	static const char *const programs[] = { "prof_mark_", NULL };
	struct run r;

	refused_err = EACCES;
	r = record_without(programs, "-F", "99", live_path("s.bin"));
	cr_expect_eq(r.code, CMD_START);
	cr_expect_eq(strncmp(r.err, DENIED, strlen(DENIED)), 0, "%s", r.err);
	cr_expect_eq(strchr(r.err, '\n'), r.err + strlen(r.err) - 1, "one line: %s", r.err);
	run_free(&r);
	refused = programs;
	r = run_cmd(cmd_check, dup(0), "check", "--programs=default", NULL);
	refused = NULL;
	cr_expect_eq(r.code, CMD_START);
	cr_expect(strstr(r.err, "may not load BPF programs: "), "%s", r.err);
	cr_expect_null(strstr(r.out, " refused "), "%s", r.out);
	cr_expect_eq(held(), 0);
	run_free(&r);
}

/* As by another thread: the limit holds from the first program on. */
Test(refusal, lack_of_descriptors_is_no_refusal_and_disables_no_feature)
{
	static const char *const programs[] = { "prof_mark_", NULL };
	struct run r;

	refused_err = EMFILE;
	r = record_without(programs, "-F", "99", live_path("f.bin"));
	cr_expect_eq(r.code, CMD_START);
	cr_expect_str_eq(r.err, "dial9-prof: record: too many open files; raise \"ulimit -n\"\n");
	cr_expect_eq(held(), 0);
	run_free(&r);
}

/* Runs it with at most @cnt open files. They are not released: tests are processes. */
static struct run with_files(rlim_t cnt, bool check)
{
	const struct rlimit lim = { cnt, cnt };

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &lim), 0);
	if (check)
		return run_cmd(cmd_check, dup(0), "check", NULL);
	return run_cmd(cmd_record, dup(0), "record", "-o", live_path("n.bin"), "-d", "0.1", "-a",
		       NULL);
}

/* The number of files that the one line of @r asks for. */
static unsigned files_needed(const struct run *r, const char *command)
{
	char want[256];
	unsigned cnt = 0;
	const char *to = strstr(r->err, "\" to ");

	cr_assert(to && sscanf(to, "\" to %u", &cnt) == 1, "%s", r->err);
	snprintf(
		want, sizeof(want),
		"dial9-prof: %s: too few open files are allowed; raise \"ulimit -n\" to %u or more\n",
		command, cnt);
	cr_expect_str_eq(r->err, want);
	return cnt;
}

static void expect_too_few(rlim_t cnt)
{
	struct run r = with_files(cnt, false);

	cr_expect_eq(r.code, CMD_START);
	cr_expect_gt(files_needed(&r, "record"), cnt);
	cr_expect_eq(held(), 0);
	run_free(&r);
}

Test(refusal, number_of_needed_descriptors_is_reported_before_opens_fail)
{
	static const rlim_t cnts[] = { 90, 64, 52, 44, 36 };

	for (size_t i = 0; i < sizeof(cnts) / sizeof(cnts[0]); i++)
		expect_too_few(cnts[i]);
}

/* In a child, which alone keeps the limit. */
static unsigned find_needed(void)
{
	unsigned cnt = 0;
	struct run r;
	int fds[2];

	cr_assert_eq(pipe(fds), 0);
	if (!fork()) {
		r = with_files(60, false);
		cnt = files_needed(&r, "record");
		_exit(write(fds[1], &cnt, sizeof(cnt)) != sizeof(cnt));
	}
	close(fds[1]);
	cr_assert_eq(read(fds[0], &cnt, sizeof(cnt)), sizeof(cnt));
	close(fds[0]);
	wait(NULL);
	return cnt;
}

/* The soft limit is raised by the recorder. */
Test(refusal, hard_limit_equal_to_the_needed_descriptors_is_enough)
{
	const unsigned cnt = find_needed();
	const struct rlimit lim = { 60, cnt };
	struct run r;

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &lim), 0);
	r = run_cmd(cmd_record, dup(0), "record", "-o", live_path("n.bin"), "-d", "0.1", "-a",
		    NULL);
	cr_expect_eq(r.code, CMD_OK, "%s", r.err);
	cr_expect_null(strstr(r.err, "open files"), "%s", r.err);
	cr_expect_null(strstr(r.err, "refused"), "%s", r.err);
	run_free(&r);
}

Test(refusal, check_reports_a_limit_of_open_files_that_is_too_low)
{
	struct run r = with_files(52, true);

	cr_expect_eq(r.code, CMD_START);
	cr_expect_gt(files_needed(&r, "check"), 52);
	cr_expect(strstr(r.out, "\nmissing  open files             limit is too low: "
				"\"ulimit -n\" is 52\n"),
		  "%s", r.out);
	cr_expect(strstr(r.out, "\nRecording cannot start.\n"), "%s", r.out);
	run_free(&r);
}

Test(refusal, too_small_stack_is_reported)
{
	struct rlimit lim = { 127 << 10, RLIM_INFINITY };
	struct run r;

	cr_assert_eq(setrlimit(RLIMIT_STACK, &lim), 0);
	r = run_cmd(cmd_record, dup(0), "record", "-o", live_path("s.bin"), "-d", "0.1", "-a",
		    NULL);
	cr_expect_eq(r.code, CMD_START);
	cr_expect_str_eq(r.err, "dial9-prof: record: a stack of 127 KiB is too small; raise "
				"\"ulimit -s\" to at least 128\n");
	run_free(&r);
}

static struct run check_without(const char *program)
{
	const char *const programs[] = { program, NULL };
	struct run r;

	refused = programs;
	r = run_cmd(cmd_check, dup(0), "check", NULL);
	refused = NULL;
	cr_expect_eq(held(), 0);
	return r;
}

Test(refusal, check_names_the_option_whose_program_is_refused)
{
	struct run r = check_without("prof_wait_wakeu");

	cr_expect_eq(r.code, CMD_OK);
	cr_expect(strstr(r.out,
			 "\nlimited  --neighbours           refused: prof_wait_wakeup: " REASON
			 "\n         without it: no record of who ran instead\n"
			 "         fix: please report the output of dial9-prof check "
			 "--programs -v\n"),
		  "%s", r.out);
	cr_expect(strstr(r.out, "\nok       record -a "), "%s", r.out);
	cr_expect(strstr(r.out, "\nok       --summary "), "%s", r.out);
	cr_expect(strstr(r.out, "\nRecording can start.\n"), "%s", r.out);
	run_free(&r);
}

Test(refusal, check_names_the_option_that_can_still_record)
{
	struct run r = check_without("prof_sched_swit");

	cr_expect_eq(r.code, CMD_OK);
	cr_expect(strstr(r.out, "\nlimited  record -a              refused: prof_sched_switch: "),
		  "%s", r.out);
	cr_expect(strstr(r.out, "\nlimited  --neighbours           refused, like record -a\n"),
		  "%s", r.out);
	cr_expect(strstr(r.out, "\nRecording can start with --no-sched.\n"), "%s", r.out);
	run_free(&r);
	r = check_without("prof_");
	cr_expect_eq(r.code, CMD_START);
	cr_expect(strstr(r.out, "\nmissing  record -a "), "%s", r.out);
	cr_expect(strstr(r.out, "\nRecording cannot start.\n"), "%s", r.out);
	run_free(&r);
}

Test(refusal, check_names_a_feature_that_the_default_records_without)
{
	struct run r = check_without("prof_sample");

	cr_expect_eq(r.code, CMD_OK);
	cr_expect(strstr(r.out, "\nlimited  record -a              without CPU samples\n"), "%s",
		  r.out);
	cr_expect(strstr(r.out, "\nRecording can start.\n"), "%s", r.out);
	run_free(&r);
}

Test(refusal, check_programs_names_each_refused_program_and_tries_the_rest)
{
	static const char *const programs[] = { "prof_sched_swit", "prof_sample", NULL };
	struct run r;

	refused = programs;
	r = run_cmd(cmd_check, dup(0), "check", "--programs=default", NULL);
	cr_expect_eq(r.code, CMD_START);
	cr_expect(strstr(r.out,
			 "prof_sched_switch                    refused          " REASON "\n"),
		  "%s", r.out);
	cr_expect(strstr(r.out,
			 "prof_sample                          refused          " REASON "\n"),
		  "%s", r.out);
	cr_expect(strstr(r.out, "prof_sched_migrate                   ok "), "%s", r.out);
	cr_expect_null(strstr(r.out, "processed"), "%s", r.out);
	run_free(&r);
	r = run_cmd(cmd_check, dup(0), "check", "--programs=default", "-v", NULL);
	cr_expect(strstr(r.out, REASON "\n0: (bf) r8 = r1\n" REASON "\nprocessed 12 insns"), "%s",
		  r.out);
	run_free(&r);
	cr_expect_eq(held(), 0);
}

Test(refusal, check_programs_loads_every_program_here)
{
	struct run r = run_cmd(cmd_check, dup(0), "check", "--programs=*", "--json", NULL);

	cr_expect_eq(r.code, CMD_OK, "%s", r.out);
	cr_expect(strstr(r.out, "\"refused\":0,\"skipped\":0,"), "%.200s", r.out);
	cr_expect_null(strstr(r.out, "\"loaded\":false"));
	run_free(&r);
}
