// SPDX-License-Identifier: BSD-2-Clause
/*
 * refusal.c - why the kernel does not load BPF programs, in one line with a remedy
 *
 * The verifier refuses with EACCES, EINVAL, E2BIG or other errors. Only the presence of a log distinguishes them
 * from missing rights. Reading the machine's properties is separate from choosing the message.
 */
#include "record/capture/refusal.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "kernel/btf.h"
#include "record/capture/capture_load.h"

void refusal_read(const char *btf, struct refusal_facts *out)
{
	static struct utsname uts;

	if (uname(&uts))
		strcpy(uts.release, "?");
	denial_read(&out->denial);
	out->has_btf = btf || !access(KERNEL_BTF, R_OK);
	out->release = uts.release;
}

static void describe_program(const struct refusal_facts *f, const struct capture_refusal *why,
			     const char *leave_out, struct buf *out)
{
	buf_printf(out, "Linux %s refuses BPF program %s: %s; ", f->release, why->program,
		   why->reason[0] ? why->reason : strerror(-why->err));
	if (leave_out)
		buf_printf(out, "%s, and ", leave_out);
	buf_addstr(out, "please report with -vv");
}

static void describe_files(const struct capture_refusal *why, struct buf *out)
{
	if (why->err == -ENFILE)
		buf_addstr(out, "too many open files in the system; raise the sysctl fs.file-max");
	else if (why->files_needed)
		buf_printf(out,
			   "too few open files are allowed; raise \"ulimit -n\" to %zu or more",
			   why->files_needed);
	else
		buf_addstr(out, "too many open files; raise \"ulimit -n\"");
}

static void describe_limit(const struct capture_refusal *why, struct buf *out)
{
	if (why->map[0])
		buf_printf(
			out,
			"cannot create BPF map %s: %s; use smaller -m and --unwind-mem, or raise "
			"the memory limit of the cgroup",
			why->map, strerror(-why->err));
	else
		buf_printf(out,
			   "cannot load BPF programs: %s; raise the memory limit of the cgroup",
			   strerror(-why->err));
}

static bool is_limit(const struct capture_refusal *why)
{
	return why->err == -ENOMEM || why->map[0];
}

void refusal_describe(const struct refusal_facts *f, const struct capture_refusal *why,
		      const char *leave_out, struct buf *out)
{
	const bool denied = why->err == -EPERM || why->err == -EACCES;

	if (f->denial.confidential || (denied && !why->reason[0]))
		buf_printf(out, "may not load BPF programs: %s", denial_text(&f->denial));
	else if (why->err == -EMFILE || why->err == -ENFILE)
		describe_files(why, out);
	else if (why->err == -ENOSYS)
		buf_addstr(out, "this kernel has no bpf(); use a kernel built with "
				"CONFIG_BPF_SYSCALL=y");
	else if (!f->has_btf)
		buf_printf(
			out,
			"Linux %s has no readable BTF (" KERNEL_BTF
			"); use a kernel of 5.15 or later built with CONFIG_DEBUG_INFO_BTF=y, or "
			"give a copy of the file with --btf if the kernel has it but hides it",
			f->release);
	else if (why->reason[0])
		describe_program(f, why, leave_out, out);
	else if (is_limit(why))
		describe_limit(why, out);
	else if (why->program[0])
		describe_program(f, why, leave_out, out);
	else
		buf_printf(out, "cannot load BPF programs: %s; -vv shows why", strerror(-why->err));
}

void refusal_report(const char *command, const struct refusal_facts *f,
		    const struct capture_refusal *why, const char *leave_out)
{
	struct buf text = { 0 };

	refusal_describe(f, why, leave_out, &text);
	log_error("%s: %s", command, buf_cstr(&text));
	buf_free(&text);
}
