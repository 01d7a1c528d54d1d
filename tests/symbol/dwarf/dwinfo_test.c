// SPDX-License-Identifier: BSD-2-Clause
/*
 * Frames from debug information equal the output of addr2line, for addresses all over .text.
 *
 * Three differences are allowed, because addr2line is wrong or answers another question:
 *  - Where there is no debug information it falls back to the symbol table, with a file and no
 *    line; that is what symbolizer_name() is for, and no frames are expected.
 *  - Line rows reach over the padding between functions, and it names the function before.
 *  - Where GCC gives a C++ function no linkage name (it is local), it prints the symbol's name, but
 *    for the first frame that it prints, even when that is an inlined one. The outermost frame has a symbol.
 * clang's DWARF 5 loses frames in binutils 2.40, so that is compared with clang's DWARF 4.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/symbol/support.h"

#define FRAMES_MAX 64
#define LINE_MAX_SZ 65536

struct chain {
	size_t cnt;
	char *name[FRAMES_MAX]; /* innermost first, as addr2line prints them */
	char *file[FRAMES_MAX]; /* "path:line", or "" */
};

static void chain_clear(struct chain *c)
{
	size_t i;

	for (i = 0; i < c->cnt; i++) {
		free(c->name[i]);
		free(c->file[i]);
	}
	c->cnt = 0;
}

/* "a.c:?" and "a.c:0" are both an unknown line; "??:0" an unknown file. */
static char *clean_location(char *s)
{
	char *mark = strstr(s, " (discriminator");
	size_t n;

	if (mark)
		*mark = '\0';
	n = strlen(s);
	if (n && s[n - 1] == '?')
		s[n - 1] = '0';
	return strdup(strncmp(s, "??", 2) ? s : "");
}

/* Whether all of it comes from the symbol table: names of files have no directory there. */
static bool is_symtab_only(const struct chain *c)
{
	size_t i;

	for (i = 0; i < c->cnt; i++)
		if (strchr(c->file[i], '/'))
			return false;
	return true;
}

