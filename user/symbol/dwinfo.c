// SPDX-License-Identifier: BSD-2-Clause
/*
 * Address to functions, inlined ones included, from debug information.
 *
 * libdw reads the encoding; its look-ups are not used: they need .debug_aranges, which clang does
 * not write, and they miss functions inside namespaces and types, where C++ and Rust keep them.
 * Instead there are three indexes, each built when it is first needed and only for the part that
 * is needed, so that a gigabyte of debug information costs what the sampled code costs:
 *
 *	units by address	one pass over the unit headers when opened
 *	functions by address	one walk over a unit, through namespaces, types and blocks
 *	inlined copies		one walk over a function
 *
 * Hostile files: every walk goes forward only, nesting is bounded, and memory is accounted for
 * before libdw takes it. Addresses that the executed file does not map (functions that the linker
 * dropped keep debug information at address 0) are never indexed.
 */
#include "symbol/dwinfo.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/hmap.h"
#include "base/strtab.h"
#include "symbol/budget.h"
#include "symbol/demangle.h"
#include "symbol/dwline.h"
#include "symbol/elfimg.h"
#include "symbol/ranges.h"

#define NESTING_MAX 256
#define ROOT UINT32_MAX
/* libdw's own for each unit, and for each byte of a unit that was walked */
#define UNIT_COST 512
#define ROW_COST 48
#define NAME_COST 64

struct call {
	Dwarf_Off die;
	uint32_t parent; /* the call that this one is inlined into, or ROOT */
	uint32_t depth;
	uint32_t line;
	const char *file;
};

/* The inlined calls of one out-of-line function. */
struct func {
	struct call *calls;
	size_t call_cnt, call_cap;
	struct ranges ranges; /* id = index into calls */
};

struct unit {
	Dwarf_Off die;
	const char *dir; /* DW_AT_comp_dir: what relative paths are relative to; NULL = unknown */
	bool indexed, refused;
	struct ranges funcs; /* id = offset of the function's DIE */
	struct dwline lines;
};

struct dwinfo {
	const struct elfimg *exec;
	Elf *elf, *alt_elf;
	Dwarf *dbg, *alt_dbg;
	const Elf_Data *line_section;
	struct unit *units;
	size_t unit_cnt, unit_cap;
	struct ranges unit_ranges; /* id = index into units */
	size_t *unranged; /* units that do not say where their code is */
	size_t unranged_cnt, unranged_cap;
	struct hmap funcs; /* DIE offset -> struct func */
	struct strtab names; /* demangled */
	struct hmap name_ids; /* address of the name in the file -> id in names + 1 */
	struct budget *budget;
	size_t mem, mem_max;
	bool used;
};

/* Counts one entry of a walk; false when the walk has to end. */
static bool go_on(struct dwinfo *dw)
{
	return budget_step(dw->budget, 1) != -EDQUOT;
}

static bool is_code(const struct dwinfo *dw, uint64_t lo, uint64_t hi)
{
	uint64_t off;

	return lo && lo < hi && elfimg_off(dw->exec, lo, &off) &&
	       elfimg_off(dw->exec, hi - 1, &off);
}

/* Adds the DIE's address ranges that count; returns how many. */
static size_t add_ranges(struct dwinfo *dw, struct ranges *r, Dwarf_Die *die, uint64_t id)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t off = 0;
	size_t before = r->cnt, cap = r->cap;

	while (go_on(dw) && (off = dwarf_ranges(die, off, &base, &lo, &hi)) > 0)
		if (is_code(dw, lo, hi))
			ranges_add(r, lo, hi, id);
	dw->mem += (r->cap - cap) * sizeof(*r->v);
	return r->cnt - before;
}

/* To the next DIE of the same parent; a file that leads backwards has come to its end. */
static bool next_sibling(Dwarf_Die *die)
{
	Dwarf_Off before = dwarf_dieoffset(die);
	Dwarf_Die next;

	if (dwarf_siblingof(die, &next) || dwarf_dieoffset(&next) <= before)
		return false;
	*die = next;
	return true;
}

/* Whether functions may be found further down. */
static bool holds_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type: /* in Rust, an enum's methods */
	case DW_TAG_variant_part:
	case DW_TAG_variant:
		return true;
	default:
		return false;
	}
}

