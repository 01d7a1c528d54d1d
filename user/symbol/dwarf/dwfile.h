/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_DWARF_DWFILE_H
#define D9_SYMBOL_DWARF_DWFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/dwarf/dwread.h"

struct budget;
struct elfimg;
struct unpack;

enum dwfile_section {
	DWFILE_INFO,
	DWFILE_ABBREV,
	DWFILE_STR,
	DWFILE_LINE_STR,
	DWFILE_STR_OFFSETS,
	DWFILE_ADDR,
	DWFILE_RANGES,
	DWFILE_RNGLISTS,
	DWFILE_LINE,
	DWFILE_CU_INDEX, /* of a package: where its units' parts of the other sections are */
	DWFILE_SECTION_CNT,
};

/* What a file holds of debug information that may be split. */
enum dwfile_kind {
	DWFILE_WHOLE, /* all of it, or what is left of it in the program */
	DWFILE_DWO, /* what was moved out of one object file */
	DWFILE_PACKAGE, /* that of many object files */
};

/* Longer strings are cut. */
#define DWFILE_STR_MAX 16384

struct dwfile_data {
	const uint8_t *bytes; /* NULL when the file has no such section */
	size_t size;
	uint8_t *heap; /* the same when it had to be decompressed */
};

/* The debug sections of one file, decompressed. */
struct dwfile {
	const struct elfimg *img;
	struct budget *budget;
	enum dwfile_kind kind;
	struct dwfile_data sections[DWFILE_SECTION_CNT];
	unsigned int loaded; /* sections done */
	struct unpack *unpack; /* of the next one, when it is under way */
};

/* Text in a section; not NUL-terminated. NULL when there is none. */
struct dwfile_str {
	const char *s;
	size_t len;
};

/* Whether there is debug information; reads headers only. */
bool dwfile_has_info(const struct elfimg *img);

/* Image and budget are borrowed until dwfile_fini(). */
void dwfile_init(struct dwfile *f, const struct elfimg *img, enum dwfile_kind kind,
		 struct budget *budget);

/*
 * Decompresses what has to be. 0, -EAGAIN (call again), -EDQUOT, or -ENODATA when the sections that
 * nothing goes without cannot be read.
 */
int dwfile_load(struct dwfile *f);

void dwfile_fini(struct dwfile *f);

/* Lets f, loaded or without an image, have that part of another's section; where it has none, f has none. */
void dwfile_borrow(struct dwfile *f, enum dwfile_section section, const struct dwfile *from,
		   uint64_t off, uint64_t size);

static inline struct dwread dwfile_read(const struct dwfile *f, enum dwfile_section section,
					uint64_t off)
{
	return dwread_at(f->sections[section].bytes, f->sections[section].size, off);
}

struct dwfile_str dwfile_string(const struct dwfile *f, enum dwfile_section section, uint64_t off);

#endif /* D9_SYMBOL_DWARF_DWFILE_H */
