// SPDX-License-Identifier: BSD-2-Clause
/*
 * Address ranges of a DIE: a single range, or a list in one of two encodings (.debug_ranges before
 * DWARF 5, .debug_rnglists since). Each call reads one entry, so the caller can count entries of a
 * list without end.
 */
#include "symbol/dwarf/dwrange.h"

#include <dwarf.h>
#include <stdbool.h>

static bool find_list(struct dwrange *r, const struct dwunits *us, const struct dwunit *u,
		      const struct dwval *val)
{
	uint64_t off = val->v, entry;
	struct dwread table;

	if (u->version < 5) {
		r->kind = DWRANGE_OLD;
		if (off > UINT64_MAX - u->ranges_base)
			return false;
		r->at = dwfile_read(&us->file, DWFILE_RANGES, off + u->ranges_base);
		return val->kind == DWVAL_NUM && !r->at.bad;
	}
	r->kind = DWRANGE_NEW;
	if (val->kind == DWVAL_INDEX) {
		table = dwfile_read(&us->file, DWFILE_RNGLISTS, u->rnglists_base);
		if (off > dwread_left(&table) / u->off_sz)
			return false;
		dwread_skip(&table, off * u->off_sz);
		entry = dwread_num(&table, u->off_sz);
		if (table.bad)
			return false;
		off = u->rnglists_base + entry;
	} else if (val->kind != DWVAL_NUM) {
		return false;
	}
	r->at = dwfile_read(&us->file, DWFILE_RNGLISTS, off);
	return !r->at.bad;
}

void dwrange_begin(struct dwrange *r, const struct dwunits *us, const struct dwunit *u,
		   const struct dwdie *die)
{
	const struct dwval *high = &die->vals[DWATTR_HIGH_PC];

	*r = (struct dwrange){ .base = u->low_pc };
	if (dwunit_has(die, DWATTR_LOW_PC) && dwunit_has(die, DWATTR_HIGH_PC) &&
	    dwunit_address(us, u, &die->vals[DWATTR_LOW_PC], &r->lo)) {
		r->kind = DWRANGE_ONE;
		if (high->kind == DWVAL_NUM)
			r->hi = r->lo + high->v;
		else if (!dwunit_address(us, u, high, &r->hi))
			r->kind = DWRANGE_NONE;
	} else if (dwunit_has(die, DWATTR_RANGES) &&
		   !find_list(r, us, u, &die->vals[DWATTR_RANGES])) {
		r->kind = DWRANGE_NONE;
	}
}

static int next_old(struct dwrange *r, const struct dwunit *u, uint64_t *lo, uint64_t *hi)
{
	uint64_t max = u->addr_sz == 8 ? UINT64_MAX : UINT32_MAX;

	*lo = dwread_num(&r->at, u->addr_sz);
	*hi = dwread_num(&r->at, u->addr_sz);
	if (r->at.bad || (!*lo && !*hi))
		return 0;
	if (*lo == max) {
		r->base = *hi;
		*lo = *hi = 0;
	} else {
		*lo += r->base;
		*hi += r->base;
	}
	return 1;
}

/* The address with this index in the unit. */
static uint64_t indexed(struct dwrange *r, const struct dwunits *us, const struct dwunit *u)
{
	struct dwval val = { .kind = DWVAL_ADDRX, .v = dwread_uleb(&r->at) };
	uint64_t addr = 0;

	if (!dwunit_address(us, u, &val, &addr))
		r->at.bad = true;
	return addr;
}

static int next_new(struct dwrange *r, const struct dwunits *us, const struct dwunit *u,
		    uint64_t *lo, uint64_t *hi)
{
	*lo = *hi = 0;
	switch (dwread_num(&r->at, 1)) {
	case DW_RLE_base_addressx:
		r->base = indexed(r, us, u);
		break;
	case DW_RLE_base_address:
		r->base = dwread_num(&r->at, u->addr_sz);
		break;
	case DW_RLE_startx_endx:
		*lo = indexed(r, us, u);
		*hi = indexed(r, us, u);
		break;
	case DW_RLE_startx_length:
		*lo = indexed(r, us, u);
		*hi = *lo + dwread_uleb(&r->at);
		break;
	case DW_RLE_offset_pair:
		*lo = r->base + dwread_uleb(&r->at);
		*hi = r->base + dwread_uleb(&r->at);
		break;
	case DW_RLE_start_end:
		*lo = dwread_num(&r->at, u->addr_sz);
		*hi = dwread_num(&r->at, u->addr_sz);
		break;
	case DW_RLE_start_length:
		*lo = dwread_num(&r->at, u->addr_sz);
		*hi = *lo + dwread_uleb(&r->at);
		break;
	default:
		return 0;
	}
	return !r->at.bad;
}

int dwrange_next(struct dwrange *r, const struct dwunits *us, const struct dwunit *u, uint64_t *lo,
		 uint64_t *hi)
{
	switch (r->kind) {
	case DWRANGE_ONE:
		*lo = r->lo;
		*hi = r->hi;
		r->kind = DWRANGE_NONE;
		return 1;
	case DWRANGE_OLD:
		return next_old(r, u, lo, hi);
	case DWRANGE_NEW:
		return next_new(r, us, u, lo, hi);
	case DWRANGE_NONE:
		break;
	}
	return 0;
}
