// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs whose debug information is split have the frames, for every address of .text, of the same
 * code with all of it in the program, which dwinfo_test.c compares with addr2line.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

#define FRAMES_MAX 64

/* Four units of C and C++ in scratch(): the program NAME, from objects NAME-*.o. */
static void build(const char *name, const char *cc, const char *cxx, const char *flags)
{
	const char *top = getenv("D9_TOP") ? getenv("D9_TOP") : ".";
	char src[PATH_MAX];

	cr_assert_not_null(realpath(top, src));
	/* a cache of compilations may write other paths */
	shell("src=%s/tests/stimuli && export CCACHE_DISABLE=1 && cd %s && "
	      "echo 'int main(void) { return 0; }' >main.c && for unit in inlined numbers; do "
	      "%s -O2 %s -std=gnu11 -Dmain=$unit -c -o %s-$unit.o $src/$unit.c || exit; done && "
	      "%s -O2 %s -std=gnu11 -c -o %s-main.o main.c && "
	      "%s -O2 %s -std=gnu++17 -Dmain=cxx -c -o %s-cxx.o $src/cxx.cpp && "
	      "%s -o %s %s-*.o",
	      src, scratch(), cc, flags, name, cc, flags, name, cxx, flags, name, cxx, name, name);
}

static void open_program(struct opened *o, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", scratch(), name);
	open_path(o, path, NULL, 0);
}

static bool same_text(const char *a, const char *b)
{
	return !a == !b && (!a || !strcmp(a, b));
}

struct compared {
	size_t equal, deepest;
};

/* Frames of each address of .text are equal in both, whose code is the same. */
static struct compared compare(struct opened *whole, struct opened *split)
{
	struct section text = section_of(split->path, ".text");
	struct symbolizer_frame a[FRAMES_MAX], b[FRAMES_MAX];
	struct compared c = { 0 };
	size_t i;
	int k;

	cr_assert_eq(text.off, section_of(whole->path, ".text").off);
	cr_assert_eq(text.size, section_of(whole->path, ".text").size);
	shell("for p in %s %s; do objcopy -O binary -j .text $p $p.text || exit; done; cmp %s.text %s.text",
	      whole->path, split->path, whole->path, split->path);
	for (i = 0; i < text.size; i++) {
		int cnt = symbolizer_frames(whole->sym, text.off + i, a, FRAMES_MAX);

		cr_assert_eq(symbolizer_frames(split->sym, text.off + i, b, FRAMES_MAX), cnt,
			     "%s: %#zx", split->path, (size_t)text.addr + i);
		for (k = 0; k < cnt; k++) {
			cr_assert_str_eq(a[k].name, b[k].name);
			cr_assert(same_text(a[k].file, b[k].file), "%s %s", a[k].file, b[k].file);
			cr_assert_eq(a[k].line, b[k].line);
			cr_assert_eq(a[k].start, b[k].start);
			cr_assert_eq(a[k].size, b[k].size);
		}
		c.equal += cnt > 0;
		if (cnt > 0 && (size_t)cnt > c.deepest)
			c.deepest = cnt;
	}
	cr_expect_gt(c.equal, text.size / 2);
	cr_expect_geq(c.deepest, 6u);
	return c;
}

static void compare_programs(void)
{
	struct opened whole, split;

	open_program(&whole, "whole");
	open_program(&split, "split");
	compare(&whole, &split);
	cr_expect_eq(symbolizer_missing(split.sym), 0u);
	cr_expect_null(symbolizer_gave_up(split.sym));
	symbolizer_free(whole.sym);
	symbolizer_free(split.sym);
}

/*
 * Beside the objects, and then in a package with nothing else left (packer NULL: there is none that can
 * make it).
 */
static void check(const char *cc, const char *cxx, const char *flags, const char *packer)
{
	char split[128];

	snprintf(split, sizeof(split), "%s -gsplit-dwarf", flags);
	build("whole", cc, cxx, flags);
	build("split", cc, cxx, split);
	compare_programs();
	if (!packer)
		return;
	shell("cd %s && timeout 60 %s -e split -o split.dwp && rm *.dwo", scratch(), packer);
	compare_programs();
}

Test(split, equals_what_is_not_split_by_gcc_in_dwarf_5)
{
	check("gcc", "g++", "-gdwarf-5", NULL);
}

Test(split, equals_what_is_not_split_by_gcc_in_dwarf_4)
{
	check("gcc", "g++", "-gdwarf-4", "dwp");
}

Test(split, equals_what_is_not_split_by_clang_in_dwarf_5)
{
	check("clang", "clang++", "-gdwarf-5", "llvm-dwp");
}

Test(split, equals_what_is_not_split_by_clang_in_dwarf_4)
{
	check("clang", "clang++", "-gdwarf-4", "dwp");
}
