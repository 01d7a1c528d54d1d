/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_COPY_CUT_COPY_H
#define D9_REWRITE_COPY_CUT_COPY_H

#include "rewrite/copy/anonymize.h"
#include "rewrite/copy/notes_copy.h"
#include "rewrite/copy/value_record.h"
#include "trace/read/reader.h"

/* A metadata entry that replaces the entry of the same key, or is appended. */
struct cut_entry {
	const char *key, *value;
};

/*
 * Copies events from a reader to an encoder. Zero it, set the members above the line; call cut_copy_fini() at the
 * end.
 */
struct cut_copy {
	struct dial9_enc *enc; /* borrowed */
	struct reader *reader; /* borrowed */
	struct anonymize *anonymize; /* borrowed; NULL: keep names */
	/* ---- */
	struct hmap schemas; /* struct dial9_schema -> the same, renamed */
	struct notes_copy notes;
	struct value_record record;
	struct buf bytes; /* values of one event */
	enum anonymize_as as; /* for texts of the current field */
	bool metadata; /* keys of maps decide how their values are replaced */
};

void cut_copy_fini(struct cut_copy *c);

/*
 * Copies the event of the last reader_next(), at time @ts and with the same values. Exceptions are replaced names,
 * and text that is not UTF-8, whose bytes become \xHH. @module: see anonymize_field(). A SegmentMetadataEvent gets
 * the @cnt entries. 0, or the encoder's error.
 */
int cut_copy_event(struct cut_copy *c, const struct trace_event *ev, uint64_t ts, uint32_t module,
		   const struct cut_entry *entries, size_t cnt);

/* Copies a ClockSyncEvent, moved to @ts and the wall clock of that time. */
int cut_copy_clock(struct cut_copy *c, const struct trace_event *ev, uint64_t ts);

#endif /* D9_REWRITE_COPY_CUT_COPY_H */
