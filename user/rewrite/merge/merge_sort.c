// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sorts records. Owns them: some in memory, others as sorted runs in a temporary file without a name. The output is
 * a merge of all runs. RUNS_MAX runs are joined to one, so memory is bounded for any number of events.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "rewrite/merge/merge_impl.h"

#define RUNS_MAX 64
#define RUN_BUFFER (256 << 10)

/* A part of the file, read from start to end. */
struct run {
	uint64_t pos, end;
	char *buf; /* the bytes read: at..len */
	size_t at, len, cap;
};

struct merge_sort {
	size_t max;
	char *arena;
	size_t arena_len, arena_cap;
	uint64_t *index; /* of records in the arena */
	size_t cnt, index_cap, next;
	int fd;
	uint64_t file_len;
	struct run runs[RUNS_MAX];
	size_t run_cnt;
	bool sorted; /* no more records are added */
	struct run *given; /* the run of the last returned record */
	char *out; /* of the run being written */
	size_t out_len;
};

static size_t padded(size_t sz)
{
	return (sz + 7) & ~(size_t)7;
}

struct merge_sort *merge_sort_new(size_t max)
{
	struct merge_sort *s = xcalloc(1, sizeof(*s));

	s->max = max;
	s->fd = -1;
	return s;
}

static void forget_runs(struct merge_sort *s)
{
	for (size_t i = 0; i < s->run_cnt; i++)
		free(s->runs[i].buf);
	s->run_cnt = 0;
}

void merge_sort_free(struct merge_sort *s)
{
	if (!s)
		return;
	forget_runs(s);
	if (s->fd >= 0)
		close(s->fd);
	free(s->arena);
	free(s->index);
	free(s->out);
	free(s);
}

/* ---- the file ---------------------------------------------------------------------------------- */

/* Appends to the file. */
static int write_all(int fd, const char *p, size_t sz, uint64_t *at)
{
	const int err = file_write(fd, p, sz);

	*at += err ? 0 : sz;
	return err;
}

static int put(struct merge_sort *s, int fd, const struct merge_record *r, uint64_t *at)
{
	const size_t sz = padded(r->sz);
	int err = 0;

	if (!s->out)
		s->out = xmalloc(RUN_BUFFER);
	if (s->out_len && s->out_len + sz > RUN_BUFFER) {
		err = write_all(fd, s->out, s->out_len, at);
		s->out_len = 0;
	}
	if (err)
		return err;
	if (sz > RUN_BUFFER)
		return write_all(fd, (const char *)r, sz, at);
	memcpy(s->out + s->out_len, r, sz);
	s->out_len += sz;
	return 0;
}

static int put_rest(struct merge_sort *s, int fd, uint64_t *at)
{
	int err = write_all(fd, s->out, s->out_len, at);

	s->out_len = 0;
	return err;
}

/* Fills the buffer of the run with at least @want bytes. */
static int fill(const struct merge_sort *s, struct run *run, size_t want)
{
	const size_t cap = want > RUN_BUFFER ? want : RUN_BUFFER;

	run->buf = array_reserve(run->buf, &run->cap, cap, 1);
	memmove(run->buf, run->buf + run->at, run->len - run->at);
	run->len -= run->at;
	run->at = 0;
	while (run->len < want) {
		const uint64_t left = run->end - run->pos;
		const size_t room = run->cap - run->len;
		const ssize_t n = pread(s->fd, run->buf + run->len, left < room ? left : room,
					(off_t)run->pos);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		run->pos += (uint64_t)n;
		run->len += (size_t)n;
	}
	return 0;
}

/* The first record of a run: 1, 0 if there is none, -errno. */
static int head(const struct merge_sort *s, struct run *run, const struct merge_record **out)
{
	const size_t have = run->len - run->at;
	size_t want = sizeof(struct merge_record);
	int err = 0;

	if (!have && run->pos == run->end)
		return 0;
	if (have < want)
		err = fill(s, run, want);
	if (err)
		return err;
	want = padded(((const struct merge_record *)(run->buf + run->at))->sz);
	if (run->len - run->at < want)
		err = fill(s, run, want);
	*out = (const struct merge_record *)(run->buf + run->at);
	return err ? err : 1;
}

