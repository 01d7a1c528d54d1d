// SPDX-License-Identifier: BSD-2-Clause
/* Known fields are found by all raw bytes of a record, whatever their number, and by nothing beyond them. */
#include "record/encode/field_cache.h"

#include <criterion/criterion.h>
#include <sys/mman.h>

enum { PAGE = 4096, SIZE_MAX_CACHED = 8 * FIELD_CACHE_WORDS + 7, EVENT = 7 };

static struct field_cache cache;

/* sz bytes before a page that cannot be read. */
static uint8_t *bytes_before_the_end(size_t sz)
{
	uint8_t *map =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(map, MAP_FAILED);
	cr_assert_eq(mprotect(map + PAGE, PAGE, PROT_NONE), 0);
	return map + PAGE - sz;
}

static const struct field_cache_slot *find(uint32_t event, const uint8_t *raw, size_t sz)
{
	struct field_cache_key key;

	field_cache_key(&key, event, raw, sz);
	return field_cache_find(&cache, &key);
}

static void put(uint32_t event, const uint8_t *raw, size_t sz)
{
	const uint8_t fields[FIELD_CACHE_BYTES] = { (uint8_t)sz };
	struct field_cache_key key;

	field_cache_key(&key, event, raw, sz);
	field_cache_put(&cache, &key, fields, sizeof(fields));
}

Test(field_cache, each_byte_of_each_size_counts)
{
	const struct field_cache_slot *slot;
	size_t sz, at;
	uint8_t *raw;

	for (sz = 8; sz <= SIZE_MAX_CACHED; sz++) {
		raw = bytes_before_the_end(sz);
		field_cache_clear(&cache);
		cr_expect_null(find(EVENT, raw, sz));
		put(EVENT, raw, sz);
		slot = find(EVENT, raw, sz);
		cr_assert(slot && slot->fields[0] == sz, "%zu bytes", sz);
		cr_expect_null(find(EVENT + 1, raw, sz));
		for (at = 0; at < sz; at++) {
			raw[at] = 1;
			cr_expect_null(find(EVENT, raw, sz), "byte %zu of %zu", at, sz);
			raw[at] = 0;
		}
	}
}

/* Here they differ after the last whole word. */
Test(field_cache, records_with_the_same_slot_are_different_ones)
{
	uint8_t a[13] = { 1 }, b[13];
	struct field_cache_key key;
	uint32_t slot, i;

	field_cache_key(&key, EVENT, a, sizeof(a));
	slot = key.slot;
	put(EVENT, a, sizeof(a));
	memcpy(b, a, sizeof(a));
	for (i = 1, key.slot = ~slot; key.slot != slot; i++) {
		memcpy(b + 8, &i, sizeof(i));
		field_cache_key(&key, EVENT, b, sizeof(b));
	}
	cr_expect_null(field_cache_find(&cache, &key));
	put(EVENT, b, sizeof(b));
	cr_expect_not_null(find(EVENT, b, sizeof(b)));
	cr_expect_null(find(EVENT, a, sizeof(a)), "it was replaced");
}

Test(field_cache, records_with_too_many_bytes_are_not_kept)
{
	uint8_t *raw = bytes_before_the_end(SIZE_MAX_CACHED + 1);

	put(EVENT, raw, SIZE_MAX_CACHED + 1);
	cr_expect_null(find(EVENT, raw, SIZE_MAX_CACHED + 1));
}
