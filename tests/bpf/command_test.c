// SPDX-License-Identifier: BSD-2-Clause
/* What the user sees of a recording: how it ends, exit codes, messages, and whose the file is. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/proc.h"
#include "tests/bpf/support.h"

TestSuite(command, .fini = live_cleanup);

#define MS_NS 1000000ULL

enum { NOBODY = 65534 };

static void assert_printed_word(const struct live_proc *p, const char *word)
{
	struct buf text = live_errors(p);

	cr_assert(strstr(text.data, word), "no '%s' in: %s", word, text.data);
	cr_assert_eq(strchr(text.data, '\n'), text.data + text.len - 1, "not one line: %s",
		     text.data);
	buf_free(&text);
}

/* Fails with that code after one line with that word in it. */
static void assert_fails(const char *const *args, live_prepare_fn prepare, int code,
			 const char *word)
{
	struct live_proc p;
	int got = live_run(&p, args, prepare);

	cr_assert_eq(got, code, "exit code %d, not %d", got, code);
	assert_printed_word(&p, word);
	live_proc_fini(&p);
}

static void assert_command_code(const char *script, int code)
{
	const char *args[] = { "-q", "-o", live_path("c.bin"), "--", "/bin/sh", "-c", script, NULL };
	struct live_proc p;
	int got = live_run(&p, args, NULL);

	cr_assert_eq(got, code, "%s: exit code %d, not %d", script, got, code);
	live_proc_fini(&p);
}

/* ---- what cannot be done ----------------------------------------------------------------------- */

static pid_t pid_of_nobody(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

Test(command, missing_process_is_an_error_at_start)
{
	const char *args[] = { "-o", live_path("c.bin"), "-p", live_number(pid_of_nobody()), NULL };

	assert_fails(args, NULL, 2, "no process");
	cr_assert(access(live_path("c.bin"), F_OK), "a file was made for nothing");
}

Test(command, unknown_event_is_an_error_with_the_nearest_name)
{
	const char *args[] = { "-a", "-o", live_path("c.bin"), "-e", "sched:sched_swich", NULL };

	assert_fails(args, NULL, 2, "sched:sched_switch");
}

Test(command, output_that_cannot_be_created_exits_with_3)
{
	const char *args[] = { "-o", "/no/such/dir/c.bin", "--", "/bin/true", NULL };

	assert_fails(args, NULL, 3, "/no/such/dir/c.bin");
}

Test(command, full_output_exits_with_3)
{
	const char *args[] = { "-o", "/dev/full", "-d", "1", "-a", "--no-names", NULL };

	assert_fails(args, NULL, 3, "/dev/full");
}

static void small_files_only(void)
{
	const struct rlimit lim = { 65536, 65536 };

	setrlimit(RLIMIT_FSIZE, &lim);
}

Test(command, output_above_the_file_size_limit_exits_with_3)
{
	const char *args[] = { "-o", live_path("c.bin"), "-d", "20", "-a", "--no-names",
			       "-e", "timer:*",		 NULL };

	assert_fails(args, small_files_only, 3, "File too large");
}

Test(command, output_removed_during_the_recording_exits_with_3)
{
	const char *dir = live_path("gone"), *file = live_path("gone/c.bin");
	const char *argv[] = { live_built("dial9-prof"), "-o", file, "-a", "--no-names", NULL };
	const struct timespec step = { .tv_nsec = 1000000 };
	struct live_proc p;
	struct stat st;
	int code;

	cr_assert_eq(mkdir(dir, 0777), 0);
	live_spawn(&p, argv, NULL);
	while (stat(file, &st) || !st.st_size)
		nanosleep(&step, NULL);
	cr_assert_eq(unlink(file), 0);
	cr_assert_eq(rmdir(dir), 0);
	code = live_wait(&p);
	cr_expect_eq(code, 3, "exit code %d", code);
	assert_printed_word(&p, "the file was removed; ");
	live_proc_fini(&p);
}

/* ---- what the caller has set ------------------------------------------------------------------------ */

static void ignore_signals(void)
{
	signal(SIGCHLD, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
}

Test(command, ignored_sigchld_does_not_hide_the_end_of_the_command)
{
	const char *args[] = {
		"-q", "-o", live_path("c.bin"), "--", "/bin/sh", "-c", "exit 7", NULL
	};
	struct live_proc p;

	cr_expect_eq(live_run(&p, args, ignore_signals), 7);
	live_proc_fini(&p);
}

Test(command, hangup_does_not_end_a_recording_under_nohup)
{
	const char *script = "kill -HUP $PPID; sleep 0.3; exit 9";
	const char *args[] = { "-q", "-o", live_path("c.bin"), "--", "/bin/sh", "-c", script, NULL };
	struct live_proc p;

	cr_expect_eq(live_run(&p, args, ignore_signals), 9);
	live_proc_fini(&p);
}

static void block_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
}

/* The command waits for its input, which ends after the recorder has. */
Test(command, blocked_stop_signal_still_stops_the_recording)
{
	const char *script = "kill -INT $PPID; read x";
	const char *argv[] = { live_program(), "-q",   "-o", live_path("c.bin"), "--", "/bin/sh",
			       "-c",	       script, NULL };
	struct live_proc p;
	int status;

	live_spawn(&p, argv, block_signals);
	cr_assert_eq(waitpid(p.pid, &status, 0), p.pid);
	p.pid = 0;
	cr_expect_eq(status, 0);
	close(p.in);
	live_proc_fini(&p);
}

static void be_interrupted_at_start(void)
{
	block_signals();
	raise(SIGINT);
}

Test(command, interrupt_before_the_command_starts_cancels_it)
{
	const char *ran = live_path("ran");
	const char *argv[] = { live_program(), "-o", live_path("c.bin"), "--", "touch", ran, NULL };
	struct live_proc p;
	struct buf errors;

	live_spawn(&p, argv, be_interrupted_at_start);
	live_read_rest(&p);
	cr_expect_eq(live_wait(&p), 2);
	errors = live_errors(&p);
	cr_expect_str_eq(errors.data,
			 "dial9-prof: record: interrupted before 'touch' was started\n");
	cr_expect_neq(access(ran, F_OK), 0);
	cr_expect_neq(access(live_path("c.bin"), F_OK), 0);
	buf_free(&errors);
	live_proc_fini(&p);
}

static void be_badly_named(void)
{
	setenv("SUDO_UID", "l000", 1);
}

static void be_in_no_group(void)
{
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "4294967295", 1);
}

