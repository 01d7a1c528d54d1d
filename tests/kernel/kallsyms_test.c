// SPDX-License-Identifier: BSD-2-Clause
/* Names of kernel text from small tables with known contents, and from hostile ones. */
#include "kernel/kallsyms.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char text[] = "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000100 W weak_alpha\n"
			   "ffffffff81000100 t __alpha\n"
			   "ffffffff81000100 T alpha\n"
			   "ffffffff81000200 D some_data\n"
			   "ffffffff81000300 t beta\n"
			   "ffffffff81001000 T _etext\n"
			   "ffffffff81800000 t init_code\n"
			   "ffffffffc0100010 t xfs_b\t[xfs]\n"
			   "ffffffffc0100000 t xfs_a\t[xfs]\n"
			   "ffffffffc0100800 d xfs_data\t[xfs]\n"
			   "ffffffffc0200000 t ext4_a\t[ext4]\n"
			   "ffffffffc0300000 t bpf_prog_1111_a\t[bpf]\n"
			   "ffffffffc0300080 t bpf_prog_2222_b\t[bpf]\n";
static const char modules[] = "xfs 2097152 1 - Live 0xffffffffc0100000\n"
			      "ext4 4096 1 - Live 0xffffffffc0200000\n"
			      "broken\n"
			      "absent 4096 1 - Live 0xffffffffc0900000\n";

static struct kallsyms *load(void)
{
	struct kallsyms *k = NULL;

	cr_assert_eq(kallsyms_parse(text, sizeof(text) - 1, modules, sizeof(modules) - 1, &k), 0);
	return k;
}

static const struct {
	uint64_t addr;
	const char *name, *module; /* NULL: no symbol */
	uint64_t start, size;
	enum kallsyms_kind kind;
} finds[] = {
	{ .addr = 0 },
	{ .addr = 0xffffffff80ffffff },
	{ 0xffffffff81000000, "_stext", "[kernel.kallsyms]", 0xffffffff81000000, 0x100,
	  KALLSYMS_KERNEL },
	{ 0xffffffff810000ff, "_stext", "[kernel.kallsyms]", 0xffffffff81000000, 0x100,
	  KALLSYMS_KERNEL },
	{ 0xffffffff81000100, "alpha", "[kernel.kallsyms]", 0xffffffff81000100, 0x200,
	  KALLSYMS_KERNEL },
	{ 0xffffffff81000fff, "beta", "[kernel.kallsyms]", 0xffffffff81000300, 0xd00,
	  KALLSYMS_KERNEL },
	{ .addr = 0xffffffff81001000 },
	{ .addr = 0xffffffff81800000 },
	{ 0xffffffffc0100005, "xfs_a", "[xfs]", 0xffffffffc0100000, 0x10, KALLSYMS_MODULE },
	/* xfs claims 2 MiB, but ext4 starts before that. */
	{ 0xffffffffc01fffff, "xfs_b", "[xfs]", 0xffffffffc0100010, 0xffff0, KALLSYMS_MODULE },
	{ 0xffffffffc0200fff, "ext4_a", "[ext4]", 0xffffffffc0200000, 0x1000, KALLSYMS_MODULE },
	{ .addr = 0xffffffffc0201000 },
	{ 0xffffffffc030007f, "bpf_prog_1111_a", "bpf_prog_1111_a", 0xffffffffc0300000, 0x80,
	  KALLSYMS_BPF },
	{ 0xffffffffc0300080, "bpf_prog_2222_b", "bpf_prog_2222_b", 0xffffffffc0300080, 0x40000,
	  KALLSYMS_BPF },
	{ .addr = 0xffffffffc0340080 },
	{ .addr = UINT64_MAX },
};

