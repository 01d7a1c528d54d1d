// SPDX-License-Identifier: BSD-2-Clause
/*
 * frames.c - addresses to (module, offset)
 *
 * A module is a file by path and build-id, the kernel, a kernel module, a BPF image, the vDSO or an
 * anonymous mapping. Which module a mapping belongs to is found out when the first frame falls into
 * it: most mappings of a system are never hit. For files the offset is the file offset, which the
 * mapping alone tells.
 *
 * Kernel names are looked up here, since the table is at hand; those of user code are asked of the
 * broker and written when they come back.
 */
#include "record/frames.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hmap.h"
#include "base/log.h"
#include "base/str.h"
#include "kernel/kallsyms.h"
#include "kernel/perf_side.h"
#include "record/build_ids.h"
#include "record/emit.h"
#include "record/jit.h"
#include "record/modules.h"
#include "record/tasks.h"
#include "symbol/symbroker.h"

/*
 * Distinct places in user code: a program that makes them up must take neither the machine's memory
 * nor the names of others.
 */
enum { NAMED_MAX = 2 << 20, NAMED_OF_ONE_MAX = NAMED_MAX / 4, UNNAMED_TOLD_MAX = 5 };

/* What naming keeps of a module, its path apart. */
enum { NAMING_BYTES = 512, NAMING_AGAIN_NS = 200000000 };

/* A BPF image loaded after kallsyms was read. */
struct image {
	uint64_t start, end;
	uint32_t module_id;
	char *name;
};

struct frames {
	struct emit *emit;
	struct symbroker *broker;
	bool names;
	struct build_ids *build_ids;
	struct jit *jit;
	const struct kallsyms *kallsyms;
	struct modules *modules;
	uint64_t naming_again_ns; /* when the broker may be made to forget the next time */
	size_t naming_left; /* bytes that naming may still keep of modules */
	struct hmap named; /* frames that were given to naming, and whether they got a name */
	struct hmap not_asked; /* module id -> why some of its places are not asked about, in words */
	bool over_told; /* that some places stay without names */
	bool passed_over; /* a place was, for want of room in named */
	struct hmap kernel_ids; /* kallsyms module -> id */
	struct image *images;
	size_t image_cnt;
	size_t image_cap;
	uint64_t anon_serial;
	uint32_t generation;
};

int frames_new(struct emit *emit, struct symbroker *broker, bool names, struct frames **out)
{
	struct frames *f = xcalloc(1, sizeof(*f));

	f->emit = emit;
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
	f->generation++;
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
	hmap_fini(&f->named);
	hmap_fini(&f->not_asked);
	hmap_fini(&f->kernel_ids);
	free(f);
}

void frames_limit_naming(struct frames *f, size_t bytes)
{
	f->naming_left = bytes;
}

size_t frames_memory(const struct frames *f)
{
	return modules_memory(f->modules) +
	       (f->named.cap + f->not_asked.cap) * sizeof(struct hmap_slot) +
	       f->image_cap * sizeof(struct image);
}

/* Names that were written are written again when they are met again. */
size_t frames_forget(struct frames *f, size_t keep)
{
	size_t others;

	if (f->named.cap * sizeof(struct hmap_slot) > keep / 2)
		hmap_fini(&f->named);
	if (f->not_asked.cap * sizeof(struct hmap_slot) > keep / 8)
		hmap_fini(&f->not_asked);
	others = frames_memory(f) - modules_memory(f->modules);
	return modules_forget(f->modules, keep > others ? keep - others : 0);
}

/*
 * The id of a module, 0 when there are too many; *fresh when it was not known. dev and inode tell
 * files apart whose build-id is not known.
 */
static uint32_t module_id(struct frames *f, const char *path, const void *build_id, size_t sz,
			  uint64_t dev, uint64_t inode, bool *fresh)
{
	struct buf key = { 0 };
	uint32_t id;

	buf_add(&key, &dev, sizeof(dev));
	buf_add(&key, &inode, sizeof(inode));
	buf_add(&key, build_id, sz);
	buf_addch(&key, '\0');
	buf_addstr(&key, path);
	id = modules_id(f->modules, buf_cstr(&key), key.len, fresh);
	buf_free(&key);
	return id <= PROF_FRAME_MODULE_MAX ? id : 0;
}

