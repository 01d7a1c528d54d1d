// SPDX-License-Identifier: BSD-2-Clause
/* Both sides of a pool, at sizes that make them grow, and at their limits. */
#include "tests/libdial9/support.h"

#include "libdial9/pool.h"

static int add(struct pool *p, const char *s, uint32_t id)
{
	return pool_add(p, pool_hash(p, s, strlen(s)), s, (uint32_t)strlen(s), id);
}

static int find(const struct pool *p, const char *s)
{
	uint32_t id;

	return pool_find(p, pool_hash(p, s, strlen(s)), s, (uint32_t)strlen(s), &id) ? (int)id : -1;
}

Test(pool, each_byte_the_length_and_the_seed_change_the_hash)
{
	uint8_t data[140] = { 0 };
	struct pool p, other;
	size_t sz, at;
	uint64_t hash;

	pool_init(&p, 0);
	pool_init(&other, 0);
	for (sz = 0; sz <= 130; sz++) {
		hash = pool_hash(&p, data, sz);
		cr_assert_neq(hash, pool_hash(&p, data, sz + 1));
		cr_assert_neq(hash, pool_hash(&other, data, sz));
		for (at = 0; at < sz; at++) {
			data[at] = 1;
			cr_assert_neq(hash, pool_hash(&p, data, sz), "byte %zu of %zu", at, sz);
			data[at] = 0;
		}
	}
	pool_fini(&p);
	pool_fini(&other);
}

Test(pool, finds_added_strings_while_it_grows)
{
	struct pool p;
	char name[48];
	int i;

	pool_init(&p, 0);
	cr_assert_eq(find(&p, "x"), -1);
	for (i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		cr_assert_eq(add(&p, name, (uint32_t)i), 0);
	}
	for (i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		cr_assert_eq(find(&p, name), i);
	}
	cr_assert_eq(find(&p, "name 5000"), -1);
	cr_assert_eq(add(&p, "", 7000), 0);
	cr_assert_eq(find(&p, ""), 7000);
	pool_fini(&p);
}

Test(pool, is_emptied_at_its_cap_and_never_exceeds_it)
{
	struct pool p;
	char name[48];
	int i, gone = 0;

	pool_init(&p, 16384);
	for (i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "a name of some length %d", i);
		cr_assert_eq(add(&p, name, (uint32_t)i), 0);
		cr_assert_eq(find(&p, name), i);
		gone += find(&p, "a name of some length 0") < 0;
	}
	cr_assert_gt(gone, 0, "the table was emptied");
	cr_assert_lt(gone, 2000);
	cr_assert_leq(p.text_cap, 16384);
	pool_fini(&p);
}

Test(pool, does_not_keep_strings_above_its_cap)
{
	char big[20000];
	struct pool p;

	memset(big, 'b', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	pool_init(&p, 16384);
	cr_assert_eq(add(&p, big, 1), 0);
	cr_assert_eq(find(&p, big), -1);
	cr_assert_eq(add(&p, "small", 2), 0);
	cr_assert_eq(find(&p, "small"), 2);
	pool_fini(&p);
}

static const char *get(const struct pool_defs *d, uint32_t id)
{
	static char text[64];
	size_t sz;
	const uint8_t *p = pool_defs_get(d, id, &sz);

	if (!p)
		return NULL;
	cr_assert_lt(sz, sizeof(text));
	memcpy(text, p, sz);
	text[sz] = '\0';
	return text;
}

static int set(struct pool_defs *d, uint32_t id, const char *s)
{
	return pool_defs_set(d, id, (const uint8_t *)s, strlen(s));
}

Test(pool, definitions_have_any_id_and_the_last_value)
{
	static const uint32_t ids[] = {
		0, 1, UINT32_MAX, 0x80000000u, 1u << 20, 2u << 20, 3u << 20
	};
	struct pool_defs d;
	char name[48];
	size_t i, round;

	pool_defs_init(&d, 1 << 20, false);
	cr_assert_null(get(&d, 0));
	for (round = 0; round < 3; round++) {
		for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
			snprintf(name, sizeof(name), "%zu of %zu", round, i);
			cr_assert_eq(set(&d, ids[i], name), 0);
		}
	}
	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		snprintf(name, sizeof(name), "2 of %zu", i);
		cr_assert_str_eq(get(&d, ids[i]), name);
	}
	cr_assert_null(get(&d, 2));
	cr_assert_eq(set(&d, 1, ""), 0);
	cr_assert_str_eq(get(&d, 1), "");
	pool_defs_fini(&d);
	cr_assert_null(get(&d, 0));
}

Test(pool, definitions_keep_their_address_while_the_pool_grows)
{
	struct pool_defs d;
	const uint8_t *first;
	char name[48];
	uint32_t i;
	size_t sz;

	pool_defs_init(&d, 16 << 20, false);
	cr_assert_eq(set(&d, 0, "the first"), 0);
	first = pool_defs_get(&d, 0, &sz);
	for (i = 1; i < 20000; i++) {
		snprintf(name, sizeof(name), "definition %u", i);
		cr_assert_eq(set(&d, i, name), 0);
	}
	cr_assert_eq(pool_defs_get(&d, 0, &sz), first);
	cr_assert_arr_eq(first, "the first", 9);
	pool_defs_fini(&d);
}

Test(pool, definitions_above_the_cap_are_refused)
{
	struct pool_defs d;
	uint32_t i;
	int err = 0;

	pool_defs_init(&d, 100000, false);
	for (i = 0; !err && i < 100000; i++)
		err = set(&d, i, "sixteen bytes ..");
	cr_assert_eq(err, -E2BIG);
	cr_assert_gt(i, 500);
	cr_assert_leq(d.bytes, 100000);
	cr_assert_str_eq(get(&d, 0), "sixteen bytes ..");
	pool_defs_fini(&d);
}