static void pass(struct run *run)
{
	run->at += padded(((const struct merge_record *)(run->buf + run->at))->sz);
}

/* ---- memory ------------------------------------------------------------------------------------ */

static const struct merge_record *at(const struct merge_sort *s, size_t i)
{
	return (const struct merge_record *)(s->arena + s->index[i]);
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct merge_sort *s = ctx;
	const struct merge_record *x = (const void *)(s->arena + *(const uint64_t *)a);
	const struct merge_record *y = (const void *)(s->arena + *(const uint64_t *)b);

	return merge_record_before(y, x) - merge_record_before(x, y);
}

static void sort(struct merge_sort *s)
{
	if (s->cnt)
		qsort_r(s->index, s->cnt, sizeof(*s->index), compare, s);
}

/* The smallest first record of all runs, and its run: 1, 0, -errno. */
static int least_of_runs(struct merge_sort *s, const struct merge_record **out, struct run **of)
{
	const struct merge_record *r = NULL;
	int ret;

	*out = NULL;
	for (size_t i = 0; i < s->run_cnt; i++) {
		ret = head(s, &s->runs[i], &r);
		if (ret < 0)
			return ret;
		if (ret && (!*out || merge_record_before(r, *out))) {
			*out = r;
			*of = &s->runs[i];
		}
	}
	return *out != NULL;
}

/* Joins all runs to one in a new file. */
static int join_runs(struct merge_sort *s)
{
	const int fd = file_temp();
	const struct merge_record *r;
	uint64_t len = 0;
	struct run *of;
	int ret = fd < 0 ? fd : 1;

	while (ret == 1 && (ret = least_of_runs(s, &r, &of)) == 1) {
		ret = put(s, fd, r, &len);
		pass(of);
		ret = ret ? ret : 1;
	}
	if (!ret)
		ret = put_rest(s, fd, &len);
	if (ret) {
		if (fd >= 0)
			close(fd);
		return ret;
	}
	close(s->fd);
	s->fd = fd;
	forget_runs(s);
	s->runs[s->run_cnt++] = (struct run){ .end = len };
	s->file_len = len;
	return 0;
}

/* Writes the records in memory as a run. */
static int spill(struct merge_sort *s)
{
	struct run run = { .pos = s->file_len };
	int err = 0;

	if (s->fd < 0)
		s->fd = file_temp();
	if (s->fd < 0)
		return s->fd;
	if (s->run_cnt == RUNS_MAX)
		err = join_runs(s);
	run.pos = s->file_len;
	sort(s);
	for (size_t i = 0; i < s->cnt && !err; i++)
		err = put(s, s->fd, at(s, i), &s->file_len);
	if (!err)
		err = put_rest(s, s->fd, &s->file_len);
	run.end = s->file_len;
	s->runs[s->run_cnt++] = run;
	s->cnt = s->arena_len = 0;
	return err;
}

int merge_sort_add(struct merge_sort *s, const struct merge_record *r)
{
	const size_t sz = padded(r->sz);
	int err = 0;

	if (s->cnt && s->arena_len + sz > s->max)
		err = spill(s);
	if (err)
		return err;
	s->arena = array_reserve(s->arena, &s->arena_cap, s->arena_len + sz, 1);
	memcpy(s->arena + s->arena_len, r, r->sz);
	memset(s->arena + s->arena_len + r->sz, 0, sz - r->sz);
	s->index = array_reserve(s->index, &s->index_cap, s->cnt + 1, sizeof(*s->index));
	s->index[s->cnt++] = s->arena_len;
	s->arena_len += sz;
	return 0;
}

int merge_sort_next(struct merge_sort *s, const struct merge_record **out)
{
	struct run *of = NULL;
	int ret;

	if (!s->sorted)
		sort(s);
	else if (s->given)
		pass(s->given);
	else
		s->next++;
	s->sorted = true;
	ret = least_of_runs(s, out, &of);
	if (ret < 0)
		return ret;
	s->given = of;
	if (s->next < s->cnt && (!ret || merge_record_before(at(s, s->next), *out))) {
		*out = at(s, s->next);
		s->given = NULL;
	}
	return *out != NULL;
}
