// SPDX-License-Identifier: BSD-2-Clause
/*
 * Walks over DIEs: the functions of a unit, the inlined calls of a function.
 *
 * DIEs of a tree are stored in depth-first order, so a walk only goes forward, with a counter for
 * the depth. DW_AT_sibling skips subtrees without functions, but only if it leads forward within
 * the unit. So no byte is read twice, and a walk takes at most time in proportion to the unit. It
 * can stop after each DIE, and after each entry of a range list.
 */
#include "symbol/dwarf/dwindex.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "symbol/budget.h"
#include "symbol/dwarf/dwinfo.h"
#include "symbol/elf/elfimg.h"

/* Maximum depth of nested blocks and calls; deeper ones are skipped. */
#define NESTING_MAX 512
#define NOTHING UINT32_MAX
#define WANTED                                                                                     \
	(DWRANGE_ATTRS | 1u << DWATTR_SIBLING | 1u << DWATTR_CALL_FILE | 1u << DWATTR_CALL_LINE)

bool dwindex_is_code(const struct dwindex_source *src, uint64_t lo, uint64_t hi)
{
	uint64_t off;

	return lo && lo < hi && elfimg_off(src->exec, lo, &off) &&
	       elfimg_off(src->exec, hi - 1, &off);
}

/* Adds the remaining ranges of w->range. */
static int add_ranges(struct dwindex_walk *w, const struct dwindex_source *src, struct ranges *r,
		      bool by_size)
{
	uint64_t lo, hi;

	while (w->in_range) {
		struct dwrange before = w->range;
		int err = 0;

		if (!dwrange_next(&w->range, src->units, src->unit, &lo, &hi)) {
			w->in_range = false;
			return 0;
		}
		if (dwindex_is_code(src, lo, hi))
			err = ranges_add(r, lo, hi, w->id, by_size ? hi - lo : w->rank,
					 src->budget);
		if (err)
			w->range = before;
		else
			err = budget_step(src->budget, 1);
		if (err)
			return err;
	}
	return 0;
}

static void begin_ranges(struct dwindex_walk *w, const struct dwindex_source *src,
			 const struct dwdie *die, uint64_t id, uint64_t rank)
{
	dwrange_begin(&w->range, src->units, src->unit, die);
	w->in_range = true;
	w->id = id;
	w->rank = rank;
}

/* Skips the children of a DIE. */
static void pass_over(struct dwindex_walk *w, const struct dwdie *die)
{
	const struct dwval *sibling = &die->vals[DWATTR_SIBLING];

	if (!die->abbrev->children)
		return;
	if (dwunit_has(die, DWATTR_SIBLING) && sibling->kind == DWVAL_REF &&
	    sibling->v > die->next && sibling->v < w->end) {
		w->pos = sibling->v;
		return;
	}
	if (w->skip == NOTHING)
		w->skip = w->depth;
	w->depth++;
}

/*
 * Finds the next DIE that is not skipped: 1 with the DIE in *die, at w->depth; 0 at the end;
 * -EAGAIN or -EDQUOT. The caller then enters it (w->depth++ if it has children) or skips it.
 */
static int next_die(struct dwindex_walk *w, const struct dwindex_source *src, struct dwdie *die)
{
	while (!w->done) {
		int err = w->counted ? 0 : budget_step(src->budget, 1);

		w->counted = true;
		if (err)
			return err;
		w->counted = false;
		if (dwunit_read(src->units, src->unit, w->pos, WANTED, die)) {
			w->done = true;
			break;
		}
		w->pos = die->next;
		if (!die->abbrev) {
			w->depth--;
			w->done = !w->depth;
			if (w->depth == w->skip)
				w->skip = NOTHING;
		} else if (w->skip != NOTHING) {
			pass_over(w, die);
		} else {
			return 1;
		}
	}
	return 0;
}

/* Starts at the first child of the DIE at off. */
static void begin_walk(struct dwindex_walk *w, const struct dwindex_source *src, uint64_t off)
{
	struct dwdie die;

	*w = (struct dwindex_walk){ .skip = NOTHING, .depth = 1, .begun = true };
	w->end = src->unit->end;
	w->done = dwunit_read(src->units, src->unit, off, 0, &die) || !die.abbrev ||
		  !die.abbrev->children;
	if (!w->done)
		w->pos = die.next;
}

/* Whether children may be functions. */
static bool holds_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type: /* in Rust, an enum's methods */
	case DW_TAG_variant_part:
	case DW_TAG_variant:
		return true;
	default:
		return false;
	}
}

