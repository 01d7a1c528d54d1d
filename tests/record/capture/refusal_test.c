// SPDX-License-Identifier: BSD-2-Clause
/* The one line about BPF programs that were not loaded: rights, lockdown, verifier, limits and BTF. */
#include "record/capture/refusal.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include "base/buf.h"
#include "record/capture/capture_load.h"

#define ROOT (1ULL << CAP_SYS_ADMIN)

static const struct refusal_facts root = { .denial.caps = ROOT,
					   .has_btf = true,
					   .release = "6.1.0-56-cloud-amd64" };

static void expect(const struct refusal_facts *facts, struct capture_refusal why,
		   const char *leave_out, const char *want)
{
	struct buf text = { 0 };

	refusal_describe(facts, &why, leave_out, &text);
	cr_expect_str_eq(buf_cstr(&text), want);
	buf_free(&text);
}

Test(refusal, verifier_refusal_names_kernel_program_reason_and_remedy)
{
	const struct capture_refusal why = { .err = -EACCES,
					     .program = "prof_sched_switch",
					     .reason = "R3 unbounded memory access" };

	expect(&root, why, "use --no-sched",
	       "Linux 6.1.0-56-cloud-amd64 refuses BPF program prof_sched_switch: R3 unbounded "
	       "memory access; use --no-sched, and please report with -vv");
	expect(&root, why, NULL,
	       "Linux 6.1.0-56-cloud-amd64 refuses BPF program prof_sched_switch: R3 unbounded "
	       "memory access; please report with -vv");
	expect(&root, (struct capture_refusal){ .err = -E2BIG, .program = "prof_sample" }, NULL,
	       "Linux 6.1.0-56-cloud-amd64 refuses BPF program prof_sample: Argument list too "
	       "long; please report with -vv");
}

Test(refusal, held_capabilities_are_not_blamed)
{
	struct refusal_facts facts = root;

	expect(&facts, (struct capture_refusal){ .err = -EPERM }, NULL,
	       "may not load BPF programs: a security module (SELinux, AppArmor) denies it; see the "
	       "kernel log");
	facts.denial.seccomp = true;
	expect(&facts, (struct capture_refusal){ .err = -EPERM }, NULL,
	       "may not load BPF programs: a seccomp filter denies bpf() or perf_event_open(); allow "
	       "both, or record outside of the container");
	/* a security module does not deny what the verifier has checked */
	expect(&facts, (struct capture_refusal){ .err = -EPERM, .program = "p", .reason = "r" },
	       NULL, "Linux 6.1.0-56-cloud-amd64 refuses BPF program p: r; please report with -vv");
	facts.denial.caps = 0;
	expect(&facts, (struct capture_refusal){ .err = -EPERM }, NULL,
	       "may not load BPF programs: run it with sudo, or give the program CAP_BPF, "
	       "CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH and CAP_SYSLOG");
}

Test(refusal, lockdown_is_named_for_any_failure)
{
	struct refusal_facts facts = root;
	const char want[] =
		"may not load BPF programs: kernel lockdown (confidentiality) denies it; "
		"boot with lockdown=integrity";

	facts.denial.confidential = true;
	expect(&facts, (struct capture_refusal){ .err = -EPERM }, NULL, want);
	expect(&facts,
	       (struct capture_refusal){
		       .err = -EINVAL, .program = "p", .reason = "unknown func bpf_probe_read" },
	       NULL, want);
	expect(&facts, (struct capture_refusal){ 0 }, NULL, want);
}

Test(refusal, kernel_without_btf_or_bpf_is_named)
{
	struct refusal_facts facts = root;

	expect(&facts, (struct capture_refusal){ .err = -ENOSYS }, NULL,
	       "this kernel has no bpf(); use a kernel built with CONFIG_BPF_SYSCALL=y");
	facts.has_btf = false;
	expect(&facts, (struct capture_refusal){ .err = -ESRCH }, NULL,
	       "Linux 6.1.0-56-cloud-amd64 has no readable BTF (/sys/kernel/btf/vmlinux); use a "
	       "kernel of 5.15 or later built with CONFIG_DEBUG_INFO_BTF=y, or give a copy of the "
	       "file with --btf if the kernel has it but hides it");
}

Test(refusal, resource_limits_are_no_refusals_of_programs)
{
	expect(&root, (struct capture_refusal){ .err = -ENOMEM, .map = "unwind_maps" }, NULL,
	       "cannot create BPF map unwind_maps: Cannot allocate memory; use smaller -m and "
	       "--unwind-mem, or raise the memory limit of the cgroup");
	expect(&root, (struct capture_refusal){ .err = -E2BIG, .map = "stages" }, NULL,
	       "cannot create BPF map stages: Argument list too long; use smaller -m and "
	       "--unwind-mem, or raise the memory limit of the cgroup");
	expect(&root, (struct capture_refusal){ .err = -ENOMEM, .program = "p" }, NULL,
	       "cannot load BPF programs: Cannot allocate memory; raise the memory limit of the "
	       "cgroup");
	expect(&root, (struct capture_refusal){ .err = -EMFILE }, NULL,
	       "too many open files; raise \"ulimit -n\"");
	expect(&root, (struct capture_refusal){ .err = -EMFILE, .program = "p", .reason = "r" },
	       "use --no-sched", "too many open files; raise \"ulimit -n\"");
	expect(&root, (struct capture_refusal){ .err = -EMFILE, .files_needed = 129 }, NULL,
	       "too few open files are allowed; raise \"ulimit -n\" to 129 or more");
	expect(&root, (struct capture_refusal){ .err = -ENFILE, .program = "p", .reason = "r" },
	       NULL, "too many open files in the system; raise the sysctl fs.file-max");
}

Test(refusal, unknown_errors_refer_to_vv)
{
	expect(&root, (struct capture_refusal){ .err = -EINVAL }, NULL,
	       "cannot load BPF programs: Invalid argument; -vv shows why");
}
