// SPDX-License-Identifier: BSD-2-Clause
/*
 * The traces of `query`. Owns how they are opened again for each scan, and the lines about losses. A pipe is copied to a
 * temporary file first.
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

static int open_again(void *ctx, struct source **out)
{
	const struct query_input *in = ctx;
	int fd;

	if (in->fd < 0)
		return source_open(in->path, out);
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
	const bool has_name = strcmp(in->path, "-") != 0 && spool_has_name(in->path);
	int err = spool_open("query", in->path, out);

	in->fd = -1;
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

int query_input_open(struct query_cmd *c)
{
	const struct trace_inputs *all = query_traces(c->query);
	int err = 0;

	c->inputs = xcalloc(c->path_cnt + 1, sizeof(*c->inputs));
	for (size_t i = 0; i < c->path_cnt && !err; i++) {
		c->inputs[i].path = c->paths[i];
		c->input_cnt++;
		err = add_trace(c, &c->inputs[i]);
	}
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
	for (size_t i = 0; i < c->input_cnt; i++)
		if (c->inputs[i].fd >= 0 && c->inputs[i].path)
			close(c->inputs[i].fd);
	free(c->inputs);
}
