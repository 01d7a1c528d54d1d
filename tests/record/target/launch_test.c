// SPDX-License-Identifier: BSD-2-Clause
/* A command that waits to be released, runs like from a shell, and reports its end. */
#include "record/target/launch.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/record/command.h"
#include "tests/record/support.h"

Test(launch, exit_status_of_the_command_is_passed_on)
{
	cr_expect_eq(run("exit 0", true), 0);
	cr_expect_eq(run("exit 7", true), 7);
	cr_expect_eq(run("exit 255", true), 255);
}

Test(launch, end_by_a_signal_has_the_exit_status_of_a_shell)
{
	cr_expect_eq(run("kill -TERM $$", true), 128 + SIGTERM);
	cr_expect_eq(run("kill -KILL $$", true), 128 + SIGKILL);
}

Test(launch, command_does_not_run_before_it_is_released)
{
	char path[] = "/tmp/d9-launch-XXXXXX";
	struct buf script = { 0 };
	struct launch *l;
	int status, i;

	close(mkstemp(path));
	unlink(path);
	buf_printf(&script, "touch %s", path);
	l = launch(buf_cstr(&script), true);
	for (i = 0; i < 20; i++)
		nap();
	cr_expect_neq(access(path, F_OK), 0);
	cr_expect_eq(kill(launch_pid(l), 0), 0, "but it is there");
	cr_expect_not(launch_ended(l, &status));
	cr_assert_eq(launch_go(l), 0);
	cr_expect_eq(status_of(l), 0);
	cr_expect_eq(access(path, F_OK), 0);
	unlink(path);
	launch_free(l);
	buf_free(&script);
}

Test(launch, output_of_a_command_is_kept_out_of_a_trace_on_standard_output)
{
	char *const argv[] = { (char *)"echo", (char *)"printed", NULL };
	struct launch *l = NULL;
	int status;

	support_catch_stderr();
	cr_assert_eq(launch_new(argv, true, true, &l), 0);
	cr_assert_eq(launch_go(l), 0);
	status = status_of(l);
	cr_expect_str_eq(support_stderr(), "printed\n");
	cr_expect_eq(status, 0);
	launch_free(l);
}

Test(launch, missing_command_is_one_error_line)
{
	char *const argv[] = { (char *)"/no/such/command", NULL };
	struct launch *l = NULL;
	const char *output;
	int err;

	cr_assert_eq(launch_new(argv, true, false, &l), 0);
	support_catch_stderr();
	err = launch_go(l);
	output = support_stderr();
	cr_expect_eq(err, -ENOENT);
	cr_expect_str_eq(output,
			 "dial9-prof: record: cannot start '/no/such/command': No such file or "
			 "directory\n");
	launch_free(l);
}

Test(launch, file_that_is_no_program_is_one_error_line)
{
	char *const argv[] = { (char *)"/dev/null", NULL };
	struct launch *l = NULL;
	const char *output;
	int err;

	cr_assert_eq(launch_new(argv, true, false, &l), 0);
	support_catch_stderr();
	err = launch_go(l);
	output = support_stderr();
	cr_expect_eq(err, -EACCES);
	cr_expect_str_eq(output,
			 "dial9-prof: record: cannot start '/dev/null': Permission denied\n");
	launch_free(l);
}

Test(launch, command_that_is_never_released_ends_without_running)
{
	char path[] = "/tmp/d9-launch-XXXXXX";
	struct buf script = { 0 };
	struct launch *l;
	pid_t pid;

	close(mkstemp(path));
	unlink(path);
	buf_printf(&script, "touch %s", path);
	l = launch(buf_cstr(&script), true);
	pid = launch_pid(l);
	launch_free(l);
	cr_expect_eq(kill(pid, 0), -1);
	cr_expect_neq(access(path, F_OK), 0);
	buf_free(&script);
}

/* Processes forked in between hold the pipe's ends too, such as those that detach tracepoints. */
Test(launch, unreleased_command_ends_even_if_other_processes_hold_its_pipe, .timeout = 20)
{
	struct launch *l = launch("exit 0", true);
	pid_t holder = fork();

	if (!holder) {
		pause();
		_exit(0);
	}
	launch_free(l);
	kill(holder, SIGKILL);
	cr_expect_eq(waitpid(holder, NULL, 0), holder);
}

Test(launch, command_killed_before_its_release_is_an_error_and_sends_no_signal)
{
	struct launch *l = launch("exit 0", true);
	const char *output;
	siginfo_t info;

	signal(SIGPIPE, SIG_IGN);
	kill(launch_pid(l), SIGKILL);
	waitid(P_PID, launch_pid(l), &info, WEXITED | WNOWAIT);
	support_catch_stderr();
	cr_expect_eq(launch_go(l), -EINTR);
	output = support_stderr();
	cr_expect_str_eq(output,
			 "dial9-prof: record: cannot start 'sh': Interrupted system call\n");
	cr_expect_eq(status_of(l), 128 + SIGKILL);
	launch_free(l);
}

