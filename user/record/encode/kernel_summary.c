// SPDX-License-Identifier: BSD-2-Clause
/*
 * kernel_summary.c - writes the tables of --summary as events, once per period
 *
 * Each CPU has two tables. At the end of a period, programs switch to the other ones. A program that started before
 * may still write to the old ones for microseconds, or longer if a virtual machine's CPU is descheduled. Therefore
 * they are read a tenth of a second later. Rows of one process are summed over all CPUs in preallocated memory. If
 * it is full, processes are added to the row for others, so the sums are complete.
 *
 * A process is introduced by a TaskEvent when its name appears for the first time. /proc is read at that time, for
 * at most ASKED_MAX processes per period. Introduced processes are cached by number in a table that overwrites
 * entries, so a process may be introduced again.
 */
#include "record/encode/kernel_summary.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "events/emit.h"
#include "kernel/proc.h"
#include "record/capture/capture_summary.h"
#include "record/target/targets.h"

enum {
	MERGED_BITS = 12,
	MERGED_MAX = 1 << MERGED_BITS, /* slots; at most three quarters are used */
	KNOWN_MAX = 8192,
	ASKED_MAX = 256, /* processes read from /proc per period */
	SETTLE_NS = 100000000,
};

struct merged {
	uint32_t tgid; /* 0: free */
	uint64_t involuntary, unknown;
	char comm[PROF_COMM_SIZE + 1];
	uint64_t named_ns; /* last time that a CPU saw this name */
	struct prof_summary_hist hists[PROF_SUMMARY_KINDS];
};

struct known {
	uint32_t tgid;
	char comm[PROF_COMM_SIZE];
};

struct kernel_summary {
	const struct capture_summary *tables;
	struct emit *emit;
	uint64_t period_ns;
	bool ask_proc; /* /proc shows the same process ids as the kernel */
	uint64_t began_ns; /* start of the period that programs write to */
	uint64_t ended_ns; /* end of the previous period, if pending */
	uint64_t pending_from_ns;
	bool pending; /* the other tables are not read yet */
	uint32_t asked; /* reads of /proc in this period */
	struct merged *merged; /* MERGED_MAX, and one for others */
	size_t merged_cnt;
	struct known *known;
	struct buf exe, cgroup;
};

struct kernel_summary *kernel_summary_new(const struct capture_summary *tables, uint64_t period_ns,
					  uint64_t start_ns)
{
	struct kernel_summary *s;

	if (!tables)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	s->tables = tables;
	s->period_ns = period_ns;
	s->ask_proc = targets_numbers_are_kernels();
	s->began_ns = start_ns;
	s->merged = xcalloc(MERGED_MAX + 1, sizeof(*s->merged));
	s->known = xcalloc(KNOWN_MAX, sizeof(*s->known));
	return s;
}

void kernel_summary_free(struct kernel_summary *s)
{
	if (!s)
		return;
	buf_free(&s->exe);
	buf_free(&s->cgroup);
	free(s->merged);
	free(s->known);
	free(s);
}

void kernel_summary_begin_segment(struct kernel_summary *s, struct emit *emit)
{
	if (!s)
		return;
	s->emit = emit;
	memset(s->known, 0, KNOWN_MAX * sizeof(*s->known));
}

/* ---- adding up --------------------------------------------------------------------------------- */

static struct merged *merged_of(struct kernel_summary *s, uint32_t tgid)
{
	uint32_t at = tgid * 0x9e3779b1U >> (32 - MERGED_BITS);

	if (!tgid)
		return &s->merged[MERGED_MAX];
	while (s->merged[at].tgid && s->merged[at].tgid != tgid)
		at = (at + 1) & (MERGED_MAX - 1);
	if (!s->merged[at].tgid) {
		if (s->merged_cnt >= MERGED_MAX / 4 * 3)
			return &s->merged[MERGED_MAX];
		s->merged[at].tgid = tgid;
		s->merged_cnt++;
	}
	return &s->merged[at];
}

static void add_hist(struct prof_summary_hist *to, const struct prof_summary_hist *from)
{
	to->sum_ns += from->sum_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	for (int k = 0; k < PROF_SUMMARY_BUCKETS; k++)
		to->buckets[k] += from->buckets[k];
}

static void add_row(struct kernel_summary *s, const struct prof_summary_row *row)
{
	struct merged *m = merged_of(s, row->tgid);

	if (!m->comm[0] || row->named_ns > m->named_ns) {
		memcpy(m->comm, row->comm, PROF_COMM_SIZE);
		m->named_ns = row->named_ns;
	}
	m->involuntary += row->involuntary;
	m->unknown += row->unknown;
	for (int k = 0; k < PROF_SUMMARY_KINDS; k++)
		add_hist(&m->hists[k], &row->hists[k]);
}

