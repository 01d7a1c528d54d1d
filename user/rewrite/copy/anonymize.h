/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_COPY_ANONYMIZE_H
#define D9_REWRITE_COPY_ANONYMIZE_H

#include "base/buf.h"
#include "base/strtab.h"
#include "rewrite/copy/notes_copy.h"
#include "trace/read/trace.h"

/*
 * Replacements for names: "name1", "name2" and so on in order of first use; equal names have equal replacements.
 * Grows with distinct names. {0} is empty.
 */
struct anonymize {
	struct strtab names;
};

void anonymize_fini(struct anonymize *a);

/* How a text is replaced. */
enum anonymize_as {
	ANONYMIZE_KEEP, /* it does not identify anything */
	ANONYMIZE_WORD, /* the whole name; "[x]" keeps its brackets */
	ANONYMIZE_PATH, /* by component, so that paths in one directory still share it */
	ANONYMIZE_DROP, /* becomes empty */
};

/*
 * For the text or bytes in field @i of @ev. @module: the event's module, as an index in @n; 0: none.
 */
enum anonymize_as anonymize_field(const struct names *n, const struct trace_event *ev, size_t i,
				  uint32_t module);
/* For the value of a metadata entry. */
enum anonymize_as anonymize_meta(const char *key, size_t len);

/*
 * Appends the replacement of an event's name. An application's event keeps the name up to its first colon:
 * functions and files follow it.
 */
void anonymize_event(struct anonymize *a, enum trace_kind kind, const char *s, size_t len,
		     struct buf *out);

/*
 * Which annotations are kept: all of the recorder's events and of tracepoints, which are the same everywhere. For
 * other events only those with words that this program uses.
 */
notes_copy_may anonymize_notes(enum trace_kind kind);

/* Appends the replacement of a text. */
void anonymize_text(struct anonymize *a, enum anonymize_as as, const char *s, size_t len,
		    struct buf *out);
/* Appends the same number of bytes. */
void anonymize_bytes(struct anonymize *a, enum anonymize_as as, const void *p, size_t sz,
		     struct buf *out);

#endif /* D9_REWRITE_COPY_ANONYMIZE_H */
