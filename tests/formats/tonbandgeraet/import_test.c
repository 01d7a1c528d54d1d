// SPDX-License-Identifier: BSD-2-Clause
/*
 * The frames converted to dial9: time, names, the running task, drops, several cores, and that the rest of a
 * damaged file stays readable.
 */
#include "tests/formats/tonbandgeraet/support.h"

#include "base/str.h"

/* State of one test, which is a process: a recording, the converted trace, and its notes. */
static struct buf rec, trace, back, lines;
static struct foreign_notes notes;

static void drop(void)
{
	foreign_notes_fini(&notes);
	buf_free(&rec);
	buf_free(&trace);
	buf_free(&back);
	buf_free(&lines);
}

TestSuite(tonband_import, .init = quiet, .fini = drop);

/* The recording as dial9, and its events as lines; follow: in one pass. */
static void import_rec(const struct buf *from, bool follow)
{
	cr_assert_eq(import(from, follow, &trace, &notes), 0);
	lines = events_of(&trace);
}

static void expect(const char *want)
{
	cr_assert(strstr(buf_cstr(&lines), want), "no %s in\n%s", want, lines.data);
}

static size_t count(const char *what)
{
	size_t n = 0;

	for (const char *p = lines.data; p && (p = strstr(p, what)); p++)
		n++;
	return n;
}

static void named_late(void)
{
	event(&rec, TONBAND_TASK_SWITCHED_IN, 10, 3, 0, NULL);
	event(&rec, TONBAND_CURTASK_DELAY, 20, 5, 0, NULL);
	event(&rec, TONBAND_TASK_EVTMARKER, 30, 9, 0, "hi");
	event(&rec, TONBAND_TASK_EVTMARKER_NAME, 0, 9, 0, "mine");
	event(&rec, TONBAND_TASK_NAME, 0, 3, 0, "blinky");
	event(&rec, TONBAND_TS_RESOLUTION_NS, 0, 100, 0, NULL);
	event(&rec, TONBAND_TASK_SWITCHED_IN, 40, 3, 0, NULL);
}

Test(tonband_import, uses_names_and_resolution_for_all_events_in_two_passes)
{
	named_late();
	import_rec(&rec, false);
	expect("\"tband.task_switched_in\",\"ts\":1000,\"fields\":[[\"core\",13,0],"
	       "[\"task_id\",13,3],[\"name\",135,{\"pool\":");
	expect("\"tband.curtask_delay\",\"ts\":2000,\"fields\":[[\"core\",13,0],"
	       "[\"ticks\",13,5],[\"task\",141,3],[\"task_name\",135,{\"pool\":");
	/* Written by the target for task 0, which means the running task. */
	expect("\"str\":\"mine\"}],[\"task\",141,3]");
	cr_assert_eq(count("\"str\":\"blinky\""), 5);
	cr_assert_eq(count("[\"ts\","), 0);
	cr_assert_eq(notes.cnt, 0);
}

/* The same marker id in two tasks, each named by the running task, for task 0, which is no real task. */
Test(tonband_import, distinguishes_markers_of_tasks)
{
	event(&rec, TONBAND_TASK_SWITCHED_IN, 1, 1, 0, NULL);
	event(&rec, TONBAND_TASK_EVTMARKER_NAME, 0, 4, 0, "red");
	event(&rec, TONBAND_TASK_SWITCHED_IN, 2, 2, 0, NULL);
	event(&rec, TONBAND_TASK_EVTMARKER_NAME, 0, 4, 0, "blue");
	event(&rec, TONBAND_TASK_EVTMARKER, 3, 4, 0, "x");
	event(&rec, TONBAND_TASK_SWITCHED_IN, 4, 1, 0, NULL);
	event(&rec, TONBAND_TASK_EVTMARKER, 5, 4, 0, "y");
	import_rec(&rec, false);
	expect("[\"msg\",4,\"x\"],[\"name\",135,{\"pool\":1,\"str\":\"blue\"}]");
	expect("[\"msg\",4,\"y\"],[\"name\",135,{\"pool\":0,\"str\":\"red\"}]");
}

