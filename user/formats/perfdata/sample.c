// SPDX-License-Identifier: BSD-2-Clause
/*
 * sample.c - which event a record belongs to, and its values
 *
 * The layout of a record follows from its event, whose number is in the record: at its start, or at the same place in
 * the records of all events of the file, as perf asserts. Values after the last used value are not read.
 */
#include "formats/perfdata/sample.h"

#include <errno.h>

/* In the uapi header since 6.0 and later. */
#define FORMAT_LOST (1U << 4)
#define BRANCH_HW_INDEX (1U << 17)
#define BRANCH_COUNTERS (1U << 19)

#define COMMON ((uint64_t)(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU))

enum {
	READ_VALUES_MAX = 1 << 16,
	BRANCH_SZ = 24,
};

/* ---- the event --------------------------------------------------------------------------------- */

static uint64_t first_type(const struct perfdata_header *h)
{
	return h->event_cnt ? h->events[0].attr.sample_type : 0;
}

/* The place of the event's number, in words from the start of a sample; -1: none. */
static int id_from_start(uint64_t type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (!(type & PERF_SAMPLE_ID))
		return -1;
	return !!(type & PERF_SAMPLE_IP) + !!(type & PERF_SAMPLE_TID) +
	       !!(type & PERF_SAMPLE_TIME) + !!(type & PERF_SAMPLE_ADDR);
}

/* Likewise from the end of another record, 1: the last word; 0: none. */
static int id_from_end(uint64_t type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		return 1;
	if (!(type & PERF_SAMPLE_ID))
		return 0;
	return 1 + !!(type & PERF_SAMPLE_CPU) + !!(type & PERF_SAMPLE_STREAM_ID);
}

static const struct perfdata_event *sample_event(const struct perfdata_header *h,
						 const struct perfdata_record *r)
{
	int at = id_from_start(first_type(h));
	uint64_t id;

	if (at < 0)
		return h->event_cnt == 1 ? h->events : NULL;
	if (r->sz / sizeof(id) <= (size_t)at)
		return NULL;
	memcpy(&id, r->p + (size_t)at * sizeof(id), sizeof(id));
	/* a single event needs no number */
	return perfdata_header_event(h, id) ?: h->event_cnt == 1 ? h->events : NULL;
}

/* Records that perf makes itself have no number: they are laid out like records of the first event. */
static const struct perfdata_event *trailer_event(const struct perfdata_header *h,
						  const struct perfdata_record *r)
{
	int at = id_from_end(first_type(h));
	uint64_t id;

	if (!h->event_cnt || !h->events[0].attr.sample_id_all)
		return NULL;
	if (!at || r->sz / sizeof(id) < (size_t)at)
		return h->events;
	memcpy(&id, r->p + r->sz - (size_t)at * sizeof(id), sizeof(id));
	return perfdata_header_event(h, id) ?: h->events;
}

/* ---- trailers ---------------------------------------------------------------------------------- */

/* The words of a trailer, in order. */
static const uint64_t trailer_words[] = { PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
					  PERF_SAMPLE_ID,  PERF_SAMPLE_STREAM_ID,
					  PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER };

enum { TRAILER_CNT = sizeof(trailer_words) / sizeof(trailer_words[0]) };

static bool get_tid(struct perfdata_bytes *b, struct perfdata_sample *out)
{
	return perfdata_bytes_u32(b, &out->pid) && perfdata_bytes_u32(b, &out->tid);
}

static bool get_cpu(struct perfdata_bytes *b, struct perfdata_sample *out)
{
	uint32_t reserved;

	return perfdata_bytes_u32(b, &out->cpu) && perfdata_bytes_u32(b, &reserved);
}

static void get_trailer(const struct perfdata_header *h, const struct perfdata_record *r,
			struct perfdata_sample *out)
{
	const struct perfdata_event *ev = trailer_event(h, r);
	struct perfdata_bytes b = { r->p, r->sz };
	uint64_t type, other;
	size_t words = 0;

	*out = (struct perfdata_sample){ .event = ev };
	if (!ev)
		return;
	type = ev->attr.sample_type;
	for (size_t i = 0; i < TRAILER_CNT; i++)
		words += (type & trailer_words[i]) != 0;
	if (r->sz / sizeof(other) < words)
		return;
	b.p += r->sz - words * sizeof(other);
	b.sz = words * sizeof(other);
	for (size_t i = 0; i < TRAILER_CNT; i++) {
		if (!(type & trailer_words[i]))
			continue;
		if (trailer_words[i] == PERF_SAMPLE_TID)
			get_tid(&b, out);
		else if (trailer_words[i] == PERF_SAMPLE_CPU)
			get_cpu(&b, out);
		else
			perfdata_bytes_u64(&b, trailer_words[i] == PERF_SAMPLE_TIME ? &out->time :
										      &other);
	}
	out->has = type & COMMON;
}

/* ---- samples ----------------------------------------------------------------------------------- */

static bool skip_words(struct perfdata_bytes *b, uint64_t cnt)
{
	struct perfdata_bytes words;

	return perfdata_bytes_array(b, cnt, sizeof(uint64_t), &words);
}

static bool skip_read(struct perfdata_bytes *b, uint64_t format)
{
	uint64_t cnt = 1, each = 1;

	each += !!(format & PERF_FORMAT_ID) + !!(format & FORMAT_LOST);
	if (format & PERF_FORMAT_GROUP && (!perfdata_bytes_u64(b, &cnt) || cnt > READ_VALUES_MAX))
		return false;
	return skip_words(b, cnt * each + !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
				     !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING));
}

