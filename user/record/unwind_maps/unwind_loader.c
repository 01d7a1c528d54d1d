// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind_loader.c - gives mapping lists and unwind tables to the BPF programs
 *
 * A change of mappings is published at once. The next change of the same process is delayed by a time
 * that grows with its list: a process that maps all the time loses stacks of its own only. Files get the
 * trace's module ids here. A file whose build-id is not known yet is published without an id, and again
 * when it is known.
 *
 * A new program's list may be ready before the exec is over, and the exec empties the process's place. So the
 * place counts execs, and the loader compares that count with the execs it has seen. If they differ for long, a
 * side-band record was lost, and the place is right.
 */
#include "record/unwind_maps/unwind_loader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "kernel/perf_side.h"
#include "kernel/proc.h"
#include "prof_abi.h"
#include "record/capture/capture_unwind.h"
#include "record/process/proc_reader.h"
#include "record/process/tasks.h"
#include "record/process/work_budget.h"
#include "record/symbols/frames.h"
#include "record/target/elf_deps.h"
#include "record/unwind_maps/list_builder.h"
#include "record/unwind_maps/live_maps.h"
#include "record/unwind_maps/mapping_lag.h"
#include "record/unwind_maps/sideband_reader.h"
#include "record/unwind_maps/stack_copy_unwind.h"
#include "record/unwind_maps/table_demand.h"
#include "record/unwind_maps/table_keys.h"
#include "record/unwind_maps/unused_slots.h"
#include "symbol/broker/sym_client.h"
#include "unwind/waiter.h"

enum {
	BLOCK_SZ = 4 * PROF_UNWIND_BLOCK_WORDS,
	SIDES_MAX = 512, /* side-band records per poll */
	POLL_EVERY = 256, /* records of the drain between two polls */
	PUBLISH_MAX = 64, /* lists per poll */
	PUBLISH_MAPS = 1 << 14, /* mappings in these lists */
	NEEDED_MAX = 16, /* tables requested per step */
	ANSWERS_MAX = 4096,
	MAPS_CNT = 1 << 18, /* in all lists */
	PROCS_CNT = 1 << 14,
	PROCS_CNT_ALL = 1 << 16,
	KNOWN_CNT = 1 << 8, /* half a MiB on each CPU */
	LIST_PART = 50, /* a process's lists take one part of the time, */
	WAITS_PART = 20, /* and one of these while its files are being identified */
	COPIED_WORD_NS = 1, /* cost of passing a word of a copied stack through a ring */
};

#define MS_NS 1000000ULL
#define SOON_NS 40000 /* between two polls while nothing comes */
#define POLL_NS (MS_NS / 2) /* likewise, under a steady stream of records */
#define AGAIN_NS (MS_NS / 5) /* until an exec is over */
#define EXEC_LAG_NS (4 * MS_NS)
#define FORK_NS MS_NS /* until a child has its parent's list */
#define NO_ROOM_NS (200 * MS_NS)
#define NO_ROOM_MAX_NS (16 * NO_ROOM_NS)
#define WAITS_MAX_NS (100 * MS_NS) /* answers that identify files are recent for 200 ms */
#define OVER_BUDGET_NS (100 * MS_NS)
#define SWEEP_NS (100 * MS_NS)
#define SLOW_SWEEP_NS (1000 * MS_NS) /* reads all places of processes */
#define RELEASE_NS (1000 * MS_NS) /* between two searches for unused slots */
#define IDLE_NS (10 * RELEASE_NS) /* likewise, if only memory is to be saved */
#define SETTLE_NS (5 * MS_NS)
#define DRAINED_NS (10000 * MS_NS) /* the drain is never later than this */

/* A file whose table is requested before a process maps it. */
struct expected {
	struct frames_from from;
	struct map map; /* with a path of its own */
	uint64_t sz; /* of the file: small files come first */
	bool requested;
};

