// SPDX-License-Identifier: BSD-2-Clause
/*
 * Address to functions, including inlined functions, from debug information.
 *
 * There are three indexes. Each is built on demand for the parts in use, so the cost of a gigabyte of
 * debug information depends on the sampled code only:
 *
 *	units by address	one pass over the unit headers
 *	functions by address	one walk over a unit, through namespaces, types and blocks
 *	inlined copies		one walk over a function
 *
 * A split unit has its DIEs in another file, which is opened when functions of the unit are looked up.
 * If that file is missing, the skeleton has lines, and functions if the compiler kept some.
 *
 * The file's own index of units (.debug_aranges) is not used, because clang does not write it.
 * Functions that the linker dropped have debug information at address 0. The executed file does not
 * map such addresses, so they are not indexed.
 *
 * Each step returns -EAGAIN if the slice is used up. Its results are kept, so the lookup restarts from
 * the beginning and gets quickly to the same place. If memory runs out, all indexes are freed and the
 * lookup continues with its own unit only. A unit that does not fit alone is skipped for good.
 */
#include "symbol/dwarf/dwinfo.h"

#include <errno.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/hmap.h"
#include "base/strtab.h"
#include "symbol/budget.h"
#include "symbol/demangle.h"
#include "symbol/dwarf/dwindex.h"
#include "symbol/dwarf/dwsplit.h"
#include "symbol/dwarf/dwunit.h"
#include "symbol/elf/elfimg.h"

#define NAME_COST 64
/* Maximum number of references between DIEs until one has a name */
#define ORIGINS_MAX 16
/* Work to demangle a name, in units of budget_work() */
#define NAME_WORK 100
#define NAME_ATTRS                                                                                 \
	(1u << DWATTR_NAME | 1u << DWATTR_LINKAGE_NAME | 1u << DWATTR_MIPS_LINKAGE_NAME |          \
	 1u << DWATTR_ABSTRACT_ORIGIN | 1u << DWATTR_SPECIFICATION)

enum stage { READ_ALT, LIST_ALT, READ_FILE, LIST_UNITS, SETTLE_UNITS, READY };

struct slot {
	struct dwindex_unit *index; /* NULL until it is needed */
	struct hmap funcs; /* DIE offset -> struct dwindex_func */
	struct dwsplit *split; /* NULL: not split, or not needed yet */
	bool refused; /* too large */
};

struct dwinfo {
	const struct elfimg *exec;
	struct budget *budget;
	struct dwunits units, alt;
	struct dwofiles *split_files;
	struct dwsplit_package package;
	enum stage stage;
	struct dwrange listing; /* ranges of the last listed unit */
	bool in_range, ranged;

	struct slot *slots; /* one per unit */
	size_t slot_cap;
	struct ranges unit_ranges; /* id = index into units */
	size_t *unranged; /* units without address ranges */
	size_t unranged_cnt, unranged_cap;
	uint64_t tried_addr; /* address of the current search in them, and how many were searched */
	size_t tried_cnt;

	struct strtab names; /* demangled */
	struct hmap name_ids; /* address of the name in the file -> id in names + 1 */
	uint64_t names_mem;

	size_t current; /* the current unit */
	bool alone; /* everything else was freed for it */
	bool left_out;
};

struct dwinfo *dwinfo_new(const struct elfimg *debug, const struct elfimg *alt,
			  struct dwofiles *split, const struct elfimg *exec, struct budget *budget)
{
	struct dwinfo *dw = xcalloc(1, sizeof(*dw));

	dw->exec = exec;
	dw->budget = budget;
	dw->split_files = split;
	dwunit_init(&dw->units, debug, DWFILE_WHOLE, budget);
	dw->stage = READ_FILE;
	if (alt) {
		dwunit_init(&dw->alt, alt, DWFILE_WHOLE, budget);
		dw->units.alt = &dw->alt;
		dw->stage = READ_ALT;
	}
	strtab_init(&dw->names);
	hmap_init(&dw->name_ids);
	return dw;
}

