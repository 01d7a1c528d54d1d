// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the files of a recording that was rotated. Owns the form of their names; does not read
 * them.
 */
#include "trace/source/source_set.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"

#define SUFFIX ".bin"
#define ACTIVE ".active"

static const char *const packed[] = { ".gz", ".zst" };

enum { PACKED_CNT = sizeof(packed) / sizeof(packed[0]) };

struct member {
	char *name;
	size_t stem_len;
	uint64_t number;
	bool active, dir;
};

struct members {
	struct member *v;
	size_t cnt, cap;
};

static bool cut_end(const char *name, size_t *len, const char *end)
{
	size_t n = strlen(end);

	if (*len <= n || memcmp(name + *len - n, end, n))
		return false;
	*len -= n;
	return true;
}

/* "web.12.bin.gz" is number 12 of "web". */
static bool parse(const char *name, struct member *out)
{
	size_t len = strlen(name), end;
	char digits[24] = { 0 };
	size_t i;

	out->active = cut_end(name, &len, ACTIVE);
	for (i = 0; i < PACKED_CNT && !cut_end(name, &len, packed[i]); i++)
		;
	if (!cut_end(name, &len, SUFFIX))
		return false;
	end = len;
	while (len && name[len - 1] >= '0' && name[len - 1] <= '9')
		len--;
	if (len < 2 || name[len - 1] != '.' || end == len || end - len >= sizeof(digits))
		return false;
	memcpy(digits, name + len, end - len);
	out->stem_len = len - 1;
	return !str_parse_u64(digits, UINT64_MAX, &out->number);
}

static bool is_stem(const struct member *m, const char *name, const char *stem, size_t len)
{
	return m->stem_len == len && !memcmp(name, stem, len);
}

static void add(struct members *all, const struct member *m, const char *name)
{
	all->v = array_reserve(all->v, &all->cap, all->cnt + 1, sizeof(*all->v));
	all->v[all->cnt] = *m;
	all->v[all->cnt++].name = xstrdup(name);
}

/* Collects the members of a stem; NULL: of all stems. */
static int collect(const char *dir, const char *stem, size_t stem_len, struct members *out)
{
	DIR *d = opendir(dir);
	struct dirent *ent;
	struct member m;
	struct stat st;

	if (!d)
		return -errno;
	while ((ent = readdir(d))) {
		if (!parse(ent->d_name, &m) || (stem && !is_stem(&m, ent->d_name, stem, stem_len)))
			continue;
		m.dir = !fstatat(dirfd(d), ent->d_name, &st, 0) && S_ISDIR(st.st_mode);
		add(out, &m, ent->d_name);
	}
	closedir(d);
	return 0;
}

static void members_fini(struct members *m)
{
	for (size_t i = 0; i < m->cnt; i++)
		free(m->v[i].name);
	free(m->v);
}

