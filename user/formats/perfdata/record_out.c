// SPDX-License-Identifier: BSD-2-Clause
/*
 * record_out.c - records of a perf.data file, byte by byte
 *
 * Owns the header and the common end of records, and the output buffer. A file begins with the size of its records, so
 * the records are made twice: first only counted.
 */
#include "formats/perfdata/record_out.h"

#include <string.h>

enum { PENDING_MAX = 64 << 10, TEXT_MAX_LEN = 4095 };

void perfdata_out_fini(struct perfdata_out *o)
{
	buf_free(&o->body);
	buf_free(&o->pending);
}

void perfdata_out_u32(struct perfdata_out *o, uint32_t v)
{
	perfdata_put_u32(&o->body, v);
}

void perfdata_out_u64(struct perfdata_out *o, uint64_t v)
{
	perfdata_put_u64(&o->body, v);
}

void perfdata_out_cpu(struct perfdata_out *o, uint32_t cpu)
{
	if (!o->has_cpu)
		return;
	perfdata_out_u32(o, cpu);
	perfdata_out_u32(o, 0);
}

void perfdata_out_text(struct perfdata_out *o, const char *s)
{
	size_t len = strnlen(s, TEXT_MAX_LEN);

	buf_add(&o->body, s, len);
	buf_fill(&o->body, '\0', 8 - len % 8);
}

void perfdata_out_moment(struct perfdata_out *o, const struct perfdata_moment *m)
{
	perfdata_out_u32(o, m->pid);
	perfdata_out_u32(o, m->tid);
	perfdata_out_u64(o, m->ts);
	perfdata_out_cpu(o, m->cpu);
	perfdata_out_u64(o, m->id);
}

int perfdata_out_flush(struct perfdata_out *o)
{
	if (o->write && !o->err && o->pending.len)
		o->err = o->write(o->ctx, o->pending.data, o->pending.len);
	buf_clear(&o->pending);
	return o->err;
}

void perfdata_out_bytes(struct perfdata_out *o, const void *p, size_t sz)
{
	o->sz += sz;
	if (!o->write)
		return;
	buf_add(&o->pending, p, sz);
	if (o->pending.len >= PENDING_MAX)
		perfdata_out_flush(o);
}

void perfdata_out_record(struct perfdata_out *o, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = { .type = type, .misc = misc };

	h.size = (uint16_t)(sizeof(h) + o->body.len);
	perfdata_out_bytes(o, &h, sizeof(h));
	perfdata_out_bytes(o, buf_cstr(&o->body), o->body.len);
	buf_clear(&o->body);
}
