// SPDX-License-Identifier: BSD-2-Clause
/*
 * file.c - where things are in the two formats of perf.data
 *
 * Owns the order of reading. The file format has the events before the records and most sections after them, so it is
 * read twice. The pipe format has all of that among the records, the names of events and build-ids perhaps after the
 * records that need them; it is read twice if the input allows.
 */
#include "formats/perfdata/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "formats/perfdata/sample.h"

enum {
	SECTIONS_MAX_SZ = 256 << 20, /* before the records, and after them */
	PIPE_HEADER_SZ = 16,
};

struct section {
	uint64_t off, sz;
};

/* The start of a file; in a pipe only the first two. */
struct file_header {
	char magic[PERFDATA_MAGIC_SZ];
	uint64_t sz;
	uint64_t attr_sz;
	struct section attrs, data, event_types;
	uint64_t features[PERFDATA_FEATURE_CNT / 64];
};

_Static_assert(sizeof(struct file_header) == 104, "perf's struct perf_file_header");

/* A file of a directory. */
struct part {
	struct perfdata_stream *stream;
	uint64_t last; /* the latest time so far */
	bool ended;
};

struct perfdata_file {
	const struct foreign_input *in;
	size_t in_cnt;
	struct foreign_notes *notes;
	struct perfdata_stream *stream;
	struct part *parts; /* of a directory: in_cnt, the first is the file itself; otherwise NULL */
	struct perfdata_header header;
	bool pipe;
	bool collected; /* the header is complete: records that describe it are skipped */
};

const struct perfdata_header *perfdata_file_header(const struct perfdata_file *f)
{
	return &f->header;
}

bool perfdata_file_is_pipe(const struct perfdata_file *f)
{
	return f->pipe;
}

void perfdata_file_free(struct perfdata_file *f)
{
	if (!f)
		return;
	for (size_t i = 1; f->parts && i < f->in_cnt; i++)
		perfdata_stream_free(f->parts[i].stream);
	free(f->parts);
	perfdata_header_fini(&f->header);
	perfdata_stream_free(f->stream);
	free(f);
}

static int refuse(const struct perfdata_file *f, const char *why)
{
	log_error("perf.data: %s: %s", f->in->name, why);
	return -EBADMSG;
}

static int refuse_several(void)
{
	log_error("convert: only one perf.data file can be converted at a time; convert each, "
		  "then use dial9-prof merge");
	return -EINVAL;
}

/* ---- records that describe the recording ------------------------------------------------------- */

static void damaged_record(struct perfdata_file *f, const struct perfdata_record *r)
{
	foreign_note(f->notes, FOREIGN_NOTE_DAMAGED, 1, "damaged records",
		     "type %" PRIu32 " at byte %" PRIu64, r->type, r->off);
}

static bool add_attr(struct perfdata_header *h, struct perfdata_bytes body)
{
	struct perfdata_bytes attr, head = body;
	uint32_t type, sz;

	return perfdata_bytes_u32(&head, &type) && perfdata_bytes_u32(&head, &sz) &&
	       perfdata_bytes_take(&body, sz ? sz : PERF_ATTR_SIZE_VER0, &attr) &&
	       !perfdata_header_add_event(h, attr, body);
}

/* The formats come after the record. */
static int read_tracing(struct perfdata_file *f, const struct perfdata_record *r)
{
	struct perfdata_bytes b = { r->p, r->sz };
	struct buf data = { 0 };
	uint32_t sz;
	int err;

	if (!perfdata_bytes_u32(&b, &sz) || sz > SECTIONS_MAX_SZ) {
		damaged_record(f, r);
		return 0;
	}
	if (f->collected)
		return perfdata_stream_skip(f->stream, (sz + 7U) & ~7U);
	err = perfdata_stream_read(f->stream, (sz + 7U) & ~7U, &data);
	b = (struct perfdata_bytes){ (const uint8_t *)buf_cstr(&data), data.len };
	if (!err)
		perfdata_header_add_feature(&f->header, PERFDATA_TRACING_DATA, b, f->notes);
	buf_free(&data);
	return err;
}

