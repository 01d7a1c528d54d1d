// SPDX-License-Identifier: BSD-2-Clause
/* Dropped capabilities are gone from all sets, permanently, and from programs that are run later. */
#include "kernel/privileges.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernel/need_root.h"

static uint64_t set_of(const char *path, const char *name)
{
	unsigned long long v = UINT64_MAX;
	char line[256];
	FILE *f = fopen(path, "re");

	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name), ": %llx", &v);
	fclose(f);
	return v;
}

Test(privileges, dropped_capabilities_are_removed_from_every_set)
{
	const uint64_t keep = 1ULL << CAP_SYS_NICE | 1ULL << CAP_SYSLOG;
	static const char path[] = "/proc/thread-self/status";

	cr_assert_eq(privileges_drop_all_but(keep), 0);
	cr_expect_eq(set_of(path, "CapPrm"), keep);
	cr_expect_eq(set_of(path, "CapEff"), keep);
	cr_expect_eq(set_of(path, "CapBnd"), 0);
	cr_expect_eq(set_of(path, "CapInh"), 0);
	cr_expect_eq(set_of(path, "CapAmb"), 0);
	cr_expect_eq(set_of(path, "NoNewPrivs"), 1);
	cr_expect_eq(unshare(CLONE_NEWNS), -1);
	cr_expect_eq(privileges_resume(UINT64_MAX), 0);
	cr_expect_eq(set_of(path, "CapEff"), keep, "nothing comes back");
	cr_assert_eq(privileges_drop_all_but(0), 0);
	cr_expect_eq(set_of(path, "CapPrm"), 0);
}

Test(privileges, program_run_as_root_does_not_regain_capabilities)
{
	cr_assert_eq(privileges_drop_all_but(1ULL << CAP_SYS_NICE), 0);
	cr_expect_eq(system("grep -q '^CapPrm:[[:blank:]]*0000000000000000$' /proc/self/status"),
		     0);
}

Test(privileges, suspended_capabilities_are_restored)
{
	const uint64_t nice = 1ULL << CAP_SYS_NICE;
	uint64_t before, now;

	cr_assert_eq(privileges_get(&before), 0);
	cr_assert(before & nice);
	cr_assert_eq(privileges_suspend(~nice), 0);
	cr_assert_eq(privileges_get(&now), 0);
	cr_expect_eq(now, nice);
	cr_assert_eq(privileges_resume(before), 0);
	cr_assert_eq(privileges_get(&now), 0);
	cr_expect_eq(now, before);
}

Test(privileges, sys_admin_includes_bpf_and_perfmon)
{
	const uint64_t admin = 1ULL << CAP_SYS_ADMIN;

	cr_expect(privileges_have(admin, CAP_BPF));
	cr_expect(privileges_have(admin, CAP_PERFMON));
	cr_expect_not(privileges_have(admin, CAP_SYS_PTRACE));
	cr_expect_not(privileges_have(0, CAP_BPF));
	cr_expect(privileges_have(1ULL << CAP_BPF, CAP_BPF));
}