/* Without a user, it would run the command as root. */
Test(command, invalid_sudo_variables_are_refused)
{
	const char *args[] = {
		"-o", live_path("c.bin"), "--", "/bin/touch", live_path("ran"), NULL
	};
	const char *all[] = { "-o", live_path("c.bin"), "-d", "1", "-a", NULL };

	assert_fails(args, be_badly_named, 2, "SUDO_UID is 'l000'");
	assert_fails(args, be_in_no_group, 2, "SUDO_GID is '4294967295'");
	assert_fails(all, be_badly_named, 2, "SUDO_UID is 'l000'");
	cr_expect(access(live_path("ran"), F_OK), "the command ran");
	cr_expect(access(live_path("c.bin"), F_OK), "a file was made for nothing");
}

static void drop_to_nobody(void)
{
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		_exit(121);
}

Test(command, recording_without_privileges_prints_how_to_get_them)
{
	const char *args[] = { "-o", live_path("c.bin"), "--", "/bin/true", NULL };

	assert_fails(args, drop_to_nobody, 2, "sudo");
}

Test(command, command_that_cannot_be_started_exits_with_2)
{
	const char *args[] = { "-o", live_path("c.bin"), "--", "/no/such/program", NULL };

	assert_command_code("exit 0", 0);
	assert_fails(args, NULL, 2, "/no/such/program");
	cr_assert_neq(access(live_path("c.bin.old"), F_OK), 0, "the file before it is untouched");
}

/* ---- how it ends ------------------------------------------------------------------------------- */

Test(command, exit_status_of_the_command_is_passed_on)
{
	assert_command_code("exit 0", 0);
	assert_command_code("exit 1", 1);
	assert_command_code("exit 7", 7);
	assert_command_code("kill -9 $$", 128 + SIGKILL);
}

Test(command, end_of_the_target_ends_the_recording)
{
	struct live_proc sleeper;
	struct live_rec rec;

	live_stimulus(&sleeper, "sleeper", "10", NULL);
	live_record(&rec, "-p", live_number(sleeper.pid), NULL);
	live_recording(&rec);
	live_go(&sleeper);
	live_end(&sleeper);
	cr_assert_eq(live_finish(&rec), 0);
}