struct unwind_loader {
	struct unwind_loader_cfg cfg;
	struct waiter *waiter;
	struct store *store;
	struct lists *lists;
	struct sideband_reader *sideband;
	struct proc_reader *reader; /* NULL: none */
	struct live_maps *processes;
	struct stack_copy_unwind *copy_unwind;
	struct mapping_lag *lag;
	struct table_keys *tables;
	struct table_demand *demand;
	struct list_builder *builder;
	struct work_budget *work; /* borrowed */
	bool patient, idle;
	uint32_t *queue; /* processes whose list is due */
	size_t queue_cnt, queue_cap;
	struct expected *expected;
	size_t expected_cnt, expected_cap;
	bool identified; /* files, after the last lists were made */
	uint32_t forgets; /* frames_forgets() at that time */
	uint64_t swept_ns, released_ns;
	uint32_t frees, moves; /* store_frees() and table_keys_moves() at that time */
	uint64_t without_list; /* processes, each counted once */
	uint64_t record_cnt;
};

void unwind_loader_size(bool all, size_t table_bytes, struct capture_unwind_cfg *out)
{
	size_t chunk_sz = (size_t)BLOCK_SZ * PROF_UNWIND_CHUNK_BLOCKS;
	size_t chunks = (table_bytes + chunk_sz - 1) / chunk_sz;

	*out = (struct capture_unwind_cfg){
		.module_cnt = PROF_UNWIND_MODULES_MAX,
		.map_cnt = MAPS_CNT,
		.proc_cnt = all ? PROCS_CNT_ALL : PROCS_CNT,
		.known_cnt = KNOWN_CNT,
		.chunk_cnt = chunks < PROF_UNWIND_CHUNKS_MAX ? chunks : PROF_UNWIND_CHUNKS_MAX,
	};
}

/* ---- lists -------------------------------------------------------------------------------------- */

static void enqueue(struct unwind_loader *u, struct live_maps_proc *p, uint64_t due_ns)
{
	if (p->due_ns < due_ns)
		p->due_ns = due_ns;
	if (p->queued)
		return;
	p->queued = true;
	u->queue = array_reserve(u->queue, &u->queue_cap, u->queue_cnt + 1, sizeof(*u->queue));
	u->queue[u->queue_cnt++] = p->pid;
}

/* Looked up once for each program. */
static struct frames_from from_process(struct live_maps_proc *p)
{
	if (!p->owner)
		p->owner = proc_owner((pid_t)p->pid);
	return (struct frames_from){ p->pid, p->owner };
}

/* The place's count of execs differs from ours: one of them is late, or a record was lost. */
static void retry_exec(struct unwind_loader *u, struct live_maps_proc *p, uint64_t now)
{
	if (!p->exec_lag_ns)
		p->exec_lag_ns = now;
	if (now - p->exec_lag_ns >= EXEC_LAG_NS)
		lists_find(u->lists, p->pid, &p->execs);
	enqueue(u, p, now + AGAIN_NS);
}

static void count_without_list(struct unwind_loader *u, struct live_maps_proc *p)
{
	u->without_list += !p->left_out;
	p->left_out = true;
}

/* Tries again, at growing intervals. */
static void retry_without_room(struct unwind_loader *u, struct live_maps_proc *p, uint64_t now)
{
	count_without_list(u, p);
	p->room_wait_ns = !p->room_wait_ns		    ? NO_ROOM_NS :
			  p->room_wait_ns >= NO_ROOM_MAX_NS ? NO_ROOM_MAX_NS :
							      2 * p->room_wait_ns;
	enqueue(u, p, now + p->room_wait_ns);
}

/* The time of the next list, if this list took that time. */
static uint64_t next_list_ns(const struct live_maps_proc *p, uint64_t now, uint64_t took)
{
	const uint64_t waits = WAITS_PART * took;

	if (!p->waits)
		return now + LIST_PART * took;
	return now + (waits < WAITS_MAX_NS ? waits : WAITS_MAX_NS);
}

