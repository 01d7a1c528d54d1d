// SPDX-License-Identifier: BSD-2-Clause
/* Formats of a 6.18 kernel, of different kinds, and texts that no kernel would write. */
#include "kernel/tracefs/format.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernel/tracefs/format_check.h"

static char *read_fixture(const char *path, size_t *len)
{
	char *text = calloc(1, 1 << 16);
	FILE *f = fopen(path, "r");

	cr_assert(text && f, "%s", path);
	*len = fread(text, 1, (1 << 16) - 1, f);
	fclose(f);
	return text;
}

static void fixture_path(const char *name, char *out, size_t sz)
{
	const char *top = getenv("D9_TOP");

	snprintf(out, sz, "%s/tests/fixtures/format/%s.format", top ? top : ".", name);
}

static struct format_event *load(const char *name)
{
	struct format_event *ev = NULL;
	char path[512];
	size_t len;
	char *text;

	fixture_path(name, path, sizeof(path));
	text = read_fixture(path, &len);
	cr_assert_eq(format_parse(text, len, "sys", &ev, NULL), 0, "%s", name);
	free(text);
	return ev;
}

Test(format, every_fixture_has_the_fields_of_its_text)
{
	size_t len, compared = 0;
	char path[512];
	glob_t g;

	fixture_path("*", path, sizeof(path));
	cr_assert_eq(glob(path, 0, NULL, &g), 0);
	cr_assert_geq(g.gl_pathc, 29);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		char *text = read_fixture(g.gl_pathv[i], &len);
		struct format_event *ev;

		cr_assert_eq(format_parse(text, len, "sys", &ev, NULL), 0, "%s", g.gl_pathv[i]);
		format_check_fields(text, ev);
		compared += format_check_symbols(text, len, ev);
		format_free(ev);
		free(text);
	}
	cr_assert_gt(compared, 100, "only %zu values compared", compared);
	globfree(&g);
}

/* Read off the files by eye. */
static const struct {
	const char *event, *field;
	enum format_kind kind;
	unsigned int size, elem_size;
	bool is_pid, hex;
} expected[] = {
	{ "sched.sched_switch", "prev_comm", FORMAT_CHARS, 16, 1, false, false },
	{ "sched.sched_switch", "prev_pid", FORMAT_SINT, 4, 4, true, false },
	{ "sched.sched_switch", "prev_state", FORMAT_SINT, 8, 8, false, false },
	{ "sched.sched_process_fork", "child_comm", FORMAT_STRING, 4, 1, false, false },
	{ "sched.sched_process_fork", "child_pid", FORMAT_SINT, 4, 4, true, false },
	{ "sched.sched_process_exit", "group_dead", FORMAT_BOOL, 1, 1, false, false },
	{ "sched.sched_process_exec", "old_pid", FORMAT_SINT, 4, 4, true, false },
	{ "irq.softirq_raise", "vec", FORMAT_UINT, 4, 4, false, false },
	{ "syscalls.sys_enter_openat", "__syscall_nr", FORMAT_SINT, 4, 4, false, false },
	{ "syscalls.sys_enter_openat", "dfd", FORMAT_UINT, 8, 8, false, true },
	{ "raw_syscalls.sys_enter", "args", FORMAT_ARRAY, 48, 8, false, false },
	{ "raw_syscalls.sys_enter", "id", FORMAT_SINT, 8, 8, false, false },
	{ "block.block_rq_issue", "dev", FORMAT_UINT, 4, 4, false, false },
	{ "block.block_rq_issue", "rwbs", FORMAT_CHARS, 10, 1, false, false },
	{ "block.block_rq_issue", "ioprio", FORMAT_UINT, 2, 2, false, false },
	{ "timer.timer_start", "timer", FORMAT_UINT, 8, 8, false, true },
	{ "timer.hrtimer_start", "expires", FORMAT_SINT, 8, 8, false, false },
	{ "tcp.tcp_probe", "saddr", FORMAT_ARRAY, 28, 1, false, false },
	{ "tcp.tcp_probe", "mark", FORMAT_UINT, 4, 4, false, true },
	{ "ipi.ipi_send_cpumask", "cpumask", FORMAT_DYN_ARRAY, 4, 1, false, false },
	{ "dma.dma_map_sg", "truncated", FORMAT_BOOL, 1, 1, false, false },
	{ "dma.dma_map_sg", "phys_addrs", FORMAT_DYN_ARRAY, 4, 8, false, false },
	{ "dma.dma_map_sg", "lengths", FORMAT_DYN_ARRAY, 4, 4, false, false },
	{ "btrfs.btrfs_space_reservation", "fsid", FORMAT_ARRAY, 16, 1, false, false },
	{ "oom.reclaim_retry_zone", "wmark_check", FORMAT_BOOL, 1, 1, false, false },
	{ "signal.signal_generate", "pid", FORMAT_SINT, 4, 4, true, false },
	{ "bridge.br_fdb_update", "addr", FORMAT_ARRAY, 6, 1, false, false },
	{ "ftrace.print", "buf", FORMAT_CHARS, 0, 1, false, false },
	{ "ftrace.print", "ip", FORMAT_UINT, 8, 8, false, false },
};