Test(command, duration_ends_the_recording)
{
	struct live_proc sleeper;
	struct live_trace lt;
	struct live_rec rec;
	struct trace_event ev;
	int64_t elapsed = 0;

	live_stimulus(&sleeper, "sleeper", NULL);
	live_record(&rec, "-d", "300ms", "-p", live_number(sleeper.pid), NULL);
	cr_assert_eq(live_finish(&rec), 0);
	live_open(&lt, rec.path, false);
	while (live_event(&lt, &ev))
		if (ev.kind == TRACE_STATS)
			elapsed = live_int(&ev, "elapsed_ns");
	live_close(&lt);
	cr_assert_geq(elapsed, (int64_t)(300 * MS_NS));
	kill(sleeper.pid, SIGKILL);
	live_proc_fini(&sleeper);
}

Test(command, interrupt_ends_the_recording_while_the_target_lives)
{
	struct live_proc sleeper;
	struct live_rec rec;

	live_stimulus(&sleeper, "sleeper", "100", NULL);
	live_record(&rec, "-p", live_number(sleeper.pid), NULL);
	live_recording(&rec);
	live_go(&sleeper);
	cr_assert_eq(live_stop(&rec), 0);
	live_end(&sleeper);
}

/* A shell does nothing itself. */
Test(command, summary_includes_cpu_time_of_the_commands_children)
{
	char script[600];
	const char *args[] = { "--progress", "-o", live_path("c.bin"), "--", "/bin/sh", "-c",
			       script,	     NULL };
	struct live_proc p;
	const char *at;
	struct buf text;

	snprintf(script, sizeof(script), "%s --now 50 300; exit 0", live_built("stimuli/spinner"));
	cr_assert_eq(live_run(&p, args, NULL), 0);
	text = live_errors(&p);
	at = strstr(text.data, "and its children: running ");
	cr_assert(at, "%s", text.data);
	cr_expect_geq(strtod(at + strlen("and its children: running "), NULL), 0.3, "%s",
		      text.data);
	buf_free(&text);
	live_proc_fini(&p);
}

Test(command, summary_without_inherit_names_the_recorded_threads)
{
	const char *args[] = { "--progress", "--no-inherit", "-o", live_path("c.bin"),
			       "--",	     "/bin/sh",	     "-c", "sleep 0.1; exit 0",
			       NULL };
	struct live_proc p;
	struct buf text;

	cr_assert_eq(live_run(&p, args, NULL), 0);
	text = live_errors(&p);
	cr_expect(strstr(text.data, "\n  recorded threads of process "), "%s", text.data);
	cr_expect_not(strstr(text.data, "all threads of"), "%s", text.data);
	buf_free(&text);
	live_proc_fini(&p);
}

/* ---- whose it is ------------------------------------------------------------------------------- */

static void be_sudo(void)
{
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
}

Test(command, file_and_command_belong_to_the_user_who_called_sudo)
{
	const char *args[] = { "-q",	  "-o", live_path("c.bin"), "--",
			       "/bin/sh", "-c", "id -u; id -g",	    NULL };
	struct live_proc p;
	struct stat st;

	cr_assert_eq(live_run(&p, args, be_sudo), 0);
	cr_assert_str_eq(p.output.data, "65534\n65534\n");
	cr_assert_eq(stat(live_path("c.bin"), &st), 0);
	cr_assert_eq(st.st_uid, NOBODY);
	cr_assert_eq(st.st_gid, NOBODY);
	cr_assert_eq(st.st_mode & 07777, 0600);
	live_proc_fini(&p);
}

Test(command, as_root_runs_the_command_as_root)
{
	const char *args[] = { "-q",	    "-o",    live_path("c.bin"),
			       "--as-root", "--",    "/bin/sh",
			       "-c",	    "id -u", NULL };
	struct live_proc p;

	cr_assert_eq(live_run(&p, args, be_sudo), 0);
	cr_assert_str_eq(p.output.data, "0\n");
	live_proc_fini(&p);
}

Test(command, older_file_with_the_same_name_is_kept)
{
	struct stat first, kept;

	assert_command_code("exit 0", 0);
	cr_assert_eq(stat(live_path("c.bin"), &first), 0);
	assert_command_code("exit 0", 0);
	cr_assert_eq(stat(live_path("c.bin.old"), &kept), 0);
	cr_assert_eq(first.st_ino, kept.st_ino);
}

