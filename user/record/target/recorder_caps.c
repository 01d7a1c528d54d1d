// SPDX-License-Identifier: BSD-2-Clause
/*
 * recorder_caps.c - capabilities of the recorder, and those it drops
 */
#include "record/target/recorder_caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "kernel/privileges.h"
#include "record/capture/capture.h"
#include "record/capture/capture_cpus.h"
#include "record/capture/capture_load.h"
#include "record/capture/probe.h"
#include "record/capture/refusal.h"
#include "symbol/sandbox/sandbox.h"

static int check_kernel(const char *btf)
{
	const struct capture_refusal why = { .err = probe_bpf() };
	struct refusal_facts facts;

	refusal_read(btf, &facts);
	if (!why.err && !facts.denial.confidential && facts.has_btf)
		return 0;
	refusal_report("record", &facts, &why, NULL);
	return why.err ? why.err : -ENOTSUP;
}

/* Reports missing capabilities at once in one line. */
int recorder_caps_check(bool names, const char *btf)
{
	uint64_t caps;
	size_t i;

	if (privileges_get(&caps))
		return 0;
	for (i = 0; i < privilege_cnt; i++) {
		if (privileges_have(caps, privileges[i].cap))
			continue;
		if (privileges[i].need == PRIVILEGE_REQUIRED) {
			log_error(
				"record: recording needs privileges: run it with sudo, or give the "
				"program " PRIVILEGES_TEXT "; see dial9-prof check");
			return -EPERM;
		}
		log_info("record: without %s: %s", privileges[i].name, privileges[i].costs);
	}
	if (names && !sandbox_has_landlock())
		log_info("record: without landlock: less isolation for the processes that read "
			 "untrusted files");
	return check_kernel(btf);
}

/*
 * The capabilities kept permanently read /proc and the trace. A thread of its own sets real-time priority. Other processes open
 * files with symbols. Capabilities for opening events are only raised for a CPU that comes back. Until the end of
 * the start, more are needed: the output may be created in another user's directory, the kernel's symbols are read,
 * and a thread is made that keeps capabilities for allocating unwind tables.
 */
int recorder_caps_reduce(const struct capture *capture, uint64_t *keep)
{
	const uint64_t start = 1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_FOWNER | 1ULL << CAP_SYSLOG |
			       1ULL << CAP_BPF;
	int err;

	*keep = 1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH | CAPTURE_CPUS_RIGHTS;
	err = privileges_suspend(~*keep);
	if (!err && !capture_can_count(capture))
		*keep |= 1ULL << CAP_BPF;
	if (!err)
		err = privileges_resume(UINT64_MAX);
	if (!err)
		err = privileges_drop_all_but(*keep | start);
	if (err)
		log_error("record: cannot give up privileges: %s", strerror(-err));
	return err;
}
