// SPDX-License-Identifier: BSD-2-Clause
/*
 * jit.c - programs with run-time code, and their frames without symbols
 *
 * For the broker, the map of a program is a module whose offsets are addresses: one map serves all anonymous
 * mappings of the program. The frame of each address is stored here, and the range of each symbol, since requests
 * for other addresses in it may not be answered before the end. A program without a map is requested at
 * growing intervals. An exited program makes room for others, since its map can only be found through the process.
 */
#include "record/symbols/jit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hmap.h"
#include "prof_events.h"
#include "record/process/tasks.h"
#include "symbol/broker/sym_client.h"

/* Above the ids of modules and of files to identify: the broker uses one space of ids. */
#define FIRST_ID 0x80000000u
#define AGAIN_NS 1000000000ull
#define AGAIN_MAX_NS (16 * AGAIN_NS)

#define SWEEP_NS 100000000ull

enum {
	PROGRAMS_MAX = 256,
	PROGRAMS_OF_ONE_MAX = PROGRAMS_MAX / 4,
	PROGRAMS_KEPT = PROGRAMS_OF_ONE_MAX / 2, /* of living and exited processes */
	FRAMES_MAX = 65536,
	RANGES_BYTES_MAX = 16 << 20, /* of all programs */
};

/* A symbol of a map; its name follows those before. */
struct jit_range {
	uint64_t start, size;
	size_t name_off, name_len;
};

struct program {
	uint32_t id; /* of its map, for the broker */
	pid_t pid;
	uint64_t serial, owner; /* of its process */
	struct hmap frames; /* address -> frame, without symbols */
	struct jit_range *ranges; /* with different starts, except for ends of functions that grew */
	size_t range_cnt, range_cap;
	struct hmap range_ends; /* start -> end of the last range from there */
	struct buf names;
	bool last; /* request all once more when there is no request left */
	uint32_t *modules;
	size_t module_cnt, module_cap;
	uint64_t again_ns, wait_ns;
	size_t named; /* symbols since the last request */
	bool gone; /* another process has its number */
};

struct jit {
	struct sym_client *broker;
	struct hmap by_serial; /* serial of a process -> program */
	struct program *programs[PROGRAMS_MAX];
	size_t cnt;
	size_t range_bytes;
	uint32_t last_id;
	uint64_t again_ns; /* time of the first program in the queue */
	bool ending; /* all were requested for the last time */
	uint64_t sweep_ns; /* next search for exited programs */
};

struct jit *jit_new(struct sym_client *broker)
{
	struct jit *j = xcalloc(1, sizeof(*j));

	j->broker = broker;
	j->last_id = FIRST_ID;
	hmap_init(&j->by_serial);
	return j;
}

static void program_free(struct program *p)
{
	hmap_fini(&p->frames);
	hmap_fini(&p->range_ends);
	free(p->ranges);
	buf_free(&p->names);
	free(p->modules);
	free(p);
}

void jit_free(struct jit *j)
{
	size_t i;

	if (!j)
		return;
	for (i = 0; i < j->cnt; i++)
		program_free(j->programs[i]);
	hmap_fini(&j->by_serial);
	free(j);
}

/* ---- room --------------------------------------------------------------------------------------- */

struct retire {
	const struct program *program;
	jit_module_fn fn;
	void *ctx;
};

static int send_last_name(void *ctx, const struct sym_client_answer *answer)
{
	const struct retire *r = ctx;
	size_t i;

	for (i = 0; i < r->program->module_cnt; i++)
		r->fn(r->ctx, r->program->modules[i], answer);
	return 0;
}

static bool has_exited(const struct program *p)
{
	return p->gone || (kill(p->pid, 0) && errno == ESRCH);
}

void jit_sweep(struct jit *j, uint64_t now_ns, jit_module_fn fn, void *ctx)
{
	size_t i = 0;

	if (now_ns < j->sweep_ns || j->cnt <= PROGRAMS_KEPT)
		return;
	j->sweep_ns = now_ns + SWEEP_NS;
	while (i < j->cnt) {
		struct program *p = j->programs[i];
		struct retire r = { p, fn, ctx };

		if (!has_exited(p) || !sym_client_drop(j->broker, p->id, send_last_name, &r)) {
			i++;
			continue;
		}
		hmap_del(&j->by_serial, p->serial);
		j->range_bytes -= p->range_cnt * sizeof(*p->ranges) + p->names.len;
		program_free(p);
		j->programs[i] = j->programs[--j->cnt];
	}
}