static void free_slot(struct dwinfo *dw, struct slot *slot)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (hmap_next(&slot->funcs, &pos, &key, &value)) {
		dwindex_free_func(value, dw->budget);
		budget_free(dw->budget, value, 1, sizeof(struct dwindex_func));
	}
	hmap_fini(&slot->funcs);
	if (slot->index) {
		dwindex_free_unit(slot->index, dw->budget);
		budget_free(dw->budget, slot->index, 1, sizeof(struct dwindex_unit));
	}
	if (slot->split) {
		dwsplit_free(slot->split);
		budget_free(dw->budget, slot->split, 1, sizeof(struct dwsplit));
	}
	*slot = (struct slot){ .refused = slot->refused };
}

/* Frees all indexes and names; they can be read again. */
static void free_indexes(struct dwinfo *dw)
{
	size_t i;

	hmap_fini(&dw->name_ids);
	strtab_fini(&dw->names);
	budget_give_back(dw->budget, dw->names_mem);
	dw->names_mem = 0;
	for (i = 0; dw->slots && i < dw->units.cnt; i++)
		free_slot(dw, &dw->slots[i]);
	dwsplit_free_package(&dw->package);
	dwunit_unload(&dw->units);
	if (dw->units.alt)
		dwunit_unload(&dw->alt);
	strtab_init(&dw->names);
	hmap_init(&dw->name_ids);
}

void dwinfo_free(struct dwinfo *dw)
{
	if (!dw)
		return;
	free_indexes(dw);
	hmap_fini(&dw->name_ids);
	strtab_fini(&dw->names);
	ranges_free(&dw->unit_ranges, dw->budget);
	budget_free(dw->budget, dw->unranged, dw->unranged_cap, sizeof(*dw->unranged));
	budget_free(dw->budget, dw->slots, dw->slot_cap, sizeof(*dw->slots));
	dwunit_fini(&dw->units);
	dwunit_fini(&dw->alt);
	free(dw);
}

/* The source of a unit's indexes; if the unit is split and its file was found, that file. */
static struct dwindex_source source_of(const struct dwinfo *dw, size_t idx)
{
	const struct dwunit *unit = &dw->units.units[idx];
	const struct dwsplit *split = dw->slots ? dw->slots[idx].split : NULL;
	bool moved = split && split->stage == DWSPLIT_READY;

	return (struct dwindex_source){
		.units = moved ? &split->units : &dw->units,
		.unit = moved ? &split->units.units[split->idx] : unit,
		.line_units = &dw->units,
		.line_unit = unit,
		.exec = dw->exec,
		.budget = dw->budget,
	};
}

/* Adds the remaining ranges of the last listed unit. */
static int add_unit_ranges(struct dwinfo *dw)
{
	struct dwindex_source src;
	uint64_t lo, hi;
	size_t idx;
	int err;

	if (!dw->in_range)
		return 0;
	idx = dw->units.cnt - 1;
	src = source_of(dw, idx);
	while (dwrange_next(&dw->listing, &dw->units, src.unit, &lo, &hi)) {
		if (dwindex_is_code(&src, lo, hi)) {
			err = ranges_add(&dw->unit_ranges, lo, hi, idx, hi - lo, dw->budget);
			if (err)
				return err;
			dw->ranged = true;
		}
		err = budget_step(dw->budget, 1);
		if (err)
			return err;
	}
	if (!dw->ranged) {
		void *array = dw->unranged;

		err = budget_grow(dw->budget, &array, &dw->unranged_cap, dw->unranged_cnt,
				  sizeof(*dw->unranged));
		dw->unranged = array;
		if (err)
			return err;
		dw->unranged[dw->unranged_cnt++] = idx;
	}
	dw->in_range = false;
	return 0;
}

static bool has_code(const struct dwunit *u)
{
	return (u->type == DW_UT_compile && u->tag == DW_TAG_compile_unit) ||
	       (u->type == DW_UT_skeleton && u->tag == DW_TAG_skeleton_unit);
}

static int list_units(struct dwinfo *dw)
{
	struct dwdie die;
	int ret;

	for (;;) {
		const struct dwunit *u;

		ret = add_unit_ranges(dw);
		if (!ret)
			ret = dwunit_next(&dw->units, &die);
		if (ret <= 0)
			return ret;
		ret = budget_step(dw->budget, 1);
		u = die.abbrev ? &dw->units.units[dw->units.cnt - 1] : NULL;
		if (u && has_code(u)) {
			dwrange_begin(&dw->listing, &dw->units, u, &die);
			/* a unit whose ranges are no code has ranges, too */
			dw->ranged = u->split || dwunit_has(&die, DWATTR_RANGES) ||
				     dwunit_has(&die, DWATTR_HIGH_PC);
			dw->in_range = true;
		}
		if (ret)
			return ret;
	}
}

