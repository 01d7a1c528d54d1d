// SPDX-License-Identifier: BSD-2-Clause
/*
 * Units of debug information, their DIEs, and values of attributes.
 *
 * Each byte of a DIE is read once, in place. No references are followed here: the callers that walk
 * (dwinfo.c) decide about that and count each DIE.
 */
#include "symbol/dwarf/dwunit.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "symbol/budget.h"

/* Forms of GNU tools before DWARF 5 */
#define FORM_GNU_ADDR_INDEX 0x1f01
#define FORM_GNU_STR_INDEX 0x1f02
#define FORM_GNU_REF_ALT 0x1f20
#define FORM_GNU_STRP_ALT 0x1f21

void dwunit_init(struct dwunits *us, const struct elfimg *img, enum dwfile_kind kind,
		 struct budget *budget)
{
	*us = (struct dwunits){ .budget = budget };
	dwfile_init(&us->file, img, kind, budget);
	us->listing.budget = budget;
	hmap_init(&us->tables);
}

void dwunit_unload(struct dwunits *us)
{
	size_t pos = 0, i;
	uint64_t key;
	void *value;

	while (hmap_next(&us->tables, &pos, &key, &value)) {
		dwabbrev_fini(value);
		free(value);
	}
	hmap_fini(&us->tables);
	hmap_init(&us->tables);
	for (i = 0; i < us->cnt; i++)
		us->units[i].abbrevs = NULL;
}

void dwunit_fini(struct dwunits *us)
{
	if (!us->budget)
		return;
	dwunit_unload(us);
	hmap_fini(&us->tables);
	dwabbrev_fini(&us->listing);
	budget_free(us->budget, us->units, us->cap, sizeof(*us->units));
	dwfile_fini(&us->file);
	*us = (struct dwunits){ 0 };
}

static struct dwval value(enum dwval_kind kind, uint64_t v)
{
	return (struct dwval){ .kind = kind, .v = v };
}

static struct dwval string_at(enum dwfile_section section, uint64_t off)
{
	return (struct dwval){ .kind = DWVAL_STR, .section = section, .v = off };
}

static struct dwval skip(struct dwread *r, uint64_t n)
{
	dwread_skip(r, n);
	return value(DWVAL_OTHER, 0);
}

static struct dwval inline_string(const struct dwunits *us, struct dwread *r)
{
	uint64_t off = r->p - us->file.sections[DWFILE_INFO].bytes;

	dwread_skip_str(r);
	return string_at(DWFILE_INFO, off);
}

/* A reference within the unit. */
static struct dwval local_ref(const struct dwunit *u, uint64_t off)
{
	if (off >= u->end - u->off)
		return value(DWVAL_OTHER, 0);
	return value(DWVAL_REF, u->off + off);
}

static struct dwval read_string(const struct dwunits *us, const struct dwunit *u, uint64_t form,
				struct dwread *r)
{
	switch (form) {
	case DW_FORM_string:
		return inline_string(us, r);
	case DW_FORM_strp:
		return string_at(DWFILE_STR, dwread_num(r, u->off_sz));
	case DW_FORM_line_strp:
		return string_at(DWFILE_LINE_STR, dwread_num(r, u->off_sz));
	case DW_FORM_strp_sup:
	case FORM_GNU_STRP_ALT:
		return value(DWVAL_STR_ALT, dwread_num(r, u->off_sz));
	case DW_FORM_strx:
	case FORM_GNU_STR_INDEX:
		return value(DWVAL_STRX, dwread_uleb(r));
	case DW_FORM_strx1:
		return value(DWVAL_STRX, dwread_num(r, 1));
	case DW_FORM_strx2:
		return value(DWVAL_STRX, dwread_num(r, 2));
	case DW_FORM_strx3:
		return value(DWVAL_STRX, dwread_num(r, 3));
	case DW_FORM_strx4:
		return value(DWVAL_STRX, dwread_num(r, 4));
	default:
		r->bad = true;
		return value(DWVAL_OTHER, 0);
	}
}

