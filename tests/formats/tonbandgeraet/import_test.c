// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the frames mean once they are dial9: time, names, the running task, drops, several cores, and
 * that nothing a file does makes the rest of it unreadable.
 */
#include "support.h"

TestSuite(tonband_import, .init = quiet);

/* The events of the recording as dial9 lines; follow: in one pass. */
static struct buf lines_of(const struct buf *rec, bool follow, struct foreign_notes *notes)
{
	struct buf trace = { 0 }, lines;

	cr_assert_eq(import(rec, follow, &trace, notes), 0);
	lines = events_of(&trace);
	buf_free(&trace);
	return lines;
}

static void expect(const struct buf *lines, const char *want)
{
	cr_assert(strstr(buf_cstr((struct buf *)lines), want), "no %s in\n%s", want, lines->data);
}

static size_t count(const struct buf *lines, const char *what)
{
	size_t n = 0;

	for (const char *p = lines->data; p && (p = strstr(p, what)); p++)
		n++;
	return n;
}

static struct buf named_late(void)
{
	struct buf rec = { 0 };

	event(&rec, TONBAND_TASK_SWITCHED_IN, 10, 3, 0, NULL);
	event(&rec, TONBAND_CURTASK_DELAY, 20, 5, 0, NULL);
	event(&rec, TONBAND_TASK_EVTMARKER, 30, 9, 0, "hi");
	event(&rec, TONBAND_TASK_EVTMARKER_NAME, 0, 9, 0, "mine");
	event(&rec, TONBAND_TASK_NAME, 0, 3, 0, "blinky");
	event(&rec, TONBAND_TS_RESOLUTION_NS, 0, 100, 0, NULL);
	event(&rec, TONBAND_TASK_SWITCHED_IN, 40, 3, 0, NULL);
	return rec;
}

Test(tonband_import, knows_names_and_resolution_from_the_first_event_in_two_passes)
{
	struct foreign_notes notes = { 0 };
	struct buf rec = named_late(), lines = lines_of(&rec, false, &notes);

	expect(&lines, "\"tband.task_switched_in\",\"ts\":1000,\"fields\":[[\"core\",13,0],"
		       "[\"task_id\",13,3],[\"name\",135,{\"pool\":");
	expect(&lines, "\"tband.curtask_delay\",\"ts\":2000,\"fields\":[[\"core\",13,0],"
		       "[\"ticks\",13,5],[\"task\",141,3],[\"task_name\",135,{\"pool\":");
	/* Written by the target for task 0, meant for the one that runs. */
	expect(&lines, "\"str\":\"mine\"}],[\"task\",141,3]");
	cr_assert_eq(count(&lines, "\"str\":\"blinky\""), 5);
	cr_assert_eq(count(&lines, "[\"ts\","), 0);
	cr_assert_eq(notes.cnt, 0);
	buf_free(&rec);
	buf_free(&lines);
}

/* The same marker id in two tasks, each named by the task that runs, for a task 0 that is nobody. */
Test(tonband_import, tells_markers_of_tasks_apart)
{
	struct foreign_notes notes = { 0 };
	struct buf rec = { 0 }, lines;

	event(&rec, TONBAND_TASK_SWITCHED_IN, 1, 1, 0, NULL);
	event(&rec, TONBAND_TASK_EVTMARKER_NAME, 0, 4, 0, "red");
	event(&rec, TONBAND_TASK_SWITCHED_IN, 2, 2, 0, NULL);
	event(&rec, TONBAND_TASK_EVTMARKER_NAME, 0, 4, 0, "blue");
	event(&rec, TONBAND_TASK_EVTMARKER, 3, 4, 0, "x");
	event(&rec, TONBAND_TASK_SWITCHED_IN, 4, 1, 0, NULL);
	event(&rec, TONBAND_TASK_EVTMARKER, 5, 4, 0, "y");
	lines = lines_of(&rec, false, &notes);
	expect(&lines, "[\"msg\",4,\"x\"],[\"name\",135,{\"pool\":1,\"str\":\"blue\"}]");
	expect(&lines, "[\"msg\",4,\"y\"],[\"name\",135,{\"pool\":0,\"str\":\"red\"}]");
	foreign_notes_fini(&notes);
	buf_free(&rec);
	buf_free(&lines);
}

