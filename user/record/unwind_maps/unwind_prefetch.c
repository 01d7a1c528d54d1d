// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind_prefetch.c - makes unwind tables before the first stack is unwound
 *
 * The mappings of existing processes are read. For a command that has not started, its files show what it will map.
 * System-wide, only tables of processes that run now, and of files that many processes map, are made. Processes that
 * run come first. Waits some milliseconds for the tables.
 */
#include "record/unwind_maps/unwind_prefetch.h"

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/hmap.h"
#include "kernel/proc.h"
#include "record/process/tasks.h"
#include "record/symbols/frames.h"
#include "record/target/elf_deps.h"
#include "record/target/exec_probe.h"
#include "record/target/launch.h"
#include "record/unwind_maps/unwind_loader.h"

enum {
	TABLES_MS = 50, /* later tables are waited for at their first use */
	TABLES_EXPECTED_MS = 200, /* the same for a command that has not started, and system-wide */
	MS_NS = 1000000,
};

static bool is_command(const struct unwind_prefetch *e, uint32_t pid)
{
	return e->launch && (uint32_t)launch_pid(e->launch) == pid;
}

/* Of the leader: other threads of a process are not read. */
static bool is_running(const struct process *proc)
{
	struct proc_stat stat;

	return proc->wanted && !proc_read_stat((pid_t)proc->pid, &stat) && stat.state == 'R';
}

struct following {
	const struct unwind_prefetch *prefetch;
	struct hmap running; /* by pid */
	bool runs; /* only processes that run, or only the others */
};

static void note_running(struct process *proc, void *ctx)
{
	struct following *f = ctx;

	if (is_running(proc))
		hmap_set(&f->running, proc->pid, proc);
}

static void follow_process(struct process *proc, void *ctx)
{
	const struct following *f = ctx;
	const struct unwind_prefetch *e = f->prefetch;

	if (f->runs != (hmap_get(&f->running, proc->pid) != NULL))
		return;
	frames_expect(e->frames, proc);
	if (e->unwinding && proc->wanted && !is_command(e, proc->pid))
		unwind_loader_follow(e->unwinding, proc->pid, &proc->maps, f->runs);
}

static void follow_processes(const struct unwind_prefetch *e)
{
	struct following f = { .prefetch = e, .runs = true };

	hmap_init(&f.running);
	tasks_each_process(e->tasks, note_running, &f);
	tasks_each_process(e->tasks, follow_process, &f);
	f.runs = false;
	tasks_each_process(e->tasks, follow_process, &f);
	hmap_fini(&f.running);
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

	unwind_loader_follow(e->unwinding, x.from.pid, NULL, false);
	if (e->exec_probe)
		exec_probe_receive(e->exec_probe, expect_file, &x);
}

void unwind_prefetch_prepare(const struct unwind_prefetch *e)
{
	uint64_t ms;

	follow_processes(e);
	if (!e->unwinding)
		return;
	if (e->launch)
		expect_command(e);
	ms = e->launch || e->all ? TABLES_EXPECTED_MS : TABLES_MS;
	unwind_loader_settle(e->unwinding, clock_mono_ns() + ms * MS_NS);
}
