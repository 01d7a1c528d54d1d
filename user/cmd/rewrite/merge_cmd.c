// SPDX-License-Identifier: BSD-2-Clause
/* `dial9-prof merge`: several traces as one, in order of time. Owns the options and the words. */
#include "rewrite/merge/merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/opts.h"
#include "base/out_file.h"
#include "base/str.h"
#include "cmd/common/cmd.h"

struct merge_args {
	const char *output, *align;
	bool quiet;
};

#define O(m) offsetof(struct merge_args, m)

static const struct opt merge_options[] = {
	{ OPT_OUTPUT(O(output)), .help = "Write to FILE; - is standard output", .group = "Output" },
	OPT_ROW_QUIET(O(quiet)),
	{ .name = "align",
	  .kind = OPT_STR,
	  .off = O(align),
	  .arg = "HOW",
	  .help = "How to align clocks: auto (one boot is one clock, others by wall clock), mono "
		  "(unchanged), real (all by wall clock), offset=NS (shift all inputs after the first "
		  "by NS) (default auto)",
	  .group = "Time" },
	OPT_ROW_HELP,
};

static const struct opt_spec merge_spec = {
	.name = "merge",
	.usage = "dial9-prof merge [OPTIONS] FILE|DIRECTORY... -o OUT",
	.brief = "Merge recordings and traces of applications into one trace, in order of time.",
	OPT_ROWS(merge_options),
	.examples = "  dial9-prof merge dial9.bin app/trace.0.bin -o both.bin\n"
		    "  dial9-prof merge dial9.bin /var/log/app-traces -o both.bin\n"
		    "  dial9-prof merge here.bin there.bin --align real -o hosts.bin\n",
};

static bool parse_align(const char *text, struct merge_opts *opts)
{
	static const char offset[] = "offset=";
	const size_t skip = strlen(offset);
	const bool back = !strncmp(text, "offset=-", skip + 1);
	uint64_t ns;

	if (!strcmp(text, "auto")) {
		opts->align = MERGE_AUTO;
	} else if (!strcmp(text, "mono")) {
		opts->align = MERGE_MONO;
	} else if (!strcmp(text, "real")) {
		opts->align = MERGE_REAL;
	} else if (!strncmp(text, offset, skip) &&
		   !str_parse_u64(text + skip + back, INT64_MAX, &ns)) {
		opts->align = MERGE_OFFSET;
		opts->offset_ns = back ? -(int64_t)ns : (int64_t)ns;
	} else {
		return false;
	}
	return true;
}

static bool is_stdin_twice(const char *const *paths, size_t cnt)
{
	size_t times = 0;

	for (size_t i = 0; i < cnt; i++)
		times += !strcmp(paths[i], "-");
	return times > 1;
}

static const char *conflict(const struct merge_args *args, const char *const *paths, size_t cnt,
			    struct merge_opts *opts)
{
	if (!cnt)
		return "no input given";
	if (is_stdin_twice(paths, cnt))
		return "standard input may be given only once";
	if (!args->output)
		return "no output given; use -o FILE, or -o - for standard output";
	if (out_file_is_stdout(args->output) && isatty(STDOUT_FILENO))
		return "-o - needs a pipe or a file; standard output is a terminal";
	if (args->align && !parse_align(args->align, opts))
		return "bad value for --align: expected auto, mono, real or offset=NS";
	return NULL;
}

static void print_summary(const struct merge_sum *sum)
{
	struct buf line = { 0 };
	char bytes[32];

	str_counted(&line, sum->events, "event");
	buf_addstr(&line, " of ");
	str_counted(&line, sum->inputs, "trace");
	str_bytes(bytes, sum->bytes);
	fprintf(stderr, "dial9-prof: merge: %s, %s%s\n", buf_cstr(&line), bytes,
		sum->incomplete ? "; part of an input is missing" : "");
	buf_free(&line);
}

/* As out_file_write(), into a sink that is opened when there is something to write. */
struct lazy_sink {
	const char *path;
	struct out_file *sink;
};

static int write_lazily(void *ctx, const void *data, size_t sz)
{
	struct lazy_sink *l = ctx;
	int err = l->sink ? 0 : out_file_open(l->path, (uid_t)-1, (gid_t)-1, &l->sink);

	return err ? err : out_file_write(l->sink, data, sz);
}

static int merge(const struct merge_args *args, const struct merge_opts *opts,
		 const char *const *paths, size_t cnt)
{
	struct lazy_sink lazy = { .path = args->output };
	const struct cut_out out = { .write = write_lazily, .ctx = &lazy };
	struct merge_sum sum;
	int code = merge_to(opts, paths, cnt, &out, &sum), err = out_file_close(lazy.sink);

	if (err && code == CMD_OK)
		code = CMD_OUTPUT;
	if (sum.refused)
		log_warn("merge: %" PRIu64 " events skipped: this format cannot represent them",
			 sum.refused);
	if (!args->quiet && (code == CMD_OK || (code == CMD_INPUT && sum.bytes)))
		print_summary(&sum);
	return code;
}

/* Skips the output in directories while reading. */
static bool is_input(const char *output, char **paths, int cnt)
{
	bool is = false;

	for (int i = 0; i < cnt && !is; i++)
		is = out_file_is_input("merge", output, paths[i]);
	return is;
}

int cmd_merge(int argc, char **argv)
{
	struct merge_args args = { 0 };
	struct merge_opts opts = { 0 };
	int first, ret, code = CMD_USAGE;
	const char *why;

	ret = opts_parse(&merge_spec, argc, argv, &args, &first);
	if (ret == 1) {
		code = CMD_OK;
	} else if (!ret) {
		why = conflict(&args, (const char *const *)argv + first, (size_t)(argc - first),
			       &opts);
		opts.output = args.output;
		if (why)
			log_error("merge: %s; see dial9-prof merge --help", why);
		else if (!is_input(args.output, argv + first, argc - first))
			code = merge(&args, &opts, (const char *const *)argv + first,
				     (size_t)(argc - first));
	}
	opts_fini(&merge_spec, &args);
	return code;
}
