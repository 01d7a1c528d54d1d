// SPDX-License-Identifier: BSD-2-Clause
/*
 * live_maps.c - current mappings of running processes, ahead of the drain
 *
 * Metadata records report new executable mappings and programs, but not unmappings. A new mapping replaces the
 * mappings that it covers. After a loss, and after a walk through unknown code, threads read /proc. An answer
 * counts if no record about the process arrived since the request. A process that changes all the time is requested
 * at growing intervals.
 *
 * Several processes may share their memory (vfork, CLONE_VM): a change of one applies to all.
 *
 * A process ends when its number is free: its leader may have ended long before its last thread.
 */
#include "record/unwind_maps/live_maps.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hmap.h"
#include "kernel/perf_side.h"
#include "record/process/proc_reader.h"
#include "record/process/snapshot.h"
#include "record/process/string_pool.h"
#include "record/process/tasks.h"
#include "record/process/work_budget.h"

#define SECOND_NS 1000000000ULL
#define ASK_NS (SECOND_NS / 10)
#define ASK_MAX_NS (16 * SECOND_NS)

enum {
	ANSWERS_MAX = 64, /* handled per step */
	ASKS_MAX = 64, /* requests per step */
	CHECKS_MAX = 1024, /* processes per step that are checked for their end */
	SHARERS_MAX = 16, /* processes that share one memory */
	READ_MAP_NS = 1400, /* cost of a mapping in /proc */
};

/* Memory shared by several processes. */
struct live_maps_memory {
	uint32_t refs;
	uint32_t cnt;
	struct live_maps_proc *v[SHARERS_MAX]; /* without crowded ones */
};

/* Process numbers to handle. */
struct numbers {
	uint32_t *v;
	size_t cnt, cap;
};

struct live_maps {
	struct live_maps_cfg cfg;
	struct hmap by_pid;
	struct numbers checked, doubted;
	size_t memory_cnt; /* shared memories */
};

struct live_maps *live_maps_new(const struct live_maps_cfg *cfg)
{
	struct live_maps *m = xcalloc(1, sizeof(*m));

	m->cfg = *cfg;
	hmap_init(&m->by_pid);
	return m;
}

static void leave_memory(struct live_maps *m, struct live_maps_proc *p)
{
	struct live_maps_memory *mem = p->memory;
	uint32_t i, cnt = 0;

	p->memory = NULL;
	p->crowded = false;
	if (!mem)
		return;
	for (i = 0; i < mem->cnt; i++)
		if (mem->v[i] != p)
			mem->v[cnt++] = mem->v[i];
	mem->cnt = cnt;
	if (--mem->refs)
		return;
	free(mem);
	m->memory_cnt--;
}

static void proc_free(struct live_maps *m, struct live_maps_proc *p)
{
	leave_memory(m, p);
	proc_maps_free(&p->maps);
	free(p);
}

void live_maps_free(struct live_maps *m)
{
	size_t pos = 0;
	uint64_t key;
	void *p;

	if (!m)
		return;
	while (hmap_next(&m->by_pid, &pos, &key, &p))
		proc_free(m, p);
	hmap_fini(&m->by_pid);
	free(m->checked.v);
	free(m->doubted.v);
	free(m);
}

static void add_number(struct numbers *n, uint32_t pid)
{
	n->v = array_reserve(n->v, &n->cap, n->cnt + 1, sizeof(*n->v));
	n->v[n->cnt++] = pid;
}

struct live_maps_proc *live_maps_find(const struct live_maps *m, uint32_t pid)
{
	return hmap_get(&m->by_pid, pid);
}

void live_maps_each(struct live_maps *m, void (*fn)(void *ctx, struct live_maps_proc *p), void *ctx)
{
	size_t pos = 0;
	uint64_t key;
	void *p;

	while (hmap_next(&m->by_pid, &pos, &key, &p))
		fn(ctx, p);
}

static void report_news(struct live_maps *m, struct live_maps_proc *p, enum live_maps_news what)
{
	m->cfg.news(m->cfg.ctx, p, what);
}

