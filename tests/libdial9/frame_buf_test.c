// SPDX-License-Identifier: BSD-2-Clause
/* An encoder's buffer on both sides of the size from which it is a mapping. */
#include "tests/libdial9/support.h"

#include "libdial9/frame_buf.h"

static void fill(uint32_t *p, size_t from, size_t sz)
{
	size_t i;

	for (i = from / sizeof(*p); i < sz / sizeof(*p); i++)
		p[i] = (uint32_t)i * 7;
}

static void check(const uint32_t *p, size_t sz)
{
	size_t i;

	for (i = 0; i < sz / sizeof(*p); i++)
		cr_assert_eq(p[i], (uint32_t)i * 7, "at %zu", i * sizeof(*p));
}

Test(frame_buf, contents_survive_each_way_to_grow)
{
	const size_t sizes[] = {
		4096,	 1 << 20, FRAME_BUF_MAPPED - 4, FRAME_BUF_MAPPED, (5 << 20) + 4,
		8 << 20, 64 << 20
	};
	size_t i, sz = 0;
	void *p = NULL;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		p = frame_buf_grow(p, sz, sizes[i]);
		cr_assert(p);
		check(p, sz);
		fill(p, sz, sizes[i]);
		sz = sizes[i];
		cr_assert(sz < FRAME_BUF_MAPPED || (uintptr_t)p % FRAME_BUF_MAPPED == 0,
			  "huge pages need aligned memory");
	}
	check(p, sz);
	frame_buf_free(p, sz);
}

Test(frame_buf, a_mapping_needs_no_small_buffer_before_it)
{
	uint32_t *p = frame_buf_grow(NULL, 0, 3 << 20);

	cr_assert(p);
	fill(p, 0, 3 << 20);
	check(p, 3 << 20);
	frame_buf_free(p, 3 << 20);
	frame_buf_free(NULL, 0);
}

Test(frame_buf, without_memory_the_old_buffer_stays)
{
	const size_t old[] = { 4096, 4 << 20 };
	const size_t too_large[] = { SIZE_MAX, SIZE_MAX - FRAME_BUF_MAPPED,
				     SIZE_MAX - 2 * FRAME_BUF_MAPPED, SIZE_MAX / 2 };
	size_t i, k;
	uint32_t *p;

	for (i = 0; i < 2; i++) {
		p = frame_buf_grow(NULL, 0, old[i]);
		cr_assert(p);
		fill(p, 0, old[i]);
		for (k = 0; k < sizeof(too_large) / sizeof(too_large[0]); k++)
			cr_assert_null(frame_buf_grow(p, old[i], too_large[k]));
		check(p, old[i]);
		frame_buf_free(p, old[i]);
	}
}