static void index_functions(struct dwinfo *dw, struct unit *unit, Dwarf_Die *parent, int nesting)
{
	Dwarf_Die die;

	if (nesting > NESTING_MAX || dwarf_child(parent, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			add_ranges(dw, &unit->funcs, &die, dwarf_dieoffset(&die));
		if (holds_functions(tag))
			index_functions(dw, unit, &die, nesting + 1);
	} while (go_on(dw) && next_sibling(&die));
}

static uint64_t attr_number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word v;

	return dwarf_attr(die, name, &attr) && !dwarf_formudata(&attr, &v) ? v : 0;
}

/* Follows specifications and abstract origins; libdw bounds their number. */
static const char *attr_string(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) ? dwarf_formstring(&attr) : NULL;
}

static int load_unit(struct dwinfo *dw, struct unit *unit)
{
	uint64_t cost;
	Dwarf_Die die;

	if (unit->indexed)
		return 0;
	if (unit->refused || !dwarf_offdie(dw->dbg, unit->die, &die))
		return -ENODATA;
	cost = dwline_cost(&die, dw->line_section);
	if (dw->mem >= dw->mem_max || cost > dw->mem_max - dw->mem) {
		unit->refused = true;
		return -E2BIG;
	}
	dw->used = true;
	unit->indexed = true;
	index_functions(dw, unit, &die, 0);
	ranges_sort(&unit->funcs);
	unit->dir = attr_string(&die, DW_AT_comp_dir);
	dwline_load(&unit->lines, &die);
	dw->mem += unit->lines.row_cnt * ROW_COST;
	return 0;
}

static uint32_t add_call(struct func *f, const struct unit *unit, Dwarf_Die *die, uint32_t parent)
{
	uint64_t line = attr_number(die, DW_AT_call_line);
	struct call *c;

	f->calls = array_reserve(f->calls, &f->call_cap, f->call_cnt + 1, sizeof(*f->calls));
	c = &f->calls[f->call_cnt];
	c->die = dwarf_dieoffset(die);
	c->parent = parent;
	c->depth = parent == ROOT ? 0 : f->calls[parent].depth + 1;
	c->line = line <= UINT32_MAX ? line : 0;
	c->file = dwline_file(&unit->lines, attr_number(die, DW_AT_call_file));
	return f->call_cnt++;
}

static void index_calls(struct dwinfo *dw, struct func *f, const struct unit *unit,
			Dwarf_Die *parent, uint32_t call, int nesting)
{
	Dwarf_Die die;

	if (nesting > NESTING_MAX || f->call_cnt >= ROOT - 1 || dwarf_child(parent, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_inlined_subroutine: {
			uint32_t idx = add_call(f, unit, &die, call);

			add_ranges(dw, &f->ranges, &die, idx);
			index_calls(dw, f, unit, &die, idx, nesting + 1);
			break;
		}
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			index_calls(dw, f, unit, &die, call, nesting + 1);
			break;
		default:
			break;
		}
	} while (go_on(dw) && next_sibling(&die));
}

static const struct func *load_func(struct dwinfo *dw, const struct unit *unit, Dwarf_Off off)
{
	struct func *f = hmap_get(&dw->funcs, off);
	Dwarf_Die die;

	if (f)
		return f;
	if (!dwarf_offdie(dw->dbg, off, &die))
		return NULL;
	f = xcalloc(1, sizeof(*f));
	index_calls(dw, f, unit, &die, ROOT, 0);
	ranges_sort(&f->ranges);
	dw->mem += sizeof(*f) + f->call_cap * sizeof(*f->calls);
	hmap_set(&dw->funcs, off, f);
	return f;
}

/* The innermost call at addr, or ROOT. */
static uint32_t deepest_call(const struct func *f, uint64_t addr)
{
	const struct range *r;
	size_t pos = SIZE_MAX, i;
	uint32_t best = ROOT;

	for (i = 0; i < DWINFO_DEPTH_MAX && (r = ranges_next(&f->ranges, addr, &pos)); i++)
		if (best == ROOT || f->calls[r->id].depth > f->calls[best].depth)
			best = r->id;
	return best;
}

/*
 * Appends the name as people write it. Inlined functions come again and again, and demangling is
 * most of what a look-up costs: what a name in the file turned into is kept, by where it lies.
 */
