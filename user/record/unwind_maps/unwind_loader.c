// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind_loader.c - gives mapping lists and unwind tables to the BPF programs
 *
 * A change of mappings is published at once, and the next one of that process after a while that
 * grows with its list: who maps all the time costs itself whole stacks, and nobody else anything.
 * Files get the trace's numbers here. One whose build-id is not known yet is published without, and
 * again when it is.
 *
 * A new program's list may be ready before the exec is over, which empties the place: the count of
 * execs there must be what was heard, and where it stays behind or ahead for long, the place is right,
 * since records can be lost.
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
#include "record/symbols/frames.h"
#include "record/target/elf_deps.h"
#include "record/unwind_maps/live_maps.h"
#include "record/unwind_maps/mapping_lag.h"
#include "record/unwind_maps/sideband_reader.h"
#include "record/unwind_maps/stack_copy_unwind.h"
#include "record/unwind_maps/table_demand.h"
#include "record/unwind_maps/table_keys.h"
#include "symbol/broker/sym_client.h"
#include "unwind/waiter.h"

enum {
	BLOCK_SZ = 4 * PROF_UNWIND_BLOCK_WORDS,
	SIDES_MAX = 512, /* records that one look takes in */
	PUBLISH_MAX = 64, /* lists that one look makes */
	PUBLISH_MAPS = 1 << 14, /* mappings in them, beyond which the next list waits */
	NEEDED_MAX = 16, /* tables that one step asks for */
	ANSWERS_MAX = 4096,
	MAPS_CNT = 1 << 16, /* in all lists */
	MAPS_CNT_ALL = 1 << 18,
	PROCS_CNT = 1 << 14,
	PROCS_CNT_ALL = 1 << 16,
	KNOWN_CNT = 1 << 8, /* half a MiB on each CPU */
};

#define MS_NS 1000000ULL
#define SOON_NS 40000 /* until news of the last moment is no longer that */
#define LOOK_NS (MS_NS / 2) /* where it comes all the time */
#define AGAIN_NS (MS_NS / 5) /* for an exec that is not over */
#define OVERTAKEN_NS (4 * MS_NS)
#define FORK_NS MS_NS /* until a child has its parent's list */
#define NO_ROOM_NS (200 * MS_NS)
#define NO_ROOM_MAX_NS (16 * NO_ROOM_NS)
#define MAP_NS 20000 /* between two lists of a process, for each mapping */
#define SWEEP_NS (100 * MS_NS)
#define RELEASE_NS (1000 * MS_NS) /* between two looks for slots that nobody has */
#define IDLE_NS (10 * RELEASE_NS) /* likewise, to spare memory alone */
#define SETTLE_NS (5 * MS_NS)
#define DRAINED_NS (10000 * MS_NS) /* nobody drains what is older */

/* A file whose table is wanted before anybody maps it. */
struct head {
	struct frames_from from;
	struct map map; /* with a path of its own */
	uint64_t sz; /* of the file: a small one's table is not to wait for a large one's */
	bool asked;
};

struct unwind_loader {
	struct unwind_loader_cfg cfg;
	struct waiter *waiter;
	struct store *store;
	struct lists *lists;
	struct sideband_reader *lookout;
	struct proc_reader *reader; /* NULL: none */
	struct live_maps *mapped;
	struct stack_copy_unwind *copied;
	struct mapping_lag *stale;
	struct table_keys *tables;
	struct table_demand *awaited;
	bool patient;
	uint32_t *queue; /* processes whose list is to be made */
	size_t queue_cnt, queue_cap;
	struct prof_unwind_map *entries; /* of the list that is being made */
	size_t entry_cap;
	struct head *heads;
	size_t head_cnt, head_cap;
	bool identified; /* files were, since lists were made */
	uint32_t forgets; /* frames_forgets() when they were */
	uint64_t swept_ns, released_ns;
	uint32_t frees, moves; /* store_frees() and table_keys_moves() when lists were made */
	uint64_t left_out; /* processes */
};

