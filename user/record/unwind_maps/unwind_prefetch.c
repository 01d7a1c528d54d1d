// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind_prefetch.c - makes unwind tables before the first stack is unwound
 *
 * The mappings of existing processes are read. For a command that has not started, its files show what it will map.
 * Waits some milliseconds for the tables.
 */
#include "record/unwind_maps/unwind_prefetch.h"

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "kernel/proc.h"
#include "record/process/tasks.h"
#include "record/symbols/frames.h"
#include "record/target/elf_deps.h"
#include "record/target/exec_probe.h"
#include "record/target/launch.h"
#include "record/unwind_maps/unwind_loader.h"

enum {
	TABLES_MS = 50, /* later tables are waited for at their first use */
	TABLES_EXPECTED_MS = 200, /* the same for a command that has not started */
	MS_NS = 1000000,
};

static bool is_command(const struct unwind_prefetch *e, uint32_t pid)
{
	return e->launch && (uint32_t)launch_pid(e->launch) == pid;
}

static void follow_process(struct process *proc, void *ctx)
{
	const struct unwind_prefetch *e = ctx;

	frames_expect(e->frames, proc);
	if (e->unwinding && proc->wanted && !is_command(e, proc->pid))
		unwind_loader_follow(e->unwinding, proc->pid, &proc->maps);
}

struct expecting {
	struct unwind_loader *unwinding;
	struct frames_from from;
};

static void expect_file(void *ctx, const struct elf_deps_file *file)
{
	struct expecting *x = ctx;

	unwind_loader_expect(x->unwinding, file, &x->from);
}

static void expect_command(const struct unwind_prefetch *e)
{
	pid_t pid = launch_pid(e->launch);
	struct expecting x = { e->unwinding, { (uint32_t)pid, proc_owner(pid) } };

	unwind_loader_follow(e->unwinding, x.from.pid, NULL);
	if (e->exec_probe)
		exec_probe_receive(e->exec_probe, expect_file, &x);
}

void unwind_prefetch_prepare(const struct unwind_prefetch *e)
{
	tasks_each_process(e->tasks, follow_process, (void *)e);
	if (!e->unwinding)
		return;
	if (e->launch)
		expect_command(e);
	if (e->settle)
		unwind_loader_settle(e->unwinding,
				     clock_mono_ns() + (uint64_t)(e->launch ? TABLES_EXPECTED_MS :
									      TABLES_MS) *
							       MS_NS);
}