static int list_alt(struct dwinfo *dw)
{
	struct dwdie die;
	int ret;

	do {
		ret = dwunit_next(&dw->alt, &die);
		if (ret == 1 && budget_step(dw->budget, 1) == -EDQUOT)
			return -EDQUOT;
	} while (ret == 1);
	return ret;
}

static int settle_units(struct dwinfo *dw)
{
	size_t size = dw->units.cnt * sizeof(*dw->slots);
	int err = ranges_settle(&dw->unit_ranges, dw->budget);

	if (err)
		return err;
	if (budget_reserve(dw->budget, size))
		return -ENOMEM;
	dw->slots = xcalloc(dw->units.cnt, sizeof(*dw->slots));
	dw->slot_cap = dw->units.cnt;
	return 0;
}

static int make_ready(struct dwinfo *dw)
{
	while (dw->stage < READY) {
		int err = 0;

		switch (dw->stage) {
		case READ_ALT:
			err = dwfile_load(&dw->alt.file);
			break;
		case LIST_ALT:
			err = list_alt(dw);
			break;
		case READ_FILE:
			err = dwfile_load(&dw->units.file);
			break;
		case LIST_UNITS:
			err = list_units(dw);
			break;
		case SETTLE_UNITS:
			err = settle_units(dw);
			break;
		case READY:
			break;
		}
		if (err == -ENOMEM)
			return budget_exhaust(dw->budget, BUDGET_MEMORY);
		if (err)
			return err;
		dw->stage++;
	}
	return 0;
}

/* Allocates a zeroed structure; NULL if the budget has no memory left. */
static void *new_one(struct dwinfo *dw, size_t size)
{
	return budget_reserve(dw->budget, size) ? NULL : xcalloc(1, size);
}

/* Finds the split part of a unit, if it exists, and prepares its DIEs. */
static int load_dies(struct dwinfo *dw, size_t idx)
{
	struct slot *slot = &dw->slots[idx];
	struct dwunit *unit = &dw->units.units[idx];
	const struct dwsplit_source src = {
		.files = dw->split_files,
		.package = &dw->package,
		.exec = dw->exec,
		.file = &dw->units.file,
		.skeleton = unit,
		.budget = dw->budget,
	};
	int err;

	if (!unit->split || !dw->split_files)
		return dwunit_load(&dw->units, unit);
	if (!slot->split)
		slot->split = new_one(dw, sizeof(*slot->split));
	if (!slot->split)
		return -ENOMEM;
	err = dwsplit_load(slot->split, &src);
	if (err)
		return err;
	if (slot->split->stage != DWSPLIT_READY)
		return dwunit_load(&dw->units, unit);
	return dwunit_load(&slot->split->units, &slot->split->units.units[slot->split->idx]);
}

static int load_unit(struct dwinfo *dw, size_t idx, struct dwindex_unit **out)
{
	struct slot *slot = &dw->slots[idx];
	struct dwindex_source src;
	int err;

	dw->current = idx;
	if (!slot->index)
		slot->index = new_one(dw, sizeof(*slot->index));
	if (!slot->index)
		return -ENOMEM;
	*out = slot->index;
	err = load_dies(dw, idx);
	src = source_of(dw, idx);
	return err ? err : dwindex_unit(slot->index, &src);
}

static int load_func(struct dwinfo *dw, size_t idx, uint64_t die, struct dwindex_func **out)
{
	struct dwindex_source src = source_of(dw, idx);
	struct slot *slot = &dw->slots[idx];

	*out = hmap_get(&slot->funcs, die);
	if (!*out) {
		*out = new_one(dw, sizeof(**out));
		if (!*out)
			return -ENOMEM;
		hmap_set(&slot->funcs, die, *out);
	}
	return dwindex_func(*out, &src, die);
}

/*
 * Appends the demangled name. The same inlined functions occur often, and demangling is most of the
 * cost of a lookup. So results are kept by the position of the name in the file.
 */
