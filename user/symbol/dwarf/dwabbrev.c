// SPDX-License-Identifier: BSD-2-Clause
/*
 * Abbreviations: the attributes of a DIE with a certain code, and their forms.
 *
 * A table is read once, in slices. Compilers number abbreviations 1, 2, 3, ..., so the code is the
 * array index. Other codes are found by binary search, after a sort if needed.
 */
#include "symbol/dwarf/dwabbrev.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "symbol/budget.h"

/* Compilers write about twenty. */
#define SPECS_MAX 1024

static uint8_t known_attr(uint64_t name)
{
	switch (name) {
	case DW_AT_sibling:
		return DWATTR_SIBLING;
	case DW_AT_name:
		return DWATTR_NAME;
	case DW_AT_linkage_name:
		return DWATTR_LINKAGE_NAME;
	case DW_AT_MIPS_linkage_name:
		return DWATTR_MIPS_LINKAGE_NAME;
	case DW_AT_low_pc:
		return DWATTR_LOW_PC;
	case DW_AT_high_pc:
		return DWATTR_HIGH_PC;
	case DW_AT_ranges:
		return DWATTR_RANGES;
	case DW_AT_stmt_list:
		return DWATTR_STMT_LIST;
	case DW_AT_comp_dir:
		return DWATTR_COMP_DIR;
	case DW_AT_abstract_origin:
		return DWATTR_ABSTRACT_ORIGIN;
	case DW_AT_specification:
		return DWATTR_SPECIFICATION;
	case DW_AT_call_file:
		return DWATTR_CALL_FILE;
	case DW_AT_call_line:
		return DWATTR_CALL_LINE;
	case DW_AT_str_offsets_base:
		return DWATTR_STR_OFFSETS_BASE;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		return DWATTR_ADDR_BASE;
	case DW_AT_rnglists_base:
		return DWATTR_RNGLISTS_BASE;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		return DWATTR_DWO_NAME;
	case DW_AT_GNU_dwo_id:
		return DWATTR_DWO_ID;
	case DW_AT_GNU_ranges_base:
		return DWATTR_DWO_RANGES_BASE;
	default:
		return DWATTR_NONE;
	}
}

void dwabbrev_init(struct dwabbrev_table *t, const struct dwread *section, uint64_t off,
		   struct budget *budget)
{
	*t = (struct dwabbrev_table){ .budget = budget, .off = off, .at = *section };
	if (off > dwread_left(&t->at))
		t->read = true;
	else
		t->at.p += off;
}

static int add_spec(struct dwabbrev_table *t, struct dwabbrev *a, uint64_t name, uint64_t form)
{
	struct dwabbrev_spec *spec;
	void *array = t->specs;
	int err = budget_grow(t->budget, &array, &t->spec_cap, t->spec_cnt, sizeof(*t->specs));

	t->specs = array;
	if (err)
		return err;
	spec = &t->specs[t->spec_cnt];
	*spec = (struct dwabbrev_spec){ .attr = known_attr(name), .form = form };
	if (form == DW_FORM_implicit_const)
		spec->implicit = dwread_sleb(&t->at);
	a->attrs |= 1u << spec->attr;
	if (t->at.bad || form > UINT16_MAX || a->spec_cnt == SPECS_MAX)
		return -EBADMSG;
	t->spec_cnt++;
	a->spec_cnt++;
	return 0;
}

/* 1 if an abbreviation was read, 0 at the end, -EBADMSG or -ENOMEM. */
static int read_abbrev(struct dwabbrev_table *t, struct dwabbrev *a)
{
	uint64_t name, form;
	int err;

	*a = (struct dwabbrev){ .code = dwread_uleb(&t->at), .first = t->spec_cnt };
	if (!a->code)
		return 0;
	a->tag = dwread_uleb(&t->at);
	a->children = dwread_num(&t->at, 1) == DW_CHILDREN_yes;
	for (;;) {
		name = dwread_uleb(&t->at);
		form = dwread_uleb(&t->at);
		if (t->at.bad)
			return -EBADMSG;
		if (!name && !form)
			return 1;
		err = add_spec(t, a, name, form);
		if (err)
			return err;
	}
}

/* Adds the next abbreviation. After -ENOMEM it is read again from its start. */
static int add_abbrev(struct dwabbrev_table *t)
{
	const uint8_t *before = t->at.p;
	size_t specs_before = t->spec_cnt;
	void *array = t->abbrevs;
	struct dwabbrev a;
	int ret;

	ret = budget_grow(t->budget, &array, &t->cap, t->cnt, sizeof(*t->abbrevs));
	t->abbrevs = array;
	if (!ret)
		ret = read_abbrev(t, &a);
	if (ret == -ENOMEM) {
		t->at.p = before;
		t->spec_cnt = specs_before;
		return ret;
	}
	t->read = ret <= 0;
	if (t->read)
		return 0;
	t->unsorted |= t->cnt && a.code <= t->abbrevs[t->cnt - 1].code;
	t->abbrevs[t->cnt++] = a;
	return budget_step(t->budget, 1 + a.spec_cnt / 4);
}

static int compare(const void *pa, const void *pb)
{
	const struct dwabbrev *a = pa, *b = pb;

	return a->code < b->code ? -1 : a->code > b->code;
}

int dwabbrev_load(struct dwabbrev_table *t)
{
	void *array;
	int err = 0;

	while (!err && !t->read)
		err = add_abbrev(t);
	if (!err && t->unsorted && !t->loaded) {
		array = t->abbrevs;
		err = resumable_sort_run(&t->sort, &array, t->cnt, sizeof(*t->abbrevs), compare,
					 t->budget);
		t->abbrevs = array;
	}
	t->loaded = !err;
	return err;
}

int dwabbrev_load_to(struct dwabbrev_table *t, uint64_t code)
{
	int err = 0;

	while (!err && !t->read && !(t->cnt && t->abbrevs[t->cnt - 1].code == code) &&
	       !(code - 1 < t->cnt && t->abbrevs[code - 1].code == code))
		err = add_abbrev(t);
	return !err && t->unsorted ? dwabbrev_load(t) : err;
}

const struct dwabbrev *dwabbrev_find(const struct dwabbrev_table *t, uint64_t code)
{
	size_t lo = 0, hi = t->cnt;

	if (code - 1 < t->cnt && t->abbrevs[code - 1].code == code)
		return &t->abbrevs[code - 1];
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->abbrevs[mid].code < code)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->cnt && t->abbrevs[lo].code == code ? &t->abbrevs[lo] : NULL;
}

void dwabbrev_fini(struct dwabbrev_table *t)
{
	resumable_sort_free(&t->sort, t->cnt, sizeof(*t->abbrevs), t->budget);
	budget_free(t->budget, t->abbrevs, t->cap, sizeof(*t->abbrevs));
	budget_free(t->budget, t->specs, t->spec_cap, sizeof(*t->specs));
	*t = (struct dwabbrev_table){ .budget = t->budget };
}