static int walk_unit(struct dwindex_unit *x, const struct dwindex_source *src)
{
	struct dwindex_walk *w = &x->walk;
	struct dwdie die;
	int ret;

	for (;;) {
		ret = add_ranges(w, src, &x->funcs, true);
		if (!ret)
			ret = next_die(w, src, &die);
		if (ret <= 0)
			return ret;
		if (die.abbrev->tag == DW_TAG_subprogram)
			begin_ranges(w, src, &die, die.off, 0);
		if (!holds_functions(die.abbrev->tag))
			pass_over(w, &die);
		else if (die.abbrev->children)
			w->depth++;
	}
}

int dwindex_unit(struct dwindex_unit *x, const struct dwindex_source *src)
{
	int err;

	if (x->ready)
		return 0;
	if (!x->walk.begun)
		begin_walk(&x->walk, src, src->unit->die);
	err = walk_unit(x, src);
	if (!err && !x->funcs.settled)
		err = ranges_settle(&x->funcs, src->budget);
	if (!err)
		err = dwline_load(&x->lines, src->line_units, src->line_unit, src->exec,
				  src->budget);
	x->ready = !err;
	return err;
}

void dwindex_free_unit(struct dwindex_unit *x, struct budget *budget)
{
	ranges_free(&x->funcs, budget);
	dwline_free(&x->lines, budget);
	*x = (struct dwindex_unit){ 0 };
}

static uint32_t clamp(uint64_t v, uint32_t otherwise)
{
	return v <= UINT32_MAX ? v : otherwise;
}

static int add_call(struct dwindex_func *f, const struct dwdie *die, uint32_t parent,
		    struct budget *budget)
{
	void *array = f->calls;
	int err = budget_grow(budget, &array, &f->call_cap, f->call_cnt, sizeof(*f->calls));

	f->calls = array;
	if (err)
		return err;
	f->calls[f->call_cnt++] = (struct dwindex_call){
		.die = die->off,
		.parent = parent,
		.depth = parent == DWINDEX_ROOT ? 0 : f->calls[parent].depth + 1,
		.line = clamp(dwunit_number(die, DWATTR_CALL_LINE), 0),
		.file = clamp(dwunit_has(die, DWATTR_CALL_FILE) ?
				      dwunit_number(die, DWATTR_CALL_FILE) :
				      UINT32_MAX,
			      UINT32_MAX),
	};
	return 0;
}

/* Handles one DIE inside a function. After -ENOMEM it is read again. */
static int visit_in_func(struct dwindex_func *f, const struct dwindex_source *src,
			 const struct dwdie *die)
{
	struct dwindex_walk *w = &f->walk;
	uint32_t call = f->levels[w->depth - 1];
	int err;

	switch (die->abbrev->tag) {
	case DW_TAG_inlined_subroutine:
		if (f->call_cnt >= DWINDEX_ROOT ||
		    (call != DWINDEX_ROOT && f->calls[call].depth + 2 >= DWINFO_DEPTH_MAX))
			break;
		err = add_call(f, die, call, src->budget);
		if (err) {
			w->pos = die->off;
			return err;
		}
		call = f->call_cnt - 1;
		begin_ranges(w, src, die, call, UINT32_MAX - f->calls[call].depth);
		/* fall through */
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		if (w->depth >= NESTING_MAX)
			break;
		f->levels[w->depth] = call;
		w->depth += die->abbrev->children;
		return 0;
	default:
		break;
	}
	pass_over(w, die);
	return 0;
}

static int walk_func(struct dwindex_func *f, const struct dwindex_source *src)
{
	struct dwdie die;
	int ret;

	for (;;) {
		ret = add_ranges(&f->walk, src, &f->ranges, false);
		if (!ret)
			ret = next_die(&f->walk, src, &die);
		if (ret <= 0)
			return ret;
		ret = visit_in_func(f, src, &die);
		if (ret)
			return ret;
	}
}

int dwindex_func(struct dwindex_func *f, const struct dwindex_source *src, uint64_t die)
{
	int err;

	if (f->ready)
		return 0;
	if (!f->walk.begun) {
		begin_walk(&f->walk, src, die);
		f->levels = xcalloc(NESTING_MAX, sizeof(*f->levels));
		f->levels[0] = DWINDEX_ROOT;
	}
	err = walk_func(f, src);
	if (!err)
		err = ranges_settle(&f->ranges, src->budget);
	if (err)
		return err;
	free(f->levels);
	f->levels = NULL;
	f->ready = true;
	return 0;
}

void dwindex_free_func(struct dwindex_func *f, struct budget *budget)
{
	ranges_free(&f->ranges, budget);
	budget_free(budget, f->calls, f->call_cap, sizeof(*f->calls));
	free(f->levels);
	*f = (struct dwindex_func){ 0 };
}

uint32_t dwindex_call_at(const struct dwindex_func *f, uint64_t addr)
{
	const struct range *r = ranges_find(&f->ranges, addr);

	return r ? r->id : DWINDEX_ROOT;
}