Test(format, kinds_of_fields_are_as_expected)
{
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct format_event *ev = load(expected[i].event);
		const struct format_field *f = format_find(ev, expected[i].field);

		cr_assert_not_null(f, "%s.%s", expected[i].event, expected[i].field);
		cr_expect_eq(f->kind, expected[i].kind, "%s.%s is %d", ev->name, f->name, f->kind);
		cr_expect_eq(f->size, expected[i].size, "%s.%s", ev->name, f->name);
		cr_expect_eq(f->elem_size, expected[i].elem_size, "%s.%s", ev->name, f->name);
		cr_expect_eq(f->is_pid, expected[i].is_pid, "%s.%s", ev->name, f->name);
		cr_expect_eq(f->hex, expected[i].hex, "%s.%s", ev->name, f->name);
		format_free(ev);
	}
}

Test(format, last_dynamic_field_ends_the_record)
{
	static const struct {
		const char *event, *field;
	} cases[] = {
		{ "sched.sched_switch", NULL },
		{ "sched.sched_process_fork", "child_comm" },
		{ "sched.sched_process_exec", "filename" },
		{ "dma.dma_map_sg", "lengths" },
		{ "block.block_rq_issue", "cmd" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct format_event *ev = load(cases[i].event);

		if (cases[i].field)
			cr_assert_str_eq(ev->fields[ev->last_dyn].name, cases[i].field);
		else
			cr_assert_eq(ev->last_dyn, -1);
		format_free(ev);
	}
}

static void assert_rows(struct format_event *ev, const char *field,
			const struct format_symbol *want, size_t cnt)
{
	const char *event = ev->name;
	size_t n = 0;

	for (size_t i = 0; i < ev->symbol_cnt; i++) {
		const struct format_symbol *s = &ev->symbols[i];

		if (strcmp(s->field, field))
			continue;
		cr_assert_lt(n, cnt, "%s.%s: '%s' too many", event, field, s->name);
		cr_assert_eq(s->kind, want[n].kind, "%s.%s row %zu", event, field, n);
		cr_assert_eq(s->value, want[n].value, "%s.%s row %zu", event, field, n);
		cr_assert_str_eq(s->name, want[n].name, "%s.%s row %zu", event, field, n);
		n++;
	}
	cr_assert_eq(n, cnt, "%s.%s has %zu rows", event, field, n);
	format_free(ev);
}

#define ROWS(event, field, ...)                                                                    \
	do {                                                                                       \
		const struct format_symbol rows[] = { __VA_ARGS__ };                               \
		assert_rows(load(event), field, rows, sizeof(rows) / sizeof(rows[0]));             \
	} while (0)
#define ROW(k, v, n)                                                                               \
	{                                                                                          \
		.kind = FORMAT_SYM_##k, .value = (v), .name = (char *)(n)                          \
	}

Test(format, prev_state_is_letters_then_a_plus)
{
	ROWS("sched.sched_switch", "prev_state", ROW(MASK, 0xff, ""), ROW(ZERO, 0, "R"),
	     ROW(FLAG, 1, "S"), ROW(FLAG, 2, "D"), ROW(FLAG, 4, "T"), ROW(FLAG, 8, "t"),
	     ROW(FLAG, 0x10, "X"), ROW(FLAG, 0x20, "Z"), ROW(FLAG, 0x40, "P"), ROW(FLAG, 0x80, "I"),
	     ROW(MASK, 0x100, ""), ROW(NONZERO, 0, "+"));
}

Test(format, mask_without_its_parentheses_is_complete)
{
	ROWS("timer.timer_start", "flags", ROW(MASK, 0x3c0000, ""), ROW(FLAG, 0x40000, "M"),
	     ROW(FLAG, 0x80000, "D"), ROW(FLAG, 0x100000, "P"), ROW(FLAG, 0x200000, "I"));
}

Test(format, parts_of_one_field_are_joined_by_the_text_between_them)
{
	ROWS("kvm.kvm_apic_ipi", "icr_low", ROW(MASK, 7, ""), ROW(SHIFT, 8, ""),
	     ROW(SYMBOL, 0, "Fixed"), ROW(SYMBOL, 1, "LowPrio"), ROW(SYMBOL, 2, "SMI"),
	     ROW(SYMBOL, 3, "Res3"), ROW(SYMBOL, 4, "NMI"), ROW(SYMBOL, 5, "INIT"),
	     ROW(SYMBOL, 6, "SIPI"), ROW(SYMBOL, 7, "ExtINT"), ROW(MASK, 0x800, "|"),
	     ROW(ZERO, 0, "physical"), ROW(NONZERO, 0, "logical"), ROW(MASK, 0x4000, "|"),
	     ROW(ZERO, 0, "de-assert"), ROW(NONZERO, 0, "assert"), ROW(MASK, 0x8000, "|"),
	     ROW(ZERO, 0, "edge"), ROW(NONZERO, 0, "level"), ROW(MASK, 3, "|"), ROW(SHIFT, 18, ""),
	     ROW(SYMBOL, 0, "dst"), ROW(SYMBOL, 1, "self"), ROW(SYMBOL, 2, "all"),
	     ROW(SYMBOL, 3, "all-but-self"));
}

Test(format, boolean_text_has_two_rows)
{
	ROWS("btrfs.btrfs_space_reservation", "reserve", ROW(ZERO, 0, "release"),
	     ROW(NONZERO, 0, "reserve"));
}

Test(format, value_that_depends_on_another_field_has_no_rows)
{
	struct format_event *ev = load("kvm.kvm_exit");

	for (size_t i = 0; i < ev->symbol_cnt; i++)
		cr_assert_str_neq(ev->symbols[i].field, "exit_reason");
	format_free(ev);
}

Test(format, names_that_the_kernel_did_not_resolve_have_no_rows)
{
	struct format_event *ev = load("block.block_rq_issue");

	for (size_t i = 0; i < ev->symbol_cnt; i++)
		cr_assert_str_neq(ev->symbols[i].field, "ioprio");
	format_free(ev);
}

Test(format, print_fmt_that_cannot_be_parsed_has_no_rows)
{
	struct format_event *ev = load("dma.dma_map_sg");

	cr_assert_eq(ev->cnt, 9);
	for (size_t i = 0; i < ev->symbol_cnt; i++)
		cr_assert_eq(ev->symbols[i].kind, FORMAT_SYM_ARRAY, "which go by the type alone");
	cr_assert_eq(strncmp(ev->print_fmt, "\"%s dir=%s nents=", 17), 0);
	format_free(ev);
}

#define HEAD                                                                                       \
	"name: made_up\nID: 7\nformat:\n"                                                          \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

Test(format, rel_loc_fields_are_recognized)
{
	static const char text[] =
		HEAD "\tfield:__rel_loc char[] who;\toffset:8;\tsize:4;\tsigned:0;\n"
		     "\tfield:__rel_loc u32[] ids;\toffset:12;\tsize:4;\tsigned:0;\n"
		     "\nprint fmt: \"who=%s\", __get_rel_str(who)\n";
	struct format_event *ev;

	cr_assert_eq(format_parse(text, sizeof(text) - 1, "x", &ev, NULL), 0);
	cr_assert_eq(ev->cnt, 2);
	cr_assert_eq(ev->fields[0].kind, FORMAT_REL_STRING);
	cr_assert_eq(ev->fields[1].kind, FORMAT_REL_ARRAY);
	cr_assert_eq(ev->fields[1].elem_size, 4);
	cr_assert_eq(ev->last_dyn, 1);
	cr_assert_eq(ev->size, 16);
	format_free(ev);
}

/* The parser underneath gives some arrays an element of 0 bytes; the sizes are the C sizes here. */
Test(format, elements_have_the_size_of_their_type)
{
	static const struct {
		const char *type;
		unsigned int size;
	} types[] = {
		{ "char", 1 },
		{ "u8", 1 },
		{ "s8", 1 },
		{ "__u8", 1 },
		{ "unsigned char", 1 },
		{ "bool", 1 },
		{ "short", sizeof(short) },
		{ "u16", 2 },
		{ "__u16", 2 },
		{ "unsigned short", sizeof(short) },
		{ "int", sizeof(int) },
		{ "unsigned int", sizeof(int) },
		{ "u32", 4 },
		{ "s32", 4 },
		{ "__u32", 4 },
		{ "unsigned", sizeof(unsigned) },
		{ "long", sizeof(long) },
		{ "unsigned long", sizeof(long) },
		{ "u64", 8 },
		{ "s64", 8 },
		{ "__u64", 8 },
		{ "unsigned long long", 8 },
		{ "struct unheard_of", 1 },
	};
	static const char *const storage[] = { "__data_loc", "__rel_loc", "__data_loc const" };
	struct format_event *ev;
	char text[2048];

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		for (size_t s = 0; s < 3; s++) {
			snprintf(text, sizeof(text),
				 "%s\tfield:%s %s[] a;\toffset:8;\tsize:4;\tsigned:0;\n"
				 "\nprint fmt: \"\"\n",
				 HEAD, storage[s], types[i].type);
			cr_assert_eq(format_parse(text, strlen(text), "x", &ev, NULL), 0);
			cr_expect_eq(ev->fields[0].elem_size, types[i].size, "%s %s", storage[s],
				     types[i].type);
			format_free(ev);
		}
	}
}

