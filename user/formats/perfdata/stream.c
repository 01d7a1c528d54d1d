// SPDX-License-Identifier: BSD-2-Clause
/*
 * stream.c - the bytes of a perf.data file, and its records
 *
 * Owns the position in the file, and what has been unpacked of compressed records. It does not know what records mean.
 * The unpacked bytes are one stream, so a record may begin in one compressed record and end in the next. They are
 * unpacked in pieces: a small record may hold gigabytes.
 */
#include "formats/perfdata/stream.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"

enum {
	HEADER_SZ = sizeof(struct perf_event_header),
	READ_SZ = 64 << 10,
	UNPACK_SZ = 64 << 10,
	RECORD_MAX = UINT16_MAX,
};

struct perfdata_stream {
	const struct foreign_input *in;
	uint64_t pos, end; /* offsets in the file */
	uint8_t *read; /* READ_SZ bytes */
	size_t read_pos, read_sz;
	uint64_t record[RECORD_MAX / 8 + 1]; /* words, so that it is aligned */
	ZSTD_DStream *zstd; /* NULL: nothing was compressed so far */
	uint64_t packed[RECORD_MAX / 8 + 1];
	size_t packed_pos, packed_sz;
	uint64_t packed_off;
	struct buf plain;
	size_t plain_pos;
	const char *fault;
};

void perfdata_stream_new(const struct foreign_input *in, struct perfdata_stream **out)
{
	struct perfdata_stream *s = xcalloc(1, sizeof(*s));

	s->in = in;
	s->end = UINT64_MAX;
	s->read = xmalloc(READ_SZ);
	*out = s;
}

void perfdata_stream_free(struct perfdata_stream *s)
{
	if (!s)
		return;
	ZSTD_freeDStream(s->zstd);
	buf_free(&s->plain);
	free(s->read);
	free(s);
}

int perfdata_stream_rewind(struct perfdata_stream *s)
{
	int err = s->in->rewind(s->in->ctx);

	if (err)
		return err;
	ZSTD_freeDStream(s->zstd);
	s->zstd = NULL;
	buf_clear(&s->plain);
	s->plain_pos = s->packed_pos = s->packed_sz = s->read_pos = s->read_sz = 0;
	s->pos = 0;
	s->fault = NULL;
	return 0;
}

uint64_t perfdata_stream_pos(const struct perfdata_stream *s)
{
	return s->pos;
}

void perfdata_stream_limit(struct perfdata_stream *s, uint64_t end)
{
	s->end = end;
}

const char *perfdata_stream_fault(const struct perfdata_stream *s)
{
	return s->fault;
}

/* ---- bytes ------------------------------------------------------------------------------------- */

/* Gives up to n bytes, at least one: their number; 0 at the end of the file; -errno. */
static ssize_t borrow(struct perfdata_stream *s, uint64_t n, const uint8_t **out)
{
	ssize_t ret;
	size_t cnt;

	if (s->read_pos == s->read_sz) {
		ret = s->in->read(s->in->ctx, s->read, READ_SZ);
		if (ret <= 0)
			return ret;
		s->read_pos = 0;
		s->read_sz = (size_t)ret;
	}
	cnt = s->read_sz - s->read_pos;
	cnt = cnt < n ? cnt : (size_t)n;
	*out = s->read + s->read_pos;
	s->read_pos += cnt;
	s->pos += cnt;
	return (ssize_t)cnt;
}

int perfdata_stream_read(struct perfdata_stream *s, uint64_t n, struct buf *out)
{
	const uint8_t *p;
	ssize_t got = 1;

	for (; n && (got = borrow(s, n, &p)) > 0; n -= (uint64_t)got)
		buf_add(out, p, (size_t)got);
	return got < 0 ? (int)got : 0;
}

int perfdata_stream_skip(struct perfdata_stream *s, uint64_t n)
{
	const uint8_t *p;
	ssize_t got = 1;

	for (; n && (got = borrow(s, n, &p)) > 0; n -= (uint64_t)got)
		;
	return got < 0 ? (int)got : 0;
}

/* Fills n bytes: their number, less at the end of the records; or -errno. */
static ssize_t fill(struct perfdata_stream *s, void *to, size_t n)
{
	uint64_t left = s->end > s->pos ? s->end - s->pos : 0;
	size_t want = left < n ? (size_t)left : n, have = 0;
	const uint8_t *p;
	ssize_t got;

	while (have < want) {
		got = borrow(s, want - have, &p);
		if (got < 0)
			return got;
		if (!got)
			break;
		memcpy((uint8_t *)to + have, p, (size_t)got);
		have += (size_t)got;
	}
	return (ssize_t)have;
}

/* ---- records ----------------------------------------------------------------------------------- */

static int fail(struct perfdata_stream *s, const char *why)
{
	s->fault = why;
	return -EBADMSG;
}

static int cut(struct perfdata_stream *s)
{
	s->fault = "the last record is cut";
	return 0;
}

