// SPDX-License-Identifier: BSD-2-Clause
/*
 * header_out.c - what surrounds the records of a perf.data file
 *
 * Owns the file's header, the attributes of its events, and the sections after the records. The layouts are in
 * linux/perf_event.h and in the kernel's tools/perf/Documentation/perf.data-file-format.txt.
 */
#include "formats/perfdata/header_out.h"

#include <string.h>
#include <time.h>

#include "formats/perfdata/file.h"

enum {
	ATTR_SZ =
		PERF_ATTR_SIZE_VER5, /* has all members that are set, and older versions of perf read it */
	STRING_ALIGN = 64,
	SECTION_SZ = 16,
	HEAD_SZ = 104,
	ID_SZ = 8,
	BUILD_ID_SIZE = 1 << 15, /* of misc: the size is valid */
	BUILD_ID_SPACE = 20,
	SAMPLE_TIME = 21, /* a section: times of the first and last sample */
};

uint64_t perfdata_header_out_type(const struct perfdata_header_out *h,
				  const struct perfdata_raw_event *e)
{
	uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;

	type |= h->has_cpu ? PERF_SAMPLE_CPU : 0;
	type |= e ? PERF_SAMPLE_RAW : 0;
	return type | (!e || e->has_stack ? PERF_SAMPLE_CALLCHAIN : 0);
}

/* ---- attributes -------------------------------------------------------------------------------- */

static void set_clock(const struct perfdata_header_out *h, struct perf_event_attr *attr)
{
	static const struct {
		const char *name;
		int id;
	} clocks[] = { { "CLOCK_MONOTONIC", CLOCK_MONOTONIC },
		       { "CLOCK_REALTIME", CLOCK_REALTIME },
		       { "CLOCK_MONOTONIC_RAW", CLOCK_MONOTONIC_RAW },
		       { "CLOCK_BOOTTIME", CLOCK_BOOTTIME },
		       { "CLOCK_TAI", CLOCK_TAI } };
	const char *clock = names_meta(h->names, h->part, PROF_META_CLOCK);

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (!strcmp(clock ? clock : clocks[0].name, clocks[i].name)) {
			attr->use_clockid = 1;
			attr->clockid = clocks[i].id;
		}
}

static const char *sample_name(const struct perfdata_header_out *h)
{
	const char *name = names_meta(h->names, h->part, PROF_META_SAMPLE_EVENT);

	return name && *name ? name : "cpu-clock";
}

static void set_sampling(const struct perfdata_header_out *h, struct perf_event_attr *attr)
{
	const char *name = sample_name(h);
	const uint64_t hz = names_meta_u64(h->names, h->part, PROF_META_SAMPLE_HZ);

	attr->type = PERF_TYPE_RAW;
	if (!strcmp(name, "cpu-clock") || !strcmp(name, "task-clock")) {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = *name == 'c' ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_TASK_CLOCK;
	} else if (!strcmp(name, "cycles")) {
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = PERF_COUNT_HW_CPU_CYCLES;
	}
	if (hz) {
		attr->freq = 1;
		attr->sample_freq = hz;
	} else {
		attr->sample_period = names_period_ns(h->names, h->part) ?: 1;
	}
}

/* @e NULL: of CPU samples. */
static struct perf_event_attr make_attr(const struct perfdata_header_out *h,
					const struct perfdata_raw_event *e)
{
	struct perf_event_attr attr = { .size = ATTR_SZ, .sample_id_all = 1 };

	attr.sample_type = perfdata_header_out_type(h, e);
	set_clock(h, &attr);
	if (e) {
		attr.type = PERF_TYPE_TRACEPOINT;
		attr.config = e->number;
		attr.sample_period = 1;
	} else {
		set_sampling(h, &attr);
	}
	attr.mmap = attr.mmap2 = attr.comm = attr.task = 1;
	return attr;
}

/* ---- events ------------------------------------------------------------------------------------ */

static size_t event_cnt(const struct perfdata_header_out *h)
{
	return h->layout->cnt + h->has_samples;
}

/* NULL: CPU samples. */
static const struct perfdata_raw_event *event_at(const struct perfdata_header_out *h, size_t i)
{
	if (h->has_samples && !i)
		return NULL;
	return &h->layout->v[i - h->has_samples];
}

static uint64_t id_of(const struct perfdata_raw_event *e)
{
	return e ? perfdata_header_out_id(e) : PERFDATA_OUT_SAMPLE_ID;
}

/* ---- before the records ------------------------------------------------------------------------ */

/* In order of their numbers, as the table after the records. */
static const uint32_t features[] = {
	PERFDATA_TRACING_DATA, PERFDATA_BUILD_ID, PERFDATA_HOSTNAME, PERFDATA_OSRELEASE,
	PERFDATA_VERSION,      PERFDATA_ARCH,	  PERFDATA_NRCPUS,   PERFDATA_CMDLINE,
	PERFDATA_EVENT_DESC,   SAMPLE_TIME,	  PERFDATA_CLOCKID,  PERFDATA_CLOCK_DATA,
};