static bool get_chain(struct perfdata_bytes *b, struct perfdata_sample *out)
{
	uint64_t cnt;

	return perfdata_bytes_u64(b, &cnt) &&
	       perfdata_bytes_array(b, cnt, sizeof(uint64_t), &out->chain);
}

static bool get_raw(struct perfdata_bytes *b, struct perfdata_sample *out)
{
	uint32_t sz;

	return perfdata_bytes_u32(b, &sz) && perfdata_bytes_take(b, sz, &out->raw);
}

static bool skip_branches(struct perfdata_bytes *b, uint64_t branch_type)
{
	struct perfdata_bytes part;
	uint64_t cnt;

	return perfdata_bytes_u64(b, &cnt) && skip_words(b, !!(branch_type & BRANCH_HW_INDEX)) &&
	       perfdata_bytes_array(b, cnt, BRANCH_SZ, &part) &&
	       (!(branch_type & BRANCH_COUNTERS) || skip_words(b, cnt));
}

static bool get_user_regs(struct perfdata_bytes *b, uint64_t mask, struct perfdata_sample *out)
{
	if (!perfdata_bytes_u64(b, &out->user_abi))
		return false;
	if (!out->user_abi)
		return true;
	out->user_mask = mask;
	return perfdata_bytes_array(b, (uint64_t)__builtin_popcountll(mask), sizeof(uint64_t),
				    &out->user_regs);
}

/* Memory of that size, of which the kernel filled the first bytes. */
static bool get_user_stack(struct perfdata_bytes *b, struct perfdata_sample *out)
{
	uint64_t sz, used;

	if (!perfdata_bytes_u64(b, &sz))
		return false;
	if (!sz)
		return true;
	if (!perfdata_bytes_take(b, sz, &out->stack) || !perfdata_bytes_u64(b, &used))
		return false;
	if (used < out->stack.sz)
		out->stack.sz = (size_t)used;
	return true;
}

/* The words of a fixed size. */
static bool get_fixed(struct perfdata_bytes *b, uint64_t type, struct perfdata_sample *out)
{
	uint64_t other;

	return (!(type & PERF_SAMPLE_IDENTIFIER) || perfdata_bytes_u64(b, &other)) &&
	       (!(type & PERF_SAMPLE_IP) || perfdata_bytes_u64(b, &out->ip)) &&
	       (!(type & PERF_SAMPLE_TID) || get_tid(b, out)) &&
	       (!(type & PERF_SAMPLE_TIME) || perfdata_bytes_u64(b, &out->time)) &&
	       (!(type & PERF_SAMPLE_ADDR) || perfdata_bytes_u64(b, &out->addr)) &&
	       (!(type & PERF_SAMPLE_ID) || perfdata_bytes_u64(b, &other)) &&
	       (!(type & PERF_SAMPLE_STREAM_ID) || perfdata_bytes_u64(b, &other)) &&
	       (!(type & PERF_SAMPLE_CPU) || get_cpu(b, out)) &&
	       (!(type & PERF_SAMPLE_PERIOD) || perfdata_bytes_u64(b, &out->period));
}

static bool get_variable(struct perfdata_bytes *b, const struct perf_event_attr *attr,
			 struct perfdata_sample *out)
{
	const uint64_t type = attr->sample_type;

	return (!(type & PERF_SAMPLE_READ) || skip_read(b, attr->read_format)) &&
	       (!(type & PERF_SAMPLE_CALLCHAIN) || get_chain(b, out)) &&
	       (!(type & PERF_SAMPLE_RAW) || get_raw(b, out)) &&
	       (!(type & PERF_SAMPLE_BRANCH_STACK) || skip_branches(b, attr->branch_sample_type)) &&
	       (!(type & PERF_SAMPLE_REGS_USER) || get_user_regs(b, attr->sample_regs_user, out)) &&
	       (!(type & PERF_SAMPLE_STACK_USER) || get_user_stack(b, out));
}

int perfdata_sample_parse(const struct perfdata_header *h, const struct perfdata_record *r,
			  struct perfdata_sample *out)
{
	struct perfdata_bytes b = { r->p, r->sz };
	const struct perfdata_event *ev = sample_event(h, r);

	*out = (struct perfdata_sample){ .event = ev };
	if (!ev)
		return -ENOENT;
	out->has = ev->attr.sample_type;
	return get_fixed(&b, out->has, out) && get_variable(&b, &ev->attr, out) ? 0 : -EBADMSG;
}

void perfdata_sample_common(const struct perfdata_header *h, const struct perfdata_record *r,
			    struct perfdata_sample *out)
{
	struct perfdata_bytes b = { r->p, r->sz };
	const struct perfdata_event *ev;

	if (r->type == PERF_RECORD_SAMPLE) {
		ev = sample_event(h, r);
		*out = (struct perfdata_sample){ .event = ev };
		if (ev && get_fixed(&b, ev->attr.sample_type, out))
			out->has = ev->attr.sample_type & COMMON;
	} else {
		get_trailer(h, r, out);
	}
	/* perf's own records have such times */
	if (!(out->has & PERF_SAMPLE_TIME) || out->time == UINT64_MAX)
		out->time = 0;
}