static int by_number(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool is_same_number(const struct members *m)
{
	for (size_t i = 1; i < m->cnt; i++)
		if (!is_stem(&m->v[i], m->v[i].name, m->v[0].name, m->v[0].stem_len))
			return false;
	return true;
}

/* The member of the same number that is used: sorted by name, so uncompressed ones come first. */
static const char *used_member(const struct members *m, size_t i)
{
	const uint64_t number = m->v[i].number;

	while (i && m->v[i - 1].number == number)
		if (!m->v[--i].dir && !m->v[i].active)
			return m->v[i].name;
	return NULL;
}

static bool is_skipped(const char *dir, const struct members *m, size_t i, size_t complete,
		       bool quiet)
{
	const bool unfinished = m->v[i].active && i < complete;
	const char *other;

	if (m->v[i].dir)
		return true;
	other = used_member(m, i);
	if (quiet)
		return other || unfinished;
	if (other)
		log_warn("%s/%s has the same number as %s; skipped", dir, m->v[i].name, other);
	else if (unfinished)
		log_warn("%s/%s was never finished; skipped", dir, m->v[i].name);
	return other || unfinished;
}

static bool is_any(const struct members *m)
{
	for (size_t i = 0; i < m->cnt; i++)
		if (!m->v[i].dir)
			return true;
	return false;
}

static void fill_set(const char *dir, struct members *m, struct source_set *out)
{
	size_t complete = 0, i;
	struct buf path = { 0 };

	qsort(m->v, m->cnt, sizeof(*m->v), by_number);
	for (i = 0; i < m->cnt; i++)
		if (!m->v[i].active && !m->v[i].dir)
			complete = i;
	out->files = xcalloc(m->cnt, sizeof(*out->files));
	for (i = 0; i < m->cnt; i++) {
		buf_printf(&path, "%s/%s", dir, m->v[i].name);
		out->files[out->cnt++] =
			(struct source_file){ .path = buf_steal(&path),
					      .number = m->v[i].number,
					      .skipped =
						      is_skipped(dir, m, i, complete, out->quiet) };
	}
}

static int fill_one(const char *dir, struct members *m, struct source_set *out)
{
	if (!is_same_number(m)) {
		log_error("cannot read %s: it holds several recordings; name one of them, such as "
			  "%s/%.*s",
			  dir, dir, (int)m->v[0].stem_len, m->v[0].name);
		return -EINVAL;
	}
	fill_set(dir, m, out);
	return 0;
}

/* The directory of a path, and the stem of the set in it. */
static char *split(const char *path, const char **stem, size_t *len)
{
	const char *slash = strrchr(path, '/');
	size_t i;

	*stem = slash ? slash + 1 : path;
	*len = strlen(*stem);
	for (i = 0; i < PACKED_CNT && !cut_end(*stem, len, packed[i]); i++)
		;
	cut_end(*stem, len, SUFFIX);
	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/") : xstrndup(path, slash - path);
}

int source_set_find(const char *path, bool quiet, struct source_set *out)
{
	struct members m = { 0 };
	const char *stem = NULL;
	size_t len = 0;
	struct stat st;
	char *dir;
	int err = 0;

	*out = (struct source_set){ .quiet = quiet };
	if (!*path || (!stat(path, &st) && !S_ISDIR(st.st_mode)))
		return 0;
	dir = stat(path, &st) ? split(path, &stem, &len) : xstrdup(path);
	if (!collect(dir, stem, len, &m) && is_any(&m))
		err = fill_one(dir, &m, out);
	members_fini(&m);
	free(dir);
	return err;
}

static const char *name_in(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void source_set_of(const char *const *paths, size_t cnt, bool quiet, struct source_set *out)
{
	struct members all = { 0 };
	struct member m = { 0 };
	const char *stem;
	size_t len;
	char *dir = split(paths[0], &stem, &len);

	*out = (struct source_set){ .quiet = quiet };
	for (size_t i = 0; i < cnt; i++)
		if (parse(name_in(paths[i]), &m))
			add(&all, &m, name_in(paths[i]));
	fill_set(dir, &all, out);
	members_fini(&all);
	free(dir);
}

bool source_set_is_same(const char *a, const char *b)
{
	size_t a_len, b_len;
	uint64_t number;

	return source_set_parse(a, &a_len, &number) && source_set_parse(b, &b_len, &number) &&
	       a_len == b_len && !memcmp(a, b, a_len);
}

bool source_set_parse(const char *path, size_t *stem_len, uint64_t *number)
{
	const char *name = name_in(path);
	struct member m;

	if (!parse(name, &m))
		return false;
	*stem_len = (size_t)(name - path) + m.stem_len;
	*number = m.number;
	return true;
}

bool source_set_is_active(const char *path)
{
	size_t len = strlen(path);

	return cut_end(path, &len, ACTIVE);
}

void source_set_fini(struct source_set *s)
{
	for (size_t i = 0; i < s->cnt; i++)
		free(s->files[i].path);
	free(s->files);
	*s = (struct source_set){ 0 };
}
