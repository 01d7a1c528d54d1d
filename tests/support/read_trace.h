/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_SUPPORT_READ_TRACE_H
#define D9_TESTS_SUPPORT_READ_TRACE_H

/* Opens traces that a test made, to read their events. */
#include <criterion/criterion.h>

#include "tests/support/make_trace.h"
#include "trace/read/reader.h"

/* @fd is closed with the reader. */
static inline struct reader *read_trace_as(int fd, enum reader_mode mode)
{
	struct reader *r = NULL;
	struct source *src;

	cr_assert_eq(source_open_fd(fd, "test", &src), 0);
	cr_assert_eq(reader_new(src, mode, &r), 0);
	return r;
}

/* In one pass. */
static inline struct reader *read_trace(int fd)
{
	return read_trace_as(fd, READER_ONE_PASS);
}

#endif /* D9_TESTS_SUPPORT_READ_TRACE_H */