Test(tonband_import, goes_by_what_came_before_in_one_pass)
{
	struct foreign_notes notes = { 0 };
	struct buf rec = named_late(), lines = lines_of(&rec, true, &notes);

	expect(&lines, "\"tband.task_switched_in\",\"ts\":10,\"fields\":[[\"core\",13,0],"
		       "[\"task_id\",13,3],[\"name\",135,null],[\"ts\",9,10]]");
	expect(&lines, "\"tband.task_switched_in\",\"ts\":4000,\"fields\":[[\"core\",13,0],"
		       "[\"task_id\",13,3],[\"name\",135,{\"pool\":");
	cr_assert_eq(count(&lines, "[\"ts\","), 3);
	buf_free(&rec);
	buf_free(&lines);
}

Test(tonband_import, keeps_ticks_that_have_no_ns)
{
	struct foreign_notes notes = { 0 };
	struct buf rec = { 0 }, lines;

	event(&rec, TONBAND_TS_RESOLUTION_NS, 0, 0, 0, NULL);
	event(&rec, TONBAND_TS_RESOLUTION_NS, 0, 3, 0, NULL);
	event(&rec, TONBAND_ISR_ENTER, UINT64_MAX / 3, 1, 0, NULL);
	event(&rec, TONBAND_ISR_EXIT, UINT64_MAX / 3 + 1, 1, 0, NULL);
	lines = lines_of(&rec, false, &notes);
	expect(&lines,
	       "\"tband.isr_enter\",\"ts\":18446744073709551615,\"fields\":[[\"core\",13,0],"
	       "[\"isr_id\",13,1],[\"name\",135,null]]");
	expect(&lines, "\"tband.isr_exit\",\"ts\":18446744073709551615,\"fields\":[[\"core\",13,0],"
		       "[\"isr_id\",13,1],[\"name\",135,null],[\"ts\",9,6148914691236517206]]");
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED, NULL), 1);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_HINT, "resolutions of 0 ns, ignored"),
		     1);
	foreign_notes_fini(&notes);
	buf_free(&rec);
	buf_free(&lines);
}

Test(tonband_import, escapes_text_that_is_not_utf8_and_keeps_its_bytes)
{
	struct foreign_notes notes = { 0 };
	struct buf rec = { 0 }, lines;

	event(&rec, TONBAND_EVTMARKER_NAME, 0, 1, 0, "T\xc3");
	event(&rec, TONBAND_EVTMARKER, 5, 1, 0, "\xffx");
	lines = lines_of(&rec, false, &notes);
	expect(&lines, "\"tband.evtmarker\",\"ts\":5,\"fields\":[[\"core\",13,0],"
		       "[\"evtmarker_id\",13,1],[\"msg\",4,\"\\\\xffx\"],[\"name\",135,{\"pool\":");
	expect(&lines, "\"str\":\"T\\\\xc3\"}],[\"bytes\",5,{\"hex\":\"ff78\"}]]");
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_CHANGED, NULL), 2);
	foreign_notes_fini(&notes);
	buf_free(&rec);
	buf_free(&lines);
}

Test(tonband_import, merges_cores_by_time_with_their_own_names)
{
	struct files f = { 0 };
	struct foreign_notes notes = { 0 };
	struct buf a = { 0 }, b = { 0 }, trace = { 0 }, back = { 0 }, lines;

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
	cr_assert_eq(count(&lines, "\"left\""), 5);
	cr_assert_eq(count(&lines, "\"right\""), 5);
	/* At one time the lower core goes first. */
	expect(&lines, "\"ts\":0,\"fields\":[[\"core\",13,2]");
	cr_assert_lt(strstr(lines.data, "\"ts\":20,\"fields\":[[\"core\",13,2]"),
		     strstr(lines.data, "\"ts\":20,\"fields\":[[\"core\",13,5]"));
	cr_assert_lt(strstr(lines.data, "\"ts\":11,"), strstr(lines.data, "\"ts\":20,"));
	/* Written in one file again, the cores are said by frames of their own. */
	cr_assert_eq(export(&trace, &back, &notes), 0);
	buf_free(&lines);
	lines = dump(&back, &notes);
	cr_assert_eq(count(&lines, "CoreId"), 9);
	cr_assert_eq(count(&lines, "IsrEnter") + count(&lines, "IsrExit"), 8);
	foreign_notes_fini(&notes);
	buf_free(&a);
	buf_free(&b);
	buf_free(&trace);
	buf_free(&back);
	buf_free(&lines);
}

