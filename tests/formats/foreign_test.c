// SPDX-License-Identifier: BSD-2-Clause
/* The notes that all formats fill: counted by kind, limited in kinds, safe on a terminal. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "formats/foreign.h"

Test(foreign, counts_notes_by_class_and_kind_and_keeps_the_first)
{
	struct foreign_notes notes = { 0 };
	struct buf out = { 0 };

	foreign_note(&notes, FOREIGN_NOTE_HINT, 1, "restarts", NULL);
	foreign_note(&notes, FOREIGN_NOTE_NOT_KEPT, 1200, "stacks", "frame %d", 7);
	foreign_note(&notes, FOREIGN_NOTE_NOT_KEPT, 34, "stacks", "frame %d", 9);
	foreign_note(&notes, FOREIGN_NOTE_CHANGED, 1, "stacks", "event %d", 1);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT, "stacks"), 1234);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED, NULL), 0);
	foreign_notes_print(&notes, &out);
	cr_assert_str_eq(buf_cstr(&out), "not kept      1,234  stacks (first: frame 7)\n"
					 "changed           1  stacks (event 1)\n"
					 "note              1  restarts\n");
	foreign_note(&notes, FOREIGN_NOTE_NOT_KEPT, UINT64_MAX, "stacks", NULL);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT, NULL), UINT64_MAX);
	foreign_notes_fini(&notes);
	buf_free(&out);
}

Test(foreign, groups_kinds_above_the_limit_in_one_row)
{
	struct foreign_notes notes = { 0 };
	char kind[32];

	for (int i = 0; i < 10000; i++) {
		snprintf(kind, sizeof(kind), "kind %d", i);
		foreign_note(&notes, FOREIGN_NOTE_NOT_KEPT, 1, kind, NULL);
	}
	cr_assert_eq(notes.cnt, FOREIGN_NOTES_MAX + 1);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT, NULL), 10000);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT, "other kinds"),
		     10000 - FOREIGN_NOTES_MAX);
	foreign_notes_fini(&notes);
}

Test(foreign, removes_control_characters)
{
	struct foreign_notes notes = { 0 };
	struct foreign_facts facts = { 0 };

	foreign_note(&notes, FOREIGN_NOTE_NOT_KEPT, 1,
		     "\033[2Jx\xc2\x9b"
		     "z",
		     "\n\x7f");
	cr_assert_str_eq(notes.v[0].kind, "?[2Jx??z");
	cr_assert_str_eq(notes.v[0].first, "??");
	foreign_fact_text(&facts, "na\tme", "%s", "\xff\xc3\xa4");
	foreign_fact_count(&facts, "n", 7);
	cr_assert_str_eq(facts.v[0].label, "na?me");
	cr_assert_str_eq(facts.v[0].text, "\\xff\xc3\xa4");
	cr_assert_null(facts.v[1].text);
	foreign_notes_fini(&notes);
	foreign_facts_fini(&facts);
}

Test(foreign, finds_formats_by_name_and_leaves_dial9_alone)
{
	static const char *const names[] = { "tonbandgeraet", "heph", "apitrace" };

	for (size_t i = 0; i < 3; i++)
		cr_assert_str_eq(foreign_find(names[i])->name, names[i]);
	cr_assert_null(foreign_find("dial9"));
	cr_assert_null(foreign_detect("TRC\0\1", 5, true));
	cr_assert_null(foreign_detect("", 0, true));
}
