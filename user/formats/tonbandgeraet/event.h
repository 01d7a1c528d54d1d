/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_TONBANDGERAET_EVENT_H
#define D9_FORMATS_TONBANDGERAET_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* How a field is encoded. A str is the rest of the payload, so it is always the last. */
enum tonband_kind {
	TONBAND_U32 = 1,
	TONBAND_U64,
	TONBAND_S64, /* magnitude << 1 | sign; 1 is INT64_MIN */
	TONBAND_QUEUE_KIND, /* a byte that must be one of the known kinds */
	TONBAND_STR,
};

enum tonband_group { TONBAND_BASE, TONBAND_FREERTOS };

/* Ids that other code has to know by meaning. */
enum tonband_id {
	TONBAND_CORE_ID = 0x00,
	TONBAND_DROPPED_EVT_CNT = 0x01,
	TONBAND_TS_RESOLUTION_NS = 0x02,
	TONBAND_ISR_NAME = 0x03,
	TONBAND_ISR_ENTER = 0x04,
	TONBAND_ISR_EXIT = 0x05,
	TONBAND_EVTMARKER_NAME = 0x06,
	TONBAND_EVTMARKER = 0x07,
	TONBAND_EVTMARKER_BEGIN = 0x08,
	TONBAND_EVTMARKER_END = 0x09,
	TONBAND_VALMARKER_NAME = 0x0a,
	TONBAND_VALMARKER = 0x0b,
	TONBAND_TASK_SWITCHED_IN = 0x54,
	TONBAND_CURTASK_DELAY = 0x59,
	TONBAND_CURTASK_DELAY_UNTIL = 0x5a,
	TONBAND_TASK_NAME = 0x5f,
	TONBAND_QUEUE_NAME = 0x64,
	TONBAND_CURTASK_BLOCK_FIRST = 0x6d,
	TONBAND_CURTASK_BLOCK_LAST = 0x6f,
	TONBAND_TASK_EVTMARKER_NAME = 0x7a,
	TONBAND_TASK_EVTMARKER = 0x7b,
	TONBAND_TASK_EVTMARKER_END = 0x7d,
	TONBAND_TASK_VALMARKER_NAME = 0x7e,
	TONBAND_TASK_VALMARKER = 0x7f,
};

#define TONBAND_FIELDS_MAX 2 /* in addition to ts and a str */

struct tonband_field {
	const char *name;
	enum tonband_kind kind;
};

/* One row of the format's event table. */
struct tonband_type {
	const char *name; /* "task_switched_in"; NULL: the id is not assigned */
	enum tonband_group group;
	bool has_ts; /* a ts field stands first; without one it is metadata */
	const char *str; /* name of the str field after the others, or NULL */
	struct tonband_field fields[TONBAND_FIELDS_MAX]; /* name NULL: no more */
};

/* A decoded event. num[i] is the value of fields[i] (an s64 as its bits); str is borrowed. */
struct tonband_event {
	uint8_t id;
	const struct tonband_type *type;
	uint64_t ts;
	uint64_t num[TONBAND_FIELDS_MAX];
	const char *str;
	size_t str_len;
};

/* The row of an id, or NULL. */
const struct tonband_type *tonband_event_type(unsigned int id);

/* The id of the type of that name, or -1. */
int tonband_event_find(const char *name, size_t len);

/* "queue", "mutex", ... or NULL for a number past the last kind. */
const char *tonband_event_queue_kind(uint64_t kind);

/*
 * Undo COBS in place: frame[0..sz) without its delimiter becomes the payload, of *out_sz bytes.
 * NULL, or a static text that says what is wrong.
 */
const char *tonband_event_unframe(uint8_t *frame, size_t sz, size_t *out_sz);

/* Decode a payload; ev->str borrows it. Text is not checked. NULL, or what is wrong (static). */
const char *tonband_event_parse(const uint8_t *payload, size_t sz, struct tonband_event *ev);

/* Append the event as one frame, delimiter and all, in the form that the format's own writer gives. */
void tonband_event_write(struct buf *out, const struct tonband_event *ev);

#endif /* D9_FORMATS_TONBANDGERAET_EVENT_H */