Test(kallsyms, finds_a_symbol_and_its_bounds)
{
	struct kallsyms *k = load();
	struct kallsyms_sym sym;

	for (size_t i = 0; i < sizeof(finds) / sizeof(finds[0]); i++) {
		int err = kallsyms_find(k, finds[i].addr, &sym);

		cr_expect_eq(err, finds[i].name ? 0 : -ENOENT, "case %zu", i);
		if (err || !finds[i].name)
			continue;
		cr_expect_str_eq(sym.name, finds[i].name, "case %zu", i);
		cr_expect_str_eq(sym.module, finds[i].module, "case %zu", i);
		cr_expect_eq(sym.start, finds[i].start, "case %zu", i);
		cr_expect_eq(sym.size, finds[i].size, "case %zu", i);
		cr_expect_eq(sym.kind, finds[i].kind, "case %zu", i);
		cr_expect_str_eq(kallsyms_module_find(k, finds[i].addr)->name, finds[i].module);
	}
	kallsyms_free(k);
}

Test(kallsyms, modules_contain_their_own_symbols_only)
{
	struct kallsyms *k = load();
	const struct kallsyms_module *m;

	for (size_t i = 0; i < sizeof(finds) / sizeof(finds[0]); i++) {
		m = kallsyms_module_find(k, finds[i].addr);
		if (!finds[i].name)
			continue;
		cr_expect_leq(m->start, finds[i].start, "case %zu", i);
		cr_expect_gt(m->end, finds[i].addr, "case %zu", i);
		cr_expect_eq(kallsyms_module_find(k, m->start), m, "case %zu", i);
		cr_expect_eq(kallsyms_module_find(k, m->end - 1), m, "case %zu", i);
		cr_expect_neq(kallsyms_module_find(k, m->end), m, "case %zu", i);
		cr_expect_neq(kallsyms_module_find(k, m->start - 1), m, "case %zu", i);
	}
	cr_assert_null(kallsyms_module_find(k, 0xffffffffc0900000));
	kallsyms_free(k);
	kallsyms_free(NULL);
}

Test(kallsyms, bounds_come_from_symbols_without_a_module_list)
{
	struct kallsyms *k = NULL;
	const struct kallsyms_module *m;

	cr_assert_eq(kallsyms_parse(text, sizeof(text) - 1, NULL, 0, &k), 0);
	m = kallsyms_module_find(k, 0xffffffffc0100000);
	cr_assert_str_eq(m->name, "[xfs]");
	cr_assert_eq(m->start, 0xffffffffc0100000);
	cr_assert_eq(m->end, 0xffffffffc0101010);
	kallsyms_free(k);
}

Test(kallsyms, image_is_the_kernel_itself)
{
	struct kallsyms *k = load();
	const struct kallsyms_module *m = kallsyms_image(k);

	cr_assert_not_null(m);
	cr_expect_eq(m->kind, KALLSYMS_KERNEL);
	cr_expect_eq(kallsyms_module_find(k, m->start), m);
	kallsyms_free(k);
}

Test(kallsyms, zeroed_addresses_mean_a_missing_permission)
{
	static const char zeros[] = "0000000000000000 T _stext\n0000000000000000 t x\n";
	struct kallsyms *k = NULL;

	cr_assert_eq(kallsyms_parse(zeros, sizeof(zeros) - 1, NULL, 0, &k), -EPERM);
	cr_assert_null(k);
}

Test(kallsyms, remedy_is_printed, .init = cr_redirect_stderr)
{
	char path[] = "/tmp/d9_kallsyms_XXXXXX", want[256];
	static const char zeros[] = "0000000000000000 T _stext\n";
	struct kallsyms *k = NULL;
	int fd = mkstemp(path);

	cr_assert_eq(write(fd, zeros, sizeof(zeros) - 1), sizeof(zeros) - 1);
	close(fd);
	cr_assert_eq(kallsyms_load(path, NULL, &k), -EPERM);
	unlink(path);
	snprintf(want, sizeof(want),
		 "dial9-prof: %s hides the kernel's addresses: run with sudo or CAP_SYSLOG, "
		 "with /proc/sys/kernel/kptr_restrict at 0 or 1\n",
		 path);
	cr_assert_stderr_eq_str(want);
}

