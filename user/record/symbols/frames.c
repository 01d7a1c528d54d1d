// SPDX-License-Identifier: BSD-2-Clause
/*
 * frames.c - translates addresses to (module, offset)
 *
 * A module is a file by path and build-id, the kernel, a kernel module, a BPF image, the vDSO or an anonymous
 * mapping. It is written to the trace at its first frame: most modules of a system are never used. For files the
 * offset is the file offset, which follows from the mapping.
 *
 * Frames of walks by lists contain their module, since identified files get their number when they are published.
 * Frames in other code are addresses, which are looked up here. Symbols are requested from the broker and written
 * when they arrive.
 */
#include "record/symbols/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hmap.h"
#include "base/log.h"
#include "base/str.h"
#include "events/emit.h"
#include "prof_unwind.h"
#include "record/symbols/build_ids.h"
#include "record/symbols/frames_impl.h"
#include "record/symbols/jit.h"
#include "record/symbols/modules.h"
#include "symbol/broker/sym_client.h"

/*
 * Limits for distinct user addresses: a program that invents them must use neither up the machine's memory nor
 * prevent symbols of others.
 */
enum { NAMED_MAX = 2 << 20, NAMED_OF_ONE_MAX = NAMED_MAX / 4, UNNAMED_PRINTED_MAX = 5 };

/* The offset in an unknown module has no meaning. */
#define FRAME_UNKNOWN 0ull

/* Memory for symbol lookup per module, without its path. */
enum { NAMING_BYTES = 512, NAMING_AGAIN_NS = 200000000 };

/* Limits: remembered pairs of program and module, and mappings searched per program. */
enum { PLACED_MAX = 1 << 18, PLACE_STEPS_MAX = 1 << 20 };

int frames_new(struct emit *emit, struct sym_client *broker, bool names, struct frames **out)
{
	struct frames *f = xcalloc(1, sizeof(*f));

	f->now.emit = emit;
	f->broker = broker;
	f->names = broker && names;
	f->build_ids = build_ids_new(broker);
	f->jit = jit_new(f->names ? broker : NULL);
	f->modules = modules_new();
	f->naming_left = SIZE_MAX;
	*out = f;
	return 0;
}

void frames_set_kallsyms(struct frames *f, const struct kallsyms *kallsyms)
{
	f->kallsyms = kallsyms;
	hmap_fini(&f->kernel_ids); /* keyed by kallsyms' modules */
	f->missed_kernel = false;
	f->generation++;
}

bool frames_missed_kernel(struct frames *f)
{
	bool missed = f->missed_kernel;

	f->missed_kernel = false;
	return missed;
}

uint32_t frames_generation(const struct frames *f)
{
	return f->generation;
}

void frames_free(struct frames *f)
{
	size_t i;

	if (!f)
		return;
	for (i = 0; i < f->image_cnt; i++)
		free(f->images[i].name);
	free(f->images);
	build_ids_free(f->build_ids);
	jit_free(f->jit);
	modules_free(f->modules);
	frames_drop_segments(f);
	hmap_fini(&f->named);
	hmap_fini(&f->not_asked);
	hmap_fini(&f->placed);
	hmap_fini(&f->kernel_ids);
	free(f);
}

void frames_limit_naming(struct frames *f, size_t bytes)
{
	f->naming_left = bytes;
}

size_t frames_memory(const struct frames *f)
{
	return modules_memory(f->modules) + frames_segments_memory(f) +
	       (f->named.cap + f->not_asked.cap + f->placed.cap) * sizeof(struct hmap_slot) +
	       f->image_cap * sizeof(struct image);
}