static struct dwval read_ref_or_block(const struct dwunits *us, const struct dwunit *u,
				      uint64_t form, struct dwread *r)
{
	switch (form) {
	case DW_FORM_ref1:
		return local_ref(u, dwread_num(r, 1));
	case DW_FORM_ref2:
		return local_ref(u, dwread_num(r, 2));
	case DW_FORM_ref4:
		return local_ref(u, dwread_num(r, 4));
	case DW_FORM_ref8:
		return local_ref(u, dwread_num(r, 8));
	case DW_FORM_ref_udata:
		return local_ref(u, dwread_uleb(r));
	case DW_FORM_ref_addr:
		return value(DWVAL_REF, dwread_num(r, u->version == 2 ? u->addr_sz : u->off_sz));
	case DW_FORM_ref_sup4:
		return value(DWVAL_REF_ALT, dwread_num(r, 4));
	case DW_FORM_ref_sup8:
		return value(DWVAL_REF_ALT, dwread_num(r, 8));
	case FORM_GNU_REF_ALT:
		return value(DWVAL_REF_ALT, dwread_num(r, u->off_sz));
	case DW_FORM_ref_sig8:
		return skip(r, 8);
	case DW_FORM_data16:
		return skip(r, 16);
	case DW_FORM_block1:
		return skip(r, dwread_num(r, 1));
	case DW_FORM_block2:
		return skip(r, dwread_num(r, 2));
	case DW_FORM_block4:
		return skip(r, dwread_num(r, 4));
	case DW_FORM_block:
	case DW_FORM_exprloc:
		return skip(r, dwread_uleb(r));
	default:
		return read_string(us, u, form, r);
	}
}

static struct dwval read_value(const struct dwunits *us, const struct dwunit *u, uint64_t form,
			       int64_t implicit, struct dwread *r)
{
	switch (form) {
	case DW_FORM_addr:
		return value(DWVAL_ADDR, dwread_num(r, u->addr_sz));
	case DW_FORM_addrx:
	case FORM_GNU_ADDR_INDEX:
		return value(DWVAL_ADDRX, dwread_uleb(r));
	case DW_FORM_addrx1:
		return value(DWVAL_ADDRX, dwread_num(r, 1));
	case DW_FORM_addrx2:
		return value(DWVAL_ADDRX, dwread_num(r, 2));
	case DW_FORM_addrx3:
		return value(DWVAL_ADDRX, dwread_num(r, 3));
	case DW_FORM_addrx4:
		return value(DWVAL_ADDRX, dwread_num(r, 4));
	case DW_FORM_data1:
	case DW_FORM_flag:
		return value(DWVAL_NUM, dwread_num(r, 1));
	case DW_FORM_data2:
		return value(DWVAL_NUM, dwread_num(r, 2));
	case DW_FORM_data4:
		return value(DWVAL_NUM, dwread_num(r, 4));
	case DW_FORM_data8:
		return value(DWVAL_NUM, dwread_num(r, 8));
	case DW_FORM_udata:
		return value(DWVAL_NUM, dwread_uleb(r));
	case DW_FORM_sdata:
		return value(DWVAL_NUM, dwread_sleb(r));
	case DW_FORM_implicit_const:
		return value(DWVAL_NUM, implicit);
	case DW_FORM_flag_present:
		return value(DWVAL_NUM, 1);
	case DW_FORM_sec_offset:
		return value(DWVAL_NUM, dwread_num(r, u->off_sz));
	case DW_FORM_rnglistx:
	case DW_FORM_loclistx:
		return value(DWVAL_INDEX, dwread_uleb(r));
	default:
		return read_ref_or_block(us, u, form, r);
	}
}

/* Reads an attribute. An indirect form may not refer to another one. */
static struct dwval read_attr(const struct dwunits *us, const struct dwunit *u,
			      const struct dwabbrev_spec *spec, struct dwread *r)
{
	uint64_t form = spec->form;

	if (form == DW_FORM_indirect) {
		form = dwread_uleb(r);
		if (form == DW_FORM_implicit_const)
			r->bad = true;
	}
	return read_value(us, u, form, spec->implicit, r);
}

static int read_die(const struct dwunits *us, const struct dwunit *u,
		    const struct dwabbrev_table *t, uint64_t off, uint32_t wanted,
		    struct dwdie *out)
{
	struct dwread r = dwread_at(us->file.sections[DWFILE_INFO].bytes, u->end, off);
	const struct dwabbrev_spec *spec;
	uint64_t code = dwread_uleb(&r);
	size_t i;