/* The process that detaches the programs has the recorder's name, and is our child, since its parent has ended. */
static bool is_detaching(void)
{
	struct proc_stat stat;
	bool found = false;
	FILE *children;
	char path[64];
	pid_t pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	children = fopen(path, "r");
	cr_assert_not_null(children);
	while (fscanf(children, "%d", &pid) == 1)
		found |= !proc_read_stat(pid, &stat) && !strcmp(stat.comm, "dial9-prof") &&
			 stat.state != 'Z';
	fclose(children);
	return found;
}

/* Whether a reader sees the end before the programs are detached. */
static bool is_end_seen_early(const char *fifo)
{
	const char *argv[] = { live_built("dial9-prof"),
			       "-p",
			       live_number(getpid()),
			       "-qd0.2",
			       "-eirq:*,timer:*",
			       "-o",
			       fifo,
			       NULL };
	struct live_proc p;
	char bytes[4096];
	bool early;
	int fd = open(fifo, O_RDONLY | O_NONBLOCK);

	cr_assert_geq(fd, 0);
	/* nothing is read until the recorder has ended, so all that it writes must have room */
	cr_assert_geq(fcntl(fd, F_SETPIPE_SZ, 1 << 20), 1 << 20);
	live_spawn(&p, argv, NULL);
	cr_assert_eq(live_wait(&p), 0);
	fcntl(fd, F_SETFL, 0);
	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
	early = is_detaching();
	while (waitpid(-1, NULL, 0) > 0)
		;
	close(fd);
	live_proc_fini(&p);
	return early;
}

/* The kernel often takes 75 ms to detach a program, but not each time. */
Test(command, reader_of_a_pipe_gets_end_of_file_when_the_recorder_ends)
{
	char fifo[256];
	bool early = false;

	snprintf(fifo, sizeof(fifo), "%s", live_path("fifo"));
	cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	cr_assert_eq(mkfifo(fifo, 0600), 0);
	for (int tries = 0; tries < 20 && !early; tries++)
		early = is_end_seen_early(fifo);
	cr_expect(early);
}

Test(command, standard_output_can_be_piped_into_a_reader)
{
	char script[1200];
	const char *argv[] = { "/bin/sh", "-c", script, NULL };
	const char *program = live_built("dial9-prof");
	struct live_proc p;

	snprintf(script, sizeof(script), "%s -q -o - -- /bin/true | %s dump --json -", program,
		 program);
	live_spawn(&p, argv, NULL);
	live_read_rest(&p);
	cr_assert_eq(live_wait(&p), 0);
	cr_assert(strstr(p.output.data, "\"sched:sched_process_exec\",\"ts\""), "%.500s",
		  p.output.data);
	cr_assert(strstr(p.output.data, "\"RecorderStats\",\"ts\""));
	live_proc_fini(&p);
}

/* As perf record -a -- COMMAND does. */
Test(command, whole_system_is_recorded_until_the_command_ends)
{
	const char *script = "\"$0\" --now 30 1000; exit 3";
	const char *const args[] = { "-qao", live_path("all.bin"),	    "--", "/bin/sh", "-c",
				     script, live_built("stimuli/sleeper"), NULL };
	bool has_command = false, has_stranger = false;
	struct live_proc stranger, p;
	struct live_trace lt;
	struct trace_event ev;

	live_stimulus(&stranger, "sleeper", "1000000", "1000", NULL);
	cr_assert_eq(write(stranger.in, "\n", 1), 1);
	cr_expect_eq(live_run(&p, args, NULL), 3);
	live_proc_fini(&p);
	live_open(&lt, live_path("all.bin"), false);
	cr_expect_str_eq(names_meta(lt.names, 0, PROF_META_TARGET), "system");
	while (live_event(&lt, &ev)) {
		if (live_is(&ev, PROF_EV_SCHED_PROCESS_EXEC))
			has_command |= !strcmp(live_text(&lt, &ev, "filename"),
					       live_built("stimuli/sleeper"));
		if (ev.kind == TRACE_SCHED_SWITCH)
			has_stranger |= live_int(&ev, PROF_F_PREV_PID) == stranger.pid;
	}
	cr_expect(has_command);
	cr_expect(has_stranger);
	live_close(&lt);
	live_kill(&stranger);
}