static void tell_broker(struct frames *f, struct process *proc, const struct map *m, bool vdso)
{
	const struct symbroker_module module = {
		.kind = vdso ? SYMBROKER_VDSO : SYMBROKER_ELF,
		.pid = proc->pid,
		.path = m->path,
		.map_start = m->start,
		.map_end = m->end,
		.dev = (uint32_t)(m->dev >> 32) << 20 | (m->dev & 0xfffff),
		.inode = m->inode,
		.build_id = m->build_id,
		.build_id_sz = m->build_id_sz,
		.owner = tasks_owner(proc),
	};

	if (f->names)
		symbroker_add_module(f->broker, m->module_id, &module);
}

/* perf and /proc have different names for what has none. */
static const char *module_path(const char *path)
{
	return *path && strcmp(path, "//anon") ? path : "[anon]";
}

/* Whether there is memory for what naming keeps of one more module. */
static bool may_be_named(struct frames *f, const struct map *m)
{
	size_t sz = NAMING_BYTES + strlen(m->path);

	if (sz > f->naming_left && f->names && clock_mono_ns() >= f->naming_again_ns) {
		f->naming_again_ns = clock_mono_ns() + NAMING_AGAIN_NS;
		f->naming_left += symbroker_forget(f->broker, NAMING_BYTES);
	}
	if (sz > f->naming_left)
		return false;
	f->naming_left -= sz;
	return true;
}

static void find_module(struct frames *f, struct process *proc, struct map *m)
{
	bool file = maps_is_file(m->path), vdso = maps_is_vdso(m->path), fresh;
	enum prof_module_kind kind = file ? PROF_MODULE_ELF :
				     vdso ? PROF_MODULE_VDSO :
					    PROF_MODULE_ANON;
	bool known;

	if (file && !build_ids_find(f->build_ids, m))
		build_ids_expect(f->build_ids, proc);
	m->build_id_known = true;
	known = m->build_id_sz || !file;
	m->module_id = module_id(f, m->path, m->build_id, m->build_id_sz, known ? 0 : m->dev,
				 kind == PROF_MODULE_ANON ? ++f->anon_serial :
				 known			  ? 0 :
							    m->inode,
				 &fresh);
	if (!fresh || !m->module_id)
		return;
	emit_module(f->emit, EMIT_NOW, m->module_id, module_path(m->path), m->build_id,
		    m->build_id_sz, kind);
	if (kind == PROF_MODULE_ANON)
		emit_module_status(f->emit, EMIT_NOW, m->module_id, PROF_STATUS_ANONYMOUS, NULL);
	else if (may_be_named(f, m))
		tell_broker(f, proc, m, vdso);
	else
		emit_module_status(f->emit, EMIT_NOW, m->module_id, PROF_STATUS_FORGOTTEN,
				   "memory");
}

/* What the trace has to know of a mapping before a frame lies in it. */
static const struct map *introduce_map(struct frames *f, struct process *proc, struct map *m)
{
	struct emit_map event;

	if (!m->module_id)
		find_module(f, proc, m);
	if (!m->module_id)
		return m;
	event = (struct emit_map){
		.pid = proc->pid,
		.start = m->start,
		.end = m->end,
		.offset = m->pgoff,
		.module_id = m->module_id,
	};

	m->announced = proc->serial;
	emit_map(f->emit, EMIT_NOW, &event);
	return m;
}

/* What frames are marked with. */
static char asked, answered;

static bool is_named(struct frames *f, uint64_t frame)
{
	if (hmap_get(&f->named, frame))
		return true;
	hmap_set(&f->named, frame, &asked);
	return false;
}

/* A place of the module stays without a name, whatever becomes of others. */
static void pass_over(struct frames *f, uint32_t module_id, const char *why)
{
	enum symbroker_status status = symbroker_status(f->broker, module_id);

	if (hmap_get(&f->not_asked, module_id))
		return;
	hmap_set(&f->not_asked, module_id, (void *)why);
	if (status == SYMBROKER_UNKNOWN || status == SYMBROKER_NAMED)
		emit_module_status(f->emit, EMIT_NOW, module_id, PROF_STATUS_NOT_ASKED, why);
}