static void read_description(struct perfdata_file *f, const struct perfdata_record *r)
{
	struct perfdata_bytes b = { r->p, r->sz };
	uint64_t feature;
	bool ok = true;

	switch (r->type) {
	case PERFDATA_HEADER_ATTR:
		ok = add_attr(&f->header, b);
		break;
	case PERFDATA_HEADER_BUILD_ID:
		ok = perfdata_header_add_build_id(&f->header, r->misc, b);
		break;
	case PERFDATA_EVENT_UPDATE:
		perfdata_header_update(&f->header, b);
		break;
	default:
		ok = perfdata_bytes_u64(&b, &feature) && feature < PERFDATA_FEATURE_CNT;
		if (ok)
			perfdata_header_add_feature(&f->header, (uint32_t)feature, b, f->notes);
		break;
	}
	if (!ok)
		damaged_record(f, r);
}

static bool is_description(const struct perfdata_record *r)
{
	return r->type == PERFDATA_HEADER_ATTR || r->type == PERFDATA_HEADER_BUILD_ID ||
	       r->type == PERFDATA_EVENT_UPDATE || r->type == PERFDATA_HEADER_FEATURE;
}

/* 1 and a record; 0 at the end; -errno, -EBADMSG without a note. */
static int next_record(struct perfdata_file *f, struct perfdata_record *out)
{
	int ret, err = 0;

	while ((ret = perfdata_stream_next(f->stream, out)) > 0 && !err) {
		if (out->type == PERFDATA_HEADER_TRACING_DATA)
			err = read_tracing(f, out);
		else if (!is_description(out))
			return 1;
		else if (!f->collected)
			read_description(f, out);
	}
	return err ? err : ret;
}

/* 0 where a stream ends, also where no more can be read, which is noted; or its -errno. */
static int end_stream(struct perfdata_file *f, const struct perfdata_stream *stream, int ret)
{
	const char *fault = perfdata_stream_fault(stream);

	if ((ret && ret != -EBADMSG) || !fault)
		return ret;
	foreign_note(f->notes, FOREIGN_NOTE_DAMAGED, 1,
		     ret ? "the rest of the file, which is damaged" : "torn end of the file",
		     "byte %" PRIu64 ": %s", perfdata_stream_pos(stream), fault);
	return 0;
}

/* The file with the earliest records; NULL: all have ended. */
static struct part *oldest_part(const struct perfdata_file *f)
{
	struct part *oldest = NULL;

	for (size_t i = 0; i < f->in_cnt; i++)
		if (!f->parts[i].ended && (!oldest || f->parts[i].last < oldest->last))
			oldest = &f->parts[i];
	return oldest;
}

/* Rounds of one file do not say how far the others are. */
static int next_of_parts(struct perfdata_file *f, struct perfdata_record *out)
{
	struct perfdata_sample s;
	struct part *p;
	int ret;

	while ((p = oldest_part(f))) {
		ret = p == f->parts ? next_record(f, out) : perfdata_stream_next(p->stream, out);
		if (ret <= 0) {
			p->ended = true;
			ret = end_stream(f, p->stream, ret);
			if (ret)
				return ret;
			continue;
		}
		if (out->type < PERFDATA_HEADER_ATTR) {
			perfdata_sample_common(&f->header, out, &s);
			p->last = s.time > p->last ? s.time : p->last;
		}
		if (out->type != PERFDATA_FINISHED_ROUND)
			return 1;
	}
	return 0;
}

int perfdata_file_next(struct perfdata_file *f, struct perfdata_record *out)
{
	int ret;

	if (f->parts)
		return next_of_parts(f, out);
	ret = next_record(f, out);
	return ret > 0 ? ret : end_stream(f, f->stream, ret);
}

/* ---- the file format --------------------------------------------------------------------------- */

