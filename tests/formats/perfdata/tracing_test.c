// SPDX-License-Identifier: BSD-2-Clause
/* Tracepoint formats: the kernel's are read, and hostile ones are refused. */
#include "formats/perfdata/tracing.h"
#include "tests/formats/support.h"

#define HEAD "name: e\nID: 5\nformat:\n"
#define COMMON "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define LINE(decl, off, sz, sign)                                                                  \
	"\tfield:" decl ";\toffset:" off ";\tsize:" sz ";\tsigned:" sign ";\n"

static bool add(struct perfdata_tracing *t, const char *text)
{
	return perfdata_tracing_add(t, "s",
				    (struct perfdata_bytes){ (const uint8_t *)text, strlen(text) });
}

Test(perfdata_tracing, kinds_follow_from_type_size_and_sign)
{
	static const struct {
		const char *name;
		uint32_t off, size;
		enum perfdata_field_kind kind;
	} want[] = {
		{ "comm", 8, 16, PERFDATA_FIELD_CHARS },
		{ "pid", 24, 4, PERFDATA_FIELD_SINT },
		{ "ptr", 32, 8, PERFDATA_FIELD_UINT },
		{ "ok", 40, 1, PERFDATA_FIELD_BOOL },
		{ "text", 44, 4, PERFDATA_FIELD_STRING },
		{ "rel", 48, 4, PERFDATA_FIELD_REL_STRING },
		{ "list", 52, 4, PERFDATA_FIELD_DYN_BYTES },
		{ "args", 56, 48, PERFDATA_FIELD_BYTES },
		{ "ts", 104, 16, PERFDATA_FIELD_BYTES },
	};
	struct perfdata_tracing t = { 0 };
	const struct perfdata_format *f;

	cr_assert(add(
		&t,
		HEAD COMMON LINE("char comm[16]", "8", "16", "0") LINE("pid_t pid", "24", "4", "1")
			LINE("const void *ptr", "32", "8", "0") LINE("bool ok", "40", "1", "0")
				LINE("__data_loc char[] text", "44", "4",
				     "0") LINE("__rel_loc char[] rel", "48", "4", "0")
					LINE("__data_loc u32[] list", "52", "4", "0")
						LINE("unsigned long args[6]", "56", "48", "0")
							LINE("struct x ts", "104", "16",
							     "0") "\nprint fmt: \"\"\n"));
	f = perfdata_tracing_find(&t, 5);
	cr_assert_str_eq(f->name, "s:e");
	cr_assert_eq(f->cnt, sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < f->cnt; i++) {
		cr_assert_str_eq(f->fields[i].name, want[i].name);
		cr_assert_eq(f->fields[i].off, want[i].off, "%s", want[i].name);
		cr_assert_eq(f->fields[i].size, want[i].size, "%s", want[i].name);
		cr_assert_eq(f->fields[i].kind, want[i].kind, "%s", want[i].name);
	}
	perfdata_tracing_fini(&t);
}

Test(perfdata_tracing, a_format_that_is_not_understood_is_refused)
{
	static const char *const bad[] = {
		"",
		"name: e\nformat:\n",
		"ID: 5\nformat:\n",
		"name: e e\nID: 5\n",
		HEAD "\tfield:int x\n",
		HEAD LINE("int", "8", "4", "1"),
		HEAD LINE("int x", "8", "99999999999999999999", "1"),
		HEAD LINE("int x", "65534", "4", "1"),
		HEAD LINE("int x", "-8", "4", "1"),
		HEAD LINE("__data_loc char[] x", "8", "8", "1"),
		HEAD LINE("int x", "8", "4", "1") LINE("int x", "12", "4", "1"),
		HEAD LINE("int x]", "8", "4", "1"),
	};
	struct perfdata_tracing t = { 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert(!add(&t, bad[i]), "%s", bad[i]);
	cr_assert_eq(t.cnt, 0);
	cr_assert(add(&t, HEAD COMMON));
	cr_assert(!add(&t, HEAD COMMON), "a number of two formats");
	perfdata_tracing_fini(&t);
}

/* Signs, texts up to a NUL, and words that point outside. */
Test(perfdata_tracing, values_are_inside_of_the_record)
{
	static const uint8_t raw[] = { 0xff, 0xfe, 'a', 'b', 0, 'c', 0x02, 0x00, 0x04, 0x00 };
	const struct perfdata_field s16 = { .off = 0, .size = 2, .kind = PERFDATA_FIELD_SINT };
	const struct perfdata_field u16 = { .off = 0, .size = 2, .kind = PERFDATA_FIELD_UINT };
	const struct perfdata_field text = { .off = 6, .size = 4, .kind = PERFDATA_FIELD_STRING };
	const struct perfdata_field dyn = { .off = 6, .size = 4, .kind = PERFDATA_FIELD_DYN_BYTES };
	const struct perfdata_field rel = { .off = 6, .size = 4, .kind = PERFDATA_FIELD_REL_BYTES };
	const struct perfdata_field far = { .off = 9, .size = 2, .kind = PERFDATA_FIELD_UINT };
	struct perfdata_bytes b = { raw, sizeof(raw) }, out;
	int64_t v;

	cr_assert(perfdata_field_int(&s16, b, &v));
	cr_assert_eq(v, -257); /* 0xfeff - 0x10000 */
	cr_assert(perfdata_field_int(&u16, b, &v));
	cr_assert_eq(v, 0xfeff);
	cr_assert(!perfdata_field_int(&far, b, &v));
	cr_assert(perfdata_field_bytes(&text, b, &out));
	cr_assert_eq(out.sz, 2);
	cr_assert(!memcmp(out.p, "ab", 2));
	cr_assert(perfdata_field_bytes(&dyn, b, &out));
	cr_assert_eq(out.sz, 4);
	cr_assert(!perfdata_field_bytes(&rel, b, &out));
}