static void ask_name(struct frames *f, struct process *proc, const struct map *m, uint64_t addr,
		     uint64_t frame)
{
	uint64_t off = frame & PROF_FRAME_OFFSET_MASK;
	bool vdso = maps_is_vdso(m->path);

	if (!vdso && !maps_is_file(m->path)) {
		if (!jit_ask(f->jit, proc, addr, frame))
			pass_over(f, m->module_id, "too many programs, or places in this one");
		return;
	}
	if (symbroker_ask(f->broker, m->module_id, off) || !may_be_named(f, m))
		return;
	/* it had been forgotten, and has its turn again */
	tell_broker(f, proc, m, vdso);
	symbroker_ask(f->broker, m->module_id, off);
}

static void tell_over(struct frames *f, const struct process *proc, int max)
{
	char count[32];

	if (f->over_told)
		return;
	f->over_told = true;
	str_count(count, (uint64_t)max);
	log_warn("record: process %u has code at more than %s places: not all of them get names "
		 "(--switch-stacks none or a shorter recording meets fewer)",
		 proc->pid, count);
}

/* All are forgotten when there are too many, unless the broker has as many to answer still. */
static bool has_room(struct frames *f)
{
	if (f->named.cnt < NAMED_MAX)
		return true;
	if (symbroker_questions(f->broker) >= NAMED_MAX) {
		f->passed_over = true;
		return false;
	}
	hmap_fini(&f->named);
	/* stacks are taken apart again, or places that were passed over would never be met again */
	f->generation += f->passed_over;
	f->passed_over = false;
	return true;
}

static void name_user_frame(struct frames *f, struct process *proc, const struct map *m,
			    uint64_t addr, uint64_t frame)
{
	if (!f->names || hmap_get(&f->named, frame))
		return;
	if (proc->named_serial != proc->serial) {
		proc->named_serial = proc->serial;
		proc->named = 0;
	}
	if (proc->named == NAMED_OF_ONE_MAX) {
		tell_over(f, proc, NAMED_OF_ONE_MAX);
		pass_over(f, m->module_id, "too many places in one process");
	} else if (!has_room(f)) {
		tell_over(f, proc, NAMED_MAX);
		pass_over(f, m->module_id, "too many places at a time");
	} else {
		proc->named++;
		hmap_set(&f->named, frame, &asked);
		ask_name(f, proc, m, addr, frame);
	}
}

static uint64_t pack(uint32_t id, uint64_t off)
{
	return (uint64_t)id << PROF_FRAME_MODULE_SHIFT | (off & PROF_FRAME_OFFSET_MASK);
}

uint64_t frames_user(struct frames *f, struct process *proc, uint64_t addr)
{
	struct maps *maps = proc ? tasks_maps_at(proc, addr) : NULL;
	const struct map *m = maps ? maps_find(maps, addr) : NULL;
	uint64_t off, frame;

	if (!m)
		return pack(0, addr);
	if (!m->module_id || m->announced != proc->serial)
		m = introduce_map(f, proc, maps_edit(maps, addr));
	off = addr - m->start + m->pgoff;
	if (!m->module_id || off > PROF_FRAME_OFFSET_MASK)
		return pack(0, addr);
	frame = pack(m->module_id, off);
	name_user_frame(f, proc, m, addr, frame);
	return frame;
}

/* ---- the kernel --------------------------------------------------------------------------------- */

/* From the notes that the kernel carries: name "GNU", type 3. */
static size_t kernel_build_id(uint8_t *out, size_t max)
{
	uint8_t notes[4096];
	ssize_t n;
	size_t off = 0;
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	n = read(fd, notes, sizeof(notes));
	close(fd);
	while (n > 0 && off + 12 <= (size_t)n) {
		uint32_t namesz, descsz, type;

		memcpy(&namesz, notes + off, 4);
		memcpy(&descsz, notes + off + 4, 4);
		memcpy(&type, notes + off + 8, 4);
		off += 12;
		if (namesz > sizeof(notes) || descsz > sizeof(notes))
			break;
		if (off + ((namesz + 3) & ~3U) + descsz > (size_t)n)
			break;
		if (type == 3 && namesz == 4 && !memcmp(notes + off, "GNU", 4) && descsz <= max) {
			memcpy(out, notes + off + 4, descsz);
			return descsz;
		}
		off += ((namesz + 3) & ~3U) + ((descsz + 3) & ~3U);
	}
	return 0;
}

