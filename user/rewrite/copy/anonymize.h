/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_COPY_ANONYMIZE_H
#define D9_REWRITE_COPY_ANONYMIZE_H

#include "base/buf.h"
#include "base/strtab.h"
#include "rewrite/copy/notes_copy.h"
#include "trace/read/trace.h"

/*
 * Stand-ins for names: "name1", "name2" and so on in order of first sight; the same name has the same
 * stand-in wherever it stands. Grows with distinct names. {0} is empty.
 */
struct anonymize {
	struct strtab names;
};

void anonymize_fini(struct anonymize *a);

/* What becomes of a text. */
enum anonymize_as {
	ANONYMIZE_KEEP, /* it says nothing of whose it is */
	ANONYMIZE_WORD, /* a name as a whole; "[x]" stays in brackets */
	ANONYMIZE_PATH, /* by component, so that what lies together still does */
	ANONYMIZE_DROP, /* becomes empty */
};

/*
 * For the text or bytes in field @i of @ev. @module is the one that the event is about, as an index of
 * @n; 0 when it is about none.
 */
enum anonymize_as anonymize_field(const struct names *n, const struct trace_event *ev, size_t i,
				  uint32_t module);
/* For the value of an entry of the metadata. */
enum anonymize_as anonymize_meta(const char *key, size_t len);

/*
 * Appends what stands for the name of an event. An application's is kept up to its first colon: behind it
 * stand functions and files.
 */
void anonymize_event(struct anonymize *a, enum trace_kind kind, const char *s, size_t len,
		     struct buf *out);

/*
 * Which annotations may stay: of the recorder's events and of tracepoints, which are the same everywhere, all; of others
 * what has a word that this program knows.
 */
notes_copy_may anonymize_notes(enum trace_kind kind);

/* Appends what stands for a text. */
void anonymize_text(struct anonymize *a, enum anonymize_as as, const char *s, size_t len,
		    struct buf *out);
/* Appends as many bytes as are given. */
void anonymize_bytes(struct anonymize *a, enum anonymize_as as, const void *p, size_t sz,
		     struct buf *out);

#endif /* D9_REWRITE_COPY_ANONYMIZE_H */
