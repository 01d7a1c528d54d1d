// SPDX-License-Identifier: BSD-2-Clause
/*
 * Second pass of a merge: writes all events in order into one stream. Owns the order of inputs: ordered files are
 * read as needed, others were sorted before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/exit_code.h"
#include "base/file.h"
#include "base/log.h"
#include "events/emit.h"
#include "rewrite/copy/spool.h"
#include "rewrite/merge/merge_impl.h"

#define SORT_BYTES (64 << 20)

/* One input of the merge: a file, or sorted records. */
struct lane {
	struct merge_feed feed;
	bool opened;
	uint64_t left; /* valid events of the file that remain */
	struct buf buf;
	struct merge_record first; /* the first record, until the file is opened */
	struct merge_sort *sort; /* instead of a file */
	const struct merge_record *head; /* NULL: no more */
};

struct merge_run {
	struct merge_plan plan;
	struct merge_schemas schemas;
	struct merge_sort *sort;
	struct lane *lanes;
	struct lane **heap; /* smallest on top */
	size_t lane_cnt, heap_cnt;
	struct dial9_enc *enc;
	const struct cut_out *out;
	struct merge_sum sum;
	bool write_failed; /* the output has printed the error */
	bool read_failed;
};

/* Events that the format cannot represent are skipped; other errors end the run. */
static bool is_not_representable(int err)
{
	return err == -EILSEQ || err == -ERANGE || err == -EPROTOTYPE;
}

/* ---- lanes ------------------------------------------------------------------------------------- */

static int open_lane(struct merge_run *m, struct lane *l)
{
	int err;

	l->feed.plan = &m->plan;
	l->feed.schemas = &m->schemas;
	l->left = l->feed.file->events;
	l->opened = true;
	err = merge_inputs_read_last(&m->plan, l->feed.file, &l->feed.reader);
	if (!err)
		reader_skip_tasks(l->feed.reader);
	return err;
}

/* Reports a file that differs from the first pass. */
static int report_changed(struct merge_run *m, const struct lane *l)
{
	log_error("%s: %s changed while it was merged", m->plan.opts.word, l->feed.file->name);
	m->read_failed = true;
	return -EIO;
}

/*
 * The next record of a file: 1, 0, -errno. The second pass also ends after the events that were valid in the first.
 */
static int next_of_file(struct merge_run *m, struct lane *l)
{
	struct trace_event ev;
	int ret = 0;

	if (!l->opened)
		ret = open_lane(m, l);
	while (!ret && l->left) {
		l->left--;
		ret = reader_next(l->feed.reader, &ev);
		if (!ret)
			return report_changed(m, l);
		m->read_failed |= ret < 0;
		if (ret < 0)
			return ret;
		ret = merge_record_make(&l->feed, &ev, &l->buf);
		if (!ret) {
			l->head = (const struct merge_record *)l->buf.data;
			return 1;
		}
		if (ret == -ESTALE)
			return report_changed(m, l);
		if (is_not_representable(ret))
			m->sum.refused++;
		else if (ret != -ECANCELED)
			return ret;
		ret = 0;
	}
	return ret;
}

/* 0, or -errno; at the end there is no head. */
static int advance(struct merge_run *m, struct lane *l)
{
	int ret;

	l->head = NULL;
	ret = l->sort ? merge_sort_next(l->sort, &l->head) : next_of_file(m, l);
	if (ret == 1)
		return 0;
	/* frees its reader with names and pools */
	merge_feed_fini(&l->feed);
	l->feed = (struct merge_feed){ 0 };
	buf_free(&l->buf);
	return ret;
}

static void sift_down(struct merge_run *m, size_t i)
{
	struct lane *l = m->heap[i];
	size_t child;

	for (; (child = 2 * i + 1) < m->heap_cnt; i = child) {
		if (child + 1 < m->heap_cnt &&
		    merge_record_before(m->heap[child + 1]->head, m->heap[child]->head))
			child++;
		if (!merge_record_before(m->heap[child]->head, l->head))
			break;
		m->heap[i] = m->heap[child];
	}
	m->heap[i] = l;
}

/* Restores the heap after the top has another head, or none. */
static void settle(struct merge_run *m)
{
	if (!m->heap[0]->head)
		m->heap[0] = m->heap[--m->heap_cnt];
	if (m->heap_cnt)
		sift_down(m, 0);
}

