/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_PRIVILEGES_H
#define D9_KERNEL_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Capabilities of the calling thread, as bits (1 << CAP_...). For privileges_have(), CAP_SYS_ADMIN
 * includes the capabilities that were split from it.
 */

enum privilege_need {
	PRIVILEGE_REQUIRED, /* recording needs it */
	PRIVILEGE_WANTED, /* without it much is missing */
	PRIVILEGE_USEFUL,
};

/* A capability that recording uses */
struct privilege {
	int cap;
	const char *name; /* name: CAP_BPF */
	const char *purpose;
	const char *costs; /* effect of its absence */
	enum privilege_need need;
};
extern const struct privilege privileges[];
extern const size_t privilege_cnt;

/* Reads the effective set. 0 or -errno. */
int privileges_get(uint64_t *caps);
bool privileges_have(uint64_t caps, int cap);
/* All required and wanted capabilities */
#define PRIVILEGES_TEXT "CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH and CAP_SYSLOG"
/* Command that gives them to a program file; append the path. */
#define PRIVILEGES_SETCAP                                                                          \
	"setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search,cap_syslog+ep"

/* Removes these from the effective set; privileges_resume() adds them again. 0 or -errno. */
int privileges_suspend(uint64_t caps);
int privileges_resume(uint64_t caps);

/*
 * Keeps these permitted and effective capabilities of the calling thread, and drops all others for
 * good. Empties the inheritable, ambient and bounding sets, so no exec gives any back. New threads
 * inherit this; existing threads are unchanged. 0 or -errno.
 */
int privileges_drop_all_but(uint64_t caps);

#endif /* D9_KERNEL_PRIVILEGES_H */
