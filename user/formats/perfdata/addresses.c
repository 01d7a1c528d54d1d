// SPDX-License-Identifier: BSD-2-Clause
/*
 * addresses.c - frames as addresses
 *
 * Owns the address spaces that perf sees. A frame of dial9 is a module and an offset. It gets the address of a mapping
 * that the trace has for its process, or else of a place that nothing uses. The mapping is written before the first
 * sample that needs it, and again if another one has replaced it, so what perf finds at an address is always the
 * module of the frame. The trace has no addresses of the kernel: it is put where it is linked to.
 */
#include "formats/perfdata/addresses.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/hmap.h"
#include "formats/perfdata/header.h"
#include "formats/perfdata/maps.h"

#define KERNEL_PATH "[kernel.kallsyms]_text"
/* Of the arm64 image; both are below all places of modules that perf takes for the kernel's on that machine. */
#define X86_IMAGE 0xffffffff81000000
#define X86_IMAGE_END 0xffffffffc0000000
#define X86_MODULES 0xffffa00000000000
#define ARM64_IMAGE 0xffff800080000000
#define ARM64_IMAGE_END 0xffff8000c0000000
#define ARM64_MODULES 0xffff800100000000
#define UNKNOWN_KERNEL 0xffffff0000000000
#define KSYMBOL_BPF 1

enum {
	KNOWN_MAX = 1024, /* mappings of one module in a process */
	WINDOW_SHIFT = 24, /* bits of an offset in a place that nothing uses */
	WINDOWS_MAX = 1 << 21,
	SLOT_SHIFT = 28, /* likewise, in the kernel */
	BPF_SZ = 1 << 20,
};

static const uint64_t windows_start = 0x100000000000;

struct known {
	struct perfdata_known *v;
	size_t cnt, cap;
};

/* What perf knows of a process. */
struct space {
	struct perfdata_maps maps;
	struct hmap starts; /* module + 1 -> 1 + start of the mapping that had its last frame */
};

struct perfdata_addresses {
	const struct names *names;
	struct perfdata_out *out;
	struct hmap known; /* pid << 32 | module -> struct known */
	struct hmap spaces; /* pid + 1 -> struct space */
	struct hmap windows; /* module << 16 | window of the offset -> 1 + number of the place */
	struct hmap slots; /* module of the kernel + 1 -> 1 + number of the place */
	struct hmap used; /* module + 1 */
	bool arm64, has_image;
};

void perfdata_addresses_new(const struct names *names, struct perfdata_addresses **out)
{
	struct perfdata_addresses *a = xcalloc(1, sizeof(*a));

	a->names = names;
	*out = a;
}

static void free_spaces(struct perfdata_addresses *a)
{
	uint64_t key;
	size_t pos = 0;
	void *value;

	while (hmap_next(&a->spaces, &pos, &key, &value)) {
		free(((struct space *)value)->maps.v);
		hmap_fini(&((struct space *)value)->starts);
		free(value);
	}
	hmap_fini(&a->spaces);
	hmap_fini(&a->slots);
	a->spaces = a->slots = (struct hmap){ 0 };
	a->has_image = false;
}

void perfdata_addresses_free(struct perfdata_addresses *a)
{
	uint64_t key;
	size_t pos = 0;
	void *value;

	if (!a)
		return;
	free_spaces(a);
	while (hmap_next(&a->known, &pos, &key, &value)) {
		free(((struct known *)value)->v);
		free(value);
	}
	hmap_fini(&a->known);
	hmap_fini(&a->windows);
	hmap_fini(&a->used);
	free(a);
}

static uint64_t known_key(uint32_t pid, uint32_t module)
{
	return (uint64_t)pid << 32 | module;
}

void perfdata_addresses_learn(struct perfdata_addresses *a, const struct perfdata_known *known)
{
	struct known *k = hmap_get(&a->known, known_key(known->pid, known->module));

	if (known->end <= known->start)
		return;
	if (!k) {
		k = xcalloc(1, sizeof(*k));
		hmap_set(&a->known, known_key(known->pid, known->module), k);
	}
	/* segments repeat them */
	for (size_t i = 0; i < k->cnt; i++)
		if (k->v[i].start == known->start && k->v[i].end == known->end &&
		    k->v[i].off == known->off)
			return;
	if (k->cnt >= KNOWN_MAX)
		return;
	k->v = array_reserve(k->v, &k->cap, k->cnt + 1, sizeof(*k->v));
	k->v[k->cnt++] = *known;
}