static void publish(struct unwind_loader *u, struct live_maps_proc *p, uint64_t now)
{
	bool has_list = p->fresh && lists_has_list(u->lists, p->pid);
	const struct prof_unwind_map *entries;
	const uint64_t began = clock_mono_ns(), cpu_began = clock_thread_cpu_ns();
	struct frames_from from;
	uint32_t cnt;
	int err;

	p->fresh = false;
	if (!p->known || has_list)
		return;
	if (!work_budget_may(u->work, p->pid, WORK_LISTS)) {
		enqueue(u, p, now + OVER_BUDGET_NS);
		return;
	}
	from = from_process(p);
	cnt = list_builder_make(u->builder, &from, &p->maps,
				(p->renew ? LIST_BUILDER_RENEW : 0) |
					(p->runs ? LIST_BUILDER_TABLES : 0),
				&p->waits, &entries);
	p->renew = false;
	err = cnt ? lists_publish(u->lists, p->pid, from.owner, &p->execs, entries, cnt) : 0;
	work_budget_charge(u->work, p->pid, WORK_LISTS, clock_thread_cpu_ns() - cpu_began);
	if (err == -EAGAIN) {
		retry_exec(u, p, now);
		return;
	}
	p->exec_lag_ns = 0;
	p->published_ns = clock_mono_ns();
	p->due_ns = next_list_ns(p, now, p->published_ns - began);
	if (err == -ENOSPC)
		lists_withdraw(u->lists, p->pid); /* its old list is wrong */
	if (cnt)
		mapping_lag_end(u->lag, p->pid, clock_mono_ns());
	if (err)
		retry_without_room(u, p, now);
	else
		p->room_wait_ns = 0;
}

/* Returns the time at which the next list is due. */
static uint64_t publish_due(struct unwind_loader *u, uint64_t now)
{
	size_t i, cnt = u->queue_cnt, kept = 0, n = 0, map_cnt = 0;
	uint64_t next = UINT64_MAX;

	for (i = 0; i < cnt; i++) {
		struct live_maps_proc *p = live_maps_find(u->processes, u->queue[i]);

		if (!p || !p->queued)
			continue;
		if (p->due_ns > now || map_cnt >= PUBLISH_MAPS || n++ >= PUBLISH_MAX)
			continue;
		map_cnt += p->maps.table ? p->maps.table->cnt : 0;
		u->queue[i] = 0;
		p->queued = false;
		publish(u, p, now);
	}
	for (i = 0; i < u->queue_cnt; i++) {
		struct live_maps_proc *p = live_maps_find(u->processes, u->queue[i]);

		if (!p || !p->queued)
			continue;
		if (p->due_ns < next)
			next = p->due_ns;
		u->queue[kept++] = p->pid;
	}
	u->queue_cnt = kept;
	return next;
}

static void on_news(void *ctx, struct live_maps_proc *p, enum live_maps_news what)
{
	struct unwind_loader *u = ctx;
	struct live_maps_proc *parent;
	uint64_t now = clock_mono_ns();
	uint32_t counted;

	switch (what) {
	case LIVE_MAPS_FORKED:
		parent = live_maps_find(u->processes, p->ppid);
		/* the child copied the parent's list: changes not yet published are missing in it */
		p->fresh = !mapping_lag_fork(u->lag, p->ppid, p->pid, p->side_time) &&
			   (!parent || (!parent->queued && parent->published_ns < p->side_time));
		enqueue(u, p, now + FORK_NS);
		if (parent && lists_shares_memory(u->lists, p->pid))
			live_maps_share(u->processes, parent, p);
		break;
	case LIVE_MAPS_EXECED:
		p->fresh = false;
		p->runs = false;
		p->owner = 0;
		mapping_lag_end(u->lag, p->pid, now);
		p->exec_lag_ns = 0;
		/* the place counts one more as soon as the exec is over */
		if (!lists_find(u->lists, p->pid, &counted) && lists_claim(u->lists, p->pid))
			p->execs = 0;
		p->execs++;
		break;
	case LIVE_MAPS_CHANGED:
		p->fresh = false;
		enqueue(u, p, now);
		break;
	case LIVE_MAPS_UNKNOWN:
		count_without_list(u, p);
		lists_withdraw(u->lists, p->pid);
		mapping_lag_end(u->lag, p->pid, clock_mono_ns());
		break;
	case LIVE_MAPS_GONE:
		lists_remove(u->lists, p->pid);
		mapping_lag_end(u->lag, p->pid, clock_mono_ns());
		break;
	}
}

