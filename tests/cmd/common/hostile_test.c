// SPDX-License-Identifier: BSD-2-Clause
/*
 * Torn, damaged and foreign traces through every reading command: each ends with an exit code of ours and at
 * most one line of error, never with a signal. Also: memory does not grow with the number of events.
 */
#include "tests/cmd/run_cmd.h"

#include <dirent.h>
#include "cmd/sched/sched.h"
#include "export/formats.h"
#include "tests/support/temp_dir.h"
#include <sys/resource.h>
#include <sys/wait.h>

static const struct row {
	run_fn fn;
	const char *word, *opt;
} fixed[] = {
	{ cmd_report, "report", "--json" },
	{ cmd_report, "report", "-g" },
	{ cmd_script, "script", "-F+srcline" },
	{ cmd_script, "script", "--json" },
	{ cmd_info, "info", "--schemas" },
	{ cmd_info, "info", "--json" },
	{ cmd_cut, "cut", "-qo/dev/null" },
	{ cmd_report, "report", "-stid,cpu" },
	{ cmd_report, "report", "-gfolded" },
	{ cmd_report, "report", "-ssrcline" },
	{ cmd_report, "report", "--wall" },
	{ cmd_diff, "diff", "--kind=cpu" },
	{ cmd_diff, "diff", "--kind=offcpu" },
	{ cmd_diff, "diff", "--kind=latency" },
	{ cmd_report, "report", "--live=3600" },
	{ cmd_offcpu, "offcpu", "--json" },
	{ cmd_offcpu, "offcpu", "--hist" },
	{ sched_latency, "latency", "--worst=9" },
	{ sched_timehist, "timehist", "-n" },
	{ sched_summary, "summary", "--json" },
	{ sched_map, "map", "--cols=10" },
	{ cmd_explain, "explain", "-t11" },
	{ cmd_explain, "explain", "-p10" },
	{ cmd_wakeup, "wakeup", "--by-tid" },
	{ cmd_wakeup, "wakeup", "--chain=11" },
	{ cmd_explain, "explain", "--span=*S*,*" },
	{ cmd_explain, "explain", "--span=*,x" },
	{ cmd_dump, "dump", "--json" },
	{ cmd_count, "count", "--json" },
	{ cmd_count, "count", "--by=comm,ts,x" },
	{ cmd_count, "count", "--live=3600" },
	{ cmd_count, "count", "--interval=1us" },
	{ cmd_count, "count", "--pair=*S*,*" },
	{ cmd_count, "count", "--syscalls" },
	{ cmd_polls, "polls", "--min=1ns" },
	{ cmd_polls, "polls", "--span=*S*,*" },
	{ cmd_query, "query", "SELECT *, folded(stack) FROM slices" },
	{ cmd_query, "query", "SELECT *, leaf(stack) FROM samples" },
	{ cmd_query, "query", "SELECT * FROM events, traces, lost" },
	{ cmd_query, "query", "event-counts" },
	{ cmd_query, "query", "noisy-neighbours" },
};

enum { FIXED = sizeof(fixed) / sizeof(fixed[0]), ROWS_MAX = FIXED + 100 };

static struct row commands[ROWS_MAX];
static size_t command_cnt;

/* The fixed commands, and all export formats. */
static void list_commands(void)
{
	memcpy(commands, fixed, sizeof(fixed));
	command_cnt = FIXED;
	for (size_t i = 0; export_formats[i] && command_cnt < ROWS_MAX; i++)
		commands[command_cnt++] =
			(struct row){ cmd_export, "export", export_formats[i]->name };
}

TestSuite(hostile, .init = list_commands);

#define ROW(name, reads_kernel, brief) { cmd_##name, #name, NULL },
static const struct row all[] = { CMD_LIST(ROW) };

/* view waits for a browser, and its data comes from cut. symbolize refuses damaged traces and has its own fuzzer. */
Test(hostile, every_subcommand_that_reads_a_trace_is_in_the_table)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct run r =
			run_cmd(all[i].fn, make_fd("", 0), all[i].word, "--completion", NULL);
		bool found = !strstr(r.out, "\t--input\t") || all[i].fn == cmd_view ||
			     all[i].fn == cmd_symbolize;

		for (size_t k = 0; k < command_cnt; k++)
			found |= commands[k].fn == all[i].fn;
		cr_expect(found, "no row for %s", all[i].word);
		run_free(&r);
	}
}