void perfdata_addresses_start(struct perfdata_addresses *a, uint32_t part, struct perfdata_out *out)
{
	const char *arch = names_meta(a->names, part, PROF_META_ARCH);

	free_spaces(a);
	a->out = out;
	a->arm64 = arch && !strcmp(arch, "aarch64");
}

void perfdata_addresses_reset(struct perfdata_addresses *a, uint32_t pid)
{
	struct space *s = hmap_get(&a->spaces, (uint64_t)pid + 1);

	if (s)
		s->maps.cnt = 0;
}

bool perfdata_addresses_used(const struct perfdata_addresses *a, uint32_t module)
{
	return hmap_get(&a->used, (uint64_t)module + 1);
}

/* ---- user space -------------------------------------------------------------------------------- */

static struct space *get_space(struct perfdata_addresses *a, uint32_t pid)
{
	struct space *s = hmap_get(&a->spaces, (uint64_t)pid + 1);

	if (s)
		return s;
	s = xcalloc(1, sizeof(*s));
	hmap_set(&a->spaces, (uint64_t)pid + 1, s);
	return s;
}

static bool has_offset(uint64_t start, uint64_t end, uint64_t map_off, uint64_t off)
{
	return off >= map_off && off - map_off < end - start;
}

/* The mapping of the module's frame before this one, if it has this offset too. */
static const struct perfdata_map *find_last(const struct space *s, uint32_t module, uint64_t off)
{
	uint64_t start = (uintptr_t)hmap_get(&s->starts, (uint64_t)module + 1);
	const struct perfdata_map *map = start ? perfdata_maps_at(&s->maps, start - 1) : NULL;

	return map && map->module == module && has_offset(map->start, map->end, map->off, off) ?
		       map :
		       NULL;
}

/* A mapping of the trace that has the offset: the last one before the time, or else the first one after it. */
static const struct perfdata_known *find_known(const struct perfdata_addresses *a, uint32_t pid,
					       uint32_t module, uint64_t off, uint64_t ts)
{
	const struct known *k = hmap_get(&a->known, known_key(pid, module));
	const struct perfdata_known *best = NULL;

	for (size_t i = 0; k && i < k->cnt; i++)
		if (has_offset(k->v[i].start, k->v[i].end, k->v[i].off, off) &&
		    (!best || k->v[i].ts <= ts))
			best = &k->v[i];
	return best;
}

/* A place that no process uses, the same in all of them. */
static bool find_window(struct perfdata_addresses *a, uint32_t module, uint64_t off,
			struct perfdata_map *out)
{
	const uint64_t key = (uint64_t)module << 16 | off >> WINDOW_SHIFT;
	uintptr_t number = (uintptr_t)hmap_get(&a->windows, key);

	if (!number) {
		number = a->windows.cnt + 1;
		if (number > WINDOWS_MAX)
			return false;
		hmap_set(&a->windows, key, (void *)number);
	}
	out->start = windows_start + ((uint64_t)(number - 1) << WINDOW_SHIFT);
	out->end = out->start + (1U << WINDOW_SHIFT);
	out->off = off >> WINDOW_SHIFT << WINDOW_SHIFT;
	return true;
}

static const char *user_path(const struct perfdata_addresses *a, const struct names_module *m)
{
	const char *path = names_str(a->names, m->path, NULL);

	if (m->kind == PROF_MODULE_VDSO)
		return "[vdso]";
	return m->kind == PROF_MODULE_ANON || !*path ? "//anon" : path;
}

static void write_map(struct perfdata_addresses *a, const struct perfdata_moment *at,
		      const struct perfdata_map *map)
{
	const struct names_module *m = names_module(a->names, map->module);
	uint8_t id[24] = { 0 };
	uint16_t misc = PERF_RECORD_MISC_USER;

	perfdata_out_u32(a->out, at->pid);
	perfdata_out_u32(a->out, at->tid);
	perfdata_out_u64(a->out, map->start);
	perfdata_out_u64(a->out, map->end - map->start);
	perfdata_out_u64(a->out, map->off);
	if (m->build_id_sz && m->build_id_sz <= PERFDATA_BUILD_ID_MAX) {
		misc |= PERFDATA_MISC_MMAP_BUILD_ID;
		id[0] = m->build_id_sz;
		memcpy(id + 4, m->build_id, m->build_id_sz);
	}
	buf_add(&a->out->body, id, sizeof(id));
	perfdata_out_u32(a->out, PROT_READ | PROT_EXEC);
	perfdata_out_u32(a->out, MAP_PRIVATE);
	perfdata_out_text(a->out, user_path(a, m));
	perfdata_out_moment(a->out, at);
	perfdata_out_record(a->out, PERF_RECORD_MMAP2, misc);
}

