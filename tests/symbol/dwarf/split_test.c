// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs whose debug information is split have the frames, for every address of .text, of the same
 * code with all of it in the program, which dwinfo_test.c compares with addr2line.
 */
#include <criterion/criterion.h>
#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/symbol/forge.h"
#include "tests/symbol/support.h"

#define FRAMES_MAX 64

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

/* Frames of each address of .text are equal in both, whose code is the same. */
static void compare(struct opened *whole, struct opened *split, size_t deepest_min)
{
	struct section text = section_of(split->path, ".text");
	struct symbolizer_frame a[FRAMES_MAX], b[FRAMES_MAX];
	size_t equal = 0, deepest = 0, i;
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
		equal += cnt > 0;
		if (cnt > 0 && (size_t)cnt > deepest)
			deepest = cnt;
	}
	cr_expect_gt(equal, text.size / 2);
	cr_expect_geq(deepest, deepest_min);
}

static void compare_programs(void)
{
	struct opened whole, split;

	open_program(&whole, "whole");
	open_program(&split, "split");
	compare(&whole, &split, 6);
	cr_expect_eq(symbolizer_missing(split.sym), 0u);
	cr_expect_null(symbolizer_gave_up(split.sym));
	symbolizer_free(whole.sym);
	symbolizer_free(split.sym);
}

/* Next to the objects, and then in a package without any other file (packer NULL: no tool can make it). */
static void check(const char *flavour, const char *packer)
{
	copy_split(flavour);
	compare_programs();
	if (!packer)
		return;
	shell("cd %s && timeout 60 %s -e split -o split.dwp && rm *.dwo", scratch(), packer);
	compare_programs();
}

Test(split, equals_unsplit_gcc_dwarf_5, .timeout = 150)
{
	check("gcc-5", NULL);
}

Test(split, equals_unsplit_gcc_dwarf_4, .timeout = 150)
{
	check("gcc-4", "dwp");
}

Test(split, equals_unsplit_with_types_in_their_own_sections, .timeout = 150)
{
	check("gcc-5-types", NULL);
	check("gcc-4-types", NULL);
	check("gcc-5-types-gz", NULL);
}

Test(split, equals_unsplit_clang_dwarf_5, .timeout = 150)
{
	check("clang-5", "llvm-dwp");
}

Test(split, equals_unsplit_clang_dwarf_4, .timeout = 150)
{
	check("clang-4", "dwp");
}

/* ---- missing files ----------------------------------------------------------------------------- */

/* How many addresses have the frames of the whole program, and how many a name and a line only. */
struct lacking {
	size_t same, named;
};

static struct lacking compare_lacking(struct opened *whole, struct opened *split)
{
	struct section text = section_of(split->path, ".text");
	struct symbolizer_frame a[FRAMES_MAX], b[FRAMES_MAX], sym;
	struct lacking l = { 0 };
	char name[256];
	size_t i;

	for (i = 0; i < text.size; i++) {
		int cnt = symbolizer_frames(whole->sym, text.off + i, a, FRAMES_MAX), got, known;

		known = symbolizer_name(split->sym, text.off + i, &sym);
		snprintf(name, sizeof(name), "%s", known == 1 ? sym.name : "");
		got = symbolizer_frames(split->sym, text.off + i, b, FRAMES_MAX);
		cr_assert_eq(got > 0, cnt > 0, "%#zx", (size_t)text.addr + i);
		if (!cnt)
			continue;
		if (got == cnt && same_text(a[0].name, b[0].name) && a[0].size == b[0].size)
			l.same++;
		if (got == 1)
			cr_assert_str_eq(b[0].name, name);
		l.named += got == 1 && cnt > 1;
		cr_assert(same_text(a[cnt - 1].file, b[got - 1].file));
		cr_assert_eq(a[cnt - 1].line, b[got - 1].line);
	}
	return l;
}

/* After that command, run in the directory of the .dwo files, one unit is without its file, and no other. */
static void expect_one_missing(const char *command)
{
	struct opened whole, split;
	struct lacking l;

	shell("cd %s && rm -rf *.dwo && cp -r kept/* . && %s", scratch(), command);
	open_program(&whole, "whole");
	open_program(&split, "split");
	l = compare_lacking(&whole, &split);
	cr_expect_eq(symbolizer_missing(split.sym), 1u, "%s", command);
	cr_expect_gt(l.named, 50u, "%s: inlined functions cannot be known", command);
	cr_expect_gt(l.same, 50u, "%s: other units are whole", command);
	cr_expect_null(symbolizer_gave_up(split.sym));
	symbolizer_drop_dwarf(split.sym);
	cr_expect_eq(compare_lacking(&whole, &split).named, l.named);
	cr_expect_eq(symbolizer_missing(split.sym), 1u);
	symbolizer_free(whole.sym);
	symbolizer_free(split.sym);
}

