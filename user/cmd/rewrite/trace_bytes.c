// SPDX-License-Identifier: BSD-2-Clause
/* A trace as bytes, for those who hand it on instead of reading it. Owns the decision whether it is cut first. */
#include "cmd/rewrite/trace_bytes.h"

#include <errno.h>

#include "base/log.h"
#include "cmd/common/cmd.h"
#include "cmd/rewrite/cut.h"
#include "rewrite/copy/spool.h"
#include "trace/source/source.h"

/* All of it, or without @out only whether it is a trace. */
static int copy(const char *word, struct source *src, const struct cut_out *out)
{
	enum spool_found found;
	const int err = spool_copy(src, out, false, &found);

	if (found == SPOOL_OTHER && source_print_perf_data(src))
		return CMD_INPUT;
	if (found == SPOOL_OTHER)
		log_error(
			"%s: %s is not a dial9 trace; dial9-prof convert reads some other formats",
			word, source_name(src));
	else if (found == SPOOL_EMPTY && !err)
		source_print_empty(source_name(src));
	else
		return !err ? CMD_OK : err == -ENODATA ? CMD_INPUT : CMD_OUTPUT;
	return CMD_INPUT;
}

static int open_and_copy(const char *word, const char *path, const struct cut_out *out)
{
	struct source *src;
	int code;

	if (source_open(path, &src))
		return CMD_INPUT;
	code = copy(word, src, out);
	source_close(src);
	return code;
}

int trace_bytes_write(const char *word, const struct select_opts *sel, const char *path,
		      const struct cut_out *out)
{
	return select_opts_are_used(sel) ? cut_to(sel, path, out) : open_and_copy(word, path, out);
}

int trace_bytes_to_temp(const char *word, const struct select_opts *sel, const char *path, int *fd)
{
	const struct cut_out out = { spool_write, fd };

	*fd = spool_temp(word);
	return *fd < 0 ? CMD_OUTPUT : trace_bytes_write(word, sel, path, &out);
}

int trace_bytes_check(const char *word, const char *path)
{
	return open_and_copy(word, path, NULL);
}
