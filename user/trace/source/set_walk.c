// SPDX-License-Identifier: BSD-2-Clause
/*
 * set_walk.c - the files of a recording in order, although some may be bad
 *
 * Each file of a set is a trace of its own, so an error in one does not affect the next. A file is
 * checked before it is read: the part that decodes is good, the rest is skipped. For what was
 * skipped, a generated segment is inserted. It has the metadata at the start of the recorder's
 * segments, or it would count as another recording. Its loss event spans from the last good event
 * to the first one after the gap. So every command that handles losses handles these.
 */
#include "trace/source/set_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "dial9.h"
#include "prof_events.h"
#include "trace/source/segment_end.h"

/* Result of checking a file. */
struct found {
	bool known, bad; /* bad: not all of it is good */
	bool outside_range; /* no events in the requested range, */
	bool names; /* but possibly symbols for it */
	bool by_end; /* checked by its last event only */
	bool continued; /* the recorder noted that the next file continues it */
	bool torn; /* truncated after that, where there are no events */
	bool gap_reported; /* missing numbers before its own were reported */
	bool is_empty; /* the last file, still empty */
	bool has_ts;
	uint64_t good; /* bytes */
	uint64_t first_ts, last_ts;
	struct dial9_event *metadata; /* its first event; NULL: another type */
};

struct set_walk {
	const struct set_walk_ops *ops;
	struct source_set set;
	struct found *found; /* by file */
	size_t at; /* the next file */
	size_t last; /* the last good file before it; set.cnt: none */
	uint64_t number; /* of the file before it */
	bool any; /* a file before it exists */
	bool gap; /* something is missing since the last good file */
	bool holes, damaged;
	bool rewound; /* rewound: symbols are known */
	struct dial9_enc *gap_enc; /* segment for the last gap */
};

struct set_walk *set_walk_new(struct source_set *set, const struct set_walk_ops *ops)
{
	struct set_walk *w = xcalloc(1, sizeof(*w));

	w->ops = ops;
	w->set = *set;
	*set = (struct source_set){ 0 };
	w->found = xcalloc(w->set.cnt, sizeof(*w->found));
	w->last = w->set.cnt;
	return w;
}

void set_walk_free(struct set_walk *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->set.cnt; i++)
		dial9_event_free(w->found[i].metadata);
	dial9_enc_free(w->gap_enc);
	free(w->found);
	source_set_fini(&w->set);
	free(w);
}

void set_walk_rewind(struct set_walk *w)
{
	w->at = 0;
	w->last = w->set.cnt;
	w->any = w->gap = false;
	w->rewound = true;
}

uint64_t set_walk_first(const struct set_walk *w)
{
	return w->set.cnt ? w->set.files[0].number : 0;
}

bool set_walk_has_holes(const struct set_walk *w)
{
	return w->holes;
}

bool set_walk_is_damaged(const struct set_walk *w)
{
	return w->damaged;
}

/* ---- checking a file ------------------------------------------------------------------------- */

/*
 * A descriptor, or -1 after one line. Never blocks: a FIFO may have no writer, and is not a file.
 */
static int open_file(const struct source_file *f)
{
	const char *path = f->path;
	struct stat st;
	char own[32];
	int fd;

	snprintf(own, sizeof(own), "/proc/self/fd/%d", f->fd);
	fd = open(f->open ? own : path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0) {
		log_warn("cannot open %s: %s; what was in it is missing", path, strerror(errno));
		return -1;
	}
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	log_warn("%s is no regular file; what should be in it is missing", path);
	close(fd);
	return -1;
}

static void extend_time_range(struct found *f, uint64_t first, uint64_t last)
{
	if (!f->has_ts)
		f->first_ts = first;
	if (!f->has_ts || last > f->last_ts)
		f->last_ts = last;
	f->has_ts = true;
}

