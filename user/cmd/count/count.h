/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_CMD_COUNT_COUNT_H
#define D9_CMD_COUNT_COUNT_H

#include "cmd/common/progress.h"
#include "cmd/common/report_text.h"
#include "cmd/common/select.h"
#include "cmd/common/view.h"
#include "profile/counts/counts.h"
#include "profile/counts/pair_sums.h"
#include "profile/sched/recorded_time.h"
#include "profile/sched/recorder_tasks.h"
#include "profile/sums/event_counts.h"

struct count_opts {
	struct select_opts sel;
	struct view_opts view;
	struct opt_list events;
	const char *by, *sum, *hist, *pair;
	uint64_t top, interval_ns, live_ns;
	bool syscalls, json;
	int sort; /* enum pair_sums_order */
};

/* One run of `count`. */
struct count {
	const struct count_opts *opts;
	struct select sel;
	struct reader *reader;
	struct names *names; /* of the reader */
	bool paired; /* pairs are summed, otherwise events are counted */
	char *texts[2]; /* copies of --by and --pair, cut at their commas */
	struct count_column by[COUNT_COLUMNS_MAX];
	const char *titles[COUNT_COLUMNS_MAX]; /* of the columns, as the user wrote them */
	size_t by_cnt;
	const char *sum, *hist; /* names of fields; NULL: none */
	struct counts counts;
	struct pair_sums pairs;
	struct pair_sums_opts pair_opts;
	struct event_counts losses; /* in the window */
	struct recorded_time time;
	bool event_matched; /* -e, or a half of a pair */
	struct recorder_tasks recorder;
	uint64_t recorder_cnt; /* events in threads of the recorder, if rows are threads */
	struct view view;
};

/* Reads --by, --pair and which options exclude each other: 0, or -EINVAL after one printed line. */
int count_parse(struct count *c);
void count_parse_fini(struct count *c);

/* Before the first event, except for pairs: count_read() calls it. c->names must be there. */
void count_begin(struct count *c);
/* Reads the trace. 0, or -errno after one printed line. */
int count_read(struct count *c);

/* The time range of the trace within --time, in ns. */
uint64_t count_span_ns(const struct count *c);

/* Functions that append to @out. The lines about file, time and losses; @what: "123 events". */
void count_put_head(struct buf *out, const struct count *c, const char *what);
/* A line that starts with "# ", in the colour of warnings if @warn. */
void count_put_line(struct buf *out, const struct count *c, bool warn, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* How many of @cnt rows --top shows: without it 20, or all in JSON. */
size_t count_shown(const struct count *c, size_t cnt);
/* The line about rows that are not shown; @how: "with fewer events". */
void count_put_more(struct buf *out, size_t more, const char *how);
/* The start of the JSON object, up to losses. */
void count_json_head(struct buf *out, const struct count *c);

void count_put_rows(struct buf *out, const struct count *c);
/* The same without the first lines. */
void count_put_table(struct buf *out, const struct count *c);
void count_json_rows(struct buf *out, const struct count *c);
void count_put_pairs(struct buf *out, const struct count *c);
void count_json_pairs(struct buf *out, const struct count *c);

/* Shows the table of each period of a trace from a path, or "-": an exit code of cmd.h. */
int count_live_show(struct count *c, const char *path);

#endif /* D9_CMD_COUNT_COUNT_H */
