// SPDX-License-Identifier: BSD-2-Clause
/* Where the trace is written: new files, links that are not followed, pipes and devices. */
#include "base/out_file.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/record/support.h"

enum { NOBODY = (uid_t)-1 };

static char dir[] = "/tmp/d9-sink-XXXXXX";

static void setup(void)
{
	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(chdir(dir), 0);
}

static void teardown(void)
{
	static const char *const names[] = { "t.bin", "t.bin.old", "link",     "link.old",
					     "fifo",  "precious",  "sub/t.bin" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(names[i]);
	rmdir("sub");
	cr_expect_eq(rmdir(dir), 0, "nothing else was left behind");
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
}

static const char *read_file(const char *path)
{
	static char text[256];
	FILE *f = fopen(path, "r");

	cr_assert_not_null(f, "%s", path);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

static void write_sink(const char *path, const char *text)
{
	struct out_file *s = NULL;

	cr_assert_eq(out_file_open(path, NOBODY, NOBODY, &s), 0);
	cr_assert_eq(out_file_write(s, text, strlen(text)), 0);
	cr_assert_eq(out_file_close(s), 0);
}

Test(out_file, new_file_is_accessible_to_its_owner_only, .init = setup, .fini = teardown)
{
	struct stat st;

	umask(0);
	write_sink("t.bin", "trace");
	cr_assert_eq(stat("t.bin", &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0600);
	cr_expect_eq(st.st_uid, geteuid());
	cr_expect_str_eq(read_file("t.bin"), "trace");
}

Test(out_file, file_of_the_last_recording_is_kept_once, .init = setup, .fini = teardown)
{
	write_sink("t.bin", "one");
	write_sink("t.bin", "two");
	cr_expect_str_eq(read_file("t.bin"), "two");
	cr_expect_str_eq(read_file("t.bin.old"), "one");
	write_sink("t.bin", "three");
	cr_expect_str_eq(read_file("t.bin"), "three");
	cr_expect_str_eq(read_file("t.bin.old"), "two");
}

Test(out_file, held_file_gets_its_name_when_it_is_whole, .init = setup, .fini = teardown)
{
	struct out_file *s = NULL;

	write_file("t.bin", "older");
	cr_assert_eq(out_file_open("t.bin", NOBODY, NOBODY, &s), 0);
	out_file_hold(s);
	cr_expect_eq(out_file_write(s, "half", 4), 0);
	cr_expect_str_eq(read_file("t.bin"), "older");
	/* a file without data is removed */
	cr_expect_eq(out_file_close(s), 0);
	cr_expect_str_eq(read_file("t.bin"), "older");
	cr_assert_eq(out_file_open("t.bin", NOBODY, NOBODY, &s), 0);
	out_file_hold(s);
	cr_expect_eq(out_file_write(s, "whole", 5), 0);
	cr_expect_eq(out_file_commit(s), 0);
	cr_expect_eq(out_file_close(s), 0);
	cr_expect_str_eq(read_file("t.bin"), "whole");
	cr_expect_str_eq(read_file("t.bin.old"), "older");
}

Test(out_file, removed_file_accepts_no_more_data, .init = setup, .fini = teardown)
{
	struct out_file *s = NULL;
	const char *output;

	cr_assert_eq(out_file_open("t.bin", NOBODY, NOBODY, &s), 0);
	cr_assert_eq(out_file_write(s, "one", 3), 0);
	unlink("t.bin");
	support_catch_stderr();
	cr_expect_eq(out_file_write(s, "two", 3), -EIDRM);
	output = support_stderr();
	cr_expect_str_eq(
		output,
		"dial9-prof: cannot write t.bin: the file was removed; the recording is lost\n");
	out_file_close(s);
}

Test(out_file, renamed_file_accepts_more_data, .init = setup, .fini = teardown)
{
	struct stat st;
	char *expected;
	struct out_file *s = NULL;

	cr_assert_eq(out_file_open("t.bin", NOBODY, NOBODY, &s), 0);
	cr_assert_eq(out_file_write(s, "one", 3), 0);
	cr_assert_eq(rename("t.bin", "t.bin.old"), 0);
	write_file("t.bin", "another");
	cr_expect_eq(out_file_write(s, "two", 3), 0);
	support_catch_stderr();
	cr_expect_eq(out_file_close(s), 0);
	cr_assert_eq(stat("t.bin.old", &st), 0);
	cr_assert(asprintf(&expected,
			   "dial9-prof: t.bin was renamed by another process; the data is in the "
			   "file with inode %llu\n",
			   (unsigned long long)st.st_ino) > 0);
	cr_expect_str_eq(support_stderr(), expected);
	cr_expect_str_eq(read_file("t.bin.old"), "onetwo");
	free(expected);
}

/* A mistyped command, twice in a row. */
Test(out_file, recording_that_wrote_nothing_keeps_the_older_file, .init = setup, .fini = teardown)
{
	struct out_file *s = NULL;
	int i;

	write_sink("t.bin", "one");
	write_sink("t.bin", "two");
	for (i = 0; i < 2; i++) {
		cr_assert_eq(out_file_open("t.bin", NOBODY, NOBODY, &s), 0);
		cr_assert_eq(out_file_close(s), 0);
	}
	cr_expect_str_eq(read_file("t.bin"), "two");
	cr_expect_str_eq(read_file("t.bin.old"), "one");
}

/* A recorder that is killed before it has written anything leaves no file. */
Test(out_file, file_without_data_has_no_name, .init = setup, .fini = teardown)
{
	struct out_file *s = NULL;
	struct dirent *ent;
	DIR *here;
	int fd = open(".", O_TMPFILE | O_WRONLY, 0600);

	if (fd < 0)
		cr_skip_test("no files without names here: %s", strerror(errno));
	close(fd);
	write_file("precious", "older");
	cr_assert_eq(out_file_open("precious", NOBODY, NOBODY, &s), 0);
	here = opendir(".");
	cr_assert_not_null(here);
	while ((ent = readdir(here)))
		cr_expect(*ent->d_name == '.' || !strcmp(ent->d_name, "precious"), "%s",
			  ent->d_name);
	closedir(here);
	cr_expect_eq(out_file_close(s), 0);
	cr_expect_str_eq(read_file("precious"), "older");
}

/* As with files of other users where links to them are protected, and we do not own them. */
static void give_up_power_over_files(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	data[0].effective = data[0].permitted = 1U << CAP_CHOWN;
	if (syscall(SYS_capset, &header, data))
		_exit(2);
}

Test(out_file, file_is_created_with_its_name_if_it_cannot_be_linked_later, .init = setup,
     .fini = teardown)
{
	struct out_file *s = NULL;
	struct stat st;
	int status;
	pid_t pid;

	if (geteuid())
		cr_skip_test("files of others are made by root");
	pid = fork();
	cr_assert_geq(pid, 0);
	if (!pid) {
		give_up_power_over_files();
		if (out_file_open("t.bin", 1, 2, &s) || out_file_write(s, "tra", 3) ||
		    out_file_write(s, "ce", 2) || out_file_close(s))
			_exit(1);
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0);
	cr_expect_str_eq(read_file("t.bin"), "trace");
	cr_assert_eq(stat("t.bin", &st), 0);
	cr_expect(st.st_uid == 1 && st.st_gid == 2 && (st.st_mode & 07777) == 0600);
}

Test(out_file, symlink_is_renamed_and_never_followed, .init = setup, .fini = teardown)
{
	struct stat st;

	write_file("precious", "keep");
	cr_assert_eq(symlink("precious", "link"), 0);
	write_sink("link", "trace");
	cr_expect_str_eq(read_file("precious"), "keep");
	cr_expect_str_eq(read_file("link"), "trace");
	cr_assert_eq(lstat("link", &st), 0);
	cr_expect(S_ISREG(st.st_mode));
	cr_assert_eq(lstat("link.old", &st), 0);
	cr_expect(S_ISLNK(st.st_mode));
}

Test(out_file, dangling_symlink_creates_no_file_at_its_target, .init = setup, .fini = teardown)
{
	cr_assert_eq(symlink("precious", "link"), 0);
	write_sink("link", "trace");
	cr_expect_neq(access("precious", F_OK), 0);
	cr_expect_str_eq(read_file("link"), "trace");
}

Test(out_file, pipe_is_written_to_directly, .init = setup, .fini = teardown)
{
	char got[16] = "";
	struct stat st;
	int fd;

	cr_assert_eq(mkfifo("fifo", 0600), 0);
	fd = open("fifo", O_RDONLY | O_NONBLOCK);
	write_sink("fifo", "trace");
	cr_expect_eq(read(fd, got, sizeof(got)), 5);
	cr_expect_str_eq(got, "trace");
	close(fd);
	cr_assert_eq(stat("fifo", &st), 0);
	cr_expect(S_ISFIFO(st.st_mode));
	cr_expect_neq(access("fifo.old", F_OK), 0);
}

/* Standard output is redirected to a file. Root becomes an unprivileged user, who can do no harm in /dev. */
static void write_as_output(const char *path, const char *text)
{
	int saved = dup(STDOUT_FILENO), fd = open("precious", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	dup2(fd, STDOUT_FILENO);
	if (!geteuid())
		cr_assert_eq(seteuid(65534), 0);
	write_sink(path, text);
	if (!getuid())
		cr_assert_eq(seteuid(0), 0);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(fd);
}

Test(out_file, dash_is_standard_output_and_stays_open, .init = setup, .fini = teardown)
{
	write_as_output("-", "trace");
	cr_expect_str_eq(read_file("precious"), "trace");
	cr_expect_neq(access("-", F_OK), 0);
}

/* These are links, and the ones below /dev are the system's: renaming them would be a disaster. */
Test(out_file, names_of_open_descriptors_mean_those_descriptors, .init = setup, .fini = teardown)
{
	static const char *const names[] = { "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1" };
	struct stat st;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		write_as_output(names[i], names[i]);
		cr_expect_str_eq(read_file("precious"), names[i]);
	}
	cr_assert_eq(lstat("/dev/stdout", &st), 0);
	cr_expect(S_ISLNK(st.st_mode));
}

static void expect_open_error(const char *path, int want, const char *line)
{
	struct out_file *s = NULL;
	const char *output;
	int err;

	support_catch_stderr();
	err = out_file_open(path, NOBODY, NOBODY, &s);
	output = support_stderr();
	cr_expect_eq(err, want, "%s: %d", path, err);
	cr_expect_null(s);
	cr_expect_str_eq(output, line);
}

Test(out_file, failed_open_prints_one_line_with_the_remedy, .init = setup, .fini = teardown)
{
	expect_open_error("no/such/dir/t.bin", -ENOENT,
			  "dial9-prof: cannot write no/such/dir/t.bin: No such file or "
			  "directory; choose another file with -o\n");
	cr_assert_eq(mkdir("sub", 0700), 0);
	expect_open_error(
		"sub", -EISDIR,
		"dial9-prof: cannot write sub: Is a directory; choose another file with -o\n");
	cr_assert_eq(mkdir("link.old", 0700), 0);
	expect_open_error(
		"link", -EISDIR,
		"dial9-prof: cannot write link.old: Is a directory; choose another file with -o\n");
	cr_expect_neq(access("link", F_OK), 0);
	rmdir("link.old");
	expect_open_error("/dev/fd/999", -EBADF,
			  "dial9-prof: cannot write /dev/fd/999: Bad file descriptor\n");
	expect_open_error("/dev/fd/x", -EBADF,
			  "dial9-prof: cannot write /dev/fd/x: Bad file descriptor\n");
}

Test(out_file, failed_open_closes_no_other_descriptor, .init = setup, .fini = teardown)
{
	struct out_file *s = NULL;
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	cr_assert_geq(dup2(nothing, STDIN_FILENO), 0);
	support_catch_stderr();
	cr_expect_eq(out_file_open("no/such/directory", -1, -1, &s), -ENOENT);
	support_stderr();
	cr_expect_geq(fcntl(STDIN_FILENO, F_GETFD), 0);
	close(nothing);
}

Test(out_file, older_trace_that_cannot_be_kept_is_not_lost, .init = setup, .fini = teardown)
{
	struct out_file *s = NULL;
	char got[8] = "";
	int fd = open("t.bin", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	cr_assert_eq(write(fd, "older", 5), 5);
	close(fd);
	cr_assert_eq(out_file_open("t.bin", -1, -1, &s), 0);
	cr_assert_eq(mkdir("t.bin.old", 0700), 0);
	support_catch_stderr();
	cr_expect_eq(out_file_write(s, "newer", 5), -EISDIR);
	support_stderr();
	cr_expect_eq(out_file_close(s), 0);
	fd = open("t.bin", O_RDONLY | O_CLOEXEC);
	cr_expect_eq(read(fd, got, sizeof(got)), 5);
	cr_expect_str_eq(got, "older");
	close(fd);
	rmdir("t.bin.old");
}

Test(out_file, full_disk_prints_one_line_for_any_number_of_attempts)
{
	struct out_file *s = NULL;
	const char *output;
	int i;

	cr_assert_eq(out_file_open("/dev/full", NOBODY, NOBODY, &s), 0);
	support_catch_stderr();
	for (i = 0; i < 3; i++)
		cr_expect_eq(out_file_write(s, "x", 1), -ENOSPC);
	cr_expect_eq(out_file_close(s), 0, "it was said already");
	output = support_stderr();
	cr_expect_str_eq(output, "dial9-prof: cannot write /dev/full: No space left on device\n");
}

static int retry_thrice(void *ctx, int err)
{
	int *asked = ctx;

	cr_expect_eq(err, -ENOSPC);
	return ++*asked < 3 ? 0 : err;
}

Test(out_file, write_to_a_full_disk_is_retried_while_the_callback_asks_for_it)
{
	struct out_file *s = NULL;
	int asked = 0;

	cr_assert_eq(out_file_open("/dev/full", NOBODY, NOBODY, &s), 0);
	out_file_set_full(s, retry_thrice, &asked);
	support_catch_stderr();
	cr_expect_eq(out_file_write(s, "x", 1), -ENOSPC);
	cr_expect_eq(asked, 3);
	cr_expect_eq(out_file_close(s), 0);
	cr_expect_str_eq(support_stderr(),
			 "dial9-prof: cannot write /dev/full: No space left on device\n");
}

Test(out_file, cut_file_gets_an_end, .init = setup, .fini = teardown)
{
	struct out_file *s = NULL;

	cr_assert_eq(out_file_open("t.bin", NOBODY, NOBODY, &s), 0);
	cr_assert_eq(out_file_write(s, "whole torn", 10), 0);
	out_file_cut(s, 6, "end", 3);
	cr_expect(!out_file_is_good(s));
	cr_expect_eq(out_file_close(s), 0);
	cr_expect_str_eq(read_file("t.bin"), "whole end");
}

/* Two writes of two bytes to a file with a size limit. The limit applies to files; stderr is no file. */
static void expect_full(rlim_t bytes, bool taken, const char *line)
{
	struct rlimit lim = { .rlim_cur = bytes, .rlim_max = RLIM_INFINITY };
	int saved = dup(STDERR_FILENO), ends[2], err;
	struct out_file *s = NULL;
	char output[256] = "";

	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(pipe(ends), 0);
	if (taken)
		s = out_file_adopt_file(open("t.bin", O_CREAT | O_WRONLY, 0600), "u.bin");
	else
		cr_assert_eq(out_file_open("t.bin", NOBODY, NOBODY, &s), 0);
	dup2(ends[1], STDERR_FILENO);
	setrlimit(RLIMIT_FSIZE, &lim);
	err = out_file_write(s, "ab", 2);
	err = err ? err : out_file_write(s, "cd", 2);
	lim.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &lim);
	dup2(saved, STDERR_FILENO);
	cr_expect_eq(err, -EFBIG);
	cr_expect_eq(out_file_close(s), 0, "it was said already");
	cr_expect_gt(read(ends[0], output, sizeof(output) - 1), 0);
	cr_expect_str_eq(output, line);
	close(saved);
	close(ends[0]);
	close(ends[1]);
}

Test(out_file, file_too_large_error_promises_flushed_data, .init = setup, .fini = teardown)
{
	expect_full(
		3, false,
		"dial9-prof: cannot write t.bin: File too large; the file is readable up to its last flush\n");
	cr_expect_str_eq(read_file("t.bin"), "abc");
}

Test(out_file, full_disk_error_prints_the_final_name_of_the_file, .init = setup, .fini = teardown)
{
	expect_full(
		3, true,
		"dial9-prof: cannot write u.bin: File too large; the file is readable up to its last flush\n");
	cr_expect_str_eq(read_file("t.bin"), "abc");
}

Test(out_file, file_too_large_error_of_an_empty_file_promises_no_data, .init = setup,
     .fini = teardown)
{
	expect_full(0, false, "dial9-prof: cannot write t.bin: File too large\n");
}

Test(out_file, reader_that_closed_the_pipe_prints_no_error)
{
	int saved = dup(STDOUT_FILENO), ends[2];
	struct out_file *s = NULL;
	const char *output;

	signal(SIGPIPE, SIG_IGN);
	cr_assert_eq(pipe(ends), 0);
	dup2(ends[1], STDOUT_FILENO);
	cr_assert_eq(out_file_open("-", NOBODY, NOBODY, &s), 0);
	dup2(saved, STDOUT_FILENO);
	close(ends[0]);
	close(ends[1]);
	support_catch_stderr();
	cr_expect_eq(out_file_write(s, "x", 1), -EPIPE);
	out_file_close(s);
	output = support_stderr();
	cr_expect_str_eq(output, "");
	close(saved);
}

static void on_alarm(int sig)
{
}

/* A pipe takes 64 KiB at a time, and signals interrupt the write: every byte must arrive. */
Test(out_file, large_write_is_whole_in_spite_of_short_writes_and_signals, .init = setup,
     .fini = teardown)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	enum { BYTES = 3000000 };
	char *data = malloc(BYTES), *got = malloc(BYTES + 1);
	struct out_file *s = NULL;
	size_t i;
	pid_t pid;
	int fd;

	for (i = 0; i < BYTES; i++)
		data[i] = (char)(i * 31 >> 3);
	cr_assert_eq(mkfifo("fifo", 0600), 0);
	pid = fork();
	if (!pid) {
		execlp("sh", "sh", "-c", "exec 3<fifo; sleep 0.1; cat <&3 >precious", (char *)NULL);
		_exit(127);
	}
	sigaction(SIGALRM, &sa, NULL);
	cr_assert_eq(out_file_open("fifo", NOBODY, NOBODY, &s), 0);
	ualarm(3000, 3000);
	cr_assert_eq(out_file_write(s, data, BYTES), 0);
	ualarm(0, 0);
	out_file_close(s);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	fd = open("precious", O_RDONLY);
	cr_expect_eq(read(fd, got, BYTES + 1), BYTES);
	cr_expect(!memcmp(got, data, BYTES));
	close(fd);
	free(got);
	free(data);
}

/* No process can read it in this way, so it is not waited for. */
Test(out_file, socket_is_refused_at_once, .init = setup, .fini = teardown)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = "socket" };
	struct out_file *s = NULL;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	cr_redirect_stderr();
	cr_assert_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	cr_expect_eq(out_file_open_within("socket", NOBODY, NOBODY, 100000000000, &s),
		     -EPROTONOSUPPORT);
	fflush(stderr);
	cr_assert_stderr_eq_str("dial9-prof: cannot write socket: it is a socket; record -o "
				"unix:socket connects to it\n");
	unlink("socket");
	close(fd);
}

