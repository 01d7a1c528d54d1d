/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TRACEPOINT_FIELD_NOTES_H
#define D9_RECORD_TRACEPOINT_FIELD_NOTES_H

struct format_event;
struct format_field;

/* What the numbers of a field are: static text, NULL where that is not certain. */
struct field_note {
	const char *unit; /* PROF_UNIT_* and others */
	const char *kind; /* PROF_KIND_* */
};

/* Of a field of a tracepoint. */
struct field_note field_notes_of(const struct format_event *ev, const struct format_field *f);
/* Of a field by name alone: @event as PROF_EV_*, or a tracepoint's. */
struct field_note field_notes_known(const char *event, const char *field);

#endif
