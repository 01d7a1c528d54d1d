/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_PERFDATA_STREAM_H
#define D9_FORMATS_PERFDATA_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "formats/foreign.h"

/* Records that perf itself writes; linux/perf_event.h has the kernel's. */
enum {
	PERFDATA_HEADER_ATTR = 64,
	PERFDATA_HEADER_TRACING_DATA = 66,
	PERFDATA_HEADER_BUILD_ID = 67,
	PERFDATA_FINISHED_ROUND = 68,
	PERFDATA_AUXTRACE = 71,
	PERFDATA_EVENT_UPDATE = 78,
	PERFDATA_HEADER_FEATURE = 80,
	PERFDATA_COMPRESSED = 81,
	PERFDATA_FINISHED_INIT = 82,
	PERFDATA_COMPRESSED2 = 83,
};

/* The bytes of a file, with a position, and the records among them. */
struct perfdata_stream;

/* @in must outlive it, and stands at its first byte. */
void perfdata_stream_new(const struct foreign_input *in, struct perfdata_stream **out);
void perfdata_stream_free(struct perfdata_stream *s);

/* Back to the first byte: 0 or -errno. Only if the input can. */
int perfdata_stream_rewind(struct perfdata_stream *s);

/* The offset in the file of the next byte. */
uint64_t perfdata_stream_pos(const struct perfdata_stream *s);

/*
 * Appends n bytes, or as many as the file has, to @out: 0 or an error of read(). perfdata_stream_skip() drops them.
 * Memory grows with the bytes that are there, whatever n is.
 */
int perfdata_stream_read(struct perfdata_stream *s, uint64_t n, struct buf *out);
int perfdata_stream_skip(struct perfdata_stream *s, uint64_t n);

/* Records end at this offset; UINT64_MAX: at the end of the file. */
void perfdata_stream_limit(struct perfdata_stream *s, uint64_t end);

struct perfdata_record {
	uint64_t off; /* in the file; of a record in a compressed one, of that */
	uint32_t type;
	uint16_t misc;
	const uint8_t *p; /* after its header, aligned to 8; borrowed until the next call */
	size_t sz;
};

/*
 * 1 and a record, unpacked if it was compressed; 0 at the end, also if the last record is cut; -EBADMSG where no
 * record can be; or an error of read(). What follows AUXTRACE records is skipped.
 */
int perfdata_stream_next(struct perfdata_stream *s, struct perfdata_record *out);

/* Why next() returned -EBADMSG, or 0 before the end ("the last record is cut"); NULL: no reason. Static. */
const char *perfdata_stream_fault(const struct perfdata_stream *s);

#endif /* D9_FORMATS_PERFDATA_STREAM_H */