/* Parses one field after the common ones. */
static int one_field(const char *field, struct format_event **ev, const char **why)
{
	char text[2048];

	*ev = NULL;
	snprintf(text, sizeof(text), "%s\tfield:%s\n\nprint fmt: \"\"\n", HEAD, field);
	return format_parse(text, strlen(text), "x", ev, why);
}

Test(format, pids_are_known_by_their_type_or_name)
{
	static const struct {
		const char *field;
		bool is_pid;
	} cases[] = {
		{ "pid_t who;\toffset:8;\tsize:4;\tsigned:1;", true },
		{ "int pid;\toffset:8;\tsize:4;\tsigned:1;", true },
		{ "u32 pid;\toffset:8;\tsize:4;\tsigned:0;", true },
		{ "int next_pid;\toffset:8;\tsize:4;\tsigned:1;", true },
		{ "int _pid;\toffset:8;\tsize:4;\tsigned:1;", true },
		{ "int rapid;\toffset:8;\tsize:4;\tsigned:1;", false },
		{ "int pid_cnt;\toffset:8;\tsize:4;\tsigned:1;", false },
		{ "int pi;\toffset:8;\tsize:4;\tsigned:1;", false },
		{ "u64 pid;\toffset:8;\tsize:8;\tsigned:0;", false },
		{ "char pid[4];\toffset:8;\tsize:4;\tsigned:0;", false },
		{ "__data_loc u8[] pid;\toffset:8;\tsize:4;\tsigned:0;", false },
	};
	struct format_event *ev;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert_eq(one_field(cases[i].field, &ev, NULL), 0);
		cr_expect_eq(ev->fields[0].is_pid, cases[i].is_pid, "%s", cases[i].field);
		format_free(ev);
	}
}

