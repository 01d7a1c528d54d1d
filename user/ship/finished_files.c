// SPDX-License-Identifier: BSD-2-Clause
/* The directory with files to ship. Owns which names belong to it, their order, and the limit of their size. */
#include "ship/finished_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/str.h"
#include "ship/ship_state.h"
#include "trace/source/source_set.h"

static bool is_finished(const char *name)
{
	uint64_t number;
	size_t stem;

	return source_set_parse(name, &stem, &number) && !source_set_is_active(name) &&
	       !strpbrk(name, "\r\n");
}

static int by_age(const void *a, const void *b)
{
	const struct finished_file *x = a, *y = b;

	if (x->wall != y->wall)
		return x->wall < y->wall ? -1 : 1;
	return strverscmp(x->name, y->name);
}

/* Whether a name is the name of a finished file and then the suffix. */
static bool is_finished_with(const char *name, const char *suffix)
{
	const size_t len = strlen(name), suffix_len = strlen(suffix);
	char *finished;
	bool is;

	if (len <= suffix_len || strcmp(name + len - suffix_len, suffix) != 0)
		return false;
	finished = xstrndup(name, len - suffix_len);
	is = is_finished(finished);
	free(finished);
	return is;
}

static bool is_set_aside(const char *name)
{
	return is_finished_with(name, FINISHED_FILES_REFUSED) ||
	       is_finished_with(name, FINISHED_FILES_UNREADABLE);
}

static void add(struct finished_files *s, int dir, const char *name, bool set_aside)
{
	struct stat st;

	/* gone already, or not a file: a link may lead anywhere */
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return;
	s->files = array_reserve(s->files, &s->cap, s->cnt + 1, sizeof(*s->files));
	s->files[s->cnt++] = (struct finished_file){
		.name = xstrdup(name),
		.bytes = (uint64_t)st.st_size,
		.set_aside = set_aside,
		.wall = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec,
	};
	s->bytes += (uint64_t)st.st_size;
}

static int list(int dir, bool all, struct finished_files *out)
{
	char **names;
	int cnt = file_names(dir, false, &names);

	*out = (struct finished_files){ 0 };
	if (cnt < 0)
		return cnt;
	for (int i = 0; i < cnt; i++)
		if (is_finished(names[i]))
			add(out, dir, names[i], false);
		else if (all && is_set_aside(names[i]))
			add(out, dir, names[i], true);
	file_names_free(names, cnt);
	if (out->cnt)
		qsort(out->files, out->cnt, sizeof(*out->files), by_age);
	return 0;
}

int finished_files_list(int dir, struct finished_files *out)
{
	return list(dir, false, out);
}

void finished_files_fini(struct finished_files *s)
{
	for (size_t i = 0; i < s->cnt; i++)
		free(s->files[i].name);
	free(s->files);
	*s = (struct finished_files){ 0 };
}

static bool delete_file(int dir, const struct finished_file *f)
{
	if (!unlinkat(dir, f->name, 0) || errno == ENOENT)
		return true;
	log_warn("ship: --disk-max is exceeded, and %s cannot be deleted: %s", f->name,
		 strerror(errno));
	return false;
}

/* False: it stays, so nothing is lost. */
static bool drop_file(int dir, const struct finished_file *f, struct ship_state *state)
{
	const struct ship_state_drop drop = { f->name, f->bytes, f->wall };
	char size[32];

	/* on a full disk the state cannot be written before something is deleted */
	if (state)
		(void)ship_state_drop(state, &drop);
	if (!delete_file(dir, f)) {
		if (state)
			(void)ship_state_keep(state);
		return false;
	}
	str_bytes(size, f->bytes);
	log_warn("ship: lost: %s (%s) was not shipped: --disk-max is exceeded", f->name, size);
	return true;
}

size_t finished_files_trim(int dir, uint64_t max, const char *keep, struct ship_state *state)
{
	struct finished_files s;
	size_t cnt = 0;

	if (!max || list(dir, true, &s))
		return 0;
	for (size_t i = 0; i < s.cnt && s.bytes > max; i++) {
		const struct finished_file *f = &s.files[i];
		if (keep && !strcmp(f->name, keep))
			continue;
		if (!(f->set_aside ? delete_file(dir, f) : drop_file(dir, f, state)))
			continue;
		s.bytes -= f->bytes;
		cnt += !f->set_aside;
	}
	finished_files_fini(&s);
	return cnt;
}