/* Adds a process without known mappings. */
static struct live_maps_proc *add(struct live_maps *m, uint32_t pid)
{
	struct live_maps_proc *p = xcalloc(1, sizeof(*p));

	p->pid = pid;
	tasks_init_maps(m->cfg.tasks, &p->maps);
	hmap_set(&m->by_pid, pid, p);
	return p;
}

struct live_maps_proc *live_maps_follow(struct live_maps *m, uint32_t pid,
					const struct proc_maps *maps)
{
	struct live_maps_proc *p = live_maps_find(m, pid);

	if (!p)
		p = add(m, pid);
	proc_maps_copy(&p->maps, maps);
	p->known = true;
	return p;
}

static void remove_process(struct live_maps *m, struct live_maps_proc *p)
{
	hmap_del(&m->by_pid, p->pid);
	proc_free(m, p);
}

static void doubt(struct live_maps *m, struct live_maps_proc *p)
{
	if (!p->doubted)
		add_number(&m->doubted, p->pid);
	p->doubted = true;
}

static void check(struct live_maps *m, struct live_maps_proc *p)
{
	if (!p->checked)
		add_number(&m->checked, p->pid);
	p->checked = true;
}

static void join_memory(struct live_maps_memory *mem, struct live_maps_proc *p)
{
	p->memory = mem;
	mem->refs++;
	if (mem->cnt < SHARERS_MAX)
		mem->v[mem->cnt++] = p;
	else
		p->crowded = true;
}

void live_maps_share(struct live_maps *m, struct live_maps_proc *parent,
		     struct live_maps_proc *child)
{
	if (!parent->memory) {
		join_memory(xcalloc(1, sizeof(*parent->memory)), parent);
		m->memory_cnt++;
	}
	leave_memory(m, child);
	join_memory(parent->memory, child);
	if (child->crowded)
		live_maps_forget(m, child);
}

/* Iterates over all processes that share p's memory, from *i = 0 on; NULL at the end. */
static struct live_maps_proc *next_sharer(struct live_maps_proc *p, uint32_t *i)
{
	if (p->memory)
		return *i < p->memory->cnt ? p->memory->v[(*i)++] : NULL;
	return (*i)++ ? NULL : p;
}

void live_maps_forget(struct live_maps *m, struct live_maps_proc *p)
{
	proc_maps_clear(&p->maps);
	p->known = false;
	report_news(m, p, LIVE_MAPS_UNKNOWN);
}

/* ---- side-band ------------------------------------------------------------------------------------ */

/* An older process of this number has ended, with or without a record. */
static void side_fork(struct live_maps *m, const struct perf_side *side)
{
	struct live_maps_proc *parent, *p;

	if (side->pid != side->tid)
		return;
	p = live_maps_find(m, side->pid);
	if (p)
		remove_process(m, p);
	parent = live_maps_find(m, side->ppid);
	if (!parent && !m->cfg.all)
		return;
	p = add(m, side->pid);
	p->ppid = side->ppid;
	p->side_time = side->time;
	if (parent && parent->known) {
		proc_maps_copy(&p->maps, &parent->maps);
		p->known = true;
	} else {
		doubt(m, p);
	}
	report_news(m, p, LIVE_MAPS_FORKED);
}

static struct live_maps_proc *get(struct live_maps *m, uint32_t pid)
{
	struct live_maps_proc *p = live_maps_find(m, pid);

	return p || !m->cfg.all ? p : add(m, pid);
}

/*
 * The limit of the recorder's work is reached: programs that start now stay unknown until /proc is read, which waits
 * for its budget. Most of them have ended by then. Known processes are followed all the same.
 */
static bool is_over_budget(const struct live_maps *m)
{
	return work_budget_is_capped(tasks_work(m->cfg.tasks), WORK_LISTS);
}

static void side_exec(struct live_maps *m, const struct perf_side *side)
{
	struct live_maps_proc *p = get(m, side->pid);

	if (!p)
		return;
	proc_maps_clear(&p->maps);
	p->known = !is_over_budget(m);
	if (!p->known)
		doubt(m, p);
	p->exec_time = p->side_time = side->time;
	p->asked = false; /* a pending answer describes the program before the exec */
	p->ended = false;
	p->ask_wait_ns = 0;
	leave_memory(m, p);
	report_news(m, p, LIVE_MAPS_EXECED);
}

