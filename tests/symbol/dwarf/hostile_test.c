// SPDX-License-Identifier: BSD-2-Clause
/*
 * Expensive files: each would take minutes, or gigabytes, from a reader that trusts its contents.
 *
 * Asserted of each: lookups in slices end; their total cost stays near the budgets; no call takes much longer
 * than its slice; and the valid symbol is found. CPU time is the thread's, so a busy machine makes no
 * difference.
 */
#include <criterion/criterion.h>
#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/symbol/forge.h"
#include "tests/symbol/support.h"

#define FRAMES_MAX 256
#define SLICE_NS 20000000ull
/* Two budgets of 2 s, and the overhead of sanitizers for freeing. */
#define ALL_NS 6000000000ull
#define RSS_KB (600u << 10)
#define MIB (1u << 20)

/* Of one call, above its slice: far below the time of earlier implementations. */
#if defined(__SANITIZE_ADDRESS__)
#define HAVE_ASAN 1
#define CALL_NS 2000000000ull
#else
#define HAVE_ASAN 0
#define CALL_NS 500000000ull
#endif

/* Makes a worker's lookups, and checks each call against its slice. */
struct asked {
	void *bytes;
	size_t size;
	struct symbolizer *sym;
	uint64_t began, longest;
	struct symbolizer_frame frames[FRAMES_MAX];
};

static void seen(struct asked *a, uint64_t before)
{
	uint64_t took = budget_clock_ns() - before;

	if (took > a->longest)
		a->longest = took;
	cr_assert_lt(budget_clock_ns() - a->began, ALL_NS);
}

static int find_name(struct asked *a, uint64_t off)
{
	int ret;

	do {
		uint64_t before = budget_clock_ns();

		symbolizer_slice(a->sym, SLICE_NS);
		ret = symbolizer_name(a->sym, off, a->frames);
		seen(a, before);
	} while (ret == -EAGAIN);
	return ret;
}

static int find_frames(struct asked *a, uint64_t off)
{
	int ret;

	do {
		uint64_t before = budget_clock_ns();

		symbolizer_slice(a->sym, SLICE_NS);
		ret = symbolizer_frames(a->sym, off, a->frames, FRAMES_MAX);
		seen(a, before);
	} while (ret == -EAGAIN);
	return ret;
}

/* The symbol table first, then 64 places in the code. Returns how many had frames. */
static int look_up_all(struct asked *a)
{
	uint64_t i;
	int found = 0;

	cr_assert_eq(find_name(a, FORGE_CODE + 100), 1);
	cr_expect_str_eq(a->frames[0].name, "innocent");
	for (i = 0; i < 64; i++)
		found += find_frames(a, FORGE_CODE + i * (FORGE_CODE_SIZE / 64)) > 0;
	cr_assert_eq(find_name(a, FORGE_CODE + 100), 1);
	return found;
}

static void check_cost(struct asked *a)
{
	struct rusage ru;

	cr_expect_lt(a->longest, CALL_NS);
	cr_expect_leq(symbolizer_dwarf_mem(a->sym), 256u * MIB);
	getrusage(RUSAGE_SELF, &ru);
	if (!HAVE_ASAN)
		cr_expect_lt((unsigned long)ru.ru_maxrss, RSS_KB);
}

static void open_lookup(struct asked *a, const struct symbolizer_cfg *cfg)
{
	cr_assert_eq(symbolizer_open_mem(a->bytes, a->size, cfg, &a->sym), 0);
	a->began = budget_clock_ns();
}

/* Builds the file and opens it; end_asking() frees both. */
static void begin_asking(struct asked *a, struct forge *f, const struct symbolizer_cfg *cfg)
{
	a->bytes = forge_finish(f, &a->size);
	open_lookup(a, cfg);
}

static void end_asking(struct asked *a)
{
	symbolizer_free(a->sym);
	free(a->bytes);
}

