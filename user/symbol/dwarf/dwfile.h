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
	DWFILE_CU_INDEX, /* in a package: locations of its units' parts of other sections */
	DWFILE_SECTION_CNT,
};

/* The kinds of files with debug information */
enum dwfile_kind {
	DWFILE_WHOLE, /* unsplit, or the program's part of split information */
	DWFILE_DWO, /* the split part of one object file */
	DWFILE_PACKAGE, /* the split parts of many object files */
};

/* Longer strings are cut. */
#define DWFILE_STR_MAX 16384

struct dwfile_data {
	const uint8_t *bytes; /* NULL if the file lacks the section */
	size_t size;
	uint8_t *heap; /* the same if it was decompressed */
};

/* The debug sections of one file, decompressed. */
struct dwfile {
	const struct elfimg *img;
	struct budget *budget;
	enum dwfile_kind kind;
	struct dwfile_data sections[DWFILE_SECTION_CNT];
	unsigned int loaded; /* number of finished sections */
	struct unpack *unpack; /* of the next section, while it is decompressed */
};

/* Text in a section; not NUL-terminated. NULL if there is none. */
struct dwfile_str {
	const char *s;
	size_t len;
};

/* Whether the file has debug information; reads headers only. */
bool dwfile_has_info(const struct elfimg *img);

/* img and budget are borrowed until dwfile_fini(). */
void dwfile_init(struct dwfile *f, const struct elfimg *img, enum dwfile_kind kind,
		 struct budget *budget);

/*
 * Decompresses sections. 0; -EAGAIN (call again); -EDQUOT; -ENODATA if required sections cannot be
 * read.
 */
int dwfile_load(struct dwfile *f);

void dwfile_fini(struct dwfile *f);

/*
 * Makes f, loaded or without an image, use that part of another file's section, or no section if it
 * has none.
 */
void dwfile_borrow(struct dwfile *f, enum dwfile_section section, const struct dwfile *from,
		   uint64_t off, uint64_t size);

static inline struct dwread dwfile_read(const struct dwfile *f, enum dwfile_section section,
					uint64_t off)
{
	return dwread_at(f->sections[section].bytes, f->sections[section].size, off);
}

struct dwfile_str dwfile_string(const struct dwfile *f, enum dwfile_section section, uint64_t off);

#endif /* D9_SYMBOL_DWARF_DWFILE_H */
