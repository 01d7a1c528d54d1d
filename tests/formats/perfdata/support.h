/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_FORMATS_PERFDATA_SUPPORT_H
#define D9_TESTS_FORMATS_PERFDATA_SUPPORT_H

/* perf.data in the pipe format, put together record by record, and what it becomes. */
#include <linux/perf_event.h>

#include "formats/perfdata/stream.h"
#include "tests/formats/support.h"

#define SAMPLE_TYPE                                                                                \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)

static inline void put_u32(struct buf *b, uint32_t v)
{
	buf_add(b, &v, sizeof(v));
}

static inline void put_u64(struct buf *b, uint64_t v)
{
	buf_add(b, &v, sizeof(v));
}

/* With its NUL, padded to words. */
static inline void put_name(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s) + 1);
	while (b->len % 8)
		buf_addch(b, '\0');
}

/* Appends a record with that body, and empties it. */
static inline void put_record(struct buf *out, uint32_t type, uint16_t misc, struct buf *body)
{
	struct perf_event_header h = { type, misc, (uint16_t)(sizeof(h) + body->len) };

	buf_add(out, &h, sizeof(h));
	buf_add(out, buf_cstr(body), body->len);
	buf_clear(body);
}

static inline void put_pipe_header(struct buf *out)
{
	buf_addstr(out, "PERFILE2");
	put_u64(out, 16);
}

static inline void put_attr_struct(struct buf *out, const struct perf_event_attr *attr, uint64_t id)
{
	struct buf body = { 0 };

	buf_add(&body, attr, sizeof(*attr));
	put_u64(&body, id);
	put_record(out, PERFDATA_HEADER_ATTR, 0, &body);
	buf_free(&body);
}

static inline void put_attr(struct buf *out, uint32_t type, uint64_t config, uint64_t sample_type,
			    uint64_t id)
{
	const struct perf_event_attr attr = { .type = type,
					      .size = sizeof(attr),
					      .config = config,
					      .sample_period = 1000000,
					      .sample_type = sample_type,
					      .sample_id_all = 1,
					      .use_clockid = 1,
					      .clockid = 1 };

	put_attr_struct(out, &attr, id);
}

/* The end of records other than samples, for SAMPLE_TYPE. */
static inline void put_trailer(struct buf *b, uint32_t pid, uint64_t time, uint32_t cpu,
			       uint64_t id)
{
	put_u32(b, pid);
	put_u32(b, pid);
	put_u64(b, time);
	put_u32(b, cpu);
	put_u32(b, 0);
	put_u64(b, id);
}

static inline void put_comm(struct buf *out, uint16_t misc, uint32_t pid, uint64_t time,
			    const char *comm)
{
	struct buf body = { 0 };

	put_u32(&body, pid);
	put_u32(&body, pid);
	put_name(&body, comm);
	put_trailer(&body, pid, time, 0, 1);
	put_record(out, PERF_RECORD_COMM, misc, &body);
	buf_free(&body);
}

/* Of the kernel, by which PID and path perf names it. */
static inline void put_kernel_mmap(struct buf *out, uint64_t start, uint64_t sz, const char *path)
{
	struct buf body = { 0 };

	put_u32(&body, UINT32_MAX);
	put_u32(&body, 0);
	put_u64(&body, start);
	put_u64(&body, sz);
	put_u64(&body, start);
	put_name(&body, path);
	put_trailer(&body, 0, 0, 0, 1);
	put_record(out, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, &body);
	buf_free(&body);
}

static inline void put_mmap2(struct buf *out, uint32_t pid, uint64_t time, uint64_t start,
			     uint64_t sz, uint64_t off, const char *path)
{
	struct buf body = { 0 };

	put_u32(&body, pid);
	put_u32(&body, pid);
	put_u64(&body, start);
	put_u64(&body, sz);
	put_u64(&body, off);
	put_u64(&body, 0);
	put_u64(&body, 0);
	put_u64(&body, 0);
	put_u32(&body, 5);
	put_u32(&body, 2);
	put_name(&body, path);
	put_trailer(&body, pid, time, 0, 1);
	put_record(out, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, &body);
	buf_free(&body);
}