	out->off = off;
	out->attrs = 0;
	out->abbrev = code ? dwabbrev_find(t, code) : NULL;
	if (r.bad || (code && !out->abbrev))
		return -EBADMSG;
	for (i = 0; out->abbrev && i < out->abbrev->spec_cnt; i++) {
		struct dwval v;

		spec = &t->specs[out->abbrev->first + i];
		v = read_attr(us, u, spec, &r);
		if (!(wanted & 1u << spec->attr) || v.kind == DWVAL_OTHER)
			continue;
		out->vals[spec->attr] = v;
		out->attrs |= 1u << spec->attr;
	}
	if (r.bad)
		return -EBADMSG;
	out->next = r.p - us->file.sections[DWFILE_INFO].bytes;
	return 0;
}

int dwunit_read(const struct dwunits *us, const struct dwunit *u, uint64_t off, uint32_t wanted,
		struct dwdie *out)
{
	if (off < u->die || off >= u->end)
		return -EBADMSG;
	return read_die(us, u, u->abbrevs, off, wanted, out);
}

/* 0 or -EBADMSG: after a damaged header, later units cannot be found. */
static int read_header(const struct dwunits *us, struct dwunit *u)
{
	struct dwread r = dwfile_read(&us->file, DWFILE_INFO, us->pos);
	uint64_t len = dwread_num(&r, 4);

	*u = (struct dwunit){ .off = us->pos, .off_sz = 4, .type = DW_UT_compile };
	if (len == UINT32_MAX) {
		u->off_sz = 8;
		len = dwread_num(&r, 8);
	}
	if (r.bad || len > dwread_left(&r))
		return -EBADMSG;
	r.end = r.p + len;
	u->end = r.end - us->file.sections[DWFILE_INFO].bytes;
	u->version = dwread_num(&r, 2);
	if (u->version == 5) {
		u->type = dwread_num(&r, 1);
		u->addr_sz = dwread_num(&r, 1);
		u->abbrev_off = dwread_num(&r, u->off_sz);
	} else {
		u->abbrev_off = dwread_num(&r, u->off_sz);
		u->addr_sz = dwread_num(&r, 1);
	}
	if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile)
		u->dwo_id = dwread_num(&r, 8);
	if (u->type == DW_UT_type || u->type == DW_UT_split_type)
		dwread_skip(&r, 8 + u->off_sz);
	u->die = r.p ? (uint64_t)(r.p - us->file.sections[DWFILE_INFO].bytes) : u->end;
	if (r.bad || u->version < 2 || u->version > 5 || (u->addr_sz != 4 && u->addr_sz != 8))
		u->die = u->end;
	return 0;
}

/* The base of indexes: the attribute, or the end of the table's header. */
static uint64_t base_or(const struct dwunit *u, const struct dwdie *die, enum dwabbrev_attr attr,
			unsigned int hdr32, unsigned int hdr64)
{
	if (dwunit_has(die, attr))
		return dwunit_number(die, attr);
	if (u->version < 5)
		return 0;
	return u->off_sz == 4 ? hdr32 : hdr64;
}

/* DWARF 5 has the id in the unit's header. */
static void read_split(const struct dwunits *us, struct dwunit *u, const struct dwdie *die)
{
	bool numbered = dwunit_has(die, DWATTR_DWO_ID);

	if (numbered)
		u->dwo_id = dwunit_number(die, DWATTR_DWO_ID);
	u->dwo_name = dwunit_string(us, u, die, DWATTR_DWO_NAME);
	u->dwo_ranges_base = dwunit_number(die, DWATTR_DWO_RANGES_BASE);
	u->split = u->dwo_name.s && (u->type == DW_UT_skeleton || numbered);
}

static void read_first(const struct dwunits *us, struct dwunit *u, const struct dwdie *die)
{
	u->tag = die->abbrev->tag;
	u->str_offsets_base = base_or(u, die, DWATTR_STR_OFFSETS_BASE, 8, 16);
	u->addr_base = base_or(u, die, DWATTR_ADDR_BASE, 8, 16);
	u->rnglists_base = base_or(u, die, DWATTR_RNGLISTS_BASE, 12, 20);
	u->has_lines = dwunit_has(die, DWATTR_STMT_LIST);
	u->lines_off = dwunit_number(die, DWATTR_STMT_LIST);
	u->dir = dwunit_string(us, u, die, DWATTR_COMP_DIR);
	if (!dwunit_has(die, DWATTR_LOW_PC) ||
	    !dwunit_address(us, u, &die->vals[DWATTR_LOW_PC], &u->low_pc))
		u->low_pc = 0;
	read_split(us, u, die);
}

