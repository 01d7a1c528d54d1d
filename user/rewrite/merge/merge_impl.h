/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_MERGE_MERGE_IMPL_H
#define D9_REWRITE_MERGE_MERGE_IMPL_H

/* Shared by the files of merge: inputs, the plan, and records. */
#include "base/buf.h"
#include "profile/explain/tokio_workers.h"
#include "rewrite/copy/notes_copy.h"
#include "rewrite/copy/value_record.h"
#include "rewrite/merge/merge.h"
#include "trace/read/reader.h"

#define MERGE_FILES_MAX 4096

/* An input file. */
struct merge_file {
	char *name; /* for messages */
	int fd; /* -1: owned by the second pass */
	uint32_t arg; /* index of the argument */
	bool found; /* in a directory: skip it if it is not a trace */
	bool made; /* by this program, not an argument: */
	uint32_t of; /* index of the file with the same clock */
	/* results of the first pass: */
	uint64_t events; /* valid events */
	uint64_t first_ts; /* time of its first event with a time */
	bool sorted;
	bool level4; /* has types of format 0.4 */
	uint32_t part; /* index of its first part in merge_plan.names->parts; their number: */
	uint32_t part_cnt;
};

/* A part of a file. */
struct merge_part {
	uint32_t file;
	uint32_t out; /* index in the result */
	int64_t shift_ns; /* added to its times */
	bool any, has_ts; /* events; events with times */
	uint64_t first_ts, last_ts;
	uint64_t all_events; /* events, including those that only name things */
	uint64_t happened, digest; /* the events except naming ones: their number, and a hash */
	bool again; /* equal to another part, skipped */
	uint64_t *few; /* the smallest hashes of its events: a heap with the greatest on top */
	size_t few_cnt, few_cap;
};

/* The identity of a module, from a ModuleEvent. */
struct merge_content {
	struct buf bytes; /* empty: unknown */
	bool vague; /* does not identify the code: then part and id are used */
};

/* Its identity in the result. */
struct merge_module {
	struct buf content;
	uint32_t id;
};

#define MERGE_EARLY_MAX 65536 /* over all files */

struct merge_plan {
	struct merge_opts opts;
	bool has_recording; /* the first file is the recording: found files must overlap it in time */
	struct merge_file *files;
	size_t file_cnt, file_cap;
	struct names *names; /* with the parts of all files in sequence */
	struct merge_part *parts; /* for each of these */
	size_t part_cap;
	uint32_t out_cnt; /* parts in the result */
	uint32_t *firsts; /* index of the first part of each */
	bool merged; /* the result needs a list of parts */
	struct worker_threads workers;
	struct hmap
		early_modules; /* file, segment and id of modules that mappings name before their ModuleEvent -> struct merge_content */
	struct hmap modules; /* hash of the identity -> struct merge_module */
	uint64_t *ids_taken; /* one bit per module id: in use, or used without a module */
	uint32_t next_id;
	uint64_t left_out; /* found files of another time */
	bool incomplete;
};

/* ---- merge_inputs.c ---- */

/* Opens the arguments. An exit code, after one line if it is not CMD_OK. */
int merge_inputs_open(struct merge_plan *p, const char *const *paths, size_t cnt);
/* Owns @fd: a file made by this program, on the clock of file number @of. */
void merge_inputs_add_made(struct merge_plan *p, const char *name, int fd, size_t of);
/* Owns @fd. A found file that is not a trace is skipped after one line. */
void merge_inputs_add(struct merge_plan *p, const char *name, int fd, size_t arg, bool found);
/* A reader of a file from its first byte. 0, or -errno after one line. */
int merge_inputs_read(const struct merge_file *f, struct reader **out);
/* The last reader of a file, which owns its descriptor. */
int merge_inputs_read_last(struct merge_plan *p, const struct merge_file *f, struct reader **out);
void merge_inputs_close(struct merge_plan *p);

/* ---- merge_missing.c ---- */

/*
 * Adds a file with the gaps between files of rotated recordings, found by their names. An exit code, after one line
 * if it is not CMD_OK.
 */
int merge_missing_add(struct merge_plan *p);