static void on_replaced(void *ctx, const struct live_maps_proc *p, uint32_t module_id,
			uint64_t time)
{
	struct unwind_loader *u = ctx;

	mapping_lag_begin(u->lag, p->pid, module_id, time);
}

/* ---- records -------------------------------------------------------------------------------------- */

/* Side-band records of a process change its mappings. Others, such as a loss, concern all processes. */
static void handle_side(struct unwind_loader *u, const struct perf_side *side)
{
	const uint64_t began = clock_mono_ns();

	live_maps_side(u->processes, side);
	work_budget_charge_since(u->work, side->pid, WORK_LISTS, began);
}

static void on_side(void *ctx, const struct perf_side *side)
{
	handle_side(ctx, side);
}

static uint64_t poll_sideband(struct unwind_loader *u)
{
	bool more;
	size_t n = sideband_reader_pass(u->sideband, SIDES_MAX, on_side, u, &more);
	uint64_t now = clock_mono_ns(), next = publish_due(u, now);
	uint64_t again = now + (n ? POLL_NS : SOON_NS);

	return more && again < next ? again : next;
}

static bool is_over_budget(const struct unwind_loader *u)
{
	return work_budget_is_capped(u->work, WORK_LISTS);
}

/* Records are handled when the drain has them, and not before. */
static bool follows_drain(const struct unwind_loader *u)
{
	return u->idle || is_over_budget(u);
}

void unwind_loader_be_idle(struct unwind_loader *u, bool idle)
{
	u->idle = idle;
}

uint64_t unwind_loader_poll(struct unwind_loader *u)
{
	if (follows_drain(u))
		return UINT64_MAX;
	return poll_sideband(u);
}

void unwind_loader_side(struct unwind_loader *u, const struct perf_side *side)
{
	if (side->looked)
		return;
	sideband_reader_pass_held(u->sideband, side->time, on_side, u);
	handle_side(u, side);
}

void unwind_loader_ended(struct unwind_loader *u, uint32_t pid)
{
	uint32_t execs;

	if (lists_find(u->lists, pid, &execs))
		live_maps_ended(u->processes, pid);
}

/* A walk ended because of a missing list, or outside of all known mappings. */
static void request_list(struct unwind_loader *u, uint32_t pid)
{
	uint64_t now = clock_mono_ns();
	struct live_maps_proc *p = live_maps_find(u->processes, pid);

	/* an exec whose side-band record was lost may have emptied the place */
	if (p && p->known && !lists_has_list(u->lists, pid))
		enqueue(u, p, now);
	live_maps_doubt(u->processes, pid, now);
}

static void on_answer(void *ctx, const struct sym_client_answer *answer)
{
	struct unwind_loader *u = ctx;

	if (answer->kind == SYM_CLIENT_MODULE)
		u->identified = true;
	else
		table_keys_answer(u->tables, answer);
}

static void ask_needed(struct unwind_loader *u)
{
	const struct frames_from nobody = { 0 };
	uint32_t pos = 0, slot, n;

	for (n = 0; n < NEEDED_MAX && store_next_needed(u->store, &pos, &slot); n++) {
		if (!live_maps_find(u->processes, table_keys_pid(u->tables, slot)))
			table_keys_note(u->tables, slot, &nobody, NULL);
		list_builder_ask_table(u->builder, slot);
	}
}

struct renewal {
	struct unwind_loader *u;
	bool waiting, all;
	uint64_t now;
};

static void renew(void *ctx, struct live_maps_proc *p)
{
	struct renewal *r = ctx;

	p->renew |= r->all;
	if (r->all || p->waits)
		enqueue(r->u, p, r->now);
}