/* Symbols that were written are written again at the next use. */
size_t frames_forget(struct frames *f, size_t keep)
{
	size_t others, cnt;

	if (f->named.cap * sizeof(struct hmap_slot) > keep / 2)
		hmap_fini(&f->named);
	if (f->not_asked.cap * sizeof(struct hmap_slot) > keep / 8)
		hmap_fini(&f->not_asked);
	if (frames_segments_memory(f) > keep / 2)
		frames_forget_names(f);
	others = frames_memory(f) - modules_memory(f->modules);
	cnt = modules_forget(f->modules, keep > others ? keep - others : 0);
	f->forgets += cnt != 0;
	return cnt;
}

uint32_t frames_forgets(const struct frames *f)
{
	return f->forgets + build_ids_changes(f->build_ids);
}

void frames_touch(struct frames *f, uint32_t module_id)
{
	modules_touch(f->modules, module_id);
}

uint32_t frames_module_id(struct frames *f, const char *path, const void *build_id, size_t sz,
			  struct frames_file file, bool *fresh)
{
	struct buf key = { 0 };
	uint32_t id;

	buf_add(&key, &file, sizeof(file));
	buf_add(&key, build_id, sz);
	buf_addch(&key, '\0');
	buf_addstr(&key, path);
	id = modules_id(f->modules, buf_cstr(&key), key.len, fresh);
	buf_free(&key);
	return id <= PROF_FRAME_MODULE_MAX ? id : 0;
}

static const char *status_word(enum sym_client_status status)
{
	static const char *const words[SYM_CLIENT_STATUS_CNT] = {
		[SYM_CLIENT_NAMED] = PROF_STATUS_NAMED,
		[SYM_CLIENT_STRIPPED] = PROF_STATUS_STRIPPED,
		[SYM_CLIENT_GONE] = PROF_STATUS_GONE,
		[SYM_CLIENT_REPLACED] = PROF_STATUS_REPLACED,
		[SYM_CLIENT_DENIED] = PROF_STATUS_DENIED,
		[SYM_CLIENT_NOT_ELF] = PROF_STATUS_NOT_ELF,
		[SYM_CLIENT_GAVE_UP] = PROF_STATUS_GAVE_UP,
		[SYM_CLIENT_CRASHED] = PROF_STATUS_CRASHED,
		[SYM_CLIENT_HUNG] = PROF_STATUS_HUNG,
		[SYM_CLIENT_NO_ANSWER] = PROF_STATUS_NO_ANSWER,
		[SYM_CLIENT_NO_WORKER] = PROF_STATUS_NO_WORKER,
		[SYM_CLIENT_PENDING] = PROF_STATUS_PENDING,
	};

	return words[status];
}

static void send_to_broker(struct frames *f, const struct frames_from *from, uint32_t id,
			   const struct map *m)
{
	const struct sym_client_module module = {
		.kind = proc_maps_is_vdso(m->path) ? SYM_CLIENT_VDSO : SYM_CLIENT_ELF,
		.pid = (pid_t)from->pid,
		.path = m->path,
		.map_start = m->start,
		.map_end = m->end,
		.dev = proc_maps_dev(m),
		.inode = m->inode,
		.build_id = m->build_id,
		.build_id_sz = m->build_id_sz,
		.owner = from->owner,
	};

	sym_client_add_module(f->broker, id, &module);
}

/* perf and /proc name anonymous memory differently. */
static const char *module_path(const char *path)
{
	return *path && strcmp(path, "//anon") ? path : "[anon]";
}

/* Whether there is memory for the broker's data about one more module. */
static bool has_naming_memory(struct frames *f, const struct map *m)
{
	size_t sz = NAMING_BYTES + strlen(m->path);

	if (sz > f->naming_left && f->broker && clock_mono_ns() >= f->naming_again_ns) {
		f->naming_again_ns = clock_mono_ns() + NAMING_AGAIN_NS;
		f->naming_left += sym_client_forget(f->broker, NAMING_BYTES);
	}
	if (sz > f->naming_left)
		return false;
	f->naming_left -= sz;
	return true;
}

