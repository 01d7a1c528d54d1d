// SPDX-License-Identifier: BSD-2-Clause
/*
 * `dial9-prof symbolize`: adds missing symbols to a trace. Owns the options, the two passes over the input, the
 * output and its messages; symbolize_find.c finds symbols, symbolize_copy.c writes them.
 *
 * The output gets its name when it is complete. A signal sets a flag, so the current step finishes and temporary
 * files are removed.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/out_file.h"
#include "base/str.h"
#include "cmd/common/cmd.h"
#include "cmd/common/progress.h"
#include "cmd/common/report_text.h"
#include "cmd/rewrite/trace_bytes.h"
#include "rewrite/copy/spool.h"
#include "rewrite/symbolize/symbolize_copy.h"
#include "rewrite/symbolize/symbolize_paths.h"
#include "symbol/elf/debuginfod.h"

struct symbolize_opts {
	struct select_opts sel; /* its input */
	const char *output, *symfs, *vmlinux;
	const char *servers; /* NULL: none are asked */
	uint64_t timeout_ns; /* 0: $DEBUGINFOD_TIMEOUT */
	bool lines, quiet;
};

#define O(m) offsetof(struct symbolize_opts, m)

/* What --debuginfod stands for by itself. */
#define FROM_ENVIRONMENT "$DEBUGINFOD_URLS"
#define TIMEOUT_S 90
#define TIMEOUT_MAX_S 86400

static const struct opt symbolize_opts[] = {
	SELECT_OPT_INPUT(struct symbolize_opts, sel),
	{ .name = "symfs",
	  .kind = OPT_STR,
	  .off = O(symfs),
	  .arg = "DIR",
	  .help = "Search files below DIR first: by path, name and build ID",
	  .group = "Names" },
	{ .name = "vmlinux",
	  .kind = OPT_STR,
	  .off = O(vmlinux),
	  .arg = "FILE",
	  .help = "ELF file of the recorded kernel, with symbols (default: where "
		  "distributions put it)" },
	{ .name = "debuginfod",
	  .kind = OPT_STR,
	  .off = O(servers),
	  .arg = "URLS",
	  .implied = FROM_ENVIRONMENT,
	  .help = "Download debug files by build ID from URLS (default: $DEBUGINFOD_URLS)" },
	{ .name = "debuginfod-timeout",
	  .kind = OPT_DURATION,
	  .off = O(timeout_ns),
	  .arg = "SEC",
	  .min = 1,
	  .max = TIMEOUT_MAX_S * 1000000000ull,
	  .help = "Allow a server SEC for each 100 KiB (default: $DEBUGINFOD_TIMEOUT, or 90)" },
	{ .name = "lines",
	  .kind = OPT_FLAG,
	  .off = O(lines),
	  .help = "Also add missing source lines and inlined functions to known functions" },
	{ OPT_OUTPUT(O(output)),
	  .help = "Write to FILE; - is standard output (default: replace the trace and keep "
		  "the old one as .old); required if the trace is a pipe or compressed",
	  .group = "Output" },
	OPT_ROW_QUIET(O(quiet)),
	OPT_ROW_HELP,
};

static const struct opt_spec symbolize_spec = {
	.name = "symbolize",
	.usage = "dial9-prof symbolize [OPTIONS] [FILE] [-o OUT]",
	.brief = "Add missing symbols to a trace from debug files or debuginfod.",
	OPT_ROWS(symbolize_opts),
	.examples = "  dial9-prof symbolize trace.bin\n"
		    "  dial9-prof symbolize --symfs /srv/sysroot trace.bin -o named.bin\n"
		    "  dial9-prof symbolize --debuginfod=https://debuginfod.debian.net trace.bin\n"
		    "  dial9-prof symbolize --lines -o - trace.bin | dial9-prof report -g -\n",
};