Test(tonband_import, follows_core_frames_within_a_file)
{
	struct foreign_notes notes = { 0 };
	struct buf rec = { 0 }, lines;

	event(&rec, TONBAND_CORE_ID, 0, 0, 0, NULL);
	event(&rec, TONBAND_TASK_SWITCHED_IN, 5, 1, 0, NULL);
	event(&rec, TONBAND_CORE_ID, 0, 1, 0, NULL);
	event(&rec, TONBAND_CURTASK_DELAY, 6, 9, 0, NULL);
	event(&rec, TONBAND_CORE_ID, 0, 0, 0, NULL);
	event(&rec, TONBAND_CURTASK_DELAY, 7, 9, 0, NULL);
	lines = lines_of(&rec, false, &notes);
	/* A core_id has no place in time. */
	expect(&lines, "\"tband.core_id\",\"ts\":null,\"fields\":[[\"core\",13,1],"
		       "[\"core_id\",13,1],[\"ts\",9,0]]");
	expect(&lines, "\"ts\":6,\"fields\":[[\"core\",13,1],[\"ticks\",13,9],[\"task\",141,null]");
	expect(&lines, "\"ts\":7,\"fields\":[[\"core\",13,0],[\"ticks\",13,9],[\"task\",141,1]");
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_HINT,
					 "restarts of streaming within the recording"),
		     1);
	foreign_notes_fini(&notes);
	buf_free(&rec);
	buf_free(&lines);
}

static void add_hex(struct buf *out, const struct buf *rec)
{
	for (size_t i = 0; i < rec->len; i++)
		buf_printf(out, "%02x", (uint8_t)rec->data[i]);
}

/* A frame that one buffer ends in does not run on into the next. */
Test(tonband_import, begins_anew_with_each_buffer_and_its_core)
{
	struct foreign_notes notes = { 0 };
	struct buf rec = { 0 }, json = { 0 }, lines;

	event(&rec, TONBAND_ISR_ENTER, 5, 1, 0, NULL);
	buf_add(&rec, "\x09\x07", 2);
	buf_addstr(&json, "{\"data\":[{\"core_id\":3,\"hex\":\"");
	add_hex(&json, &rec);
	buf_addstr(&json, "\"},{\"core_id\":4,\"hex\":\"");
	add_hex(&json, &rec);
	buf_addstr(&json, "\"}]}");
	lines = lines_of(&json, true, &notes);
	cr_assert_eq(count(&lines, "\"tband.isr_enter\""), 2);
	expect(&lines, "\"tband.isr_enter\",\"ts\":5,\"fields\":[[\"core\",13,3]");
	expect(&lines, "\"tband.isr_enter\",\"ts\":5,\"fields\":[[\"core\",13,4]");
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED, "frame cut off"), 2);
	foreign_notes_fini(&notes);
	buf_free(&rec);
	buf_free(&json);
	buf_free(&lines);
}

/* One of two files ends within a frame: in one file, what follows must not become part of it. */
Test(tonband_import, ends_a_cut_frame_before_the_next_files_events)
{
	struct files f = { 0 };
	struct foreign_notes notes = { 0 };
	struct buf a = { 0 }, b = { 0 }, trace = { 0 }, back = { 0 }, lines;

	event(&a, TONBAND_ISR_ENTER, 1, 1, 0, NULL);
	buf_add(&a, "\x09\x07", 2);
	event(&b, TONBAND_ISR_EXIT, 9, 1, 0, NULL);
	add_file(&f, &a);
	add_file(&f, &b);
	cr_assert_eq(import_files(&f, false, &trace, &notes), 0);
	cr_assert_eq(export(&trace, &back, &notes), 0);
	lines = dump(&back, &notes);
	expect(&lines, "{\"Base\":{\"ts\":9,\"kind\":{\"IsrExit\":{\"isr_id\":1}}}}\n");
	foreign_notes_fini(&notes);
	buf_free(&a);
	buf_free(&b);
	buf_free(&trace);
	buf_free(&back);
	buf_free(&lines);
}

