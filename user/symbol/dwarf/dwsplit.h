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

/* The package that units of one program are in. {0}: not looked for yet. */
struct dwsplit_package {
	struct dwfile file;
	bool known, begun, there;
};

/* One unit whose DIEs are elsewhere. {0}: not looked for yet. */
struct dwsplit {
	enum dwsplit_stage {
		DWSPLIT_FIND,
		DWSPLIT_READ,
		DWSPLIT_LIST,
		DWSPLIT_READY,
		DWSPLIT_MISSING,
	} stage;
	struct dwunits units; /* of the file that they are in, or of this one's part of the package */
	bool found, beyond_package; /* it was looked for in the package */
	bool in_file; /* in one of its own */
	size_t idx; /* in units, when found */
};

/* What stayed behind, and where to look. */
struct dwsplit_source {
	struct dwofiles *files;
	struct dwsplit_package *package;
	const struct elfimg *exec;
	const struct dwfile *file;
	const struct dwunit *skeleton;
	struct budget *budget;
};

/*
 * Finds and lists it. 0: the stage is READY or MISSING; -EAGAIN (call again), -ENOMEM, -EDQUOT. All of src
 * is borrowed until dwsplit_free().
 */
int dwsplit_load(struct dwsplit *s, const struct dwsplit_source *src);
void dwsplit_free(struct dwsplit *s);

/* Borrowed by all units that were found there: free those first. */
void dwsplit_free_package(struct dwsplit_package *p);

#endif /* D9_SYMBOL_DWARF_DWSPLIT_H */