static int write_name(struct dwinfo *dw, const struct dwfile_str *name, struct buf *text)
{
	uint64_t key = (uintptr_t)name->s;
	size_t start = text->len, len;
	uintptr_t id = (uintptr_t)hmap_get(&dw->name_ids, key);

	if (id) {
		const char *known = strtab_get(&dw->names, id - 1, &len);

		buf_add(text, known, len);
		return 0;
	}
	demangle_name(text, name->s, name->len);
	len = text->len - start;
	if (!len)
		return 0;
	if (budget_reserve(dw->budget, len + NAME_COST))
		return -ENOMEM;
	dw->names_mem += len + NAME_COST;
	id = strtab_add(&dw->names, text->data + start, len) + 1ul;
	hmap_set(&dw->name_ids, key, (void *)id);
	return budget_work(dw->budget, NAME_WORK);
}

/* Follows the reference to the DIE that this one copies or completes; false if there is none. */
static bool follow_origin(const struct dwunits **us, const struct dwdie *die, uint64_t *off)
{
	enum dwabbrev_attr attr = dwunit_has(die, DWATTR_ABSTRACT_ORIGIN) ? DWATTR_ABSTRACT_ORIGIN :
									    DWATTR_SPECIFICATION;
	const struct dwval *val = &die->vals[attr];

	if (!dwunit_has(die, attr))
		return false;
	*off = val->v;
	if (val->kind == DWVAL_REF_ALT) {
		*us = (*us)->alt;
		return *us;
	}
	return val->kind == DWVAL_REF;
}

static void keep_first(struct dwfile_str *kept, struct dwfile_str str)
{
	if (!kept->s)
		*kept = str;
}

/*
 * Prefers the linkage name, which has parameters and scope. C has none, and neither do local
 * functions of GCC's C++.
 */
static int find_name(struct dwunits *us, uint64_t off, struct dwfile_str *out, bool *plain)
{
	struct dwfile_str linkage = { 0 }, mips = { 0 }, name = { 0 };
	struct dwdie die;
	int i, err;

	for (i = 0; i < ORIGINS_MAX && !linkage.s; i++) {
		struct dwunit *u = dwunit_find(us, off);

		err = u ? dwunit_load(us, u) : 0;
		if (err)
			return err;
		if (!u || dwunit_read(us, u, off, NAME_ATTRS, &die) || !die.abbrev)
			break;
		keep_first(&linkage, dwunit_string(us, u, &die, DWATTR_LINKAGE_NAME));
		keep_first(&mips, dwunit_string(us, u, &die, DWATTR_MIPS_LINKAGE_NAME));
		keep_first(&name, dwunit_string(us, u, &die, DWATTR_NAME));
		if (!follow_origin((const struct dwunits **)&us, &die, &off))
			break;
	}
	*plain = !linkage.s && !mips.s;
	*out = linkage.s ? linkage : mips.s ? mips : name;
	return 0;
}

static int add_name(struct dwinfo *dw, struct dwunits *us, uint64_t off, struct buf *text,
		    struct dwinfo_frame *out)
{
	struct dwfile_str name;
	int err = find_name(us, off, &name, &out->plain);

	out->name_off = text->len;
	if (!err && name.s)
		err = write_name(dw, &name, text);
	out->name_len = text->len - out->name_off;
	buf_addch(text, '\0');
	return err;
}

static void add_file(const struct dwunit *unit, const struct dwline *lines, uint32_t file,
		     struct buf *text, struct dwinfo_frame *out)
{
	out->file_off = text->len;
	if (file != UINT32_MAX && dwline_path(lines, unit, file, text))
		buf_addch(text, '\0');
	else
		out->file_off = SIZE_MAX;
}

/* An address in a unit */
struct place {
	const struct dwunit *unit; /* the unit with the lines */
	struct dwunits *units; /* the units with the DIEs */
	const struct dwindex_unit *index;
	const struct range *hit;
	const struct dwindex_func *func;
};

/* Fills out[0..max) from the function's DIE and the calls around addr. */
static int fill_frames(struct dwinfo *dw, const struct place *p, uint64_t addr, struct buf *text,
		       struct dwinfo_frame *out, size_t max)
{
	uint32_t call = dwindex_call_at(p->func, addr), file = UINT32_MAX, line = 0;
	size_t cnt = call == DWINDEX_ROOT ? 1 : p->func->calls[call].depth + 2ul, i;
	int err;

