// SPDX-License-Identifier: BSD-2-Clause
/* Programs that map, name and rename without end: the recorder keeps up, and its memory stays bounded. */
#include <criterion/criterion.h>
#include <unistd.h>

#include "fault.h"

TestSuite(fault_maps, .fini = live_cleanup, .timeout = 60);

static void record_beside(const char *kind)
{
	struct live_proc enemy;
	struct fault f;

	fault_begin(&f);
	live_stimulus(&enemy, "enemy_maps", kind, live_dir(), NULL);
	cr_assert_eq(write(enemy.in, "\n", 1), 1);
	fault_record(&f, 6, NULL);
	fault_watch(&f, NULL, NULL);
	fault_kill(&enemy);
	fault_check(&f);
	fault_end(&f);
}

Test(fault_maps, flood_of_mappings_at_falling_addresses)
{
	record_beside("flood");
}