Test(kallsyms, text_that_is_not_a_symbol_table_is_refused)
{
	static const char *const texts[] = { "",
					     "\n\n",
					     "hello\n",
					     "ffff\n",
					     "ffff t\n",
					     "ffff t \n",
					     "ffffffff81000000 D only_data\n",
					     " t x\n" };
	struct kallsyms *k = NULL;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		cr_expect_eq(kallsyms_parse(texts[i], strlen(texts[i]), NULL, 0, &k), -ENODATA,
			     "'%s'", texts[i]);
}

Test(kallsyms, addresses_at_the_very_end_do_not_wrap)
{
	static const char high[] = "ffffffffffffffff t last\n"
				   "fffffffffffffff0 t mod_a\t[m]\n"
				   "ffffffffffffff00 t bpf_x\t[bpf]\n";
	struct kallsyms_sym sym;
	struct kallsyms *k = NULL;

	cr_assert_eq(kallsyms_parse(high, sizeof(high) - 1, NULL, 0, &k), 0);
	cr_assert_eq(kallsyms_find(k, 0xffffffffffffff08, &sym), 0);
	cr_assert_str_eq(sym.name, "bpf_x");
	cr_assert_eq(sym.size, 0xf0);
	/* Inside the image's bounds, but a symbol of a module that ends before it. */
	cr_assert_eq(kallsyms_find(k, 0xfffffffffffffff8, &sym), -ENOENT);
	kallsyms_free(k);
}

static struct kallsyms *parse(const char *symbols, const char *list)
{
	struct kallsyms *k = NULL;

	cr_assert_eq(kallsyms_parse(symbols, strlen(symbols), list, list ? strlen(list) : 0, &k),
		     0);
	return k;
}

/* The name for an address, NULL if it has none; valid while k exists. */
static const char *name_at(const struct kallsyms *k, uint64_t addr)
{
	struct kallsyms_sym sym;

	return kallsyms_find(k, addr, &sym) ? NULL : sym.name;
}

Test(kallsyms, image_is_between_its_own_start_and_end_symbols)
{
	struct kallsyms *k = parse("ffffffff80000000 T before\n"
				   "ffffffff81000000 T _stext\n"
				   "ffffffff81000800 T middle\n"
				   "ffffffff81000900 T _etext\n"
				   "ffffffff81000a00 T _sdata\n"
				   "ffffffffc0000000 t _stext\t[xfs]\n"
				   "ffffffffc0000100 t _etext\t[xfs]\n"
				   "ffffffffc0000200 t behind\t[xfs]\n",
				   NULL);
	const struct kallsyms_module *m = kallsyms_module_find(k, 0xffffffff81000801);

	cr_assert_str_eq(m->name, "[kernel.kallsyms]");
	cr_expect_eq(m->start, 0xffffffff81000000);
	cr_expect_eq(m->end, 0xffffffff81000900);
	cr_expect_null(name_at(k, 0xffffffff80000000));
	cr_expect_null(name_at(k, 0xffffffff81000a00));
	cr_expect_str_eq(name_at(k, 0xffffffffc0000000), "_stext");
	cr_expect_str_eq(name_at(k, 0xffffffffc0000201), "behind");
	kallsyms_free(k);
}

Test(kallsyms, boot_code_has_names_and_no_module)
{
	struct kallsyms *k = parse("ffffffff81000000 T _stext\n"
				   "ffffffff81000900 T _etext\n"
				   "ffffffff83000000 T _sinittext\n"
				   "ffffffff83000010 t start_kernel\n"
				   "ffffffff83000100 T _einittext\n"
				   "ffffffff83000200 t exit_code\n",
				   NULL);
	struct kallsyms_sym sym = { 0 };

	cr_assert_eq(kallsyms_find(k, 0xffffffff83000042, &sym), 0);
	cr_expect_str_eq(sym.name, "start_kernel");
	cr_expect_eq(sym.start, 0xffffffff83000010);
	cr_expect_eq(sym.size, 0xf0);
	cr_expect_eq(sym.kind, KALLSYMS_KERNEL);
	cr_expect_null(kallsyms_module_find(k, 0xffffffff83000042));
	cr_expect_null(name_at(k, 0xffffffff82000000));
	cr_expect_null(name_at(k, 0xffffffff83000100));
	cr_expect_null(name_at(k, 0xffffffff83000200));
	kallsyms_free(k);
}