/* Reads the recorder's latest statistics. */
static void read_stats(struct found *f, const struct dial9_event *ev)
{
	const int at = dial9_schema_find(ev->schema, PROF_F_CLOSED);

	f->continued = at >= 0 && ev->values[at].type == DIAL9_VARINT &&
		       ev->values[at].u64 == PROF_CLOSED_SEGMENT;
}

static void check_frame(struct found *f, struct dial9_dec *dec, const struct dial9_frame *frame,
			uint64_t *events)
{
	struct dial9_skipped skipped;

	if (dial9_dec_skipped(dec, &skipped)) {
		*events += skipped.cnt;
		if (skipped.first_ts <= skipped.last_ts)
			extend_time_range(f, skipped.first_ts, skipped.last_ts);
	}
	if (!frame)
		return;
	if (frame->kind == DIAL9_FRAME_SCHEMA &&
	    strcmp(dial9_schema_name(frame->schema.schema), PROF_EV_METADATA) &&
	    strcmp(dial9_schema_name(frame->schema.schema), PROF_EV_STATS))
		dial9_dec_skip(dec, frame->schema.type_id);
	if (frame->kind != DIAL9_FRAME_EVENT)
		return;
	if (!strcmp(dial9_schema_name(frame->event.schema), PROF_EV_STATS))
		read_stats(f, &frame->event);
	if (!(*events)++ && dial9_event_copy(dec, &frame->event, &f->metadata))
		f->metadata = NULL;
	if (frame->event.has_ts)
		extend_time_range(f, frame->event.ts, frame->event.ts);
}

static void print_damage(const struct set_walk_ops *ops, const char *name,
			 const struct dial9_dec *dec, const struct source *src, int err)
{
	const char *of = ops->is_packed(src) ? " of the uncompressed data" : "";
	unsigned long long at = dial9_dec_consumed(dec);
	struct dial9_error de;

	dial9_dec_error(dec, &de);
	if (ops->is_empty(src))
		log_warn("%s is empty; what should be in it is missing", name);
	else if (!err || err == -ENODATA)
		log_warn("%s: the end is cut off after byte %llu%s; the rest of it is missing",
			 name, at, of);
	else if (err == -EBADMSG && !*de.reason)
		log_warn("%s: damaged %s data after byte %llu%s; the rest of it is missing", name,
			 ops->packing(src), at, of);
	else if (*de.reason)
		log_warn("%s: %s: %s at byte %llu%s; %s missing", name,
			 at ? "damaged" : "not a dial9 trace", de.reason,
			 (unsigned long long)de.offset, of, at ? "the rest of it is" : "it is");
	else
		log_warn("cannot read %s after byte %llu%s: %s; the rest of it is missing", name,
			 at, of, strerror(-err));
}

/* The last file may still be growing: the reader reports if it is cut. */
static void decode(struct set_walk *w, size_t at, struct dial9_dec *dec, const struct source *src)
{
	const bool is_last = at + 1 == w->set.cnt;
	const char *path = w->set.files[at].path;
	struct found *f = &w->found[at];
	struct dial9_frame frame;
	uint64_t events = 0;
	int err;

	while ((err = dial9_dec_next(dec, &frame)) == 1)
		check_frame(f, dec, &frame, &events);
	check_frame(f, dec, NULL, &events);
	f->good = dial9_dec_consumed(dec);
	f->bad = err || w->ops->is_cut(src);
	f->is_empty = is_last && w->ops->is_empty(src) && source_set_is_active(path);
	f->torn = f->bad && f->continued && (!err || err == -ENODATA);
	if (f->torn || (is_last && f->good && (!err || err == -ENODATA || err == -EPROTONOSUPPORT)))
		f->bad = false;
	w->damaged |= f->bad && err && err != -ENODATA;
	if (f->bad && !f->is_empty && !w->set.errors_reported && !w->set.quiet)
		print_damage(w->ops, path, dec, src, err);
}