/* False: the broker does not know the module, and there is no memory for it. */
static bool make_known(struct frames *f, const struct frames_from *from, uint32_t id,
		       const struct map *m)
{
	struct sym_client_answer answer;

	if (f->broker && sym_client_get(f->broker, id, &answer))
		return true;
	if (!has_naming_memory(f, m))
		return false;
	if (f->broker)
		send_to_broker(f, from, id, m);
	return true;
}

static struct frames_file file_of(const struct map *m)
{
	return (struct frames_file){ m->dev, m->inode, m->version };
}

bool frames_identify(struct frames *f, const struct frames_from *from, struct map *m, bool recent,
		     uint32_t *module_id)
{
	bool fresh, known = m->build_id_sz || proc_maps_is_vdso(m->path);

	if (!known && !build_ids_find(f->build_ids, m, recent)) {
		build_ids_expect_map(f->build_ids, from->pid, from->owner, m);
		return false;
	}
	known |= m->build_id_sz != 0;
	*module_id = 0;
	if (!known && !proc_maps_has_file(m))
		return true;
	*module_id = frames_module_id(f, m->path, m->build_id, m->build_id_sz,
				      known ? (struct frames_file){ 0 } : file_of(m), &fresh);
	return true;
}

/* A successful lookup is no reason for missing symbols. */
static int write_status(struct frames *f, uint32_t module_id, const char *word, const char *detail)
{
	const char *why = hmap_get(&f->not_asked, module_id);

	if (why && word && !strcmp(word, PROF_STATUS_NAMED))
		return frames_write_status(f, module_id, PROF_STATUS_NOT_ASKED, why);
	return frames_write_status(f, module_id, word, detail);
}

/* Writes the current status of a module's symbols, which was not needed before. */
static void write_status_so_far(struct frames *f, uint32_t id)
{
	struct sym_client_answer answer;

	if (f->names && sym_client_get(f->broker, id, &answer) &&
	    answer.status != SYM_CLIENT_UNKNOWN)
		write_status(f, id, status_word(answer.status), answer.detail);
}

/* For a program with run-time code; without its map only "no map" is known, if the program lived. */
static void write_jit_status(void *ctx, uint32_t module_id, const struct sym_client_answer *answer)
{
	struct frames *f = ctx;
	const char *word = answer->status == SYM_CLIENT_GONE ?
				   *answer->detail ? PROF_STATUS_MAP_NOT_READ : PROF_STATUS_NO_MAP :
			   answer->status == SYM_CLIENT_NOT_ELF ? PROF_STATUS_DENIED :
								  status_word(answer->status);

	write_status(f, module_id, word, answer->detail);
}

/* For a program in another segment. */
static void write_jit_status_so_far(struct frames *f, const struct process *proc, uint32_t id)
{
	struct sym_client_answer answer;

	if (f->kept && jit_status(f->jit, proc, &answer))
		write_jit_status(f, id, &answer);
}

static struct frames_from from_process(struct process *proc)
{
	return (struct frames_from){ proc->pid, proc->pid ? tasks_owner(proc) : 0 };
}

/* Writes a module once per segment. */
static void announce_module(struct frames *f, struct process *proc, uint32_t id,
			    const struct map *m)
{
	enum prof_module_kind kind = proc_maps_has_file(m)	? PROF_MODULE_ELF :
				     proc_maps_is_vdso(m->path) ? PROF_MODULE_VDSO :
								  PROF_MODULE_ANON;
	struct frames_from from;

	if (!module_set_add(&f->now.modules, id))
		return;
	from = from_process(proc);
	emit_module(f->now.emit, EMIT_NOW, id, module_path(m->path), m->build_id, m->build_id_sz,
		    kind);
	if (kind == PROF_MODULE_ANON) {
		emit_module_status(f->now.emit, EMIT_NOW, id, PROF_STATUS_ANONYMOUS, NULL);
		write_jit_status_so_far(f, proc, id);
	} else if (make_known(f, &from, id, m)) {
		write_status_so_far(f, id);
	} else {
		emit_module_status(f->now.emit, EMIT_NOW, id, PROF_STATUS_FORGOTTEN, "memory");
	}
}