/* Builds, looks up and checks; the budget that was exceeded must be @gave_up, or none. */
static int try_file(struct forge *f, const char *gave_up)
{
	struct asked a = { 0 };
	int found;

	begin_asking(&a, f, NULL);
	found = look_up_all(&a);
	check_cost(&a);
	if (gave_up) {
		cr_assert_not_null(symbolizer_gave_up(a.sym));
		cr_expect(strstr(gave_up, symbolizer_gave_up(a.sym)), "%s",
			  symbolizer_gave_up(a.sym));
	} else {
		cr_expect_null(symbolizer_gave_up(a.sym));
	}
	end_asking(&a);
	return found;
}

/* A unit DIE that claims all of the code: abbreviation 1, with children. */
static void put_unit_die(struct buf *abbrev, struct buf *info)
{
	forge_abbrev(abbrev, 1, DW_TAG_compile_unit, true, DW_AT_low_pc, DW_FORM_addr,
		     DW_AT_high_pc, DW_FORM_data8, 0);
	forge_uleb(info, 1);
	forge_num(info, FORGE_CODE, 8);
	forge_num(info, FORGE_CODE_SIZE, 8);
}

static void begin(struct forge *f)
{
	forge_init(f);
	forge_innocent(f);
}

/* The file with this debug information; frees both. */
static void put_debug(struct forge *f, const struct buf *abbrev, const struct buf *info)
{
	*forge_section(f, ".debug_abbrev") = *abbrev;
	*forge_section(f, ".debug_info") = *info;
}

/* Each of 1000 lexical blocks has the next one as child and as sibling: 2^1000 ways to the end. */
Test(hostile, sibling_chains)
{
	struct forge f;
	struct buf abbrev = { 0 }, info = { 0 };
	size_t unit, i;

	begin(&f);
	unit = forge_unit(&info);
	put_unit_die(&abbrev, &info);
	forge_abbrev(&abbrev, 2, DW_TAG_subprogram, true, DW_AT_sibling, DW_FORM_ref4, DW_AT_low_pc,
		     DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8, 0);
	for (i = 0; i < 1000; i++) {
		forge_uleb(&info, 2);
		forge_num(&info, info.len + 20, 4);
		forge_num(&info, FORGE_CODE + i, 8);
		forge_num(&info, FORGE_CODE_SIZE - i, 8);
	}
	forge_unit_end(&info, unit);
	forge_num(&abbrev, 0, 1);
	put_debug(&f, &abbrev, &info);
	cr_expect_gt(try_file(&f, NULL), 0);
}

/* Siblings that refer back, to themselves, and out of the unit. */
Test(hostile, circular_siblings)
{
	const uint32_t wheres[] = { 0, 11, 28, 30, UINT32_MAX };
	struct buf abbrev = { 0 }, info = { 0 };
	struct forge f;
	size_t unit, i;

	begin(&f);
	unit = forge_unit(&info);
	put_unit_die(&abbrev, &info);
	forge_abbrev(&abbrev, 2, DW_TAG_base_type, true, DW_AT_sibling, DW_FORM_ref4, 0);
	for (i = 0; i < 5; i++) {
		forge_uleb(&info, 2);
		forge_num(&info, wheres[i], 4);
	}
	forge_unit_end(&info, unit);
	put_debug(&f, &abbrev, &info);
	cr_expect_eq(try_file(&f, NULL), 0);
}

/* 20,000 functions that all have the same list of 20,000 ranges: 400 million of them. */
Test(hostile, many_functions_with_many_ranges)
{
	struct buf abbrev = { 0 }, info = { 0 }, ranges = { 0 };
	struct forge f;
	size_t unit, i;

	begin(&f);
	unit = forge_unit(&info);
	put_unit_die(&abbrev, &info);
	forge_abbrev(&abbrev, 2, DW_TAG_subprogram, false, DW_AT_ranges, DW_FORM_data1, 0);
	for (i = 0; i < 20000; i++) {
		forge_uleb(&info, 2);
		forge_num(&info, 0, 1);
		forge_num(&ranges, i, 8);
		forge_num(&ranges, FORGE_CODE_SIZE - i, 8);
	}
	forge_num(&ranges, 0, 8);
	forge_num(&ranges, 0, 8);
	forge_unit_end(&info, unit);
	put_debug(&f, &abbrev, &info);
	*forge_section(&f, ".debug_ranges") = ranges;
	cr_expect_eq(try_file(&f, "time memory entries"), 0);
}

