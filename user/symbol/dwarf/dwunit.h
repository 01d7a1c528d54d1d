/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_DWARF_DWUNIT_H
#define D9_SYMBOL_DWARF_DWUNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"
#include "symbol/dwarf/dwabbrev.h"
#include "symbol/dwarf/dwfile.h"

struct budget;

enum dwval_kind {
	DWVAL_OTHER, /* not used */
	DWVAL_NUM,
	DWVAL_ADDR,
	DWVAL_ADDRX, /* index into .debug_addr */
	DWVAL_INDEX, /* index into a table of lists */
	DWVAL_STR, /* offset in `section` */
	DWVAL_STRX, /* index into .debug_str_offsets */
	DWVAL_STR_ALT, /* offset in .debug_str of the alternate file */
	DWVAL_REF, /* offset of a DIE in .debug_info */
	DWVAL_REF_ALT, /* the same in the alternate file */
};

struct dwval {
	uint8_t kind; /* enum dwval_kind */
	uint8_t section; /* enum dwfile_section */
	uint64_t v;
};

/* One DIE. vals[a] is valid only if bit a of attrs is set. */
struct dwdie {
	uint64_t off, next; /* in .debug_info; next is the end of its attributes */
	const struct dwabbrev *abbrev; /* NULL: the end of a list of children */
	uint32_t attrs;
	struct dwval vals[DWATTR_CNT];
};

/* A unit of .debug_info: values of its header and its first DIE */
struct dwunit {
	uint64_t off, die, end; /* in .debug_info: header, first DIE, end */
	uint64_t abbrev_off;
	uint8_t version, type, addr_sz, off_sz;
	uint16_t tag; /* of the first DIE; 0: it could not be read */
	bool has_lines;
	bool split; /* its DIEs are in dwo_name, or in a package with its dwo_id */
	uint64_t low_pc, lines_off;
	uint64_t str_offsets_base, addr_base, rnglists_base;
	uint64_t ranges_base; /* before DWARF 5, for split units */
	uint64_t dwo_id, dwo_ranges_base;
	struct dwfile_str dir, dwo_name;
	struct dwabbrev_table *abbrevs; /* NULL before dwunit_load() */
};

/* The units of one file listed so far, in order */
struct dwunits {
	struct dwfile file;
	struct budget *budget;
	struct dwunits *alt; /* units of the alternate file made by dwz; NULL: none */
	struct dwunit *units;
	size_t cnt, cap;
	uint64_t pos; /* offset of the next unit to list */
	struct dwabbrev_table listing;
	struct hmap tables; /* offset + 1 -> struct dwabbrev_table of loaded units */
};

/* img and budget are borrowed until dwunit_fini(). */
void dwunit_init(struct dwunits *us, const struct elfimg *img, enum dwfile_kind kind,
		 struct budget *budget);
void dwunit_fini(struct dwunits *us);

/*
 * Lists the next unit, after dwfile_load(): 1, and *first is its first DIE with all attributes; 0
 * at the end; -EAGAIN, -ENOMEM or -EDQUOT.
 */
int dwunit_next(struct dwunits *us, struct dwdie *first);

/* The unit that contains an offset in .debug_info, or NULL */
struct dwunit *dwunit_find(const struct dwunits *us, uint64_t off);

/* Prepares reading a unit's DIEs. 0, -EAGAIN, -ENOMEM or -EDQUOT. */
int dwunit_load(struct dwunits *us, struct dwunit *u);

/* Reverts dwunit_load() for all units. */
void dwunit_unload(struct dwunits *us);

/*
 * Reads the DIE at off, with the attributes whose bits are in `wanted`. Needs dwunit_load(). 0 or
 * -EBADMSG.
 */
int dwunit_read(const struct dwunits *us, const struct dwunit *u, uint64_t off, uint32_t wanted,
		struct dwdie *out);

static inline bool dwunit_has(const struct dwdie *die, enum dwabbrev_attr attr)
{
	return die->attrs & 1u << attr;
}

/* An attribute as a number; 0 if it is not a number. */
uint64_t dwunit_number(const struct dwdie *die, enum dwabbrev_attr attr);
/* An attribute as an address. */
bool dwunit_address(const struct dwunits *us, const struct dwunit *u, const struct dwval *val,
		    uint64_t *addr);
/* The text of an attribute; s is NULL if it has none. */
struct dwfile_str dwunit_string(const struct dwunits *us, const struct dwunit *u,
				const struct dwdie *die, enum dwabbrev_attr attr);

#endif /* D9_SYMBOL_DWARF_DWUNIT_H */
