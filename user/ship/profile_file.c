// SPDX-License-Identifier: BSD-2-Clause
/*
 * One trace as profiles. Owns which samples belong to one, and its name and times. Sums come from the tables of `query`, by
 * the conditions of the rollups that a database gets. A profile that is too large for the server becomes several.
 */
#include "ship/profile_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/log.h"
#include "export/pprof_writer.h"
#include "profile/sums/content_ids.h"
#include "query/sample_rows.h"
#include "query/scan_pass.h"
#include "query/slice_rows.h"
#include "ship/profile_sums.h"
#include "ship/source_row.h"
#include "ship/trace_file.h"

#define SECOND 1000000000ULL
/* A server takes 16,000 samples and 4 MiB before compression, unless it is configured for more. */
#define SAMPLES_MAX 15000
#define BYTES_MAX (3u << 20)

enum { CPU, OFFCPU, KIND_CNT };

/*
 * Names of types are as in `export pprof`. The server makes the kind of the profile from the display name: process_cpu
 * and block.
 */
static const struct kind {
	enum ship_table_id table; /* with these conditions */
	const char *count, *time;
	const char *types;
} kinds[KIND_CNT] = {
	[CPU] = { SHIP_CPU, "samples", "cpu",
		  "{\"samples\":{\"units\":\"samples\",\"display-name\":\"cpu\","
		  "\"aggregation\":\"sum\",\"sampled\":true}}" },
	[OFFCPU] = { SHIP_OFFCPU, "waits", "offcpu",
		     "{\"waits\":{\"units\":\"lock_samples\",\"display-name\":\"block_count\","
		     "\"aggregation\":\"sum\"},"
		     "\"offcpu\":{\"units\":\"lock_nanoseconds\",\"display-name\":"
		     "\"block_duration\",\"aggregation\":\"sum\"}}" },
};

/* Where a kind gets its rows. */
struct feed {
	struct source_plan plan;
	size_t service, stack, ns; /* columns of `query` */
};

struct shipment {
	const struct ship_file_opts *opts;
	struct pyroscope *server;
	struct trace_file file;
	uint64_t id[2];
	struct scan_table tables[KIND_CNT];
	struct scan scans[KIND_CNT];
	struct feed feeds[KIND_CNT];
	struct profile_sums sums;
	struct buf labels; /* {NAME=VALUE,...} */
	uint64_t start_ns, end_ns; /* since 1970 */
	uint64_t part; /* of the current service and kind: profiles so far */
	struct buf pprof; /* the current one */
	bool refused;
};

/* ---- rows ------------------------------------------------------------------------------------- */

static void event_value(void *of, size_t column, struct query_value *out)
{
	scan_value(of, column, out);
}

static int add_row(void *ctx, struct scan *scan)
{
	struct shipment *s = ctx;
	const struct source_row row = { event_value, scan };
	struct query_value service, stack, ns;
	const uint32_t kind = (uint32_t)(scan - s->scans);
	const struct feed *f = &s->feeds[kind];

	if (!source_plan_wants(&f->plan, &row))
		return 0;
	/* the text last: it lasts until the next value of the scan */
	scan_value(scan, f->stack, &stack);
	scan_value(scan, f->ns, &ns);
	scan_value(scan, f->service, &service);
	profile_sums_add(&s->sums, kind, &service, &stack, &ns);
	return 0;
}

static int begin_feed(struct shipment *s, uint32_t kind)
{
	const struct ship_table *t = &ship_tables[kinds[kind].table];
	struct feed *f = &s->feeds[kind];
	int err =
		source_plan_init(&f->plan, t, s->tables[kind].columns, s->tables[kind].column_cnt);

	for (size_t i = 0; i < t->column_cnt && !err; i++) {
		if (!strcmp(t->columns[i].name, "service"))
			f->service = f->plan.columns[i];
		else if (t->columns[i].value == SHIP_STACK)
			f->stack = f->plan.columns[i];
		else if (t->columns[i].value == SHIP_SUM)
			f->ns = f->plan.columns[i];
	}
	s->scans[kind].filter.used |= f->plan.used;
	return err;
}

static int read_sums(struct shipment *s)
{
	int err = 0;

	s->tables[CPU] = sample_rows_table(&s->file.traces);
	s->tables[OFFCPU] = slice_rows_table(&s->file.traces);
	for (uint32_t i = 0; i < KIND_CNT; i++)
		scan_init(&s->scans[i], &s->tables[i]);
	for (uint32_t i = 0; i < KIND_CNT; i++)
		err = begin_feed(s, i) ?: err;
	if (!err)
		err = scan_pass(s->file.trace, s->scans, KIND_CNT, add_row, s);
	for (uint32_t i = 0; i < KIND_CNT; i++) {
		source_plan_fini(&s->feeds[i].plan);
		scan_fini(&s->scans[i]);
	}
	profile_sums_sort(&s->sums);
	return err;
}