static void write_name(struct dwinfo *dw, const char *name, struct buf *text)
{
	uint64_t key = (uintptr_t)name;
	size_t start = text->len, len;
	uintptr_t id = (uintptr_t)hmap_get(&dw->name_ids, key);

	if (id) {
		const char *known = strtab_get(&dw->names, id - 1, &len);

		buf_add(text, known, len);
		return;
	}
	demangle_name(text, name, strnlen(name, DEMANGLE_MAX + 1));
	len = text->len - start;
	id = len ? strtab_add(&dw->names, text->data + start, len) + 1ul : 0;
	if (!id)
		return;
	hmap_set(&dw->name_ids, key, (void *)id);
	dw->mem += len + NAME_COST;
}

/* The linker's name says parameters and scope; C has none, nor have local functions of GCC's C++. */
static void add_name(struct dwinfo *dw, Dwarf_Off off, struct buf *text, struct dwinfo_frame *out)
{
	const char *name = NULL;
	Dwarf_Die die;

	out->name_off = text->len;
	if (dwarf_offdie(dw->dbg, off, &die)) {
		name = attr_string(&die, DW_AT_linkage_name);
		if (!name)
			name = attr_string(&die, DW_AT_MIPS_linkage_name);
		out->plain = !name;
		if (!name)
			name = attr_string(&die, DW_AT_name);
	}
	if (name)
		write_name(dw, name, text);
	out->name_len = text->len - out->name_off;
	buf_addch(text, '\0');
}

static void add_file(const struct unit *unit, const char *file, struct buf *text,
		     struct dwinfo_frame *out)
{
	out->file_off = SIZE_MAX;
	if (!file)
		return;
	out->file_off = text->len;
	if (file[0] != '/' && unit->dir) {
		buf_addstr(text, unit->dir);
		buf_addch(text, '/');
	}
	buf_add(text, file, strlen(file) + 1);
}

/* Fills out[0..max) from the function's DIE and the path of calls down to `call`. */
static int fill_frames(struct dwinfo *dw, const struct unit *unit, const struct range *hit,
		       const struct func *f, uint64_t addr, struct buf *text,
		       struct dwinfo_frame *out, size_t max)
{
	uint32_t call = deepest_call(f, addr);
	size_t cnt = call == ROOT ? 1 : f->calls[call].depth + 2ul, i;
	const char *file = NULL;
	uint32_t line = 0;

	dwline_find(&unit->lines, addr, &file, &line);
	for (i = cnt; i-- > 0;) {
		if (i < max) {
			out[i] = (struct dwinfo_frame){
				.line = line,
				.lo = hit->lo,
				.hi = hit->hi,
			};
			add_file(unit, file, text, &out[i]);
			add_name(dw, i ? f->calls[call].die : hit->id, text, &out[i]);
		}
		if (!i)
			break;
		file = f->calls[call].file;
		line = f->calls[call].line;
		call = f->calls[call].parent;
	}
	return cnt < max ? cnt : max;
}

static int frames_in_unit(struct dwinfo *dw, struct unit *unit, uint64_t addr, struct buf *text,
			  struct dwinfo_frame *out, size_t max)
{
	const struct range *hit;
	const struct func *f;
	int err = load_unit(dw, unit);

	if (err)
		return err == -E2BIG ? err : 0;
	hit = ranges_smallest(&unit->funcs, addr);
	f = hit ? load_func(dw, unit, hit->id) : NULL;
	return f ? fill_frames(dw, unit, hit, f, addr, text, out, max) : 0;
}

int dwinfo_frames(struct dwinfo *dw, uint64_t addr, struct buf *text, struct dwinfo_frame *out,
		  size_t max)
{
	const struct range *r;
	size_t pos = SIZE_MAX, i;
	int cnt = 0;

	if (!max)
		return 0;
	while (!cnt && (r = ranges_next(&dw->unit_ranges, addr, &pos)))
		cnt = frames_in_unit(dw, &dw->units[r->id], addr, text, out, max);
	for (i = 0; !cnt && i < dw->unranged_cnt; i++)
		cnt = frames_in_unit(dw, &dw->units[dw->unranged[i]], addr, text, out, max);
	return cnt;
}

bool dwinfo_line(struct dwinfo *dw, uint64_t addr, struct buf *text, struct dwinfo_frame *out)
{
	const struct range *r;
	size_t pos = SIZE_MAX;

	while ((r = ranges_next(&dw->unit_ranges, addr, &pos))) {
		struct unit *unit = &dw->units[r->id];
		const char *file;

		if (load_unit(dw, unit) || !dwline_find(&unit->lines, addr, &file, &out->line))
			continue;
		add_file(unit, file, text, out);
		return true;
	}
	return false;
}

