/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_DWARF_DWOFILES_H
#define D9_SYMBOL_DWARF_DWOFILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"
#include "symbol/dwarf/dwfile.h"
#include "symbol/dwarf/symbolizer.h"
#include "symbol/elf/elfimg.h"

struct dwofile;

/* The files that the debug information of one module is split over, as far as they were needed. */
struct dwofiles {
	symbolizer_open_fn open;
	void *ctx;
	struct hmap by_unit; /* where the unit is that stayed behind -> struct dwofile */
	struct dwofile *pending; /* asked for, and not answered yet */
	struct elfimg package;
	bool package_known;
	unsigned int asked, missing; /* so many times, so many files in all */
	bool beyond; /* more would have been needed than may be asked for */
	size_t open_cnt;
	uint64_t size; /* of those that are open */
};

/* open may be NULL: then there is nothing; ctx is borrowed until dwofiles_fini(). */
void dwofiles_init(struct dwofiles *f, symbolizer_open_fn open, void *ctx);
void dwofiles_fini(struct dwofiles *f);

/* The package of the program exec: 1 and *img, borrowed; 0 when there is none; -EAGAIN. */
int dwofiles_package(struct dwofiles *f, const struct elfimg *exec, const struct elfimg **img);

/*
 * The file of the unit that stayed behind at that offset, by the name of it and of the directory that it was
 * made in. 1 and *img, borrowed until dwofiles_refuse() and dwofiles_drop(), which may be any file; 0 when it
 * is missing; -EAGAIN.
 */
int dwofiles_get(struct dwofiles *f, uint64_t unit, struct dwfile_str dir, struct dwfile_str name,
		 const struct elfimg **img);

/* Closes that file, which was not the right one, or makes no sense: dwofiles_get() looks further. */
void dwofiles_refuse(struct dwofiles *f, uint64_t unit);

/* Closes all but the package. What is missing stays so. */
void dwofiles_drop(struct dwofiles *f);

#endif /* D9_SYMBOL_DWARF_DWOFILES_H */