/*
 * A file that is not identified in time never gets a build-id. Each anonymous mapping is a module, and so is a file
 * in memory that is not known to be an ELF file.
 */
static void find_module(struct frames *f, struct process *proc, struct map *m)
{
	struct frames_from from = from_process(proc);
	bool fresh, identified = false;
	uint32_t id = 0;

	if (proc_maps_is_file(m->path) || proc_maps_is_vdso(m->path) || proc_maps_is_memfd(m->path))
		identified = frames_identify(f, &from, m, false, &id);
	if (!proc_maps_has_file(m) && !proc_maps_is_vdso(m->path))
		id = frames_module_id(f, m->path, NULL, 0,
				      (struct frames_file){ .inode = ++f->anon_serial }, &fresh);
	else if (!identified)
		id = frames_module_id(f, m->path, NULL, 0, file_of(m), &fresh);
	m->build_id_known = true;
	m->module_id = id;
	if (id)
		announce_module(f, proc, id, m);
}

/* The mark of a mapping that was written to the segment. */
static uint64_t announced(const struct frames *f, const struct process *proc)
{
	return proc->serial + (f->segment << 40);
}

/* Writes a mapping and its module before the first frame in it. */
static const struct map *introduce_map(struct frames *f, struct process *proc, struct map *m)
{
	struct own_map event;

	if (m->module_id)
		announce_module(f, proc, m->module_id, m);
	else
		find_module(f, proc, m);
	if (!m->module_id)
		return m;
	event = (struct own_map){
		.pid = proc->pid,
		.start = m->start,
		.end = m->end,
		.offset = m->pgoff,
		.module_id = m->module_id,
	};

	m->announced = announced(f, proc);
	emit_map(f->now.emit, EMIT_NOW, &event);
	return m;
}

static bool is_requested(const struct frames *f, uint64_t frame)
{
	return hmap_get(f->kept ? &f->now.requested : &f->named, frame) != NULL;
}

bool frames_is_named(struct frames *f, uint64_t frame)
{
	if (is_requested(f, frame))
		return true;
	hmap_set(f->kept ? &f->now.requested : &f->named, frame, &frames_mark_requested);
	return false;
}

/* An address of the module gets no symbol, independent of others. */
static void skip_address(struct frames *f, uint32_t module_id, const char *why)
{
	struct sym_client_answer last = { .status = SYM_CLIENT_UNKNOWN };

	if (hmap_get(&f->not_asked, module_id))
		return;
	hmap_set(&f->not_asked, module_id, (void *)why);
	sym_client_get(f->broker, module_id, &last);
	if (last.status == SYM_CLIENT_UNKNOWN || last.status == SYM_CLIENT_NAMED)
		emit_module_status(f->now.emit, EMIT_NOW, module_id, PROF_STATUS_NOT_ASKED, why);
}

static void ask_name(struct frames *f, struct process *proc, const struct map *m, uint64_t addr,
		     uint64_t frame)
{
	struct frames_from from = from_process(proc);
	uint32_t id = frame >> PROF_FRAME_MODULE_SHIFT;

	if (!proc_maps_is_vdso(m->path) && !proc_maps_has_file(m)) {
		if (!jit_ask(f->jit, proc, addr, frame))
			skip_address(f, id, "too many programs, or places in this one");
		return;
	}
	/* it may have been forgotten, and is requested again */
	if (make_known(f, &from, id, m))
		sym_client_ask(f->broker, id, frame & PROF_FRAME_OFFSET_MASK);
}

static void warn_naming_limit(struct frames *f, const struct process *proc, int max)
{
	char count[32];

	if (f->naming_limit_warned)
		return;
	f->naming_limit_warned = true;
	str_count(count, (uint64_t)max);
	log_warn("record: process %u has more than %s code addresses: some get no symbols "
		 "(use --switch-stacks none or a shorter recording)",
		 proc->pid, count);
}