/* Makes lists again after files were identified, or module ids or slots changed. */
static void renew_lists(struct unwind_loader *u, uint64_t now)
{
	struct renewal r = { .u = u, .now = now };

	r.all = frames_forgets(u->cfg.frames) != u->forgets || store_frees(u->store) != u->frees ||
		table_keys_moves(u->tables) != u->moves;
	if (!r.all && !u->identified)
		return;
	u->forgets = frames_forgets(u->cfg.frames);
	u->frees = store_frees(u->store);
	u->moves = table_keys_moves(u->tables);
	u->identified = false;
	list_builder_renew(u->builder);
	live_maps_each(u->processes, renew, &r);
}

/* Requests tables of expected files whose build-ids are known. */
static void ask_expected(struct unwind_loader *u)
{
	size_t i;

	for (i = 0; i < u->expected_cnt; i++) {
		struct expected *h = &u->expected[i];
		struct map *m = &h->map;

		if (h->requested ||
		    !frames_identify(u->cfg.frames, &h->from, m, true, &m->module_id))
			continue;
		h->requested = true;
		m->slot = m->module_id ? table_keys_slot(u->tables, &h->from, m) :
					 PROF_UNWIND_NO_SLOT;
		if (!store_expect(u->store, m->slot))
			continue;
		table_keys_note(u->tables, m->slot, &h->from, NULL);
		list_builder_ask_table(u->builder, m->slot);
	}
}

static void release_slots(struct unwind_loader *u, uint64_t now)
{
	const bool is_short = store_is_short(u->store);

	if ((!is_short && !store_is_crowded(u->store)) ||
	    now - u->released_ns < (is_short ? RELEASE_NS : IDLE_NS))
		return;
	u->released_ns = now;
	unused_slots_release(u->store, u->lists, u->processes, u->cfg.memory->cnt.module_cnt,
			     !is_short);
}

void unwind_loader_step(struct unwind_loader *u)
{
	uint64_t now = clock_mono_ns();

	ask_expected(u);
	live_maps_step(u->processes, now);
	renew_lists(u, now);
	publish_due(u, now);
	store_step(u->store, now);
	release_slots(u, now);
	ask_needed(u);
	if (now - u->swept_ns >= (follows_drain(u) ? SLOW_SWEEP_NS : SWEEP_NS)) {
		u->swept_ns = now;
		lists_step(u->lists);
		mapping_lag_forget(u->lag, now - DRAINED_NS);
	}
}

/* Whether the last walk ended at a table that will come soon. */
static bool waits_for_table(const struct unwind_loader *u, uint64_t time)
{
	uint32_t slot;

	return u->patient && stack_copy_unwind_lacks_table(u->copy_unwind, &slot) &&
	       table_demand_is(u->demand, slot, time);
}

void unwind_loader_be_patient(struct unwind_loader *u, bool patient)
{
	u->patient = patient;
}

/*
 * Unwinds a copied stack, with the mappings of the time that the drain has reached. NULL: a table is missing that
 * will come soon.
 */
static const struct prof_rec *walk_copy(struct unwind_loader *u, const struct prof_rec *rec,
					struct process *proc)
{
	const struct frames_from from = { rec->pid, tasks_owner(proc) };
	struct list_builder_past past = { u->builder, &from, &proc->maps, proc->serial };
	const struct stack_copy_maps maps = { list_builder_find, &past };
	const struct prof_rec *walked;
	const uint64_t began = clock_mono_ns() - (uint64_t)COPIED_WORD_NS * rec->ustack_cnt;

	if (!work_budget_may(u->work, rec->pid, WORK_COPIES)) {
		walked = stack_copy_unwind_refuse(u->copy_unwind, rec);
		work_budget_charge_since(u->work, rec->pid, WORK_COPIES, began);
		return walked;
	}
	if (proc->expected != proc->maps.generation && list_builder_expect(&past))
		proc->expected = proc->maps.generation;
	walked = stack_copy_unwind_walk(u->copy_unwind, rec, proc->maps.table ? &maps : NULL);
	work_budget_charge_since(u->work, rec->pid, WORK_COPIES, began);
	return waits_for_table(u, rec->ts) ? NULL : walked;
}

static bool lacks_list(const struct prof_rec *rec)
{
	const uint8_t end = rec->user_end & PROF_USER_END_MASK;

	return end == PROF_END_NO_LIST || end == PROF_END_NO_MAPPING;
}

