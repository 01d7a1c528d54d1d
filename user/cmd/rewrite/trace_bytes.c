// SPDX-License-Identifier: BSD-2-Clause
/* A trace as bytes, for those who hand it on instead of reading it. Owns the decision whether it is cut first. */
#include "cmd/rewrite/trace_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cmd/common/cmd.h"
#include "cmd/rewrite/cut.h"
#include "rewrite/copy/spool.h"
#include "trace/source/source.h"

enum { BLOCK = 1 << 16 };

/* Whether the first bytes are those of a trace; one line where they are not. */
static bool is_trace(const char *word, const struct source *src, const char *block, size_t n)
{
	static const char magic[] = { 'T', 'R', 'C', 0 };

	if (!memcmp(block, magic, n < sizeof(magic) ? n : sizeof(magic)))
		return true;
	log_error("%s: %s is no dial9 trace: dial9-prof convert makes one of others", word,
		  source_name(src));
	return false;
}

/* All of it, or of the first block whether it is a trace, without @out. */
static int copy(const char *word, struct source *src, const struct cut_out *out)
{
	char *block = xmalloc(BLOCK);
	bool first = true;
	int code = CMD_OK;
	ssize_t n = 1;

	while (code == CMD_OK && (first || out) && (n = source_read(src, block, BLOCK)) > 0) {
		if (first && !is_trace(word, src, block, (size_t)n))
			code = CMD_INPUT;
		else if (out && out->write(out->ctx, block, (size_t)n))
			code = CMD_OUTPUT;
		first = false;
	}
	if (n < 0) {
		log_error("cannot read %s: %s", source_name(src),
			  n == -EBADMSG ? "damaged compressed data" : strerror((int)-n));
		code = CMD_INPUT;
	} else if (!n && first) {
		source_print_empty(source_name(src));
		code = CMD_INPUT;
	}
	free(block);
	return code;
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

int trace_bytes_to_file(const char *word, const struct select_opts *sel, const char *path, int fd)
{
	const struct cut_out out = { spool_write, &fd };

	return trace_bytes_write(word, sel, path, &out);
}

int trace_bytes_check(const char *word, const char *path)
{
	return open_and_copy(word, path, NULL);
}