/* A function in a function in ..., and as many calls inlined into each other. */
static void try_nesting(unsigned int tag, size_t depth, int expected)
{
	struct buf abbrev = { 0 }, info = { 0 };
	struct asked a = { 0 };
	struct forge f;
	size_t unit, i;

	begin(&f);
	unit = forge_unit(&info);
	put_unit_die(&abbrev, &info);
	forge_abbrev(&abbrev, 2, DW_TAG_subprogram, true, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
		     DW_FORM_data8, DW_AT_name, DW_FORM_string, 0);
	forge_abbrev(&abbrev, 3, tag, true, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
		     DW_FORM_data8, DW_AT_name, DW_FORM_string, 0);
	for (i = 0; i < depth; i++) {
		forge_uleb(&info, i ? 3 : 2);
		forge_num(&info, FORGE_CODE, 8);
		forge_num(&info, FORGE_CODE_SIZE, 8);
		buf_add(&info, "f", 2);
	}
	forge_unit_end(&info, unit);
	put_debug(&f, &abbrev, &info);
	begin_asking(&a, &f, NULL);
	cr_expect_eq(look_up_all(&a), 64);
	cr_expect_eq(find_frames(&a, FORGE_CODE + 1), expected);
	check_cost(&a);
	end_asking(&a);
}

Test(hostile, deeply_nested_entries)
{
	try_nesting(DW_TAG_subprogram, 200000, 1);
	try_nesting(DW_TAG_inlined_subroutine, 200000, 128);
	try_nesting(DW_TAG_lexical_block, 200000, 1);
}

/* Millions of abbreviations, which a thousand units begin to read at different places. */
Test(hostile, millions_of_abbreviations)
{
	struct buf abbrev = { 0 }, info = { 0 };
	struct forge f;
	size_t i, k;

	begin(&f);
	for (i = 0; i < 1000000; i++)
		forge_abbrev(&abbrev, 1000 + i, DW_TAG_base_type, false, 0);
	for (k = 0; k < 1000; k++) {
		size_t unit = forge_unit(&info);
		uint32_t off = k * 12;

		memcpy(info.data + unit + 6, &off, 4);
		forge_uleb(&info, 1);
		forge_unit_end(&info, unit);
	}
	put_debug(&f, &abbrev, &info);
	cr_expect_eq(try_file(&f, "time memory entries"), 0);
}

Test(hostile, units_of_length_0)
{
	struct forge f;

	begin(&f);
	forge_num(forge_section(&f, ".debug_abbrev"), 0, 1);
	forge_zeros(forge_section(&f, ".debug_info"), 16 * MIB);
	cr_expect_eq(try_file(&f, NULL), 0);
}

/* Each lookup may lead to any of 20,000 units without the addresses of their code. */
Test(hostile, units_without_ranges)
{
	struct buf abbrev = { 0 }, info = { 0 };
	struct forge f;
	size_t i;

	begin(&f);
	forge_abbrev(&abbrev, 1, DW_TAG_compile_unit, false, 0);
	for (i = 0; i < 20000; i++) {
		size_t unit = forge_unit(&info);

		forge_uleb(&info, 1);
		forge_unit_end(&info, unit);
	}
	put_debug(&f, &abbrev, &info);
	cr_expect_eq(try_file(&f, NULL), 0);
}