static uint32_t new_kernel_module(struct frames *f, const char *name, enum prof_module_kind kind)
{
	uint8_t build_id[PERF_BUILD_ID_MAX];
	size_t sz = kind == PROF_MODULE_KERNEL ? kernel_build_id(build_id, sizeof(build_id)) : 0;
	uint32_t id;
	bool fresh;

	id = module_id(f, name, build_id, sz, 0, 0, &fresh);
	if (fresh && id)
		emit_module(f->emit, EMIT_NOW, id, name, build_id, sz, kind);
	return id;
}

static uint32_t kernel_module_id(struct frames *f, const struct kallsyms_module *mod)
{
	static const enum prof_module_kind kinds[] = {
		[KALLSYMS_KERNEL] = PROF_MODULE_KERNEL,
		[KALLSYMS_MODULE] = PROF_MODULE_KMOD,
		[KALLSYMS_BPF] = PROF_MODULE_BPF,
	};
	uint32_t id = (uintptr_t)hmap_get(&f->kernel_ids, (uintptr_t)mod);

	if (!id) {
		id = new_kernel_module(f, mod->name, kinds[mod->kind]);
		if (id)
			hmap_set(&f->kernel_ids, (uintptr_t)mod, (void *)(uintptr_t)id);
	}
	return id;
}

static uint64_t image_frame(struct frames *f, struct image *image, uint64_t addr)
{
	struct emit_symbol sym = {
		.name = image->name,
		.name_len = strlen(image->name),
		.size = image->end - image->start,
	};

	if (!image->module_id)
		image->module_id = new_kernel_module(f, image->name, PROF_MODULE_BPF);
	sym.base = PROF_FRAME_KERNEL | pack(image->module_id, 0);
	sym.addr = sym.base + (addr - image->start);
	if (!is_named(f, sym.addr))
		emit_symbol(f->emit, &sym);
	return sym.addr;
}

static struct image *find_image(struct frames *f, uint64_t addr)
{
	size_t i = f->image_cnt;

	while (i-- > 0)
		if (addr >= f->images[i].start && addr < f->images[i].end)
			return &f->images[i];
	return NULL;
}

static void name_kernel_frame(struct frames *f, uint64_t frame, uint64_t module_start,
			      uint64_t addr)
{
	struct kallsyms_sym sym;
	struct emit_symbol event = { .addr = frame };

	if (is_named(f, frame) || kallsyms_find(f->kallsyms, addr, &sym))
		return;
	event.name = sym.name;
	event.name_len = strlen(sym.name);
	event.size = sym.size;
	event.base = frame - (addr - module_start) + (sym.start - module_start);
	emit_symbol(f->emit, &event);
}

uint64_t frames_kernel(struct frames *f, uint64_t addr)
{
	struct image *image = find_image(f, addr);
	const struct kallsyms_module *mod;
	uint64_t frame;

	if (image)
		return image_frame(f, image, addr);
	mod = f->kallsyms ? kallsyms_module_find(f->kallsyms, addr) : NULL;
	if (!mod)
		return PROF_FRAME_KERNEL | pack(0, addr);
	frame = PROF_FRAME_KERNEL | pack(kernel_module_id(f, mod), addr - mod->start);
	name_kernel_frame(f, frame, mod->start, addr);
	return frame;
}