/* A file that is a copy of the one before would count twice. */
static void check_copy(struct set_walk *w, size_t at)
{
	struct found *f = &w->found[at];
	const struct found *last = &w->found[w->last < w->set.cnt ? w->last : at];

	if (last == f || !f->has_ts || f->first_ts == f->last_ts || f->good != last->good ||
	    f->first_ts != last->first_ts || f->last_ts != last->last_ts)
		return;
	if (!w->set.quiet)
		log_warn("%s is a copy of %s; what should be in it is missing",
			 w->set.files[at].path, w->set.files[w->last].path);
	f->bad = true;
	f->good = 0;
}

static void read_file(struct set_walk *w, size_t at)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts), .read = w->ops->read };
	const char *path = w->set.files[at].path;
	struct found *f = &w->found[at];
	struct dial9_dec *dec;
	struct source *src;
	int fd;

	if (f->known)
		return;
	f->known = f->bad = true;
	fd = open_file(&w->set.files[at]);
	if (fd < 0 || w->ops->open_fd(fd, path, &src))
		return;
	opts.ctx = src;
	if (!dial9_dec_new(&opts, &dec)) {
		decode(w, at, dec, src);
		dial9_dec_free(dec);
		check_copy(w, at);
	}
	w->ops->close(src);
}

/* ---- by the last event of a file ----------------------------------------------------------------- */

static bool read_end(const struct source_file *file, struct found *f)
{
	int fd = file->skipped || file->open || source_set_is_active(file->path) ?
			 -1 :
			 open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	const bool yes = fd >= 0 && segment_end_read(fd, &f->first_ts, &f->last_ts);

	if (fd >= 0)
		close(fd);
	return yes;
}

bool set_walk_restrict(struct set_walk *w, uint64_t from_ns, uint64_t to_ns)
{
	size_t outside = 0, skipped = 0;

	for (size_t i = 0; i < w->set.cnt; i++) {
		struct found *f = &w->found[i];

		skipped += w->set.files[i].skipped;
		if (!read_end(&w->set.files[i], f))
			continue;
		f->known = f->has_ts = f->continued = f->by_end = true;
		f->good = 1;
		f->outside_range = f->last_ts < from_ns || f->first_ts > to_ns;
		f->names = f->first_ts > to_ns && f->first_ts - to_ns <= SET_WALK_NAMES_NS;
		outside += f->outside_range;
	}
	if (outside && outside + skipped < w->set.cnt)
		return true;
	for (size_t i = 0; i < w->set.cnt; i++)
		w->found[i] = (struct found){ 0 };
	return false;
}

/* ---- gaps ------------------------------------------------------------------------------------ */

static void put_str(struct dial9_enc *enc, const char *text)
{
	dial9_enc_put_str(enc, text, strlen(text));
}

static int encode_gap(struct dial9_enc *enc, const struct dial9_event *metadata, uint64_t from,
		      uint64_t to)
{
	static const struct dial9_field fields[] = { { PROF_F_CPU, DIAL9_U32 },
						     { PROF_F_KIND, DIAL9_POOLED_STRING },
						     { PROF_F_COUNT, DIAL9_VARINT },
						     { PROF_F_FIRST_NS, DIAL9_VARINT },
						     { PROF_F_LAST_NS, DIAL9_VARINT } };
	struct dial9_schema *lost;
	int err = 0;

	if (metadata)
		err = dial9_enc_write(enc, metadata->schema, from, metadata->values,
				      metadata->value_cnt);
	if (!err)
		err = dial9_schema_new(PROF_EV_LOST, true, fields,
				       sizeof(fields) / sizeof(fields[0]), &lost);
	if (err)
		return err;
	dial9_enc_begin(enc, lost, from);
	dial9_enc_put_u64(enc, PROF_LOST_ANY_CPU);
	put_str(enc, PROF_LOST_HOLE);
	dial9_enc_put_u64(enc, 1);
	dial9_enc_put_u64(enc, from);
	dial9_enc_put_u64(enc, to);
	dial9_schema_free(lost);
	return dial9_enc_end(enc);
}

/*
 * Segment for the gap between two files; `behind` is set.cnt if there is none. One of them has
 * times.
 */