/* References for names from DIE to DIE: in a circle, to itself, far outside; strings likewise. */
Test(hostile, references_and_strings_out_of_bounds)
{
	struct buf abbrev = { 0 }, info = { 0 };
	struct forge f;
	size_t unit, i;

	begin(&f);
	unit = forge_unit(&info);
	put_unit_die(&abbrev, &info);
	forge_abbrev(&abbrev, 2, DW_TAG_subprogram, false, DW_AT_low_pc, DW_FORM_addr,
		     DW_AT_high_pc, DW_FORM_data8, DW_AT_specification, DW_FORM_ref4,
		     DW_AT_linkage_name, DW_FORM_strx, DW_AT_name, DW_FORM_strp, 0);
	for (i = 0; i < 64; i++) {
		size_t at = info.len;

		forge_uleb(&info, 2);
		forge_num(&info, FORGE_CODE + i * (FORGE_CODE_SIZE / 64), 8);
		forge_num(&info, FORGE_CODE_SIZE / 64, 8);
		forge_num(&info, i % 3 == 0 ? at : i % 3 == 1 ? at - 100 : UINT32_MAX, 4);
		forge_uleb(&info, UINT64_MAX >> i % 5);
		forge_num(&info, UINT32_MAX - i, 4);
	}
	/* a form that means another form, and so on */
	forge_abbrev(&abbrev, 3, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_indirect, 0);
	forge_uleb(&info, 3);
	for (i = 0; i < MIB; i++)
		forge_uleb(&info, DW_FORM_indirect);
	forge_unit_end(&info, unit);
	put_debug(&f, &abbrev, &info);
	cr_expect_eq(try_file(&f, NULL), 64);
}

static void put_line_header(struct buf *line, uint64_t file_cnt, size_t names)
{
	size_t i;

	forge_num(line, 0, 4);
	forge_num(line, 5, 2);
	forge_num(line, 8, 1);
	forge_num(line, 0, 1);
	forge_num(line, 0, 4);
	forge_num(line, 1, 1);
	forge_num(line, 1, 1);
	forge_num(line, 1, 1);
	forge_num(line, 0xfd, 1);
	forge_num(line, 10, 1);
	forge_num(line, 10, 1);
	for (i = 1; i < 10; i++)
		forge_num(line, 0, 1);
	forge_num(line, 0, 1);
	forge_uleb(line, 0);
	forge_num(line, 1, 1);
	forge_uleb(line, DW_LNCT_path);
	forge_uleb(line, DW_FORM_string);
	forge_uleb(line, file_cnt);
	for (i = 0; i < names; i++)
		buf_add(line, "f.c", 4);
}

/* Fills in the lengths of a line table whose program begins at `program`. */
static void end_line_header(struct buf *line, size_t program)
{
	uint32_t header = program - 12, all = line->len - 4;

	memcpy(line->data + 8, &header, 4);
	memcpy(line->data, &all, 4);
}

static int try_lines(struct buf *line, const char *gave_up)
{
	struct buf abbrev = { 0 }, info = { 0 };
	struct forge f;
	size_t unit;

	begin(&f);
	unit = forge_unit(&info);
	forge_abbrev(&abbrev, 1, DW_TAG_compile_unit, true, DW_AT_low_pc, DW_FORM_addr,
		     DW_AT_high_pc, DW_FORM_data8, DW_AT_stmt_list, DW_FORM_sec_offset, 0);
	forge_uleb(&info, 1);
	forge_num(&info, FORGE_CODE, 8);
	forge_num(&info, FORGE_CODE_SIZE, 8);
	forge_num(&info, 0, 4);
	forge_unit_end(&info, unit);
	put_debug(&f, &abbrev, &info);
	*forge_section(&f, ".debug_line") = *line;
	return try_file(&f, gave_up);
}

Test(hostile, line_tables_that_claim_more_files_than_they_have)
{
	struct buf line = { 0 };

	put_line_header(&line, UINT64_MAX, 3);
	end_line_header(&line, line.len);
	cr_expect_eq(try_lines(&line, NULL), 0);
}

Test(hostile, line_tables_with_millions_of_files)
{
	struct buf line = { 0 };

	put_line_header(&line, 4000000, 4000000);
	end_line_header(&line, line.len);
	cr_expect_eq(try_lines(&line, NULL), 0);
}

