// SPDX-License-Identifier: BSD-2-Clause
/*
 * The index of a package of split debug information (.debug_cu_index): a hash table from unit ids
 * to rows, and two tables with offset and size of each row's part of each section. A row's parts
 * correspond to the sections of the unit's own file.
 *
 * Two versions differ in the header's first word and in the numbers of the last columns. The
 * columns used here have the same number in both, except ranges, which the older version lacks.
 */
#include "symbol/dwarf/dwpackage.h"

#define VERSION_GNU 2
#define VERSION_DWARF5 5
#define HEADER_SZ 16
/* At least a third of a table is free, so more probes are not needed. */
#define PROBES_MAX 256
#define COLUMNS_MAX 16
#define COLUMN_RNGLISTS 8

struct index {
	uint32_t version, columns, rows, slots;
	/* offsets in the section */
	uint64_t ids, row_of, names, offsets, sizes;
};

static bool read_index(const struct dwfile *f, struct index *x)
{
	struct dwread r = dwfile_read(f, DWFILE_CU_INDEX, 0);
	uint64_t cells;

	x->version = dwread_num(&r, 2);
	dwread_skip(&r, 2);
	x->columns = dwread_num(&r, 4);
	x->rows = dwread_num(&r, 4);
	x->slots = dwread_num(&r, 4);
	if (r.bad || (x->version != VERSION_GNU && x->version != VERSION_DWARF5) ||
	    x->columns > COLUMNS_MAX || !x->slots || x->slots & (x->slots - 1))
		return false;
	cells = 4ull * x->columns * x->rows;
	x->ids = HEADER_SZ;
	x->row_of = x->ids + 8ull * x->slots;
	x->names = x->row_of + 4ull * x->slots;
	x->offsets = x->names + 4ull * x->columns;
	x->sizes = x->offsets + cells;
	return x->sizes + cells <= f->sections[DWFILE_CU_INDEX].size;
}

static uint64_t number_at(const struct dwfile *f, uint64_t off, unsigned int sz)
{
	struct dwread r = dwfile_read(f, DWFILE_CU_INDEX, off);

	return dwread_num(&r, sz);
}

/* Rows count from 1; 0: not found. */
static uint32_t find_row(const struct dwfile *f, const struct index *x, uint64_t id)
{
	const uint32_t mask = x->slots - 1, step = ((id >> 32) & mask) | 1;
	uint32_t at = id & mask, i, row;

	for (i = 0; i < PROBES_MAX; i++) {
		row = number_at(f, x->row_of + 4ull * at, 4);
		if (!row || number_at(f, x->ids + 8ull * at, 8) == id)
			return row <= x->rows ? row : 0;
		at = (at + step) & mask;
	}
	return 0;
}

static enum dwfile_section section_of(const struct index *x, uint32_t column)
{
	switch (column) {
	case 1:
		return DWFILE_INFO;
	case 3:
		return DWFILE_ABBREV;
	case 6:
		return DWFILE_STR_OFFSETS;
	case COLUMN_RNGLISTS:
		return x->version == VERSION_DWARF5 ? DWFILE_RNGLISTS : DWFILE_SECTION_CNT;
	default:
		return DWFILE_SECTION_CNT;
	}
}

bool dwpackage_find(const struct dwfile *package, uint64_t id, struct dwfile *out)
{
	struct index x;
	uint32_t row, i;

	if (!read_index(package, &x))
		return false;
	row = find_row(package, &x, id);
	if (!row)
		return false;
	for (i = 0; i < x.columns; i++) {
		const uint64_t cell = 4 * ((row - 1ull) * x.columns + i);
		enum dwfile_section section =
			section_of(&x, number_at(package, x.names + 4ull * i, 4));

		if (section != DWFILE_SECTION_CNT)
			dwfile_borrow(out, section, package,
				      number_at(package, x.offsets + cell, 4),
				      number_at(package, x.sizes + cell, 4));
	}
	dwfile_borrow(out, DWFILE_STR, package, 0, package->sections[DWFILE_STR].size);
	return out->sections[DWFILE_INFO].bytes && out->sections[DWFILE_ABBREV].bytes;
}