/* Forgets all if there are too many, unless the broker still has that many requests. */
static bool has_room(struct frames *f)
{
	if (f->named.cnt < NAMED_MAX)
		return true;
	if (sym_client_questions(f->broker) >= NAMED_MAX) {
		f->passed_over = true;
		return false;
	}
	hmap_fini(&f->named);
	/* resolves stacks again, otherwise skipped addresses would never be found again */
	f->generation += f->passed_over;
	f->passed_over = false;
	return true;
}

static void renew_budgets(struct process *proc)
{
	if (proc->named_serial == proc->serial)
		return;
	proc->named_serial = proc->serial;
	proc->named = 0;
	proc->place_steps = 0;
}

static void name_user_frame(struct frames *f, struct process *proc, const struct map *m,
			    uint64_t addr, uint64_t frame)
{
	if (!f->names || is_requested(f, frame))
		return;
	if (f->kept)
		frames_add_to_segment(f, frame);
	if (hmap_get(&f->named, frame))
		return;
	renew_budgets(proc);
	if (proc->named == NAMED_OF_ONE_MAX) {
		warn_naming_limit(f, proc, NAMED_OF_ONE_MAX);
		skip_address(f, frame >> PROF_FRAME_MODULE_SHIFT, "too many places in one process");
	} else if (!has_room(f)) {
		warn_naming_limit(f, proc, NAMED_MAX);
		skip_address(f, frame >> PROF_FRAME_MODULE_SHIFT, "too many places at a time");
	} else {
		proc->named++;
		hmap_set(&f->named, frame, &frames_mark_requested);
		ask_name(f, proc, m, addr, frame);
	}
}

uint64_t frames_user(struct frames *f, struct process *proc, uint64_t addr)
{
	struct proc_maps *maps = proc ? tasks_maps_at(proc, addr) : NULL;
	const struct map *m = maps ? proc_maps_find(maps, addr) : NULL;
	uint64_t off, frame;

	if (!m)
		return frames_pack(0, addr);
	if (!m->module_id || m->announced != announced(f, proc))
		m = introduce_map(f, proc, proc_maps_edit(maps, addr));
	off = addr - m->start + m->pgoff;
	if (!m->module_id || off > PROF_FRAME_OFFSET_MASK)
		return frames_pack(0, addr);
	frame = frames_pack(m->module_id, off);
	name_user_frame(f, proc, m, addr, frame);
	return frame;
}

/* ---- frames of walks ------------------------------------------------------------------------------ */

static uint64_t place_key(const struct process *proc, uint32_t id)
{
	return proc->serial << (63 - PROF_FRAME_MODULE_SHIFT) | id;
}

static bool is_of_module(struct frames *f, const struct map *m, const struct map *module)
{
	struct map copy;

	if (strcmp(m->path, module->path))
		return false;
	copy = *m;
	build_ids_find(f->build_ids, &copy, false);
	return copy.build_id_sz == module->build_id_sz &&
	       !memcmp(copy.build_id, module->build_id, copy.build_id_sz);
}

/*
 * Sends a program's mappings of a module; the broker finds the file by the first of them. False: there is none.
 */
static bool send_mappings(struct frames *f, struct process *proc, uint32_t id, struct map *module)
{
	const struct proc_maps *maps = proc->maps.table ? &proc->maps : &proc->before;
	uint64_t addr = 0;
	const struct map *m;

	renew_budgets(proc);
	while (proc->place_steps < PLACE_STEPS_MAX && (m = proc_maps_next(maps, addr))) {
		proc->place_steps++;
		addr = m->end;
		if (!is_of_module(f, m, module))
			continue;
		emit_map(f->now.emit, EMIT_NOW,
			 &(struct own_map){ .pid = proc->pid,
					    .start = m->start,
					    .end = m->end,
					    .offset = m->pgoff,
					    .module_id = id });
		if (!module->end) {
			module->start = m->start;
			module->end = m->end;
		}
	}
	return module->end != 0;
}