/* Each byte is an instruction that adds a row. */
Test(hostile, line_programs_of_many_rows)
{
	struct buf line = { 0 };
	size_t program, i;

	put_line_header(&line, 1, 1);
	program = line.len;
	for (i = 0; i < 20 * MIB; i++)
		buf_addch(&line, (char)200);
	end_line_header(&line, program);
	try_lines(&line, "time memory entries");
}

static void put_function(struct buf *syms, uint32_t name, uint64_t value, uint64_t size)
{
	const Elf64_Sym sym = {
		.st_name = name,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = 1,
		.st_value = value,
		.st_size = size,
	};

	buf_add(syms, &sym, sizeof(sym));
}

/* The first sections of the file, its symbol table; frees both. */
static void put_symbols(struct forge *f, const struct buf *strings, const struct buf *syms)
{
	*forge_section(f, ".strtab") = *strings;
	*forge_section(f, ".symtab") = *syms;
	forge_last(f)->type = SHT_SYMTAB;
	forge_last(f)->link = 2;
}

/* 100,000 symbols at one address; their names are the ends of one string of 8 MB. */
Test(hostile, long_names_at_one_address)
{
	enum { CNT = 100000, LEN = 8 << 20 };
	struct buf strings = { 0 }, syms = { 0 };
	struct asked a = { 0 };
	struct forge f;
	size_t i;

	forge_init(&f);
	forge_zeros(&strings, 1);
	memset(buf_reserve(&strings, LEN), 'a', LEN);
	strings.len += LEN;
	forge_zeros(&strings, 1);
	for (i = 0; i < CNT; i++)
		put_function(&syms, 1 + i, FORGE_CODE, 100);
	put_symbols(&f, &strings, &syms);
	begin_asking(&a, &f, NULL);
	cr_expect_eq(find_name(&a, FORGE_CODE + 1), 1);
	cr_expect_leq(a.frames[0].name_len, 16384u);
	cr_expect_null(symbolizer_gave_up(a.sym));
	check_cost(&a);
	end_asking(&a);
}

/* More symbols than there is memory for: some are skipped, and the rest are found. */
Test(hostile, millions_of_symbols)
{
	enum { CNT = 3000000 };
	struct buf strings = { 0 }, syms = { 0 };
	struct asked a = { 0 };
	struct forge f;
	size_t i;

	forge_init(&f);
	buf_add(&strings, "\0f", 3);
	for (i = 0; i < CNT; i++)
		put_function(&syms, 1, FORGE_CODE + i * 7919 % FORGE_CODE_SIZE, 1 + i % 100);
	put_symbols(&f, &strings, &syms);
	begin_asking(&a, &f, NULL);
	cr_expect_eq(find_name(&a, FORGE_CODE), 1);
	cr_assert_not_null(symbolizer_gave_up(a.sym));
	cr_expect_eq(strncmp(symbolizer_gave_up(a.sym), "symbol table: ", 14), 0);
	check_cost(&a);
	end_asking(&a);
}

/* A table of millions of relocations, all for the same slot, and stubs that search it. */
Test(hostile, millions_of_relocations)
{
	struct buf rela = { 0 }, plt = { 0 };
	struct forge f;
	size_t i;

	begin(&f);
	for (i = 0; i < 1000000; i++) {
		const Elf64_Rela r = {
			.r_offset = 0x4000,
			.r_info = ELF64_R_INFO(1, R_X86_64_JUMP_SLOT),
		};

		buf_add(&rela, &r, sizeof(r));
	}
	for (i = 0; i < 100000; i++)
		buf_add(&plt, "\xff\x25\0\0\0\0\0\0", 8);
	*forge_section(&f, ".rela.plt") = rela;
	forge_last(&f)->type = SHT_RELA;
	forge_last(&f)->flags = SHF_ALLOC;
	forge_last(&f)->link = 3;
	*forge_section(&f, ".plt") = plt;
	forge_last(&f)->addr = FORGE_CODE + FORGE_CODE_SIZE;
	cr_expect_eq(try_file(&f, NULL), 0);
}