/* The same bytes of a file, for example after a change of the mapping's protection. */
static bool is_same_code(const struct map *a, const struct map *b)
{
	return a->start - a->pgoff == b->start - b->pgoff && !strcmp(a->path, b->path) &&
	       (!a->build_id_known || !b->build_id_known ||
		(a->build_id_sz == b->build_id_sz &&
		 !memcmp(a->build_id, b->build_id, a->build_id_sz)));
}

/* A child may have copied a list that its parent did not have at the time of the record. */
static void report_replaced(struct live_maps *m, const struct live_maps_proc *p,
			    const struct map *old, uint64_t time)
{
	if (m->cfg.replaced && (old->module_id || proc_maps_is_file(old->path)))
		m->cfg.replaced(m->cfg.ctx, p, old->module_id, time);
}

/* A mapping of the same code keeps its known properties; other code is replaced. */
static void cover(struct live_maps *m, const struct live_maps_proc *p, struct map *map,
		  uint64_t time)
{
	const struct map *old;
	uint64_t addr;

	for (addr = map->start; (old = proc_maps_next(&p->maps, addr)) && old->start < map->end;
	     addr = old->end) {
		if (is_same_code(old, map)) {
			if ((proc_maps_is_file(map->path) || proc_maps_is_memfd(map->path)) &&
			    !map->build_id_sz)
				continue; /* the file may have been rewritten since */
			map->module_id = old->module_id;
			map->slot = old->slot;
		} else {
			report_replaced(m, p, old, time);
		}
	}
}

static void put_map(struct live_maps *m, struct live_maps_proc *p, const struct perf_side *side)
{
	struct map map = proc_maps_from_side(tasks_texts(m->cfg.tasks), side);
	bool kept;

	cover(m, p, &map, side->time);
	kept = proc_maps_insert(&p->maps, &map);
	string_pool_unref(tasks_texts(m->cfg.tasks), map.path);
	if (kept)
		report_news(m, p, LIVE_MAPS_CHANGED);
	else
		live_maps_forget(m, p);
}

/* It maps too fast to follow. */
static void lose_track(struct live_maps *m, struct live_maps_proc *p)
{
	if (p->known)
		live_maps_forget(m, p);
	doubt(m, p);
}

static void side_mmap(struct live_maps *m, const struct perf_side *side)
{
	struct live_maps_proc *p, *sharer;
	uint32_t i = 0;
	bool may, over;

	if (!(side->prot & PROT_EXEC) || side->addr + side->len < side->addr)
		return;
	p = live_maps_find(m, side->pid);
	if (!p && m->cfg.all) {
		p = add(m, side->pid);
		doubt(m, p);
	}
	if (!p || side->time < p->exec_time)
		return;
	may = proc_maps_may_report(&p->budget, side->time);
	over = is_over_budget(m);
	while ((sharer = next_sharer(p, &i))) {
		sharer->side_time = side->time;
		if (may && (sharer->known || !over))
			put_map(m, sharer, side);
		else
			lose_track(m, sharer);
	}
}

static void side_exit(struct live_maps *m, const struct perf_side *side)
{
	struct live_maps_proc *p = side->pid == side->tid ? live_maps_find(m, side->pid) : NULL;

	if (!p)
		return;
	p->ended = true;
	check(m, p);
}

void live_maps_ended(struct live_maps *m, uint32_t pid)
{
	struct live_maps_proc *p;

	if (live_maps_find(m, pid))
		return;
	p = add(m, pid);
	p->ended = true;
	check(m, p);
}

static void suspect(void *ctx, struct live_maps_proc *p)
{
	doubt(ctx, p);
	check(ctx, p);
}