static void add_unit(struct dwinfo *dw, Dwarf_Die *die)
{
	size_t idx = dw->unit_cnt;

	dw->units = array_reserve(dw->units, &dw->unit_cap, idx + 1, sizeof(*dw->units));
	dw->units[dw->unit_cnt++] = (struct unit){ .die = dwarf_dieoffset(die) };
	dw->mem += UNIT_COST;
	if (add_ranges(dw, &dw->unit_ranges, die, idx) || dwarf_hasattr(die, DW_AT_ranges) ||
	    dwarf_hasattr(die, DW_AT_high_pc))
		return;
	dw->unranged = array_reserve(dw->unranged, &dw->unranged_cap, dw->unranged_cnt + 1,
				     sizeof(*dw->unranged));
	dw->unranged[dw->unranged_cnt++] = idx;
}

static int list_units(struct dwinfo *dw)
{
	Dwarf_CU *cu = NULL;
	uint8_t type;
	Dwarf_Die die;

	while (!dwarf_get_units(dw->dbg, cu, &cu, NULL, &type, &die, NULL)) {
		if (type == DW_UT_compile && dwarf_tag(&die) == DW_TAG_compile_unit)
			add_unit(dw, &die);
		if (!go_on(dw))
			return -EDQUOT;
		if (dw->mem > dw->mem_max)
			return -EFBIG;
	}
	ranges_sort(&dw->unit_ranges);
	return dw->unit_cnt ? 0 : -ENODATA;
}

static int open_dwarf(const struct elfimg *img, Elf **elf, Dwarf **dbg)
{
	*elf = elf_memory(img->bytes, img->size);
	*dbg = *elf ? dwarf_begin_elf(*elf, DWARF_C_READ, NULL) : NULL;
	return *dbg ? 0 : -ENODATA;
}

/* As libdw left it: unpacked, when it was compressed. */
static const Elf_Data *line_section(Elf *elf)
{
	struct elfimg view = { .elf = elf };
	GElf_Shdr shdr;
	Elf_Scn *scn = elfimg_section(&view, ".debug_line", &shdr);

	if (!scn)
		scn = elfimg_section(&view, ".zdebug_line", &shdr);
	return scn ? elf_getdata(scn, NULL) : NULL;
}

int dwinfo_new(const struct elfimg *debug, const struct elfimg *alt, const struct elfimg *exec,
	       struct budget *budget, struct dwinfo **out)
{
	struct dwinfo *dw = xcalloc(1, sizeof(*dw));
	int err;

	dw->exec = exec;
	dw->budget = budget;
	dw->mem_max = budget->max.mem;
	err = open_dwarf(debug, &dw->elf, &dw->dbg);
	if (!err && alt)
		err = open_dwarf(alt, &dw->alt_elf, &dw->alt_dbg);
	if (!err && alt)
		dwarf_setalt(dw->dbg, dw->alt_dbg);
	if (!err) {
		dw->line_section = line_section(dw->elf);
		err = list_units(dw);
	}
	if (err) {
		dwinfo_free(dw);
		return err;
	}
	*out = dw;
	return 0;
}

void dwinfo_free(struct dwinfo *dw)
{
	size_t pos = 0, i;
	uint64_t key;
	void *value;

	if (!dw)
		return;
	while (hmap_next(&dw->funcs, &pos, &key, &value)) {
		struct func *f = value;

		free(f->calls);
		ranges_free(&f->ranges);
		free(f);
	}
	hmap_fini(&dw->funcs);
	hmap_fini(&dw->name_ids);
	strtab_fini(&dw->names);
	for (i = 0; i < dw->unit_cnt; i++)
		ranges_free(&dw->units[i].funcs);
	free(dw->units);
	free(dw->unranged);
	ranges_free(&dw->unit_ranges);
	dwarf_end(dw->dbg);
	dwarf_end(dw->alt_dbg);
	elf_end(dw->elf);
	elf_end(dw->alt_elf);
	free(dw);
}

size_t dwinfo_mem(const struct dwinfo *dw)
{
	return dw->mem;
}

bool dwinfo_used(const struct dwinfo *dw)
{
	return dw->used;
}