/* Bytes of the file from @base on: false if they do not reach that far. */
static bool find_section(const struct buf *bytes, uint64_t base, struct section s,
			 struct perfdata_bytes *out)
{
	*out = (struct perfdata_bytes){ 0 };
	if (!s.sz)
		return true;
	if (s.off < base || s.off - base > bytes->len || s.sz > bytes->len - (s.off - base))
		return false;
	*out = (struct perfdata_bytes){ (const uint8_t *)bytes->data + (s.off - base),
					(size_t)s.sz };
	return true;
}

static int read_events(struct perfdata_file *f, const struct file_header *h, const struct buf *head)
{
	struct perfdata_bytes attrs, attr, ids;
	struct section at;

	if (!find_section(head, sizeof(*h), h->attrs, &attrs))
		return refuse(f, "its event descriptions are outside of its header");
	if (h->attr_sz <= sizeof(at) || attrs.sz < h->attr_sz)
		return refuse(f, "it describes no event");
	while (perfdata_bytes_take(&attrs, h->attr_sz - sizeof(at), &attr) &&
	       perfdata_bytes_get(&attrs, &at, sizeof(at))) {
		if (!find_section(head, sizeof(*h), at, &ids))
			return refuse(f, "numbers of its events are outside of its header");
		if (perfdata_header_add_event(&f->header, attr, ids))
			return refuse(f, "it describes an event in an unknown way");
	}
	return 0;
}

static bool has_feature(const struct file_header *h, enum perfdata_feature feature)
{
	return h->features[feature / 64] >> feature % 64 & 1;
}

/* The sections after the records: first a table of them. */
static void read_sections(struct perfdata_file *f, const struct file_header *h, uint64_t base,
			  const struct buf *tail)
{
	struct perfdata_bytes table, b;
	struct section at;

	table = (struct perfdata_bytes){ (const uint8_t *)tail->data, tail->len };
	for (uint32_t i = 0; i < PERFDATA_FEATURE_CNT; i++) {
		if (!has_feature(h, i))
			continue;
		if (!perfdata_bytes_get(&table, &at, sizeof(at)) ||
		    !find_section(tail, base, at, &b)) {
			foreign_note(f->notes, FOREIGN_NOTE_DAMAGED, 1, "missing header sections",
				     "section %" PRIu32, i);
			continue;
		}
		if (at.sz)
			perfdata_header_add_feature(&f->header, i, b, f->notes);
	}
}

static int read_head(struct perfdata_file *f, const struct file_header *h)
{
	struct buf head = { 0 };
	int err;

	if (h->sz != sizeof(*h) || h->data.off < sizeof(*h) ||
	    h->data.off - sizeof(*h) > SECTIONS_MAX_SZ)
		return refuse(f, "its header is damaged, or of an unknown version of perf");
	err = perfdata_stream_read(f->stream, h->data.off - sizeof(*h), &head);
	if (!err && head.len < h->data.off - sizeof(*h))
		err = refuse(f, "it ends in its header");
	if (!err)
		err = read_events(f, h, &head);
	buf_free(&head);
	return err;
}

/* perf writes the size of the records at the end. */
static bool is_finished(const struct file_header *h)
{
	return h->data.sz && h->data.sz <= UINT64_MAX - h->data.off;
}

static int read_tail(struct perfdata_file *f, const struct file_header *h)
{
	struct buf tail = { 0 };
	int err;

	if (!is_finished(h)) {
		foreign_note(f->notes, FOREIGN_NOTE_DAMAGED, 1,
			     "all header sections: perf did not finish the file", NULL);
		return 0;
	}
	err = perfdata_stream_skip(f->stream, h->data.sz);
	if (!err)
		err = perfdata_stream_read(f->stream, SECTIONS_MAX_SZ, &tail);
	if (!err)
		read_sections(f, h, h->data.off + h->data.sz, &tail);
	buf_free(&tail);
	return err;
}

