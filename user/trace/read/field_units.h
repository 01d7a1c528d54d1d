/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_READ_FIELD_UNITS_H
#define D9_TRACE_READ_FIELD_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "dial9.h"
#include "trace/read/names.h"

/* The kind of number in a field: PROF_KIND_*. */
enum field_units_kind {
	FIELD_UNITS_NONE, /* not declared, or a kind from a later version */
	FIELD_UNITS_PID,
	FIELD_UNITS_TID,
	FIELD_UNITS_CPU,
	FIELD_UNITS_ADDR,
	FIELD_UNITS_STATE, /* of a task, bits as in sched_switch */
	FIELD_UNITS_COUNTER, /* never decreases */
	FIELD_UNITS_GAUGE, /* a level at a point in time */
	FIELD_UNITS_CNT,
};

/* What the values of a field mean. {0}, except for unit and names: unknown. */
struct field_units {
	uint8_t kind; /* enum field_units_kind */
	/* declared by the trace, not known from the field's name */
	bool kind_declared, unit_declared;
	uint32_t unit; /* string id, NAMES_NONE: none; any text if declared */
	uint32_t names; /* string id of the text of PROF_NOTE_ENUM, NAMES_NONE: none */
	uint64_t ns; /* nanoseconds per unit; 0: not a time */
};

#define FIELD_UNITS_UNKNOWN ((struct field_units){ .unit = NAMES_NONE, .names = NAMES_NONE })

/* "pid" and others; NULL for FIELD_UNITS_NONE. */
const char *field_units_kind_name(enum field_units_kind kind);

/*
 * Copies the effective annotations to @out, which is empty: sorted by field and key, only the last
 * of each, without empty values, which delete earlier ones. Empty if there are unreasonably many.
 */
struct dial9_iter field_units_compact(struct dial9_iter notes, struct buf *out);

/*
 * Units from annotations: an array of field_cnt, which the caller frees. The last annotation of a
 * field and key counts.
 */
struct field_units *field_units_declared(struct names *n, size_t field_cnt,
					 struct dial9_iter notes);
/* Fills in what the names of the field and its event imply, if it was not declared. */
void field_units_fill_known(struct names *n, struct dial9_str event, struct dial9_str field,
			    struct field_units *m);

/* Whether an annotation is a known kind, or a unit of time or bytes. */
bool field_units_is_common(struct dial9_str key, struct dial9_str value);

/* The enum text for kinds with standard names: states and addresses; NULL for others. */
const char *field_units_default_names(const struct field_units *m);

#endif /* D9_TRACE_READ_FIELD_UNITS_H */
