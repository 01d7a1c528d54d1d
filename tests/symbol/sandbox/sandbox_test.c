// SPDX-License-Identifier: BSD-2-Clause
/* A confined process tries what it must not be able to do. */
#include "symbol/sandbox/sandbox.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(sandbox, .timeout = 60);

static int drop_all_and_filter(void)
{
	int err = sandbox_drop_all();

	return err ? err : sandbox_filter();
}

static int search_only(void)
{
	return sandbox_only_look(50);
}

/* What attempt() returned in a confined child, or 128 and the signal that ended it. */
static int confined(int (*attempt)(void), int (*confine)(void))
{
	int sock[2], status;
	pid_t pid;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock), 0);
	pid = fork();
	if (!pid) {
		if (sandbox_detach(sock[1]) || confine())
			_exit(99);
		_exit(attempt());
	}
	close(sock[1]);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	close(sock[0]);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int do_nothing(void)
{
	return 7;
}

static int do_open(void)
{
	return open("/etc/passwd", O_RDONLY) < 0 ? 1 : 0;
}

static int do_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) < 0 ? 1 : 0;
}

static int do_connect(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	return connect(0, (struct sockaddr *)&sa, sizeof(sa)) ? 1 : 0;
}

static int do_exec(void)
{
	char *argv[] = { "/bin/true", NULL }, *envp[] = { NULL };

	return execve(argv[0], argv, envp) ? 1 : 0;
}

static int do_ptrace(void)
{
	return ptrace(PTRACE_ATTACH, getppid(), 0, 0) ? 1 : 0;
}

static int do_fork(void)
{
	return fork() < 0 ? 1 : 0;
}

static int do_kill(void)
{
	return syscall(SYS_kill, 1, 0) ? 1 : 0;
}

static int do_executable_memory(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED ?
		       1 :
		       0;
}

static int do_make_executable(void)
{
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mprotect(p, 4096, PROT_READ | PROT_EXEC) ? 1 : 0;
}

static int do_write(void)
{
	return write(3, "x", 1) < 0 ? 1 : 0;
}

static int do_process_vm(void)
{
	return syscall(SYS_process_vm_readv, 1, NULL, 0, NULL, 0, 0) < 0 ? 1 : 0;
}

static int do_open_by_handle(void)
{
	return syscall(SYS_open_by_handle_at, 0, NULL, 0) < 0 ? 1 : 0;
}

static int do_io_uring(void)
{
	return syscall(425, 1, NULL) < 0 ? 1 : 0;
}

static int do_keep_priority(void)
{
	return setpriority(PRIO_PROCESS, 0, -5) ? 1 : 0;
}

struct attempt {
	const char *what;
	int (*attempt)(void);
};

/* Neither readers nor searchers of files may do these. */
static const struct attempt ways_out[] = {
	{ "socket", do_socket },
	{ "connect", do_connect },
	{ "execve", do_exec },
	{ "ptrace", do_ptrace },
	{ "fork", do_fork },
	{ "kill", do_kill },
	{ "mmap of code", do_executable_memory },
	{ "mprotect to code", do_make_executable },
	{ "write", do_write },
	{ "process_vm_readv", do_process_vm },
	{ "open_by_handle_at", do_open_by_handle },
	{ "io_uring_setup", do_io_uring },
	{ "setpriority", do_keep_priority },
};

static void expect_no_way_out(int (*confine)(void))
{
	size_t i;

	cr_assert_eq(confined(do_nothing, confine), 7);
	for (i = 0; i < sizeof(ways_out) / sizeof(ways_out[0]); i++)
		cr_expect_eq(confined(ways_out[i].attempt, confine), 128 + SIGSYS, "%s",
			     ways_out[i].what);
}

Test(sandbox, every_forbidden_call_ends_the_process)
{
	expect_no_way_out(drop_all_and_filter);
	cr_expect_eq(confined(do_open, drop_all_and_filter), 128 + SIGSYS);
}

static int do_open_for_writing(void)
{
	return open("/dev/null", O_WRONLY) < 0 ? 1 : 0;
}

static int do_create(void)
{
	return open("/tmp/d9-sandbox-never", O_RDONLY | O_CREAT, 0600) < 0 ? 1 : 0;
}

static int do_open2_for_writing(void)
{
	struct open_how how = { .flags = O_WRONLY };

	return syscall(SYS_openat2, AT_FDCWD, "/dev/null", &how, sizeof(how)) < 0 ? 1 : 0;
}

static int do_search(void)
{
	struct open_how how = { .flags = O_PATH };
	int fd = syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", &how, sizeof(how));
	struct stat st;
	char path[64], c;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || stat("/etc/passwd", &st) || fstat(fd, &st))
		return 1;
	fd = open(path, O_RDONLY);
	return fd < 0 || pread(fd, &c, 1, 0) != 1 ? 2 : 0;
}

/* Processes that search files may do only that. */
Test(sandbox, filter_for_searches_allows_only_lookups)
{
	expect_no_way_out(search_only);
	cr_expect_eq(confined(do_search, search_only), 0);
	cr_expect_eq(confined(do_open_for_writing, search_only), 128 + SIGSYS);
	cr_expect_eq(confined(do_create, search_only), 128 + SIGSYS);
	if (sandbox_has_landlock())
		cr_expect_eq(confined(do_open2_for_writing, search_only), 1);
}

#ifdef __x86_64__
/* The same kernel by another entry: system calls by their 32-bit numbers. */
static int do_other_architecture(void)
{
	long ret;

	/* getpid */
	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(20) : "memory");
	return ret > 0 ? 0 : 1;
}

Test(sandbox, another_architecture_ends_the_process_too)
{
	cr_expect_geq(confined(do_other_architecture, drop_all_and_filter), 128);
}
#endif