Test(split, lacks_only_the_inlined_functions_of_missing_or_wrong_files, .timeout = 60)
{
	char other[2 * PATH_MAX];

	copy_split("c-5");
	shell("cd %s && mkdir kept && cp *.dwo kept", scratch());
	expect_one_missing("rm split-inlined.dwo");
	expect_one_missing("cp split-numbers.dwo split-inlined.dwo");
	expect_one_missing("rm split-inlined.dwo && ln -s /dev/zero split-inlined.dwo");
	expect_one_missing("rm split-inlined.dwo && mkfifo split-inlined.dwo");
	expect_one_missing("rm split-inlined.dwo && ln -s /proc/kmsg split-inlined.dwo");
	expect_one_missing("rm split-inlined.dwo && mkdir split-inlined.dwo");
	expect_one_missing("truncate -s 5G split-inlined.dwo");
	expect_one_missing("truncate -s 100 split-inlined.dwo");
	snprintf(other, sizeof(other), "cp %s/split-inlined.dwo .", stimulus("split-c-5-O1"));
	expect_one_missing(other);
}

Test(split, finds_the_files_next_to_a_moved_program)
{
	struct opened whole, split;

	copy_split("c-5");
	shell("cd %s && mkdir moved && mv split *.dwo moved", scratch());
	open_program(&whole, "whole");
	open_program(&split, "moved/split");
	compare(&whole, &split, 4);
	cr_expect_eq(symbolizer_missing(split.sym), 0u);
	symbolizer_free(whole.sym);
	symbolizer_free(split.sym);
}

/* The program and its files were moved, and other files are in their place. */
Test(split, continues_after_a_file_of_another_build)
{
	struct opened whole, split;

	copy_split("c-5");
	shell("cd %s && mkdir moved && mv split *.dwo moved && cp moved/split-inlined.dwo split-numbers.dwo && "
	      "cp moved/split-numbers.dwo split-inlined.dwo && echo text >split-main.dwo",
	      scratch());
	open_program(&whole, "whole");
	open_program(&split, "moved/split");
	compare(&whole, &split, 4);
	cr_expect_eq(symbolizer_missing(split.sym), 0u);
	cr_expect_eq(symbolizer_files(split.sym), 3u);
	symbolizer_free(whole.sym);
	symbolizer_free(split.sym);
}

/* As in distributions, with another one next to the program. */
Test(split, finds_the_package_by_build_id)
{
	struct opened whole, split;
	char path[128], root[128];

	copy_split("c-4");
	shell("cd %s && "
	      "timeout 60 dwp -e split -o all.dwp && timeout 60 dwp -o split.dwp split-main.dwo && rm *.dwo && "
	      "id=$(readelf -n split | sed -n 's/.*Build ID: //p') && end=${id#??} && "
	      "mkdir -p root/.build-id/${id%%$end} && mv all.dwp root/.build-id/${id%%$end}/$end.dwp",
	      scratch());
	snprintf(path, sizeof(path), "%s/split", scratch());
	snprintf(root, sizeof(root), "%s/root", scratch());
	open_program(&whole, "whole");
	open_path(&split, path, root, 0);
	compare(&whole, &split, 4);
	cr_expect_eq(symbolizer_missing(split.sym), 0u);
	symbolizer_free(whole.sym);
	symbolizer_free(split.sym);
}

/* ---- slow answers ------------------------------------------------------------------------------- */

struct slow {
	unsigned int asked;
	char name[PATH_MAX];
};

/* Not before the third request, and never for another file in between. */
static int open_slowly(void *ctx, const struct symbolizer_want *want)
{
	struct slow *s = ctx;

	if (want->kind != SYMBOLIZER_WANT_DWO)
		return -ENOENT;
	if (!s->asked)
		snprintf(s->name, sizeof(s->name), "%s", want->name);
	cr_assert_str_eq(s->name, want->name);
	if (s->asked++ < 2)
		return -EAGAIN;
	s->asked = 0;
	return open(want->name, O_RDONLY);
}

