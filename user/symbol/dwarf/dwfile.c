// SPDX-License-Identifier: BSD-2-Clause
/*
 * The debug sections of one file as plain bytes: in the mapped file, or decompressed.
 *
 * Only sections with names and lines are read. Type information and locations of variables, often
 * most of a file, are not.
 */
#include "symbol/dwarf/dwfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/budget.h"
#include "symbol/elf/elfimg.h"
#include "symbol/elf/unpack.h"

static const char *const names[DWFILE_SECTION_CNT] = {
	[DWFILE_INFO] = "info",
	[DWFILE_ABBREV] = "abbrev",
	[DWFILE_STR] = "str",
	[DWFILE_LINE_STR] = "line_str",
	[DWFILE_STR_OFFSETS] = "str_offsets",
	[DWFILE_ADDR] = "addr",
	[DWFILE_RANGES] = "ranges",
	[DWFILE_RNGLISTS] = "rnglists",
	[DWFILE_LINE] = "line",
	[DWFILE_CU_INDEX] = "cu_index",
};

/* The sections that are read: those with names that end in ".dwo", and others. */
#define DWO_SECTIONS                                                                               \
	(1u << DWFILE_INFO | 1u << DWFILE_ABBREV | 1u << DWFILE_STR | 1u << DWFILE_STR_OFFSETS |   \
	 1u << DWFILE_RNGLISTS)
static const struct {
	unsigned int plain, dwo;
} kinds[] = {
	[DWFILE_WHOLE] = { ~(1u << DWFILE_CU_INDEX), 0 },
	[DWFILE_DWO] = { 0, DWO_SECTIONS },
	[DWFILE_PACKAGE] = { 1u << DWFILE_CU_INDEX, DWO_SECTIONS },
};

/*
 * In a .dwo file the last section of a name is used: type units may precede it in sections of the
 * same name.
 */
static bool find_named(const struct elfimg *img, enum dwfile_kind kind, const char *name,
		       struct elfimg_sec *out)
{
	struct elfimg_sec sec;
	bool found = false;
	uint32_t i;

	for (i = 1; elfimg_section(img, i, &sec) && !(found && kind != DWFILE_DWO); i++) {
		if (!elfimg_named(img, &sec, name))
			continue;
		*out = sec;
		found = true;
	}
	return found;
}

/* Also finds the older name of compressed sections, ".zdebug_". */
static bool find_section(const struct elfimg *img, enum dwfile_kind kind,
			 enum dwfile_section section, struct elfimg_sec *out)
{
	const unsigned int bit = 1u << section;
	const char *suffix = kinds[kind].dwo & bit ? ".dwo" : "";
	char name[32];

	if (!((kinds[kind].plain | kinds[kind].dwo) & bit))
		return false;
	snprintf(name, sizeof(name), ".debug_%s%s", names[section], suffix);
	if (find_named(img, kind, name, out))
		return true;
	snprintf(name, sizeof(name), ".zdebug_%s%s", names[section], suffix);
	return find_named(img, kind, name, out);
}

bool dwfile_has_info(const struct elfimg *img)
{
	struct elfimg_sec sec;
	size_t size;

	return find_section(img, DWFILE_WHOLE, DWFILE_INFO, &sec) && elfimg_data(img, &sec, &size);
}

void dwfile_init(struct dwfile *f, const struct elfimg *img, enum dwfile_kind kind,
		 struct budget *budget)
{
	*f = (struct dwfile){ .img = img, .budget = budget, .kind = kind };
}

static int load_section(struct dwfile *f, enum dwfile_section section)
{
	struct dwfile_data *d = &f->sections[section];
	struct elfimg_sec sec;
	int ret;

	if (!f->unpack) {
		if (!find_section(f->img, f->kind, section, &sec))
			return 0;
		ret = unpack_new(f->img, &sec, f->budget, &f->unpack);
		if (!ret)
			d->bytes = elfimg_data(f->img, &sec, &d->size);
		if (ret <= 0)
			return ret == -EBADMSG ? 0 : ret;
	}
	ret = unpack_run(f->unpack);
	if (ret == -EAGAIN)
		return ret;
	if (!ret) {
		d->heap = unpack_steal(f->unpack, &d->size);
		d->bytes = d->heap;
	}
	unpack_free(f->unpack);
	f->unpack = NULL;
	return ret == -EBADMSG ? 0 : ret;
}

int dwfile_load(struct dwfile *f)
{
	while (f->img && f->loaded < DWFILE_SECTION_CNT) {
		int err = load_section(f, f->loaded);

		if (err)
			return err;
		f->loaded++;
	}
	return f->sections[DWFILE_INFO].bytes && f->sections[DWFILE_ABBREV].bytes ? 0 : -ENODATA;
}

void dwfile_fini(struct dwfile *f)
{
	unsigned int i;

	for (i = 0; i < DWFILE_SECTION_CNT; i++)
		if (f->sections[i].heap)
			budget_free(f->budget, f->sections[i].heap, f->sections[i].size, 1);
	unpack_free(f->unpack);
	*f = (struct dwfile){ 0 };
}

void dwfile_borrow(struct dwfile *f, enum dwfile_section section, const struct dwfile *from,
		   uint64_t off, uint64_t size)
{
	const struct dwfile_data *d = &from->sections[section];

	if (!d->bytes || off > d->size || size > d->size - off)
		return;
	f->sections[section] = (struct dwfile_data){ .bytes = d->bytes + off, .size = size };
}

struct dwfile_str dwfile_string(const struct dwfile *f, enum dwfile_section section, uint64_t off)
{
	struct dwread r = dwfile_read(f, section, off);
	size_t max = r.bad ? 0 : dwread_left(&r);

	if (!max)
		return (struct dwfile_str){ 0 };
	if (max > DWFILE_STR_MAX)
		max = DWFILE_STR_MAX;
	return (struct dwfile_str){ (const char *)r.p, strnlen((const char *)r.p, max) };
}
