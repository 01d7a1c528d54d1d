// SPDX-License-Identifier: BSD-2-Clause
/*
 * Maps of generated code, read while they grow.
 *
 * A program appends a line per compiled function, and reuses addresses; later lines override
 * earlier ones. Sorting everything after each few lines would cost too much, so there are two sets.
 * The old entries are settled once; the recent entries are settled at each read and take
 * precedence. When the recent ones reach half of the old ones, all become old.
 */
#include "symbol/elf/perfmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "symbol/budget.h"
#include "symbol/ranges.h"

#define CPU_DEFAULT_NS 2000000000ull
#define MEM_DEFAULT (320ull << 20)
#define CHUNK 16384
/* Work to read a chunk, in units of budget_work() */
#define CHUNK_WORK 500
#define LINES_PART 3 /* of the memory; the rest is for sorting them */
#define LINE_MAX_SZ (PERFMAP_NAME_MAX + 64)
#define RECENT_MIN 1024

struct entry {
	uint64_t start, size;
	uint32_t name_off, name_len;
};

struct perfmap {
	struct budget budget;
	dev_t dev;
	ino_t ino;
	uint64_t pos; /* position in the file up to which it was read */
	char line[LINE_MAX_SZ]; /* start of an incomplete line */
	size_t line_len;
	struct entry *entries;
	size_t cnt, cap;
	struct buf names;

	struct ranges old, recent; /* id = index into entries */
	size_t old_cnt; /* entries in old; the following ones up to settled_cnt are in recent */
	size_t settled_cnt;
	struct ranges next; /* the set being settled, from next_from up to next_cnt */
	size_t next_from, next_cnt;
	bool settling;
};

struct perfmap *perfmap_new(uint64_t cpu_max_ns)
{
	const struct budget_max max = {
		.cpu_ns = cpu_max_ns ? cpu_max_ns : CPU_DEFAULT_NS,
		.mem = MEM_DEFAULT,
		.entries = PERFMAP_ENTRIES_MAX,
	};
	struct perfmap *p = xcalloc(1, sizeof(*p));

	budget_init(&p->budget, &max);
	return p;
}

static void forget(struct perfmap *p)
{
	struct budget *b = &p->budget;

	ranges_free(&p->old, b);
	ranges_free(&p->recent, b);
	ranges_free(&p->next, b);
	budget_free(b, p->entries, p->cap, sizeof(*p->entries));
	budget_give_back(b, p->names.len);
	buf_free(&p->names);
	p->entries = NULL;
	p->cnt = p->cap = 0;
	p->pos = p->line_len = 0;
	p->old_cnt = p->settled_cnt = p->next_cnt = 0;
	p->settling = false;
}

void perfmap_free(struct perfmap *p)
{
	if (!p)
		return;
	forget(p);
	free(p);
}

void perfmap_slice(struct perfmap *p, uint64_t cpu_ns)
{
	budget_slice(&p->budget, cpu_ns ? budget_clock_ns() + cpu_ns : 0);
}

/* Reads a hexadecimal number and blanks; false if there is none or it is too large. */
static bool read_hex(const char **s, const char *end, uint64_t *out)
{
	const char *at = *s;
	uint64_t v = 0;
	int digits = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	for (; at < end; at++, digits++) {
		int c = *at | 0x20;
		int digit = c >= '0' && c <= '9' ? c - '0' :
			    c >= 'a' && c <= 'f' ? c - 'a' + 10 :
						   -1;

		if (digit < 0)
			break;
		if (v >> 60)
			return false;
		v = v << 4 | (unsigned int)digit;
	}
	if (!digits || at == end || (*at != ' ' && *at != '\t'))
		return false;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	*s = at;
	*out = v;
	return true;
}

/* Skips invalid lines. 0 or -EDQUOT. */
static int parse_line(struct perfmap *p, const char *s, size_t len)
{
	const char *end = s + len;
	void *array = p->entries;
	struct entry e;
	int err;

	if (!read_hex(&s, end, &e.start) || !read_hex(&s, end, &e.size))
		return 0;
	e.name_len = end - s < PERFMAP_NAME_MAX ? end - s : PERFMAP_NAME_MAX;
	e.name_off = p->names.len;
	if (!e.name_len || !e.size || e.start + e.size < e.start)
		return 0;
	if (p->cnt == PERFMAP_ENTRIES_MAX)
		return budget_exhaust(&p->budget, BUDGET_ENTRIES);
	err = budget_grow(&p->budget, &array, &p->cap, p->cnt, sizeof(*p->entries));
	p->entries = array;
	if (err || budget_reserve(&p->budget, e.name_len) ||
	    p->budget.mem > p->budget.max.mem / LINES_PART)
		return budget_exhaust(&p->budget, BUDGET_MEMORY);
	buf_add(&p->names, s, e.name_len);
	p->entries[p->cnt++] = e;
	return 0;
}

