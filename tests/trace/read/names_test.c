// SPDX-License-Identifier: BSD-2-Clause
/* The tables of names: which modules are equal, which symbol has priority, what is limited. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/names.h"

static uint32_t add(struct names *n, const char *s)
{
	return names_add(n, s, strlen(s));
}

static uint32_t module(struct names *n, const char *path, const char *build_id, uint8_t kind)
{
	struct names_module m = { .path = add(n, path), .kind = kind, .announced = true };

	m.build_id_sz = (uint8_t)strlen(build_id);
	memcpy(m.build_id, build_id, m.build_id_sz);
	return names_module_add(n, &m);
}

Test(names, module_is_identified_by_path_build_id_and_kind)
{
	struct names *n;
	uint32_t a;

	names_new(&n);
	a = module(n, "/bin/a", "1234", PROF_MODULE_ELF);
	cr_assert_neq(a, 0);
	cr_assert_eq(module(n, "/bin/a", "1234", PROF_MODULE_ELF), a);
	cr_assert_neq(module(n, "/bin/a", "1235", PROF_MODULE_ELF), a, "rebuilt");
	cr_assert_neq(module(n, "/bin/a", "", PROF_MODULE_ELF), a);
	cr_assert_neq(module(n, "/bin/b", "1234", PROF_MODULE_ELF), a, "a copy");
	cr_assert_neq(module(n, "/bin/a", "1234", PROF_MODULE_VDSO), a);
	names_free(n);
}

static uint32_t module_of(struct names *n, uint32_t part, uint32_t id, const char *path,
			  uint8_t kind)
{
	struct names_module m = {
		.id = id, .part = part, .path = add(n, path), .kind = kind, .announced = true
	};

	return names_module_add(n, &m);
}

Test(names, module_without_content_is_identified_by_its_id_and_recording)
{
	static const uint8_t kinds[] = { PROF_MODULE_ANON, PROF_MODULE_ELF };
	struct names *n;
	uint32_t a, b, c;

	names_new(&n);
	for (size_t i = 0; i < 2; i++) {
		a = module_of(n, 0, 7, "[x]", kinds[i]);
		b = module_of(n, 0, 8, "[x]", kinds[i]);
		c = module_of(n, 1, 7, "[x]", kinds[i]);
		cr_expect(a != b && a != c && b != c, "%u %u %u", a, b, c);
		cr_expect_eq(module_of(n, 0, 7, "[x]", kinds[i]), a, "announced again");
		cr_expect_eq(names_module(n, b)->group, a);
		cr_expect_eq(names_module(n, c)->group, a);
	}
	a = module_of(n, 0, 7, "[vdso]", PROF_MODULE_VDSO);
	cr_expect_eq(module_of(n, 1, 8, "[vdso]", PROF_MODULE_VDSO), a, "as it was");
	names_free(n);
}

Test(names, equal_modules_have_the_same_group_and_status)
{
	uint32_t v[4], *alike;
	struct names *n;

	names_new(&n);
	for (uint32_t i = 0; i < 4; i++)
		v[i] = module_of(n, 0, 7 + i, i < 3 ? "[anon]" : "/a", PROF_MODULE_ANON);
	names_module_set_status(n, v[1], add(n, "named"), NAMES_NONE);
	alike = names_modules_alike(n);
	cr_expect_eq(alike[0], 0);
	cr_expect_eq(alike[v[0]], v[0]);
	cr_expect_eq(alike[v[1]], v[1], "of another status");
	cr_expect_eq(alike[v[2]], v[0]);
	cr_expect_eq(alike[v[3]], v[3], "of another path");
	free(alike);
	names_free(n);
}

Test(names, unannounced_ids_keep_the_address)
{
	const uint64_t raw = 0x55dc0d63cc08;
	struct names *n;
	uint64_t frame;
	uint32_t idx;

	names_new(&n);
	module(n, "/bin/a", "1", PROF_MODULE_ELF);
	idx = names_module_raw(n, 0, 0x55);
	cr_assert_neq(idx, 0);
	cr_assert_eq(names_module_raw(n, 0, 0x55), idx);
	cr_assert_eq(names_module_raw(n, 0, 0), 0);
	frame = (uint64_t)idx << PROF_FRAME_MODULE_SHIFT | (raw & PROF_FRAME_OFFSET_MASK);
	cr_assert_eq(names_frame_addr(n, frame), raw);
	names_free(n);
}

Test(names, inline_depths_may_come_in_any_order_and_are_limited)
{
	struct names_frame f = { .file = NAMES_NONE };
	const struct names_symbol *sym;
	struct names *n;

	names_new(&n);
	f.name = add(n, "third");
	names_symbol_set(n, 7, 2, &f);
	sym = names_symbol(n, 7);
	cr_assert_eq(sym->cnt, 3);
	cr_assert_eq(sym->frames[0].name, NAMES_NONE);
	f.name = add(n, "first");
	names_symbol_set(n, 7, 0, &f);
	sym = names_symbol(n, 7);
	cr_assert_eq(sym->cnt, 3);
	cr_assert_str_eq(names_str(n, sym->frames[0].name, NULL), "first");
	cr_assert_str_eq(names_str(n, sym->frames[2].name, NULL), "third");
	names_symbol_set(n, 7, NAMES_DEPTH_MAX, &f);
	cr_assert_eq(names_symbol(n, 7)->cnt, 3, "too deep: ignored");
	cr_assert_eq(n->symbols_version, 2);
	names_symbol_set(n, 7, 0, &f);
	cr_assert_eq(n->symbols_version, 2, "nothing changed");
	f.line = 1;
	names_symbol_set(n, 7, 0, &f);
	cr_assert_eq(n->symbols_version, 3);
	cr_assert_null(names_symbol(n, 8));
	names_free(n);
}

Test(names, first_name_of_a_task_stays_but_a_guess_is_replaced)
{
	struct names_task guess = { .tid = 5, .pid = NAMES_NONE };
	struct names_task recorded_task = { .tid = 5, .pid = 4, .recorded = true };
	struct names_task later = { .tid = 5, .pid = 3, .recorded = true };
	struct names *n;

	names_new(&n);
	names_task_learn(n, 0, &guess);
	cr_assert_eq(names_task_first(n, 0, 5)->pid, NAMES_NONE);
	names_task_learn(n, 0, &recorded_task);
	names_task_learn(n, 0, &later);
	names_task_learn(n, 0, &guess);
	cr_assert_eq(names_task_first(n, 0, 5)->pid, 4);
	cr_assert_null(names_task_first(n, 0, 6));
	names_free(n);
}

Test(names, absent_strings_are_empty)
{
	struct names *n;
	size_t len = 9;

	names_new(&n);
	cr_assert_str_eq(names_str(n, NAMES_NONE, &len), "");
	cr_assert_eq(len, 0);
	cr_assert_str_eq(names_str(n, 12345, &len), "");
	names_free(n);
}

Test(names, label_is_in_brackets_and_is_replaced_by_a_symbol)
{
	static const char *const labels[] = { "[libc.so.6]", "[jit]", "[x]" };
	static const char *const others[] = { "[]",	"[",	      "]",
					      "",	"libc.so.6",  "[a]b",
					      "[a][b]", "<[T]>::len", "[[vdso]]" };
	struct names_frame label = { .label = true, .file = NAMES_NONE }, name = label;
	struct names *n;

	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		cr_expect(names_is_label(labels[i], strlen(labels[i])), "%s", labels[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		cr_expect_not(names_is_label(others[i], strlen(others[i])), "%s", others[i]);
	cr_assert_eq(names_new(&n), 0);
	label.name = add(n, "[a]");
	name.name = add(n, "f");
	name.label = false;
	cr_expect_not(names_is_named(n, 1));
	names_symbol_set(n, 1, 0, &label);
	cr_expect_not(names_is_named(n, 1));
	cr_expect_eq(names_symbol(n, 1)->frames[0].name, label.name);
	names_symbol_set(n, 1, 0, &name);
	names_symbol_set(n, 1, 0, &label);
	cr_expect(names_is_named(n, 1));
	cr_expect_eq(names_symbol(n, 1)->frames[0].name, name.name);
	names_free(n);
}

Test(names, last_status_of_a_module_counts)
{
	struct names_module m = { .id = 7, .announced = true };
	struct names *n;
	uint32_t idx;

	cr_assert_eq(names_new(&n), 0);
	m.path = add(n, "/lib/a");
	idx = names_module_add(n, &m);
	cr_expect_eq(names_module(n, idx)->status, NAMES_NONE);
	names_module_set_status(n, idx, add(n, "pending"), NAMES_NONE);
	names_module_set_status(n, idx, add(n, "named"), add(n, "why"));
	names_module_set_status(n, idx + 1, add(n, "gone"), NAMES_NONE);
	names_module_set_status(n, 0, add(n, "gone"), NAMES_NONE);
	cr_expect_str_eq(names_str(n, names_module(n, idx)->status, NULL), "named");
	cr_expect_str_eq(names_str(n, names_module(n, idx)->detail, NULL), "why");
	cr_expect_eq(names_module(n, 0)->status, NAMES_NONE);
	cr_expect_eq(names_module_add(n, &m), idx, "the status does not make it another module");
	names_free(n);
}

Test(names, unknown_module_is_module_0)
{
	struct names *n;
	uint32_t idx;

	cr_assert_eq(names_new(&n), 0);
	idx = module(n, "/lib/a", "1234", PROF_MODULE_ELF);
	cr_expect_neq(names_module(n, idx), names_module(n, 0));
	cr_expect_eq(names_module(n, idx + 1), names_module(n, 0));
	cr_expect_eq(names_module(n, UINT32_MAX), names_module(n, 0));
	cr_expect_not(names_module(n, 0)->announced);
	names_free(n);
	names_free(NULL);
}

static uint64_t period(const char *hz, const char *ns)
{
	struct parts_meta meta[3];
	struct names *n;
	size_t cnt = 0;
	uint64_t v;

	cr_assert_eq(names_new(&n), 0);
	meta[cnt++] = (struct parts_meta){ add(n, "host"), add(n, "box") };
	if (hz)
		meta[cnt++] = (struct parts_meta){ add(n, "sample_hz"), add(n, hz) };
	if (ns)
		meta[cnt++] = (struct parts_meta){ add(n, "sample_period_ns"), add(n, ns) };
	parts_metadata(&n->parts, 5, meta, cnt);
	v = names_period_ns(n, 0);
	names_free(n);
	return v;
}

Test(names, sample_period_is_recorded_or_computed_from_the_rate)
{
	cr_expect_eq(period("99", "10101010"), 10101010);
	cr_expect_eq(period(NULL, "7"), 7);
	cr_expect_eq(period("99", NULL), 10101010);
	cr_expect_eq(period("1", NULL), 1000000000);
	cr_expect_eq(period("1000000000", NULL), 1);
	cr_expect_eq(period("1000000001", NULL), 0);
	cr_expect_eq(period("0", NULL), 0);
	cr_expect_eq(period("many", "some"), 0);
	cr_expect_eq(period(NULL, NULL), 0);
	cr_expect_eq(period("99", "3600000000000"), 3600000000000);
	cr_expect_eq(period("99", "3600000000001"), 0);
}

Test(names, every_byte_of_a_build_id_counts)
{
	struct names_module m = { .announced = true, .kind = PROF_MODULE_ELF, .build_id_sz = 20 };
	uint32_t idx[5];
	struct names *n;

	cr_assert_eq(names_new(&n), 0);
	m.path = add(n, "/lib/a");
	for (size_t i = 0; i < 5; i++) {
		memset(m.build_id, 0, sizeof(m.build_id));
		m.build_id[i * 5 - (i > 0)] = 1;
		idx[i] = names_module_add(n, &m);
		for (size_t k = 0; k < i; k++)
			cr_expect_neq(idx[i], idx[k]);
	}
	names_free(n);
}

Test(names, rows_for_fields_are_kept_by_event_and_field)
{
	const struct tp_symbols_row row = { .name = "x", .name_len = 1 };
	uint64_t version;
	struct names *n;

	cr_assert_eq(names_new(&n), 0);
	cr_expect_null(names_tp_symbols(n, 0, 5, 6));
	version = n->tp_symbols_version;
	names_add_tp_symbol(n, 0, 5, 6, &row);
	cr_expect_eq(n->tp_symbols_version, version + 1);
	n->segment++;
	names_add_tp_symbol(n, 0, 5, 6, &row);
	cr_expect_eq(n->tp_symbols_version, version + 1, "what is there already");
	names_add_tp_symbol(n, 0, 5, 6, &(struct tp_symbols_row){ .name = "y", .name_len = 1 });
	cr_expect_eq(n->tp_symbols_version, version + 2);
	cr_expect_not_null(names_tp_symbols(n, 0, 5, 6));
	cr_expect_null(names_tp_symbols(n, 0, 6, 5));
	cr_expect_null(names_tp_symbols(n, 0, 5, 7));
	names_add_tp_symbol(n, 2, 5, 6, &(struct tp_symbols_row){ .name = "z", .name_len = 1 });
	cr_expect_str_eq(names_tp_symbols(n, 2, 5, 6)->rows[0].name, "z");
	cr_expect_str_eq(names_tp_symbols(n, 0, 5, 6)->rows[0].name, "x");
	cr_expect_eq(names_tp_symbols(n, 1, 5, 6), names_tp_symbols(n, 3, 5, 6),
		     "who tells nothing of it");
	names_free(n);
}