static void set_record(struct perfdata_record *out, const struct perf_event_header *h, uint64_t off,
		       const void *p)
{
	*out = (struct perfdata_record){
		.off = off, .type = h->type, .misc = h->misc, .p = p, .sz = h->size - HEADER_SZ
	};
}

/* A record as the file has it. */
static int next_in_file(struct perfdata_stream *s, struct perfdata_record *out)
{
	uint64_t off = s->pos;
	struct perf_event_header h;
	ssize_t got = fill(s, &h, sizeof(h));

	if (got <= 0)
		return (int)got;
	if (got < HEADER_SZ)
		return cut(s);
	if (h.size < HEADER_SZ)
		return fail(s, "a record is smaller than its header");
	got = fill(s, s->record, h.size - HEADER_SZ);
	if (got < 0)
		return (int)got;
	if (got < h.size - HEADER_SZ)
		return cut(s);
	set_record(out, &h, off, s->record);
	return 1;
}

/* The compressed bytes of the record become the unpacker's input. */
static int start_unpacking(struct perfdata_stream *s, const struct perfdata_record *r)
{
	size_t head = r->type == PERFDATA_COMPRESSED2 ? sizeof(uint64_t) : 0, sz = r->sz;
	uint64_t data_sz;

	if (sz < head)
		return fail(s, "a compressed record has no size");
	if (head) {
		memcpy(&data_sz, r->p, sizeof(data_sz));
		if (data_sz > sz - head)
			return fail(s, "a compressed record is larger than its bytes");
		sz = head + (size_t)data_sz;
	}
	if (!s->zstd)
		s->zstd = ZSTD_createDStream();
	if (!s->zstd)
		return -ENOMEM;
	memcpy(s->packed, r->p + head, sz - head);
	s->packed_pos = 0;
	s->packed_sz = sz - head;
	s->packed_off = r->off;
	return 0;
}

/* Unpacks the next piece. */
static int unpack(struct perfdata_stream *s)
{
	ZSTD_inBuffer in = { s->packed, s->packed_sz, s->packed_pos };
	ZSTD_outBuffer out = { NULL, UNPACK_SZ, 0 };
	size_t ret;

	/* the rest of a record to the front, where it is aligned again */
	if (s->plain_pos)
		memmove(s->plain.data, s->plain.data + s->plain_pos, s->plain.len - s->plain_pos);
	s->plain.len -= s->plain_pos;
	s->plain_pos = 0;
	out.dst = buf_reserve(&s->plain, UNPACK_SZ);
	ret = ZSTD_decompressStream(s->zstd, &out, &in);
	if (ZSTD_isError(ret))
		return fail(s, "compressed records are damaged");
	s->plain.len += out.pos;
	/* all of the input is used, and the output had room: there is nothing more to come */
	if (in.pos == in.size && out.pos < out.size)
		s->packed_sz = in.pos = 0;
	else if (in.pos == s->packed_pos && !out.pos)
		return fail(s, "compressed records are damaged");
	s->packed_pos = in.pos;
	return 0;
}

/* 1 and a record from what is unpacked; 0: more is needed. */
static int next_unpacked(struct perfdata_stream *s, struct perfdata_record *out)
{
	size_t left = s->plain.len - s->plain_pos;
	struct perf_event_header h;

	if (left < HEADER_SZ)
		return 0;
	memcpy(&h, s->plain.data + s->plain_pos, sizeof(h));
	if (h.size < HEADER_SZ)
		return fail(s, "a record is smaller than its header");
	if (left < h.size)
		return 0;
	if (h.type == PERFDATA_COMPRESSED || h.type == PERFDATA_COMPRESSED2)
		return fail(s, "a compressed record is in another");
	memcpy(s->record, s->plain.data + s->plain_pos + HEADER_SZ, h.size - HEADER_SZ);
	s->plain_pos += h.size;
	set_record(out, &h, s->packed_off, s->record);
	return 1;
}

/* After an AUXTRACE record are bytes of its own. */
static int skip_trailing(struct perfdata_stream *s, const struct perfdata_record *r)
{
	uint64_t sz;

	if (r->type != PERFDATA_AUXTRACE || r->sz < sizeof(sz))
		return 0;
	memcpy(&sz, r->p, sizeof(sz));
	return perfdata_stream_skip(s, sz);
}

int perfdata_stream_next(struct perfdata_stream *s, struct perfdata_record *out)
{
	int ret;

	s->fault = NULL;
	for (;;) {
		ret = next_unpacked(s, out);
		if (ret)
			return ret;
		if (s->packed_sz) {
			ret = unpack(s);
		} else {
			ret = next_in_file(s, out);
			if (!ret && !s->fault && s->plain.len > s->plain_pos)
				return cut(s);
			if (ret <= 0)
				return ret;
			if (out->type != PERFDATA_COMPRESSED && out->type != PERFDATA_COMPRESSED2)
				return skip_trailing(s, out) ?: 1;
			ret = start_unpacking(s, out);
		}
		if (ret)
			return ret;
	}
}