/* Adds up and clears one table of each CPU. */
static void add_tables(struct kernel_summary *s, uint32_t which)
{
	for (uint32_t cpu = 0; cpu < s->tables->cpu_cnt; cpu++) {
		struct prof_summary_row *row = capture_summary_table(s->tables, which, cpu);

		for (uint32_t i = 0; i < PROF_SUMMARY_TABLE; i++, row++) {
			/* the row for others has no id */
			if (!row->tgid && i < PROF_SUMMARY_ROWS)
				continue;
			add_row(s, row);
			memset(row, 0, sizeof(*row));
		}
	}
}

/* ---- writing ----------------------------------------------------------------------------------- */

static int introduce(struct kernel_summary *s, const struct merged *m, uint64_t ts)
{
	struct known *k = &s->known[m->tgid % KNOWN_MAX];
	struct proc_stat stat = { .ppid = 0 };
	struct own_task task = { .pid = m->tgid, .tid = m->tgid, .comm = own_text(m->comm) };

	if (k->tgid == m->tgid && !memcmp(k->comm, m->comm, PROF_COMM_SIZE))
		return 0;
	k->tgid = m->tgid;
	memcpy(k->comm, m->comm, PROF_COMM_SIZE);
	buf_clear(&s->exe);
	buf_clear(&s->cgroup);
	if (s->ask_proc && s->asked++ < ASKED_MAX && !proc_read_stat(m->tgid, &stat)) {
		task.ppid = stat.ppid;
		if (!proc_read_exe(m->tgid, &s->exe))
			task.exe = own_text(buf_cstr(&s->exe));
		if (!proc_read_cgroup(m->tgid, &s->cgroup))
			task.cgroup = own_text(buf_cstr(&s->cgroup));
	}
	return emit_task(s->emit, ts, &task);
}

static uint64_t count_of(const struct prof_summary_hist *h)
{
	uint64_t cnt = 0;

	for (int k = 0; k < PROF_SUMMARY_BUCKETS; k++)
		cnt += h->buckets[k];
	return cnt;
}

static int write_kind(struct kernel_summary *s, const struct merged *m, enum prof_summary_kind kind)
{
	const struct prof_summary_hist *h = &m->hists[kind];
	const struct emit_summary ev = {
		.pid = m->tgid ? m->tgid : PROF_SUMMARY_OTHER,
		.comm = m->tgid ? m->comm : "",
		.kind = kind,
		.cnt = count_of(h),
		.sum_ns = h->sum_ns,
		.max_ns = h->max_ns,
		.period_ns = s->ended_ns - s->pending_from_ns,
		.involuntary = kind == PROF_SUMMARY_RUN ? m->involuntary : 0,
		.unknown = kind == PROF_SUMMARY_WAIT ? m->unknown : 0,
		.buckets = h->buckets,
		.bucket_cnt = PROF_SUMMARY_BUCKETS,
	};

	if (!ev.cnt && !ev.unknown && !ev.involuntary)
		return 0;
	return emit_summary(s->emit, s->ended_ns, &ev);
}

static int write_merged(struct kernel_summary *s)
{
	int err = 0;

	for (size_t i = 0; i <= MERGED_MAX; i++) {
		struct merged *m = &s->merged[i];

		if (!m->tgid && i < MERGED_MAX)
			continue;
		if (!err && m->tgid)
			err = introduce(s, m, s->ended_ns);
		for (int k = 0; k < PROF_SUMMARY_KINDS && !err; k++)
			err = write_kind(s, m, k);
		memset(m, 0, sizeof(*m));
	}
	s->merged_cnt = 0;
	return err;
}

/* ---- periods ----------------------------------------------------------------------------------- */

static void end_period(struct kernel_summary *s, uint64_t now)
{
	__atomic_store_n(s->tables->active, !*s->tables->active, __ATOMIC_SEQ_CST);
	s->pending = true;
	s->pending_from_ns = s->began_ns;
	s->began_ns = s->ended_ns = now;
}

static int write_period(struct kernel_summary *s)
{
	s->pending = false;
	s->asked = 0;
	add_tables(s, !*s->tables->active);
	return write_merged(s);
}

int kernel_summary_step(struct kernel_summary *s, uint64_t now_ns)
{
	if (!s)
		return 0;
	if (s->pending)
		return now_ns - s->ended_ns < SETTLE_NS ? 0 : write_period(s);
	if (now_ns - s->began_ns >= s->period_ns)
		end_period(s, now_ns);
	return 0;
}

int kernel_summary_finish(struct kernel_summary *s, uint64_t now_ns)
{
	int err = s && s->pending ? write_period(s) : 0;

	if (!s || err)
		return err;
	end_period(s, now_ns);
	return write_period(s);
}
