/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_APITRACE_VOCABULARY_H
#define D9_FORMATS_APITRACE_VOCABULARY_H

#include "dial9.h"
#include "formats/apitrace/layout.h"

/*
 * The dial9 events that an import makes besides one for each call, and that an export knows again. Each
 * table entry stands ahead of the first event that uses it. Times stand in none of them unless synthetic
 * ones were asked for.
 */
enum apitrace_word {
	APITRACE_WORD_TRACE, /* the file; the first event */
	APITRACE_WORD_FUNCTION, /* layout of the calls after it, up to the next such event */
	APITRACE_WORD_ENUM, /* one value of an enumeration */
	APITRACE_WORD_FLAG, /* one flag of a bit mask */
	APITRACE_WORD_STRUCT,
	APITRACE_WORD_FRAME, /* symbol of an address in a stack */
	APITRACE_WORD_SYMBOL, /* the same for readers that know no apitrace */
	APITRACE_WORD_CALL, /* a call of a function that has no schema of its own */
	APITRACE_WORD_LEAVE, /* a leave that belongs to no call, or comes when the call was written */
	APITRACE_WORD_SPAN_ENTER, /* with synthetic times only, as is the next */
	APITRACE_WORD_SPAN_EXIT,
	APITRACE_WORD_END, /* the last event */
	APITRACE_WORD_CNT,
};

/* The fields that every call begins with, in its own schema and in APITRACE_WORD_CALL. */
enum apitrace_call_field {
	APITRACE_CALL_SIG,
	APITRACE_CALL_NO,
	APITRACE_CALL_THREAD,
	APITRACE_CALL_ENTER_SEQ,
	APITRACE_CALL_LEAVE_SEQ,
	APITRACE_CALL_FRAME,
	APITRACE_CALL_FLAGS,
	APITRACE_CALL_FIELDS,
};

extern const struct dial9_field apitrace_vocabulary_call[APITRACE_CALL_FIELDS];

/* After the arguments of a call: its result if it has one, then details without a field. */
#define APITRACE_FIELD_STACK "stack"
#define APITRACE_FIELD_RET "ret"
#define APITRACE_FIELD_DETAILS "details"

/* Addresses that stand for frames: this and up, in order of first sight. */
#define APITRACE_FRAME_BASE 0x1000

/* A new schema for one of the words; the caller frees it. 0, -ENOMEM. */
int apitrace_vocabulary_schema(enum apitrace_word word, bool has_timestamp,
			       struct dial9_schema **out);

/* Which word a schema is, in name and fields; APITRACE_WORD_CNT for none. */
enum apitrace_word apitrace_vocabulary_find(const struct dial9_schema *s);

/* The signatures of an imported trace, from its dial9 events. {0} is empty. */
struct apitrace_tables {
	struct apitrace_sigs sigs;
	struct hmap layouts; /* by id of the function: struct apitrace_layout */
	struct hmap frames; /* by address: struct apitrace_sig */
	enum apitrace_sig_kind open_kind; /* an enumeration or a mask whose rows are coming in */
	uint64_t open_id;
	bool open;
	struct apitrace_entry *rows;
	size_t row_cnt, row_cap;
};

/*
 * Takes an event of the words FUNCTION, ENUM, FLAG, STRUCT and FRAME. 0, -EBADMSG if it is malformed
 * (it is ignored), -EEXIST for an id that stands for something else, -E2BIG.
 */
int apitrace_tables_add(struct apitrace_tables *t, const struct dial9_dec *dec,
			enum apitrace_word word, const struct dial9_event *ev);

/* No more rows come to the enumeration or mask that is open; before any event that may use it. */
void apitrace_tables_settle(struct apitrace_tables *t);

void apitrace_tables_fini(struct apitrace_tables *t);

#endif /* D9_FORMATS_APITRACE_VOCABULARY_H */