static int make_gap_segment(struct set_walk *w, size_t before, size_t after, struct set_piece *out)
{
	const struct dial9_enc_opts opts = { .sz = sizeof(opts), .level = DIAL9_LEVEL_4 };
	const struct found *a = before < w->set.cnt ? &w->found[before] : &w->found[after];
	const struct found *b = after < w->set.cnt ? &w->found[after] : a;
	uint64_t from = before < w->set.cnt ? a->last_ts : a->first_ts;
	uint64_t to = after < w->set.cnt ? b->first_ts : from;

	w->gap = false;
	w->holes = true;
	if (!a->has_ts)
		return 0;
	dial9_enc_free(w->gap_enc);
	w->gap_enc = NULL;
	if (dial9_enc_new(&opts, &w->gap_enc) ||
	    encode_gap(w->gap_enc, b->metadata, from, to > from ? to : from))
		return 0;
	*out = (struct set_piece){ .fd = -1 };
	out->data = dial9_enc_data(w->gap_enc, &out->sz);
	return 1;
}

/* Checks for missing numbers before this one; before the first, rotation may have deleted files. */
static void check_number(struct set_walk *w, const struct source_file *f, struct found *found)
{
	const unsigned long long first = w->number + 1, last = f->number - 1;

	if (w->any && f->number > w->number && f->number - w->number > 1) {
		const bool reported = found->gap_reported || w->set.quiet;

		if (!reported && first == last)
			log_warn("file %llu is missing before %s", first, f->path);
		else if (!reported)
			log_warn("files %llu to %llu are missing before %s", first, last, f->path);
		found->gap_reported = w->gap = true;
	}
	w->any = true;
	w->number = f->number;
}

/* ---- the walk ---------------------------------------------------------------------------------- */

static int next_good(struct set_walk *w, struct set_piece *out)
{
	const struct found *f = &w->found[w->at];
	const char *path = w->set.files[w->at].path;
	int fd = open_file(&w->set.files[w->at]);

	if (fd < 0) {
		w->gap = true;
		w->at++;
		return 0;
	}
	if (f->has_ts)
		w->last = w->at;
	w->at++;
	w->gap = f->bad;
	*out = (struct set_piece){ .fd = fd,
				   .path = path,
				   .limit = f->bad || f->torn ? f->good : UINT64_MAX };
	return 1;
}

/*
 * Returns the good part of a file without events in the requested range: 1, or 0 if there is none.
 */
static int next_names_only(struct set_walk *w, struct set_piece *out)
{
	const struct source_file *file = &w->set.files[w->at];
	struct found *f = &w->found[w->at], end = *f;
	int fd;

	*f = (struct found){ 0 };
	read_file(w, w->at++);
	end.good = f->good;
	dial9_event_free(f->metadata);
	*f = end;
	fd = end.good ? open_file(file) : -1;
	*out = (struct set_piece){
		.fd = fd, .path = file->path, .limit = end.good, .names_only = true
	};
	return fd >= 0;
}

int set_walk_next(struct set_walk *w, struct set_piece *out)
{
	while (w->at < w->set.cnt) {
		const struct source_file *file = &w->set.files[w->at];
		struct found *f = &w->found[w->at];

		check_number(w, file, f);
		if (f->names && !w->rewound) {
			if (next_names_only(w, out))
				return 1;
			continue;
		}
		if (file->skipped || f->outside_range) {
			w->at++;
			continue;
		}
		/* the gap segment needs metadata of the file after it */
		if (w->gap && f->by_end)
			*f = (struct found){ .gap_reported = f->gap_reported };
		if (w->set.cnt > 1)
			read_file(w, w->at);
		if (f->bad && !f->good) {
			w->gap |= !f->is_empty;
			w->at++;
		} else if (w->gap && make_gap_segment(w, w->last, w->at, out)) {
			return 1;
		} else if (next_good(w, out)) {
			return 1;
		}
	}
	return w->gap && w->last < w->set.cnt ? make_gap_segment(w, w->last, w->set.cnt, out) : 0;
}
