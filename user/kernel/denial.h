/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_DENIAL_H
#define D9_KERNEL_DENIAL_H

#include <stdbool.h>
#include <stdint.h>

/* What may stand between a process and bpf() or perf_event_open(). */
struct denial_facts {
	uint64_t caps; /* effective */
	bool user_namespace; /* not the initial one: capabilities there do not reach the kernel */
	bool confidential; /* the kernel is locked down that far: BPF programs read no memory */
	bool seccomp; /* a filter is installed */
};

enum denial {
	DENIAL_NONE, /* nothing stands between them */
	DENIAL_LOCKDOWN,
	DENIAL_CAPABILITIES,
	DENIAL_NAMESPACE,
	DENIAL_SECCOMP,
};

/* Of the calling thread. */
void denial_read(struct denial_facts *out);
/* Whether the text of /sys/kernel/security/lockdown, or of /proc/cmdline, means confidentiality. */
bool denial_is_confidential(const char *text);

/* The first that applies, in this order: a filter may also allow what is asked for. */
enum denial denial_find(const struct denial_facts *f);
/* What denied something that failed with EPERM or EACCES, and the remedy, for the end of a message. */
const char *denial_text(const struct denial_facts *f);

#endif /* D9_KERNEL_DENIAL_H */
