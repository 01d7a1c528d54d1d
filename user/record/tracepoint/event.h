/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_TRACEPOINT_EVENT_H
#define D9_RECORD_TRACEPOINT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dial9.h"
#include "prof_abi.h"

struct filter;
struct format_event;

/* How raw bytes become a dial9 value. */
enum event_op {
	EVENT_OP_U8,
	EVENT_OP_U16,
	EVENT_OP_U32,
	EVENT_OP_U64,
	EVENT_OP_BOOL,
	EVENT_OP_S8,
	EVENT_OP_S16,
	EVENT_OP_S32,
	EVENT_OP_S64,
	EVENT_OP_CHARS,
	EVENT_OP_STRING, /* __data_loc */
	EVENT_OP_REL_STRING,
	EVENT_OP_BYTES,
	EVENT_OP_DYN_BYTES,
	EVENT_OP_REL_BYTES,
	EVENT_OP_USER_TEXT, /* after the record, see prof_event_cfg; may be absent */
};

struct event_field {
	uint16_t off;
	uint16_t size;
	enum event_op op;
	bool code; /* an address in kernel code, shown as a symbol */
};

/*
 * The same for an event that has only numbers and task names at fixed offsets. A number is extracted from the eight
 * bytes at `at` (little-endian) by shifting up and down.
 */
struct event_step {
	uint16_t at;
	uint8_t up, down;
	uint8_t width; /* in the trace; 0: a varint */
	bool is_signed;
	bool is_name; /* EVENT_NAME_SIZE bytes at `at` */
};

enum { EVENT_STEPS_MAX = 16, EVENT_NAME_SIZE = 16 };

/*
 * A tracepoint in the recorder: the location of each raw field, and its schemas. There are two schemas of the same
 * name, to encode signed values exactly at little cost. A record whose signed values are all >= 0 uses `compact`,
 * where they are varints. Any other record uses `wide`, where they are I64.
 */
struct event_def {
	char *name; /* system:event */
	struct format_event *format;
	struct event_field *fields; /* as in the format, without the common ones; then texts */
	char **names; /* of the fields */
	size_t field_cnt;
	struct event_step *steps; /* one per field; NULL: unsupported or too many fields */
	size_t steps_sz; /* minimum size of the record */
	size_t steps_at; /* offset of the first field, at least 8 before steps_sz */
	struct dial9_event_type type; /* of `compact` */
	bool any_code;
	struct dial9_schema *compact;
	struct dial9_schema *wide; /* NULL without signed fields */
	bool has_context; /* a wakeup: its last field is PROF_F_CONTEXT */
	bool is_watch; /* PROF_EV_CPU_WATCH */
	bool is_stay; /* PROF_EV_OFF_CPU */
	const struct event_field *current_comm; /* the field with the current task's name, or NULL */
	struct filter *filter; /* NULL: all records */
	char *filter_text; /* the source of the filter, or NULL */
	struct prof_event_cfg cfg;
};

/* Owns format, also on failure. -ENOTSUP with one line if a field is not supported. */
int event_def_new(struct format_event *format, struct event_def **out);
void event_def_free(struct event_def *def);

/* From here on only records that match the expression; NULL: all. -EINVAL after one line about the error. */
int event_def_filter(struct event_def *def, const char *expr);

/*
 * The location of a field's bytes in a raw record of len bytes: 0, or -EBADMSG if they reach outside. Text ends
 * before its first NUL.
 */
int event_field_bytes(const struct event_field *f, const uint8_t *raw, size_t len,
		      const uint8_t **data, size_t *sz);

/* The number in an integer field, sign-extended; 0 outside the record. */
int64_t event_field_int(const struct event_field *f, const uint8_t *raw, size_t len);

static inline bool event_op_is_signed(enum event_op op)
{
	return op >= EVENT_OP_S8 && op <= EVENT_OP_S64;
}

#endif