/* A section of zeros, compressed; the caller may claim a wrong size. */
static void put_bomb(struct forge *f, const char *name, size_t real, uint64_t claimed,
		     uint32_t type)
{
	struct buf *out = forge_section(f, name);
	uint8_t *zeros = calloc(1, real);
	size_t room = compressBound(real);
	uLongf n = room;
	Elf64_Chdr ch = { .ch_type = type, .ch_size = claimed, .ch_addralign = 1 };

	forge_last(f)->flags = SHF_COMPRESSED;
	buf_add(out, &ch, sizeof(ch));
	if (type == ELFCOMPRESS_ZLIB)
		cr_assert_eq(compress2((uint8_t *)buf_reserve(out, room), &n, zeros, real, 1),
			     Z_OK);
	else
		n = ZSTD_compress(buf_reserve(out, ZSTD_compressBound(real)),
				  ZSTD_compressBound(real), zeros, real, 1);
	out->len += n;
	free(zeros);
}

static void try_bombs(size_t real, uint64_t claimed, uint32_t type, const char *gave_up)
{
	struct forge f;

	begin(&f);
	put_bomb(&f, ".debug_info", real, claimed, type);
	put_bomb(&f, ".debug_abbrev", real, claimed, type);
	put_bomb(&f, ".debug_str", real, claimed, type);
	put_bomb(&f, ".debug_line", real, claimed, type);
	cr_expect_eq(try_file(&f, gave_up), 0);
}

/* Each section is within the bound, but not all of them together. */
Test(hostile, compressed_sections_that_are_too_large_together)
{
	try_bombs(80 * MIB, 80 * MIB, ELFCOMPRESS_ZLIB, "time memory");
	try_bombs(80 * MIB, 80 * MIB, 2, "time memory");
}

Test(hostile, compressed_sections_with_a_wrong_size)
{
	/* more than they claim: they are truncated, and not used */
	try_bombs(64 * MIB, 1000, ELFCOMPRESS_ZLIB, NULL);
	try_bombs(64 * MIB, 1000, 2, NULL);
	/* less, and far more than there is memory for */
	try_bombs(1000, 900000, ELFCOMPRESS_ZLIB, NULL);
	try_bombs(1000, UINT64_MAX - 5, ELFCOMPRESS_ZLIB, NULL);
	try_bombs(1000, UINT64_MAX - 5, 2, "memory");
	try_bombs(1000, 1ull << 40, 2, "memory");
}

/* The symbol table if there is no better one: 100 MiB of zeros in 15 kB. */
Test(hostile, debugdata_that_decompresses_to_too_much)
{
	enum { REAL = 100 << 20 };
	uint8_t *zeros = calloc(1, REAL), *packed = malloc(1 << 20);
	struct asked a = { 0 };
	size_t n = 0;
	struct forge f;

	cr_assert_eq(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, zeros, REAL, packed, &n,
					     1 << 20),
		     LZMA_OK);
	free(zeros);
	forge_init(&f);
	forge_innocent(&f);
	/* if there is a full table, nothing is decompressed */
	forge_last(&f)->type = SHT_DYNSYM;
	buf_add(forge_section(&f, ".gnu_debugdata"), packed, n);
	free(packed);
	begin_asking(&a, &f, NULL);
	look_up_all(&a);
	check_cost(&a);
	cr_assert_not_null(symbolizer_gave_up(a.sym));
	cr_expect_str_eq(symbolizer_gave_up(a.sym), "symbol table: memory");
	end_asking(&a);
}

#define ALT_ID "\1\2\3\4\5\6\7\10"

static void put_build_id(struct forge *f)
{
	const Elf64_Nhdr nh = { .n_namesz = 4, .n_descsz = 8, .n_type = NT_GNU_BUILD_ID };
	struct buf *note = forge_section(f, ".note.gnu.build-id");

	forge_last(f)->type = SHT_NOTE;
	buf_add(note, &nh, sizeof(nh));
	buf_add(note, "GNU\0" ALT_ID, 12);
}