Test(tonband_import, uses_only_earlier_names_in_one_pass)
{
	named_late();
	import_rec(&rec, true);
	expect("\"tband.task_switched_in\",\"ts\":10,\"fields\":[[\"core\",13,0],"
	       "[\"task_id\",13,3],[\"name\",135,null],[\"ts\",9,10]]");
	expect("\"tband.task_switched_in\",\"ts\":4000,\"fields\":[[\"core\",13,0],"
	       "[\"task_id\",13,3],[\"name\",135,{\"pool\":");
	cr_assert_eq(count("[\"ts\","), 3);
}

Test(tonband_import, keeps_ticks_that_cannot_be_nanoseconds)
{
	event(&rec, TONBAND_TS_RESOLUTION_NS, 0, 0, 0, NULL);
	event(&rec, TONBAND_TS_RESOLUTION_NS, 0, 3, 0, NULL);
	event(&rec, TONBAND_ISR_ENTER, UINT64_MAX / 3, 1, 0, NULL);
	event(&rec, TONBAND_ISR_EXIT, UINT64_MAX / 3 + 1, 1, 0, NULL);
	import_rec(&rec, false);
	expect("\"tband.isr_enter\",\"ts\":18446744073709551615,\"fields\":[[\"core\",13,0],"
	       "[\"isr_id\",13,1],[\"name\",135,null]]");
	expect("\"tband.isr_exit\",\"ts\":18446744073709551615,\"fields\":[[\"core\",13,0],"
	       "[\"isr_id\",13,1],[\"name\",135,null],[\"ts\",9,6148914691236517206]]");
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED, NULL), 1);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_HINT, "resolutions of 0 ns, ignored"),
		     1);
}

Test(tonband_import, escapes_text_that_is_not_utf8_and_keeps_its_bytes)
{
	event(&rec, TONBAND_EVTMARKER_NAME, 0, 1, 0, "T\xc3");
	event(&rec, TONBAND_EVTMARKER, 5, 1, 0, "\xffx");
	import_rec(&rec, false);
	expect("\"tband.evtmarker\",\"ts\":5,\"fields\":[[\"core\",13,0],"
	       "[\"evtmarker_id\",13,1],[\"msg\",4,\"\\\\xffx\"],[\"name\",135,{\"pool\":");
	expect("\"str\":\"T\\\\xc3\"}],[\"bytes\",5,{\"hex\":\"ff78\"}]]");
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED, NULL), 2);
}

Test(tonband_import, merges_cores_by_time_with_their_own_names)
{
	struct files f = { 0 };
	struct buf a = { 0 }, b = { 0 };

	event(&a, TONBAND_ISR_NAME, 0, 1, 0, "left");
	event(&b, TONBAND_ISR_NAME, 0, 1, 0, "right");
	for (uint64_t i = 0; i < 4; i++) {
		event(&a, TONBAND_ISR_ENTER, 10 * i, 1, 0, NULL);
		event(&b, TONBAND_ISR_EXIT, 10 * i + i % 2, 1, 0, NULL);
	}
	add_core_file(&f, &b, 5);
	add_core_file(&f, &a, 2);
	cr_assert_eq(import_files(&f, false, &trace, &notes), 0);
	lines = events_of(&trace);
	cr_assert_eq(count("\"left\""), 5);
	cr_assert_eq(count("\"right\""), 5);
	/* At equal times the lower core comes first. */
	expect("\"ts\":0,\"fields\":[[\"core\",13,2]");
	cr_assert_lt(strstr(lines.data, "\"ts\":20,\"fields\":[[\"core\",13,2]"),
		     strstr(lines.data, "\"ts\":20,\"fields\":[[\"core\",13,5]"));
	cr_assert_lt(strstr(lines.data, "\"ts\":11,"), strstr(lines.data, "\"ts\":20,"));
	/* If it is written into one file again, frames name the cores. */
	cr_assert_eq(export(&trace, &back, &notes), 0);
	buf_free(&lines);
	lines = dump(&back, &notes);
	cr_assert_eq(count("CoreId"), 9);
	cr_assert_eq(count("IsrEnter") + count("IsrExit"), 8);
	buf_free(&a);
	buf_free(&b);
}