void unwind_loader_size(bool all, size_t table_bytes, struct capture_unwind_cfg *out)
{
	size_t chunk_sz = (size_t)BLOCK_SZ * PROF_UNWIND_CHUNK_BLOCKS;
	size_t chunks = (table_bytes + chunk_sz - 1) / chunk_sz;

	*out = (struct capture_unwind_cfg){
		.module_cnt = PROF_UNWIND_MODULES_MAX,
		.map_cnt = all ? MAPS_CNT_ALL : MAPS_CNT,
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

static void ask_table(struct unwind_loader *u, uint32_t slot)
{
	table_keys_ask(u->tables, slot);
	table_demand_ask(u->awaited, slot);
}

/* What a list is made of. */
struct listed {
	struct frames_from from;
	struct proc_maps *maps;
	bool renew; /* numbers that modules had */
	bool past; /* of a time that is gone */
	bool waits; /* some file is not identified yet */
};

static void note_source(struct unwind_loader *u, const struct frames_from *from,
			const struct map *m)
{
	if (m->slot == PROF_UNWIND_NO_SLOT)
		return;
	table_keys_note(u->tables, m->slot, from, m);
	if (!u->cfg.all && store_expect(u->store, m->slot))
		ask_table(u, m->slot);
}

/* Its module and slot, once they can be known. */
static const struct map *resolve(struct unwind_loader *u, struct listed *l, uint64_t start)
{
	struct map *m = proc_maps_edit(l->maps, start);
	/* a file in memory has another number each time */
	bool fresh = !m->module_id && !l->past && !proc_maps_is_memfd(m->path);

	m->slot = PROF_UNWIND_NO_SLOT;
	m->module_id = 0;
	m->build_id_known &= m->build_id_sz != 0;
	if (!frames_identify(u->cfg.frames, &l->from, m, fresh, &m->module_id)) {
		l->waits = true;
		m->slot = PROF_UNWIND_SOON;
	} else if (m->module_id) {
		m->slot = table_keys_slot(u->tables, &l->from, m);
	}
	return m;
}

static uint32_t add_entry(struct unwind_loader *u, uint32_t cnt, const struct map *m)
{
	struct prof_unwind_map e = { m->start, m->end, m->pgoff, m->module_id, m->slot }, *last;

	if (!m->module_id) {
		e.pgoff = 0;
		e.slot = m->slot == PROF_UNWIND_SOON ? PROF_UNWIND_SOON : PROF_UNWIND_NO_SLOT;
		last = cnt ? &u->entries[cnt - 1] : NULL;
		if (last && !last->module_id && last->slot == e.slot && last->end == e.start) {
			last->end = e.end;
			return cnt;
		}
	}
	u->entries = array_reserve(u->entries, &u->entry_cap, cnt + 1UL, sizeof(*u->entries));
	u->entries[cnt] = e;
	return cnt + 1;
}

static bool may_have_module(const char *path)
{
	return proc_maps_is_file(path) || proc_maps_is_vdso(path) || proc_maps_is_memfd(path);
}

static uint32_t make_list(struct unwind_loader *u, struct listed *l)
{
	const struct map *m;
	uint64_t addr = 0;
	uint32_t cnt = 0;

	while ((m = proc_maps_next(l->maps, addr))) {
		addr = m->end;
		if (may_have_module(m->path) && (!m->module_id || l->renew))
			m = resolve(u, l, m->start);
		if (m->module_id)
			note_source(u, &l->from, m);
		cnt = add_entry(u, cnt, m);
	}
	return cnt;
}

/* The place counts other execs than were heard of: one side will follow, or a record was lost. */
static void be_overtaken(struct unwind_loader *u, struct live_maps_proc *p, uint64_t now)
{
	if (!p->overtaken_ns)
		p->overtaken_ns = now;
	if (now - p->overtaken_ns >= OVERTAKEN_NS)
		lists_find(u->lists, p->pid, &p->execs);
	enqueue(u, p, now + AGAIN_NS);
}

/* Each process counts once. */
static void note_left_out(struct unwind_loader *u, struct live_maps_proc *p)
{
	u->left_out += !p->left_out;
	p->left_out = true;
}

/* It is tried again, less and less. */
static void leave_out(struct unwind_loader *u, struct live_maps_proc *p, uint64_t now)
{
	note_left_out(u, p);
	p->room_wait_ns = !p->room_wait_ns		    ? NO_ROOM_NS :
			  p->room_wait_ns >= NO_ROOM_MAX_NS ? NO_ROOM_MAX_NS :
							      2 * p->room_wait_ns;
	enqueue(u, p, now + p->room_wait_ns);
}

static void publish(struct unwind_loader *u, struct live_maps_proc *p, uint64_t now)
{
	bool has_list = p->fresh && lists_has_list(u->lists, p->pid);
	struct listed l = { .maps = &p->maps, .renew = p->renew };
	uint32_t cnt;
	int err;

	p->fresh = false;
	if (!p->known || has_list)
		return;
	l.from = from_process(p);
	cnt = make_list(u, &l);
	p->renew = false;
	p->waits = l.waits;
	err = cnt ? lists_publish(u->lists, p->pid, l.from.owner, &p->execs, u->entries, cnt) : 0;
	if (err == -EAGAIN) {
		be_overtaken(u, p, now);
		return;
	}
	p->overtaken_ns = 0;
	p->published_ns = clock_mono_ns();
	p->due_ns = now + cnt * MAP_NS;
	if (err == -ENOSPC)
		lists_withdraw(u->lists, p->pid); /* what it has is no longer true */
	if (cnt)
		mapping_lag_end(u->stale, p->pid, clock_mono_ns());
	if (err)
		leave_out(u, p, now);
	else
		p->room_wait_ns = 0;
}

/* Returns when the next one is due. */
static uint64_t publish_due(struct unwind_loader *u, uint64_t now)
{
	size_t i, cnt = u->queue_cnt, kept = 0, n = 0, map_cnt = 0;
	uint64_t next = UINT64_MAX;

	for (i = 0; i < cnt; i++) {
		struct live_maps_proc *p = live_maps_find(u->mapped, u->queue[i]);

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
		struct live_maps_proc *p = live_maps_find(u->mapped, u->queue[i]);

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
		parent = live_maps_find(u->mapped, p->ppid);
		/* what the parent had not published by then the child has not got from it */
		p->fresh = !mapping_lag_fork(u->stale, p->ppid, p->pid, p->heard_time) &&
			   (!parent || (!parent->queued && parent->published_ns < p->heard_time));
		enqueue(u, p, now + FORK_NS);
		if (parent && lists_shares_memory(u->lists, p->pid))
			live_maps_share(u->mapped, parent, p);
		break;
	case LIVE_MAPS_EXECED:
		p->fresh = false;
		p->owner = 0;
		mapping_lag_end(u->stale, p->pid, now);
		p->overtaken_ns = 0;
		/* what the place counts is one more as soon as the exec is over */
		if (!lists_find(u->lists, p->pid, &counted) && lists_claim(u->lists, p->pid))
			p->execs = 0;
		p->execs++;
		break;
	case LIVE_MAPS_CHANGED:
		p->fresh = false;
		enqueue(u, p, now);
		break;
	case LIVE_MAPS_UNKNOWN:
		note_left_out(u, p);
		lists_withdraw(u->lists, p->pid);
		mapping_lag_end(u->stale, p->pid, clock_mono_ns());
		break;
	case LIVE_MAPS_GONE:
		lists_remove(u->lists, p->pid);
		mapping_lag_end(u->stale, p->pid, clock_mono_ns());
		break;
	}
}

static void on_replaced(void *ctx, const struct live_maps_proc *p, uint32_t module_id,
			uint64_t time)
{
	struct unwind_loader *u = ctx;

	mapping_lag_begin(u->stale, p->pid, module_id, time);
}

/* ---- what comes -------------------------------------------------------------------------------------- */

static void on_side(void *ctx, const struct perf_side *side)
{
	struct unwind_loader *u = ctx;

	live_maps_side(u->mapped, side);
}

uint64_t unwind_loader_look(struct unwind_loader *u)
{
	bool more;
	size_t n = sideband_reader_pass(u->lookout, SIDES_MAX, on_side, u, &more);
	uint64_t now = clock_mono_ns(), next = publish_due(u, now);
	uint64_t again = now + (n ? LOOK_NS : SOON_NS);

	return more && again < next ? again : next;
}

void unwind_loader_side(struct unwind_loader *u, const struct perf_side *side)
{
	if (side->looked)
		return;
	sideband_reader_pass_held(u->lookout, side->time, on_side, u);
	live_maps_side(u->mapped, side);
}

void unwind_loader_missed(struct unwind_loader *u, uint32_t pid)
{
	uint64_t now = clock_mono_ns();
	struct live_maps_proc *p = live_maps_find(u->mapped, pid);

	/* an exec that was not heard of may have emptied its place */
	if (p && p->known && !lists_has_list(u->lists, pid))
		enqueue(u, p, now);
	live_maps_doubt(u->mapped, pid, now);
}

const struct prof_rec *unwind_loader_record(struct unwind_loader *u, const struct prof_rec *rec)
{
	return mapping_lag_record(u->stale, rec);
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
		if (!live_maps_find(u->mapped, table_keys_pid(u->tables, slot)))
			table_keys_note(u->tables, slot, &nobody, NULL);
		ask_table(u, slot);
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

/* Files that were identified; modules that have other numbers now; other slots, or some for those without. */
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
	live_maps_each(u->mapped, renew, &r);
}

/* Once their build-ids are known. */
static void ask_heads(struct unwind_loader *u)
{
	size_t i;

	for (i = 0; i < u->head_cnt; i++) {
		struct head *h = &u->heads[i];
		struct map *m = &h->map;

		if (h->asked || !frames_identify(u->cfg.frames, &h->from, m, true, &m->module_id))
			continue;
		h->asked = true;
		m->slot = m->module_id ? table_keys_slot(u->tables, &h->from, m) :
					 PROF_UNWIND_NO_SLOT;
		if (!store_expect(u->store, m->slot))
			continue;
		table_keys_note(u->tables, m->slot, &h->from, NULL);
		ask_table(u, m->slot);
	}
}

/* ---- slots that nobody has ----------------------------------------------------------------------- */

struct held {
	bool *v; /* by slot */
	uint32_t cnt;
};

/* There may be none, or none yet. */
static void hold(const struct held *h, uint32_t slot)
{
	if (slot < h->cnt)
		h->v[slot] = true;
}

static void hold_listed(void *ctx, const struct prof_unwind_map *m)
{
	hold(ctx, m->slot);
}

static void hold_mapped(void *ctx, struct live_maps_proc *p)
{
	const struct map *m;
	uint64_t addr;

	for (addr = 0; (m = proc_maps_next(&p->maps, addr)); addr = m->end)
		if (m->module_id)
			hold(ctx, m->slot);
}

static void release_slots(struct unwind_loader *u, uint64_t now)
{
	const bool is_short = store_is_short(u->store);
	struct held held = { .cnt = u->cfg.memory->cnt.module_cnt };

	if ((!is_short && !store_is_crowded(u->store)) ||
	    now - u->released_ns < (is_short ? RELEASE_NS : IDLE_NS))
		return;
	u->released_ns = now;
	held.v = xcalloc(held.cnt, sizeof(*held.v));
	lists_each_map(u->lists, hold_listed, &held);
	live_maps_each(u->mapped, hold_mapped, &held);
	store_release(u->store, held.v, !is_short);
	free(held.v);
}

void unwind_loader_step(struct unwind_loader *u)
{
	uint64_t now = clock_mono_ns();

	ask_heads(u);
	live_maps_step(u->mapped, now);
	renew_lists(u, now);
	publish_due(u, now);
	store_step(u->store, now);
	release_slots(u, now);
	ask_needed(u);
	if (now - u->swept_ns >= SWEEP_NS) {
		u->swept_ns = now;
		lists_step(u->lists);
		mapping_lag_forget(u->stale, now - DRAINED_NS);
	}
}

/* Of the stack that was walked last. */
static bool waits_for_table(const struct unwind_loader *u, uint64_t time)
{
	uint32_t slot;

	return u->patient && stack_copy_unwind_lacks_table(u->copied, &slot) &&
	       table_demand_is(u->awaited, slot, time);
}

void unwind_loader_be_patient(struct unwind_loader *u, bool patient)
{
	u->patient = patient;
}

const struct prof_rec *unwind_loader_walk(struct unwind_loader *u, const struct prof_rec *rec,
					  struct process *proc)
{
	struct listed l = { .from = { .pid = rec->pid }, .renew = true, .past = true };
	const struct prof_rec *walked;
	struct proc_maps maps;
	uint32_t cnt;

	tasks_init_maps(u->cfg.tasks, &maps);
	l.maps = &maps;
	if (proc) {
		l.from.owner = tasks_owner(proc);
		proc_maps_copy(&maps, &proc->maps);
	}
	cnt = make_list(u, &l);
	walked = stack_copy_unwind_walk(u->copied, rec, u->entries, cnt);
	proc_maps_free(&maps);
	return waits_for_table(u, rec->ts) ? NULL : walked;
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
	struct live_maps_cfg mapped_cfg = {
		.tasks = u->cfg.tasks,
		.all = u->cfg.all,
		.news = on_news,
		.replaced = on_replaced,
		.ctx = u,
	};
	int err = waiter_new(&waiter_cfg, &u->waiter);

	if (!err)
		err = sideband_reader_new(u->cfg.sides, u->cfg.side_cnt, &u->lookout);
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
	u->copied = stack_copy_unwind_new(mem, u->cfg.max_stack);
	u->awaited = table_demand_new(mem->modules, mem->cnt.module_cnt);
	mapped_cfg.reader = u->reader;
	u->mapped = live_maps_new(&mapped_cfg);
	frames_listen(u->cfg.frames, on_answer, u);
	store_step(u->store, clock_mono_ns());
	return 0;
}

int unwind_loader_new(const struct unwind_loader_cfg *cfg, struct unwind_loader **out)
{
	struct unwind_loader *u = xcalloc(1, sizeof(*u));
	int err;

	u->cfg = *cfg;
	u->stale = mapping_lag_new();
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
	for (i = 0; i < u->head_cnt; i++)
		free((char *)u->heads[i].map.path);
	free(u->heads);
	frames_listen(u->cfg.frames, NULL, NULL);
	waiter_free(u->waiter);
	live_maps_free(u->mapped);
	stack_copy_unwind_free(u->copied);
	proc_reader_free(u->reader);
	sideband_reader_free(u->lookout);
	lists_free(u->lists);
	table_keys_free(u->tables);
	store_free(u->store);
	mapping_lag_free(u->stale);
	table_demand_free(u->awaited);
	free(u->queue);
	free(u->entries);
	free(u);
}

int unwind_loader_fd(const struct unwind_loader *u)
{
	return sideband_reader_fd(u->lookout);
}

void unwind_loader_follow(struct unwind_loader *u, uint32_t pid, const struct proc_maps *maps)
{
	struct live_maps_proc *p;
	struct proc_maps none;

	tasks_init_maps(u->cfg.tasks, &none);
	p = live_maps_follow(u->mapped, pid, maps ? maps : &none);
	if (!maps)
		lists_claim(u->lists, pid);
	else
		publish(u, p, clock_mono_ns());
}

void unwind_loader_expect(struct unwind_loader *u, const struct elf_deps_file *file,
			  const struct frames_from *from)
{
	size_t i;

	u->heads = array_reserve(u->heads, &u->head_cap, u->head_cnt + 1, sizeof(*u->heads));
	for (i = u->head_cnt++; i && u->heads[i - 1].sz > file->sz; i--)
		u->heads[i] = u->heads[i - 1];
	u->heads[i] = (struct head){
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

	live_maps_each(u->mapped, note_waiting, &r);
	for (i = 0; i < u->head_cnt; i++)
		r.waiting |= !u->heads[i].asked;
	return !r.waiting && !u->queue_cnt && store_is_settled(u->store);
}

void unwind_loader_settle(struct unwind_loader *u, uint64_t deadline_ns)
{
	uint64_t now = clock_mono_ns();

	unwind_loader_step(u);
	while (now < deadline_ns && !is_settled(u)) {
		sym_client_wait(u->cfg.broker,
				now + SETTLE_NS < deadline_ns ? now + SETTLE_NS : deadline_ns);
		if (frames_take_names(u->cfg.frames, ANSWERS_MAX) < 0)
			return;
		unwind_loader_step(u);
		now = clock_mono_ns();
	}
}

void unwind_loader_count(const struct unwind_loader *u, struct unwind_loader_counts *out)
{
	store_count(u->store, &out->store);
	lists_count(u->lists, &out->lists);
	out->left_out = u->left_out;
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
	return sizeof(*u) + stack_copy_unwind_memory(u->copied) + live_maps_memory(u->mapped) +
	       store_memory(u->store) + mapping_lag_memory(u->stale) +
	       table_keys_memory(u->tables) + table_demand_memory(u->awaited) +
	       u->queue_cap * sizeof(*u->queue) + u->entry_cap * sizeof(*u->entries);
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

	live_maps_each(u->mapped, weigh, &h);
	if (h.p)
		live_maps_forget(u->mapped, h.p);
	return h.p != NULL;
}
