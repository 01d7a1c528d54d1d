// SPDX-License-Identifier: BSD-2-Clause
/* Programs whose symbols are expensive to read lose only their own symbols. */
/* ALONE: time and memory next to a hostile program */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bpf/fault.h"

TestSuite(fault_elf, .fini = live_cleanup);

static void record_with(const char *kind)
{
	struct live_proc enemy;
	struct fault f;

	fault_begin(&f);
	live_stimulus(&enemy, "enemy_elf", kind, live_dir(), NULL);
	fault_record_enemy(&f, &enemy);
}

Test(fault_elf, debug_information_with_circular_references)
{
	record_with("siblings");
}

Test(fault_elf, debug_information_with_circular_references_and_ranges)
{
	record_with("ranges");
}

Test(fault_elf, hundred_thousand_long_names_for_one_address)
{
	record_with("names");
}

Test(fault_elf, debug_link_to_a_file_of_a_terabyte)
{
	record_with("debuglink");
}

Test(fault_elf, debug_information_that_decompresses_to_gigabytes)
{
	record_with("zlib");
}

Test(fault_elf, symbols_that_decompress_to_a_large_size)
{
	record_with("xz");
}