/* Sorts all events of an unordered file. */
static int sort_file(struct merge_run *m, const struct merge_file *f)
{
	struct lane l = { .feed.file = f };
	int ret;

	while ((ret = next_of_file(m, &l)) == 1) {
		ret = merge_sort_add(m->sort, l.head);
		if (ret) {
			log_error(
				"%s: cannot write a temporary file in %s: %s (TMPDIR sets its directory)",
				m->plan.opts.word, file_temp_dir(), strerror(-ret));
			m->read_failed = true;
			break;
		}
	}
	merge_feed_fini(&l.feed);
	buf_free(&l.buf);
	return ret;
}

/* Makes all lanes, each with the time of its first event. */
static int make_lanes(struct merge_run *m)
{
	const size_t max = m->plan.file_cnt + 1;
	int err = 0;

	m->lanes = xcalloc(max, sizeof(*m->lanes));
	m->heap = xcalloc(max, sizeof(struct lane *));
	m->sort = merge_sort_new(m->plan.opts.sort_bytes ? m->plan.opts.sort_bytes : SORT_BYTES);
	for (size_t i = 0; i < m->plan.file_cnt && !err; i++) {
		const struct merge_file *f = &m->plan.files[i];
		struct lane *l = &m->lanes[m->lane_cnt];

		if (f->events && !f->sorted) {
			err = sort_file(m, f);
		} else if (f->events) {
			l->feed.file = f;
			l->first.order = (uint32_t)i;
			l->first.key = f->first_ts + (uint64_t)m->plan.parts[f->part].shift_ns;
			l->head = &l->first;
			m->heap[m->lane_cnt++] = l;
		}
	}
	if (err)
		return err;
	m->lanes[m->lane_cnt].sort = m->sort;
	err = advance(m, &m->lanes[m->lane_cnt]);
	if (m->lanes[m->lane_cnt].head) {
		m->heap[m->lane_cnt] = &m->lanes[m->lane_cnt];
		m->lane_cnt++;
	}
	m->heap_cnt = m->lane_cnt;
	for (size_t i = m->heap_cnt / 2; i--;)
		sift_down(m, i);
	return err;
}

/* ---- writing ----------------------------------------------------------------------------------- */

static int write_out(void *ctx, const void *data, size_t sz)
{
	struct merge_run *m = ctx;
	int err = m->out->write(m->out->ctx, data, sz);

	m->write_failed |= err != 0;
	return err;
}

static int open_encoder(struct merge_run *m)
{
	struct dial9_enc_opts opts = { .sz = sizeof(opts),
				       .write = write_out,
				       .ctx = m,
				       .level = DIAL9_LEVEL_3,
				       .first_type_id = 256 };

	for (size_t i = 0; i < m->plan.file_cnt; i++)
		if (m->plan.files[i].level4)
			opts.level = DIAL9_LEVEL_4;
	return dial9_enc_new(&opts, &m->enc);
}

/* Time of the first event. */
static uint64_t first_time(const struct merge_run *m)
{
	const struct merge_plan *p = &m->plan;
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < p->names->parts.cnt; i++)
		if (p->parts[i].has_ts &&
		    p->parts[i].first_ts + (uint64_t)p->parts[i].shift_ns < first)
			first = p->parts[i].first_ts + (uint64_t)p->parts[i].shift_ns;
	return first == UINT64_MAX ? 0 : first;
}

/* The first part of the result on the same clock. */
static uint32_t clock_of(const struct merge_plan *p, uint32_t out)
{
	uint32_t k = 0;

	while (names_part(p->names, p->firsts[k])->clock !=
	       names_part(p->names, p->firsts[out])->clock)
		k++;
	return k;
}

/* Writes the list of the result's parts. */
static int write_parts(struct merge_run *m)
{
	const struct merge_plan *p = &m->plan;
	struct emit *emit = NULL;
	int err = p->merged ? emit_new(m->enc, false, &emit) : 0;

	for (uint32_t k = 0; k < p->out_cnt && p->merged && !err; k++) {
		const uint32_t first = p->firsts[k];

		err = emit_merged_part(emit, first_time(m), k, clock_of(p, k),
				       names_part(p->names, first)->shift_ns +
					       p->parts[first].shift_ns);
		m->sum.events += !err;
	}
	emit_free(emit);
	return err;
}

