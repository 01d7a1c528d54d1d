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

/* How the bytes of a raw record become a dial9 value. */
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
	EVENT_OP_USER_TEXT, /* behind the record, see prof_event_cfg; may be absent */
};

struct event_field {
	uint16_t off;
	uint16_t size;
	enum event_op op;
	bool code; /* an address of the kernel's, which is shown by name */
};

/*
 * The same of an event whose fields are all numbers and names of tasks, which lie in one place each. A number is
 * what is left of the eight bytes at `at` (little-endian) when they are shifted up and down again.
 */
struct event_step {
	uint16_t at;
	uint8_t up, down;
	uint8_t width; /* of the value in the trace; 0: a varint */
	bool is_signed;
	bool is_name; /* of EVENT_NAME_SIZE bytes at `at` */
};

enum { EVENT_STEPS_MAX = 16, EVENT_NAME_SIZE = 16 };

/*
 * A tracepoint as the recorder handles it: where each field of the raw record lies, and the schemas
 * that its values take. Signed values are kept exactly at little cost by having two schemas under
 * one name: a record whose signed values are all >= 0 takes `compact`, where they are varints; any
 * other takes `wide`, where they are I64.
 */
struct event_def {
	char *name; /* system:event */
	struct format_event *format;
	struct event_field *fields; /* as in the format, without the common ones; then texts */
	char **names; /* of the fields */
	size_t field_cnt;
	struct event_step
		*steps; /* one a field; NULL: some field is of another kind, or they are too many */
	size_t steps_sz; /* bytes of the record that they take for granted */
	struct dial9_event_type type; /* that they are written as: of `compact` */
	bool any_code;
	struct dial9_schema *compact;
	struct dial9_schema *wide; /* NULL without signed fields */
	bool has_context; /* a wakeup: see PROF_F_CONTEXT, which is its last field */
	bool is_watch; /* of a CPU: see PROF_EV_CPU_WATCH */
	bool is_stay; /* off the CPU: see PROF_EV_OFF_CPU */
	const struct event_field *current_comm; /* the field that names the current task, or NULL */
	struct filter *filter; /* NULL: all of its records are wanted */
	char *filter_text; /* that it was compiled from, or NULL */
	struct prof_event_cfg cfg;
};

/* Takes format over, also on failure. -ENOTSUP with one line printed when a field has no mapping. */
int event_def_new(struct format_event *format, struct event_def **out);
void event_def_free(struct event_def *def);

/* Only what the expression lets through from here on; NULL: all. -EINVAL after one line about it. */
int event_def_filter(struct event_def *def, const char *expr);

/*
 * Where a field's bytes lie in a raw record of len bytes: 0, or -EBADMSG when they reach outside.
 * Text ends before its first NUL.
 */
int event_field_bytes(const struct event_field *f, const uint8_t *raw, size_t len,
		      const uint8_t **data, size_t *sz);

/* The number of a field of one of the integer ops, sign-extended; 0 outside of the record. */
int64_t event_field_int(const struct event_field *f, const uint8_t *raw, size_t len);

static inline bool event_op_is_signed(enum event_op op)
{
	return op >= EVENT_OP_S8 && op <= EVENT_OP_S64;
}

#endif