static uint64_t get_user(struct perfdata_addresses *a, const struct perfdata_moment *m,
			 uint32_t module, uint64_t off)
{
	struct space *s = get_space(a, m->pid);
	const struct perfdata_map *last = find_last(s, module, off);
	const struct perfdata_known *known;
	struct perfdata_map map = { .module = module };
	const struct perfdata_map *there;

	if (last)
		return last->start + (off - last->off);
	known = find_known(a, m->pid, module, off, m->ts);
	if (known) {
		map.start = known->start;
		map.end = known->end;
		map.off = known->off;
	} else if (!find_window(a, module, off, &map)) {
		return off;
	}
	there = perfdata_maps_at(&s->maps, map.start + (off - map.off));
	if (!there || there->module != module || there->start != map.start ||
	    there->end != map.end || there->off != map.off) {
		write_map(a, m, &map);
		perfdata_maps_add(&s->maps, &map);
	}
	hmap_set(&s->starts, (uint64_t)module + 1, (void *)(uintptr_t)(map.start + 1));
	return map.start + (off - map.off);
}

/* ---- kernel ------------------------------------------------------------------------------------ */

static void write_kernel_map(struct perfdata_addresses *a, const struct perfdata_moment *m,
			     uint64_t start, uint64_t sz, uint64_t off, const char *path)
{
	perfdata_out_u32(a->out, UINT32_MAX);
	perfdata_out_u32(a->out, 0);
	perfdata_out_u64(a->out, start);
	perfdata_out_u64(a->out, sz);
	perfdata_out_u64(a->out, off);
	perfdata_out_text(a->out, path);
	perfdata_out_moment(a->out, m);
	perfdata_out_record(a->out, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
}

static void write_program(struct perfdata_addresses *a, const struct perfdata_moment *m,
			  uint64_t start, const char *name)
{
	perfdata_out_u64(a->out, start);
	perfdata_out_u32(a->out, BPF_SZ);
	perfdata_out_u32(a->out, KSYMBOL_BPF); /* and no flags */
	perfdata_out_text(a->out, name);
	perfdata_out_moment(a->out, m);
	perfdata_out_record(a->out, PERF_RECORD_KSYMBOL, 0);
}

static uint64_t get_image(struct perfdata_addresses *a, const struct perfdata_moment *m,
			  uint64_t off)
{
	const uint64_t start = a->arm64 ? ARM64_IMAGE : X86_IMAGE;
	const uint64_t end = a->arm64 ? ARM64_IMAGE_END : X86_IMAGE_END;

	if (!a->has_image)
		write_kernel_map(a, m, start, end - start, start, KERNEL_PATH);
	a->has_image = true;
	return off < end - start ? start + off : UNKNOWN_KERNEL | off;
}

/* Code outside of the image. */
static uint64_t get_slot(struct perfdata_addresses *a, const struct perfdata_moment *m,
			 const struct names_module *module, uint32_t index, uint64_t off)
{
	uintptr_t number = (uintptr_t)hmap_get(&a->slots, (uint64_t)index + 1);
	const bool is_new = !number;
	const char *path = names_str(a->names, module->path, NULL);
	uint64_t start;

	if (is_new)
		number = a->slots.cnt + 1;
	start = (a->arm64 ? ARM64_MODULES : X86_MODULES) + ((uint64_t)(number - 1) << SLOT_SHIFT);
	if (off >> SLOT_SHIFT)
		return UNKNOWN_KERNEL | off;
	if (is_new) {
		hmap_set(&a->slots, (uint64_t)index + 1, (void *)number);
		if (module->kind == PROF_MODULE_BPF)
			write_program(a, m, start, path);
		else
			write_kernel_map(a, m, start, 1ULL << SLOT_SHIFT, 0, path);
	}
	return start + off;
}

uint64_t perfdata_addresses_get(struct perfdata_addresses *a, const struct perfdata_moment *m,
				uint64_t frame)
{
	const uint32_t index = names_frame_module(frame);
	const uint64_t off = frame & PROF_FRAME_OFFSET_MASK;
	const bool kernel = frame & PROF_FRAME_KERNEL;
	const struct names_module *module = names_module(a->names, index);

	if (!index || !module->announced)
		return kernel ? UNKNOWN_KERNEL | off : off;
	hmap_set(&a->used, (uint64_t)index + 1, a);
	if (!kernel)
		return get_user(a, m, index, off);
	if (module->kind == PROF_MODULE_KERNEL)
		return get_image(a, m, off);
	return get_slot(a, m, module, index, off);
}