Test(tonband_import, follows_core_frames_within_a_file)
{
	event(&rec, TONBAND_CORE_ID, 0, 0, 0, NULL);
	event(&rec, TONBAND_TASK_SWITCHED_IN, 5, 1, 0, NULL);
	event(&rec, TONBAND_CORE_ID, 0, 1, 0, NULL);
	event(&rec, TONBAND_CURTASK_DELAY, 6, 9, 0, NULL);
	event(&rec, TONBAND_CORE_ID, 0, 0, 0, NULL);
	event(&rec, TONBAND_CURTASK_DELAY, 7, 9, 0, NULL);
	import_rec(&rec, false);
	/* A core_id event has no time. */
	expect("\"tband.core_id\",\"ts\":null,\"fields\":[[\"core\",13,1],"
	       "[\"core_id\",13,1],[\"ts\",9,0]]");
	expect("\"ts\":6,\"fields\":[[\"core\",13,1],[\"ticks\",13,9],[\"task\",141,null]");
	expect("\"ts\":7,\"fields\":[[\"core\",13,0],[\"ticks\",13,9],[\"task\",141,1]");
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_HINT,
					 "restarts of streaming within the recording"),
		     1);
}

/* A frame that is cut at the end of one buffer does not continue in the next. */
Test(tonband_import, starts_again_with_each_buffer_and_its_core)
{
	struct buf json = { 0 };

	event(&rec, TONBAND_ISR_ENTER, 5, 1, 0, NULL);
	buf_add(&rec, "\x09\x07", 2);
	buf_addstr(&json, "{\"data\":[{\"core_id\":3,\"hex\":\"");
	str_hex(&json, rec.data, rec.len);
	buf_addstr(&json, "\"},{\"core_id\":4,\"hex\":\"");
	str_hex(&json, rec.data, rec.len);
	buf_addstr(&json, "\"}]}");
	import_rec(&json, true);
	cr_assert_eq(count("\"tband.isr_enter\""), 2);
	expect("\"tband.isr_enter\",\"ts\":5,\"fields\":[[\"core\",13,3]");
	expect("\"tband.isr_enter\",\"ts\":5,\"fields\":[[\"core\",13,4]");
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED, "frame cut off"), 2);
	buf_free(&json);
}

/* One of two files ends within a frame: in one file, what follows must not become part of it. */
Test(tonband_import, ends_a_truncated_frame_before_the_events_of_the_next_file)
{
	struct files f = { 0 };
	struct buf a = { 0 }, b = { 0 };

	event(&a, TONBAND_ISR_ENTER, 1, 1, 0, NULL);
	buf_add(&a, "\x09\x07", 2);
	event(&b, TONBAND_ISR_EXIT, 9, 1, 0, NULL);
	add_file(&f, &a);
	add_file(&f, &b);
	cr_assert_eq(import_files(&f, false, &trace, &notes), 0);
	cr_assert_eq(export(&trace, &back, &notes), 0);
	lines = dump(&back, &notes);
	expect("{\"Base\":{\"ts\":9,\"kind\":{\"IsrExit\":{\"isr_id\":1}}}}\n");
	buf_free(&a);
	buf_free(&b);
}

