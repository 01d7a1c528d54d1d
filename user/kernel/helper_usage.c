// SPDX-License-Identifier: BSD-2-Clause
/*
 * helper_usage.c - CPU time and memory of helper processes
 *
 * The helpers descend from a few fork servers, which wait for them: the fork servers' counters have the time of
 * those that have ended. Memory is the proportional set size, since all helpers share pages with the recorder. The
 * kernel walks all pages of a process for it. So it is read a few times a minute, and in between the change of the
 * process's own pages is added.
 */
#include "kernel/helper_usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "kernel/proc.h"

#define SECOND_NS 1000000000ULL

static uint64_t ended_children_ns(pid_t pid)
{
	struct proc_stat stat;

	if (proc_read_stat(pid, &stat))
		return 0;
	return (stat.cutime + stat.cstime) * SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK);
}

static uint64_t resident_bytes(pid_t pid)
{
	struct buf text = { 0 };
	unsigned long long kb = 0;
	const char *at;

	if (!proc_read_file(pid, "smaps_rollup", &text)) {
		at = strstr(buf_cstr(&text), "\nPss:");
		if (at)
			kb = strtoull(at + sizeof("\nPss:") - 1, NULL, 10);
	}
	buf_free(&text);
	return kb * 1024;
}

/* NULL if there is no room. A pid with less CPU time than before belongs to another process: it gets a new row. */
static struct helper_process *find_row(struct helper_usage *u, uint32_t pid, uint64_t cpu_ns)
{
	struct helper_process *p;

	for (p = u->v; p < u->v + u->v_cnt; p++) {
		if (p->pid != pid || p->ended)
			continue;
		if (p->cpu_ns <= cpu_ns)
			return p;
		p->ended = true;
	}
	if (u->v_cnt == HELPER_PROCESSES_MAX)
		return NULL;
	u->v_cnt++;
	*p = (struct helper_process){ .pid = pid };
	return p;
}

static void read_name(struct helper_process *p)
{
	struct buf name = { 0 };

	if (!proc_read_comm((pid_t)p->pid, &name))
		snprintf(p->name, sizeof(p->name), "%s", buf_cstr(&name));
	buf_free(&name);
}

static void read_memory(struct helper_process *p, uint64_t cpu_ns, uint64_t now_ns)
{
	const uint64_t own = proc_own_bytes((pid_t)p->pid);

	if (!p->read_ns || now_ns - p->read_ns >= HELPER_USAGE_READ_NS) {
		p->read_bytes = resident_bytes((pid_t)p->pid);
		p->read_own = own;
		p->read_ns = now_ns;
		p->read_cpu_ns = cpu_ns;
	}
	p->bytes = p->read_bytes + own > p->read_own ? p->read_bytes + own - p->read_own : 0;
	p->peak_bytes = p->bytes > p->peak_bytes ? p->bytes : p->peak_bytes;
}

/*
 * A process that did not run since the last reading changed nothing of its own. It is read once more when its
 * shared memory is due, because it may have run after that was read.
 */
static bool is_current(const struct helper_process *p, uint64_t cpu_ns, uint64_t now_ns)
{
	return p->read_ns && p->cpu_ns == cpu_ns &&
	       (p->read_cpu_ns == cpu_ns || now_ns - p->read_ns < HELPER_USAGE_READ_NS);
}

/* NULL: no room. */
static struct helper_process *update_row(struct helper_usage *u, uint32_t pid, uint64_t cpu_ns,
					 uint64_t now_ns)
{
	struct helper_process *p = find_row(u, pid, cpu_ns);

	if (!p || is_current(p, cpu_ns, now_ns))
		return p;
	read_memory(p, cpu_ns, now_ns);
	read_name(p); /* a spare process gets another one with its work */
	p->children_ns = ended_children_ns((pid_t)pid);
	p->cpu_ns = cpu_ns;
	return p;
}

static bool read_cpu_time(pid_t pid, uint64_t *ns)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return false;
	*ns = (uint64_t)ts.tv_sec * SECOND_NS + (uint64_t)ts.tv_nsec;
	return true;
}

void helper_usage_read_one(uint32_t pid, struct helper_usage *u)
{
	uint64_t ns;

	if (read_cpu_time((pid_t)pid, &ns))
		update_row(u, pid, ns, clock_mono_ns());
}

/* Without a row only its own pages count, since nothing is remembered of it. */
static void add_process(pid_t pid, uint64_t now_ns, struct helper_usage *u)
{
	const struct helper_process *p;
	uint64_t ns;

	if (!read_cpu_time(pid, &ns))
		return;
	p = update_row(u, (uint32_t)pid, ns, now_ns);
	u->cpu_ns += ns + (p ? p->children_ns : ended_children_ns(pid));
	u->bytes += p ? p->bytes : proc_own_bytes(pid);
	u->cnt++;
}

static void add_children(pid_t pid, uint64_t now_ns, struct helper_usage *u)
{
	struct buf text = { 0 };
	const char *at;
	char name[64], *end;
	unsigned long child;

	snprintf(name, sizeof(name), "task/%d/children", pid);
	if (!proc_read_file(pid, name, &text)) {
		for (at = buf_cstr(&text); (child = strtoul(at, &end, 10)) && end != at; at = end)
			add_process((pid_t)child, now_ns, u);
	}
	buf_free(&text);
}

static void mark_ended(struct helper_usage *u)
{
	uint64_t ns;

	for (size_t i = 0; i < u->v_cnt; i++)
		u->v[i].ended |= !read_cpu_time((pid_t)u->v[i].pid, &ns);
}

void helper_usage_read(const uint32_t *pids, size_t cnt, struct helper_usage *u)
{
	const uint64_t now_ns = clock_mono_ns();

	u->cpu_ns = u->bytes = u->cnt = 0;
	mark_ended(u);
	for (size_t i = 0; i < cnt; i++) {
		if (!pids[i])
			continue;
		add_process((pid_t)pids[i], now_ns, u);
		add_children((pid_t)pids[i], now_ns, u);
	}
}

void helper_usage_forget_ended(struct helper_usage *u)
{
	size_t i, cnt = 0;

	for (i = 0; i < u->v_cnt; i++)
		if (!u->v[i].ended)
			u->v[cnt++] = u->v[i];
	u->v_cnt = cnt;
}
