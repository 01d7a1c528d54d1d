// SPDX-License-Identifier: BSD-2-Clause
/*
 * privileges.c - capabilities of the recorder, and how it drops them
 *
 * Capabilities belong to threads. This file uses bare system calls, because libraries also change
 * only the calling thread. privileges_drop_all_but() is intentionally irreversible.
 */
#include "kernel/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

const struct privilege privileges[] = {
	{ CAP_BPF, "CAP_BPF", "loading BPF programs", "nothing can be recorded",
	  PRIVILEGE_REQUIRED },
	{ CAP_PERFMON, "CAP_PERFMON", "attaching BPF programs, CPU samples, process metadata",
	  "nothing can be recorded", PRIVILEGE_REQUIRED },
	{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "mappings and files of other users' processes",
	  "no symbols for other users' processes", PRIVILEGE_WANTED },
	{ CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", "tracefs, and files with symbols",
	  "no tracepoints if only root can read tracefs, and fewer symbols", PRIVILEGE_WANTED },
	{ CAP_SYSLOG, "CAP_SYSLOG", "addresses of kernel functions",
	  "no symbols for kernel functions", PRIVILEGE_WANTED },
	{ CAP_SYS_NICE, "CAP_SYS_NICE", "real-time priority while buffers fill",
	  "more may be lost when CPUs are overloaded", PRIVILEGE_USEFUL },
	{ CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE", "symbols from deleted files",
	  "no symbols for code of deleted files", PRIVILEGE_USEFUL },
};
const size_t privilege_cnt = sizeof(privileges) / sizeof(privileges[0]);

struct cap_sets {
	uint64_t effective, permitted, inheritable;
};

static uint64_t both(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

static int get_sets(struct cap_sets *out)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &header, d))
		return -errno;
	out->effective = both(d[0].effective, d[1].effective);
	out->permitted = both(d[0].permitted, d[1].permitted);
	out->inheritable = both(d[0].inheritable, d[1].inheritable);
	return 0;
}

static int set_sets(const struct cap_sets *sets)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct d[2] = {
		{ sets->effective, sets->permitted, sets->inheritable },
		{ sets->effective >> 32, sets->permitted >> 32, sets->inheritable >> 32 },
	};

	return syscall(SYS_capset, &header, d) ? -errno : 0;
}

int privileges_get(uint64_t *caps)
{
	struct cap_sets sets;
	int err = get_sets(&sets);

	if (!err)
		*caps = sets.effective;
	return err;
}

bool privileges_have(uint64_t caps, int cap)
{
	const uint64_t of_admin = 1ULL << CAP_BPF | 1ULL << CAP_PERFMON | 1ULL << CAP_SYSLOG |
				  1ULL << CAP_CHECKPOINT_RESTORE;

	if (caps & 1ULL << CAP_SYS_ADMIN)
		caps |= of_admin;
	return caps & 1ULL << cap;
}

int privileges_suspend(uint64_t caps)
{
	struct cap_sets sets;
	int err = get_sets(&sets);

	sets.effective &= ~caps;
	return err ? err : set_sets(&sets);
}

int privileges_resume(uint64_t caps)
{
	struct cap_sets sets;
	int err = get_sets(&sets);

	sets.effective |= caps & sets.permitted;
	return err ? err : set_sets(&sets);
}

/*
 * Empties the bounding set, which limits capabilities after an exec. Without CAP_SETPCAP this
 * fails; no_new_privs still holds.
 */
static void empty_bounding(void)
{
	int cap;

	for (cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
			return;
}

int privileges_drop_all_but(uint64_t caps)
{
	struct cap_sets sets;
	int err = get_sets(&sets);

	if (err)
		return err;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
		return -errno;
	empty_bounding();
	sets.permitted &= caps;
	sets.effective &= caps;
	sets.inheritable = 0;
	return set_sets(&sets);
}