/* Once per program, as soon as its mappings are known. */
static void place_module(struct frames *f, struct process *proc, uint32_t id, struct map *module)
{
	if (!send_mappings(f, proc, id, module))
		return;
	if (f->placed.cnt >= PLACED_MAX)
		hmap_fini(&f->placed);
	hmap_set(&f->placed, place_key(proc, id), &frames_mark_requested);
}

uint64_t frames_walked(struct frames *f, struct process *proc, uint64_t frame)
{
	uint32_t id = frame >> PROF_FRAME_MODULE_SHIFT & PROF_FRAME_MODULE_MAX;
	struct map module;
	const void *key;
	bool placed;
	size_t sz;

	if (frame & PROF_UNWIND_RAW)
		return frames_user(f, proc, frame & ~PROF_UNWIND_RAW);
	proc = proc ? proc : &f->nobody;
	placed = hmap_get(&f->placed, place_key(proc, id)) != NULL;
	if (placed && (!f->names || is_requested(f, frame)))
		return frame;
	key = modules_key(f->modules, id, &sz);
	if (!key)
		return module_set_has(&f->now.modules, id) ? frame : FRAME_UNKNOWN;
	module = frames_map_from_key(key, sz);
	if (!placed)
		place_module(f, proc, id, &module);
	announce_module(f, proc, id, &module);
	name_user_frame(f, proc, &module, 0, frame);
	return frame;
}

/* ---- what the broker says ------------------------------------------------------------------------- */

static int write_symbol(struct frames *f, uint64_t frame, uint64_t start,
			const struct sym_client_answer *answer)
{
	struct emit_symbol event = {
		.size = answer->size,
		.name = answer->name,
		.name_len = answer->name_len,
		.depth = answer->depth,
		.file = answer->file,
		.file_len = answer->file_len,
		.line = answer->line,
	};

	/* a file's symbols may have invalid start addresses */
	if (start > (frame & PROF_FRAME_OFFSET_MASK))
		start = frame & PROF_FRAME_OFFSET_MASK;
	event.addr = frame;
	event.base = (frame & ~PROF_FRAME_OFFSET_MASK) | start;
	hmap_set(&f->named, frame, &frames_mark_answered);
	return frames_write_name(f, &event);
}

/* A jit_name_covered() function. */
static int write_jit_name(void *ctx, uint64_t frame, const struct sym_client_answer *answer)
{
	const uint64_t off = frame & PROF_FRAME_OFFSET_MASK,
		       before = answer->offset - answer->start;

	/* the function may begin in the previous mapping */
	return write_symbol(ctx, frame, before <= off ? off - before : 0, answer);
}

static int write_name(struct frames *f, const struct sym_client_answer *answer)
{
	uint64_t frame = frames_pack(answer->module_id, answer->offset);

	if (!jit_is_answer(answer))
		return write_symbol(f, frame, answer->start, answer);
	return jit_receive_name(f->jit, answer, &frame) ? write_jit_name(f, frame, answer) : 0;
}

static int receive_answer(void *ctx, const struct sym_client_answer *answer)
{
	struct frames *f = ctx;

	switch (answer->kind) {
	case SYM_CLIENT_NAME:
	case SYM_CLIENT_FRAME:
		return write_name(f, answer);
	case SYM_CLIENT_MODULE:
		build_ids_answer(f->build_ids, answer);
		if (f->listen)
			f->listen(f->listen_ctx, answer);
		return 0;
	case SYM_CLIENT_TABLE:
		if (f->listen)
			f->listen(f->listen_ctx, answer);
		return 0;
	case SYM_CLIENT_STATUS:
		if (jit_is_answer(answer)) {
			jit_each_module(f->jit, answer, write_jit_status, f);
			return 0;
		}
		return write_status(f, answer->module_id, status_word(answer->status),
				    answer->detail);
	}
	return 0;
}

