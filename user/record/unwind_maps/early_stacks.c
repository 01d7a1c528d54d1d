// SPDX-License-Identifier: BSD-2-Clause
/*
 * early_stacks.c - what is made before the first stack is walked
 *
 * Of processes that are there it is read what they map; of a command that has not begun its files tell what
 * it will map. Tables that come within some milliseconds are waited for.
 */
#include "record/unwind_maps/early_stacks.h"

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "kernel/proc.h"
#include "record/symbols/frames.h"
#include "record/target/launch.h"
#include "record/target/needed.h"
#include "record/target/scout.h"
#include "record/process/tasks.h"
#include "record/unwind_maps/unwinding.h"

enum {
	TABLES_MS = 50, /* what comes later is waited for then */
	TABLES_EXPECTED_MS = 200, /* the same, of a command that has not begun */
	MS_NS = 1000000,
};

static bool is_command(const struct early_stacks *e, uint32_t pid)
{
	return e->launch && (uint32_t)launch_pid(e->launch) == pid;
}

static void follow_process(struct process *proc, void *ctx)
{
	const struct early_stacks *e = ctx;

	frames_expect(e->frames, proc);
	if (e->unwinding && proc->wanted && !is_command(e, proc->pid))
		unwinding_follow(e->unwinding, proc->pid, &proc->maps);
}

struct expecting {
	struct unwinding *unwinding;
	struct frames_from from;
};

static void expect_file(void *ctx, const struct needed_file *file)
{
	struct expecting *x = ctx;

	unwinding_expect(x->unwinding, file, &x->from);
}

static void expect_command(const struct early_stacks *e)
{
	pid_t pid = launch_pid(e->launch);
	struct expecting x = { e->unwinding, { (uint32_t)pid, proc_owner(pid) } };

	unwinding_follow(e->unwinding, x.from.pid, NULL);
	if (e->scout)
		scout_hear(e->scout, expect_file, &x);
}

void early_stacks_prepare(const struct early_stacks *e)
{
	tasks_each_process(e->tasks, follow_process, (void *)e);
	if (!e->unwinding)
		return;
	if (e->launch)
		expect_command(e);
	if (e->settle)
		unwinding_settle(e->unwinding,
				 clock_mono_ns() +
					 (uint64_t)(e->launch ? TABLES_EXPECTED_MS : TABLES_MS) *
						 MS_NS);
}
