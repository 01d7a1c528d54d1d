// SPDX-License-Identifier: BSD-2-Clause
/* Memory that copies share: kept while a copy needs it, and used again when none does. */
#include "tests/libdial9/support.h"

#include "libdial9/copy_slab.h"

enum { CNT = 500 };

static uint8_t *add(struct copy_slabs *s, size_t sz, uint8_t byte)
{
	uint8_t *p = s->pos;

	memset(p, byte, sz);
	copy_slab_commit(s, p + sz);
	return p;
}

static void check(const uint8_t *p, size_t sz, uint8_t byte)
{
	size_t i;

	for (i = 0; i < sz; i++)
		cr_assert_eq(p[i], byte);
}

Test(copy_slab, a_slab_is_filled_again_when_all_its_copies_are_released)
{
	struct copy_slabs s = { 0 };
	struct copy_slab *first = NULL;
	int i;

	for (i = 0; i < CNT; i++) {
		cr_assert_eq(copy_slab_reserve(&s, 200), 0);
		first = first ? first : s.slab;
		cr_assert_eq(s.slab, first);
		add(&s, 200, 1);
		copy_slab_put(s.slab);
	}
	copy_slab_close(&s);
	cr_assert_null(s.slab);
}

Test(copy_slab, kept_copies_stay_while_others_come_and_go)
{
	struct copy_slabs s = { 0 };
	struct copy_slab *slabs[CNT];
	uint8_t *copies[CNT];
	size_t sz;
	int i;

	for (i = 0; i < CNT; i++) {
		sz = i % 50 ? 8 + (size_t)i % 40 * 8 : COPY_SLAB_SHARED;
		cr_assert_eq(copy_slab_reserve(&s, sz), 0);
		cr_assert_eq((uintptr_t)s.pos % 8, 0);
		slabs[i] = s.slab;
		copies[i] = add(&s, sz, (uint8_t)i);
		if (i % 3)
			copy_slab_put(slabs[i]);
	}
	copy_slab_close(&s);
	copy_slab_close(&s);
	for (i = 0; i < CNT; i += 3) {
		check(copies[i], i % 50 ? 8 + (size_t)i % 40 * 8 : COPY_SLAB_SHARED, (uint8_t)i);
		copy_slab_put(slabs[i]);
	}
}

Test(copy_slab, a_large_copy_has_a_slab_of_its_own)
{
	struct copy_slabs s = { 0 };
	struct copy_slab *slab;
	uint8_t *p;

	cr_assert_eq(copy_slab_reserve_alone(&s, 1 << 20), 0);
	cr_assert_eq(s.end - s.pos, 1 << 20);
	slab = s.slab;
	p = add(&s, 1 << 20, 5);
	copy_slab_close(&s);
	check(p, 1 << 20, 5);
	copy_slab_put(slab);
}