long frames_receive_names(struct frames *f, size_t max)
{
	if (!f->broker)
		return 0;
	jit_ask_again(f->jit, clock_mono_ns(), false);
	jit_sweep(f->jit, clock_mono_ns(), write_jit_status, f);
	return sym_client_receive(f->broker, receive_answer, f, max);
}

void frames_listen(struct frames *f, frames_listen_fn fn, void *ctx)
{
	f->listen = fn;
	f->listen_ctx = ctx;
}

void frames_expect(struct frames *f, struct process *proc)
{
	build_ids_expect(f->build_ids, proc);
}

void frames_ask_again(struct frames *f)
{
	jit_ask_again(f->jit, clock_mono_ns(), true);
}

/* ---- at the end ----------------------------------------------------------------------------------- */

struct unnamed {
	struct buf text;
	size_t cnt;
};

static void add_reason(struct unnamed *u, const struct sym_client_answer *answer,
		       const char *reason)
{
	if (u->cnt++ >= UNNAMED_PRINTED_MAX)
		return;
	buf_printf(&u->text, "%s%s (%s%s%s)", u->cnt > 1 ? ", " : "", answer->path, reason,
		   *reason && *answer->detail ? ": " : "", answer->detail);
}

/* Unchanged files (stripped, deleted) are no news at the end of a recording. */
static int add_unnamed(void *ctx, const struct sym_client_answer *answer)
{
	static const char *const reasons[SYM_CLIENT_STATUS_CNT] = {
		[SYM_CLIENT_GAVE_UP] = "exceeds the limits",
		[SYM_CLIENT_CRASHED] = "its reader crashed",
		[SYM_CLIENT_HUNG] = "its reader hung",
		[SYM_CLIENT_NO_ANSWER] = "its file system does not answer",
		[SYM_CLIENT_NO_WORKER] = "no process was left to read it",
		[SYM_CLIENT_PENDING] = "symbol lookup not finished",
	};
	const char *reason = reasons[answer->status];

	if (reason)
		add_reason(ctx, answer, reason);
	return 0;
}

/* Modules with symbols may lack other data. */
static int add_lacking(void *ctx, const struct sym_client_answer *answer)
{
	if (answer->status == SYM_CLIENT_NAMED && *answer->detail)
		add_reason(ctx, answer, "");
	return 0;
}

static void warn_unnamed(struct unnamed *u, const char *without)
{
	if (u->cnt > UNNAMED_PRINTED_MAX)
		log_warn("record: without %s: %s, and %zu more", without, buf_cstr(&u->text),
			 u->cnt - UNNAMED_PRINTED_MAX);
	else if (u->cnt)
		log_warn("record: without %s: %s", without, buf_cstr(&u->text));
	buf_free(&u->text);
}

void frames_report_unnamed(struct frames *f)
{
	struct unnamed unnamed = { 0 }, lacking = { 0 };

	sym_client_each(f->broker, add_unnamed, &unnamed);
	sym_client_each(f->broker, add_lacking, &lacking);
	warn_unnamed(&unnamed, "symbols, or without file and line");
	warn_unnamed(&lacking, "inlined functions");
}

/* Mappings whose first use was after the status was written. */
static int settle_jit(void *ctx, const struct sym_client_answer *answer)
{
	struct frames *f = ctx;

	if (jit_is_answer(answer) && answer->status != SYM_CLIENT_UNKNOWN)
		jit_each_module(f->jit, answer, write_jit_status, f);
	return 0;
}

int frames_label_unnamed(struct frames *f)
{
	int err;

	sym_client_each(f->broker, settle_jit, f);
	err = jit_name_covered(f->jit, write_jit_name, f);
	return err ? err : frames_label_all(f);
}
