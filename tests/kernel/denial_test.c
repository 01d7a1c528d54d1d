// SPDX-License-Identifier: BSD-2-Clause
/* Which of several reasons for EPERM is named, and how each is detected. */
#include "kernel/denial.h"

#include <criterion/criterion.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>

#include "kernel/privileges.h"

#define BOTH (1ULL << CAP_BPF | 1ULL << CAP_PERFMON)

static void expect(struct denial_facts facts, enum denial want, const char *remedy)
{
	cr_expect_eq(denial_find(&facts), want);
	cr_expect(strstr(denial_text(&facts), remedy), "%s", denial_text(&facts));
}

Test(denial, each_reason_has_its_remedy)
{
	expect((struct denial_facts){ .caps = BOTH }, DENIAL_NONE, "SELinux");
	expect((struct denial_facts){ .caps = 1ULL << CAP_SYS_ADMIN }, DENIAL_NONE, "SELinux");
	expect((struct denial_facts){ .caps = BOTH, .seccomp = true }, DENIAL_SECCOMP,
	       "outside of the container");
	expect((struct denial_facts){ .caps = BOTH, .user_namespace = true }, DENIAL_NAMESPACE,
	       "root of the host");
	expect((struct denial_facts){ .caps = BOTH, .confidential = true }, DENIAL_LOCKDOWN,
	       "lockdown=integrity");
	expect((struct denial_facts){ 0 }, DENIAL_CAPABILITIES, "sudo");
	expect((struct denial_facts){ .caps = 1ULL << CAP_BPF }, DENIAL_CAPABILITIES, "sudo");
	expect((struct denial_facts){ .caps = 1ULL << CAP_PERFMON }, DENIAL_CAPABILITIES, "sudo");
}

Test(denial, reason_that_needs_its_own_remedy_comes_first)
{
	expect((struct denial_facts){ .seccomp = true,
				      .user_namespace = true,
				      .confidential = true },
	       DENIAL_LOCKDOWN, "lockdown");
	expect((struct denial_facts){ .seccomp = true, .user_namespace = true },
	       DENIAL_CAPABILITIES, "sudo");
	expect((struct denial_facts){ .caps = BOTH, .seccomp = true, .user_namespace = true },
	       DENIAL_NAMESPACE, "host");
}

Test(denial, lockdown_is_detected_by_its_file_and_the_command_line)
{
	cr_expect(denial_is_confidential("none integrity [confidentiality]\n"));
	cr_expect_not(denial_is_confidential("none [integrity] confidentiality\n"));
	cr_expect_not(denial_is_confidential("[none] integrity confidentiality\n"));
	cr_expect(denial_is_confidential("quiet lockdown=confidentiality panic=-1"));
	cr_expect_not(denial_is_confidential("quiet lockdown=integrity"));
	cr_expect_not(denial_is_confidential(""));
}

Test(denial, seccomp_filter_of_this_process_is_detected)
{
	struct sock_filter allow[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	const struct sock_fprog filter = { 1, allow };
	struct denial_facts before, after;

	denial_read(&before);
	cr_expect_not(before.seccomp);
	cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
	denial_read(&after);
	cr_expect(after.seccomp);
	cr_expect_eq(after.caps, before.caps);
}

Test(denial, capabilities_of_this_process_are_read)
{
	struct denial_facts facts;

	cr_assert_eq(privileges_drop_all_but(0), 0);
	denial_read(&facts);
	cr_expect_eq(facts.caps, 0);
	cr_expect_neq(denial_find(&facts), DENIAL_NONE);
}