enum { FEATURES = sizeof(features) / sizeof(features[0]) };

/* perf reads the next section for an empty one. */
static bool has_feature(const struct perfdata_header_out *h, uint32_t feature)
{
	struct perf_event_attr attr = { 0 };

	if (feature == PERFDATA_TRACING_DATA)
		return h->layout->cnt;
	if (feature == PERFDATA_NRCPUS)
		return names_meta_u64(h->names, h->part, PROF_META_CPUS);
	if (feature != PERFDATA_CLOCKID && feature != PERFDATA_CLOCK_DATA)
		return true;
	set_clock(h, &attr);
	return attr.use_clockid &&
	       (feature == PERFDATA_CLOCKID || names_part(h->names, h->part)->synced);
}

static void put_feature_bits(struct buf *b, const struct perfdata_header_out *h)
{
	uint64_t bits[PERFDATA_FEATURE_CNT / 64] = { 0 };

	for (size_t i = 0; i < FEATURES; i++)
		if (has_feature(h, features[i]))
			bits[features[i] / 64] |= 1ULL << features[i] % 64;
	buf_add(b, bits, sizeof(bits));
}

void perfdata_header_out_begin(const struct perfdata_header_out *h, struct perfdata_out *out)
{
	const uint64_t cnt = event_cnt(h), ids = HEAD_SZ, attrs = ids + cnt * ID_SZ;
	const uint64_t attrs_sz = cnt * (ATTR_SZ + SECTION_SZ);
	struct perf_event_attr attr;
	struct buf b = { 0 };

	buf_addstr(&b, PERFDATA_MAGIC);
	perfdata_put_u64(&b, HEAD_SZ);
	perfdata_put_u64(&b, ATTR_SZ + SECTION_SZ);
	perfdata_put_u64(&b, attrs);
	perfdata_put_u64(&b, attrs_sz);
	perfdata_put_u64(&b, attrs + attrs_sz);
	perfdata_put_u64(&b, h->data_sz);
	perfdata_put_u64(&b, 0); /* types of events: no longer used */
	perfdata_put_u64(&b, 0);
	put_feature_bits(&b, h);
	for (size_t i = 0; i < cnt; i++)
		perfdata_put_u64(&b, id_of(event_at(h, i)));
	for (size_t i = 0; i < cnt; i++) {
		attr = make_attr(h, event_at(h, i));
		buf_add(&b, &attr, ATTR_SZ);
		perfdata_put_u64(&b, ids + i * ID_SZ);
		perfdata_put_u64(&b, ID_SZ);
	}
	perfdata_out_bytes(out, b.data, b.len);
	buf_free(&b);
}

/* ---- sections ---------------------------------------------------------------------------------- */

static void put_string(struct buf *b, const char *s)
{
	const size_t len = strlen(s) + 1,
		     sz = (len + STRING_ALIGN - 1) & ~(size_t)(STRING_ALIGN - 1);

	perfdata_put_u32(b, (uint32_t)sz);
	buf_add(b, s, len);
	buf_fill(b, '\0', sz - len);
}

static void put_meta(struct buf *b, const struct perfdata_header_out *h, const char *key)
{
	const char *value = names_meta(h->names, h->part, key);

	put_string(b, value ? value : "");
}

static void put_command_line(struct buf *b, const struct perfdata_header_out *h)
{
	const char *line = names_meta(h->names, h->part, PROF_META_COMMAND_LINE);
	size_t at = b->len, len;
	uint32_t cnt = 0;
	struct buf word = { 0 };

	perfdata_put_u32(b, 0);
	while (line && *line) {
		len = strcspn(line, " ");
		buf_clear(&word);
		buf_add(&word, line, len);
		put_string(b, buf_cstr(&word));
		cnt++;
		line += len;
		line += strspn(line, " ");
	}
	memcpy(b->data + at, &cnt, sizeof(cnt));
	buf_free(&word);
}

static void put_build_id(struct buf *b, const struct names_module *m, const char *path)
{
	const size_t len = strlen(path) + 1,
		     space = (len + STRING_ALIGN - 1) & ~(size_t)(STRING_ALIGN - 1);
	struct perf_event_header head = { .misc = BUILD_ID_SIZE };
	uint8_t id[BUILD_ID_SPACE + 4] = { 0 };

	head.misc |= m->kind == PROF_MODULE_KERNEL || m->kind == PROF_MODULE_KMOD ?
			     PERF_RECORD_MISC_KERNEL :
			     PERF_RECORD_MISC_USER;
	head.size = (uint16_t)(sizeof(head) + sizeof(uint32_t) + sizeof(id) + space);
	memcpy(id, m->build_id, m->build_id_sz);
	id[BUILD_ID_SPACE] = m->build_id_sz;
	buf_add(b, &head, sizeof(head));
	perfdata_put_u32(b, UINT32_MAX); /* the host's */
	buf_add(b, id, sizeof(id));
	buf_add(b, path, len);
	buf_fill(b, '\0', space - len);
}