/* ---- merge_plan.c ---- */

/* First pass over all files: finds parts, clocks and workers. An exit code, likewise. */
int merge_plan_make(struct merge_plan *p);
void merge_plan_fini(struct merge_plan *p);
/* The module in a ModuleEvent. The caller frees it. */
struct merge_content merge_plan_content(const struct trace *t, const struct trace_event *ev);
/* The id in the result for a part's module with that id; 0: no more ids. */
uint32_t merge_plan_module(struct merge_plan *p, uint32_t part, uint64_t id,
			   const struct merge_content *content);
/* The module of an id that a mapping of a file uses before its ModuleEvent, or NULL. */
const struct merge_content *merge_plan_early_module(const struct merge_plan *p,
						    const struct merge_file *f, uint64_t segment,
						    uint64_t id);

/* ---- merge_same.c ---- */

/* Adds an event of @part. @schemas caches struct trace_schema of its file; {0} at first, hmap_fini() at the end. */
void merge_same_add(struct hmap *schemas, const struct trace *t, const struct trace_event *ev,
		    struct merge_part *part);
/* Finds parts of the same recording, and skips all but one of them, with one line for each. */
void merge_same_find(struct merge_plan *p);
/* Prints a line for each pair of files with common events, or whose events may count twice. */
void merge_same_warn(const struct merge_plan *p);

/* ---- merge_align.c ---- */

/* Computes the shift of each part. False, after one line: unknown. */
bool merge_align_parts(struct merge_plan *p);

/* ---- merge_record.c ---- */

/* An event between input and output, followed by its values. Sorted by key, then order, then seq. */
struct merge_record {
	uint64_t key, seq, ts;
	uint32_t order, schema, sz; /* sz includes this header */
	bool has_ts;
};

static inline bool merge_record_before(const struct merge_record *a, const struct merge_record *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return a->order != b->order ? a->order < b->order : a->seq < b->seq;
}

/* A layout of the result, and its annotations. */
struct merge_schema {
	const struct dial9_schema *layout; /* one object per layout */
	struct dial9_iter notes;
	struct buf bytes; /* of the annotations */
};

/* The numbered schemas. */
struct merge_schemas {
	struct merge_schema **v;
	size_t cnt, cap;
	struct hmap by_content; /* -> number + 1 */
	struct hmap layouts; /* struct dial9_schema by content */
	struct notes_copy notes; /* written to the result so far */
};

/* Converts the events of one file to records. Zero it, set the members above the line. */
struct merge_feed {
	struct merge_plan *plan;
	struct merge_schemas *schemas;
	const struct merge_file *file;
	struct reader *reader;
	/* ---- */
	uint64_t seq, last_key;
	struct hmap known; /* struct trace_schema, and whether it gets a part -> number + 1 */
	uint64_t *modules; /* id -> segment + 1 << 32 | id in the result */
	size_t module_cap;
	struct value_record record;
	const struct trace_event *event; /* of the current record */
};

/*
 * Appends the record of reader_next()'s event to @out. 0, -ECANCELED if the event is not copied, -ESTALE if the
 * file changed since the first pass, or -errno.
 */
int merge_record_make(struct merge_feed *f, const struct trace_event *ev, struct buf *out);
void merge_feed_fini(struct merge_feed *f);
void merge_schemas_fini(struct merge_schemas *s);
/* Encodes a record. 0, or the encoder's error. */
int merge_record_write(struct merge_schemas *s, const struct merge_record *r,
		       struct dial9_enc *enc);

/* ---- merge_sort.c ---- */

struct merge_sort;

/* @max: bytes of records in memory. Never NULL. */
struct merge_sort *merge_sort_new(size_t max);
void merge_sort_free(struct merge_sort *s);
/* Copies a record. 0, or -errno of the temporary file. */
int merge_sort_add(struct merge_sort *s, const struct merge_record *r);
/*
 * Call after the last record; returns all of them in order: 1, 0 and NULL at the end, -errno. Borrowed until the
 * next call.
 */
int merge_sort_next(struct merge_sort *s, const struct merge_record **out);

#endif /* D9_REWRITE_MERGE_MERGE_IMPL_H */