const struct prof_rec *unwind_loader_record(struct unwind_loader *u, const struct prof_rec *rec,
					    bool walk)
{
	if (lacks_list(rec))
		request_list(u, rec->pid);
	if (++u->record_cnt % POLL_EVERY == 0)
		unwind_loader_poll(u);
	if (walk && rec->flags & PROF_REC_COPIED)
		return walk_copy(u, rec, tasks_get(u->cfg.tasks, rec->tid, rec->pid)->proc);
	return mapping_lag_record(u->lag, rec);
}

/* ---- from start to end --------------------------------------------------------------------------- */

static int make_chunk(void *ctx, uint32_t i, void **mem)
{
	return capture_unwind_chunk(ctx, i, mem);
}

static int start(struct unwind_loader *u)
{
	struct capture_unwind *mem = u->cfg.memory;
	const struct waiter_cfg waiter_cfg = { make_chunk, mem, u->cfg.capabilities };
	struct live_maps_cfg processes_cfg = {
		.tasks = u->cfg.tasks,
		.all = u->cfg.all,
		.news = on_news,
		.replaced = on_replaced,
		.ctx = u,
	};
	int err = waiter_new(&waiter_cfg, &u->waiter);

	if (!err)
		err = sideband_reader_new(u->cfg.sides, u->cfg.side_cnt, &u->sideband);
	if (err)
		return err;
	u->store = store_new(&(struct store_cfg){
		.modules = mem->modules,
		.module_cnt = mem->cnt.module_cnt,
		.block_max = u->cfg.table_bytes / BLOCK_SZ,
		.waiter = u->waiter,
		.generation = mem->generation,
	});
	u->tables = table_keys_new(u->cfg.broker, u->store);
	u->lists = lists_new(&(struct lists_cfg){
		.maps = mem->maps,
		.map_cnt = mem->cnt.map_cnt,
		.procs = mem->procs,
		.proc_cnt = mem->cnt.proc_cnt,
		.condemned = mem->condemned,
		.generation = mem->list_generation,
		.waiter = u->waiter,
	});
	if (proc_reader_new(&u->reader))
		u->reader = NULL;
	if (u->reader && u->cfg.proc_ns_per_s)
		proc_reader_limit(u->reader, u->cfg.proc_ns_per_s);
	u->copy_unwind = stack_copy_unwind_new(mem, u->cfg.max_stack);
	u->demand = table_demand_new(mem->modules, mem->cnt.module_cnt);
	u->builder = list_builder_new(&(struct list_builder_cfg){
		.frames = u->cfg.frames,
		.store = u->store,
		.tables = u->tables,
		.demand = u->demand,
		.module_cnt = mem->cnt.module_cnt,
		.all = u->cfg.all,
	});
	processes_cfg.reader = u->reader;
	u->processes = live_maps_new(&processes_cfg);
	frames_listen(u->cfg.frames, on_answer, u);
	store_step(u->store, clock_mono_ns());
	return 0;
}

int unwind_loader_new(const struct unwind_loader_cfg *cfg, struct unwind_loader **out)
{
	struct unwind_loader *u = xcalloc(1, sizeof(*u));
	int err;

	u->cfg = *cfg;
	u->work = tasks_work(cfg->tasks);
	u->lag = mapping_lag_new();
	err = start(u);
	if (err)
		unwind_loader_free(u);
	else
		*out = u;
	return err;
}

void unwind_loader_free(struct unwind_loader *u)
{
	size_t i;

	if (!u)
		return;
	for (i = 0; i < u->expected_cnt; i++)
		free((char *)u->expected[i].map.path);
	free(u->expected);
	frames_listen(u->cfg.frames, NULL, NULL);
	waiter_free(u->waiter);
	live_maps_free(u->processes);
	stack_copy_unwind_free(u->copy_unwind);
	proc_reader_free(u->reader);
	sideband_reader_free(u->sideband);
	lists_free(u->lists);
	table_keys_free(u->tables);
	store_free(u->store);
	mapping_lag_free(u->lag);
	table_demand_free(u->demand);
	list_builder_free(u->builder);
	free(u->queue);
	free(u);
}