/* Handles the complete lines of a chunk, and keeps the start of an incomplete one. */
static int parse_chunk(struct perfmap *p, const char *s, size_t len)
{
	while (len) {
		const char *nl = memchr(s, '\n', len);
		size_t n = nl ? (size_t)(nl - s) : len, room = sizeof(p->line) - p->line_len;
		int err;

		/* the rest of a line that is too long is dropped, which cuts its name */
		memcpy(p->line + p->line_len, s, n < room ? n : room);
		p->line_len += n < room ? n : room;
		if (!nl)
			return 0;
		err = parse_line(p, p->line, p->line_len);
		if (err)
			return err;
		p->line_len = 0;
		s += n + 1;
		len -= n + 1;
	}
	return 0;
}

static int read_file(struct perfmap *p, int fd)
{
	char chunk[CHUNK];
	int err = 0;

	while (!err) {
		ssize_t n = pread(fd, chunk, sizeof(chunk), p->pos);

		if (n < 0)
			return -errno;
		if (!n)
			return 0;
		if (p->pos + n > PERFMAP_BYTES_MAX)
			return budget_exhaust(&p->budget, BUDGET_MEMORY);
		p->pos += n;
		err = parse_chunk(p, chunk, n);
		if (!err)
			err = budget_work(&p->budget, CHUNK_WORK);
	}
	return err;
}

static void begin_settling(struct perfmap *p)
{
	bool all = p->cnt - p->old_cnt > p->old_cnt / 2 + RECENT_MIN || !p->old_cnt;

	p->next_from = all ? 0 : p->old_cnt;
	p->next_cnt = p->next_from;
	p->settling = true;
}

static int settle(struct perfmap *p)
{
	struct budget *b = &p->budget;
	int err = 0;

	while (!err && p->next_cnt < p->cnt) {
		const struct entry *e = &p->entries[p->next_cnt];

		/* the latest line has the lowest rank */
		err = ranges_add(&p->next, e->start, e->start + e->size, p->next_cnt,
				 UINT64_MAX - p->next_cnt, b);
		p->next_cnt += !err;
		if (!err)
			err = budget_work(b, 1);
	}
	if (!err)
		err = ranges_settle(&p->next, b);
	if (err)
		return err == -ENOMEM ? budget_exhaust(b, BUDGET_MEMORY) : err;
	ranges_free(&p->recent, b);
	if (!p->next_from) {
		ranges_free(&p->old, b);
		p->old = p->next;
		p->old_cnt = p->cnt;
	} else {
		p->recent = p->next;
	}
	p->next = (struct ranges){ 0 };
	p->settled_cnt = p->cnt;
	p->settling = false;
	return 0;
}

/* Entries read before a limit was reached are settled, too. */
static int read_and_settle(struct perfmap *p, int fd)
{
	int err = 0;

	if (!p->settling) {
		if (!budget_reached(&p->budget))
			err = read_file(p, fd);
		if (err && err != -EDQUOT)
			return err;
		if (p->cnt == p->settled_cnt)
			return budget_reached(&p->budget) ? -EDQUOT : 0;
		begin_settling(p);
	}
	err = settle(p);
	if (err)
		return err;
	return budget_reached(&p->budget) ? -EDQUOT : 0;
}

int perfmap_read(struct perfmap *p, int fd)
{
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_dev != p->dev || st.st_ino != p->ino || (uint64_t)st.st_size < p->pos)
		forget(p);
	p->dev = st.st_dev;
	p->ino = st.st_ino;
	budget_enter(&p->budget);
	err = read_and_settle(p, fd);
	budget_leave(&p->budget);
	return err;
}

bool perfmap_find(const struct perfmap *p, uint64_t addr, struct perfmap_entry *out)
{
	const struct range *r = ranges_find(&p->recent, addr);
	const struct entry *e;

	if (!r)
		r = ranges_find(&p->old, addr);
	if (!r)
		return false;
	e = &p->entries[r->id];
	*out = (struct perfmap_entry){
		.name = p->names.data + e->name_off,
		.name_len = e->name_len,
		.start = e->start,
		.size = e->size,
	};
	return true;
}

void perfmap_limit_mem(struct perfmap *p, size_t max)
{
	p->budget.max.mem = max;
}

size_t perfmap_mem(const struct perfmap *p)
{
	return p->budget.mem;
}

const char *perfmap_gave_up(const struct perfmap *p)
{
	return budget_reached(&p->budget);
}
