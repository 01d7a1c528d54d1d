/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SYMBOL_DWARF_DWINDEX_H
#define D9_SYMBOL_DWARF_DWINDEX_H

#include <stddef.h>
#include <stdint.h>

#include "symbol/dwarf/dwline.h"
#include "symbol/dwarf/dwrange.h"
#include "symbol/dwarf/dwunit.h"
#include "symbol/ranges.h"

struct budget;
struct elfimg;

/* Not inside an inlined call */
#define DWINDEX_ROOT UINT32_MAX

/* A walk over the descendants of a DIE, forward only, that can stop after each of them */
struct dwindex_walk {
	uint64_t pos, end;
	uint32_t depth; /* relative to the DIE where it started */
	uint32_t skip; /* deeper DIEs are skipped; UINT32_MAX: none */
	struct dwrange range; /* of the current DIE */
	uint64_t id, rank;
	bool begun, counted, in_range, done;
};

/* Functions and lines of one unit */
struct dwindex_unit {
	struct dwindex_walk walk;
	struct ranges funcs; /* id = offset of the function's DIE */
	struct dwline lines;
	bool ready;
};

struct dwindex_call {
	uint64_t die;
	uint32_t parent; /* the call around this one, or DWINDEX_ROOT */
	uint32_t depth;
	uint32_t line;
	uint32_t file;
};

/* The inlined calls of one out-of-line function */
struct dwindex_func {
	struct dwindex_walk walk;
	uint32_t *levels; /* during the walk: the call around each depth */
	struct dwindex_call *calls;
	size_t call_cnt, call_cap;
	struct ranges ranges; /* id = index into calls */
	bool ready;
};

/* Sources of the indexes */
struct dwindex_source {
	const struct dwunits *units; /* the units with the DIEs */
	const struct dwunit *unit;
	/* the units with the lines; they differ if the unit was split */
	const struct dwunits *line_units;
	const struct dwunit *line_unit;
	const struct elfimg *exec; /* addresses that it does not map are skipped */
	struct budget *budget;
};

/*
 * Both continue where they stopped. 0, -EAGAIN, -ENOMEM or -EDQUOT. {0} is an index that was not
 * started; free it in any case.
 */
int dwindex_unit(struct dwindex_unit *x, const struct dwindex_source *src);
void dwindex_free_unit(struct dwindex_unit *x, struct budget *budget);

int dwindex_func(struct dwindex_func *f, const struct dwindex_source *src, uint64_t die);
void dwindex_free_func(struct dwindex_func *f, struct budget *budget);

/* The innermost call at addr, or DWINDEX_ROOT. */
uint32_t dwindex_call_at(const struct dwindex_func *f, uint64_t addr);

/* Whether these addresses are in an executable segment. */
bool dwindex_is_code(const struct dwindex_source *src, uint64_t lo, uint64_t hi);

#endif /* D9_SYMBOL_DWARF_DWINDEX_H */
