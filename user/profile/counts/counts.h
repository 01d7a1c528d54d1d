/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_COUNTS_COUNTS_H
#define D9_PROFILE_COUNTS_COUNTS_H

/*
 * Numbers of events by the values of some of their fields, and sums and histograms of others. Feed
 * every event in order, then call counts_finish().
 *
 * Memory follows the number of distinct rows, of which there are at most opts.rows_max. Events that belong to
 * further rows are counted in counts.beyond.
 */
#include "profile/counts/event_fields.h"
#include "profile/counts/key_table.h"

#define COUNTS_ROWS_MAX (1u << 20)
#define COUNTS_HISTS_MAX (1u << 17) /* the same with histograms */

/* Buckets of a histogram: negative numbers, 0, 1, 2 to 3, 4 to 7, ..., 2^63 and more. */
enum { COUNTS_NEGATIVE, COUNTS_ZERO, COUNTS_POWERS, COUNTS_BUCKETS = COUNTS_POWERS + 64 };

struct counts_opts {
	const struct count_column *by; /* borrowed */
	size_t by_cnt; /* at most COUNT_COLUMNS_MAX */
	const char *sum, *hist; /* fields with numbers; borrowed, NULL: none */
	uint64_t interval_ns; /* rows are also grouped by ts / interval_ns; 0: not */
	size_t rows_max; /* 0: COUNTS_ROWS_MAX or COUNTS_HISTS_MAX */
	/*
	 * The string id of the name that events like this one have in rows, NAMES_NONE: these are not counted. It
	 * depends on schema, source and part only.
	 */
	uint32_t (*name_of)(void *ctx, const struct trace_event *ev);
	void *ctx;
};

struct counts_sum {
	__int128 sum, min, max;
};

/* Where events of one schema have what a count needs. */
struct counts_kind {
	const struct trace_schema *schema;
	uint32_t part; /* in which that is so, for samples of that: */
	uint8_t source;
	uint32_t name; /* NAMES_NONE: not counted */
	bool lacks_field; /* of those that a count needs */
	int32_t at[COUNT_COLUMNS_MAX]; /* COUNT_FIELD */
	int32_t sum_at, hist_at;
};

struct counts_row {
	uint64_t slot; /* ts / interval_ns */
	uint32_t part; /* NAMES_NONE: any */
	uint64_t cnt;
	struct counts_sum sum;
	const uint64_t *hist; /* COUNTS_BUCKETS; NULL: none */
	const struct count_value *v; /* for each column */
};

enum { COUNTS_RECENT = 64 };

/* Start with counts_init(). */
struct counts {
	struct counts_opts opts;
	struct key_table kind_keys;
	struct counts_kind *kinds;
	size_t kind_cap;
	struct {
		const struct trace_schema *schema;
		uint32_t part, source, kind;
	} recent[COUNTS_RECENT]; /* of kinds: almost all lookups end here */
	struct key_table keys; /* kind and part, slot, types, values */
	uint64_t *cnt; /* by key */
	struct counts_sum *sums;
	uint64_t **hists;
	size_t cnt_cap, sum_cap, hist_cap;
	uint64_t counted; /* events in rows */
	uint64_t lacking; /* events without a field that is needed, or without a number in it */
	uint64_t untimed; /* events without time, which are in no interval */
	uint64_t beyond; /* events of rows that did not fit */
	/* after counts_finish(): */
	struct key_table row_keys;
	struct counts_row *rows;
	struct count_value *values;
	size_t row_cnt;
	/* rows are also grouped by recording: they have ids of several hosts, or times of several clocks */
	bool by_part;
};

void counts_init(struct counts *c, const struct counts_opts *opts);
void counts_fini(struct counts *c);
/* Forgets all events, for the next ones of the same trace. */
void counts_clear(struct counts *c);

/* Where events like this one have the fields; NULL: it is not counted. Borrowed until the next call. */
const struct counts_kind *counts_kind(struct counts *c, const struct trace_event *ev);
/* Counts an event of that kind. */
void counts_add(struct counts *c, const struct trace *t, const struct trace_event *ev,
		const struct counts_kind *kind);

/*
 * Makes the rows: by recording and slot with intervals, most events first. @t: the trace of the last event. Values that
 * have the same number and text are one row, whatever event and recording they come from, unless these are columns.
 */
void counts_finish(struct counts *c, const struct trace *t);

/* Whether events of some kind that is counted have all fields. */
bool counts_has_fields(const struct counts *c);

/* The lowest number of a bucket that is not COUNTS_NEGATIVE. */
uint64_t counts_bucket_from(size_t bucket);

#endif /* D9_PROFILE_COUNTS_COUNTS_H */
