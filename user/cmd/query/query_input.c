// SPDX-License-Identifier: BSD-2-Clause
/*
 * The traces of `query`. Owns which paths are parts of one trace, how traces are opened again for each scan, and the lines
 * about losses. A pipe is copied to a temporary file first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "cmd/common/cmd.h"
#include "cmd/common/progress.h"
#include "cmd/common/report_text.h"
#include "cmd/query/query_cmd.h"
#include "rewrite/copy/spool.h"
#include "trace/source/recording_id.h"
#include "trace/source/source_set.h"

static int open_again(void *ctx, struct source **out)
{
	const struct query_input *in = ctx;
	int fd;

	if (in->stem) {
		source_open_files(in->path, in->files, in->file_cnt, in->was_read, out);
		return 0;
	}
	if (in->fd < 0)
		return in->was_read ? source_open_again(in->path, out) : source_open(in->path, out);
	fd = file_reopen(in->fd);
	if (fd < 0) {
		log_error("cannot read %s again: %s", in->path, strerror(-fd));
		return fd;
	}
	return source_open_fd(fd, in->path, out);
}

/* Of a copy, or of standard input, the descriptor is all there is. */
static int open_first(struct query_input *in, struct source **out)
{
	const bool has_name = in->stem || spool_can_reopen(in->path);
	int err = has_name ? open_again(in, out) : spool_open("query", in->path, out);

	if (err || has_name)
		return err;
	in->fd = dup(source_fd(*out));
	return 0;
}

static int add_trace(struct query_cmd *c, struct query_input *in)
{
	struct progress *progress;
	struct source *src;
	struct reader *r;
	int err = open_first(in, &src);

	if (!err)
		err = progress_read(src, READER_ONE_PASS, &r, &progress);
	if (err)
		return err;
	err = query_add(c->query, r, &(struct trace_input_again){ open_again, in });
	progress_end(progress);
	in->was_read = true;
	return err;
}

static void report_losses(const struct trace_input *in)
{
	const struct loss_accounting *a = &in->losses.account;
	const char *file = reader_input(in->first);
	struct buf line = { 0 };
	uint64_t span = 0;

	for (size_t i = 0; i < in->part_cnt; i++)
		if (in->parts[i].any)
			span += in->parts[i].last_ts - in->parts[i].first_ts;
	if (loss_accounting_is_incomplete(a)) {
		report_text_lost(&line, a);
		log_warn("%s: lost: %s (see dial9-prof info)", file, buf_cstr(&line));
	}
	buf_clear(&line);
	if (report_text_skipped_slices(&line, a, in->names, span))
		log_warn("%s: skipped: %s", file, buf_cstr(&line));
	buf_free(&line);
}

/* ---- which paths are parts of one trace ---------------------------------------------------------- */

static bool are_files_of_set(const struct query_cmd *c, const struct recording_id *ids, size_t a,
			     size_t b)
{
	return recording_id_is_same(&ids[a], &ids[b]) &&
	       source_set_is_same(c->paths[a], c->paths[b]);
}

/* The input that begins with a path: also the later ones that belong to it, which are @used then. */
static void add_input(struct query_cmd *c, const struct recording_id *ids, size_t first, bool *used)
{
	struct query_input *in = &c->inputs[c->input_cnt++];
	uint64_t number;
	size_t len;

	*in = (struct query_input){ .path = c->paths[first],
				    .fd = -1,
				    .files = xcalloc(c->path_cnt, sizeof(*in->files)) };
	for (size_t i = first; i < c->path_cnt; i++) {
		if (i != first && (used[i] || !are_files_of_set(c, ids, first, i)))
			continue;
		in->files[in->file_cnt++] = c->paths[i];
		used[i] = true;
	}
	if (in->file_cnt > 1 && source_set_parse(in->path, &len, &number))
		in->path = in->stem = xstrndup(in->path, len);
}

/* Of files that were renamed, nothing shows the order. */
static void warn_of_parts(const struct query_cmd *c, const struct recording_id *ids)
{
	for (size_t i = 0; i < c->path_cnt; i++)
		for (size_t k = i + 1; k < c->path_cnt; k++)
			if (recording_id_is_same(&ids[i], &ids[k]) &&
			    !source_set_is_same(c->paths[i], c->paths[k])) {
				log_warn(
					"%s and %s are parts of one recording, but are read as two: sums "
					"may differ (dial9-prof merge joins them)",
					c->paths[i], c->paths[k]);
				return;
			}
}

static void find_inputs(struct query_cmd *c)
{
	struct recording_id *ids = xcalloc(c->path_cnt + 1, sizeof(*ids));
	bool *used = xcalloc(c->path_cnt + 1, sizeof(*used));

	c->inputs = xcalloc(c->path_cnt + 1, sizeof(*c->inputs));
	for (size_t i = 0; c->path_cnt > 1 && i < c->path_cnt; i++)
		recording_id_read(c->paths[i], &ids[i]);
	for (size_t i = 0; i < c->path_cnt; i++)
		if (!used[i])
			add_input(c, ids, i, used);
	warn_of_parts(c, ids);
	for (size_t i = 0; i < c->path_cnt; i++)
		recording_id_fini(&ids[i]);
	free(ids);
	free(used);
}

int query_input_open(struct query_cmd *c)
{
	const struct trace_inputs *all = query_traces(c->query);
	int err = 0;

	find_inputs(c);
	for (size_t i = 0; i < c->input_cnt && !err; i++)
		err = add_trace(c, &c->inputs[i]);
	if (err)
		return CMD_INPUT;
	for (size_t i = 0; i < all->cnt; i++)
		report_losses(all->v[i]);
	if (!query_prepare(c->query))
		return CMD_OK;
	log_error("query: out of memory: the tables need more than --mem-max");
	return CMD_USAGE;
}

bool query_input_is_damaged(const struct query_cmd *c)
{
	const struct trace_inputs *all = query_traces(c->query);

	for (size_t i = 0; i < all->cnt; i++)
		if (all->v[i]->damaged)
			return true;
	return false;
}

void query_input_close(struct query_cmd *c)
{
	for (size_t i = 0; i < c->input_cnt; i++) {
		if (c->inputs[i].fd >= 0)
			close(c->inputs[i].fd);
		free(c->inputs[i].files);
		free(c->inputs[i].stem);
	}
	free(c->inputs);
}