static inline void put_fork(struct buf *out, uint32_t pid, uint32_t ppid, uint64_t time)
{
	struct buf body = { 0 };

	put_u32(&body, pid);
	put_u32(&body, ppid);
	put_u32(&body, pid);
	put_u32(&body, ppid);
	put_u64(&body, time);
	put_trailer(&body, pid, time, 0, 1);
	put_record(out, PERF_RECORD_FORK, 0, &body);
	buf_free(&body);
}

/* A sample of SAMPLE_TYPE in user code. */
static inline void put_sample(struct buf *out, uint64_t id, uint32_t pid, uint64_t time,
			      const uint64_t *chain, size_t cnt)
{
	struct buf body = { 0 };

	put_u64(&body, id);
	put_u64(&body, chain[cnt - 1]);
	put_u32(&body, pid);
	put_u32(&body, pid);
	put_u64(&body, time);
	put_u32(&body, 3);
	put_u32(&body, 0);
	put_u64(&body, 1000000);
	put_u64(&body, cnt);
	buf_add(&body, chain, cnt * sizeof(*chain));
	put_record(out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &body);
	buf_free(&body);
}

static inline void put_round(struct buf *out)
{
	struct buf body = { 0 };

	put_record(out, PERFDATA_FINISHED_ROUND, 0, &body);
	buf_free(&body);
}

/* ---- what it becomes --------------------------------------------------------------------------- */

/* One line for each event: time, name and values. Stacks are in hexadecimal. */
static inline void print_value(const struct dial9_dec *dec, const struct dial9_value *v,
			       struct buf *out)
{
	struct dial9_str s;
	const uint8_t *le;
	uint32_t cnt;

	if (!dial9_value_str(dec, v, &s)) {
		buf_add(out, s.ptr, s.len);
	} else if (!dial9_value_stack(dec, v, &le, &cnt)) {
		for (uint32_t i = 0; i < cnt; i++)
			buf_printf(out, "%s%llx", i ? "," : "",
				   (unsigned long long)dial9_frame_at(le, i));
	} else if (v->type == DIAL9_I64) {
		buf_addi(out, v->i64);
	} else if (v->type == DIAL9_BYTES) {
		buf_printf(out, "%u bytes", v->str.len);
	} else if (v->type == DIAL9_STRING_MAP) {
		buf_addch(out, '*');
	} else if (!v->type) {
		buf_addch(out, '-');
	} else {
		buf_addu(out, v->u64);
	}
}

static inline void print_event(const struct dial9_dec *dec, const struct dial9_event *ev,
			       struct buf *out)
{
	buf_addu(out, ev->ts);
	buf_printf(out, " %s", dial9_schema_name(ev->schema));
	for (size_t i = 0; i < ev->value_cnt; i++) {
		buf_addch(out, ' ');
		print_value(dec, &ev->values[i], out);
	}
	buf_addch(out, '\n');
}

/* The events of a file as text; notes are left to the caller. */
static inline struct buf import_text(const struct buf *file, struct foreign_notes *notes)
{
	struct foreign_opts opts = { .level = DIAL9_LEVEL_3 };
	struct buf bytes = { 0 }, text = { 0 };
	struct dial9_dec_opts dec_opts = { .sz = sizeof(dec_opts) };
	struct dial9_frame frame;
	struct dial9_dec *dec;

	cr_assert_eq(import_one(&perfdata_format, file, &opts, &bytes, notes), 0);
	dec_opts.data = bytes.data;
	dec_opts.data_sz = bytes.len;
	cr_assert_eq(dial9_dec_new(&dec_opts, &dec), 0);
	while (dial9_dec_next(dec, &frame) > 0)
		if (frame.kind == DIAL9_FRAME_EVENT)
			print_event(dec, &frame.event, &text);
	dial9_dec_free(dec);
	buf_free(&bytes);
	buf_cstr(&text);
	return text;
}

static inline void assert_text(const struct buf *text, const char *want)
{
	cr_assert_str_eq(text->data, want, "got:\n%swant:\n%s", text->data, want);
}

#endif /* D9_TESTS_FORMATS_PERFDATA_SUPPORT_H */
