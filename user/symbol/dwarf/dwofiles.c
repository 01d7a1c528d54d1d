// SPDX-License-Identifier: BSD-2-Clause
/*
 * The files that hold what the compiler moved out of object files (.dwo), and the package of them (.dwp).
 *
 * They are opened by whoever may, one after the other, when code of their unit is looked up for the first
 * time. Which one to open is said by the program, which anyone may have written: how often one is asked for is
 * bounded, and so is what they take of the address space. Whether one is the right file is seen when it is
 * read (dwsplit.c); one of another build may be found before it, so that is refused and the next asked for.
 * No two units share a file: who refuses his own takes it from nobody.
 *
 * The answer to a question is taken before another question is put: who asks may have given up in between
 * and come back for another unit.
 */
#include "symbol/dwarf/dwofiles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Longer ones cannot be opened. */
#define NAME_LEN_MAX 4095
#define PACKAGE_SIZE_MAX (4ull << 30)
#define ALL_SIZE_MAX (4ull << 30)
/* Of one name, in so many places. */
#define REFUSED_MAX 8

struct dwofile {
	struct elfimg img; /* closed while pending, when refused, and when missing */
	char *path; /* while pending */
	unsigned int refused; /* so many that were found */
	bool missing;
};

void dwofiles_init(struct dwofiles *f, symbolizer_open_fn open, void *ctx)
{
	*f = (struct dwofiles){ .open = open, .ctx = ctx, .package_known = !open };
	hmap_init(&f->by_unit);
}

static void close_image(struct dwofiles *f, struct dwofile *d)
{
	if (!d->img.bytes)
		return;
	f->open_cnt--;
	f->size -= d->img.size;
	elfimg_close(&d->img);
}

static void set_missing(struct dwofiles *f, struct dwofile *d)
{
	f->missing++;
	d->missing = true;
}

void dwofiles_fini(struct dwofiles *f)
{
	size_t pos = 0;
	uint64_t unit;
	void *value;

	while (hmap_next(&f->by_unit, &pos, &unit, &value)) {
		struct dwofile *d = value;

		close_image(f, d);
		free(d->path);
		free(d);
	}
	hmap_fini(&f->by_unit);
	elfimg_close(&f->package);
}

int dwofiles_package(struct dwofiles *f, const struct elfimg *exec, const struct elfimg **img)
{
	struct symbolizer_want want = { .kind = SYMBOLIZER_WANT_DWP };
	int fd;

	if (!f->package_known) {
		want.build_id_sz = elfimg_build_id(exec, &want.build_id);
		fd = f->open(f->ctx, &want);
		if (fd == -EAGAIN)
			return fd;
		f->package_known = true;
		if (fd >= 0)
			elfimg_open(&f->package, fd, PACKAGE_SIZE_MAX);
	}
	*img = &f->package;
	return f->package.bytes != NULL;
}

/* NULL when it has no name that can be opened. */
static char *make_path(struct dwfile_str dir, struct dwfile_str name)
{
	static const char mark[] = "/./";
	char *path, *p;

	if (!name.len || name.len > NAME_LEN_MAX || dir.len > NAME_LEN_MAX ||
	    dir.len + strlen(mark) + name.len > NAME_LEN_MAX)
		return NULL;
	path = p = xcalloc(dir.len + sizeof(mark) + name.len, 1);
	if (dir.len && name.s[0] != '/') {
		memcpy(p, dir.s, dir.len);
		memcpy(p + dir.len, mark, strlen(mark));
		p += dir.len + strlen(mark);
	}
	memcpy(p, name.s, name.len);
	return path;
}

/* Takes the answer for the one that is pending: 0, or -EAGAIN when there is none. */
static int take_answer(struct dwofiles *f)
{
	struct dwofile *d = f->pending;
	const struct symbolizer_want want = {
		.kind = SYMBOLIZER_WANT_DWO,
		.name = d->path,
		.skip = d->refused,
	};
	int fd = f->open(f->ctx, &want);

	if (fd == -EAGAIN)
		return fd;
	f->pending = NULL;
	free(d->path);
	d->path = NULL;
	if (fd < 0) {
		set_missing(f, d);
	} else if (elfimg_open(&d->img, fd, ALL_SIZE_MAX - f->size)) {
		d->refused++;
	} else {
		f->open_cnt++;
		f->size += d->img.size;
	}
	return 0;
}

static void ask(struct dwofiles *f, struct dwofile *d, struct dwfile_str dir,
		struct dwfile_str name)
{
	if (f->open && f->size < ALL_SIZE_MAX && f->asked < SYMBOLIZER_SPLIT_MAX &&
	    d->refused < REFUSED_MAX)
		d->path = make_path(dir, name);
	f->asked++;
	if (d->path)
		f->pending = d;
	else
		set_missing(f, d);
}

int dwofiles_get(struct dwofiles *f, uint64_t unit, struct dwfile_str dir, struct dwfile_str name,
		 const struct elfimg **img)
{
	struct dwofile *d;

	if (f->pending && take_answer(f))
		return -EAGAIN;
	d = hmap_get(&f->by_unit, unit);
	if (!d && f->asked >= SYMBOLIZER_SPLIT_MAX) {
		f->beyond = true;
		return 0;
	}
	if (!d) {
		d = xcalloc(1, sizeof(*d));
		hmap_set(&f->by_unit, unit, d);
	}
	while (!d->missing && !d->img.bytes) {
		ask(f, d, dir, name);
		if (f->pending && take_answer(f))
			return -EAGAIN;
	}
	*img = &d->img;
	return !d->missing;
}

void dwofiles_refuse(struct dwofiles *f, uint64_t unit)
{
	struct dwofile *d = hmap_get(&f->by_unit, unit);

	if (d) {
		close_image(f, d);
		d->refused++;
	}
}

void dwofiles_drop(struct dwofiles *f)
{
	struct hmap kept = { 0 };
	size_t pos = 0;
	uint64_t unit;
	void *value;

	while (hmap_next(&f->by_unit, &pos, &unit, &value)) {
		struct dwofile *d = value;

		if (d->missing || d == f->pending) {
			hmap_set(&kept, unit, d);
			continue;
		}
		close_image(f, d);
		free(d);
	}
	hmap_fini(&f->by_unit);
	f->by_unit = kept;
}