void live_maps_side(struct live_maps *m, const struct perf_side *side)
{
	switch (side->type) {
	case PERF_SIDE_FORK:
		side_fork(m, side);
		break;
	case PERF_SIDE_COMM:
		if (side->comm_exec)
			side_exec(m, side);
		break;
	case PERF_SIDE_MMAP:
		side_mmap(m, side);
		break;
	case PERF_SIDE_EXIT:
		side_exit(m, side);
		break;
	case PERF_SIDE_LOST:
	case PERF_SIDE_DAMAGED:
		live_maps_each(m, suspect, m); /* any process may have changed */
		break;
	case PERF_SIDE_FULL: /* a record with the loss follows */
	case PERF_SIDE_KSYMBOL:
	case PERF_SIDE_STALLED:
	case PERF_SIDE_OTHER:
		break;
	}
}

/* ---- /proc ------------------------------------------------------------------------------------------ */

void live_maps_doubt(struct live_maps *m, uint32_t pid, uint64_t now_ns)
{
	struct live_maps_proc *p = get(m, pid);

	if (p && !p->crowded && now_ns >= p->ask_ns)
		doubt(m, p);
}

/*
 * All mappings in /proc, with known properties of unchanged ones. Returns whether all are unchanged; *whole: the
 * list is complete.
 */
static bool read_maps(struct live_maps *m, const struct live_maps_proc *p, const struct snapshot *s,
		      struct proc_maps *out, bool *whole)
{
	bool same = true;
	size_t i;

	*whole = !s->maps_cut;

	tasks_init_maps(m->cfg.tasks, out);
	for (i = 0; i < s->map_cnt; i++) {
		struct map map = proc_maps_from_snapshot(tasks_texts(m->cfg.tasks), s, i);
		const struct map *old = proc_maps_find(&p->maps, map.start);
		const char *path = map.path;

		cover(m, p, &map, p->side_time);
		if (proc_maps_is_same(old, &map))
			map = *old;
		else
			same = false;
		*whole &= proc_maps_insert(out, &map);
		string_pool_unref(tasks_texts(m->cfg.tasks), path);
	}
	return same && (p->maps.table ? p->maps.table->cnt : 0) == s->map_cnt;
}

/* Reports unmappings, which have no records: other code may be there from now on. */
static void report_unmapped(struct live_maps *m, const struct live_maps_proc *p,
			    const struct proc_maps *now, uint64_t time)
{
	const struct map *old, *map;
	uint64_t addr;

	for (addr = 0; (old = proc_maps_next(&p->maps, addr)); addr = old->end) {
		map = proc_maps_find(now, old->start);
		if (!map || map->end < old->end || !is_same_code(old, map))
			report_replaced(m, p, old, time);
	}
}

/* Copies the state to all processes that share its memory. */
static void share_state(struct live_maps *m, struct live_maps_proc *p, uint64_t time)
{
	struct live_maps_proc *sharer;
	uint32_t i = 0;

	while ((sharer = next_sharer(p, &i))) {
		if (sharer == p)
			continue;
		report_unmapped(m, sharer, &p->maps, time);
		proc_maps_copy(&sharer->maps, &p->maps);
		sharer->known = p->known;
		report_news(m, sharer, p->known ? LIVE_MAPS_CHANGED : LIVE_MAPS_UNKNOWN);
	}
}

static void handle_answer(struct live_maps *m, const struct snapshot *s, uint64_t now_ns)
{
	struct live_maps_proc *p = live_maps_find(m, s->pid);
	struct proc_maps maps;
	bool same, whole;

	if (!p || !p->asked)
		return;
	p->asked = false;
	if (p->crowded)
		return;
	if (s->err || !s->map_cnt) {
		p->ended = true; /* reported before the process was known; or it is not readable */
		check(m, p);
		return;
	}
	if (p->side_time >= s->from_ns || s->from_ns + p->ask_wait_ns < p->ask_ns) {
		doubt(m, p); /* it may describe another time than the records */
		return;
	}
	same = read_maps(m, p, s, &maps, &whole) && p->known;
	if (!same && p->known)
		p->ask_wait_ns = ASK_NS;
	p->ask_ns = now_ns + p->ask_wait_ns;
	report_unmapped(m, p, &maps, s->from_ns);
	proc_maps_free(&p->maps);
	p->maps = maps;
	p->known = whole;
	if (!whole)
		live_maps_forget(m, p); /* an incomplete list is not used for walks */
	else if (!same)
		report_news(m, p, LIVE_MAPS_CHANGED);
	if (!same && p->memory)
		share_state(m, p, s->from_ns);
}

