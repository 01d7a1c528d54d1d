// SPDX-License-Identifier: BSD-2-Clause
/*
 * dump.c - perf.data as lines of JSON, and in numbers
 *
 * A line is a record, in the order of the file.
 */
#include <errno.h>
#include <inttypes.h>

#include "base/json.h"
#include "base/str.h"
#include "formats/perfdata/file.h"
#include "formats/perfdata/perfdata.h"
#include "formats/perfdata/sample.h"

enum { OUT_SZ = 64 << 10, TYPES_CNT = 24 };

/* NULL: unknown. */
static const char *type_name(uint32_t type)
{
	static const char *const kernel[TYPES_CNT] = {
		[PERF_RECORD_MMAP] = "MMAP",
		[PERF_RECORD_LOST] = "LOST",
		[PERF_RECORD_COMM] = "COMM",
		[PERF_RECORD_EXIT] = "EXIT",
		[PERF_RECORD_THROTTLE] = "THROTTLE",
		[PERF_RECORD_UNTHROTTLE] = "UNTHROTTLE",
		[PERF_RECORD_FORK] = "FORK",
		[PERF_RECORD_READ] = "READ",
		[PERF_RECORD_SAMPLE] = "SAMPLE",
		[PERF_RECORD_MMAP2] = "MMAP2",
		[PERF_RECORD_AUX] = "AUX",
		[PERF_RECORD_ITRACE_START] = "ITRACE_START",
		[PERF_RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
		[PERF_RECORD_SWITCH] = "SWITCH",
		[PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
		[PERF_RECORD_NAMESPACES] = "NAMESPACES",
		[PERF_RECORD_KSYMBOL] = "KSYMBOL",
		[PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
		[PERF_RECORD_CGROUP] = "CGROUP",
		[PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
	};
	static const char *const own[TYPES_CNT] = {
		[68 - 64] = "FINISHED_ROUND", [69 - 64] = "ID_INDEX",
		[70 - 64] = "AUXTRACE_INFO",  [71 - 64] = "AUXTRACE",
		[73 - 64] = "THREAD_MAP",     [74 - 64] = "CPU_MAP",
		[79 - 64] = "TIME_CONV",      [82 - 64] = "FINISHED_INIT",
	};

	if (type < TYPES_CNT)
		return kernel[type];
	return type >= 64 && type - 64 < TYPES_CNT ? own[type - 64] : NULL;
}

/* ---- dump -------------------------------------------------------------------------------------- */

static void put_text(struct buf *out, const char *key, struct perfdata_bytes *b)
{
	const char *s;

	if (perfdata_bytes_text(b, &s))
		json_text(out, key, s, strlen(s));
}

static void put_u64s(struct buf *out, struct perfdata_bytes *b, const char *const *keys)
{
	uint64_t v;

	for (; *keys && perfdata_bytes_u64(b, &v); keys++)
		json_u64(out, *keys, v);
}

static void put_u32s(struct buf *out, struct perfdata_bytes *b, const char *const *keys)
{
	uint32_t v;

	for (; *keys && perfdata_bytes_u32(b, &v); keys++)
		json_u64(out, *keys, v);
}

static void put_mmap(struct buf *out, const struct perfdata_record *r)
{
	static const char *const tasks[] = { "pid", "tid", NULL };
	static const char *const range[] = { "addr", "len", "pgoff", NULL };
	static const char *const flags[] = { "prot", "flags", NULL };
	struct perfdata_bytes b = { r->p, r->sz }, file;

	put_u32s(out, &b, tasks);
	put_u64s(out, &b, range);
	if (r->type == PERF_RECORD_MMAP2 && perfdata_bytes_take(&b, 24, &file)) {
		put_u32s(out, &b, flags);
		if (r->misc & PERFDATA_MISC_MMAP_BUILD_ID && file.p[0] <= PERFDATA_BUILD_ID_MAX)
			json_hex(out, "build_id", file.p + 4, file.p[0]);
	}
	put_text(out, "filename", &b);
}

static void put_field(struct buf *out, const struct perfdata_field *f, struct perfdata_bytes raw)
{
	struct perfdata_bytes bytes;
	int64_t v;

	if (f->kind == PERFDATA_FIELD_SINT && perfdata_field_int(f, raw, &v)) {
		json_i64(out, f->name, v);
	} else if (f->kind <= PERFDATA_FIELD_BOOL && perfdata_field_int(f, raw, &v)) {
		json_u64(out, f->name, (uint64_t)v);
	} else if (f->kind > PERFDATA_FIELD_BOOL && perfdata_field_bytes(f, raw, &bytes)) {
		if (f->kind < PERFDATA_FIELD_BYTES)
			json_text(out, f->name, (const char *)bytes.p, bytes.sz);
		else
			json_hex(out, f->name, bytes.p, bytes.sz);
	}
}

static void put_raw(struct buf *out, const struct perfdata_header *h,
		    const struct perfdata_sample *s)
{
	const struct perfdata_format *format = NULL;

	if (s->event->attr.type == PERF_TYPE_TRACEPOINT)
		format = perfdata_tracing_find(&h->tracing, s->event->attr.config);
	if (!format) {
		json_u64(out, "raw_size", s->raw.sz);
		return;
	}
	json_object(out, "fields");
	for (size_t i = 0; i < format->cnt; i++)
		put_field(out, &format->fields[i], s->raw);
	json_end(out, "}");
}

static void put_sample(struct buf *out, const struct perfdata_header *h,
		       const struct perfdata_record *r)
{
	struct perfdata_sample s;
	int err = perfdata_sample_parse(h, r, &s);
	uint64_t addr;

	if (err) {
		json_str(out, "bad", err == -ENOENT ? "unknown event" : "values beyond its end");
		return;
	}
	if (s.event->name)
		json_text(out, "event", s.event->name, strlen(s.event->name));
	if (s.has & PERF_SAMPLE_IP)
		json_u64(out, "ip", s.ip);
	if (s.has & PERF_SAMPLE_ADDR)
		json_u64(out, "addr", s.addr);
	if (s.has & PERF_SAMPLE_PERIOD)
		json_u64(out, "period", s.period);
	if (s.has & PERF_SAMPLE_CALLCHAIN) {
		json_array(out, "callchain");
		while (perfdata_bytes_u64(&s.chain, &addr))
			json_u64(out, NULL, addr);
		json_end(out, "]");
	}
	if (s.has & PERF_SAMPLE_RAW)
		put_raw(out, h, &s);
}

static void put_body(struct buf *out, const struct perfdata_header *h,
		     const struct perfdata_record *r)
{
	static const char *const tasks[] = { "pid", "tid", NULL };
	static const char *const fork[] = { "pid", "ppid", "tid", "ptid", NULL };
	static const char *const lost[] = { "id", "lost", NULL };
	static const char *const lost_samples[] = { "lost", NULL };
	struct perfdata_bytes b = { r->p, r->sz };

	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		put_sample(out, h, r);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		put_mmap(out, r);
		break;
	case PERF_RECORD_COMM:
		put_u32s(out, &b, tasks);
		put_text(out, "comm", &b);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		put_u32s(out, &b, fork);
		break;
	case PERF_RECORD_LOST:
		put_u64s(out, &b, lost);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		put_u64s(out, &b, lost_samples);
		break;
	default:
		break;
	}
}

static void put_record(struct buf *out, const struct perfdata_header *h,
		       const struct perfdata_record *r)
{
	struct perfdata_sample s = { .event = NULL };
	const char *name = type_name(r->type);

	if (r->type < PERFDATA_HEADER_ATTR)
		perfdata_sample_common(h, r, &s);
	json_object(out, NULL);
	json_u64(out, "off", r->off);
	if (name)
		json_str(out, "type", name);
	else
		json_u64(out, "type", r->type);
	json_u64(out, "misc", r->misc);
	json_u64(out, "size", r->sz + sizeof(struct perf_event_header));
	if (s.has & PERF_SAMPLE_TIME)
		json_u64(out, "time", s.time);
	if (s.has & PERF_SAMPLE_CPU)
		json_u64(out, "cpu", s.cpu);
	if (s.has & PERF_SAMPLE_TID && r->type == PERF_RECORD_SAMPLE) {
		json_u64(out, "pid", s.pid);
		json_u64(out, "tid", s.tid);
	}
	put_body(out, h, r);
	json_end(out, "}\n");
}

static int flush(struct buf *out, dial9_write_fn write, void *ctx)
{
	int err = out->len ? write(ctx, out->data, out->len) : 0;

	buf_clear(out);
	return err;
}

int perfdata_dump(const struct foreign_input *in, const struct foreign_opts *opts,
		  dial9_write_fn write, void *ctx, struct foreign_notes *notes)
{
	struct perfdata_file *f;
	struct perfdata_record r;
	struct buf out = { 0 };
	int ret = perfdata_file_open(in, 1 + in->part_cnt, notes, &f), err = 0;

	if (ret)
		return ret;
	while (!err && (ret = perfdata_file_next(f, &r)) > 0) {
		put_record(&out, perfdata_file_header(f), &r);
		if (out.len >= OUT_SZ || opts->follow)
			err = flush(&out, write, ctx);
	}
	if (!err)
		err = flush(&out, write, ctx) ?: ret;
	perfdata_file_free(f);
	buf_free(&out);
	return err;
}

/* ---- info -------------------------------------------------------------------------------------- */

struct totals {
	uint64_t records, samples, types[TYPES_CNT], first, last, lost;
	struct hmap by_event; /* event's index -> number of samples */
};

static void add_record(struct totals *t, const struct perfdata_header *h,
		       const struct perfdata_record *r)
{
	struct perfdata_bytes b = { r->p, r->sz };
	struct perfdata_sample s;
	uint64_t id, lost, index;

	t->records++;
	if (r->type >= TYPES_CNT)
		return;
	t->types[r->type]++;
	perfdata_sample_common(h, r, &s);
	if (s.time && (!t->first || s.time < t->first))
		t->first = s.time;
	t->last = s.time > t->last ? s.time : t->last;
	if (r->type == PERF_RECORD_LOST && perfdata_bytes_u64(&b, &id) &&
	    perfdata_bytes_u64(&b, &lost))
		t->lost += lost;
	if (r->type != PERF_RECORD_SAMPLE || !s.event)
		return;
	index = (uint64_t)(s.event - h->events);
	hmap_set(&t->by_event, index, (void *)((uintptr_t)hmap_get(&t->by_event, index) + 1));
}

static void put_optional(struct foreign_facts *f, const char *label, const char *text)
{
	if (text)
		foreign_fact_text(f, label, "%s", text);
}

static void put_events(struct foreign_facts *f, const struct totals *t,
		       const struct perfdata_header *h)
{
	for (size_t i = 0; i < h->event_cnt; i++) {
		const struct perfdata_event *ev = &h->events[i];

		foreign_fact_samples(f, ev->name ? ev->name : "no name",
				     (uintptr_t)hmap_get(&t->by_event, i));
	}
}

static void put_facts(struct foreign_facts *f, const struct totals *t,
		      const struct perfdata_header *h, bool pipe)
{
	foreign_fact_text(f, "format", "perf.data%s", pipe ? ", pipe format" : "");
	put_optional(f, "host", h->host);
	put_optional(f, "kernel", h->release);
	put_optional(f, "machine", h->arch);
	if (h->cpus)
		foreign_fact_count(f, "cpus", h->cpus);
	put_optional(f, "command", h->command_line);
	put_optional(f, "perf version", h->version);
	foreign_fact_text(f, "clock", "%s",
			  perfdata_header_is_monotonic(h) ? "CLOCK_MONOTONIC" :
							    "not CLOCK_MONOTONIC");
	if (t->first)
		foreign_fact_ns(f, "span", t->last - t->first, 6);
	put_events(f, t, h);
	foreign_fact_count(f, "records", t->records);
	foreign_fact_count(f, "mappings", t->types[PERF_RECORD_MMAP] + t->types[PERF_RECORD_MMAP2]);
	foreign_fact_count(f, "names", t->types[PERF_RECORD_COMM]);
	foreign_fact_count(f, "forks", t->types[PERF_RECORD_FORK]);
	foreign_fact_count(f, "lost", t->lost);
	foreign_fact_count(f, "build-ids", h->build_id_cnt);
	foreign_fact_count(f, "formats", h->tracing.cnt);
}

int perfdata_info(const struct foreign_input *in, const struct foreign_opts *opts,
		  struct foreign_facts *facts, struct foreign_notes *notes)
{
	struct totals t = { 0 };
	struct perfdata_file *f;
	struct perfdata_record r;
	int ret = perfdata_file_open(in, 1 + in->part_cnt, notes, &f);

	if (ret)
		return ret;
	while ((ret = perfdata_file_next(f, &r)) > 0)
		add_record(&t, perfdata_file_header(f), &r);
	if (!ret)
		put_facts(facts, &t, perfdata_file_header(f), perfdata_file_is_pipe(f));
	hmap_fini(&t.by_event);
	perfdata_file_free(f);
	return ret;
}