Test(kallsyms, image_without_an_end_symbol_ends_a_page_after_its_last_symbol)
{
	struct kallsyms *k = parse("ffffffff81000900 T last\n"
				   "ffffffff81000010 T first\n",
				   NULL);

	cr_expect_null(name_at(k, 0xffffffff8100000f));
	cr_expect_str_eq(name_at(k, 0xffffffff81000010), "first");
	cr_expect_str_eq(name_at(k, 0xffffffff810018ff), "last");
	cr_expect_null(name_at(k, 0xffffffff81001900));
	kallsyms_free(k);
}

/* Of two neighbours in this list the left one is preferred, in either order. */
Test(kallsyms, global_and_plain_alias_is_preferred)
{
	static const char *const by_rank[] = {
		"T a",	 "T _b",       "T ______c", "T _______d", "W e",       "W _______f", "t g",
		"t __h", "t _______i", "w j",	    "w _k",	  "w ______l", "w _______m"
	};
	char both[128];

	for (size_t i = 0; i + 1 < sizeof(by_rank) / sizeof(by_rank[0]); i++) {
		for (int swap = 0; swap < 2; swap++) {
			struct kallsyms *k;

			snprintf(both, sizeof(both), "1000 %s\n1000 %s\n", by_rank[i + swap],
				 by_rank[i + !swap]);
			k = parse(both, NULL);
			cr_expect_str_eq(name_at(k, 0x1000), by_rank[i] + 2, "%s", both);
			kallsyms_free(k);
		}
	}
}

Test(kallsyms, first_of_equal_aliases_is_preferred)
{
	struct kallsyms *k = parse("1000 T one\n2000 t gap\n1000 T two\n1000 T three\n", NULL);
	struct kallsyms_sym sym;

	cr_expect_str_eq(name_at(k, 0x1fff), "one");
	cr_assert_eq(kallsyms_find(k, 0x1000, &sym), 0);
	cr_expect_eq(sym.size, 0x1000);
	kallsyms_free(k);
}

Test(kallsyms, every_hexadecimal_digit_is_read)
{
	struct kallsyms *k = parse("0123456789abcdef T up\nfedcba9876543210 T down\n", NULL);
	struct kallsyms_sym sym;

	cr_assert_eq(kallsyms_find(k, 0x0123456789abcdef, &sym), 0);
	cr_expect_eq(sym.start, 0x0123456789abcdef);
	cr_assert_eq(kallsyms_find(k, 0xfedcba9876543210, &sym), 0);
	cr_expect_eq(sym.start, 0xfedcba9876543210);
	kallsyms_free(k);
}

static uint64_t end_of(const struct kallsyms *k, uint64_t addr)
{
	const struct kallsyms_module *m = kallsyms_module_find(k, addr);

	return m ? m->end : 0;
}

