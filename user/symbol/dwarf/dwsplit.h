/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_DWARF_DWSPLIT_H
#define D9_SYMBOL_DWARF_DWSPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/dwarf/dwfile.h"
#include "symbol/dwarf/dwofiles.h"
#include "symbol/dwarf/dwunit.h"

struct budget;

/* The package with units of one program. {0}: not searched yet. */
struct dwsplit_package {
	struct dwfile file;
	bool known, begun, there;
};

/* One split unit. {0}: not searched yet. */
struct dwsplit {
	enum dwsplit_stage {
		DWSPLIT_FIND,
		DWSPLIT_READ,
		DWSPLIT_LIST,
		DWSPLIT_READY,
		DWSPLIT_MISSING,
	} stage;
	struct dwunits units; /* the units of its file, or of its part of the package */
	bool found, beyond_package; /* searched in the package */
	bool in_file; /* searched in its own file */
	size_t idx; /* index in units, if found */
};

/* The skeleton, and where to search */
struct dwsplit_source {
	struct dwofiles *files;
	struct dwsplit_package *package;
	const struct elfimg *exec;
	const struct dwfile *file;
	const struct dwunit *skeleton;
	struct budget *budget;
};

/*
 * Finds and lists the unit. 0: the stage is READY or MISSING; -EAGAIN (call again); -ENOMEM;
 * -EDQUOT. src and everything in it is borrowed until dwsplit_free().
 */
int dwsplit_load(struct dwsplit *s, const struct dwsplit_source *src);
void dwsplit_free(struct dwsplit *s);

/* All units found in the package borrow it: free them first. */
void dwsplit_free_package(struct dwsplit_package *p);

#endif /* D9_SYMBOL_DWARF_DWSPLIT_H */
