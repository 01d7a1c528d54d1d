/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_FORMATS_PERFDATA_RECORD_OUT_H
#define D9_FORMATS_PERFDATA_RECORD_OUT_H

#include <linux/perf_event.h>

#include "base/buf.h"
#include "dial9.h"

/* Writes records: appends each body to @body, then perfdata_out_record(). {0} only counts bytes; free with _fini(). */
struct perfdata_out {
	dial9_write_fn write; /* NULL: count */
	void *ctx;
	bool has_cpu; /* records have their CPU */
	struct buf body;
	uint64_t sz; /* bytes of all records so far */
	int err; /* the first error of write() */
	struct buf pending;
};

/* Who and when: the end of each record that is not a sample. */
struct perfdata_moment {
	uint32_t pid, tid, cpu;
	uint64_t ts;
	uint64_t id; /* number of the event */
};

/* Numbers in the byte order of the machine. */
static inline void perfdata_put_u32(struct buf *b, uint32_t v)
{
	buf_add(b, &v, sizeof(v));
}

static inline void perfdata_put_u64(struct buf *b, uint64_t v)
{
	buf_add(b, &v, sizeof(v));
}

void perfdata_out_fini(struct perfdata_out *o);

void perfdata_out_u32(struct perfdata_out *o, uint32_t v);
/* If records have it. */
void perfdata_out_cpu(struct perfdata_out *o, uint32_t cpu);
void perfdata_out_u64(struct perfdata_out *o, uint64_t v);
/* Text of at most 4095 bytes, its NUL, and padding to 8 bytes. */
void perfdata_out_text(struct perfdata_out *o, const char *s);
void perfdata_out_moment(struct perfdata_out *o, const struct perfdata_moment *m);

/* Ends the record: a header and the body. */
void perfdata_out_record(struct perfdata_out *o, uint32_t type, uint16_t misc);
/* Bytes outside of records. */
void perfdata_out_bytes(struct perfdata_out *o, const void *p, size_t sz);
/* Writes out what waits: 0, or the first error of write(). */
int perfdata_out_flush(struct perfdata_out *o);

#endif /* D9_FORMATS_PERFDATA_RECORD_OUT_H */