Test(tonband_import, counts_drops_once_if_several_cores_report_them)
{
	static const struct {
		uint32_t core, total;
		unsigned int lost;
	} steps[] = { { 0, 0, 0 }, { 0, 3, 3 },	 { 1, 3, 0 }, { 1, 10, 7 }, { 0, 8, 0 },
		      { 0, 8, 0 }, { 0, 10, 0 }, { 0, 2, 2 }, { 1, 2, 0 },  { 0, UINT32_MAX, 0 } };
	uint64_t lost = 0;

	/* The last: from 2 to the maximum of the counter, and one wrap on to 4. */
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		event(&rec, TONBAND_CORE_ID, 0, steps[i].core, 0, NULL);
		event(&rec, TONBAND_DROPPED_EVT_CNT, 10 + i, steps[i].total, 0, NULL);
		lost += steps[i].lost;
	}
	event(&rec, TONBAND_DROPPED_EVT_CNT, 30, 4, 0, NULL);
	lost += (uint64_t)UINT32_MAX - 2 + 5;
	import_rec(&rec, false);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DROPPED, NULL), lost);
	cr_assert_eq(count("\"tband.dropped\""), 5);
}

Test(tonband_import, keeps_unreadable_bytes_and_continues)
{
	buf_add(&rec, "\x63\x75\x74\0", 4); /* the end of a frame */
	event(&rec, TONBAND_ISR_ENTER, 7, 1, 0, NULL);
	buf_add(&rec, "\x02\x42\0\0", 4); /* an unknown id, then nothing */
	event(&rec, TONBAND_ISR_EXIT, 8, 1, 0, NULL);
	buf_add(&rec, "\x09\x07", 2);
	import_rec(&rec, false);
	cr_assert_eq(count("\"tband.invalid\""), 4);
	expect("\"tband.invalid\",\"ts\":null,");
	expect("\"tband.invalid\",\"ts\":7,");
	expect("[\"offset\",9,18],[\"ended\",3,false],[\"frame\",5,{\"hex\":\"0907\"}]");
	expect("\"tband.isr_exit\",\"ts\":8,");
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED, NULL), 4);
}

/* Frames above the limit are skipped, those at it are kept; memory depends on the limit, not on the file. */
Test(tonband_import, skips_frames_above_the_limit)
{
	event(&rec, TONBAND_ISR_ENTER, 7, 1, 0, NULL);
	for (int i = 0; i < 3 * 1024 * 1024; i++)
		buf_addch(&rec, 'x');
	buf_addch(&rec, '\0');
	event(&rec, TONBAND_ISR_EXIT, 8, 1, 0, NULL);
	cr_assert_eq(import(&rec, false, &trace, &notes), 0);
	cr_assert_lt(trace.len, 2000);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_NOT_KEPT, NULL), 3 * 1024 * 1024);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED, "frame too long"), 1);
}

/* 262144 names and 1024 cores are looked up; more are only kept unchanged. */
Test(tonband_import, limits_names_and_cores)
{
	char name[16];

	for (uint64_t i = 0; i < 262144 + 9; i++) {
		snprintf(name, sizeof(name), "%x", (unsigned int)i);
		event(&rec, TONBAND_TASK_NAME, 0, i, 0, name);
	}
	/* Core 0 is known by now. */
	for (uint64_t i = 0; i < 1024 + 6; i++)
		event(&rec, TONBAND_CORE_ID, 0, i, 0, NULL);
	cr_assert_eq(import(&rec, false, &trace, &notes), 0);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_HINT,
					 "names beyond the limit, not looked up"),
		     9);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_HINT,
					 "events of cores beyond the limit of distinct cores"),
		     6);
}

Test(tonband_import, refuses_files_without_an_event)
{
	cr_assert_eq(import(&rec, false, &trace, &notes), -EBADMSG);
	buf_add(&rec, "\0\0\0\0\xff\xff", 6);
	cr_assert_eq(import(&rec, false, &trace, &notes), -EBADMSG);
	cr_assert_eq(import(&rec, true, &trace, &notes), -EBADMSG);
}
