// SPDX-License-Identifier: BSD-2-Clause
/* The last event of a rotated file, found from the end; inconsistent data is ignored. */
#include "trace/source/segment_end.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK "D9SEGEND"

enum { BEFORE = 1000, SCHEMA = 100, FIELDS = 32, GZIP_AFTER = 8 };

static void put(unsigned char *p, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

struct file {
	const char *head; /* how it begins */
	size_t head_sz;
	uint64_t first, last, before;
	const char *mark;
	size_t after; /* bytes after the fields: the last four are @total */
	uint32_t total;
	size_t sz; /* 0: computed */
};

static const struct file good = {
	.head = "TRC\0\1", .head_sz = 5, .first = 5, .last = 9, .before = BEFORE, .mark = MARK
};

static bool read_end(const struct file *f, uint64_t *first, uint64_t *last)
{
	static unsigned char bytes[4096];
	const size_t fields = BEFORE + SCHEMA, sz = f->sz ? f->sz : fields + FIELDS + f->after;
	FILE *file = tmpfile();
	bool yes;

	memset(bytes, 0xdd, sizeof(bytes));
	memcpy(bytes, f->head, f->head_sz);
	put(bytes + fields, f->first);
	put(bytes + fields + 8, f->last);
	put(bytes + fields + 16, f->before);
	memcpy(bytes + fields + 24, f->mark, 8);
	for (int i = 0; i < 4 && f->after; i++)
		bytes[fields + FIELDS + f->after - 4 + i] = (unsigned char)(f->total >> 8 * i);
	cr_assert(file && write(fileno(file), bytes, sz) == (ssize_t)sz);
	yes = segment_end_read(fileno(file), first, last);
	fclose(file);
	return yes;
}

static bool is_end(struct file f)
{
	uint64_t first, last;

	return read_end(&f, &first, &last);
}

static struct file gzip(uint32_t total)
{
	struct file f = good;

	f.head = "\x1f\x8b\x08";
	f.head_sz = 3;
	f.after = GZIP_AFTER;
	f.total = total;
	return f;
}

Test(segment_end, times_are_read_from_the_end)
{
	uint64_t first = 0, last = 0;

	cr_assert(read_end(&good, &first, &last));
	cr_expect_eq(first, 5);
	cr_expect_eq(last, 9);
}

Test(segment_end, compressed_files_have_segment_end_before_their_trailer)
{
	struct file zstd = good;

	zstd.head = "\x28\xb5\x2f\xfd";
	zstd.head_sz = 4;
	cr_expect(is_end(zstd));
	cr_expect(is_end(gzip(BEFORE + SCHEMA + FIELDS)));
	cr_expect(!is_end(gzip(BEFORE)));
	cr_expect(!is_end(gzip(BEFORE + 300)));
	zstd.after = GZIP_AFTER;
	cr_expect(!is_end(zstd));
}

Test(segment_end, inconsistent_segment_end_is_ignored)
{
	struct file f = good;

	f.mark = "D9SEGEN?";
	cr_expect(!is_end(f));
	f = good;
	f.first = 10;
	cr_expect(!is_end(f));
	f = good;
	f.before = BEFORE + SCHEMA + 1;
	cr_expect(!is_end(f), "longer than the file");
	f.before = UINT64_MAX - 10;
	cr_expect(!is_end(f));
	f.before = BEFORE - 200;
	cr_expect(!is_end(f), "something was put in");
	f = good;
	f.after = 1;
	cr_expect(!is_end(f), "something was appended");
	f = good;
	f.sz = BEFORE + SCHEMA + FIELDS - 1;
	cr_expect(!is_end(f), "it is cut");
	f.sz = 39;
	cr_expect(!is_end(f));
}