/* ---- names ------------------------------------------------------------------------------------ */

/* The value of a label; NULL: it is not given. */
static const char *find_label(const struct ship_file_opts *opts, const char *name)
{
	const size_t len = strlen(name);

	for (size_t i = 0; i < opts->label_cnt; i++)
		if (!strncmp(opts->labels[i], name, len) && opts->labels[i][len] == '=')
			return opts->labels[i] + len + 1;
	return NULL;
}

/* A server takes the label in place of the name, so that all control groups must be one service. */
static void put_service(void *ctx, const struct query_value *v, struct buf *out)
{
	const struct shipment *s = ctx;
	const char *given = find_label(s->opts, "service_name");
	struct buf name = { 0 };

	if (given)
		buf_addstr(&name, given);
	else if (v->type == QUERY_TEXT)
		anonymizer_put(s->opts->anonymizer, ANONYMIZER_PRIVATE, v->data, v->sz, &name);
	if (name.len)
		pyroscope_put_service(out, name.data, name.len);
	else
		buf_addstr(out, "unknown");
	buf_free(&name);
}

static void put_name(void *ctx, enum pprof_name what, uint32_t id, struct buf *out)
{
	static const enum anonymizer_text texts[] = {
		[PPROF_FUNCTION] = ANONYMIZER_FUNCTION,	   [PPROF_LABEL] = ANONYMIZER_PRIVATE,
		[PPROF_SOURCE] = ANONYMIZER_PRIVATE,	   [PPROF_MODULE] = ANONYMIZER_PRIVATE,
		[PPROF_SYSTEM_MODULE] = ANONYMIZER_PUBLIC,
	};
	const struct shipment *s = ctx;
	const char *text;
	size_t len;

	if (id == NAMES_NONE) {
		buf_addstr(out, "[unknown]");
		return;
	}
	text = names_str(s->file.trace->names, id, &len);
	anonymizer_put(s->opts->anonymizer, texts[what], text, len, out);
}

/* A label of the user may have the name "host", too. */
static void put_labels(struct shipment *s)
{
	const char *const *labels = s->opts->labels;
	const char *host = find_label(s->opts, "host") ? NULL : s->file.host;
	struct buf *out = &s->labels;

	buf_addch(out, '{');
	for (size_t i = 0; i < s->opts->label_cnt; i++) {
		const size_t name = strcspn(labels[i], "=") + 1;

		buf_addstr(out, out->len > 1 ? "," : "");
		buf_add(out, labels[i], name);
		pyroscope_put_label(out, labels[i] + name, strlen(labels[i] + name));
	}
	if (host && *host) {
		buf_addstr(out, out->len > 1 ? ",host=" : "host=");
		pyroscope_put_label(out, host, strlen(host));
	}
	buf_addch(out, '}');
}

/* ---- one profile ------------------------------------------------------------------------------ */

static void put_packed(void *ctx, const void *data, size_t sz)
{
	struct shipment *s = ctx;

	buf_add(&s->pprof, data, sz);
}

static void put_sample(const struct shipment *s, struct pprof_writer *w,
		       const struct profile_sum *sum)
{
	struct trace_input *in;
	uint32_t cnt = 0;
	const uint64_t *frames = trace_inputs_stack(&s->file.traces, sum->stack, &in, &cnt);

	pprof_writer_begin_sample(w, frames, frames ? cnt : 0, sum->count, sum->ns);
	pprof_writer_end_sample(w);
}

/* Profiles with equal labels and start are one for the server, so each part starts a nanosecond later. Returns its size. */
static uint64_t write_profile(struct shipment *s, const struct profile_sum *sums, size_t cnt)
{
	const struct kind *kind = &kinds[sums->kind];
	struct pprof_writer *w = pprof_writer_new(&(struct pprof_writer_opts){
		.names = s->file.trace->names, .put = put_packed, .name = put_name, .ctx = s });
	uint64_t size;

	buf_clear(&s->pprof);
	pprof_writer_types(w, &(struct pprof_writer_types){
				      .count = kind->count,
				      .time = kind->time,
				      .timed = true,
				      .period_ns = sums->kind == CPU ?
							   s->file.trace->parts[0].period_ns :
							   0 });
	for (size_t i = 0; i < cnt; i++)
		put_sample(s, w, &sums[i]);
	pprof_writer_end(w, &(struct pprof_writer_end){ .exe = NAMES_NONE,
							.has_time = true,
							.time_ns = s->start_ns + s->part,
							.duration_ns = s->end_ns - s->start_ns });
	size = pprof_writer_size(w);
	pprof_writer_free(w);
	return size;
}

