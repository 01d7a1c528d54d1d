/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_REWRITE_MERGE_MERGE_IMPL_H
#define D9_REWRITE_MERGE_MERGE_IMPL_H

/* What the files of merging share: inputs, the plan, and events on their way. */
#include "base/buf.h"
#include "profile/explain/tokio_workers.h"
#include "rewrite/copy/notes_copy.h"
#include "rewrite/copy/value_record.h"
#include "rewrite/merge/merge.h"
#include "trace/read/reader.h"

#define MERGE_FILES_MAX 4096

/* A file that is read. */
struct merge_file {
	char *name; /* for messages */
	int fd; /* -1: the second look has it */
	uint32_t arg; /* which of the arguments it is of */
	bool found; /* in a directory: what is no trace is left out */
	bool made; /* by this program, nobody has given it: */
	uint32_t of; /* the clock is that of this file */
	/* what was seen of it: */
	uint64_t events; /* good ones */
	uint64_t first_ts; /* of its first event that has one */
	bool sorted;
	bool level4; /* has types that only 0.4 has */
	uint32_t part; /* its first among merge_plan.names->parts; there are: */
	uint32_t part_cnt;
};

/* A part of a file. */
struct merge_part {
	uint32_t file;
	uint32_t out; /* number in the result */
	int64_t shift_ns; /* to be added to its times */
	bool any, has_ts; /* events; with times */
	uint64_t first_ts, last_ts;
	uint64_t told; /* events, also those that only name things */
	uint64_t happened,
		digest; /* the others: how many, and what tells them from those of any other recording */
	bool again; /* another part is the same, and this one is left out */
	uint64_t *few; /* of its events' hashes the least, the greatest of them first: a heap */
	size_t few_cnt, few_cap;
};

/* What a module is, by a ModuleEvent. */
struct merge_content {
	struct buf bytes; /* empty: not told yet */
	bool vague; /* which says nothing of the code: then it is who told of it, under which id */
};

/* What it is in the result. */
struct merge_module {
	struct buf content;
	uint32_t id;
};

#define MERGE_AWAITED_MAX 65536 /* in all files */

struct merge_plan {
	struct merge_opts opts;
	bool beside; /* the first file, of what is found only what is of its time */
	struct merge_file *files;
	size_t file_cnt, file_cap;
	struct names *names; /* with the parts of all files one behind the other */
	struct merge_part *parts; /* for each of these */
	size_t part_cap;
	uint32_t out_cnt; /* parts of the result */
	uint32_t *firsts; /* the first part that is each of them */
	bool merged; /* the result has to say what its parts are */
	struct worker_threads workers;
	struct hmap
		awaited; /* file, segment and id of modules that mappings name before they are told of ->
				* struct merge_content */
	struct hmap modules; /* hash of content -> struct merge_module */
	uint64_t *ids_taken; /* a bit for each id of a module: taken, or met without a module */
	uint32_t next_id;
	uint64_t left_out; /* of what was found: of another time */
	bool incomplete;
};

/* ---- merge_inputs.c ---- */

/* Opens what the arguments name. An exit code, after one line where it is not CMD_OK. */
int merge_inputs_open(struct merge_plan *p, const char *const *paths, size_t cnt);
/* Takes over @fd: something that this program made, on the clock of file number @of. */
void merge_inputs_add_made(struct merge_plan *p, const char *name, int fd, size_t of);
/* Takes over @fd. Of one that is found nothing is taken, after one line, if it is no trace. */
void merge_inputs_add(struct merge_plan *p, const char *name, int fd, size_t arg, bool found);
/* A reader of a file from its first byte. 0, or -errno after one line. */
int merge_inputs_read(const struct merge_file *f, struct reader **out);
/* The last one, which takes over what is open of it. */
int merge_inputs_take(struct merge_plan *p, const struct merge_file *f, struct reader **out);
void merge_inputs_close(struct merge_plan *p);

/* ---- merge_missing.c ---- */

/*
 * What is missing between the files of each rotated recording, which their names tell, becomes one more file. An exit
 * code, after one line where it is not CMD_OK.
 */
int merge_missing_add(struct merge_plan *p);