/* Charged in advance: otherwise many expensive processes are requested before the first of them is charged. */
static void charge_request(struct live_maps *m, struct live_maps_proc *p)
{
	p->charged_ns = (uint64_t)READ_MAP_NS * (p->maps.table ? p->maps.table->cnt : 0);
	work_budget_charge(tasks_work(m->cfg.tasks), p->pid, WORK_LISTS, p->charged_ns);
}

static void charge_answer(struct live_maps *m, const struct snapshot *s)
{
	struct live_maps_proc *p = live_maps_find(m, s->pid);
	const uint64_t charged = p ? p->charged_ns : 0;

	if (p)
		p->charged_ns = 0;
	if (s->cpu_ns > charged)
		work_budget_charge(tasks_work(m->cfg.tasks), s->pid, WORK_LISTS,
				   s->cpu_ns - charged);
}

static void ask_doubted(struct live_maps *m, uint64_t now_ns)
{
	size_t i, kept = 0, asked = 0;

	for (i = 0; i < m->doubted.cnt; i++) {
		struct live_maps_proc *p = live_maps_find(m, m->doubted.v[i]);

		if (!p || !p->doubted)
			continue;
		if (p->asked || now_ns < p->ask_ns || asked == ASKS_MAX || !m->cfg.reader ||
		    !work_budget_may(tasks_work(m->cfg.tasks), p->pid, WORK_LISTS) ||
		    !proc_reader_ask(m->cfg.reader, p->pid, true)) {
			m->doubted.v[kept++] = p->pid;
			continue;
		}
		asked++;
		charge_request(m, p);
		p->asked = true;
		p->doubted = false;
		p->ask_wait_ns = !p->ask_wait_ns	      ? ASK_NS :
				 p->ask_wait_ns >= ASK_MAX_NS ? ASK_MAX_NS :
								2 * p->ask_wait_ns;
		p->ask_ns = now_ns + p->ask_wait_ns;
	}
	m->doubted.cnt = kept;
}

/* Checks some processes that may have ended. If only the leader has ended, the process is queued again. */
static void drop_ended(struct live_maps *m)
{
	size_t n = m->checked.cnt < CHECKS_MAX ? m->checked.cnt : CHECKS_MAX, kept = 0, i;
	uint32_t again[CHECKS_MAX], *v = m->checked.v;

	for (i = 0; i < n; i++) {
		struct live_maps_proc *p = live_maps_find(m, v[i]);

		if (!p || !p->checked)
			continue;
		if (kill((pid_t)p->pid, 0) && errno == ESRCH) {
			report_news(m, p, LIVE_MAPS_GONE);
			remove_process(m, p);
		} else if (p->ended) {
			again[kept++] = p->pid;
		} else {
			p->checked = false;
		}
	}
	if (!n)
		return;
	m->checked.cnt -= n;
	memmove(v, v + n, m->checked.cnt * sizeof(*v));
	memcpy(v + m->checked.cnt, again, kept * sizeof(*v));
	m->checked.cnt += kept;
}

void live_maps_step(struct live_maps *m, uint64_t now_ns)
{
	struct snapshot *s;
	int n;

	drop_ended(m);
	for (n = 0; n < ANSWERS_MAX && m->cfg.reader; n++) {
		s = proc_reader_receive(m->cfg.reader, now_ns);
		if (!s)
			break;
		charge_answer(m, s);
		handle_answer(m, s, now_ns);
		snapshot_free(s);
	}
	ask_doubted(m, now_ns);
}

size_t live_maps_memory(const struct live_maps *m)
{
	return m->by_pid.cap * sizeof(struct hmap_slot) +
	       m->by_pid.cnt * sizeof(struct live_maps_proc) +
	       m->memory_cnt * sizeof(struct live_maps_memory) +
	       (m->checked.cap + m->doubted.cap) * sizeof(uint32_t);
}