/* The caller may request another file while one is on its way. */
Test(split, uses_each_file_for_the_unit_that_requested_it)
{
	struct slow slow = { 0 };
	struct symbolizer_cfg cfg = { .open_debug = open_slowly, .open_ctx = &slow };
	struct symbolizer_frame a[FRAMES_MAX], b[FRAMES_MAX];
	struct opened whole;
	struct symbolizer *sym;
	struct section text;
	size_t i, pauses = 0;
	char path[128];
	int cnt;

	copy_split("c-5");
	open_program(&whole, "whole");
	snprintf(path, sizeof(path), "%s/split", scratch());
	text = section_of(path, ".text");
	cr_assert_eq(symbolizer_open(open(path, O_RDONLY), NULL, 0, &cfg, &sym), 0);
	/* each address once, from both ends alternately, until none must be requested again */
	for (size_t again = 1; again;) {
		again = 0;
		for (i = 0; i < text.size; i++) {
			size_t at = i % 2 ? text.size - 1 - i / 2 : i / 2;

			again += symbolizer_frames(sym, text.off + at, b, FRAMES_MAX) == -EAGAIN;
		}
		pauses += again;
		cr_assert_lt(pauses, 100u);
	}
	cr_expect_geq(pauses, 6u, "two for each file");
	cr_expect_eq(symbolizer_missing(sym), 0u);
	cr_expect_eq(symbolizer_files(sym), 3u);
	for (i = 0; i < text.size; i++) {
		cnt = symbolizer_frames(whole.sym, text.off + i, a, FRAMES_MAX);
		cr_assert_eq(symbolizer_frames(sym, text.off + i, b, FRAMES_MAX), cnt);
	}
	symbolizer_drop_dwarf(sym);
	cr_expect_eq(symbolizer_files(sym), 0u);
	symbolizer_free(sym);
	symbolizer_free(whole.sym);
}

/* ---- malicious files ---------------------------------------------------------------------------- */

/* One byte is changed, in a file that has everything: nothing breaks, and nothing takes long. */
static void try_damaged(const char *file, const struct section *text)
{
	struct symbolizer_frame f[FRAMES_MAX];
	struct opened o;
	char path[128];
	struct stat st;
	uint8_t byte;
	off_t at;
	int fd, k;

	snprintf(path, sizeof(path), "%s/%s", scratch(), file);
	fd = open(path, O_RDWR);
	cr_assert_geq(fd, 0);
	cr_assert_eq(fstat(fd, &st), 0);
	for (k = 0, at = 64; at < st.st_size; at += 1 + st.st_size / 150, k++) {
		uint8_t bad = (uint8_t[]){ 0xff, 0, 0x80, 0x7f, 1 }[k % 5];
		uint64_t before = budget_clock_ns();

		cr_assert_eq(pread(fd, &byte, 1, at), 1);
		cr_assert_eq(pwrite(fd, &bad, 1, at), 1);
		open_program(&o, "split");
		for (uint64_t i = 0; i < text->size; i += 32)
			cr_assert_geq(symbolizer_frames(o.sym, text->off + i, f, FRAMES_MAX), 0);
		symbolizer_free(o.sym);
		cr_assert_lt(budget_clock_ns() - before, 3000000000ull);
		cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
	}
	cr_assert_gt(k, 100);
	close(fd);
}

Test(split, survives_damaged_files, .timeout = 60)
{
	struct section text;
	char path[128];

	copy_split("c-4");
	snprintf(path, sizeof(path), "%s/split", scratch());
	text = section_of(path, ".text");
	try_damaged("split-inlined.dwo", &text);
	shell("cd %s && timeout 60 dwp -e split -o split.dwp", scratch());
	try_damaged("split.dwp", &text);
}

/* Forged programs: units of 16 bytes of code each, numbers from `number` on, whose DIEs are elsewhere. */
static void *forge_program(size_t *size, unsigned int cnt, uint64_t number, uint64_t step)
{
	struct buf abbrev = { 0 }, info = { 0 };
	struct forge file;
	unsigned int i;
	size_t unit;

	forge_init(&file);
	forge_innocent(&file);
	forge_abbrev(&abbrev, 1, DW_TAG_compile_unit, false, DW_AT_low_pc, DW_FORM_addr,
		     DW_AT_high_pc, DW_FORM_data8, DW_AT_GNU_dwo_id, DW_FORM_data8,
		     DW_AT_GNU_dwo_name, DW_FORM_string, 0);
	forge_num(&abbrev, 0, 1);
	for (i = 0; i < cnt; i++) {
		unit = forge_unit(&info);
		forge_uleb(&info, 1);
		forge_num(&info, FORGE_CODE + 16 * i, 8);
		forge_num(&info, 16, 8);
		forge_num(&info, number + i * step, 8);
		buf_add(&info, "x.dwo", 6);
		forge_unit_end(&info, unit);
	}
	*forge_section(&file, ".debug_abbrev") = abbrev;
	*forge_section(&file, ".debug_info") = info;
	return forge_finish(&file, size);
}