/* The module's two symbols are at 0x100010 and 0x100200: its other properties are in the list. */
Test(kallsyms, malformed_lines_of_the_module_list_are_ignored)
{
	static const struct {
		const char *list;
		uint64_t end; /* 0x101200: from the symbols alone */
	} cases[] = {
		{ "m 12288 0 - Live 0x0000000000100000\n", 0x103000 },
		{ "m 12288 0 - Live 0x100000", 0x103000 },
		{ "m 12288 2 a,b, Live 0x100000 (OE)\n", 0x103000 },
		{ "other 9 0 - Live 0x9000\nm 12289 0 - Live 0x100000\n", 0x103001 },
		{ "m 0 0 - Live 0x100000\n", 0x101200 },
		{ "m 12288 0 - Live 0x0\n", 0x101200 },
		{ "m 12288 0 - Live 0x\n", 0x101200 },
		{ "m 12288 0 - Live 100000\n", 0x101200 },
		{ "m 12288 0 - Live\n", 0x101200 },
		{ "m 12x88 0 - Live 0x100000\n", 0x101200 },
		{ "m -1 0 - Live 0x100000\n", 0x101200 },
		{ "m / 0 - Live 0x100000\n", 0x101200 },
		{ "m : 0 - Live 0x100000\n", 0x101200 },
		{ "m 4096 0 - Live 0xfffffffffffff000\n", 0x101200 },
		{ "mm 12288 0 - Live 0x100000\n", 0x101200 },
		{ "", 0x101200 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kallsyms *k = parse("100010 t x\t[m]\n100200 t y\t[m]\n", cases[i].list);

		cr_expect_eq(end_of(k, 0x100200), cases[i].end, "%s", cases[i].list);
		cr_expect_eq(kallsyms_module_find(k, 0x100200)->start, 0x100000);
		kallsyms_free(k);
	}
}

Test(kallsyms, symbol_before_its_modules_code_names_nothing)
{
	struct kallsyms *k =
		parse("0ff000 t early\t[m]\n100200 t y\t[m]\n", "m 4096 0 - Live 0x100000\n");

	cr_expect_null(name_at(k, 0x0ff000));
	cr_expect_null(name_at(k, 0x100000));
	cr_expect_str_eq(name_at(k, 0x100200), "y");
	kallsyms_free(k);
}

Test(kallsyms, module_is_the_text_in_brackets_at_the_end)
{
	struct kallsyms *k = parse("1000 T _stext\n1100 t a\t[m\n1200 t b\tm]\n1300 t c\t[]\n"
				   "1400 t d\t]\n2000 T _etext\n9000 t e\t[m]\nb100 t f\t[bpx]\n",
				   NULL);
	static const uint64_t of_kernel[] = { 0x1100, 0x1200, 0x1300, 0x1400 };

	for (size_t i = 0; i < 4; i++)
		cr_expect_str_eq(kallsyms_module_find(k, of_kernel[i])->name, "[kernel.kallsyms]");
	cr_expect_str_eq(name_at(k, 0x1400), "d");
	cr_expect_str_eq(kallsyms_module_find(k, 0x9000)->name, "[m]");
	cr_expect_eq(kallsyms_module_find(k, 0xb100)->kind, KALLSYMS_MODULE);
	kallsyms_free(k);
}

Test(kallsyms, unreadable_table_is_reported, .init = cr_redirect_stderr)
{
	struct kallsyms *k = NULL;

	cr_expect_eq(kallsyms_load("/no/such/file", NULL, &k), -ENOENT);
	cr_expect_eq(kallsyms_load("/proc", NULL, &k), -EISDIR);
	cr_expect_null(k);
	fflush(stderr);
	cr_assert_stderr_eq_str("dial9-prof: cannot load /no/such/file: No such file or directory\n"
				"dial9-prof: cannot load /proc: Is a directory\n");
}

static void write_file(char *path, const char *bytes)
{
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, bytes, strlen(bytes)), (ssize_t)strlen(bytes));
	close(fd);
}

Test(kallsyms, files_are_parsed_like_their_text, .init = cr_redirect_stderr)
{
	char symbols[] = "/tmp/d9_kallsyms_XXXXXX", list[] = "/tmp/d9_modules_XXXXXX";
	struct kallsyms *k = NULL;

	write_file(symbols, text);
	write_file(list, modules);
	cr_assert_eq(kallsyms_load(symbols, list, &k), 0);
	cr_expect_eq(end_of(k, 0xffffffffc0200000), 0xffffffffc0201000);
	cr_expect_eq(end_of(k, 0xffffffffc0100000), 0xffffffffc0200000);
	kallsyms_free(k);
	/* a kernel without modules has no list of them */
	cr_assert_eq(kallsyms_load(symbols, "/no/such/file", &k), 0);
	cr_expect_eq(end_of(k, 0xffffffffc0100000), 0xffffffffc0101010);
	kallsyms_free(k);
	unlink(symbols);
	unlink(list);
	fflush(stderr);
	cr_assert_stderr_eq_str("");
}