static bool has_room(const struct jit *j, uint64_t owner)
{
	size_t cnt = 0, i;

	for (i = 0; i < j->cnt; i++)
		cnt += j->programs[i]->owner == owner;
	return j->cnt < PROGRAMS_MAX && cnt < PROGRAMS_OF_ONE_MAX;
}

/* ---- programs ----------------------------------------------------------------------------------- */

/* The previous process of that number has exited. */
static void mark_exited(struct jit *j, pid_t pid)
{
	size_t i;

	for (i = 0; i < j->cnt; i++)
		j->programs[i]->gone |= j->programs[i]->pid == pid;
}

static struct program *new_program(struct jit *j, struct process *proc)
{
	char path[40];
	const struct sym_client_module module = {
		.kind = SYM_CLIENT_PERFMAP,
		.pid = proc->pid,
		.path = path,
		.owner = tasks_owner(proc),
	};
	struct program *p;

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", proc->pid);
	mark_exited(j, (pid_t)proc->pid);
	if (!has_room(j, tasks_owner(proc)) ||
	    sym_client_add_module(j->broker, j->last_id + 1, &module))
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->id = ++j->last_id;
	p->pid = (pid_t)proc->pid;
	p->serial = proc->serial;
	p->owner = tasks_owner(proc);
	hmap_init(&p->frames);
	hmap_init(&p->range_ends);
	p->wait_ns = AGAIN_NS;
	p->again_ns = clock_mono_ns() + p->wait_ns;
	if (!j->again_ns || p->again_ns < j->again_ns)
		j->again_ns = p->again_ns;
	j->programs[j->cnt++] = p;
	hmap_set(&j->by_serial, proc->serial, p);
	return p;
}

/* Frames arrive in the order of their mappings' first use, so the newest module is the likely one. */
static void note_module(struct program *p, uint32_t module_id)
{
	size_t i = p->module_cnt;

	while (i-- > 0)
		if (p->modules[i] == module_id)
			return;
	p->modules =
		array_reserve(p->modules, &p->module_cap, p->module_cnt + 1, sizeof(*p->modules));
	p->modules[p->module_cnt++] = module_id;
}

bool jit_ask(struct jit *j, struct process *proc, uint64_t addr, uint64_t frame)
{
	struct program *p;

	if (!j->broker)
		return true;
	p = hmap_get(&j->by_serial, proc->serial);
	if (!p)
		p = new_program(j, proc);
	if (!p || p->frames.cnt == FRAMES_MAX)
		return false;
	note_module(p, frame >> PROF_FRAME_MODULE_SHIFT & PROF_FRAME_MODULE_MAX);
	hmap_set(&p->frames, addr, (void *)(uintptr_t)frame);
	sym_client_ask(j->broker, p->id, addr);
	return true;
}

bool jit_is_answer(const struct sym_client_answer *answer)
{
	return answer->module_id >= FIRST_ID;
}

/* NULL: it was removed to make room. */
static struct program *program_of(const struct jit *j, const struct sym_client_answer *answer)
{
	size_t i;

	for (i = 0; i < j->cnt; i++)
		if (j->programs[i]->id == answer->module_id)
			return j->programs[i];
	return NULL;
}

static void keep_range(struct jit *j, struct program *p, const struct sym_client_answer *answer)
{
	const uint64_t end = answer->start + answer->size;
	const size_t bytes = sizeof(*p->ranges) + answer->name_len;

	if (!answer->name_len || end <= answer->offset || answer->start > answer->offset ||
	    j->range_bytes + bytes > RANGES_BYTES_MAX ||
	    (uintptr_t)hmap_get(&p->range_ends, answer->start) == end)
		return;
	hmap_set(&p->range_ends, answer->start, (void *)(uintptr_t)end);
	p->ranges = array_reserve(p->ranges, &p->range_cap, p->range_cnt + 1, sizeof(*p->ranges));
	p->ranges[p->range_cnt++] =
		(struct jit_range){ answer->start, answer->size, p->names.len, answer->name_len };
	buf_add(&p->names, answer->name, answer->name_len);
	j->range_bytes += bytes;
}