/* Kinds and elements of values in the record itself. */
Test(format, inline_values_are_numbers_arrays_or_bytes_by_their_size)
{
	static const struct {
		const char *field;
		enum format_kind kind;
		unsigned int elem_size;
		bool elem_signed;
	} cases[] = {
		{ "s8 a;\toffset:8;\tsize:1;\tsigned:1;", FORMAT_SINT, 1, true },
		{ "u16 a;\toffset:8;\tsize:2;\tsigned:0;", FORMAT_UINT, 2, false },
		{ "s64 a;\toffset:8;\tsize:8;\tsigned:1;", FORMAT_SINT, 8, true },
		{ "struct three a;\toffset:8;\tsize:3;\tsigned:0;", FORMAT_ARRAY, 1, false },
		{ "struct sixteen a;\toffset:8;\tsize:16;\tsigned:0;", FORMAT_ARRAY, 1, false },
		{ "_Bool a;\toffset:8;\tsize:1;\tsigned:0;", FORMAT_BOOL, 1, false },
		{ "bool a;\toffset:8;\tsize:4;\tsigned:0;", FORMAT_UINT, 4, false },
		{ "int a[6];\toffset:8;\tsize:24;\tsigned:1;", FORMAT_ARRAY, 4, true },
		{ "u8 a[16];\toffset:8;\tsize:16;\tsigned:0;", FORMAT_ARRAY, 1, false },
		{ "struct pair a[3];\toffset:8;\tsize:36;\tsigned:0;", FORMAT_ARRAY, 12, false },
		{ "char a[5];\toffset:8;\tsize:5;\tsigned:0;", FORMAT_CHARS, 1, false },
	};
	struct format_event *ev;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert_eq(one_field(cases[i].field, &ev, NULL), 0);
		cr_expect_eq(ev->fields[0].kind, cases[i].kind, "%s", cases[i].field);
		cr_expect_eq(ev->fields[0].elem_size, cases[i].elem_size, "%s", cases[i].field);
		cr_expect_eq(ev->fields[0].elem_signed, cases[i].elem_signed, "%s", cases[i].field);
		format_free(ev);
	}
}