/* A .dwo file of this many units with that number. */
static int forge_dwo(unsigned int cnt, uint64_t number)
{
	struct buf abbrev = { 0 }, info = { 0 };
	int fd = memfd_create("dwo", MFD_CLOEXEC);
	struct forge file;
	unsigned int i;
	size_t size, unit;
	uint8_t *bytes;

	forge_init(&file);
	forge_abbrev(&abbrev, 1, DW_TAG_compile_unit, false, DW_AT_GNU_dwo_id, DW_FORM_data8, 0);
	forge_num(&abbrev, 0, 1);
	for (i = 0; i < cnt; i++) {
		unit = forge_unit(&info);
		forge_uleb(&info, 1);
		forge_num(&info, number, 8);
		forge_unit_end(&info, unit);
	}
	*forge_section(&file, ".debug_abbrev.dwo") = abbrev;
	*forge_section(&file, ".debug_info.dwo") = info;
	bytes = forge_finish(&file, &size);
	cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
	free(bytes);
	return fd;
}

struct asked {
	unsigned int cnt;
	int fd; /* the returned file; -1: nothing */
};

static int count_requests(void *ctx, const struct symbolizer_want *want)
{
	struct asked *a = ctx;

	if (want->kind != SYMBOLIZER_WANT_DWO)
		return -ENOENT;
	a->cnt++;
	return a->fd < 0 ? -ENOENT : dup(a->fd);
}

/* 20,000 units, each with its own missing file. */
Test(split, limits_the_number_of_requested_files)
{
	struct asked asked = { .fd = -1 };
	struct symbolizer_cfg cfg = { .open_debug = count_requests, .open_ctx = &asked };
	struct symbolizer_frame f[4];
	struct symbolizer *sym;
	unsigned int i;
	size_t size;
	void *bytes = forge_program(&size, 20000, 0, 1);

	cr_assert_eq(symbolizer_open_mem(bytes, size, &cfg, &sym), 0);
	for (i = 0; i < 20000; i++)
		cr_assert_geq(symbolizer_frames(sym, FORGE_CODE + 16 * i, f, 4), 0);
	cr_expect_eq(asked.cnt, SYMBOLIZER_SPLIT_MAX);
	cr_expect_eq(symbolizer_missing(sym), SYMBOLIZER_SPLIT_MAX + 1u);
	cr_expect_eq(symbolizer_name(sym, FORGE_CODE, f), 1);
	cr_expect_str_eq(f[0].name, "innocent");
	symbolizer_free(sym);
	free(bytes);
}

/* Every further request finds the same wrong file. */
Test(split, limits_the_number_of_searched_directories)
{
	struct asked asked = { .fd = forge_dwo(1, 2) };
	struct symbolizer_cfg cfg = { .open_debug = count_requests, .open_ctx = &asked };
	struct symbolizer_frame f[4];
	struct symbolizer *sym;
	size_t size;
	void *bytes = forge_program(&size, 1, 1, 1);

	cr_assert_eq(symbolizer_open_mem(bytes, size, &cfg, &sym), 0);
	cr_assert_geq(symbolizer_frames(sym, FORGE_CODE, f, 4), 0);
	cr_expect_gt(asked.cnt, 6u);
	cr_expect_lt(asked.cnt, 10u);
	cr_expect_eq(symbolizer_missing(sym), 1u);
	cr_expect_eq(symbolizer_files(sym), 0u);
	symbolizer_free(sym);
	free(bytes);
	close(asked.fd);
}

/* Both units have one number, which the file does not have: one is half read when the other refuses it. */
Test(split, file_refused_by_one_unit_is_still_used_for_another)
{
	struct asked asked = { .fd = forge_dwo(100, 2) };
	struct symbolizer_cfg cfg = { .open_debug = count_requests, .open_ctx = &asked };
	struct symbolizer_frame f[4];
	struct symbolizer *sym;
	unsigned int i;
	size_t size;
	void *bytes = forge_program(&size, 2, 1, 0);
	int again = -EAGAIN;

	cr_assert_eq(symbolizer_open_mem(bytes, size, &cfg, &sym), 0);
	for (i = 0; i < 10000 && !symbolizer_files(sym); i++) {
		symbolizer_slice(sym, 0);
		cr_assert_eq(symbolizer_frames(sym, FORGE_CODE, f, 4), -EAGAIN);
	}
	cr_assert_eq(symbolizer_files(sym), 1u);
	for (i = 0; i < 100000 && again == -EAGAIN; i++) {
		symbolizer_slice(sym, 0);
		again = symbolizer_frames(sym, FORGE_CODE + 16, f, 4);
	}
	cr_assert_geq(again, 0);
	for (again = -EAGAIN; again == -EAGAIN && i < 200000; i++) {
		symbolizer_slice(sym, 0);
		again = symbolizer_frames(sym, FORGE_CODE, f, 4);
	}
	cr_expect_geq(again, 0);
	cr_expect_eq(symbolizer_missing(sym), 2u);
	symbolizer_free(sym);
	free(bytes);
	close(asked.fd);
}
