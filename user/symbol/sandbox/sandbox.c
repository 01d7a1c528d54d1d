// SPDX-License-Identifier: BSD-2-Clause
/*
 * Restricts processes to their task.
 *
 * Several mechanisms are combined, because each has gaps. The user id limits whom the process can
 * signal and trace, capabilities limit what it can override, the root directory and landlock limit
 * which files it can name, and the filter limits its system calls.
 *
 * The user id is not shared, because processes of one user can signal each other, and trace each
 * other in some configurations. Recorded programs often run as the user of sudo, and services may
 * share a user, too.
 */
#include "symbol/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/machine.h"

#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

/*
 * Above all ids of users, services, containers and their ranges. Only a process that may change to
 * any user id can have it.
 */
#define OWN_ID 0x7fd90000
#define NOBODY 65534
#define CAP_LAST_POSSIBLE 63
/* Mapped files count, too. This stops unlimited growth; it does not limit normal use. */
#define ADDRESS_SPACE_MAX (32ull << 30)
#define FILES_MAX 2048

#ifdef __SANITIZE_ADDRESS__
#define WITH_ASAN 1
#else
#define WITH_ASAN 0
#endif

int sandbox_fork(void (*child)(const void *ctx, int sock), const void *ctx, pid_t *pid, int *sock)
{
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	*pid = fork();
	err = *pid < 0 ? -errno : 0;
	if (!*pid) {
		child(ctx, pair[1]);
		_exit(1);
	}
	close(pair[1]);
	if (err)
		close(pair[0]);
	else
		*sock = pair[0];
	return err;
}

/* ---- descriptors and signals -------------------------------------------------------------------- */

/* Standard error stays open for sanitizers, which report on it. */
static int null_standard_files(void)
{
	int fd = file_null(O_RDWR), i;

	if (fd < 0)
		return fd;
	for (i = 0; i <= STDERR_FILENO; i++)
		if ((i != STDERR_FILENO || !WITH_ASAN) && fd != i && dup2(fd, i) < 0)
			return -errno;
	if (fd > STDERR_FILENO)
		close(fd);
	return 0;
}

/* Uses the system call, because not every C library has a function for it. */
static int close_all(unsigned int first, unsigned int last)
{
	return syscall(SYS_close_range, first, last, 0) ? -errno : 0;
}

static int close_others(int keep)
{
	int err = keep > 3 ? close_all(3, keep - 1) : 0;

	return err ? err : close_all(keep + 1, ~0U);
}

int sandbox_die_with(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		return -errno;
	return getppid() == parent ? 0 : -ESRCH;
}

/*
 * Ignores signals that end a recording: it still needs symbols then. Helpers exit when the
 * recorder closes their socket.
 */
int sandbox_detach(int keep)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	pid_t parent = getppid();
	sigset_t none;
	size_t i;
	int err;

	for (i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/*
	 * Not setsid(): the recorder may send SIGCONT to stopped processes of its session as any
	 * user. When the recorder exits, the kernel continues stopped processes of the orphaned
	 * group.
	 */
	setpgid(0, 0);
	err = sandbox_die_with(parent);
	if (!err)
		err = null_standard_files();
	return err ? err : close_others(keep);
}

/* ---- capabilities ------------------------------------------------------------------------------- */

