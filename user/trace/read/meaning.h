/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TRACE_READ_MEANING_H
#define D9_TRACE_READ_MEANING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "dial9.h"
#include "trace/read/names.h"

/* What kind of number a field holds: PROF_KIND_*. */
enum meaning_kind {
	MEANING_NONE, /* nobody says, or a kind from the future */
	MEANING_PID,
	MEANING_TID,
	MEANING_CPU,
	MEANING_ADDR,
	MEANING_STATE, /* of a task, bits as in sched_switch */
	MEANING_COUNTER, /* it only rises */
	MEANING_GAUGE, /* a level at a time */
	MEANING_CNT,
};

/* What the numbers of one field mean. {0} but for unit and names is: nothing known. */
struct meaning {
	uint8_t kind; /* enum meaning_kind */
	bool kind_said, unit_said; /* by the trace, and not known from the field's name */
	uint32_t unit; /* string id, NAMES_NONE: none; any text where it was said */
	uint32_t names; /* string id of the text of PROF_NOTE_ENUM, NAMES_NONE: none */
	uint64_t ns; /* nanoseconds in one unit; 0: no time */
};

#define MEANING_UNKNOWN ((struct meaning){ .unit = NAMES_NONE, .names = NAMES_NONE })

/* "pid" and so on; NULL for MEANING_NONE. */
const char *meaning_kind_name(enum meaning_kind kind);

/*
 * Annotations as they count, put into @out, which is empty: in order of field and key, of each the last one, and none
 * of an empty value, which takes back what was said. Nothing at all when there are more than anybody means.
 */
struct dial9_iter meaning_compact(struct dial9_iter notes, struct buf *out);

/*
 * What annotations say of a schema's fields: field_cnt of them, which the caller frees. For each field and key the
 * last one counts.
 */
struct meaning *meaning_said(struct names *n, size_t field_cnt, struct dial9_iter notes);
/* Fills in what is known of a field by its name and that of its event, and was not said. */
void meaning_know(struct names *n, struct dial9_str event, struct dial9_str field,
		  struct meaning *m);

/* Whether an annotation is a kind, or a unit of time or of bytes: nothing that somebody made up. */
bool meaning_is_common(struct dial9_str key, struct dial9_str value);

/* The text that stands for what has no names of its own: of states, and addresses; NULL for others. */
const char *meaning_default_names(const struct meaning *m);

#endif /* D9_TRACE_READ_MEANING_H */