static int lines(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

static bool needs_two(size_t i)
{
	return commands[i].fn == cmd_diff;
}

/* The name of a trace without damage. */
static const char *good_trace(void)
{
	static char path[32];
	struct make m;

	if (!path[0]) {
		run_make_app(&m);
		snprintf(path, sizeof(path), "/dev/fd/%d", make_file(&m));
		make_fini(&m);
	}
	return path;
}

/* The truncated trace may not have this thread, or these events. */
static bool needs_thread(size_t i)
{
	const char *opt = commands[i].opt;

	if (commands[i].fn == cmd_polls)
		return true;
	return opt &&
	       (!strcmp(opt, "-t11") || !strcmp(opt, "-p10") || !strncmp(opt, "--span=", 7) ||
		!strcmp(opt, "--chain=11") || !strncmp(opt, "--pair=", 7) ||
		!strncmp(opt, "--by=", 5) || !strcmp(opt, "--syscalls"));
}

/* An option for formats that are directories, or NULL; @top is removed afterwards. */
static const char *output_of(size_t i, char top[64], char opt[80])
{
	const struct exporter *format =
		commands[i].fn == cmd_export ? export_find(commands[i].opt) : NULL;

	top[0] = '\0';
	if (!format || !format->directory)
		return NULL;
	temp_dir_make(top, 64);
	snprintf(opt, 80, "-o%s/out", top);
	return opt;
}

/* Runs one command. The exit code is 0 or 5, or 1 for a missing thread; 1 and 5 come with an error line. */
static int run_one(size_t i, const void *data, size_t sz)
{
	/* its format comes first */
	const bool before = commands[i].fn == cmd_export || commands[i].fn == cmd_query;
	char top[64], opt[80];
	const char *last = needs_two(i) ? good_trace() : output_of(i, top, opt);
	struct run r =
		run_cmd(commands[i].fn, make_fd(data, sz), commands[i].word,
			before ? commands[i].opt : "-", before ? "-" : commands[i].opt, last, NULL);
	int code = r.code;

	if (commands[i].fn == cmd_export && last)
		temp_dir_remove(top);

	cr_assert(code == CMD_OK || code == CMD_INPUT || (code == CMD_USAGE && needs_thread(i)),
		  "%s: code %d", commands[i].word, code);
	/* a truncated end is reported too, and losses if the output is rows alone */
	cr_assert_leq(lines(r.err), code == CMD_USAGE || commands[i].fn == cmd_query ? 2 : 1, "%s",
		      r.err);
	if (code != CMD_OK)
		cr_assert_geq(lines(r.err), 1);
	run_free(&r);
	/* a missing thread is reported instead of an error of the input */
	return code == CMD_USAGE ? CMD_OK : code;
}

Test(hostile, every_truncation_is_safe_in_every_command)
{
	const char *data;
	struct make m;
	size_t sz;

	run_make_app(&m);
	data = dial9_enc_data(m.enc, &sz);
	for (size_t cut = 0; cut <= sz; cut++)
		cr_assert_eq(run_one(cut % command_cnt, data, cut), cut < 5 ? CMD_INPUT : CMD_OK,
			     "cut at %zu", cut);
	/* every byte of the region with metadata */
	for (size_t cut = sz - 200; cut <= sz; cut++)
		for (size_t i = 0; i < command_cnt; i++)
			cr_assert_eq(run_one(i, data, cut), CMD_OK);
	make_fini(&m);
}

Test(hostile, flipped_bytes_are_safe_in_every_command)
{
	uint64_t x = 88172645463325252;
	char *data;
	struct make m;
	size_t sz;

	run_make_app(&m);
	data = (char *)dial9_enc_data(m.enc, &sz);
	for (int round = 0; round < 600; round++) {
		size_t at[3];
		char was[3];

		for (int k = 0; k < 3; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			at[k] = 5 + x % (sz - 5);
			was[k] = data[at[k]];
			data[at[k]] = (char)(x >> 40);
		}
		run_one((size_t)round % command_cnt, data, sz);
		for (int k = 2; k >= 0; k--)
			data[at[k]] = was[k];
	}
	make_fini(&m);
}

/* Vectors of other implementations; gzip ones too. */
static int run_vectors(const char *dir)
{
	const char *top = getenv("D9_TOP");
	char path[512], *data;
	struct dirent *de;
	struct stat st;
	int fd, n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/tests/golden/dial9/%s", top ? top : ".", dir);
	d = opendir(path);
	cr_assert_not_null(d, "no vectors in %s", path);
	while ((de = readdir(d))) {
		if (!strstr(de->d_name, ".bin"))
			continue;
		fd = openat(dirfd(d), de->d_name, O_RDONLY);
		cr_assert_geq(fd, 0);
		fstat(fd, &st);
		data = malloc((size_t)st.st_size + 1);
		cr_assert_eq(read(fd, data, (size_t)st.st_size), st.st_size);
		close(fd);
		for (size_t i = 0; i < command_cnt; i++)
			run_one(i, data, (size_t)st.st_size);
		free(data);
		n++;
	}
	closedir(d);
	return n;
}

Test(hostile, vectors_of_other_writers_are_safe)
{
	cr_assert_geq(run_vectors("hostile"), 40);
	cr_assert_geq(run_vectors("core"), 8);
	cr_assert_geq(run_vectors("ext"), 5);
}

#ifndef __SANITIZE_ADDRESS__ /* which keeps freed memory, and so changes the measurement */

static int write_fd(void *ctx, const void *data, size_t sz)
{
	return write(*(int *)ctx, data, sz) == (ssize_t)sz ? 0 : -5;
}

/* @events switches and samples of a few threads and stacks, 100 us apart, in a file. */
static int many(int events)
{
	char path[] = "/tmp/d9-many-XXXXXX";
	struct dial9_enc_opts opts = { .sz = sizeof(opts), .write = write_fd };
	uint64_t stack[3];
	struct make m;
	int fd = mkstemp(path);

	unlink(path);
	opts.ctx = &fd;
	make_init(&m, &opts);
	make_module(&m, 1, 1, "/bin/x", PROF_MODULE_ELF);
	for (int i = 0; i < events; i++) {
		if (i % 2) {
			make_switch(&m, 1000 + (uint64_t)i * 100000, 0, "a", 5 + (uint32_t)i % 7, 1,
				    "b", 5 + (uint32_t)(i + 1) % 7);
			continue;
		}
		for (uint32_t k = 0; k < 3; k++)
			stack[k] = make_frame(1, (uint64_t)(i % 50) * 16 + k);
		make_sample(&m, 1000 + (uint64_t)i * 100000, 5, 5, PROF_SOURCE_SAMPLE, 0, stack, 3);
	}
	cr_assert_eq(dial9_enc_flush(m.enc), 0);
	make_fini(&m);
	return fd;
}

/* Peak memory of a command over @file, in kB, in a process of its own. @output: an option, or NULL. */
static long peak_of(size_t i, int file, bool piped, const char *output)
{
	int fd = dup(file), null = open("/dev/null", O_WRONLY), p[2], status;
	struct rusage ru;
	pid_t feeder = 0, pid;
	char buf[4096];
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	if (piped) {
		cr_assert_eq(pipe(p), 0);
		feeder = fork();
		if (!feeder) {
			close(p[0]);
			while ((n = read(fd, buf, sizeof(buf))) > 0)
				if (write(p[1], buf, (size_t)n) != n)
					break;
			_exit(0);
		}
		close(p[1]);
		close(fd);
		fd = p[0];
	}
	pid = fork();
	if (!pid) {
		const bool before = output || commands[i].fn == cmd_query;
		const char *last = needs_two(i) ? good_trace() : output;
		char *argv[] = { (char *)commands[i].word, before ? (char *)commands[i].opt : "-",
				 before ? "-" : (char *)commands[i].opt, (char *)last, NULL };

		dup2(fd, 0);
		dup2(null, 1);
		_exit(commands[i].fn(last ? 4 : 3, argv));
	}
	close(fd);
	close(null);
	cr_assert_eq(wait4(pid, &status, 0, &ru), pid);
	if (feeder)
		waitpid(feeder, NULL, 0);
	cr_assert_eq(status, 0, "%s %s: status %x", commands[i].word,
		     commands[i].opt ? commands[i].opt : "", (unsigned int)status);
	return ru.ru_maxrss;
}

static long peak(size_t i, int file, bool piped)
{
	return peak_of(i, file, piped, NULL);
}

static size_t row_of(const char *word, const char *opt)
{
	for (size_t i = 0; i < command_cnt; i++)
		if (!strcmp(commands[i].word, word) && commands[i].opt &&
		    !strcmp(commands[i].opt, opt))
			return i;
	cr_assert_fail("no row for %s %s", word, opt);
	return 0;
}

Test(hostile, memory_does_not_follow_the_number_of_events, .timeout = 120)
{
	/* on a pipe script also holds 2 s of the trace, 20,000 of these events */
	static const struct {
		const char *word, *opt;
		bool piped;
	} which[] = {
		{ "report", "-g", false },	    { "script", "--json", false },
		{ "info", "--schemas", false },	    { "cut", "-qo/dev/null", false },
		{ "diff", "--kind=offcpu", false }, { "report", "--live=3600", false },
		{ "script", "--json", true },	    { "cut", "-qo/dev/null", true },
	};
	int few = many(20000), lots = many(1000000);

	for (size_t k = 0; k < sizeof(which) / sizeof(which[0]); k++) {
		size_t i = row_of(which[k].word, which[k].opt);
		long small = peak(i, few, which[k].piped), large = peak(i, lots, which[k].piped);

		cr_assert_lt(large, small + 6144, "%s: %ld kB for 20k, %ld kB for 1M",
			     which[k].word, small, large);
	}
	close(few);
	close(lots);
}

/* One sample of a thread and a function with names of @sz bytes. */
static int long_names(size_t sz)
{
	const uint64_t at = make_frame(1, 0x100);
	char *name = malloc(sz + 1);
	struct make m;

	memset(name, 'n', sz);
	name[sz] = '\0';
	make_init(&m, NULL);
	make_module(&m, 1, 1, "/bin/x", PROF_MODULE_ELF);
	make_task(&m, 2, 10, 10, name);
	make_sample(&m, RUN_SEC, 10, 10, PROF_SOURCE_SAMPLE, 0, &at, 1);
	name[0] = 'f';
	make_symbol(&m, RUN_SEC, at, 0, at, name, "f.c", 1);
	free(name);
	return make_done(&m);
}

/* Rows of a group are in memory: with few events all of them. */
Test(hostile, memory_of_tables_is_bounded, .timeout = 120)
{
	int few = many(200000), lots = many(2000000);
	char top[64], opt[80];
	size_t i = FIXED;
	long peaks[2];

	while (strcmp(commands[i].opt, "parquet"))
		i++;
	for (int k = 0; k < 2; k++) {
		output_of(i, top, opt);
		peaks[k] = peak_of(i, k ? lots : few, false, opt);
		temp_dir_remove(top);
	}
	cr_assert_lt(peaks[1], peaks[0] + 24576, "%ld kB for 200k, %ld kB for 2M", peaks[0],
		     peaks[1]);
	close(few);
	close(lots);
}

/*
 * Twice the names need twice the memory: a few copies of each byte at most. Names are kept, escaped, and
 * printed in a buffer that doubles.
 */
Test(hostile, memory_grows_with_the_size_of_names, .timeout = 120)
{
	enum { MB = 1 << 20, COPIES_MAX = 10 };
	int small = long_names(2 * MB), large = long_names(4 * MB);
	const long added_kb = 2 * 2 * MB / 1024;

	for (size_t i = 0; i < command_cnt; i++) {
		long few, lots;

		if (needs_thread(i) || commands[i].fn == cmd_export)
			continue;
		few = peak(i, small, false);
		lots = peak(i, large, false);
		cr_expect_lt(lots - few, COPIES_MAX * added_kb, "%s %s: %ld kB, then %ld kB",
			     commands[i].word, commands[i].opt, few, lots);
	}
	close(small);
	close(large);
}

#endif