	dwline_find(&p->index->lines, addr, &file, &line);
	for (i = cnt; i-- > 0;) {
		const struct dwindex_call *c = i ? &p->func->calls[call] : NULL;

		if (i < max) {
			out[i] = (struct dwinfo_frame){
				.line = line,
				.lo = p->hit->lo,
				.hi = p->hit->hi,
			};
			add_file(p->unit, &p->index->lines, file, text, &out[i]);
			err = add_name(dw, p->units, c ? c->die : p->hit->id, text, &out[i]);
			if (err)
				return err;
		}
		if (!c)
			break;
		file = c->file;
		line = c->line;
		call = c->parent;
	}
	return cnt < max ? cnt : max;
}

static int frames_in_unit(struct dwinfo *dw, size_t idx, uint64_t addr, struct buf *text,
			  struct dwinfo_frame *out, size_t max)
{
	struct place p = { .unit = &dw->units.units[idx], .units = &dw->units };
	struct slot *slot = &dw->slots[idx];
	struct dwindex_unit *index;
	struct dwindex_func *func;
	int err;

	if (slot->refused)
		return 0;
	err = load_unit(dw, idx, &index);
	p.index = index;
	p.hit = err ? NULL : ranges_find(&index->funcs, addr);
	if (!p.hit)
		return err;
	if (slot->split && slot->split->stage == DWSPLIT_READY)
		p.units = &slot->split->units;
	err = load_func(dw, idx, p.hit->id, &func);
	p.func = func;
	return err ? err : fill_frames(dw, &p, addr, text, out, max);
}

/* Searches units without address ranges one by one, in slices. */
static int find_unranged(struct dwinfo *dw, uint64_t addr, struct buf *text,
			 struct dwinfo_frame *out, size_t max)
{
	int ret = 0;

	if (dw->tried_addr != addr)
		dw->tried_cnt = 0;
	dw->tried_addr = addr;
	while (dw->tried_cnt < dw->unranged_cnt) {
		ret = frames_in_unit(dw, dw->unranged[dw->tried_cnt], addr, text, out, max);
		if (ret)
			return ret;
		dw->tried_cnt++;
		ret = budget_work(dw->budget, 4);
		if (ret)
			return ret;
	}
	dw->tried_cnt = 0;
	return 0;
}

static int find_frames(struct dwinfo *dw, uint64_t addr, struct buf *text, struct dwinfo_frame *out,
		       size_t max)
{
	const struct range *r = ranges_find(&dw->unit_ranges, addr);
	int cnt = r ? frames_in_unit(dw, r->id, addr, text, out, max) : 0;

	return cnt ? cnt : find_unranged(dw, addr, text, out, max);
}

/* If memory runs out twice in one lookup, the unit itself is too large. */
static void make_room(struct dwinfo *dw)
{
	free_indexes(dw);
	if (dw->alone) {
		dw->slots[dw->current].refused = true;
		dw->left_out = true;
	}
	dw->alone = !dw->alone;
}

int dwinfo_frames(struct dwinfo *dw, uint64_t addr, struct buf *text, struct dwinfo_frame *out,
		  size_t max)
{
	size_t start = text->len;
	int ret = make_ready(dw);

	if (ret)
		return ret == -ENODATA ? 0 : ret;
	while ((ret = find_frames(dw, addr, text, out, max)) == -ENOMEM) {
		make_room(dw);
		text->len = start;
	}
	if (ret >= 0)
		dw->alone = false;
	return ret;
}

bool dwinfo_line(struct dwinfo *dw, uint64_t addr, struct buf *text, struct dwinfo_frame *out)
{
	const struct range *r = ranges_find(&dw->unit_ranges, addr);
	const struct slot *slot = r ? &dw->slots[r->id] : NULL;
	uint32_t file;

	if (!slot || !slot->index || !slot->index->ready ||
	    !dwline_find(&slot->index->lines, addr, &file, &out->line))
		return false;
	add_file(&dw->units.units[r->id], &slot->index->lines, file, text, out);
	return true;
}

bool dwinfo_left_out(const struct dwinfo *dw)
{
	return dw->left_out;
}
