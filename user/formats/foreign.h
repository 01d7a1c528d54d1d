/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_FOREIGN_H
#define D9_FORMATS_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "dial9.h"

/*
 * What every other trace format looks like from outside. A format is one const table of functions;
 * it takes bytes from a struct foreign_input, gives bytes to a dial9_write_fn, and meets dial9 only
 * through dial9.h. What the target cannot say, what was damaged and what the recording itself lost
 * go to a struct foreign_notes, by kind and count, and come out as one summary.
 */

/* ---- bytes in ----------------------------------------------------------------------------------- */

/*
 * One file to read, from its first byte. read() fills buf with 1 to sz bytes, 0 at the end, -errno:
 * it is a dial9_read_fn, so a decoder can read from it. While a file is followed, read()
 * blocks until there is more and 0 is the very end; before it blocks, all that was encoded is
 * flushed, so encode everything complete before reading on.
 */
struct foreign_input {
	const char *name; /* for messages; borrowed */
	dial9_read_fn read;
	int (*rewind)(void *ctx); /* back to the first byte; NULL only when following */
	void *ctx;
	bool has_core; /* FILE@CORE was given */
	uint32_t core;
	bool is_part; /* belongs to the input before it, as files of a directory do: no format of its own */
	size_t part_cnt; /* for dump() and info(): how many inputs after it in the array belong to it */
};

/* A foreign_input over memory: foreign_mem_input() fills *in, m must outlive it. */
struct foreign_mem {
	const void *data;
	size_t sz, pos;
};

void foreign_mem_input(struct foreign_mem *m, const void *data, size_t sz,
		       struct foreign_input *in);

/* ---- notes and facts ---------------------------------------------------------------------------- */

enum foreign_note_class {
	FOREIGN_NOTE_NOT_KEPT, /* the target has no place for it */
	FOREIGN_NOTE_CHANGED, /* carried, but in another form: a list as text, a time saturated */
	FOREIGN_NOTE_DAMAGED, /* input that could not be read and was skipped */
	FOREIGN_NOTE_DROPPED, /* what the recording itself says that it lost */
	FOREIGN_NOTE_HINT, /* nothing is missing, but the user should know */
};

struct foreign_note {
	enum foreign_note_class cls;
	char *kind; /* "list as text" */
	char *first; /* where it happened first, or what: "byte 117: zero in a block"; or NULL */
	uint64_t count;
};

/* {0} is an empty one. Kinds beyond FOREIGN_NOTES_MAX are counted as "other kinds". */
struct foreign_notes {
	struct foreign_note *v;
	size_t cnt, cap;
};

#define FOREIGN_NOTES_MAX 256

/*
 * Counts n more of a kind; the first time, `first` (printf; NULL for none) is kept with it. kind is
 * copied, and is cleaned of what a terminal should not see.
 */
void foreign_note(struct foreign_notes *notes, enum foreign_note_class cls, uint64_t n,
		  const char *kind, const char *first, ...) __attribute__((format(printf, 5, 6)));

/* The count of that class and kind so far; kind NULL: of all kinds of the class. */
uint64_t foreign_notes_count(const struct foreign_notes *notes, enum foreign_note_class cls,
			     const char *kind);

/* "not kept", "changed", "skipped", "dropped", "note" */
const char *foreign_note_class_name(enum foreign_note_class cls);

/* Appends the summary, a line a kind, in the order of the classes; nothing when there are none. */
void foreign_notes_print(const struct foreign_notes *notes, struct buf *out);
void foreign_notes_fini(struct foreign_notes *notes);

/* What info shows: rows of a label and a text, and rows of a label and a count. {0} is empty. */
struct foreign_fact {
	char *label;
	char *text; /* NULL: count is the value */
	uint64_t count;
	char *name; /* what is counted: one of several facts with this label, or NULL */
	bool is_ns; /* the text is a time in seconds, count has it in ns */
};

struct foreign_facts {
	struct foreign_fact *v;
	size_t cnt, cap;
};