/* The recorder ignores SIGPIPE and blocks or catches others; a command must not be affected. */
Test(launch, command_has_the_default_signal_state)
{
	sigset_t all;
	int status, too_large;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	status = run("kill -PIPE $$; exit 3", true);
	too_large = run("ulimit -c 0; kill -XFSZ $$; exit 3", true);
	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	cr_expect_eq(status, 128 + SIGPIPE);
	cr_expect_eq(too_large, 128 + SIGXFSZ);
}

Test(launch, command_inherits_no_extra_descriptor)
{
	static const char script[] = "ls /proc/self/fd | wc -l | { read n; exit $n; }";
	int plain = system(script);

	cr_assert_gt(WEXITSTATUS(plain), 3);
	cr_expect_eq(run(script, true), WEXITSTATUS(plain));
}

/* ---- the search in PATH ------------------------------------------------------------------------------ */

static void put_script(const char *dir, const char *text)
{
	struct buf path = { 0 };
	FILE *f;

	buf_printf(&path, "%s/d9-searched", dir);
	f = fopen(buf_cstr(&path), "w");
	cr_assert_not_null(f);
	fputs(text, f);
	fclose(f);
	cr_assert_eq(chmod(buf_cstr(&path), 0755), 0);
	buf_free(&path);
}

static void remove_script(const char *dir)
{
	struct buf path = { 0 };

	buf_printf(&path, "%s/d9-searched", dir);
	unlink(buf_cstr(&path));
	buf_free(&path);
}

/* The system call that a process is in, as in /proc. */
static long syscall_of(pid_t pid)
{
	struct buf path = { 0 };
	long nr = -1;
	FILE *f;

	buf_printf(&path, "/proc/%d/syscall", (int)pid);
	f = fopen(buf_cstr(&path), "r");
	if (f && fscanf(f, "%ld", &nr) != 1)
		nr = -1;
	if (f)
		fclose(f);
	buf_free(&path);
	return nr;
}

/* d9-searched from the second of two directories; its exit status. @change: while it waits. */
static int run_searched(const char *text, void (*change)(const char *first, const char *second))
{
	char first[] = "/tmp/d9-first-XXXXXX", second[] = "/tmp/d9-second-XXXXXX";
	char *const argv[] = { (char *)"d9-searched", NULL };
	struct buf path = { 0 };
	struct launch *l = NULL;
	int status;

	cr_assert(mkdtemp(first) && mkdtemp(second));
	put_script(second, text);
	buf_printf(&path, "%s:%s:/usr/bin:/bin", first, second);
	setenv("PATH", buf_cstr(&path), 1);
	cr_assert_eq(launch_new(argv, true, false, &l), 0);
	for (int i = 0; i < 500 && syscall_of(launch_pid(l)) != SYS_read; i++)
		nap();
	if (change)
		change(first, second);
	status = launch_go(l);
	status = status ? status : status_of(l);
	launch_free(l);
	remove_script(first);
	remove_script(second);
	rmdir(first);
	rmdir(second);
	buf_free(&path);
	return status;
}

static void add_to_first(const char *first, const char *second)
{
	put_script(first, "#!/bin/sh\nexit 4\n");
}

static void move_to_first(const char *first, const char *second)
{
	add_to_first(first, second);
	remove_script(second);
}

static void remove_from_second(const char *first, const char *second)
{
	remove_script(second);
}

/* So that the trace has none of the search. */
Test(launch, program_is_found_before_the_release)
{
	cr_expect_eq(run_searched("#!/bin/sh\nexit 3\n", NULL), 3);
	cr_expect_eq(run_searched("#!/bin/sh\nexit 3\n", add_to_first), 3);
}

Test(launch, program_that_moved_is_searched_again)
{
	cr_expect_eq(run_searched("#!/bin/sh\nexit 3\n", move_to_first), 4);
	support_catch_stderr();
	cr_expect_eq(run_searched("#!/bin/sh\nexit 3\n", remove_from_second), -ENOENT);
	support_stderr();
}

Test(launch, script_without_an_interpreter_runs_in_the_shell)
{
	cr_expect_eq(run_searched("exit 5\n", NULL), 5);
}

/* ---- users ------------------------------------------------------------------------------------------- */

Test(launch, user_is_unchanged_without_sudo)
{
	struct buf script = { 0 };

	unsetenv("SUDO_UID");
	buf_printf(&script, "test $(id -u):$(id -g) = %d:%d", (int)geteuid(), (int)getegid());
	cr_expect_eq(run(buf_cstr(&script), false), 0);
	buf_free(&script);
}
