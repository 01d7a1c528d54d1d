// SPDX-License-Identifier: BSD-2-Clause
/* Which of many overlapping symbols owns an address. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "symbol/elf/symtab.h"
#include "tests/symbol/support.h"

static void add(struct symtab *t, uint64_t addr, uint64_t size, const char *name, uint32_t rank)
{
	const struct symtab_sym sym = {
		.addr = addr,
		.size = size,
		.limit = 1000,
		.name = name,
		.rank = rank,
	};

	cr_assert_eq(symtab_add(t, &sym), 0);
}

static const char *at(const struct symtab *t, uint64_t addr)
{
	const struct symtab_span *span = symtab_find(t, addr);

	return span ? t->syms[span->sym].name : "none";
}

Test(symtab, respects_the_size_of_a_symbol)
{
	struct symtab t;

	symtab_init(&t, unbounded());
	add(&t, 100, 10, "a", 0);
	add(&t, 120, 10, "b", 0);
	symtab_finish(&t);
	cr_expect_str_eq(at(&t, 99), "none");
	cr_expect_str_eq(at(&t, 100), "a");
	cr_expect_str_eq(at(&t, 109), "a");
	cr_expect_str_eq(at(&t, 110), "none");
	cr_expect_str_eq(at(&t, 120), "b");
	cr_expect_str_eq(at(&t, 130), "none");
	symtab_free(&t);
}

Test(symtab, innermost_of_nested_symbols_has_the_address)
{
	struct symtab t;

	symtab_init(&t, unbounded());
	add(&t, 100, 100, "outer", 0);
	add(&t, 120, 20, "inner", 0);
	add(&t, 130, 5, "core", 0);
	add(&t, 190, 30, "overhang", 0);
	symtab_finish(&t);
	cr_expect_str_eq(at(&t, 119), "outer");
	cr_expect_str_eq(at(&t, 120), "inner");
	cr_expect_str_eq(at(&t, 130), "core");
	cr_expect_str_eq(at(&t, 135), "inner");
	cr_expect_str_eq(at(&t, 140), "outer");
	cr_expect_str_eq(at(&t, 195), "overhang");
	cr_expect_str_eq(at(&t, 219), "overhang");
	cr_expect_str_eq(at(&t, 220), "none");
	symtab_free(&t);
}

Test(symtab, symbol_without_size_extends_to_the_next_or_its_section_end)
{
	struct symtab t;

	symtab_init(&t, unbounded());
	add(&t, 100, 0, "start", 0);
	add(&t, 150, 20, "sized", 0);
	add(&t, 160, 0, "label", 0);
	add(&t, 500, 0, "last", 0);
	symtab_finish(&t);
	cr_expect_str_eq(at(&t, 149), "start");
	cr_expect_str_eq(at(&t, 165), "sized");
	cr_expect_str_eq(at(&t, 175), "none");
	cr_expect_str_eq(at(&t, 999), "last");
	cr_expect_str_eq(at(&t, 1000), "none");
	symtab_free(&t);
}

Test(symtab, alias_with_the_highest_rank_wins_then_the_shorter_name)
{
	struct symtab t;

	symtab_init(&t, unbounded());
	add(&t, 100, 10, "low", 1);
	add(&t, 100, 20, "high2", 2);
	add(&t, 100, 10, "high", 2);
	add(&t, 100, 10, "hihi", 2);
	symtab_finish(&t);
	cr_expect_str_eq(at(&t, 105), "high");
	cr_expect_eq(t.sym_cnt, 1u);
	symtab_free(&t);
}

Test(symtab, sizes_that_wrap_around_are_safe)
{
	struct symtab t;

	symtab_init(&t, unbounded());
	add(&t, 100, UINT64_MAX, "huge", 0);
	add(&t, UINT64_MAX - 5, 100, "wraps", 0);
	symtab_finish(&t);
	cr_expect_str_eq(at(&t, 5000), "huge");
	cr_expect_str_eq(at(&t, 50), "none");
	cr_expect_str_eq(at(&t, UINT64_MAX - 1), "wraps");
	symtab_free(&t);
}

Test(symtab, empty_table_finds_nothing)
{
	struct symtab t;

	symtab_init(&t, unbounded());
	symtab_finish(&t);
	cr_expect_str_eq(at(&t, 0), "none");
	symtab_free(&t);
}

/* With a budget that is shared with others. */
static void reserve_and_release(bool finish)
{
	const struct budget_max max = { .cpu_ns = UINT64_MAX,
					.mem = 1 << 20,
					.entries = UINT64_MAX };
	struct symtab t;
	struct budget b;
	uint64_t i;

	budget_init(&b, &max);
	cr_assert_eq(budget_reserve(&b, 1000), 0);
	budget_slice(&b, 0);
	budget_enter(&b);
	symtab_init(&t, &b);
	for (i = 0; i < 1000; i++)
		add(&t, i * 7919 % 5000, 3, "x", 0);
	cr_expect_gt(b.mem, 1000 + 1000 * sizeof(struct symtab_sym));
	while (finish && symtab_finish(&t))
		;
	symtab_free(&t);
	budget_leave(&b);
	cr_expect_eq(b.mem, 1000);
}

Test(symtab, all_reserved_memory_is_released)
{
	reserve_and_release(true);
	reserve_and_release(false);
}

/* Spans must be sorted and separate for any input, and each must belong to a symbol around it. */
Test(symtab, spans_never_overlap)
{
	int round, i;

	srandom(2);
	for (round = 0; round < 200; round++) {
		struct symtab t;
		uint64_t end = 0;
		size_t k;

		symtab_init(&t, unbounded());
		for (i = 0; i < 40; i++)
			add(&t, random() % 200, random() % 3 ? random() % 60 : 0, "x",
			    random() % 4);
		symtab_finish(&t);
		for (k = 0; k < t.span_cnt; k++) {
			const struct symtab_span *s = &t.spans[k];

			cr_assert_geq(s->start, end);
			cr_assert_lt(s->start, s->end);
			cr_assert_geq(s->start, t.syms[s->sym].addr);
			end = s->end;
		}
		symtab_free(&t);
	}
}
