/* SPDX-License-Identifier: BSD-2-Clause */
/* What holds for the unwind tables of any file: for the fuzz targets */
#ifndef D9_TESTS_SUPPORT_UNWIND_CHECK_H
#define D9_TESTS_SUPPORT_UNWIND_CHECK_H

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "symbol/budget.h"
#include "symbol/cfi/cfitable.h"
#include "tests/support/unwind_find.h"
#include "unwind/table.h"

/* A row for each place of each page. */
static inline void unwind_check_rows(const struct unwind_table *t)
{
	uint64_t start = (uint64_t)t->first_page << PROF_UNWIND_PAGE_SHIFT;
	uint64_t end = start + ((uint64_t)t->page_cnt << PROF_UNWIND_PAGE_SHIFT), off;
	uint64_t step = (end - start) / 5000 + 1;
	uint32_t row;

	for (off = start; off < end; off += step) {
		assert(unwind_find(t, off, &row));
		assert(row >> PROF_UNWIND_ROW_PC_SHIFT <= (off & 1023));
		assert(unwind_row_kind(row) <= PROF_UNWIND_A64_FP);
	}
	assert(!unwind_find(t, end, &row));
	assert(!start || !unwind_find(t, start - 1, &row));
}

static inline int unwind_check_build(const struct elfimg *img, bool sliced, struct unwind_table *t)
{
	const struct budget_max max = { .cpu_ns = UINT64_MAX, .mem = 32 << 20, .entries = 1 << 20 };
	struct budget budget;
	struct cfitable c;
	int err;

	budget_init(&budget, &max);
	cfitable_init(&c, img, &budget);
	c.machine = img->machine;
	do {
		budget_slice(&budget, sliced ? 0 : UINT64_MAX);
		budget_enter(&budget);
		err = cfitable_build(&c, t);
		budget_leave(&budget);
		assert(sliced || err != -EAGAIN);
	} while (err == -EAGAIN);
	cfitable_fini(&c);
	assert(!budget.mem);
	return err;
}

/* The table of a file, built at once and in slices. @bytes belongs to this function. */
static inline void unwind_check_file(void *bytes, size_t size)
{
	struct unwind_table whole = { 0 }, sliced = { 0 };
	struct elfimg img;
	int err, again;

	if (elfimg_open_mem(&img, bytes, size, ELFIMG_HEAP))
		return;
	err = unwind_check_build(&img, false, &whole);
	again = unwind_check_build(&img, true, &sliced);
	assert(err == again && (!err || err == -ENODATA || err == -EDQUOT));
	if (!err) {
		assert(unwind_table_check(&whole));
		assert(whole.cnt == sliced.cnt && whole.first_page == sliced.first_page);
		assert(whole.page_cnt == sliced.page_cnt && whole.big_cnt == sliced.big_cnt);
		assert(!memcmp(whole.words, sliced.words, 4 * whole.cnt));
		unwind_check_rows(&whole);
	}
	unwind_table_free(&whole);
	unwind_table_free(&sliced);
	elfimg_close(&img);
}

#endif /* D9_TESTS_SUPPORT_UNWIND_CHECK_H */