void foreign_fact_text(struct foreign_facts *facts, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void foreign_fact_count(struct foreign_facts *facts, const char *label, uint64_t count);
/* The samples of an event: a fact for each. */
void foreign_fact_samples(struct foreign_facts *facts, const char *event, uint64_t count);
/* A duration, printed in seconds with 6 or 9 @digits. */
void foreign_fact_ns(struct foreign_facts *facts, const char *label, uint64_t ns, int digits);
void foreign_facts_fini(struct foreign_facts *facts);

/* ---- dial9 in ----------------------------------------------------------------------------------- */

/* A decoder over dial9 bytes. 0 or -ENOMEM. */
int foreign_open_dec(const struct foreign_input *in, struct dial9_dec **out);

/*
 * Whether dial9_dec_next() met something that a dial9 stream cannot be read beyond: damage, or a newer
 * writer's frame. A torn end is none: more may come.
 */
bool foreign_is_stop(int err);

/*
 * How an export ends: ret is what dial9_dec_next() returned last, where what dial9_dec_error() said. A
 * torn tail is a note and 0; a stop is one log_error() line and -EBADMSG; anything else is ret.
 */
int foreign_end_dec(const struct foreign_input *in, int ret, const struct dial9_error *where,
		    struct foreign_notes *notes);

/* ---- unwind tables -------------------------------------------------------------------------- */

struct unwind_table;

/* A file with code. */
struct foreign_module {
	const char *path;
	const uint8_t *build_id;
	size_t build_id_sz; /* 0: unknown */
	/* of the file that was mapped, in place of a build-id: major << 20 | minor; inode 0: unknown */
	uint32_t dev;
	uint64_t inode;
};

/* Unwind tables of files of this machine, for formats with copies of stacks. */
struct foreign_unwind {
	/*
	 * Calls take() with the table, checked and borrowed; does not if the file has none, or is not there or
	 * another one by its build-id.
	 */
	void (*find)(void *ctx, const struct foreign_module *file,
		     void (*take)(void *arg, const struct unwind_table *table), void *arg);
	void *ctx;
};

/* ---- a format ----------------------------------------------------------------------------------- */

struct foreign_opts {
	int level; /* of the dial9 written: DIAL9_LEVEL_3 or DIAL9_LEVEL_4 */
	bool follow; /* one pass, inputs do not rewind: encode as bytes arrive */
	uint64_t tick_ns; /* formats without time: distance of synthetic timestamps; 0: none */
	const struct foreign_unwind *unwind; /* NULL: none */
};

struct foreign_format {
	const char *name; /* as --from and --to spell it: "heph" */
	const char *title; /* for people: "Heph trace" */

	/*
	 * Confidence from the first bytes that the file has this format: 0 no, 100 a magic.
	 * `whole`: there are no more bytes. Bytes are as in the file, maybe compressed. At least
	 * 64 KiB if the file has them.
	 */
	int (*detect)(const void *head, size_t sz, bool whole);

	/*
	 * Reads all inputs into dial9 events. The encoder was made at opts->level; the caller
	 * flushes and frees it. What can be read is encoded whatever the damage around it, and
	 * counted in notes. 0, -EBADMSG after one log_error() line when nothing in an input has
	 * this format, -EINVAL likewise for inputs that make no sense together, an error of read()
	 * or of the encoder as it is. The first error is the caller's to print otherwise.
	 */
	int (*import)(const struct foreign_input *in, size_t cnt, const struct foreign_opts *opts,
		      struct dial9_enc *enc, struct foreign_notes *notes);

	/*
	 * Writes a dial9 stream as this format. `in` holds dial9 bytes and can be read several
	 * times by rewind() (and a new decoder). write() takes any number of bytes and has
	 * 0/-errno; NULL when the format has no writer. 0, -EBADMSG after one log_error() line when
	 * the dial9 bytes are damaged (all before the damage is written), others as above. A torn
	 * tail is a FOREIGN_NOTE_DAMAGED note and no error.
	 */
	int (*export)(const struct foreign_input *in, const struct foreign_opts *opts,
		      dial9_write_fn write, void *ctx, struct foreign_notes *notes);

	/* One JSON object a line for each thing in the file, decoded, nothing joined or converted. */
	int (*dump)(const struct foreign_input *in, const struct foreign_opts *opts,
		    dial9_write_fn write, void *ctx, struct foreign_notes *notes);

	/* Version, container, counts. The first fact is {"format", title, version and container}. */
	int (*info)(const struct foreign_input *in, const struct foreign_opts *opts,
		    struct foreign_facts *facts, struct foreign_notes *notes);
};

/* Each is defined in the file of its name, and has a row in foreign.c. */
extern const struct foreign_format tonband_format;
extern const struct foreign_format heph_format;
extern const struct foreign_format apitrace_format;
extern const struct foreign_format perfdata_format;

/* By the name on the command line; NULL when there is none. */
const struct foreign_format *foreign_find(const char *name);

/* The format that is surest of these bytes; NULL when none is (dial9 itself, too, is none). */
const struct foreign_format *foreign_detect(const void *head, size_t sz, bool whole);

#endif /* D9_FORMATS_FOREIGN_H */