/* A unit whose function's name is at that offset in the other file's debug information. */
static void put_alt_user(struct forge *f, uint32_t off)
{
	struct buf abbrev = { 0 }, info = { 0 };
	size_t unit = forge_unit(&info);

	put_unit_die(&abbrev, &info);
	forge_abbrev(&abbrev, 2, DW_TAG_subprogram, false, DW_AT_low_pc, DW_FORM_addr,
		     DW_AT_high_pc, DW_FORM_data8, DW_AT_abstract_origin, 0x1f20, 0);
	forge_uleb(&info, 2);
	forge_num(&info, FORGE_CODE, 8);
	forge_num(&info, FORGE_CODE_SIZE, 8);
	forge_num(&info, off, 4);
	forge_unit_end(&info, unit);
	put_debug(f, &abbrev, &info);
}

static int open_alt_file(void *ctx, const struct symbolizer_want *want)
{
	return want->kind == SYMBOLIZER_WANT_ALTLINK ? open(ctx, O_RDONLY) : -ENOENT;
}

/* The dwz file is the file itself: its functions are copies of each other, or of nothing. */
static void try_alt(uint32_t off)
{
	struct symbolizer_cfg cfg = { .open_debug = open_alt_file };
	struct asked a = { 0 };
	char path[128];
	struct forge f;
	FILE *file;

	snprintf(path, sizeof(path), "%s/alt", scratch());
	cfg.open_ctx = path;
	begin(&f);
	put_build_id(&f);
	put_alt_user(&f, off);
	buf_add(forge_section(&f, ".gnu_debugaltlink"), "alt\0" ALT_ID, 12);
	a.bytes = forge_finish(&f, &a.size);
	file = fopen(path, "w");
	cr_assert_not_null(file);
	cr_assert_eq(fwrite(a.bytes, 1, a.size, file), a.size);
	fclose(file);
	open_lookup(&a, &cfg);
	cr_expect_eq(look_up_all(&a), 64);
	check_cost(&a);
	end_asking(&a);
}

Test(hostile, alt_links_to_themselves_and_to_missing_files)
{
	try_alt(28);
	try_alt(0);
	try_alt(UINT32_MAX);
}

static int open_scratch_file(void *ctx, const struct symbolizer_want *want)
{
	return want->kind == SYMBOLIZER_WANT_DEBUGLINK ? open(ctx, O_RDONLY) : -ENOENT;
}

static void put_debuglink(struct forge *f)
{
	buf_add(forge_section(f, ".gnu_debuglink"), "x.debug\0\1\2\3\4", 12);
}

/* A debug file that is found by name only needs a checksum up to its end. */
static void try_debug_file(const char *size, uint64_t cpu_max_ns, const char *gave_up)
{
	struct symbolizer_cfg cfg = { .open_debug = open_scratch_file, .cpu_max_ns = cpu_max_ns };
	struct asked a = { 0 };
	const char *got;
	char path[128];
	struct forge f;

	snprintf(path, sizeof(path), "%s/sparse", scratch());
	cfg.open_ctx = path;
	shell("rm -f %s && printf '\\177ELF\\2\\1\\1' >%s && truncate -s %s %s", path, path, size,
	      path);
	forge_init(&f);
	forge_innocent(&f);
	forge_last(&f)->type = SHT_DYNSYM;
	put_debuglink(&f);
	begin_asking(&a, &f, &cfg);
	look_up_all(&a);
	cr_expect_lt(a.longest, CALL_NS);
	got = symbolizer_gave_up(a.sym);
	cr_expect_str_eq(got ? got : "", gave_up);
	end_asking(&a);
}

Test(hostile, debug_file_of_a_terabyte)
{
	try_debug_file("1T", 0, "");
}

/* As large as allowed: the checksum is computed in slices, up to the budget. */
Test(hostile, debug_file_of_three_gigabytes)
{
	try_debug_file("3G", 200000000, "time");
}
