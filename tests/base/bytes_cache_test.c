// SPDX-License-Identifier: BSD-2-Clause
/* A cache of bytes by key: exact, limited in size, and emptied when its version changes. */
#include "base/bytes_cache.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"

static bool get(struct bytes_cache *m, const char *key, uint64_t version, const char *expect)
{
	struct buf out = { 0 };
	bool found = bytes_cache_get(m, key, strlen(key), version, &out);

	if (found)
		cr_assert_str_eq(buf_cstr(&out), expect);
	else
		cr_assert_eq(out.len, 0);
	buf_free(&out);
	return found;
}

static void put(struct bytes_cache *m, const char *key, uint64_t version, const char *value)
{
	cr_assert_not(get(m, key, version, ""));
	bytes_cache_put(m, key, strlen(key), value, strlen(value));
}

Test(bytes_cache, values_are_found_by_key)
{
	struct bytes_cache m = { .slot_cnt = 8, .bytes_max = 1024 };

	put(&m, "one", 0, "1");
	put(&m, "", 0, "nothing");
	put(&m, "empty", 0, "");
	cr_assert(get(&m, "one", 0, "1"));
	cr_assert(get(&m, "", 0, "nothing"));
	cr_assert(get(&m, "empty", 0, ""));
	cr_assert_not(get(&m, "on", 0, ""));
	bytes_cache_fini(&m);
	cr_assert_not(get(&m, "one", 0, ""));
	bytes_cache_fini(&m);
}

Test(bytes_cache, cache_of_another_version_is_empty)
{
	struct bytes_cache m = { .slot_cnt = 8, .bytes_max = 1024 };

	put(&m, "key", 1, "old");
	put(&m, "key", 2, "new");
	cr_assert(get(&m, "key", 2, "new"));
	put(&m, "key", 1, "old again");
	cr_assert(get(&m, "key", 1, "old again"));
	bytes_cache_fini(&m);
}

Test(bytes_cache, cache_stays_below_its_limits_and_returns_right_values)
{
	struct bytes_cache m = { .slot_cnt = 16, .bytes_max = 256 };
	char key[32], value[32];
	int found = 0;

	for (int round = 0; round < 2000; round++) {
		snprintf(key, sizeof(key), "key %d", round * 7 % 23);
		snprintf(value, sizeof(value), "value %d", round * 7 % 23);
		if (get(&m, key, 0, value)) {
			found++;
			continue;
		}
		bytes_cache_put(&m, key, strlen(key), value, strlen(value));
		cr_assert(get(&m, key, 0, value));
		cr_assert_leq(m.used, 12);
		cr_assert_leq(m.len, 256);
	}
	cr_assert_lt(found, 2000, "twenty-three do not fit at once");
	bytes_cache_fini(&m);
}

Test(bytes_cache, too_large_values_are_not_cached)
{
	struct bytes_cache m = { .slot_cnt = 16, .bytes_max = 64 };

	put(&m, "small", 0, "1");
	put(&m, "large", 0, "0123456789abcdef");
	cr_assert_not(get(&m, "large", 0, ""));
	cr_assert(get(&m, "small", 0, "1"));
	bytes_cache_fini(&m);
}

/* A stack without frames has an empty key and an empty value. */
Test(bytes_cache, empty_key_and_empty_value_are_valid)
{
	struct bytes_cache m = { .slot_cnt = 8, .bytes_max = 64 };
	struct buf out = { 0 };

	cr_expect(!bytes_cache_get(&m, "", 0, 1, &out));
	bytes_cache_put(&m, "", 0, "", 0);
	cr_expect(bytes_cache_get(&m, "", 0, 1, &out));
	cr_expect_eq(out.len, 0);
	buf_free(&out);
	bytes_cache_fini(&m);
}
