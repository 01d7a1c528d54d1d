// SPDX-License-Identifier: BSD-2-Clause
/*
 * Units that were split: lines, addresses and ranges of code stay in the program with a first DIE that has
 * no children (the skeleton), all else is in a file beside the object file or in a package of such files.
 *
 * Both are made one here: a list of units whose sections are those of the .dwo file or the unit's parts of
 * the package's, and for what stayed behind, the program's own. The unit counts that has the skeleton's
 * number, which is a hash over all that the compiler wrote to it: a file of another build has none such, and
 * is one of several that may be found.
 */
#include "symbol/dwarf/dwsplit.h"

#include <dwarf.h>
#include <errno.h>

#include "symbol/budget.h"
#include "symbol/dwarf/dwpackage.h"

/* 1: there is one, which is loaded; 0, -EAGAIN, -ENOMEM, -EDQUOT. */
static int load_package(const struct dwsplit_source *src)
{
	struct dwsplit_package *p = src->package;
	const struct elfimg *img;
	int ret;

	if (p->known)
		return p->there;
	if (!p->begun) {
		ret = dwofiles_package(src->files, src->exec, &img);
		if (ret < 0)
			return ret;
		p->known = !ret;
		if (!ret)
			return 0;
		dwfile_init(&p->file, img, DWFILE_PACKAGE, src->budget);
		p->begun = true;
	}
	ret = dwfile_load(&p->file);
	if (ret && ret != -ENODATA)
		return ret;
	p->known = true;
	p->there = !ret;
	return p->there;
}

void dwsplit_free_package(struct dwsplit_package *p)
{
	if (p->begun)
		dwfile_fini(&p->file);
	*p = (struct dwsplit_package){ 0 };
}

/* 0, and the stage is READ if it is there. */
static int find_in_package(struct dwsplit *s, const struct dwsplit_source *src)
{
	int ret = load_package(src);

	if (ret < 0)
		return ret;
	s->beyond_package = true;
	if (!ret)
		return 0;
	dwunit_init(&s->units, NULL, DWFILE_DWO, src->budget);
	if (dwpackage_find(&src->package->file, src->skeleton->dwo_id, &s->units.file))
		s->stage = DWSPLIT_READ;
	else
		dwunit_fini(&s->units);
	return 0;
}

static int find_file(struct dwsplit *s, const struct dwsplit_source *src)
{
	const struct dwunit *u = src->skeleton;
	const struct elfimg *img;
	int ret = dwofiles_get(src->files, u->off, u->dir, u->dwo_name, &img);

	if (ret < 0)
		return ret;
	s->in_file = ret;
	s->stage = ret ? DWSPLIT_READ : DWSPLIT_MISSING;
	if (ret)
		dwunit_init(&s->units, img, DWFILE_DWO, src->budget);
	return 0;
}

static void borrow_all(struct dwfile *f, enum dwfile_section section, const struct dwfile *from)
{
	dwfile_borrow(f, section, from, 0, from->sections[section].size);
}

/* It is not there: there may be another one further on. */
static void refuse(struct dwsplit *s, const struct dwsplit_source *src)
{
	dwunit_fini(&s->units);
	if (s->in_file)
		dwofiles_refuse(src->files, src->skeleton->off);
	s->stage = DWSPLIT_FIND;
}

static int read_sections(struct dwsplit *s, const struct dwsplit_source *src)
{
	int err = dwfile_load(&s->units.file);

	if (err == -ENODATA) {
		refuse(s, src);
		return 0;
	}
	if (err)
		return err;
	borrow_all(&s->units.file, DWFILE_ADDR, src->file);
	borrow_all(&s->units.file, DWFILE_RANGES, src->file);
	s->stage = DWSPLIT_LIST;
	return 0;
}

static bool is_it(const struct dwunit *u, const struct dwdie *first, const struct dwunit *skeleton)
{
	bool numbered = u->type == DW_UT_split_compile || dwunit_has(first, DWATTR_DWO_ID);

	return first->abbrev && u->tag == DW_TAG_compile_unit && numbered &&
	       u->dwo_id == skeleton->dwo_id;
}

/* The others of the file may be referred to. */
static int list(struct dwsplit *s, const struct dwsplit_source *src)
{
	const struct dwunit *skeleton = src->skeleton;
	struct dwdie first;
	struct dwunit *u;
	size_t cnt;
	int ret;

	for (;;) {
		cnt = s->units.cnt;
		ret = dwunit_next(&s->units, &first);
		if (ret < 0)
			return ret;
		if (!ret)
			break;
		u = &s->units.units[cnt];
		if (s->units.cnt > cnt && !s->found && is_it(u, &first, skeleton)) {
			u->addr_base = skeleton->addr_base;
			u->ranges_base = skeleton->dwo_ranges_base;
			u->low_pc = skeleton->low_pc;
			s->idx = cnt;
			s->found = true;
		}
		ret = budget_step(src->budget, 1);
		if (ret)
			return ret;
	}
	if (s->found)
		s->stage = DWSPLIT_READY;
	else
		refuse(s, src);
	return 0;
}

int dwsplit_load(struct dwsplit *s, const struct dwsplit_source *src)
{
	int err = 0;

	while (!err && s->stage < DWSPLIT_READY) {
		if (s->stage == DWSPLIT_FIND)
			err = s->beyond_package ? find_file(s, src) : find_in_package(s, src);
		else if (s->stage == DWSPLIT_READ)
			err = read_sections(s, src);
		else
			err = list(s, src);
	}
	return err;
}

void dwsplit_free(struct dwsplit *s)
{
	dwunit_fini(&s->units);
	*s = (struct dwsplit){ 0 };
}
