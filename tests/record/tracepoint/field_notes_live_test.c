// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every tracepoint of the running kernel: the notes of its fields fit their types and names, and the lines of
 * all enums are the rows that print fmt gave.
 */
#include "record/tracepoint/field_notes.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "kernel/tracefs/format.h"
#include "kernel/tracefs/tracefs.h"
#include "prof_events.h"
#include "tests/kernel/need_root.h"
#include "tests/record/annotate_check.h"

struct walk {
	int dirfd;
	size_t events, fields, pointers, rows;
	size_t kinds[6], units; /* as in kind_names; fields with a unit */
};

static const char *const kind_names[6] = { PROF_KIND_ADDR, PROF_KIND_CPU,   PROF_KIND_PID,
					   PROF_KIND_TID,  PROF_KIND_STATE, NULL };

/* What must hold for that kind, for each rule. */
static bool may_be(const char *kind, const struct format_field *f)
{
	if (!strcmp(kind, PROF_KIND_ADDR))
		return f->size == 8;
	if (!strcmp(kind, PROF_KIND_CPU))
		return strstr(f->name, "cpu") && !strstr(f->name, "vcpu") && !strchr(f->ctype, '*');
	if (!strcmp(kind, PROF_KIND_PID) || !strcmp(kind, PROF_KIND_TID))
		return (strstr(f->name, "pid") || strstr(f->name, "tgid")) &&
		       !strstr(f->name, "pidfd") && !strchr(f->ctype, '*');
	return true;
}

static void check_field_note(struct walk *w, const struct format_event *ev,
			     const struct format_field *f)
{
	const bool integer = f->kind == FORMAT_UINT || f->kind == FORMAT_SINT;
	const bool pointer = integer && f->size == 8 && strchr(f->ctype, '*');
	struct field_note note = field_notes_of(ev, f);

	w->fields++;
	w->pointers += pointer;
	w->units += note.unit != NULL;
	cr_expect(!pointer || (note.kind && !strcmp(note.kind, PROF_KIND_ADDR)), "%s:%s.%s",
		  ev->system, ev->name, f->name);
	cr_expect(!pointer || !note.unit, "%s:%s.%s", ev->system, ev->name, f->name);
	cr_expect(integer || (!note.kind && !note.unit), "%s:%s.%s", ev->system, ev->name, f->name);
	if (!note.kind)
		return;
	cr_expect(may_be(note.kind, f), "%s:%s.%s: %s", ev->system, ev->name, f->name, note.kind);
	for (size_t i = 0; i < 6; i++)
		if (!kind_names[i] || !strcmp(kind_names[i], note.kind)) {
			w->kinds[i]++;
			break;
		}
}

static int check_event(const char *system, const char *name, void *ctx)
{
	struct walk *w = ctx;
	struct buf text = { 0 };
	struct format_event *ev;
	char path[600];
	const char *why;

	snprintf(path, sizeof(path), "events/%s/%s/format", system, name);
	cr_assert_eq(tracefs_read(w->dirfd, path, &text), 0, "%s", path);
	cr_assert_eq(format_parse(text.data, text.len, system, &ev, &why), 0, "%s:%s: %s", system,
		     name, why);
	for (size_t i = 0; i < ev->cnt; i++)
		check_field_note(w, ev, &ev->fields[i]);
	w->events++;
	w->rows += check_rows(ev);
	buf_free(&text);
	return 0;
}

Test(field_notes_live, notes_of_every_event_are_right, .timeout = 120)
{
	struct walk w = { 0 };

	cr_assert_eq(tracefs_open(&w.dirfd), 0);
	cr_assert_eq(tracefs_each_event(w.dirfd, check_event, &w), 0);
	cr_log_info("%zu events, %zu fields: addr %zu (%zu pointers), cpu %zu, pid %zu, tid %zu, "
		    "state %zu, others %zu; units %zu; %zu rows of names",
		    w.events, w.fields, w.kinds[0], w.pointers, w.kinds[1], w.kinds[2], w.kinds[3],
		    w.kinds[4], w.kinds[5], w.units, w.rows);
	cr_assert_gt(w.events, 500);
	cr_assert_gt(w.kinds[0], w.pointers);
	cr_assert_gt(w.kinds[1], 10);
	cr_assert_gt(w.kinds[3], 10);
	cr_assert_eq(w.kinds[4], 1);
	cr_assert_gt(w.units, 10);
	cr_assert_gt(w.rows, 1000);
	close(w.dirfd);
}