bool jit_receive_name(struct jit *j, const struct sym_client_answer *answer, uint64_t *frame)
{
	struct program *p = program_of(j, answer);

	*frame = p ? (uintptr_t)hmap_del(&p->frames, answer->offset) : 0;
	if (p)
		keep_range(j, p, answer);
	if (*frame)
		p->named++;
	return *frame != 0;
}

static int by_start(const void *pa, const void *pb)
{
	const struct jit_range *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->name_off < b->name_off ? -1 : 1; /* the later one last */
}

/* The last sorted range that starts at or before the address, if it contains it. */
static const struct jit_range *find_range(const struct program *p, uint64_t addr)
{
	size_t low = 0, high = p->range_cnt;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (p->ranges[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || addr - p->ranges[low - 1].start >= p->ranges[low - 1].size)
		return NULL;
	return &p->ranges[low - 1];
}

static int name_covered(struct program *p,
			int (*fn)(void *ctx, uint64_t frame,
				  const struct sym_client_answer *answer),
			void *ctx)
{
	struct hmap left = { 0 };
	size_t pos = 0;
	uint64_t addr;
	void *frame;
	int err = 0;

	if (p->range_cnt)
		qsort(p->ranges, p->range_cnt, sizeof(*p->ranges), by_start);
	hmap_init(&left);
	while (hmap_next(&p->frames, &pos, &addr, &frame)) {
		const struct jit_range *r = err ? NULL : find_range(p, addr);

		if (!r) {
			hmap_set(&left, addr, frame);
			continue;
		}
		err = fn(ctx, (uintptr_t)frame,
			 &(struct sym_client_answer){
				 .kind = SYM_CLIENT_NAME,
				 .module_id = p->id,
				 .offset = addr,
				 .name = p->names.data + r->name_off,
				 .name_len = r->name_len,
				 .start = r->start,
				 .size = r->size,
			 });
	}
	hmap_fini(&p->frames);
	p->frames = left;
	return err;
}

int jit_name_covered(struct jit *j,
		     int (*fn)(void *ctx, uint64_t frame, const struct sym_client_answer *answer),
		     void *ctx)
{
	size_t i;
	int err = 0;

	for (i = 0; i < j->cnt && !err; i++)
		err = name_covered(j->programs[i], fn, ctx);
	return err;
}

bool jit_status(const struct jit *j, const struct process *proc, struct sym_client_answer *out)
{
	const struct program *p = hmap_get(&j->by_serial, proc->serial);

	return p && sym_client_get(j->broker, p->id, out) && out->status != SYM_CLIENT_UNKNOWN;
}

void jit_each_module(const struct jit *j, const struct sym_client_answer *answer, jit_module_fn fn,
		     void *ctx)
{
	const struct program *p = program_of(j, answer);
	size_t i;

	for (i = 0; p && i < p->module_cnt; i++)
		fn(ctx, p->modules[i], answer);
}

static void ask_program_again(struct jit *j, struct program *p, uint64_t now_ns, bool last)
{
	size_t pos = 0;
	uint64_t addr;
	void *frame;

	p->wait_ns = p->named || p->wait_ns >= AGAIN_MAX_NS ? AGAIN_NS : 2 * p->wait_ns;
	p->again_ns = now_ns + p->wait_ns;
	p->named = 0;
	/* its answers may be older than the last lines of the map */
	if (sym_client_asking(j->broker, p->id)) {
		p->last |= last;
		return;
	}
	p->last = false;
	while (hmap_next(&p->frames, &pos, &addr, &frame))
		sym_client_ask(j->broker, p->id, addr);
}

void jit_ask_again(struct jit *j, uint64_t now_ns, bool now)
{
	size_t i;

	j->ending |= now;
	if (!j->cnt || (now_ns < j->again_ns && !j->ending))
		return;
	j->again_ns = UINT64_MAX;
	for (i = 0; i < j->cnt; i++) {
		if (now || j->programs[i]->last || now_ns >= j->programs[i]->again_ns)
			ask_program_again(j, j->programs[i], now_ns, now);
		if (j->programs[i]->again_ns < j->again_ns)
			j->again_ns = j->programs[i]->again_ns;
	}
}
