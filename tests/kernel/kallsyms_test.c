// SPDX-License-Identifier: BSD-2-Clause
/* Names of kernel text from small tables of known truth, and from hostile ones. */
#include "kernel/kallsyms.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
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
	const char *name, *module; /* NULL: nothing there */
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

Test(kallsyms, finds_the_symbol_and_its_bounds)
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

Test(kallsyms, modules_hold_their_symbols_and_nothing_else)
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
}

Test(kallsyms, without_a_list_of_modules_bounds_come_from_symbols)
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

Test(kallsyms, zeroed_addresses_are_a_missing_permission)
{
	static const char zeros[] = "0000000000000000 T _stext\n0000000000000000 t x\n";
	struct kallsyms *k = NULL;

	cr_assert_eq(kallsyms_parse(zeros, sizeof(zeros) - 1, NULL, 0, &k), -EPERM);
	cr_assert_null(k);
}

Test(kallsyms, the_remedy_is_printed, .init = cr_redirect_stderr)
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

Test(kallsyms, other_text_is_no_table)
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
