// SPDX-License-Identifier: BSD-2-Clause
/*
 * segment_end.c - reads the last event of a rotated file without reading the file
 *
 * Its fields have fixed sizes and are uncompressed even in a compressed file (dial9-trace(5)). The
 * writer of the file wrote the events too, so a false value can hide no more than missing events
 * would. The sizes protect against files that were truncated, appended to or concatenated.
 */
#include "trace/source/segment_end.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prof_events.h"

enum { GZIP_AFTER = 8, TAIL_MAX = PROF_SEGMENT_END_SIZE + GZIP_AFTER, HEAD_SIZE = 4 };

static uint64_t number(const unsigned char *p, size_t sz)
{
	uint64_t v = 0;

	while (sz--)
		v = v << 8 | p[sz];
	return v;
}

static bool is_size(uint64_t total, uint64_t before)
{
	return total >= before + PROF_SEGMENT_END_SIZE && total - before <= PROF_SEGMENT_END_MAX;
}

/* zstd does not record the unpacked size of a stream. */
static bool agrees(const unsigned char *head, const unsigned char *tail, uint64_t file_size,
		   uint64_t before)
{
	if (!memcmp(head, "\x1f\x8b", 2))
		return is_size(number(tail + TAIL_MAX - 4, 4), before & UINT32_MAX);
	return !memcmp(head, "\x28\xb5\x2f\xfd", 4) || is_size(file_size, before);
}

bool segment_end_read(int fd, uint64_t *first_ns, uint64_t *last_ns)
{
	unsigned char head[HEAD_SIZE], tail[TAIL_MAX];
	const unsigned char *at = tail;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < TAIL_MAX ||
	    pread(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    pread(fd, tail, sizeof(tail), st.st_size - TAIL_MAX) != (ssize_t)sizeof(tail))
		return false;
	if (memcmp(head, "\x1f\x8b", 2))
		at += GZIP_AFTER;
	*first_ns = number(at, 8);
	*last_ns = number(at + 8, 8);
	return number(at + 24, 8) == PROF_SEGMENT_END_MARK && *first_ns <= *last_ns &&
	       agrees(head, tail, (uint64_t)st.st_size, number(at + 16, 8));
}
