// SPDX-License-Identifier: BSD-2-Clause
/*
 * Gaps between the rotated files of one recording: without them, missing files would look like idle time. File
 * names show which files belong together, and which numbers are missing.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/exit_code.h"
#include "rewrite/copy/spool.h"
#include "rewrite/merge/merge_impl.h"
#include "trace/source/source.h"
#include "trace/source/source_set.h"

/* The name of a recording's files without their numbers. */
struct stem {
	const char *path;
	size_t len;
};

static bool stem_of(const struct merge_file *f, struct stem *out, uint64_t *number)
{
	out->path = f->name;
	return source_set_parse(f->name, &out->len, number);
}

static bool is_stem(struct stem a, struct stem b)
{
	return a.len == b.len && !memcmp(a.path, b.path, a.len);
}

static bool was_before(const struct merge_plan *p, size_t i, struct stem stem)
{
	struct stem other;
	uint64_t number;

	while (i--)
		if (stem_of(&p->files[i], &other, &number) && is_stem(other, stem))
			return true;
	return false;
}

static int by_number(const void *a, const void *b)
{
	const struct source_file *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* Removes files of equal number: they leave no gap, and duplicates are found elsewhere. */
static void drop_doubles(struct source_set *set)
{
	size_t cnt = 0;

	for (size_t i = 0; i < set->cnt; i++)
		if (cnt && set->files[cnt - 1].number == set->files[i].number)
			free(set->files[i].path);
		else
			set->files[cnt++] = set->files[i];
	set->cnt = cnt;
}

static struct source_set collect(const struct merge_plan *p, size_t cnt, struct stem stem)
{
	struct source_set set = { .files = xcalloc(cnt, sizeof(*set.files)),
				  .errors_reported = true };
	struct stem other;
	uint64_t number;

	for (size_t i = 0; i < cnt; i++)
		if (stem_of(&p->files[i], &other, &number) && is_stem(other, stem))
			set.files[set.cnt++] =
				(struct source_file){ .path = xstrdup(p->files[i].name),
						      .number = number,
						      .open = true,
						      .fd = p->files[i].fd };
	qsort(set.files, set.cnt, sizeof(*set.files), by_number);
	drop_doubles(&set);
	return set;
}

struct missing {
	const char *word;
	int fd; /* none yet */
};

static int put(void *ctx, const void *data, size_t sz)
{
	struct missing *m = ctx;

	if (m->fd < 0)
		m->fd = spool_temp(m->word);
	return m->fd < 0 ? m->fd : spool_write(&m->fd, data, sz);
}

static int add_missing(struct merge_plan *p, size_t cnt, size_t i, struct stem stem)
{
	struct source_set set = collect(p, cnt, stem);
	struct missing m = { p->opts.word, -1 };
	struct buf name = { 0 };
	int err = 0;

	if (set.cnt > 1)
		err = source_missing(&set, put, &m);
	else
		source_set_fini(&set);
	if (m.fd >= 0 && !err) {
		buf_printf(&name, "missing files of %.*s", (int)stem.len, stem.path);
		merge_inputs_add_made(p, buf_cstr(&name), m.fd, i);
		buf_free(&name);
	} else if (m.fd >= 0) {
		close(m.fd);
	}
	return err ? CMD_INPUT : CMD_OK;
}

int merge_missing_add(struct merge_plan *p)
{
	const size_t cnt = p->file_cnt;
	int code = CMD_OK;
	struct stem stem;
	uint64_t number;

	for (size_t i = 0; i < cnt && code == CMD_OK; i++)
		if (stem_of(&p->files[i], &stem, &number) && !was_before(p, i, stem))
			code = add_missing(p, cnt, i, stem);
	return code;
}
