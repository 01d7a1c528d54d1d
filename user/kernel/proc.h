/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_PROC_H
#define D9_KERNEL_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;

/*
 * What /proc says. proc_parse_* take text and nothing else; proc_read_* read the file and return
 * -ESRCH when the task is gone (or never was), -EACCES when it may not be looked at. Nothing is
 * printed. Names are bytes as the kernel keeps them: any byte but NUL may be in them.
 */

enum proc_map_kind {
	PROC_MAP_FILE, /* path is a file's, as seen in its own mount namespace */
	PROC_MAP_VDSO, /* [vdso] */
	PROC_MAP_ANON, /* no file: no path, //anon, [heap], [stack], [anon:...], /memfd:, /dev/zero */
};

struct proc_map {
	uint64_t start, end;
	uint64_t pgoff; /* bytes */
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	bool read, write, exec, shared;
	bool deleted; /* the path had the " (deleted)" suffix, which is cut off */
	enum proc_map_kind kind;
	const char *path; /* "\012" is a newline again; "" when there is none; borrowed */
	size_t path_len;
};

/*
 * Calls cb for each well-formed line; others are skipped and counted in *bad (may be NULL). A
 * non-zero return ends the walk and becomes its result.
 */
int proc_parse_maps(const char *text, size_t len, int (*cb)(const struct proc_map *map, void *ctx),
		    void *ctx, size_t *bad);
int proc_read_maps(pid_t pid, int (*cb)(const struct proc_map *map, void *ctx), void *ctx);

/* True for a path that no file on disk stands behind: what PROC_MAP_ANON names. */
bool proc_path_is_anon(const char *path);

struct proc_status {
	pid_t tgid, pid, ppid;
	pid_t nspid; /* the innermost of NSpid, or 0 when the kernel does not say */
	uint32_t uid, gid;
	uint64_t voluntary, involuntary; /* context switches */
	uint64_t caps; /* effective capabilities, a bit each */
	bool kthread; /* Kthread: 1, or no Vm lines */
};
int proc_parse_status(const char *text, size_t len, struct proc_status *out);
int proc_read_status(pid_t tid, struct proc_status *out);

struct proc_stat {
	pid_t pid, ppid;
	char comm[64]; /* parentheses, blanks and newlines inside are kept; cut at 63 */
	char state;
	uint64_t utime, stime; /* ticks of sysconf(_SC_CLK_TCK) */
	uint64_t starttime; /* ticks since boot */
	uint64_t flags; /* PF_* */
};
int proc_parse_stat(const char *text, size_t len, struct proc_stat *out);
int proc_read_stat(pid_t tid, struct proc_stat *out);

/* The v2 path ("0::/x" gives "/x"), else the longest v1 path; "/" when there is none. */
int proc_parse_cgroup(const char *text, size_t len, struct buf *out);
int proc_read_cgroup(pid_t tid, struct buf *out);

/* Without the newline that the kernel adds. */
int proc_read_comm(pid_t tid, struct buf *out);
/* The link's text without " (deleted)"; -ENOENT for a kernel thread. */
int proc_read_exe(pid_t pid, struct buf *out);
/*
 * Who answers for a process, as a number that all processes share which have the same: a user; of root's
 * processes their mount namespace, or the process alone where that is the caller's. Waits for no lock
 * of the process.
 */
#define PROC_OWNER_GONE 1ull /* of all that are gone, together */
uint64_t proc_owner(pid_t pid);
/*
 * Whose files a process sees: its (real) user in its mount namespace, as a number that all processes share
 * which have the same. Unlike proc_owner() it is not what the process says of itself. 0: it is gone.
 */
uint64_t proc_realm(pid_t pid);
/* One file of a task: name is such as "maps". Cut at 64 MiB: a hostile task can make it that long. */
int proc_read_file(pid_t pid, const char *name, struct buf *out);

/* All processes, or the threads of one, as the kernel lists them; the caller frees *arr. */
int proc_list_pids(pid_t **arr, size_t *cnt);
int proc_list_tids(pid_t pid, pid_t **arr, size_t *cnt);

#define PROC_BOOT_ID_SIZE 37

/* Which boot of this machine it is: the kernel's number of it, as text. Untouched on failure. */
int proc_read_boot_id(char out[PROC_BOOT_ID_SIZE]);

#endif /* D9_KERNEL_PROC_H */