Test(format, record_is_limited_to_65535_bytes)
{
	static const struct {
		const char *field;
		size_t size; /* 0: refused */
	} cases[] = {
		{ "u8 a;\toffset:65534;\tsize:1;\tsigned:0;", 65535 },
		{ "u8 a;\toffset:65535;\tsize:1;\tsigned:0;", 0 },
		{ "char a[0];\toffset:65535;\tsize:0;\tsigned:0;", 65535 },
		{ "u8 a;\toffset:3;\tsize:1;\tsigned:0;", 8 },
	};
	struct format_event *ev;
	const char *why = NULL;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_eq(one_field(cases[i].field, &ev, &why), cases[i].size ? 0 : -ENOTSUP);
		cr_assert_eq(ev != NULL, cases[i].size > 0, "%s", cases[i].field);
		if (ev)
			cr_expect_eq(ev->size, cases[i].size, "%s", cases[i].field);
		else
			cr_expect_str_eq(why, "a field lies outside of any record");
		format_free(ev);
	}
}

Test(format, print_fmt_is_kept_unchanged)
{
	static const struct {
		const char *tail, *want;
	} cases[] = {
		{ "\nprint fmt: \"a=%d\", REC->a\n", "\"a=%d\", REC->a" },
		{ "\nprint fmt: \"a=%d\", REC->a\n\n\n", "\"a=%d\", REC->a" },
		{ "\nprint fmt: \"a=%d\", REC->a", "\"a=%d\", REC->a" },
		{ "\nprint fmt: \"\"", "\"\"" },
	};
	struct format_event *ev;
	char text[2048];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "%s\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n%s",
			 HEAD, cases[i].tail);
		cr_assert_eq(format_parse(text, strlen(text), "sys", &ev, NULL), 0);
		cr_expect_str_eq(ev->print_fmt, cases[i].want);
		cr_expect_str_eq(ev->system, "sys");
		cr_expect_str_eq(ev->name, "made_up");
		cr_expect_eq(ev->id, 7);
		format_free(ev);
	}
}

