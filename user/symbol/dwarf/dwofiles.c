// SPDX-License-Identifier: BSD-2-Clause
/*
 * Split debug information: the .dwo files of object files, and their package (.dwp).
 *
 * A process with the rights opens these files on request, one by one, when code of their unit is
 * first looked up. The program names them and is untrusted, so the number of requests and the
 * mapped size are bounded. Whether a file is the right one is known after reading it (dwsplit.c).
 * If a file of another build is found first, it is refused, and the next one is requested. Units
 * share no files, so refusing one affects no other unit.
 *
 * A reply is handled before the next request, because the caller may have given up in between and
 * continued with another unit.
 */
#include "symbol/dwarf/dwofiles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Longer names cannot be opened. */
#define NAME_LEN_MAX 4095
#define PACKAGE_SIZE_MAX (4ull << 30)
#define ALL_SIZE_MAX (4ull << 30)
/* Maximum number of refused files per name */
#define REFUSED_MAX 8

struct dwofile {
	struct elfimg img; /* closed while pending, after refusal, and if missing */
	char *path; /* while pending */
	unsigned int refused; /* number of refused files */
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

/* NULL if the name cannot be opened. */
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

/* Handles the reply for the pending request: 0, or -EAGAIN if there is none. */
static int receive_answer(struct dwofiles *f)
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

	if (f->pending && receive_answer(f))
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
		if (f->pending && receive_answer(f))
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

void dwofiles_release_pages(const struct dwofiles *f)
{
	size_t pos = 0;
	uint64_t unit;
	void *value;

	while (hmap_next(&f->by_unit, &pos, &unit, &value))
		elfimg_release_pages(&((const struct dwofile *)value)->img);
	elfimg_release_pages(&f->package);
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
