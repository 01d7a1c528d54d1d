// SPDX-License-Identifier: BSD-2-Clause
/* Kernel modules that are loaded during the recording; the tables are files that the tests write. */
#include "record/symbols/kallsyms_thread.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "prof_events.h"
#include "record/symbols/frames.h"
#include "tests/record/support.h"

#define SYMBOLS "ffffffff81000000 T _stext\nffffffff81000100 T do_work\nffffffff81001000 T _etext\n"
#define XFS_SYMBOL "ffffffffc0000000 t xfs_fn\t[xfs]\n"
#define XFS "xfs 4096 0 - Live 0xffffffffc0000000\n"

enum { IN_XFS = 0x10 };
static const uint64_t xfs = 0xffffffffc0000000, in_image = 0xffffffff81000110;

static struct rig rig;
static struct kallsyms_thread *thread;
static char symbols[64], modules[64];

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	cr_assert_not_null(f);
	fputs(text, f);
	cr_assert_eq(fclose(f), 0);
}

static void setup(void)
{
	snprintf(symbols, sizeof(symbols), "/tmp/d9_renew_symbols_%d", getpid());
	snprintf(modules, sizeof(modules), "/tmp/d9_renew_modules_%d", getpid());
	write_text(symbols, SYMBOLS);
	write_text(modules, "");
	rig_init(&rig);
	thread = kallsyms_thread_new(symbols, modules, NULL);
	frames_set_kallsyms(rig.frames, kallsyms_thread_get(thread));
}

static void teardown(void)
{
	rig_fini(&rig);
	kallsyms_thread_free(thread);
	unlink(symbols);
	unlink(modules);
}

TestSuite(kallsyms_thread, .init = setup, .fini = teardown, .timeout = 60);

/* A check, if it is due, and its result. */
static void check_now(void)
{
	kallsyms_thread_renew(thread, rig.frames);
	kallsyms_thread_get(thread);
	kallsyms_thread_renew(thread, rig.frames);
}

static bool is_known(uint64_t addr)
{
	uint64_t frame = frames_kernel(rig.frames, addr);

	return (frame & ~PROF_FRAME_KERNEL) >> PROF_FRAME_MODULE_SHIFT != 0;
}

Test(kallsyms_thread, module_loaded_during_the_recording_has_symbols)
{
	uint32_t generation;

	cr_expect(is_known(in_image));
	cr_expect_not(is_known(xfs + IN_XFS));
	rig_text(&rig, "");
	write_text(symbols, SYMBOLS XFS_SYMBOL);
	write_text(modules, XFS);
	generation = frames_generation(rig.frames);
	check_now();
	cr_expect_neq(frames_generation(rig.frames), generation, "stacks are looked up again");
	cr_expect(is_known(xfs + IN_XFS));
	cr_expect(is_known(in_image));
	cr_expect_str_eq(rig_text(&rig, "ModuleEvent"),
			 "0 ModuleEvent module_id=2 path=\"[xfs]\" build_id=<> kind=2\n",
			 "and the kernel is the module that it was");
}

Test(kallsyms_thread, tables_are_not_read_while_all_addresses_are_known)
{
	write_text(symbols, SYMBOLS XFS_SYMBOL);
	write_text(modules, XFS);
	cr_expect(is_known(in_image));
	check_now();
	cr_expect_not(is_known(xfs + IN_XFS));
}

/* An address in no module never gets a symbol, and the table is large. */
Test(kallsyms_thread, symbols_are_not_read_again_for_existing_modules)
{
	cr_expect_not(is_known(xfs + IN_XFS));
	write_text(symbols, SYMBOLS XFS_SYMBOL);
	check_now();
	cr_expect_not(is_known(xfs + IN_XFS));
}

Test(kallsyms_thread, tables_are_read_only_once_per_interval)
{
	cr_expect_not(is_known(xfs + IN_XFS));
	check_now();
	cr_expect_not(is_known(xfs + IN_XFS));
	write_text(symbols, SYMBOLS XFS_SYMBOL);
	write_text(modules, XFS);
	check_now();
	cr_expect_not(is_known(xfs + IN_XFS), "not yet");
}

/* Its symbols stay as they were read first. */
Test(kallsyms_thread, unreadable_table_does_not_replace_the_table_before)
{
	cr_expect_not(is_known(xfs + IN_XFS));
	unlink(symbols);
	write_text(modules, XFS);
	support_catch_stderr();
	check_now();
	cr_expect_not_null(strstr(support_stderr(), "cannot load"));
	cr_expect(is_known(in_image));
}
