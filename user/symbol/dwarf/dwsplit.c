// SPDX-License-Identifier: BSD-2-Clause
/*
 * Split units: lines, addresses and ranges of code stay in the program, with a first DIE without
 * children (the skeleton). The rest is in a .dwo file or in a package of such files.
 *
 * This file combines both: a list of units with the sections of the .dwo file, or with the unit's
 * parts of the package, and with sections of the program for the rest. The unit must have the
 * skeleton's id, which is a hash over its contents. A file of another build has another id; several
 * files may be found.
 */
#include "symbol/dwarf/dwsplit.h"

#include <dwarf.h>
#include <errno.h>

#include "symbol/budget.h"
#include "symbol/dwarf/dwpackage.h"

/* Loads the package: 1; 0 if there is none; -EAGAIN, -ENOMEM or -EDQUOT. */
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

/* 0; the stage is READ if the unit was found. */
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

/* Refuses a file without the unit; the next one may have it. */
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

/* Lists all units of the file, because they may be referenced. */
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
