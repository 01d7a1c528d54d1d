// SPDX-License-Identifier: BSD-2-Clause
/* The result of debug information that was written by hand. */
#include <criterion/criterion.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/budget.h"
#include "symbol/dwarf/dwinfo.h"
#include "symbol/elf/elfimg.h"
#include "tests/symbol/forge.h"

#define F FORGE_CODE

/* Debug information under construction: units with functions. */
struct units {
	struct buf abbrev, info;
	size_t at; /* of the unit that was begun last */
};

static void put_code(struct units *u, unsigned int abbrev, const char *name, uint64_t lo,
		     uint64_t size)
{
	forge_uleb(&u->info, abbrev);
	buf_add(&u->info, name, strlen(name) + 1);
	forge_num(&u->info, lo, 8);
	forge_num(&u->info, size, 8);
}

static void begin_unit(struct units *u, uint64_t lo, uint64_t size)
{
	u->at = forge_unit(&u->info);
	put_code(u, 1, "unit.c", lo, size);
}

static void put_function(struct units *u, const char *name, uint64_t lo, uint64_t size)
{
	put_code(u, 2, name, lo, size);
}

static void end_unit(struct units *u)
{
	forge_num(&u->info, 0, 1);
	forge_unit_end(&u->info, u->at);
}

/* A file with debug information and all data that it borrows. */
struct asked {
	struct elfimg img;
	struct budget budget;
	struct dwinfo *dw;
	char name[64]; /* of the last answer */
};

/* The file must stay unchanged, so that it can be opened more than once. */
static void open_lookup(struct asked *a, void *bytes, size_t size, uint64_t mem_max)
{
	const struct budget_max max = { .cpu_ns = UINT64_MAX,
					.mem = mem_max,
					.entries = UINT64_MAX };

	*a = (struct asked){ 0 };
	cr_assert_eq(elfimg_open_mem(&a->img, bytes, size, ELFIMG_BORROWED), 0);
	budget_init(&a->budget, &max);
	budget_enter(&a->budget);
	a->dw = dwinfo_new(&a->img, NULL, NULL, &a->img, &a->budget);
}

static void close_lookup(struct asked *a)
{
	dwinfo_free(a->dw);
	cr_expect_eq(a->budget.mem, 0, "what was taken from the budget is given back");
	elfimg_close(&a->img);
}

/* Builds the file: free() it. Frees the units. */
static void *finish(struct units *u, size_t *size)
{
	struct forge elf;

	forge_abbrev(&u->abbrev, 1, DW_TAG_compile_unit, true, DW_AT_name, DW_FORM_string,
		     DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8, 0);
	forge_abbrev(&u->abbrev, 2, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_string,
		     DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8, 0);
	forge_num(&u->abbrev, 0, 1);
	forge_init(&elf);
	*forge_section(&elf, ".debug_abbrev") = u->abbrev;
	*forge_section(&elf, ".debug_info") = u->info;
	return forge_finish(&elf, size);
}

/* The one function's name at that address, "" if there is none. */
static const char *look_up(struct asked *a, uint64_t addr)
{
	struct dwinfo_frame frames[2];
	struct buf text = { 0 };
	int cnt = dwinfo_frames(a->dw, addr, &text, frames, 2);

	cr_assert(cnt == 0 || cnt == 1, "%d frames at %#lx", cnt, addr);
	a->name[0] = '\0';
	if (cnt) {
		cr_assert_lt(frames[0].name_len, sizeof(a->name));
		memcpy(a->name, text.data + frames[0].name_off, frames[0].name_len + 1);
	}
	buf_free(&text);
	return a->name;
}

/* Its size decides, not where it starts or ends. */
Test(dwforged, shorter_of_overlapping_functions_has_the_address)
{
	struct units u = { 0 };
	struct asked a;
	size_t size;
	void *bytes;

	begin_unit(&u, F, 0x3000);
	put_function(&u, "outer", F, 0x1000);
	put_function(&u, "inner", F + 0x800, 0x100);
	put_function(&u, "early", F + 0x1000, 0x200);
	put_function(&u, "late", F + 0x1100, 0x1000);
	end_unit(&u);
	bytes = finish(&u, &size);
	open_lookup(&a, bytes, size, UINT64_MAX);
	cr_expect_str_eq(look_up(&a, F + 0x7ff), "outer");
	cr_expect_str_eq(look_up(&a, F + 0x800), "inner");
	cr_expect_str_eq(look_up(&a, F + 0x8ff), "inner");
	cr_expect_str_eq(look_up(&a, F + 0x900), "outer");
	cr_expect_str_eq(look_up(&a, F + 0x11ff), "early");
	cr_expect_str_eq(look_up(&a, F + 0x1200), "late");
	cr_expect_str_eq(look_up(&a, F + 0x2100), "");
	close_lookup(&a);
	free(bytes);
}

#define FUNCTIONS 1000
#define UNIT_SZ (FUNCTIONS * 16)

static void put_large_unit(struct units *u, uint64_t lo, const char *name)
{
	size_t i;

	begin_unit(u, lo, UNIT_SZ);
	for (i = 0; i < FUNCTIONS; i++)
		put_function(u, name, lo + i * 16, 16);
	end_unit(u);
}

/*
 * Each fits alone, so none of them is ever too large: not even a unit that is requested right after another one
 * needed all of the memory.
 */
Test(dwforged, units_that_do_not_fit_together_are_loaded_alternately)
{
	struct units u = { 0 };
	uint64_t one, both;
	struct asked a;
	size_t size, i;
	void *bytes;

	put_large_unit(&u, F, "first");
	put_large_unit(&u, F + UNIT_SZ, "other");
	bytes = finish(&u, &size);
	open_lookup(&a, bytes, size, UINT64_MAX);
	cr_assert_str_eq(look_up(&a, F), "first");
	one = a.budget.mem;
	cr_assert_str_eq(look_up(&a, F + UNIT_SZ), "other");
	both = a.budget.mem;
	close_lookup(&a);
	open_lookup(&a, bytes, size, both - 1);
	for (i = 0; i < 3; i++) {
		cr_expect_str_eq(look_up(&a, F + 5 * 16), "first", "turn %zu", i);
		cr_expect_leq(a.budget.mem, one);
		cr_expect_str_eq(look_up(&a, F + UNIT_SZ + 5 * 16), "other", "turn %zu", i);
		cr_expect_leq(a.budget.mem, one, "the other one was freed");
		cr_expect_not(dwinfo_left_out(a.dw), "turn %zu", i);
	}
	close_lookup(&a);
	free(bytes);
}