/* One unsigned int `a` after the common fields, and this print fmt. */
static struct format_event *made_up(const char *print_fmt)
{
	struct format_event *ev = NULL;
	char text[2048];

	snprintf(text, sizeof(text),
		 "%s\tfield:unsigned int a;\toffset:8;\tsize:4;\tsigned:0;\n\nprint fmt: %s\n",
		 HEAD, print_fmt);
	cr_assert_eq(format_parse(text, strlen(text), "x", &ev, NULL), 0);
	return ev;
}

Test(format, inverted_condition_swaps_the_texts)
{
	const struct format_symbol words[] = { ROW(ZERO, 0, "none"), ROW(NONZERO, 0, "some") };
	const struct format_symbol names[] = { ROW(ZERO, 0, "-"), ROW(SYMBOL, 1, "one") };

	assert_rows(made_up("\"%s\", !REC->a ? \"none\" : \"some\""), "a", words, 2);
	assert_rows(made_up("\"%s\", REC->a == 0 ? \"none\" : \"some\""), "a", words, 2);
	assert_rows(made_up("\"%s\", REC->a != 0 ? \"some\" : \"none\""), "a", words, 2);
	assert_rows(made_up("\"%s\", !REC->a ? \"-\" : __print_symbolic(REC->a, {1, \"one\"})"),
		    "a", names, 2);
}

Test(format, condition_on_other_bits_has_no_rows)
{
	assert_rows(made_up("\"%s\", (REC->a & 1) ? __print_flags(REC->a & 6, \"|\", "
			    "{2, \"two\"}, {4, \"four\"}) : \"no\""),
		    "a", NULL, 0);
	assert_rows(
		made_up("\"%s\", (REC->a > 1) ? __print_symbolic(REC->a, {2, \"two\"}) : \"no\""),
		"a", NULL, 0);
}

Test(format, shifted_field_among_flags_is_a_symbol)
{
	const struct format_symbol rows[] = { ROW(SYMBOL, 0, "zero"), ROW(SYMBOL, 3, "three") };

	assert_rows(made_up("\"%s\", __print_flags((1 << REC->a), \" | \", "
			    "{1 << 0, \"zero\"}, {1 << 3, \"three\"})"),
		    "a", rows, 2);
}

Test(format, format_that_cannot_be_mapped_has_a_reason)
{
	static const struct {
		const char *text, *why;
		int err;
	} cases[] = {
		{ HEAD "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"
		       "\tfield:int a;\toffset:12;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n",
		  "two fields have the same name", -ENOTSUP },
		{ HEAD "\tfield:int a;\toffset:70000;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n",
		  "a field lies outside of any record", -ENOTSUP },
		{ HEAD "\tfield:__data_loc char[] a;\toffset:8;\tsize:8;\tsigned:0;\n\n"
		       "print fmt: \"\"\n",
		  "a dynamic field's descriptor is not 4 bytes", -ENOTSUP },
		{ "nothing of the kind\n", "the text is not a format description", -EBADMSG },
		{ "", "the text is not a format description", -EBADMSG },
	};
	struct format_event *ev = NULL;
	const char *why;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_eq(format_parse(cases[i].text, strlen(cases[i].text), "x", &ev, &why),
			     cases[i].err, "case %zu", i);
		cr_expect_str_eq(why, cases[i].why, "case %zu", i);
		cr_assert_null(ev);
	}
	format_free(NULL);
}