/* Reads the first DIE with as few abbreviations as possible. */
static int load_first(struct dwunits *us, struct dwunit *u, struct dwdie *first)
{
	struct dwread section = dwfile_read(&us->file, DWFILE_ABBREV, 0);
	struct dwread r = dwread_at(us->file.sections[DWFILE_INFO].bytes, u->end, u->die);
	uint64_t code = dwread_uleb(&r);
	int err;

	first->abbrev = NULL;
	first->attrs = 0;
	if (r.bad || !code)
		return 0;
	if (!us->listing.at.end || us->listing.off != u->abbrev_off) {
		dwabbrev_fini(&us->listing);
		dwabbrev_init(&us->listing, &section, u->abbrev_off, us->budget);
	}
	err = dwabbrev_load_to(&us->listing, code);
	if (err)
		return err;
	if (read_die(us, u, &us->listing, u->die, UINT32_MAX, first))
		first->abbrev = NULL;
	if (first->abbrev)
		read_first(us, u, first);
	return 0;
}

int dwunit_next(struct dwunits *us, struct dwdie *first)
{
	void *array = us->units;
	struct dwunit u;
	int err;

	if (us->pos >= us->file.sections[DWFILE_INFO].size || read_header(us, &u))
		return 0;
	err = budget_grow(us->budget, &array, &us->cap, us->cnt, sizeof(*us->units));
	us->units = array;
	if (!err)
		err = load_first(us, &u, first);
	if (err)
		return err;
	us->pos = u.end;
	if (u.die < u.end)
		us->units[us->cnt++] = u;
	return 1;
}

struct dwunit *dwunit_find(const struct dwunits *us, uint64_t off)
{
	size_t lo = 0, hi = us->cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (us->units[mid].off <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && off < us->units[lo - 1].end ? &us->units[lo - 1] : NULL;
}

int dwunit_load(struct dwunits *us, struct dwunit *u)
{
	struct dwread section = dwfile_read(&us->file, DWFILE_ABBREV, 0);
	uint64_t key = u->abbrev_off + 1;
	struct dwabbrev_table *t = hmap_get(&us->tables, key);
	int err;

	if (u->abbrevs)
		return 0;
	if (!t) {
		t = xcalloc(1, sizeof(*t));
		dwabbrev_init(t, &section, u->abbrev_off, us->budget);
		hmap_set(&us->tables, key, t);
	}
	err = dwabbrev_load(t);
	if (!err)
		u->abbrevs = t;
	return err;
}

uint64_t dwunit_number(const struct dwdie *die, enum dwabbrev_attr attr)
{
	const struct dwval *v = &die->vals[attr];

	return dwunit_has(die, attr) && v->kind == DWVAL_NUM ? v->v : 0;
}

/* Entry idx of a table of numbers with sz bytes, in a section from base on. */
static bool read_indexed(const struct dwunits *us, enum dwfile_section section, uint64_t base,
			 uint64_t idx, unsigned int sz, uint64_t *out)
{
	struct dwread r = dwfile_read(&us->file, section, base);

	if (r.bad || idx >= dwread_left(&r) / sz)
		return false;
	dwread_skip(&r, idx * sz);
	*out = dwread_num(&r, sz);
	return true;
}

bool dwunit_address(const struct dwunits *us, const struct dwunit *u, const struct dwval *val,
		    uint64_t *addr)
{
	if (val->kind == DWVAL_ADDR) {
		*addr = val->v;
		return true;
	}
	return val->kind == DWVAL_ADDRX &&
	       read_indexed(us, DWFILE_ADDR, u->addr_base, val->v, u->addr_sz, addr);
}

struct dwfile_str dwunit_string(const struct dwunits *us, const struct dwunit *u,
				const struct dwdie *die, enum dwabbrev_attr attr)
{
	const struct dwval *val = &die->vals[attr];
	uint64_t off;

	if (!dwunit_has(die, attr))
		return (struct dwfile_str){ 0 };
	if (val->kind == DWVAL_STR)
		return dwfile_string(&us->file, val->section, val->v);
	if (val->kind == DWVAL_STR_ALT && us->alt)
		return dwfile_string(&us->alt->file, DWFILE_STR, val->v);
	if (val->kind == DWVAL_STRX &&
	    read_indexed(us, DWFILE_STR_OFFSETS, u->str_offsets_base, val->v, u->off_sz, &off))
		return dwfile_string(&us->file, DWFILE_STR, off);
	return (struct dwfile_str){ 0 };
}