bool frames_is_tracing(const struct frames *f, uint64_t addr)
{
	static const char *const prefixes[] = { "bpf_trace_run", "__bpf_trace_", "__traceiter_" };
	struct kallsyms_sym sym;
	size_t i;

	if (!f->kallsyms || kallsyms_find(f->kallsyms, addr, &sym))
		return false;
	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(sym.name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* An image that goes leaves its address to others, and those are told of as well. */
void frames_side(struct frames *f, const struct perf_side *side)
{
	struct image *old;

	if (side->type != PERF_SIDE_KSYMBOL)
		return;
	f->generation++;
	old = find_image(f, side->addr);
	if (old) {
		free(old->name);
		*old = f->images[--f->image_cnt];
	}
	if (side->unregister || side->addr + side->len < side->addr)
		return;
	f->images = array_reserve(f->images, &f->image_cap, f->image_cnt + 1, sizeof(*f->images));
	f->images[f->image_cnt++] = (struct image){
		.start = side->addr,
		.end = side->addr + side->len,
		.name = xstrndup(side->name, side->name_len),
	};
}

/* ---- what the broker says ------------------------------------------------------------------------- */

static int write_name(struct frames *f, const struct symbroker_answer *answer)
{
	uint64_t frame = pack(answer->module_id, answer->offset), start = answer->start;
	struct emit_symbol event = {
		.size = answer->size,
		.name = answer->name,
		.name_len = answer->name_len,
		.depth = answer->depth,
		.file = answer->file,
		.file_len = answer->file_len,
		.line = answer->line,
	};

	if (jit_is_answer(answer)) {
		if (!jit_take_name(f->jit, answer, &frame))
			return 0;
		/* the function may begin in the mapping before */
		start = answer->offset - start <= (frame & PROF_FRAME_OFFSET_MASK) ?
				(frame & PROF_FRAME_OFFSET_MASK) - (answer->offset - start) :
				0;
	}
	/* a file's symbols may lie about where they begin */
	if (start > (frame & PROF_FRAME_OFFSET_MASK))
		start = frame & PROF_FRAME_OFFSET_MASK;
	event.addr = frame;
	event.base = (frame & ~PROF_FRAME_OFFSET_MASK) | start;
	hmap_set(&f->named, frame, &answered);
	return emit_symbol(f->emit, &event);
}

static const char *status_word(enum symbroker_status status)
{
	static const char *const words[SYMBROKER_STATUS_CNT] = {
		[SYMBROKER_NAMED] = PROF_STATUS_NAMED,
		[SYMBROKER_STRIPPED] = PROF_STATUS_STRIPPED,
		[SYMBROKER_GONE] = PROF_STATUS_GONE,
		[SYMBROKER_REPLACED] = PROF_STATUS_REPLACED,
		[SYMBROKER_DENIED] = PROF_STATUS_DENIED,
		[SYMBROKER_NOT_ELF] = PROF_STATUS_NOT_ELF,
		[SYMBROKER_GAVE_UP] = PROF_STATUS_GAVE_UP,
		[SYMBROKER_CRASHED] = PROF_STATUS_CRASHED,
		[SYMBROKER_HUNG] = PROF_STATUS_HUNG,
		[SYMBROKER_NO_ANSWER] = PROF_STATUS_NO_ANSWER,
		[SYMBROKER_PENDING] = PROF_STATUS_PENDING,
	};

	return words[status];
}

/* Names that were found are no reason why others are not there. */
static int write_status(struct frames *f, uint32_t module_id, const char *word, const char *detail)
{
	const char *why = hmap_get(&f->not_asked, module_id);

	if (why && word && !strcmp(word, PROF_STATUS_NAMED))
		return emit_module_status(f->emit, EMIT_NOW, module_id, PROF_STATUS_NOT_ASKED, why);
	return emit_module_status(f->emit, EMIT_NOW, module_id, word, detail);
}

/* Of a program that made its code; no map is all that a file that is not there tells of it. */
static void write_jit_status(void *ctx, uint32_t module_id, const struct symbroker_answer *answer)
{
	struct frames *f = ctx;
	const char *word = answer->status == SYMBROKER_GONE    ? PROF_STATUS_NO_MAP :
			   answer->status == SYMBROKER_NOT_ELF ? PROF_STATUS_DENIED :
								 status_word(answer->status);

	write_status(f, module_id, word, answer->detail);
}

static int take_answer(void *ctx, const struct symbroker_answer *answer)
{
	struct frames *f = ctx;

	switch (answer->kind) {
	case SYMBROKER_NAME:
	case SYMBROKER_FRAME:
		return write_name(f, answer);
	case SYMBROKER_MODULE:
		build_ids_answer(f->build_ids, answer);
		return 0;
	case SYMBROKER_TABLE:
		return 0;
	case SYMBROKER_STATUS:
		if (jit_is_answer(answer)) {
			jit_each_module(f->jit, answer, write_jit_status, f);
			return 0;
		}
		return write_status(f, answer->module_id, status_word(answer->status),
				    answer->detail);
	}
	return 0;
}

long frames_take_names(struct frames *f, size_t max)
{
	if (!f->broker)
		return 0;
	jit_ask_again(f->jit, clock_mono_ns(), false);
	jit_sweep(f->jit, clock_mono_ns(), write_jit_status, f);
	return symbroker_take(f->broker, take_answer, f, max);
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

/* Files that are as they are (stripped, gone) are no news at the end of a recording. */
static int add_unnamed(void *ctx, const struct symbroker_answer *answer)
{
	static const char *const reasons[SYMBROKER_STATUS_CNT] = {
		[SYMBROKER_GAVE_UP] = "takes too much",
		[SYMBROKER_CRASHED] = "its reader crashed",
		[SYMBROKER_HUNG] = "its reader hung",
		[SYMBROKER_NO_ANSWER] = "its file system does not answer",
		[SYMBROKER_PENDING] = "not waited for",
	};
	const char *reason = reasons[answer->status];
	struct unnamed *u = ctx;

	if (!reason || u->cnt++ >= UNNAMED_TOLD_MAX)
		return 0;
	buf_printf(&u->text, "%s%s (%s%s%s)", u->cnt > 1 ? ", " : "", answer->path, reason,
		   *answer->detail ? ": " : "", answer->detail);
	return 0;
}

void frames_tell_unnamed(struct frames *f)
{
	struct unnamed u = { 0 };

	symbroker_each(f->broker, add_unnamed, &u);
	if (u.cnt > UNNAMED_TOLD_MAX)
		log_warn("record: without names, or without file and line: %s, and %zu more",
			 buf_cstr(&u.text), u.cnt - UNNAMED_TOLD_MAX);
	else if (u.cnt)
		log_warn("record: without names, or without file and line: %s", buf_cstr(&u.text));
	buf_free(&u.text);
}

/* What stands for a frame of that module: "[libc.so.6]", "[jit]"; a path such as "[heap]" as it is. */
static void label_of(const struct frames *f, uint32_t module_id, struct buf *out)
{
	size_t len;
	const char *key = modules_key(f->modules, module_id, &len), *path, *slash;

	buf_clear(out);
	path = key ? (const char *)memrchr(key, '\0', len) + 1 : "[forgotten]";
	slash = strrchr(path, '/');
	if (*path == '[')
		buf_addstr(out, path);
	else if (maps_is_file(path))
		buf_printf(out, "[%s]", slash + 1);
	else
		buf_addstr(out, "[jit]");
}

/* Mappings that were first met after the status was told. */
static int settle_jit(void *ctx, const struct symbroker_answer *answer)
{
	struct frames *f = ctx;

	if (jit_is_answer(answer) && answer->status != SYMBROKER_UNKNOWN)
		jit_each_module(f->jit, answer, write_jit_status, f);
	return 0;
}

int frames_label_unnamed(struct frames *f)
{
	struct emit_symbol event = { 0 };
	struct buf label = { 0 }, valid = { 0 };
	struct dial9_str text;
	size_t pos = 0;
	void *mark;
	int err = 0;

	symbroker_each(f->broker, settle_jit, f);
	while (!err && hmap_next(&f->named, &pos, &event.addr, &mark)) {
		if (mark != &asked || event.addr & PROF_FRAME_KERNEL)
			continue;
		label_of(f, event.addr >> PROF_FRAME_MODULE_SHIFT & PROF_FRAME_MODULE_MAX, &label);
		text = emit_text(&valid, buf_cstr(&label), label.len);
		event.name = text.ptr;
		event.name_len = text.len;
		event.base = event.addr;
		err = emit_symbol(f->emit, &event);
	}
	buf_free(&label);
	buf_free(&valid);
	return err;
}