static uint64_t batch_id(const struct shipment *s, const struct profile_sum *sum)
{
	const char *service = s->sums.services[sum->service];
	const uint64_t words[] = { s->id[0], s->id[1], sum->kind, s->part, SHIP_TABLES_VERSION };
	const uint64_t hash = content_ids_hash(CONTENT_IDS_HASH, service, strlen(service) + 1);

	return content_ids_hash(hash, words, sizeof(words));
}

static int send_profile(struct shipment *s, const struct profile_sum *sum)
{
	const uint64_t period = sum->kind == CPU ? s->file.trace->parts[0].period_ns : 0;
	struct buf name = { 0 };
	int err;

	buf_addstr(&name, s->sums.services[sum->service]);
	buf_add(&name, s->labels.data, s->labels.len);
	err = pyroscope_send(s->server,
			     &(struct pyroscope_profile){
				     .name = buf_cstr(&name),
				     .from = s->start_ns / SECOND,
				     .until = s->end_ns / SECOND + 1,
				     .sample_rate = period ? (SECOND + period / 2) / period : 0,
				     .types = kinds[sum->kind].types,
				     .pprof = &s->pprof });
	buf_free(&name);
	return err;
}

static int send_part(struct shipment *s, const struct profile_sum *sum)
{
	const uint64_t id = batch_id(s, sum);
	struct ship_counts *counts = s->opts->counts;
	int err;

	if (!ship_state_is_acked(s->opts->state, s->id, id)) {
		err = send_profile(s, sum);
		if (err == -EBADE) {
			if (!s->refused)
				log_warn("ship: the server does not take a profile of %s: %s",
					 s->file.path, pyroscope_error(s->server));
			s->refused = true;
			counts->refused++;
			return 0;
		}
		if (err)
			return err;
		err = ship_state_ack(s->opts->state, s->id, id);
		if (err)
			log_warn("ship: cannot write the state in the directory of %s: %s; after a "
				 "crash profiles are sent twice",
				 s->file.path, strerror(-err));
	}
	counts->batches++;
	return 0;
}

/* Stacks of one service and kind. */
static int send_sums(struct shipment *s, const struct profile_sum *sums, size_t cnt)
{
	const size_t half = cnt / 2;
	int err;

	if (cnt <= SAMPLES_MAX && (write_profile(s, sums, cnt) <= BYTES_MAX || cnt == 1)) {
		err = send_part(s, sums);
		s->part++;
		return err;
	}
	err = send_sums(s, sums, half);
	return err ?: send_sums(s, sums + half, cnt - half);
}

/* ---- the file --------------------------------------------------------------------------------- */

/* A trace without times of the wall clock gets the time of its file. */
static int find_times(struct shipment *s)
{
	struct stat st;

	if (s->file.has_wall) {
		s->start_ns = s->file.first_wall > 0 ? (uint64_t)s->file.first_wall : 1;
		s->end_ns = (uint64_t)s->file.last_wall;
	} else if (!fstat(s->file.fd, &st)) {
		s->start_ns = (uint64_t)st.st_mtim.tv_sec * SECOND + (uint64_t)st.st_mtim.tv_nsec;
	} else {
		return -errno;
	}
	if (s->end_ns < s->start_ns)
		s->end_ns = s->start_ns;
	return 0;
}

static int send_all(struct shipment *s)
{
	const struct profile_sum *v;
	int err = find_times(s);

	s->sums = (struct profile_sums){
		.names = s->file.trace->names,
		.put_service = put_service,
		.ctx = s,
	};
	put_labels(s);
	if (!err)
		err = read_sums(s);
	v = s->sums.v;
	for (size_t i = 0, next; i < s->sums.cnt && !err; i = next) {
		for (next = i + 1; next < s->sums.cnt && v[next].service == v[i].service &&
				   v[next].kind == v[i].kind;)
			next++;
		s->part = 0;
		err = send_sums(s, &v[i], next - i);
	}
	return err;
}

static void free_shipment(struct shipment *s)
{
	trace_file_close(&s->file);
	profile_sums_fini(&s->sums);
	buf_free(&s->labels);
	buf_free(&s->pprof);
}

int profile_file_send(const struct ship_file_opts *opts, struct pyroscope *server, int fd,
		      const char *path, const uint64_t id[2])
{
	struct shipment s = { .opts = opts, .server = server, .id = { id[0], id[1] } };
	bool damaged = false;
	int err = trace_file_open(&s.file, fd, path, opts->anonymizer, opts->stop);

	if (!err) {
		damaged = s.file.trace->damaged;
		err = send_all(&s);
	}
	if (!err && s.refused)
		err = -EBADE;
	if (!err)
		ship_file_finish(opts, &s.file, id);
	free_shipment(&s);
	return err ?: damaged ? -EBADMSG : 0;
}