static int write_record(struct merge_run *m, const struct merge_record *r)
{
	int err = merge_record_write(&m->schemas, r, m->enc);

	if (is_not_representable(err)) {
		m->sum.refused++;
		return 0;
	}
	m->sum.events += !err;
	return err;
}

static int write_all(struct merge_run *m)
{
	int err = open_encoder(m);

	if (!err)
		err = write_parts(m);
	while (!err && m->heap_cnt) {
		struct lane *l = m->heap[0];

		if (l->head != &l->first)
			err = write_record(m, l->head);
		if (!err)
			err = advance(m, l);
		settle(m);
	}
	if (!err)
		err = dial9_enc_flush(m->enc);
	if (m->enc)
		m->sum.bytes = dial9_enc_bytes(m->enc);
	return err;
}

/* ---- the run ----------------------------------------------------------------------------------- */

static int conclude(struct merge_run *m, int err)
{
	if (m->read_failed)
		return CMD_INPUT;
	if (err == -EPIPE && m->write_failed)
		return CMD_OK;
	if (err && !m->write_failed)
		log_error("%s: cannot write the output: %s", m->plan.opts.word,
			  m->enc && *dial9_enc_error(m->enc) ? dial9_enc_error(m->enc) :
							       strerror(-err));
	if (err)
		return CMD_OUTPUT;
	return m->sum.incomplete || m->sum.refused ? CMD_INPUT : CMD_OK;
}

static void fini(struct merge_run *m)
{
	for (size_t i = 0; i < m->lane_cnt; i++) {
		merge_feed_fini(&m->lanes[i].feed);
		buf_free(&m->lanes[i].buf);
	}
	free(m->lanes);
	free(m->heap);
	merge_sort_free(m->sort);
	merge_schemas_fini(&m->schemas);
	dial9_enc_free(m->enc);
	merge_plan_fini(&m->plan);
}

static void count_inputs(struct merge_run *m)
{
	for (size_t i = 0; i < m->plan.file_cnt; i++)
		m->sum.inputs += m->plan.files[i].events && !m->plan.files[i].made;
}

/* Merges the open inputs; @code: whether all inputs are open. */
static int run(struct merge_run *m, int code, struct merge_sum *sum)
{
	int err;

	if (code == CMD_OK)
		code = merge_plan_make(&m->plan);
	if (code == CMD_OK) {
		count_inputs(m);
		m->sum.parts = m->plan.out_cnt;
		m->sum.left_out = m->plan.left_out;
		m->sum.incomplete = m->plan.incomplete;
	}
	if (code == CMD_OK && (!m->plan.has_recording || m->sum.inputs > 1)) {
		err = make_lanes(m);
		if (!err)
			err = write_all(m);
		code = conclude(m, err);
	}
	m->sum.failed = m->read_failed;
	if (sum)
		*sum = m->sum;
	fini(m);
	return code;
}

static struct merge_run start(const struct merge_opts *opts, const struct cut_out *out)
{
	struct merge_run m = { .plan.opts = *opts, .out = out };

	if (!m.plan.opts.word)
		m.plan.opts.word = "merge";
	return m;
}

int merge_to(const struct merge_opts *opts, const char *const *paths, size_t cnt,
	     const struct cut_out *out, struct merge_sum *sum)
{
	struct merge_run m = start(opts, out);
	int code;

	code = merge_inputs_open(&m.plan, paths, cnt);
	if (code == CMD_OK)
		code = merge_missing_add(&m.plan);
	return run(&m, code, sum);
}

int merge_found(const struct merge_opts *opts, const struct merge_input *inputs, size_t cnt,
		const struct cut_out *out, struct merge_sum *sum)
{
	struct merge_run m = start(opts, out);

	m.plan.has_recording = true;
	for (size_t i = 0; i < cnt; i++)
		merge_inputs_add(&m.plan, inputs[i].name, inputs[i].fd, i > 0, i > 0);
	return run(&m, CMD_OK, sum);
}

int merge_to_file(const struct merge_opts *opts, const char *const *paths, size_t cnt, int fd,
		  struct merge_sum *sum)
{
	const struct cut_out out = { .write = spool_write, .ctx = &fd };

	return merge_to(opts, paths, cnt, &out, sum);
}