static void put_build_ids(struct buf *b, const struct perfdata_header_out *h)
{
	for (uint32_t i = 1; i < h->names->module_cnt; i++) {
		const struct names_module *m = names_module(h->names, i);
		const char *path = names_str(h->names, m->path, NULL);

		if (!perfdata_addresses_used(h->addresses, i) || !m->build_id_sz ||
		    m->build_id_sz > BUILD_ID_SPACE || strlen(path) >= UINT16_MAX / 2)
			continue;
		put_build_id(b, m, m->kind == PROF_MODULE_KERNEL ? "[kernel.kallsyms]" : path);
	}
}

static void put_events(struct buf *b, const struct perfdata_header_out *h)
{
	const size_t cnt = event_cnt(h);
	struct buf name = { 0 };

	perfdata_put_u32(b, (uint32_t)cnt);
	perfdata_put_u32(b, ATTR_SZ);
	for (size_t i = 0; i < cnt; i++) {
		const struct perfdata_raw_event *e = event_at(h, i);
		const struct perf_event_attr attr = make_attr(h, e);

		buf_clear(&name);
		if (e)
			buf_printf(&name, "%s:%s", e->system, e->event);
		else
			buf_addstr(&name, sample_name(h));
		buf_add(b, &attr, ATTR_SZ);
		perfdata_put_u32(b, 1);
		put_string(b, buf_cstr(&name));
		perfdata_put_u64(b, id_of(e));
	}
	buf_free(&name);
}

/* The same moment on both clocks. */
static void put_clock_data(struct buf *b, const struct perfdata_header_out *h)
{
	const struct part *part = names_part(h->names, h->part);
	struct perf_event_attr attr = { 0 };

	set_clock(h, &attr);
	perfdata_put_u32(b, 1);
	perfdata_put_u32(b, (uint32_t)attr.clockid);
	perfdata_put_u64(b, part->real);
	perfdata_put_u64(b, part->mono);
}

static void put_feature(struct buf *b, const struct perfdata_header_out *h, uint32_t feature)
{
	const uint32_t cpus = (uint32_t)names_meta_u64(h->names, h->part, PROF_META_CPUS);

	switch (feature) {
	case PERFDATA_TRACING_DATA:
		perfdata_tracing_out(h->layout, b);
		break;
	case PERFDATA_BUILD_ID:
		put_build_ids(b, h);
		break;
	case PERFDATA_HOSTNAME:
		put_meta(b, h, PROF_META_HOST);
		break;
	case PERFDATA_OSRELEASE:
		put_meta(b, h, PROF_META_KERNEL);
		break;
	case PERFDATA_VERSION:
		put_meta(b, h, PROF_META_VERSION);
		break;
	case PERFDATA_ARCH:
		put_meta(b, h, PROF_META_ARCH);
		break;
	case PERFDATA_NRCPUS:
		perfdata_put_u32(b, cpus); /* present */
		perfdata_put_u32(b, cpus);
		break;
	case PERFDATA_CMDLINE:
		put_command_line(b, h);
		break;
	case PERFDATA_EVENT_DESC:
		put_events(b, h);
		break;
	case SAMPLE_TIME:
		perfdata_put_u64(b, h->first_ts);
		perfdata_put_u64(b, h->last_ts);
		break;
	case PERFDATA_CLOCKID:
		perfdata_put_u64(b, 1); /* resolution in ns */
		break;
	default:
		put_clock_data(b, h);
		break;
	}
}

void perfdata_header_out_end(const struct perfdata_header_out *h, struct perfdata_out *out)
{
	const uint64_t cnt = event_cnt(h);
	uint64_t off = HEAD_SZ + cnt * (ID_SZ + ATTR_SZ + SECTION_SZ) + h->data_sz;
	struct buf table = { 0 }, sections = { 0 };
	size_t from;

	for (size_t i = 0; i < FEATURES; i++)
		off += has_feature(h, features[i]) ? SECTION_SZ : 0;
	for (size_t i = 0; i < FEATURES; i++) {
		if (!has_feature(h, features[i]))
			continue;
		from = sections.len;
		put_feature(&sections, h, features[i]);
		perfdata_put_u64(&table, off + from);
		perfdata_put_u64(&table, sections.len - from);
	}
	perfdata_out_bytes(out, table.data, table.len);
	perfdata_out_bytes(out, sections.data, sections.len);
	buf_free(&table);
	buf_free(&sections);
}
