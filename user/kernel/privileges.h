/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_PRIVILEGES_H
#define D9_KERNEL_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Capabilities of the calling thread, a bit each (1 << CAP_...). CAP_SYS_ADMIN stands for those that
 * were taken out of it, for privileges_have().
 */

enum privilege_need {
	PRIVILEGE_REQUIRED, /* nothing can be recorded without it */
	PRIVILEGE_WANTED, /* much would be missing */
	PRIVILEGE_USEFUL,
};

/* Each that recording has a use for, and which. */
struct privilege {
	int cap;
	const char *name; /* CAP_BPF */
	const char *purpose;
	const char *costs; /* the lack of it */
	enum privilege_need need;
};
extern const struct privilege privileges[];
extern const size_t privilege_cnt;

/* The effective set. 0 or -errno. */
int privileges_get(uint64_t *caps);
bool privileges_have(uint64_t caps, int cap);
/* Those required and wanted. */
#define PRIVILEGES_TEXT "CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH and CAP_SYSLOG"
/* What gives them to a program file, without its path. */
#define PRIVILEGES_SETCAP                                                                          \
	"setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search,cap_syslog+ep"

/* Takes these out of the effective set, from which privileges_resume() brings them back. 0 or -errno. */
int privileges_suspend(uint64_t caps);
int privileges_resume(uint64_t caps);

/*
 * Keeps these of what the calling thread has, permitted and effective, and drops all else for good;
 * the inheritable, ambient and bounding sets become empty, and no exec gives any back. Threads made
 * later inherit it, others keep what they have. 0 or -errno.
 */
int privileges_drop_all_but(uint64_t caps);

#endif /* D9_KERNEL_PRIVILEGES_H */