static uint64_t own_caps(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (syscall(SYS_capget, &head, data))
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

static int set_caps(uint64_t caps)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct data[2] = {
		{ .effective = caps, .permitted = caps },
		{ .effective = caps >> 32, .permitted = caps >> 32 },
	};

	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

/*
 * An exec cannot regain a capability outside the bounding set. Without CAP_SETPCAP the set cannot
 * be changed.
 */
static void drop_bounding_set(uint64_t keep)
{
	int cap;

	for (cap = 0; cap <= CAP_LAST_POSSIBLE; cap++)
		if (!(keep >> cap & 1) && prctl(PR_CAPBSET_DROP, cap))
			return;
}

static int reduce_caps(uint64_t keep)
{
	uint64_t caps = own_caps();

	drop_bounding_set(keep);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return set_caps(caps & keep);
}

/* ---- files -------------------------------------------------------------------------------------- */

/*
 * Changes to an empty root directory that cannot be filled. A child that shares our root directory
 * changes it to its own /proc descriptor directory and exits.
 */
static int empty_root(void)
{
	pid_t pid;
	int status;

	if (!(own_caps() >> CAP_SYS_CHROOT & 1))
		return 0;
	pid = syscall(SYS_clone, CLONE_FS | SIGCHLD, 0, 0, 0, 0);
	if (pid < 0)
		return -errno;
	if (!pid)
		_exit(chroot("/proc/self/fdinfo") || chdir("/"));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status ? -EACCES : 0;
}

static int landlock_version(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

bool sandbox_has_landlock(void)
{
	return landlock_version() >= 1;
}

#define NOTHING 0
#define READING (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

/* Landlock version 4 also covers TCP, and version 6 abstract sockets and signals. */
static void forbid_files(uint64_t except)
{
	struct {
		uint64_t fs, net, scoped;
	} rules = { 0 };
	int abi, fd;
	size_t sz;

	abi = landlock_version();
	if (abi < 1)
		return;
	rules.fs = (1u << (abi >= 5 ? 16 : abi >= 3 ? 15 : abi >= 2 ? 14 : 13)) - 1;
	rules.fs &= ~except;
	rules.net = abi >= 4 ? 3 : 0;
	rules.scoped = abi >= 6 ? 3 : 0;
	sz = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
	fd = syscall(SYS_landlock_create_ruleset, &rules, sz, 0);
	if (fd < 0)
		return;
	syscall(SYS_landlock_restrict_self, fd, 0);
	close(fd);
}

/* ---- user and bounds ---------------------------------------------------------------------------- */

static int become(uid_t id)
{
	return setresgid(id, id, id) || setresuid(id, id, id) ? -errno : 0;
}

/* A user namespace may lack these users. */
static int become_own_user(void)
{
	uint64_t caps = own_caps();
	int err;

	if (!(caps >> CAP_SETUID & 1) || !(caps >> CAP_SETGID & 1))
		return 0;
	err = setgroups(0, NULL) ? -errno : become(OWN_ID);
	if (err == -EINVAL)
		err = become(NOBODY);
	return err == -EINVAL || err == -EPERM ? 0 : err;
}

static void set_limit(int which, rlim_t max)
{
	const struct rlimit limit = { max, max };

	setrlimit(which, &limit);
}

/* Allows any nice value. Leaving SCHED_IDLE counts as lowering it, too. */
static void allow_priorities(void)
{
	set_limit(RLIMIT_NICE, 40);
}

static void set_limits(void)
{
	allow_priorities();
	set_limit(RLIMIT_CORE, 0);
	set_limit(RLIMIT_FSIZE, 0);
	set_limit(RLIMIT_NOFILE, FILES_MAX);
	if (!WITH_ASAN)
		set_limit(RLIMIT_AS, ADDRESS_SPACE_MAX);
}

/* If memory runs out, a growing process of these is killed first. */
static void offer_to_oom_killer(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1000", 4) < 0)
		errno = 0;
	close(fd);
}

int sandbox_drop_all(void)
{
	int err;

	offer_to_oom_killer();
	set_limits();
	err = empty_root();
	if (err)
		return err;
	drop_bounding_set(0);
	err = become_own_user();
	if (!err)
		err = reduce_caps(0);
	if (err)
		return err;
	forbid_files(NOTHING);
	/* a change of user resets both */
	if (prctl(PR_SET_DUMPABLE, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL))
		return -errno;
	return 0;
}

/* /proc/PID/map_files, which has deleted files, needs the last of these. */
int sandbox_keep_opening(void)
{
	int err;

	allow_priorities();
	err = reduce_caps(1ull << CAP_SYS_PTRACE | 1ull << CAP_DAC_READ_SEARCH |
			  1ull << CAP_CHECKPOINT_RESTORE);

	if (err)
		return err;
	set_limit(RLIMIT_CORE, 0);
	set_limit(RLIMIT_FSIZE, 0);
	return prctl(PR_SET_DUMPABLE, 0) ? -errno : 0;
}

/* ---- system calls ------------------------------------------------------------------------------- */

#define X32_BIT 0x40000000

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LOAD_ARG(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[n]))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)
#define ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), RETURN(SECCOMP_RET_ALLOW)
/* Fails without killing the process: a library checks whether a feature exists. */
#define DENY(name)                                                                                 \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), RETURN(SECCOMP_RET_ERRNO | ENOENT)
/* Allowed if none of these bits is set in the lower half of the argument. */
#define ALLOW_WITHOUT(name, n, bits)                                                               \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), LOAD_ARG(n),                        \
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1),                                  \
		RETURN(SECCOMP_RET_KILL_PROCESS), RETURN(SECCOMP_RET_ALLOW)