Test(out_file, open_waits_for_a_reader_of_a_fifo_on_request, .init = setup, .fini = teardown)
{
	struct out_file *s = NULL;
	int fd;

	cr_redirect_stderr();
	cr_assert_eq(mkfifo("fifo", 0600), 0);
	cr_expect_eq(out_file_open_within("fifo", NOBODY, NOBODY, 1000, &s), -ENXIO);
	fflush(stderr);
	cr_assert_stderr_eq_str("dial9-prof: cannot write fifo: no process reads it; start the "
				"reader first\n");
	fd = open("fifo", O_RDONLY | O_NONBLOCK);
	cr_assert_eq(out_file_open_within("fifo", NOBODY, NOBODY, 1000, &s), 0);
	cr_expect(out_file_has_reader(s));
	cr_expect_eq(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	out_file_close(s);
	close(fd);
}

static void expect_in_use(void)
{
	fflush(stderr);
	cr_assert_stderr_eq_str("dial9-prof: another dial9-prof is writing t.bin; choose another "
				"-o\n");
}

Test(out_file, file_that_another_process_writes_is_refused_at_the_start, .init = setup,
     .fini = teardown)
{
	struct out_file *first = NULL, *second = NULL;

	cr_redirect_stderr();
	cr_assert_eq(out_file_open("t.bin", NOBODY, NOBODY, &first), 0);
	cr_assert_eq(out_file_write(first, "first", 5), 0);
	cr_expect_eq(out_file_open("t.bin", NOBODY, NOBODY, &second), -ETXTBSY);
	expect_in_use();
	cr_expect_str_eq(read_file("t.bin"), "first");
	cr_expect_eq(access("t.bin.old", F_OK), -1);
	cr_expect_eq(out_file_close(first), 0);
	cr_assert_eq(out_file_open("t.bin", NOBODY, NOBODY, &second), 0, "closed: no lock");
	cr_expect_eq(out_file_write(second, "second", 6), 0);
	cr_expect_eq(out_file_close(second), 0);
	cr_expect_str_eq(read_file("t.bin.old"), "first");
}

Test(out_file, first_of_two_concurrent_writers_gets_the_name, .init = setup, .fini = teardown)
{
	struct out_file *first = NULL, *second = NULL;

	cr_redirect_stderr();
	cr_assert_eq(out_file_open("t.bin", NOBODY, NOBODY, &first), 0);
	cr_assert_eq(out_file_open("t.bin", NOBODY, NOBODY, &second), 0);
	cr_assert_eq(out_file_write(second, "second", 6), 0);
	cr_expect_eq(out_file_write(first, "first", 5), -ETXTBSY);
	expect_in_use();
	out_file_close(first);
	cr_expect_eq(out_file_close(second), 0);
	cr_expect_str_eq(read_file("t.bin"), "second");
	cr_expect_eq(access("t.bin.old", F_OK), -1);
}

Test(out_file, killed_writer_leaves_no_lock, .init = setup, .fini = teardown)
{
	struct out_file *s = NULL;
	pid_t pid = fork();

	if (!pid) {
		if (!out_file_open("t.bin", NOBODY, NOBODY, &s))
			out_file_write(s, "killed", 6);
		raise(SIGKILL);
	}
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_expect_str_eq(read_file("t.bin"), "killed");
	cr_assert_eq(out_file_open("t.bin", NOBODY, NOBODY, &s), 0);
	cr_expect_eq(out_file_close(s), 0);
}

Test(out_file, close_of_nothing_is_allowed)
{
	cr_expect_eq(out_file_close(NULL), 0);
}
