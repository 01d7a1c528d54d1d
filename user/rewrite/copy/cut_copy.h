/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_COPY_CUT_COPY_H
#define D9_REWRITE_COPY_CUT_COPY_H

#include "rewrite/copy/anonymize.h"
#include "rewrite/copy/notes_copy.h"
#include "rewrite/copy/value_record.h"
#include "trace/read/reader.h"

/* An entry of the metadata that replaces one of the same key, or comes behind the others. */
struct cut_entry {
	const char *key, *value;
};

/* Copies events from a reader to an encoder. Zero it, set what is above the line; then cut_copy_fini(). */
struct cut_copy {
	struct dial9_enc *enc; /* borrowed */
	struct reader *reader; /* borrowed */
	struct anonymize *anonymize; /* borrowed; NULL: names stay */
	/* ---- */
	struct hmap schemas; /* struct dial9_schema -> the same, renamed */
	struct notes_copy notes;
	struct value_record record;
	struct buf bytes; /* of the values of one event */
	enum anonymize_as as; /* texts of the field */
	bool metadata; /* keys of maps say what their values are */
};

void cut_copy_fini(struct cut_copy *c);

/*
 * The event of the last reader_next(), at time @ts and with the same values, but for names that are to
 * be replaced, and for text that is not UTF-8, of which bytes become \xHH. @module as in
 * anonymize_field(). A SegmentMetadataEvent gets the @cnt entries. 0, or what the encoder said.
 */
int cut_copy_event(struct cut_copy *c, const struct trace_event *ev, uint64_t ts, uint32_t module,
		   const struct cut_entry *entries, size_t cnt);

/* A ClockSyncEvent moved to @ts: it says what time it was then. */
int cut_copy_clock(struct cut_copy *c, const struct trace_event *ev, uint64_t ts);

#endif /* D9_REWRITE_COPY_CUT_COPY_H */
