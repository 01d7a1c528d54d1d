// SPDX-License-Identifier: BSD-2-Clause
/*
 * frames_kernel.c - translates kernel addresses to frames
 *
 * Symbols are looked up here: in /proc/kallsyms as read at the start, or later if modules were loaded, and in the
 * BPF images loaded since.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "events/emit.h"
#include "kernel/kallsyms.h"
#include "kernel/perf_side.h"
#include "record/symbols/frames_impl.h"

/* Writes a module with that id to the segment, 0 if it has none yet. Returns the id. */
static uint32_t announce_kernel_module(struct frames *f, uint32_t id, const char *name,
				       enum prof_module_kind kind)
{
	uint8_t build_id[PERF_BUILD_ID_MAX];
	size_t sz;
	bool fresh;

	if (id && module_set_has(&f->now.modules, id))
		return id;
	sz = kind == PROF_MODULE_KERNEL ? kallsyms_build_id(build_id, sizeof(build_id)) : 0;
	if (!id)
		id = frames_module_id(f, name, build_id, sz, (struct frames_file){ 0 }, &fresh);
	if (id && module_set_add(&f->now.modules, id))
		emit_module(f->now.emit, EMIT_NOW, id, name, build_id, sz, kind);
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
		id = announce_kernel_module(f, 0, mod->name, kinds[mod->kind]);
		if (id)
			hmap_set(&f->kernel_ids, (uintptr_t)mod, (void *)(uintptr_t)id);
		return id;
	}
	return announce_kernel_module(f, id, mod->name, kinds[mod->kind]);
}

static uint64_t image_frame(struct frames *f, struct image *image, uint64_t addr)
{
	struct emit_symbol sym = {
		.name = image->name,
		.name_len = strlen(image->name),
		.size = image->end - image->start,
	};

	image->module_id =
		announce_kernel_module(f, image->module_id, image->name, PROF_MODULE_BPF);
	sym.base = PROF_FRAME_KERNEL | frames_pack(image->module_id, 0);
	sym.addr = sym.base + (addr - image->start);
	if (!frames_is_named(f, sym.addr))
		emit_symbol(f->now.emit, &sym);
	return sym.addr;
}

static struct image *find_image(const struct frames *f, uint64_t addr)
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

	if (frames_is_named(f, frame) || kallsyms_find(f->kallsyms, addr, &sym))
		return;
	event.name = sym.name;
	event.name_len = strlen(sym.name);
	event.size = sym.size;
	event.base = frame - (addr - module_start) + (sym.start - module_start);
	emit_symbol(f->now.emit, &event);
}

uint64_t frames_kernel(struct frames *f, uint64_t addr)
{
	struct image *image = find_image(f, addr);
	const struct kallsyms_module *mod;
	uint64_t frame;

	if (image)
		return image_frame(f, image, addr);
	mod = f->kallsyms ? kallsyms_module_find(f->kallsyms, addr) : NULL;
	if (!mod) {
		f->missed_kernel = f->kallsyms != NULL;
		return PROF_FRAME_KERNEL | frames_pack(0, addr);
	}
	frame = PROF_FRAME_KERNEL | frames_pack(kernel_module_id(f, mod), addr - mod->start);
	name_kernel_frame(f, frame, mod->start, addr);
	return frame;
}

bool frames_is_tracing(const struct frames *f, uint64_t addr)
{
	static const char *const prefixes[] = { "bpf_trace_run", "__bpf_trace_", "__traceiter_",
						"perf_syscall_enter", "perf_syscall_exit" };
	struct kallsyms_sym sym;
	size_t i;

	if (!f->kallsyms || kallsyms_find(f->kallsyms, addr, &sym))
		return false;
	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(sym.name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

bool frames_code_name(const struct frames *f, uint64_t addr, struct buf *out)
{
	const struct image *image = find_image(f, addr);
	struct kallsyms_sym sym;
	uint64_t start;

	if (image) {
		buf_addstr(out, image->name);
		start = image->start;
	} else if (f->kallsyms && !kallsyms_find(f->kallsyms, addr, &sym)) {
		buf_addstr(out, sym.name);
		start = sym.start;
	} else {
		return false;
	}
	if (addr != start) {
		buf_addstr(out, "+0x");
		buf_addx(out, addr - start);
	}
	return true;
}

/* The address range of an unloaded image is reused; new images are reported as well. */
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