/* Lines of all lengths, so that they cross the ends of what is read at once at any place. */
Test(kallsyms, long_files_are_parsed_like_their_text)
{
	enum { LINES = 8000, WIDTH = 300 };
	char path[] = "/tmp/d9_kallsyms_XXXXXX", *lines = malloc((size_t)LINES * WIDTH);
	struct kallsyms_sym a, b;
	struct kallsyms *k, *same;
	size_t len = 0;

	for (int i = 0; i < LINES; i++)
		len += sprintf(lines + len, "%sffffffff81%06x T f%d_%0*d", i ? "\n" : "", i * 16, i,
			       1 + i * 7 % 200, 0);
	write_file(path, lines);
	cr_assert_eq(kallsyms_load(path, "/no/such/file", &k), 0);
	cr_assert_eq(kallsyms_parse(lines, len, NULL, 0, &same), 0);
	for (uint64_t at = 0xffffffff81000000; at < 0xffffffff81000000 + 16 * LINES; at += 16) {
		cr_assert_eq(kallsyms_find(k, at, &a), 0);
		cr_assert_eq(kallsyms_find(same, at, &b), 0);
		cr_assert_str_eq(a.name, b.name);
		cr_assert(a.start == at && b.start == at && a.size == b.size, "%s", a.name);
	}
	kallsyms_free(k);
	kallsyms_free(same);
	free(lines);
	unlink(path);
}

Test(kallsyms, orc_unwind_tables_are_found)
{
	static const char marked[] = "ffffffff81000000 T _stext\n"
				     "ffffffff81000200 t arch_rethook_trampoline\n"
				     "ffffffff81001000 T _etext\n"
				     "ffffffff82000000 R __start_orc_unwind_ip\n"
				     "ffffffff82000000 r __start_orc_unwind_ipx\n"
				     "ffffffff82000020 R __stop_orc_unwind_ip\n"
				     "ffffffff82000020 R __start_orc_unwind\n"
				     "ffffffff82000050 R __stop_orc_unwind\n"
				     "ffffffffc0100000 R __start_orc_unwind\t[fake]\n";
	static const uint64_t truth[KALLSYMS_MARK_CNT] = {
		[KALLSYMS_STEXT] = 0xffffffff81000000,
		[KALLSYMS_ETEXT] = 0xffffffff81001000,
		[KALLSYMS_ORC_IPS] = 0xffffffff82000000,
		[KALLSYMS_ORC_IPS_END] = 0xffffffff82000020,
		[KALLSYMS_ORC_ROWS] = 0xffffffff82000020,
		[KALLSYMS_ORC_ROWS_END] = 0xffffffff82000050,
		[KALLSYMS_RETHOOK] = 0xffffffff81000200,
	};
	struct kallsyms *k = NULL;

	cr_assert_eq(kallsyms_parse(marked, sizeof(marked) - 1, NULL, 0, &k), 0);
	for (int i = 0; i < KALLSYMS_MARK_CNT; i++)
		cr_expect_eq(kallsyms_mark(k, i), truth[i], "mark %d: %lx", i, kallsyms_mark(k, i));
	kallsyms_free(k);
}

static uint64_t state_of(const char *list)
{
	return kallsyms_modules_state(list, strlen(list));
}

/* Users of a module come and go all the time. */
Test(kallsyms, state_of_a_module_list_changes_with_its_modules_and_addresses)
{
	static const char a[] = "a 4096 0 - Live 0xffffffffc0100000\n";
	uint64_t state = state_of(a);

	cr_expect_eq(state_of("a 4096 2 b,c, Live 0xffffffffc0100000 (O)\n"), state);
	cr_expect_neq(state_of(""), state);
	cr_expect_neq(state_of("b 4096 0 - Live 0xffffffffc0100000\n"), state);
	cr_expect_neq(state_of("a 8192 0 - Live 0xffffffffc0100000\n"), state);
	cr_expect_neq(state_of("a 4096 0 - Loading 0xffffffffc0100000\n"), state);
	cr_expect_neq(state_of("a 4096 0 - Live 0xffffffffc0200000\n"), state);
	cr_expect_neq(state_of("a 4096 0 - Live 0xffffffffc0100000\n"
			       "b 4096 0 - Live 0xffffffffc0200000\n"),
		      state);
	cr_expect_eq(state_of("no line\nof a list"), state_of(""));
}
