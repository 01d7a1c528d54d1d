// SPDX-License-Identifier: BSD-2-Clause
/* Programs that map, name and rename without end: the recorder keeps up, and its memory stays bounded. */
/* ALONE: time and memory next to a hostile program */
#include <criterion/criterion.h>
#include <unistd.h>

#include "tests/bpf/fault.h"

enum { LOW_KB = (64 + 96) * 1024 };

TestSuite(fault_maps, .fini = live_cleanup);

/* With the usual cap on memory, or with a lower one, and what the recorder takes in any case. */
static void record_with(const char *kind, bool low)
{
	struct live_proc enemy;
	struct fault f;

	fault_begin(&f);
	live_stimulus(&enemy, "enemy_maps", kind, live_dir(), NULL);
	cr_assert_eq(write(enemy.in, "\n", 1), 1);
	fault_record(&f, 6, low ? "--mem-max" : NULL, "64M", NULL);
	if (low)
		f.mem_max_kb = LOW_KB;
	fault_watch(&f, NULL, NULL);
	fault_kill(&enemy);
	fault_check(&f);
	fault_end(&f);
}

Test(fault_maps, flood_of_mappings_at_falling_addresses)
{
	record_with("flood", false);
}

Test(fault_maps, mappings_with_different_long_paths)
{
	record_with("paths", true);
}

Test(fault_maps, mappings_with_different_names)
{
	record_with("names", true);
}