int unwind_loader_fd(const struct unwind_loader *u)
{
	return follows_drain(u) ? -1 : sideband_reader_fd(u->sideband);
}

void unwind_loader_follow(struct unwind_loader *u, uint32_t pid, const struct proc_maps *maps,
			  bool runs)
{
	struct live_maps_proc *p;
	struct proc_maps none;

	tasks_init_maps(u->cfg.tasks, &none);
	p = live_maps_follow(u->processes, pid, maps ? maps : &none);
	p->runs = runs;
	if (!maps)
		lists_claim(u->lists, pid);
	else
		publish(u, p, clock_mono_ns());
}

void unwind_loader_expect(struct unwind_loader *u, const struct elf_deps_file *file,
			  const struct frames_from *from)
{
	size_t i;

	u->expected = array_reserve(u->expected, &u->expected_cap, u->expected_cnt + 1,
				    sizeof(*u->expected));
	for (i = u->expected_cnt++; i && u->expected[i - 1].sz > file->sz; i--)
		u->expected[i] = u->expected[i - 1];
	u->expected[i] = (struct expected){
		.from = *from,
		.sz = file->sz,
		.map = { .path = xstrdup(file->path), .dev = file->dev, .inode = file->inode },
	};
}

static void note_waiting(void *ctx, struct live_maps_proc *p)
{
	struct renewal *r = ctx;

	r->waiting |= p->waits;
}

static bool is_settled(struct unwind_loader *u)
{
	struct renewal r = { .u = u };
	size_t i;

	live_maps_each(u->processes, note_waiting, &r);
	for (i = 0; i < u->expected_cnt; i++)
		r.waiting |= !u->expected[i].requested;
	return !r.waiting && !u->queue_cnt && store_is_settled(u->store);
}

void unwind_loader_settle(struct unwind_loader *u, uint64_t deadline_ns)
{
	uint64_t now = clock_mono_ns();

	unwind_loader_step(u);
	while (now < deadline_ns && !is_settled(u)) {
		sym_client_wait(u->cfg.broker,
				now + SETTLE_NS < deadline_ns ? now + SETTLE_NS : deadline_ns);
		if (frames_receive_names(u->cfg.frames, ANSWERS_MAX) < 0)
			return;
		unwind_loader_step(u);
		now = clock_mono_ns();
	}
}

void unwind_loader_count(const struct unwind_loader *u, struct unwind_loader_counts *out)
{
	store_count(u->store, &out->store);
	lists_count(u->lists, &out->lists);
	out->left_out = u->without_list;
}

/* ---- memory --------------------------------------------------------------------------------------------- */

static void touch(void *ctx, const struct prof_unwind_map *m)
{
	if (m->module_id)
		frames_touch(ctx, m->module_id);
}

void unwind_loader_touch(struct unwind_loader *u)
{
	lists_each_map(u->lists, touch, u->cfg.frames);
}

size_t unwind_loader_memory(const struct unwind_loader *u)
{
	return sizeof(*u) + stack_copy_unwind_memory(u->copy_unwind) +
	       live_maps_memory(u->processes) + store_memory(u->store) +
	       mapping_lag_memory(u->lag) + table_keys_memory(u->tables) +
	       table_demand_memory(u->demand) + list_builder_memory(u->builder) +
	       u->queue_cap * sizeof(*u->queue);
}

struct heaviest {
	struct live_maps_proc *p;
	size_t bytes;
};

static void weigh(void *ctx, struct live_maps_proc *p)
{
	struct heaviest *h = ctx;
	size_t bytes = proc_maps_weight(&p->maps);

	if (bytes > h->bytes)
		*h = (struct heaviest){ p, bytes };
}

bool unwind_loader_forget(struct unwind_loader *u)
{
	struct heaviest h = { 0 };

	live_maps_each(u->processes, weigh, &h);
	if (h.p)
		live_maps_forget(u->processes, h.p);
	return h.p != NULL;
}
