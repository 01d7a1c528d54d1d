/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_DENIAL_H
#define D9_KERNEL_DENIAL_H

#include <stdbool.h>
#include <stdint.h>

/* What can deny bpf() or perf_event_open() to a process */
struct denial_facts {
	uint64_t caps; /* effective */
	/* not in the initial user namespace: capabilities have no effect on the kernel */
	bool user_namespace;
	bool confidential; /* lockdown forbids BPF programs to read memory */
	bool seccomp; /* a seccomp filter is installed */
};

enum denial {
	DENIAL_NONE, /* no reason found */
	DENIAL_LOCKDOWN,
	DENIAL_CAPABILITIES,
	DENIAL_NAMESPACE,
	DENIAL_SECCOMP,
};

/* Reads the facts of the calling thread. */
void denial_read(struct denial_facts *out);
/*
 * Whether the text of /sys/kernel/security/lockdown or /proc/cmdline selects confidentiality mode.
 */
bool denial_is_confidential(const char *text);

/* The first reason that applies. seccomp comes last, because a filter may allow the call. */
enum denial denial_find(const struct denial_facts *f);
/* The reason for EPERM or EACCES and the remedy, as the end of a message */
const char *denial_text(const struct denial_facts *f);

#endif /* D9_KERNEL_DENIAL_H */