static bool read_line(FILE *f, char *line)
{
	if (!fgets(line, LINE_MAX_SZ, f))
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

/* Reads the frames of one address; `line` has the "0x..." line that begins it, and then the next one. */
static bool read_chain(FILE *f, char *line, uint64_t *addr, struct chain *c)
{
	if (strncmp(line, "0x", 2))
		return false;
	*addr = strtoull(line, NULL, 16);
	c->cnt = 0;
	while (read_line(f, line)) {
		if (!strncmp(line, "0x", 2))
			return true;
		cr_assert_lt(c->cnt, (size_t)FRAMES_MAX);
		c->name[c->cnt] = strdup(line);
		cr_assert(read_line(f, line));
		c->file[c->cnt++] = clean_location(line);
	}
	line[0] = '\0';
	return true;
}

static void our_chain(struct symbolizer *sym, uint64_t off, struct chain *c)
{
	struct symbolizer_frame frames[FRAMES_MAX];
	size_t i;

	c->cnt = symbolizer_frames(sym, off, frames, FRAMES_MAX);
	for (i = 0; i < c->cnt; i++) {
		const struct symbolizer_frame *f = &frames[c->cnt - 1 - i];

		c->name[i] = strdup(f->name);
		c->file[i] = NULL;
		cr_assert_eq(strlen(f->name), f->name_len);
		if (f->file)
			cr_assert_geq(asprintf(&c->file[i], "%s:%u", f->file, f->line), 0);
		else
			c->file[i] = strdup("");
	}
}

static char *symbol_name(struct symbolizer *sym, uint64_t off)
{
	struct symbolizer_frame f;

	return symbolizer_name(sym, off, &f) == 1 ? strdup(f.name) : NULL;
}

/* A name from the source, without parameters; demangled ones end with them. */
static bool is_plain(const char *name)
{
	size_t len = strlen(name);

	if (!strcmp(name, "operator()"))
		return true;
	return len && name[len - 1] != ')' && name[len - 1] != ']' && !strstr(name, ") const");
}

static bool same_names(const struct chain *ours, const struct chain *theirs, const char *symbol)
{
	size_t last = ours->cnt - 1, i;

	for (i = 0; i < ours->cnt; i++) {
		if (!strcmp(ours->name[i], theirs->name[i]))
			continue;
		if (i == last && symbol && !strcmp(ours->name[i], symbol) &&
		    is_plain(theirs->name[i]))
			continue;
		/* it was inlined into itself, and our result has the full name for both */
		if (symbol && !strcmp(ours->name[i], symbol) && strstr(symbol, theirs->name[i]) &&
		    is_plain(theirs->name[i]))
			continue;
		if (i == 0 && symbol && !strcmp(theirs->name[i], symbol) && is_plain(ours->name[i]))
			continue;
		return false;
	}
	return true;
}

static bool same_files(const struct chain *ours, const struct chain *theirs)
{
	size_t i;

	for (i = 0; i < ours->cnt; i++)
		if (strcmp(ours->file[i], theirs->file[i]))
			return false;
	return true;
}

static void print_chain(const char *who, const struct chain *c)
{
	size_t i;

	for (i = 0; i < c->cnt; i++)
		fprintf(stderr, "  %s: %s at %s\n", who, c->name[i], c->file[i]);
}

struct tally {
	size_t equal, none, padding, different, deepest;
};

static void compare(struct symbolizer *sym, uint64_t addr, uint64_t off, const struct chain *theirs,
		    struct tally *t)
{
	struct chain ours = { 0 };
	char *symbol = symbol_name(sym, off);

	our_chain(sym, off, &ours);
	if (is_symtab_only(theirs) && is_symtab_only(&ours)) {
		t->none++;
	} else if (!ours.cnt && !symbol && theirs->cnt == 1) {
		t->padding++;
	} else if (ours.cnt == theirs->cnt && same_files(&ours, theirs) &&
		   same_names(&ours, theirs, symbol)) {
		t->equal++;
		if (ours.cnt > t->deepest)
			t->deepest = ours.cnt;
	} else if (t->different++ < 3) {
		fprintf(stderr, "%#" PRIx64 "\n", addr);
		print_chain("ours", &ours);
		print_chain("addr2line", theirs);
	}
	free(symbol);
	chain_clear(&ours);
}

static void compare_with_addr2line(const char *name, unsigned int step, struct tally *t)
{
	struct chain theirs = { 0 };
	struct section text;
	struct opened o;
	char cmd[2 * PATH_MAX], *line = malloc(LINE_MAX_SZ);
	uint64_t addr, i;
	FILE *f;

	open_path(&o, stimulus(name), NULL, 0);
	text = section_of(o.path, ".text");
	snprintf(cmd, sizeof(cmd), "%s/addresses", scratch());
	f = fopen(cmd, "w");
	cr_assert_not_null(f);
	for (i = 0; i < text.size; i += step)
		fprintf(f, "%#" PRIx64 "\n", text.addr + i);
	fclose(f);
	snprintf(cmd, sizeof(cmd), "addr2line -a -i -f -C -e %s <%s/addresses", o.path, scratch());
	f = popen(cmd, "r");
	cr_assert_not_null(f);
	cr_assert(read_line(f, line), "addr2line printed nothing");
	while (read_chain(f, line, &addr, &theirs)) {
		compare(o.sym, addr, addr - text.addr + text.off, &theirs, t);
		chain_clear(&theirs);
	}
	cr_assert_eq(pclose(f), 0);
	cr_assert_eq(t->different, 0, "%s: %zu of %" PRIu64 " differ", name, t->different,
		     text.size / step);
	symbolizer_free(o.sym);
	free(line);
}

/* At least half of the addresses must be comparable, down to that depth. */
static void check(const char *name, unsigned int step, size_t depth)
{
	struct tally t = { 0 };

	compare_with_addr2line(name, step, &t);
	cr_expect_geq(t.equal, t.none + t.padding, "%s: only %zu compared", name, t.equal);
	cr_expect_geq(t.deepest, depth, "%s: no chain of %zu frames", name, depth);
}

Test(dwinfo, equals_addr2line_for_inlined_c)
{
	check("c-gcc", 1, 4);
}

/* GCC makes walk.constprop.0 of walk(); nm prints "ADDRESS TYPE NAME". */
Test(dwinfo, clone_has_the_name_of_its_function)
{
	struct symbolizer_frame f[FRAMES_MAX];
	struct section text;
	struct opened o;
	char cmd[2 * PATH_MAX];
	uint64_t addr, off;
	size_t cnt;
	FILE *nm;

	open_path(&o, stimulus("c-gcc"), NULL, 0);
	text = section_of(o.path, ".text");
	snprintf(cmd, sizeof(cmd), "nm %s | grep ' walk.'", o.path);
	nm = popen(cmd, "r");
	cr_assert_eq(fscanf(nm, "%" SCNx64, &addr), 1);
	pclose(nm);
	off = addr - text.addr + text.off;
	cnt = symbolizer_frames(o.sym, off, f, FRAMES_MAX);
	cr_assert_eq(cnt, 1);
	cr_expect_str_eq(f[0].name, "walk");
	cr_assert_eq(symbolizer_name(o.sym, off, f), 1);
	cr_expect_str_eq(f[0].name, "walk.constprop.0", "which is the linker's");
	symbolizer_free(o.sym);
}

Test(dwinfo, equals_addr2line_for_dwarf_4)
{
	check("c-dwarf4", 1, 4);
}

Test(dwinfo, equals_addr2line_for_a_program_at_a_fixed_address)
{
	check("c-nopie", 1, 4);
}

Test(dwinfo, equals_addr2line_for_compressed_sections)
{
	check("c-gz", 1, 4);
}

/* With a library that cannot decompress these there would be nothing to compare. */
Test(dwinfo, equals_addr2line_for_sections_that_zstd_compressed)
{
	shell("readelf -tW %s | grep -A3 -F ' .debug_info' | grep -q ZSTD", stimulus("c-zstd"));
	check("c-zstd", 1, 4);
}

Test(dwinfo, equals_addr2line_for_clang_without_aranges)
{
	check("c-clang4", 1, 4);
}

Test(dwinfo, equals_addr2line_through_a_debuglink)
{
	check("c-link", 1, 4);
}

Test(dwinfo, equals_addr2line_for_cxx)
{
	check("cxx-gcc", 1, 8);
}

Test(dwinfo, equals_addr2line_for_cxx_by_clang)
{
	check("cxx-clang4", 1, 8);
}

Test(dwinfo, equals_addr2line_for_rust)
{
	check("rust", 8, 8);
}

/* The same code with debug information in another format. */
static void check_same(const char *known, const char *other)
{
	struct opened of_known, of_other;
	struct section text;
	size_t equal = 0, i;

	open_path(&of_known, stimulus(known), NULL, 0);
	open_path(&of_other, stimulus(other), NULL, 0);
	shell("objcopy -O binary -j .text %s %s/known", of_known.path, scratch());
	shell("objcopy -O binary -j .text %s %s/other && cmp %s/known %s/other", of_other.path,
	      scratch(), scratch(), scratch());
	text = section_of(of_other.path, ".text");
	cr_assert_eq(text.off, section_of(of_known.path, ".text").off);
	for (i = 0; i < text.size; i++) {
		struct chain a = { 0 }, b = { 0 };

		our_chain(of_known.sym, text.off + i, &a);
		our_chain(of_other.sym, text.off + i, &b);
		cr_assert_eq(a.cnt, b.cnt);
		cr_assert(!a.cnt || (same_files(&a, &b) && same_names(&a, &b, NULL)));
		equal += a.cnt > 0;
		chain_clear(&a);
		chain_clear(&b);
	}
	cr_assert_gt(equal, text.size / 2);
	symbolizer_free(of_known.sym);
	symbolizer_free(of_other.sym);
}

Test(dwinfo, gives_the_same_frames_for_dwarf_5_by_clang)
{
	check_same("c-clang4", "c-clang");
}

/* addr2line knows its version 4 only. */
Test(dwinfo, gives_the_same_frames_for_64_bit_dwarf)
{
	check_same("c-gcc", "c-dwarf64");
}

Test(dwinfo, omits_the_innermost_frames_if_there_is_no_room)
{
	struct symbolizer_frame all[FRAMES_MAX], two[2];
	char names[2][256], files[2][PATH_MAX];
	struct section text;
	struct opened o;
	size_t i, cnt = 0, k;

	open_path(&o, stimulus("c-gcc"), NULL, 0);
	text = section_of(o.path, ".text");
	for (i = 0; i < text.size && cnt < 4; i++)
		cnt = symbolizer_frames(o.sym, text.off + i, all, FRAMES_MAX);
	cr_assert_geq(cnt, 4u);
	for (k = 0; k < 2; k++) {
		snprintf(names[k], sizeof(names[k]), "%s", all[k].name);
		snprintf(files[k], sizeof(files[k]), "%s:%u", all[k].file, all[k].line);
	}
	cr_assert_eq(symbolizer_frames(o.sym, text.off + i - 1, two, 2), 2u);
	for (k = 0; k < 2; k++) {
		char file[PATH_MAX];

		snprintf(file, sizeof(file), "%s:%u", two[k].file, two[k].line);
		cr_assert_str_eq(two[k].name, names[k]);
		cr_assert_str_eq(file, files[k]);
	}
	symbolizer_free(o.sym);
}
