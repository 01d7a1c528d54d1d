// SPDX-License-Identifier: BSD-2-Clause
/* An encoder's buffer on both sides of the size from which it is a mapping. */
#include "tests/libdial9/support.h"

#include <sys/resource.h>
#include <unistd.h>

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

static uint64_t address_space(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	cr_assert(f && fscanf(f, "%lu", &pages) == 1);
	fclose(f);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* As realloc() does: not the room of the old buffer and of the new one at once. */
Test(frame_buf, growing_needs_room_for_the_added_bytes_only)
{
	const size_t old = 256 << 20, sz = 320 << 20;
	uint32_t *p = frame_buf_grow(NULL, 0, old);
	struct rlimit lim;

	cr_assert(p);
	fill(p, 0, 4096);
	cr_assert_eq(getrlimit(RLIMIT_AS, &lim), 0);
	lim.rlim_cur = address_space() + (128 << 20);
	cr_assert_eq(setrlimit(RLIMIT_AS, &lim), 0);
	p = frame_buf_grow(p, old, sz);
	cr_assert(p);
	check(p, 4096);
	fill(p + (sz - 4096) / sizeof(*p), 0, 4096);
	frame_buf_free(p, sz);
}
