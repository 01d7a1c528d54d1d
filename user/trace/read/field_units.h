/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_READ_FIELD_UNITS_H
#define D9_TRACE_READ_FIELD_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "dial9.h"
#include "trace/read/names.h"

/* What kind of number a field holds: PROF_KIND_*. */
enum field_units_kind {
	FIELD_UNITS_NONE, /* nobody says, or a kind from the future */
	FIELD_UNITS_PID,
	FIELD_UNITS_TID,
	FIELD_UNITS_CPU,
	FIELD_UNITS_ADDR,
	FIELD_UNITS_STATE, /* of a task, bits as in sched_switch */
	FIELD_UNITS_COUNTER, /* it only rises */
	FIELD_UNITS_GAUGE, /* a level at a time */
	FIELD_UNITS_CNT,
};

/* What the numbers of one field mean. {0} but for unit and names is: nothing known. */
struct field_units {
	uint8_t kind; /* enum field_units_kind */
	bool kind_said, unit_said; /* by the trace, and not known from the field's name */
	uint32_t unit; /* string id, NAMES_NONE: none; any text where it was said */
	uint32_t names; /* string id of the text of PROF_NOTE_ENUM, NAMES_NONE: none */
	uint64_t ns; /* nanoseconds in one unit; 0: no time */
};

#define FIELD_UNITS_UNKNOWN ((struct field_units){ .unit = NAMES_NONE, .names = NAMES_NONE })

/* "pid" and so on; NULL for FIELD_UNITS_NONE. */
const char *field_units_kind_name(enum field_units_kind kind);

/*
 * Annotations as they count, put into @out, which is empty: in order of field and key, of each the last one, and none
 * of an empty value, which takes back what was said. Nothing at all when there are more than anybody means.
 */
struct dial9_iter field_units_compact(struct dial9_iter notes, struct buf *out);

/*
 * What annotations say of a schema's fields: field_cnt of them, which the caller frees. For each field and key the
 * last one counts.
 */
struct field_units *field_units_said(struct names *n, size_t field_cnt, struct dial9_iter notes);
/* Fills in what is known of a field by its name and that of its event, and was not said. */
void field_units_know(struct names *n, struct dial9_str event, struct dial9_str field,
		      struct field_units *m);

/* Whether an annotation is a kind, or a unit of time or of bytes: nothing that somebody made up. */
bool field_units_is_common(struct dial9_str key, struct dial9_str value);

/* The text that stands for what has no names of its own: of states, and addresses; NULL for others. */
const char *field_units_default_names(const struct field_units *m);

#endif /* D9_TRACE_READ_FIELD_UNITS_H */