/* One run. */
struct symbolize {
	const struct symbolize_opts *opts;
	const char *path; /* of the trace */
	int temp; /* a copy of it, if it cannot be read twice; or -1 */
	struct symbolize_find_cfg cfg;
	struct reader *reader;
	struct progress *progress;
	struct symbolize_find *find;
	struct symbolize_copy copy;
	bool shows_progress; /* progress, on a terminal */
	struct debuginfod servers;
	struct buf fetching; /* message about the file being fetched */
	uint64_t added;
};

/* ---- ^C ---------------------------------------------------------------------------------------- */

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

enum { SIGNAL_CNT = sizeof(signals) / sizeof(signals[0]) };

static volatile sig_atomic_t stopped; /* by that signal */

static void on_signal(int sig)
{
	stopped = sig;
}

static void catch_signals(struct sigaction old[SIGNAL_CNT])
{
	struct sigaction act = { .sa_handler = on_signal };

	stopped = 0;
	for (int i = 0; i < SIGNAL_CNT; i++) {
		sigaction(signals[i], NULL, &old[i]);
		/* who was started without the signal, as by nohup, goes on without it */
		if (old[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &act, NULL);
	}
}

/* Ends by the received signal, as the parent process expects. */
static void release_signals(const struct sigaction old[SIGNAL_CNT])
{
	for (int i = 0; i < SIGNAL_CNT; i++)
		sigaction(signals[i], &old[i], NULL);
	if (stopped)
		raise(stopped);
}

/* ---- words ------------------------------------------------------------------------------------- */

static void print_progress(void *ctx, uint64_t done, uint64_t all)
{
	struct symbolize *s = ctx;
	char a[32], b[32];

	if (!s->shows_progress)
		return;
	str_count(a, done < all ? done : all);
	str_count(b, all);
	fprintf(stderr, "looking up symbols: %s of %s addresses\033[K\r", a, b);
}

static void print_fetch(void *ctx, uint32_t index, size_t which, size_t of)
{
	struct symbolize *s = ctx;

	buf_clear(&s->fetching);
	buf_printf(&s->fetching, "fetching %zu of %zu, for ", which, of);
	value_text_module_base(&s->fetching, reader_names(s->reader), index);
	if (s->shows_progress)
		fprintf(stderr, "%s\033[K\r", buf_cstr(&s->fetching));
}

static void print_bytes(void *ctx, uint64_t done, uint64_t all)
{
	struct symbolize *s = ctx;
	char a[32], b[32];

	if (!s->shows_progress)
		return;
	str_bytes(a, done);
	str_bytes(b, all);
	fprintf(stderr, "%s: %s%s%s\033[K\r", buf_cstr(&s->fetching), a, all ? " of " : "",
		all ? b : "");
}

static const char *file_cause(enum sym_client_status status)
{
	static const char *const words[SYM_CLIENT_STATUS_CNT] = {
		[SYM_CLIENT_UNKNOWN] = "its file was not searched",
		[SYM_CLIENT_NAMED] = "its file has no symbols there",
		[SYM_CLIENT_STRIPPED] = "its file has no symbols",
		[SYM_CLIENT_GONE] = "no file with its build ID found",
		[SYM_CLIENT_REPLACED] = "the file found is another build",
		[SYM_CLIENT_DENIED] = "no permission to read its file",
		[SYM_CLIENT_NOT_ELF] = "its file is not an ELF file",
		[SYM_CLIENT_GAVE_UP] = "reading its file reached a limit",
		[SYM_CLIENT_CRASHED] = "the symbol worker crashed on it",
		[SYM_CLIENT_HUNG] = "the symbol worker hung on it",
		[SYM_CLIENT_NO_ANSWER] = "opening its file never returned",
		[SYM_CLIENT_NO_WORKER] = "no symbol worker was left to read its file",
		[SYM_CLIENT_PENDING] = "reading its file took too long",
	};

	return words[status];
}

static bool may_help(enum sym_client_status status)
{
	return status == SYM_CLIENT_STRIPPED || status == SYM_CLIENT_GONE ||
	       status == SYM_CLIENT_REPLACED;
}

static const char *remedy(const struct symbolize_opts *o, bool kernel)
{
	if (kernel && !o->vmlinux)
		return "; use --vmlinux FILE, --symfs DIR, --debuginfod, or sudo while it runs";
	if (o->symfs)
		return o->servers ? "" : "; use --debuginfod";
	return o->servers ? "; use --symfs DIR" : "; use --symfs DIR or --debuginfod";
}

static int by_left(const void *pa, const void *pb)
{
	const struct symbolize_find_module *a = *(struct symbolize_find_module *const *)pa;
	const struct symbolize_find_module *b = *(struct symbolize_find_module *const *)pb;
	size_t a_left = a->cnt - a->named, b_left = b->cnt - b->named;

	if (a_left != b_left)
		return a_left > b_left ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* The files of which most places are left. */
static void print_files(const struct symbolize *s, struct symbolize_find_module *const *v,
			size_t cnt)
{
	enum { PRINT_MAX = 5 };
	size_t printed = 0, more = 0;
	struct buf line = { 0 };

	for (size_t i = 0; i < cnt; i++) {
		size_t left = v[i]->cnt - v[i]->named;

		if (v[i]->why != SYMBOLIZE_FIND_FILE || !left)
			continue;
		if (printed++ >= PRINT_MAX) {
			more += left;
			continue;
		}
		buf_clear(&line);
		str_counted(&line, left, "address");
		buf_addstr(&line, " in ");
		value_text_module(&line, reader_names(s->reader), v[i]->index);
		log_warn("symbolize: %s: %s%s", buf_cstr(&line), file_cause(v[i]->status),
			 may_help(v[i]->status) ? remedy(s->opts, v[i]->base & PROF_FRAME_KERNEL) :
						  "");
	}
	if (more)
		log_warn("symbolize: and %zu addresses in %zu more files", more,
			 printed - PRINT_MAX);
	buf_free(&line);
}

/* What --lines did, and could not do, for inlined functions. */
static void print_inlined(const struct symbolize *s, struct symbolize_find_module *const *v,
			  size_t cnt)
{
	struct buf line = { 0 };

	for (size_t i = 0; i < cnt; i++) {
		const char *lacks = symbolize_find_lacks(s->find, v[i]->index);

		buf_clear(&line);
		str_counted(&line, v[i]->inlined, "address");
		buf_addstr(&line, " in ");
		value_text_module(&line, reader_names(s->reader), v[i]->index);
		if (v[i]->inlined)
			log_warn("symbolize: inlined functions added to %s", buf_cstr(&line));
		buf_clear(&line);
		value_text_module(&line, reader_names(s->reader), v[i]->index);
		if (lacks)
			log_warn("symbolize: without inlined functions: %s (%s)", buf_cstr(&line),
				 lacks);
	}
	buf_free(&line);
}

static void print_others(struct symbolize_find_module *const *v, size_t cnt)
{
	static const char *const words[SYMBOLIZE_FIND_WHY_CNT] = {
		[SYMBOLIZE_FIND_NO_BUILD_ID] =
			"in files without a build ID, so no file can be matched",
		[SYMBOLIZE_FIND_KERNEL] =
			"in kernel modules, BPF programs or a kernel without build ID: only the running "
			"kernel can be used, and this may need sudo",
		[SYMBOLIZE_FIND_ANONYMOUS] = "in memory without a file, or in no known mapping",
	};
	uint64_t left[SYMBOLIZE_FIND_WHY_CNT] = { 0 };
	struct buf line = { 0 };

	for (size_t i = 0; i < cnt; i++)
		left[v[i]->why] += v[i]->cnt - v[i]->named;
	for (int why = 0; why < SYMBOLIZE_FIND_WHY_CNT; why++) {
		if (!words[why] || !left[why])
			continue;
		buf_clear(&line);
		str_counted(&line, left[why], "address");
		log_warn("symbolize: %s %s", buf_cstr(&line), words[why]);
	}
	buf_free(&line);
}

static void print_fetched(const struct symbolize *s)
{
	const struct symbolize_find_fetched *f = symbolize_find_fetched(s->find);
	struct buf line = { 0 };

	if (!s->opts->servers)
		return;
	str_counted(&line, f->fetched, "file");
	buf_printf(&line, " downloaded, %zu not found on the servers", f->missing);
	if (f->failed)
		buf_printf(&line, ", %zu failed (%s)%s", f->failed, strerror(-f->error),
			   f->given_up ? "; the other files were not requested" : "");
	log_warn("symbolize: %s", buf_cstr(&line));
	buf_free(&line);
}

static void print_summary(const struct symbolize *s, const char *output)
{
	struct symbolize_find_module **v;
	uint64_t all = 0, named = 0;
	char a[32], b[32];
	size_t cnt;

	if (s->opts->quiet)
		return;
	v = symbolize_find_modules(s->find, &cnt);
	if (cnt)
		qsort(v, cnt, sizeof(*v), by_left);
	for (size_t i = 0; i < cnt; i++) {
		all += v[i]->cnt - v[i]->again;
		named += v[i]->named - v[i]->again;
	}
	str_count(a, named);
	str_count(b, all);
	if (!all)
		log_warn("symbolize: every address has a symbol%s%s",
			 s->opts->lines ? " and a source line, if its file is known" : "",
			 output ? "" : "; nothing was written");
	else
		fprintf(stderr,
			"dial9-prof: symbolize: %s of %s addresses without a %s now have one%s\n",
			a, b, s->opts->lines ? "symbol or line" : "symbol",
			output ? "" : "; nothing was written");
	print_fetched(s);
	print_files(s, v, cnt);
	print_inlined(s, v, cnt);
	print_others(v, cnt);
}

/* ---- input ------------------------------------------------------------------------------------- */

static int open_source(const struct symbolize *s, struct source **out)
{
	int fd;

	if (s->temp < 0)
		return source_open(s->path, out);
	/* with an offset of its own, which a duplicate has not */
	fd = file_reopen(s->temp);
	if (fd < 0) {
		log_error("symbolize: cannot read a temporary file: %s", strerror(-fd));
		return fd;
	}
	return source_open_fd(fd, strcmp(s->path, "-") ? s->path : "standard input", out);
}

/* An exit code. */
static int open_input(struct symbolize *s)
{
	struct source *src;
	int code;

	if (spool_has_name(s->path))
		return progress_open(s->path, READER_ONE_PASS, &s->reader, &s->progress) ?
			       CMD_INPUT :
			       CMD_OK;
	code = trace_bytes_to_temp("symbolize", &s->opts->sel, s->path, &s->temp);
	if (code != CMD_OK)
		return code;
	return open_source(s, &src) || reader_new(src, READER_ONE_PASS, &s->reader) ? CMD_INPUT :
										      CMD_OK;
}

/* ---- output ------------------------------------------------------------------------------------ */

/* The trace itself keeps its owner, be it that root names the places. */
static int open_output(const struct symbolize *s, struct out_file **out)
{
	const char *path = s->opts->output;
	uid_t uid = (uid_t)-1;
	gid_t gid = (gid_t)-1;
	struct stat st;
	int err;

	if (!path) {
		path = s->path;
		if (!geteuid() && !stat(path, &st)) {
			uid = st.st_uid;
			gid = st.st_gid;
		}
	}
	err = out_file_open(path, uid, gid, out);
	if (!err)
		out_file_hold(*out);
	return err;
}

static int write_trace(struct symbolize *s, struct out_file *sink)
{
	const struct cut_out out = { out_file_write, sink };
	struct source *src;
	bool printed = false;
	int err = open_source(s, &src);

	if (err)
		return CMD_INPUT;
	err = reader_rewind(s->reader);
	if (!err)
		err = symbolize_copy_write(&s->copy, s->find, src, &out, &stopped, &s->added,
					   &printed);
	source_close(src);
	/* the reader of a pipe may have closed it */
	if (err == -EPIPE && printed)
		return CMD_OK;
	if (err && err != -EINTR && !printed)
		log_error("symbolize: cannot copy %s: %s", s->path,
			  err == -ESTALE ? "it changed during the copy" : strerror(-err));
	if (!err && out_file_commit(sink))
		err = -EIO;
	return err ? CMD_OUTPUT : CMD_OK;
}

/* An exit code. */
static int put_output(struct symbolize *s)
{
	struct out_file *sink;
	int code, err;

	if (open_output(s, &sink))
		return CMD_OUTPUT;
	code = write_trace(s, sink);
	err = out_file_close(sink);
	return code == CMD_OK && err ? CMD_OUTPUT : code;
}

/* ---- the run ----------------------------------------------------------------------------------- */

static bool has_news(const struct symbolize *s)
{
	struct symbolize_find_module *const *v;
	size_t cnt;

	v = symbolize_find_modules(s->find, &cnt);
	for (size_t i = 0; i < cnt; i++)
		if (v[i]->named - v[i]->again + v[i]->inlined)
			return true;
	return false;
}

/* Data after damage or a frame of a newer format would be lost. */
static int refuse_unreadable(const struct symbolize *s)
{
	if (!reader_is_newer(s->reader) && !reader_is_damaged(s->reader))
		return CMD_OK;
	log_error("symbolize: nothing written: %s would lose data that this version cannot read",
		  s->path);
	return CMD_INPUT;
}

static int run(struct symbolize *s)
{
	const char *output = s->opts->output;
	int err, code = open_input(s);

	if (code != CMD_OK)
		return code;
	s->copy.reader = s->reader;
	s->cfg.names = reader_names(s->reader);
	s->find = symbolize_find_new(&s->cfg);
	err = symbolize_copy_scan(&s->copy, s->find, &stopped);
	code = err ? CMD_INPUT : refuse_unreadable(s);
	progress_end(s->progress);
	s->progress = NULL;
	if (code != CMD_OK)
		return code;
	err = symbolize_find_run(s->find);
	if (s->shows_progress)
		fputs("\033[K", stderr);
	if (err == -EINTR)
		return CMD_INPUT;
	if (err) {
		log_error("symbolize: cannot start symbol workers: %s", strerror(-err));
		return CMD_START;
	}
	if (!output && has_news(s))
		output = s->path;
	if (output)
		code = put_output(s);
	if (code == CMD_OK)
		print_summary(s, output);
	return code == CMD_OK && reader_is_incomplete(s->reader) ? CMD_INPUT : code;
}

static void set_servers(struct symbolize *s)
{
	const char *timeout = getenv("DEBUGINFOD_TIMEOUT");
	uint64_t sec = TIMEOUT_S;

	if (timeout && (str_parse_u64(timeout, TIMEOUT_MAX_S, &sec) || !sec))
		sec = TIMEOUT_S;
	s->servers = (struct debuginfod){
		.urls = s->opts->servers,
		.timeout_ns = s->opts->timeout_ns ? s->opts->timeout_ns : sec * 1000000000ull,
		.stop = &stopped,
		.tell = print_bytes,
		.ctx = s,
	};
}

static int symbolize_file(const struct symbolize_opts *opts, const char *path)
{
	struct symbolize s = { .opts = opts, .path = path, .temp = -1 };
	struct symbolize_find_cfg cfg = {
		.dirs.symfs = opts->symfs,
		.vmlinux = opts->vmlinux,
		.lines = opts->lines,
		.stop = &stopped,
		.report_progress = print_progress,
		.report_fetch = print_fetch,
		.ctx = &s,
	};
	struct sigaction old[SIGNAL_CNT];
	struct buf cache = { 0 };
	int code;

	catch_signals(old);
	if (!debuginfod_cache(&cache))
		cfg.dirs.cache = buf_cstr(&cache);
	s.shows_progress = isatty(STDERR_FILENO) && !opts->quiet;
	if (opts->servers) {
		set_servers(&s);
		cfg.servers = &s.servers;
	}
	s.cfg = cfg;
	code = run(&s);
	progress_end(s.progress);
	symbolize_find_free(s.find);
	symbolize_copy_fini(&s.copy);
	reader_free(s.reader);
	if (s.temp >= 0)
		close(s.temp);
	buf_free(&s.fetching);
	buf_free(&cache);
	release_signals(old);
	return code;
}

/* The input itself is the default output, so it must be a replaceable file. */
static const char *conflict(const struct symbolize_opts *opts, const char *path)
{
	struct source *src;
	bool packed = false;
	char byte;

	if (opts->output && out_file_is_stdout(opts->output) && isatty(STDOUT_FILENO))
		return "-o - needs a pipe or a file; standard output is a terminal";
	if (opts->output || (strcmp(path, "-") != 0 && access(path, F_OK)))
		return NULL;
	if (!spool_has_name(path))
		return "no output given; use -o FILE, or -o - for standard output";
	if (!source_open(path, &src)) {
		source_read(src, &byte, 1);
		packed = source_is_packed(src);
		source_close(src);
	}
	return packed ? "a compressed input cannot be replaced; use -o FILE" : NULL;
}

/* Puts the servers' names in place. NULL, or what is missing. */
static const char *find_servers(struct symbolize_opts *opts)
{
	struct buf cache = { 0 };
	bool keeps = !debuginfod_cache(&cache);

	buf_free(&cache);
	if (!opts->servers)
		return NULL;
	if (!strcmp(opts->servers, FROM_ENVIRONMENT))
		opts->servers = getenv("DEBUGINFOD_URLS");
	if (!opts->servers || !*opts->servers)
		return "--debuginfod: no servers given; use --debuginfod=URLS or $DEBUGINFOD_URLS";
	if (!keeps)
		return "--debuginfod: no cache directory; set $HOME or "
		       "$DEBUGINFOD_CACHE_PATH";
#ifdef PROF_STATIC
	return "--debuginfod: the static program cannot download; use dial9-prof from a package";
#else
	return debuginfod_available() ? NULL :
					"--debuginfod needs libdebuginfod.so.1 (Debian "
					"package libdebuginfod1)";
#endif
}

/* Those who open files have directories of their own. False: one line is printed. */
static bool find_paths(struct symbolize_opts *opts, char real[PATH_MAX])
{
	int err = opts->symfs ? symbolize_paths_dir(opts->symfs) : 0;

	if (err) {
		log_error("symbolize: --symfs %s: %s", opts->symfs, strerror(-err));
		return false;
	}
	if (!opts->vmlinux)
		return true;
	err = symbolize_paths_vmlinux(opts->vmlinux);
	if (!err && !realpath(opts->vmlinux, real))
		err = -errno;
	if (err) {
		log_error("symbolize: --vmlinux %s: %s", opts->vmlinux,
			  err == -ENOEXEC ? "not a kernel ELF file with symbols (_stext)" :
					    strerror(-err));
		return false;
	}
	opts->vmlinux = real;
	return true;
}

int cmd_symbolize(int argc, char **argv)
{
	struct symbolize_opts opts = { 0 };
	int first, ret, code = CMD_USAGE;
	const char *path, *why = NULL;
	char vmlinux[PATH_MAX];

	ret = opts_parse(&symbolize_spec, argc, argv, &opts, &first);
	if (ret == 1) {
		code = CMD_OK;
	} else if (!ret) {
		path = select_input(&opts.sel, argc, argv, first);
		if (path)
			why = conflict(&opts, path);
		if (path && !why)
			why = find_servers(&opts);
		if (why)
			log_error("symbolize: %s; see dial9-prof symbolize --help", why);
		else if (path && find_paths(&opts, vmlinux))
			code = symbolize_file(&opts, path);
	}
	opts_fini(&symbolize_spec, &opts);
	return code;
}