/* The files of a directory have records only. */
static int open_parts(struct perfdata_file *f)
{
	int err = 0;

	f->parts = xcalloc(f->in_cnt, sizeof(*f->parts));
	f->parts[0].stream = f->stream;
	for (size_t i = 1; i < f->in_cnt; i++)
		perfdata_stream_new(&f->in[i], &f->parts[i].stream);
	for (size_t i = 1; i < f->in_cnt && !err; i++)
		err = perfdata_stream_rewind(f->parts[i].stream);
	return err;
}

static int open_file(struct perfdata_file *f, const struct file_header *h)
{
	int err;

	if (has_feature(h, PERFDATA_DIR_FORMAT) && f->in_cnt == 1)
		return refuse(f, "its events are in other files, one per thread of perf "
				 "(data.0, ...); use dial9-prof convert with their directory");
	if (!has_feature(h, PERFDATA_DIR_FORMAT) && f->in_cnt > 1)
		return refuse_several();
	if (!f->in->rewind) {
		refuse(f, "a perf.data file cannot be followed; use perf record -o - for the pipe "
			  "format");
		return -EINVAL;
	}
	err = read_head(f, h);
	if (!err)
		err = read_tail(f, h);
	if (!err)
		err = perfdata_stream_rewind(f->stream);
	if (!err)
		err = perfdata_stream_skip(f->stream, h->data.off);
	if (err)
		return err;
	f->collected = true;
	perfdata_stream_limit(f->stream, is_finished(h) ? h->data.off + h->data.sz : UINT64_MAX);
	return f->in_cnt > 1 ? open_parts(f) : 0;
}

/* ---- the pipe format --------------------------------------------------------------------------- */

static int open_pipe(struct perfdata_file *f)
{
	struct perfdata_record rec;
	int ret;

	f->pipe = true;
	if (f->in_cnt > 1)
		return refuse_several();
	if (!f->in->rewind)
		return 0;
	while ((ret = next_record(f, &rec)) > 0)
		;
	if (ret && ret != -EBADMSG)
		return ret;
	f->collected = true;
	ret = perfdata_stream_rewind(f->stream);
	return ret ? ret : perfdata_stream_skip(f->stream, PIPE_HEADER_SZ);
}

/* ---- both -------------------------------------------------------------------------------------- */

static int read_start(struct perfdata_file *f)
{
	struct file_header h = { .sz = 0 };
	struct buf b = { 0 };
	int err = perfdata_stream_read(f->stream, PIPE_HEADER_SZ, &b);

	if (err)
		goto out;
	memcpy(&h, buf_cstr(&b), b.len);
	if (!memcmp(h.magic, PERFDATA_MAGIC_SWAPPED, sizeof(h.magic)))
		err = refuse(f, "written on a machine of the other byte order");
	else if (memcmp(h.magic, PERFDATA_MAGIC, sizeof(h.magic)) != 0)
		err = refuse(f, "not a perf.data file");
	else if (b.len < PIPE_HEADER_SZ)
		err = refuse(f, "it ends in its header");
	if (err || h.sz == PIPE_HEADER_SZ) {
		err = err ? err : open_pipe(f);
		goto out;
	}
	err = perfdata_stream_read(f->stream, sizeof(h) - PIPE_HEADER_SZ, &b);
	if (!err && b.len < sizeof(h))
		err = refuse(f, "it ends in its header");
	if (!err) {
		memcpy(&h, b.data, sizeof(h));
		err = open_file(f, &h);
	}
out:
	buf_free(&b);
	return err;
}

int perfdata_file_open(const struct foreign_input *in, size_t cnt, struct foreign_notes *notes,
		       struct perfdata_file **out)
{
	struct perfdata_file *f = xcalloc(1, sizeof(*f));
	int err = 0;

	f->in = in;
	f->in_cnt = cnt;
	f->notes = notes;
	perfdata_stream_new(in, &f->stream);
	if (in->rewind)
		err = perfdata_stream_rewind(f->stream);
	if (!err)
		err = read_start(f);
	if (err) {
		perfdata_file_free(f);
		return err;
	}
	*out = f;
	return 0;
}
