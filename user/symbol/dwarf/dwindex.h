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

/* No call. */
#define DWINDEX_ROOT UINT32_MAX

/* A walk over the DIEs below one, forward only, that can stop after each of them. */
struct dwindex_walk {
	uint64_t pos, end;
	uint32_t depth; /* below the DIE where it began */
	uint32_t skip; /* what lies deeper is passed over; UINT32_MAX = nothing */
	struct dwrange range; /* of the DIE that is being added */
	uint64_t id, rank;
	bool begun, counted, in_range, done;
};

/* Functions and lines of one unit. */
struct dwindex_unit {
	struct dwindex_walk walk;
	struct ranges funcs; /* id = offset of the function's DIE */
	struct dwline lines;
	bool ready;
};

struct dwindex_call {
	uint64_t die;
	uint32_t parent; /* the call that this one is inlined into, or DWINDEX_ROOT */
	uint32_t depth;
	uint32_t line;
	uint32_t file;
};

/* The inlined calls of one function that is not inlined itself. */
struct dwindex_func {
	struct dwindex_walk walk;
	uint32_t *levels; /* while walking: the call around each depth */
	struct dwindex_call *calls;
	size_t call_cnt, call_cap;
	struct ranges ranges; /* id = index into calls */
	bool ready;
};

/* Where the indexes are made from. */
struct dwindex_source {
	const struct dwunits *units; /* which have its DIEs */
	const struct dwunit *unit;
	const struct dwunits *line_units; /* which have its lines: others, when it was split */
	const struct dwunit *line_unit;
	const struct elfimg *exec; /* addresses that it does not map are left out */
	struct budget *budget;
};

/*
 * Both go on where they stopped. 0, -EAGAIN, -ENOMEM or -EDQUOT. {0} is an index that has not begun;
 * free it in any case.
 */
int dwindex_unit(struct dwindex_unit *x, const struct dwindex_source *src);
void dwindex_free_unit(struct dwindex_unit *x, struct budget *budget);

int dwindex_func(struct dwindex_func *f, const struct dwindex_source *src, uint64_t die);
void dwindex_free_func(struct dwindex_func *f, struct budget *budget);

/* The innermost call at addr, or DWINDEX_ROOT. */
uint32_t dwindex_call_at(const struct dwindex_func *f, uint64_t addr);

/* Whether code at these addresses can be executed. */
bool dwindex_is_code(const struct dwindex_source *src, uint64_t lo, uint64_t hi);

#endif /* D9_SYMBOL_DWARF_DWINDEX_H */