Test(tonband_import, counts_drops_once_whichever_core_repeats_them)
{
	static const struct {
		uint32_t core, total;
		unsigned int lost;
	} steps[] = { { 0, 0, 0 }, { 0, 3, 3 },	 { 1, 3, 0 }, { 1, 10, 7 }, { 0, 8, 0 },
		      { 0, 8, 0 }, { 0, 10, 0 }, { 0, 2, 2 }, { 1, 2, 0 },  { 0, UINT32_MAX, 0 } };
	struct foreign_notes notes = { 0 };
	struct buf rec = { 0 }, lines;
	uint64_t lost = 0;

	/* The last: from 2 to the end of the count, and one round on to 4. */
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		event(&rec, TONBAND_CORE_ID, 0, steps[i].core, 0, NULL);
		event(&rec, TONBAND_DROPPED_EVT_CNT, 10 + i, steps[i].total, 0, NULL);
		lost += steps[i].lost;
	}
	event(&rec, TONBAND_DROPPED_EVT_CNT, 30, 4, 0, NULL);
	lost += (uint64_t)UINT32_MAX - 2 + 5;
	lines = lines_of(&rec, false, &notes);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DROPPED, NULL), lost);
	cr_assert_eq(count(&lines, "\"tband.dropped\""), 5);
	foreign_notes_fini(&notes);
	buf_free(&rec);
	buf_free(&lines);
}

Test(tonband_import, keeps_what_it_cannot_read_and_goes_on)
{
	struct foreign_notes notes = { 0 };
	struct buf rec = { 0 }, lines;

	buf_add(&rec, "\x63\x75\x74\0", 4); /* the end of a frame */
	event(&rec, TONBAND_ISR_ENTER, 7, 1, 0, NULL);
	buf_add(&rec, "\x02\x42\0\0", 4); /* an unknown id, then nothing */
	event(&rec, TONBAND_ISR_EXIT, 8, 1, 0, NULL);
	buf_add(&rec, "\x09\x07", 2);
	lines = lines_of(&rec, false, &notes);
	cr_assert_eq(count(&lines, "\"tband.invalid\""), 4);
	expect(&lines, "\"tband.invalid\",\"ts\":null,");
	expect(&lines, "\"tband.invalid\",\"ts\":7,");
	expect(&lines, "[\"offset\",9,18],[\"ended\",3,false],[\"frame\",5,{\"hex\":\"0907\"}]");
	expect(&lines, "\"tband.isr_exit\",\"ts\":8,");
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED, NULL), 4);
	foreign_notes_fini(&notes);
	buf_free(&rec);
	buf_free(&lines);
}

/* Frames past the limit are skipped, those at it are kept; memory is the limit's, not the file's. */
Test(tonband_import, skips_what_no_frame_is_long_enough_for)
{
	struct foreign_notes notes = { 0 };
	struct buf rec = { 0 }, trace = { 0 };

	event(&rec, TONBAND_ISR_ENTER, 7, 1, 0, NULL);
	for (int i = 0; i < 3 * 1024 * 1024; i++)
		buf_addch(&rec, 'x');
	buf_addch(&rec, '\0');
	event(&rec, TONBAND_ISR_EXIT, 8, 1, 0, NULL);
	cr_assert_eq(import(&rec, false, &trace, &notes), 0);
	cr_assert_lt(trace.len, 2000);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_LOST, NULL), 3 * 1024 * 1024);
	cr_assert_eq(foreign_notes_count(&notes, FOREIGN_NOTE_DAMAGED, "frame too long"), 1);
	foreign_notes_fini(&notes);
	buf_free(&rec);
	buf_free(&trace);
}

/* 262144 names and 1024 cores are looked up; more are only kept as they are. */
Test(tonband_import, looks_up_no_more_than_it_has_room_for)
{
	struct foreign_notes notes = { 0 };
	struct buf rec = { 0 }, trace = { 0 };
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
					 "events of more cores than can be told apart"),
		     6);
	foreign_notes_fini(&notes);
	buf_free(&rec);
	buf_free(&trace);
}

Test(tonband_import, refuses_what_has_no_event)
{
	struct foreign_notes notes = { 0 };
	struct buf rec = { 0 }, trace = { 0 };

	cr_assert_eq(import(&rec, false, &trace, &notes), -EBADMSG);
	buf_add(&rec, "\0\0\0\0\xff\xff", 6);
	cr_assert_eq(import(&rec, false, &trace, &notes), -EBADMSG);
	cr_assert_eq(import(&rec, true, &trace, &notes), -EBADMSG);
	foreign_notes_fini(&notes);
	buf_free(&rec);
	buf_free(&trace);
}
