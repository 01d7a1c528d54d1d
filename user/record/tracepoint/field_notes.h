/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TRACEPOINT_FIELD_NOTES_H
#define D9_RECORD_TRACEPOINT_FIELD_NOTES_H

#include "events/own_events.h"

struct format_event;
struct format_field;

/* For a field of a tracepoint. */
struct field_note field_notes_of(const struct format_event *ev, const struct format_field *f);
/* For a field by name alone: @event is PROF_EV_* or a tracepoint. */
struct field_note field_notes_known(const char *event, const char *field);

#endif
