// SPDX-License-Identifier: BSD-2-Clause
/* Module ids, and which modules are forgotten. */
#include "record/symbols/modules.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct modules *m;

static void setup(void)
{
	m = modules_new();
}

static void teardown(void)
{
	modules_free(m);
}

TestSuite(modules, .init = setup, .fini = teardown);

static uint32_t id_of(const char *key, bool expect_fresh)
{
	bool fresh;
	uint32_t id = modules_id(m, key, strlen(key), &fresh);

	cr_expect_eq(fresh, expect_fresh, "%s", key);
	return id;
}

Test(modules, ids_start_at_1_and_stay)
{
	cr_expect_eq(id_of("/a", true), 1);
	cr_expect_eq(id_of("/b", true), 2);
	cr_expect_eq(id_of("/a", false), 1);
	cr_expect_eq(id_of("/ab", true), 3);
	cr_expect_eq(id_of("/b", false), 2);
}

Test(modules, id_has_its_key_until_it_is_forgotten)
{
	size_t sz = 0;

	id_of("/a", true);
	cr_expect_str_eq(modules_key(m, 1, &sz), "/a");
	cr_expect_eq(sz, 2);
	cr_expect_null(modules_key(m, 2, &sz));
	cr_expect_eq(modules_forget(m, 0), 1);
	cr_expect_null(modules_key(m, 1, &sz));
}

Test(modules, least_recently_used_modules_are_forgotten_and_ids_never_reused)
{
	char key[32];
	uint32_t i;
	size_t full;

	for (i = 1; i <= 1000; i++) {
		snprintf(key, sizeof(key), "/tmp/module-%04u", i);
		cr_assert_eq(id_of(key, true), i);
	}
	for (i = 1; i <= 100; i++) {
		snprintf(key, sizeof(key), "/tmp/module-%04u", i);
		id_of(key, false);
	}
	full = modules_memory(m);
	cr_expect_eq(modules_forget(m, full), 0);
	cr_expect_eq(modules_forget(m, full - 1), 1);
	cr_expect_eq(id_of("/tmp/module-0101", true), 1001);
	cr_expect_gt(modules_forget(m, full / 4 * 3), 100);
	cr_expect_leq(modules_memory(m), full / 4 * 3);
	cr_expect_eq(id_of("/tmp/module-0100", false), 100);
	cr_expect_eq(id_of("/tmp/module-0101", false), 1001);
	cr_expect_eq(id_of("/tmp/module-0102", true), 1002);
}

Test(modules, endless_different_names_need_limited_memory)
{
	size_t peak = 0, forgotten = 0;
	char key[64];
	int i;

	for (i = 0; i < 500000; i++) {
		snprintf(key, sizeof(key), "/tmp/made-up-%d", i);
		id_of(key, true);
		if (modules_memory(m) > 1 << 20)
			forgotten += modules_forget(m, 1 << 19);
		if (modules_memory(m) > peak)
			peak = modules_memory(m);
	}
	cr_expect_leq(peak, (1 << 20) + 500000);
	cr_expect_gt(forgotten, 450000);
	cr_expect_eq(id_of("/last", true), 500001);
}
