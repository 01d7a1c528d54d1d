// SPDX-License-Identifier: BSD-2-Clause
/* Addresses in fields of events become rows, once each and before the event. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kallsyms.h"
#include "record/encode/translate.h"
#include "record/symbols/frames.h"
#include "tests/record/support.h"

static const char syms[] = "ffffffff81000000 T _stext\n"
			   "ffffffff81000100 T kmalloc_reserve\n"
			   "ffffffff81000200 T another\n"
			   "ffffffff81000300 T _etext\n";

static const char fields[] = "\tfield:unsigned long site;\toffset:8;\tsize:8;\tsigned:0;\n"
			     "\tfield:unsigned long ptr;\toffset:16;\tsize:8;\tsigned:0;\n";

struct raw {
	uint64_t common, site, ptr;
};

static struct kallsyms *kallsyms;
static struct rig rig;

static void setup(void)
{
	struct event_def *def;

	rig_init(&rig);
	cr_assert_eq(kallsyms_parse(syms, strlen(syms), NULL, 0, &kallsyms), 0);
	frames_set_kallsyms(rig.frames, kallsyms);
	def = support_event_of("test", fields);
	def->fields[0].code = def->any_code = true;
	free(def->steps);
	def->steps = NULL; /* as for a field that is marked as code from the start */
	rig_add(&rig, def);
}

static void teardown(void)
{
	rig_fini(&rig);
	kallsyms_free(kallsyms);
}

static void give(uint64_t ts, uint64_t site)
{
	const struct raw raw = { .site = site, .ptr = site };
	struct prof_rec *rec =
		support_rec(&(struct rec_parts){ .ts = ts, .raw = &raw, .raw_len = sizeof(raw) });

	cr_assert_eq(translate_record(rig.translate, rec), 0);
	free(rec);
}

static size_t rows_in(const char *text)
{
	size_t n = 0;

	for (; (text = strstr(text, " TracepointSymbol ")); text++)
		n++;
	return n;
}

Test(code_names, address_gets_one_row_before_its_first_event, .init = setup, .fini = teardown)
{
	const char *text;

	give(1, 0xffffffff81000159);
	give(2, 0xffffffff81000159);
	give(3, 0xffffffff81000200);
	text = rig_text(&rig, "");
	cr_expect_eq(rows_in(text), 2, "%s", text);
	cr_expect(strstr(text, "kmalloc_reserve+0x59") < strstr(text, "1 test:made"), "%s", text);
	cr_expect_not_null(strstr(text, "\"another\""), "%s", text);
	cr_expect_null(strstr(text, "field=\"ptr\""), "%s", text);
}

Test(code_names, value_that_is_no_code_address_stays_a_number, .init = setup, .fini = teardown)
{
	give(1, 0);
	give(2, 4096);
	give(3, UINT64_MAX);
	cr_expect_eq(rows_in(rig_text(&rig, "")), 0);
}

Test(code_names, number_of_symbol_rows_is_limited, .init = setup, .fini = teardown)
{
	for (uint64_t i = 0; i < 20000; i++)
		give(i, 0xffffffff81000101 + i);
	cr_expect_eq(rows_in(rig_text(&rig, "")), 0x1ff, "those that there are");
	cr_expect_eq(translate_written(rig.translate, PROF_CLASS_TRACEPOINT), 20000);
}