/* ---- merge_plan.c ---- */

/* Looks at all files, finds parts, clocks and workers. An exit code, likewise. */
int merge_plan_make(struct merge_plan *p);
void merge_plan_fini(struct merge_plan *p);
/* What a ModuleEvent tells of. The caller's to free. */
struct merge_content merge_plan_content(const struct trace *t, const struct trace_event *ev);
/* The id in the result of a module that a part tells of under that id; 0: there are no more. */
uint32_t merge_plan_module(struct merge_plan *p, uint32_t part, uint64_t id,
			   const struct merge_content *content);
/* What an id will mean that a mapping of a file names before anybody told of it, or NULL. */
const struct merge_content *merge_plan_awaited(const struct merge_plan *p,
					       const struct merge_file *f, uint64_t segment,
					       uint64_t id);

/* ---- merge_same.c ---- */

/* Takes an event of @part. @schemas remembers struct trace_schema of its file; {0} before, hmap_fini() after. */
void merge_same_see(struct hmap *schemas, const struct trace *t, const struct trace_event *ev,
		    struct merge_part *part);
/* Finds parts that are the same recording, and leaves all but one of them out, with one line for each. */
void merge_same_find(struct merge_plan *p);
/* Says which files have events in common all the same, or may count them twice: a line for two of them. */
void merge_same_warn(const struct merge_plan *p);

/* ---- merge_align.c ---- */

/* How far the times of each part are to be moved. False, after one line: nobody can tell. */
bool merge_align_parts(struct merge_plan *p);

/* ---- merge_record.c ---- */

/* An event between input and output, followed by its values. In order of key, then order, then seq. */
struct merge_record {
	uint64_t key, seq, ts;
	uint32_t order, schema, sz; /* sz with this header */
	bool has_ts;
};

static inline bool merge_record_before(const struct merge_record *a, const struct merge_record *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return a->order != b->order ? a->order < b->order : a->seq < b->seq;
}

/* A layout of the result, and what is said of its fields. */
struct merge_schema {
	const struct dial9_schema *layout; /* one object for each */
	struct dial9_iter notes;
	struct buf bytes; /* of these */
};

/* They are numbered. */
struct merge_schemas {
	struct merge_schema **v;
	size_t cnt, cap;
	struct hmap by_content; /* -> number + 1 */
	struct hmap layouts; /* struct dial9_schema, by its content */
	struct notes_copy notes; /* said in the result so far */
};

/* Turns the events of one file into records. Zero it, set what is above the line. */
struct merge_feed {
	struct merge_plan *plan;
	struct merge_schemas *schemas;
	const struct merge_file *file;
	struct reader *reader;
	/* ---- */
	uint64_t seq, last_key;
	struct hmap known; /* struct trace_schema and whether it gets a part -> number + 1 */
	uint64_t *modules; /* id -> segment + 1 << 32 | id in the result */
	size_t module_cap;
	struct value_record record;
	const struct trace_event *event; /* of the record that is made */
};

/*
 * Puts the event, which reader_next() has just given, into @out. 0, -ECANCELED if it has no place there, -ESTALE if
 * the file changed since the first look, or -errno.
 */
int merge_record_make(struct merge_feed *f, const struct trace_event *ev, struct buf *out);
void merge_feed_fini(struct merge_feed *f);
void merge_schemas_fini(struct merge_schemas *s);
/* Encodes a record. 0, or what the encoder said. */
int merge_record_write(struct merge_schemas *s, const struct merge_record *r,
		       struct dial9_enc *enc);

/* ---- merge_sort.c ---- */

struct merge_sort;

/* @max: bytes of records in memory. Never NULL. */
struct merge_sort *merge_sort_new(size_t max);
void merge_sort_free(struct merge_sort *s);
/* Copies a record. 0, or -errno of the temporary file. */
int merge_sort_add(struct merge_sort *s, const struct merge_record *r);
/* After the last one, all of them in order: 1, 0 and NULL at the end, -errno. Borrowed until the next call. */
int merge_sort_next(struct merge_sort *s, const struct merge_record **out);

#endif /* D9_REWRITE_MERGE_MERGE_IMPL_H */