/* Everything needed to read files still works. */
static int do_work(void)
{
	char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct stat st;
	char *text;

	if (p == MAP_FAILED || fstat(0, &st) || mprotect(p, 4096, PROT_READ))
		return 1;
	text = malloc(3 << 20);
	if (!text)
		return 2;
	memset(text, 1, 3 << 20);
	text = realloc(text, 30 << 20);
	free(text);
	return munmap(p, 1 << 20) ? 3 : 0;
}

Test(sandbox, allowed_work_continues)
{
	cr_expect_eq(confined(do_work, drop_all_and_filter), 0);
}

/* The defences other than the filter, each alone. */
static int try_root(void)
{
	struct rlimit core, file;
	int cap;

	if (open("/", O_RDONLY | O_DIRECTORY) >= 0)
		return 1;
	if (open("/etc/passwd", O_RDONLY) >= 0 || !access("/proc/self", F_OK))
		return 2;
	if (!geteuid() || geteuid() != getegid() || getgroups(0, NULL) || setuid(0) == 0)
		return 3;
	for (cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		if (prctl(PR_CAPBSET_READ, cap) == 1)
			return 4;
	if (prctl(PR_GET_DUMPABLE) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return 5;
	if (getrlimit(RLIMIT_CORE, &core) || core.rlim_max || getrlimit(RLIMIT_FSIZE, &file) ||
	    file.rlim_max)
		return 6;
	return 0;
}

Test(sandbox, nothing_is_reachable_without_the_filter)
{
	if (geteuid())
		cr_skip_test("needs root: becomes nobody in an empty root directory");
	cr_expect_eq(confined(try_root, sandbox_drop_all), 0);
}

/* Whether a process of that user may signal pid. */
static bool may_signal(uid_t uid, pid_t pid)
{
	pid_t sender = fork();
	int status;

	if (!sender)
		_exit(setresuid(uid, uid, uid) || kill(pid, 0));
	cr_assert_eq(waitpid(sender, &status, 0), sender);
	return !status;
}

/* Services run as the overflow user; so do others' helpers. */
Test(sandbox, other_users_cannot_signal_the_process)
{
	int sock[2];
	pid_t pid;
	char c;

	if (geteuid())
		cr_skip_test("needs root: becomes other users");
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock), 0);
	pid = fork();
	if (!pid) {
		if (sandbox_detach(sock[1]) || sandbox_drop_all() || send(sock[1], "", 1, 0) != 1)
			_exit(1);
		_exit(read(sock[1], &c, 1) < 0);
	}
	close(sock[1]);
	cr_assert_eq(recv(sock[0], &c, 1, 0), 1);
	cr_expect_not(may_signal(65534, pid));
	cr_expect_not(may_signal(1234, pid));
	cr_expect(may_signal(0, pid));
	close(sock[0]);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

static int open_as_opener(pid_t other)
{
	char path[32];

	if (sandbox_keep_opening())
		return 1;
	snprintf(path, sizeof(path), "/proc/%d/maps", other);
	if (open("/etc/shadow", O_RDONLY) < 0 || open(path, O_RDONLY) < 0)
		return 2;
	if (!setuid(65534) || !chroot("/") || prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN) != 0)
		return 3;
	return 0;
}

/* Processes that open files keep the needed capabilities: for files and mappings of any user. */
Test(sandbox, openers_can_only_read)
{
	int ready[2], status;
	pid_t pid, other;
	char c;

	if (geteuid())
		cr_skip_test("needs root: has capabilities to give up");
	cr_assert_eq(pipe(ready), 0);
	other = fork();
	if (!other) {
		if (!setresuid(1234, 1234, 1234) && write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	cr_assert_eq(read(ready[0], &c, 1), 1);
	pid = fork();
	if (!pid)
		_exit(open_as_opener(other));
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

Test(sandbox, only_the_socket_stays_open_and_the_process_has_its_own_group)
{
	int sock[2], fds[8], status, i;
	pid_t pid;

	for (i = 0; i < 8; i++)
		fds[i] = open("/dev/null", O_RDONLY);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock), 0);
	pid = fork();
	if (!pid) {
		if (sandbox_detach(sock[1]))
			_exit(1);
		for (i = 3; i < 100; i++)
			if (i != sock[1] && fcntl(i, F_GETFD) >= 0)
				_exit(2);
		if (getpgrp() != getpid())
			_exit(3); /* a terminal's signals would reach it */
		_exit(fcntl(sock[1], F_GETFD) < 0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);
	for (i = 0; i < 8; i++)
		close(fds[i]);
	close(sock[0]);
	close(sock[1]);
}

/* Standard input is empty, and output is discarded. */
static int standard_files_are_null(void)
{
	char c;

	if (read(STDIN_FILENO, &c, 1) != 0)
		return 2;
	if (write(STDOUT_FILENO, "x", 1) != -1 || errno != EPERM)
		return 3;
	return fcntl(STDERR_FILENO, F_GETFD) < 0 ? 4 : 7;
}

Test(sandbox, process_starts_without_dev_null)
{
	int sock[2], status;
	pid_t pid;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock), 0);
	pid = fork();
	if (!pid) {
		/* where nothing can be opened; other users than root may do so in their own namespace */
		if (geteuid() && unshare(CLONE_NEWUSER))
			_exit(77);
		if (chroot("/proc/self/fdinfo") || chdir("/"))
			_exit(1);
		if (access("/dev/null", F_OK) == 0 || sandbox_detach(sock[1]))
			_exit(1);
		_exit(standard_files_are_null());
	}
	close(sock[1]);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	close(sock[0]);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		cr_skip("neither root nor user namespaces");
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%x", status);
}