/* Allowed if the lower half of the argument has this value. */
#define ALLOW_WITH(name, n, value)                                                                 \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), LOAD_ARG(n),                        \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0),                                  \
		RETURN(SECCOMP_RET_KILL_PROCESS), RETURN(SECCOMP_RET_ALLOW)

/* The number of a system call, if this architecture has it. */
#define CALL_NUMBER                                                                                \
	LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE_AUDIT_ARCH, 1, 0),                 \
		RETURN(SECCOMP_RET_KILL_PROCESS), LOAD(nr),                                        \
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1),                                \
		RETURN(SECCOMP_RET_KILL_PROCESS)
/* Reading descriptors, and memory. qsort() makes the last call before it allocates. */
#define ALLOW_READING                                                                              \
	ALLOW(pread64), ALLOW(read), ALLOW(lseek), ALLOW(fstat), ALLOW(close), ALLOW(munmap),      \
		ALLOW(mremap), ALLOW(madvise), ALLOW(brk), ALLOW(futex), ALLOW(clock_gettime),     \
		ALLOW(getrandom), ALLOW(rt_sigreturn), ALLOW(rt_sigprocmask),                      \
		ALLOW(restart_syscall), ALLOW(exit_group), ALLOW(sysinfo)
#if WITH_ASAN
#define ALLOW_SANITIZER                                                                            \
	ALLOW(sigaltstack), ALLOW(rt_sigaction), ALLOW(getpid), ALLOW(gettid), ALLOW(sched_yield), \
		ALLOW(prlimit64),
#else
#define ALLOW_SANITIZER
#endif
/* Each of these reloads the value that ALLOW compares, or ends the filter, so they come last. */
#define ALLOW_DATA                                                                                 \
	ALLOW_WITH(write, 0, STDERR_FILENO), ALLOW_WITHOUT(mmap, 2, PROT_EXEC),                    \
		ALLOW_WITHOUT(mprotect, 2, PROT_EXEC), RETURN(SECCOMP_RET_KILL_PROCESS)

static const struct sock_filter filter_code[] = {
	CALL_NUMBER,
	ALLOW_READING,
	ALLOW(recvmsg),
	ALLOW(sendmsg),
	ALLOW(dup),
	ALLOW(getrusage),
	ALLOW(ppoll),
#ifdef SYS_poll
	ALLOW(poll),
#endif
#ifdef SYS_readlink
	DENY(readlink), /* libdw reads the name of the file */
#endif
	DENY(readlinkat),
	ALLOW_SANITIZER
		/* loads data like ALLOW_DATA */
		ALLOW_WITH(newfstatat, 3, AT_EMPTY_PATH),
	ALLOW_WITH(fcntl, 1, F_GETFL),
	ALLOW_DATA,
};

static const struct sock_filter look_code[] = {
	CALL_NUMBER,
	ALLOW_READING,
	ALLOW(sendto),
	ALLOW(openat2),
	ALLOW(newfstatat),
	ALLOW(fstatfs),
	ALLOW(getcwd),
#ifdef SYS_readlink
	ALLOW(readlink),
#endif
	ALLOW(readlinkat),
	ALLOW_SANITIZER
		/* loads data like ALLOW_DATA */
		ALLOW_WITHOUT(openat, 2, O_ACCMODE | O_CREAT | O_TRUNC),
	ALLOW_DATA,
};

static int filter(const struct sock_filter *code, size_t cnt)
{
	const struct sock_fprog prog = { .len = cnt, .filter = (struct sock_filter *)code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog))
		return -errno;
	return 0;
}

int sandbox_filter(void)
{
	return filter(filter_code, sizeof(filter_code) / sizeof(filter_code[0]));
}

int sandbox_only_look(unsigned int seconds)
{
	int err;

	alarm(seconds);
	offer_to_oom_killer();
	set_limits();
	set_limit(RLIMIT_CPU, seconds);
	err = reduce_caps(0);
	if (err)
		return err;
	forbid_files(READING);
	if (prctl(PR_SET_DUMPABLE, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL))
		return -errno;
	return filter(look_code, sizeof(look_code) / sizeof(look_code[0]));
}
