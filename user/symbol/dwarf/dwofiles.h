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

/* Files with split debug information of one module, opened on demand */
struct dwofiles {
	symbolizer_open_fn open;
	void *ctx;
	struct hmap by_unit; /* offset of the skeleton unit -> struct dwofile */
	struct dwofile *pending; /* requested, without a reply */
	struct elfimg package;
	bool package_known;
	unsigned int asked, missing; /* requests, and missing files */
	bool beyond; /* the limit of requests was reached */
	size_t open_cnt;
	uint64_t size; /* size of all open files */
};

/* open may be NULL: then no file is opened. ctx is borrowed until dwofiles_fini(). */
void dwofiles_init(struct dwofiles *f, symbolizer_open_fn open, void *ctx);
void dwofiles_fini(struct dwofiles *f);

/* The package of the program exec: 1 and *img, borrowed; 0 if there is none; -EAGAIN. */
int dwofiles_package(struct dwofiles *f, const struct elfimg *exec, const struct elfimg **img);

/*
 * The .dwo file of the skeleton unit at that offset, by its name and build directory. 1 and *img,
 * which is borrowed until dwofiles_refuse() or dwofiles_drop(), and is not verified; 0 if it is
 * missing; -EAGAIN.
 */
int dwofiles_get(struct dwofiles *f, uint64_t unit, struct dwfile_str dir, struct dwfile_str name,
		 const struct elfimg **img);

/* Closes a wrong or invalid file; dwofiles_get() then tries the next one. */
void dwofiles_refuse(struct dwofiles *f, uint64_t unit);

/* See elfimg_release_pages(). */
void dwofiles_release_pages(const struct dwofiles *f);

/* Closes all files except the package. Missing files stay missing. */
void dwofiles_drop(struct dwofiles *f);

#endif /* D9_SYMBOL_DWARF_DWOFILES_H */
