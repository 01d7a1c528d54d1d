/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_PROC_H
#define D9_KERNEL_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;

/*
 * Data from /proc. proc_parse_* only parse text. proc_read_* read the file and return -ESRCH if the
 * task does not exist, or -EACCES if it may not be read. They print no messages. Names are bytes as
 * in the kernel: all but NUL are possible.
 */

enum proc_map_kind {
	PROC_MAP_FILE, /* path of a file, as in the mount namespace of the task */
	PROC_MAP_VDSO, /* [vdso] */
	PROC_MAP_ANON, /* no file: no path, //anon, [heap], [stack], [anon:...], /memfd:, /dev/zero */
};

struct proc_map {
	uint64_t start, end;
	uint64_t pgoff; /* bytes */
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	bool read, write, exec, shared;
	bool deleted; /* the " (deleted)" suffix was removed from the path */
	enum proc_map_kind kind;
	const char *path; /* "\012" is replaced by a newline; "" if there is none; borrowed */
	size_t path_len;
};

/*
 * Calls cb for each valid line. Skips other lines and counts them in *bad (may be NULL). A nonzero
 * result of cb ends the iteration and is returned.
 */
int proc_parse_maps(const char *text, size_t len, int (*cb)(const struct proc_map *map, void *ctx),
		    void *ctx, size_t *bad);
/* Reads at most sz_max bytes; *cut: there were more. */
int proc_read_maps(pid_t pid, size_t sz_max, bool *cut,
		   int (*cb)(const struct proc_map *map, void *ctx), void *ctx);

/* True for a path without a file on disk; see PROC_MAP_ANON. */
bool proc_path_is_anon(const char *path);

struct proc_status {
	pid_t tgid, pid, ppid;
	pid_t nspid; /* innermost PID of NSpid, or 0 if the kernel does not report it */
	uint32_t uid, gid;
	uint64_t voluntary, involuntary; /* context switches */
	uint64_t caps; /* effective capabilities, as bits */
	bool kthread; /* Kthread: 1, or no Vm lines */
};
int proc_parse_status(const char *text, size_t len, struct proc_status *out);
int proc_read_status(pid_t tid, struct proc_status *out);

struct proc_stat {
	pid_t pid, ppid;
	char comm[64]; /* with parentheses, blanks and newlines; cut at 63 bytes */
	char state;
	uint64_t utime, stime; /* ticks of sysconf(_SC_CLK_TCK) */
	uint64_t cutime, cstime; /* likewise, of children that it waited for */
	uint64_t starttime; /* ticks since boot */
	uint64_t flags; /* PF_* */
};
int proc_parse_stat(const char *text, size_t len, struct proc_stat *out);
int proc_read_stat(pid_t tid, struct proc_stat *out);

/* The v2 path ("0::/x" gives "/x"), otherwise the longest v1 path; "/" if there is none. */
int proc_parse_cgroup(const char *text, size_t len, struct buf *out);
int proc_read_cgroup(pid_t tid, struct buf *out);

/* Without the newline at the end. */
int proc_read_comm(pid_t tid, struct buf *out);
/* The text of the link without " (deleted)"; -ENOENT for a kernel thread */
int proc_read_exe(pid_t pid, struct buf *out);
/*
 * The owner of a process, for sharing limited resources: its user; for processes of root the mount
 * namespace, or the process itself if it is in the namespace of the caller. Since Linux 6.11 it
 * waits for no lock that the process may hold for long.
 */
#define PROC_OWNER_GONE 1ull /* all processes that are gone */
uint64_t proc_owner(pid_t pid);
/* Resident anonymous memory of a process; 0 if it is gone. */
uint64_t proc_own_bytes(pid_t pid);
/*
 * Real user and mount namespace of a process, as one number. A process cannot change it like the
 * owner of its /proc directory, which proc_owner() uses. 0: the process is gone.
 */
uint64_t proc_realm(pid_t pid);
/*
 * Reads one file of a task; name is for example "maps". Cut at 64 MiB, because a hostile task can
 * make it that long.
 */
int proc_read_file(pid_t pid, const char *name, struct buf *out);

/* All processes, or the threads of one process, in the kernel's order; the caller frees *arr. */
int proc_list_pids(pid_t **arr, size_t *cnt);
int proc_list_tids(pid_t pid, pid_t **arr, size_t *cnt);

#define PROC_BOOT_ID_SIZE 37

/* Reads the boot id of the kernel as text. *out is unchanged on failure. */
int proc_read_boot_id(char out[PROC_BOOT_ID_SIZE]);

#endif /* D9_KERNEL_PROC_H */
