// SPDX-License-Identifier: BSD-2-Clause
/* The grammar of options, the texts of its errors, and the help, against literal text. */
#include "base/opts.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct demo {
	bool all, stacks, help_asked;
	int verbose, mode;
	const char *output;
	uint32_t hz, after_hz;
	uint64_t period, ring, duration;
	struct opt_list events;
	struct opt_u32s pids, cpus, tids;
	int nice;
	const char *level;
};

static const char *const modes[] = { "none", "user", "both", NULL };

static const struct opt rows[] = {
	{ .name = "pid",
	  .key = 'p',
	  .kind = OPT_PIDS,
	  .off = offsetof(struct demo, pids),
	  .arg = "PID,...",
	  .help = "record these processes",
	  .group = "Target" },
	{ .name = "tid",
	  .key = 't',
	  .kind = OPT_PIDS,
	  .many = true,
	  .off = offsetof(struct demo, tids) },
	{ .name = "nice",
	  .kind = OPT_INT,
	  .off = offsetof(struct demo, nice),
	  .int_min = -20,
	  .int_max = 19 },
	{ .name = "all-cpus",
	  .key = 'a',
	  .kind = OPT_FLAG,
	  .off = offsetof(struct demo, all),
	  .help = "record everything" },
	{ .name = "cpu",
	  .key = 'C',
	  .kind = OPT_CPUS,
	  .off = offsetof(struct demo, cpus),
	  .help = "only these CPUs" },
	{ .name = "freq",
	  .key = 'F',
	  .kind = OPT_U32,
	  .off = offsetof(struct demo, hz),
	  .min = 1,
	  .max = 50000,
	  .arg = "HZ",
	  .help = "take this many samples a second on each CPU, which is a long sentence that "
		  "has to be wrapped",
	  .group = "Events" },
	{ .name = "count",
	  .key = 'c',
	  .kind = OPT_U64,
	  .off = offsetof(struct demo, period),
	  .help = "period" },
	{ .name = "event",
	  .key = 'e',
	  .kind = OPT_LIST,
	  .off = offsetof(struct demo, events),
	  .arg = "EVENT",
	  .help = "add a tracepoint" },
	{ .name = "switch-stacks",
	  .kind = OPT_CHOICE,
	  .off = offsetof(struct demo, mode),
	  .choices = modes,
	  .help = "stacks of switches" },
	{ .name = "no-callchain",
	  .kind = OPT_NOT,
	  .off = offsetof(struct demo, stacks),
	  .help = "no stacks" },
	{ .name = "ring-size",
	  .key = 'm',
	  .kind = OPT_SIZE,
	  .off = offsetof(struct demo, ring),
	  .help = "ring size",
	  .group = "Output" },
	{ .name = "duration",
	  .key = 'd',
	  .kind = OPT_DURATION,
	  .off = offsetof(struct demo, duration),
	  .help = "how long" },
	{ .name = "output",
	  .key = 'o',
	  .kind = OPT_STR,
	  .off = offsetof(struct demo, output),
	  .arg = "FILE",
	  .help = "where to" },
	{ .name = "compress",
	  .key = 'z',
	  .kind = OPT_STR,
	  .off = offsetof(struct demo, level),
	  .arg = "LEVEL",
	  .implied = "6",
	  .help = "compress" },
	{ .name = "verbose",
	  .key = 'v',
	  .kind = OPT_COUNT,
	  .off = offsetof(struct demo, verbose),
	  .help = "say more" },
	{ .name = "mmap-pages", .kind = OPT_SIZE, .off = offsetof(struct demo, ring) },
	{ .name = "help", .key = 'h', .kind = OPT_HELP, .help = "this text" },
};

static const struct opt_spec spec = {
	.name = "demo",
	.usage = "dial9-prof demo [OPTIONS] [FILE]",
	.brief = "Shows what options look like.",
	.opts = rows,
	.cnt = sizeof(rows) / sizeof(rows[0]),
	.examples = "  dial9-prof demo -a\n",
};

#define ARGS(...)                                                                                  \
	{                                                                                          \
		(char *)"demo", __VA_ARGS__, NULL                                                  \
	}
#define ARGC(argv) ((int)(sizeof(argv) / sizeof((argv)[0])) - 1)

static int parse(const struct opt_spec *s, int argc, char **argv, struct demo *d, int *first)
{
	*d = (struct demo){ .stacks = true, .hz = 99, .after_hz = 99 };
	return opts_parse(s, argc, argv, d, first);
}

static void read_stream(FILE *f, char *out, size_t sz)
{
	size_t n = fread(out, 1, sz - 1, f);

	out[n] = '\0';
}

Test(opts, options_of_every_kind_and_spelling_are_parsed)
{
	char *argv[] = ARGS("-p", "17,42", "--pid=7", "-av", "-vC0-2", "-F999", "--count", "0x10",
			    "-e", "a:b", "--event=c:*", "--switch-stacks=both", "--no-callchain",
			    "-m", "4M", "-d500ms", "--output", "x.bin", "-z9");
	static const uint32_t pids[] = { 17, 42, 7 }, cpus[] = { 0, 1, 2 };
	struct demo d;
	int first;

	cr_assert_eq(parse(&spec, ARGC(argv), argv, &d, &first), 0);
	cr_assert_eq(first, ARGC(argv));
	cr_assert_eq(d.pids.cnt, 3);
	cr_assert_arr_eq(d.pids.v, pids, sizeof(pids));
	cr_assert_eq(d.cpus.cnt, 3);
	cr_assert_arr_eq(d.cpus.v, cpus, sizeof(cpus));
	cr_assert(d.all && !d.stacks);
	cr_assert_eq(d.verbose, 2);
	cr_assert_eq(d.hz, 999);
	cr_assert_eq(d.period, 16);
	cr_assert_eq(d.events.cnt, 2);
	cr_assert_str_eq(d.events.v[0], "a:b");
	cr_assert_str_eq(d.events.v[1], "c:*");
	cr_assert_eq(d.mode, 2);
	cr_assert_eq(d.ring, 4 << 20);
	cr_assert_eq(d.duration, 500000000);
	cr_assert_str_eq(d.output, "x.bin");
	cr_assert_str_eq(d.level, "9");
	opts_fini(&spec, &d);
	cr_assert_null(d.pids.v);
	cr_assert_null(d.events.v);
}

/* pidof prints blanks, and a shell makes words of them or not. */
Test(opts, pid_lists_in_pidof_format_are_parsed)
{
	static const uint32_t want[] = { 17, 42, 7, 8, 9 };
	char *argv[] = ARGS("-t", "17 42", "-t7", "8", "9", "-p", "5", "6", "x7");
	struct demo d;
	int first;

	cr_assert_eq(parse(&spec, ARGC(argv), argv, &d, &first), 0);
	cr_assert_eq(d.tids.cnt, 5);
	cr_expect_arr_eq(d.tids.v, want, sizeof(want));
	cr_expect_eq(d.pids.cnt, 1, "only where it is said to take many");
	cr_expect_eq(first, ARGC(argv) - 2);
	cr_expect_str_eq(argv[first], "6");
	opts_fini(&spec, &d);
}

Test(opts, int_option_may_be_negative)
{
	char *argv[] = ARGS("--nice", "-5"), *low[] = ARGS("--nice=-20"),
	     *high[] = ARGS("--nice=19");
	struct demo d;
	int first;

	cr_assert_eq(parse(&spec, ARGC(argv), argv, &d, &first), 0);
	cr_expect_eq(d.nice, -5);
	cr_assert_eq(parse(&spec, ARGC(low), low, &d, &first), 0);
	cr_expect_eq(d.nice, -20);
	cr_assert_eq(parse(&spec, ARGC(high), high, &d, &first), 0);
	cr_expect_eq(d.nice, 19);
}

Test(opts, numbers_are_limited_to_the_width_of_their_type)
{
	char *argv[] = ARGS("--count=0x1ffffffff", "-F", "7");
	struct demo d;
	int first;

	cr_assert_eq(parse(&spec, ARGC(argv), argv, &d, &first), 0);
	cr_assert_eq(d.hz, 7);
	cr_assert_eq(d.after_hz, 99);
	cr_assert_eq(d.period, 0x1ffffffff);
}

Test(opts, options_that_are_not_given_keep_their_defaults)
{
	char *argv[] = ARGS("file");
	struct demo d;
	int first;

	cr_assert_eq(parse(&spec, ARGC(argv), argv, &d, &first), 0);
	cr_assert_eq(first, 1);
	cr_assert(d.stacks && d.hz == 99 && !d.all);
}

Test(opts, options_may_stand_between_arguments)
{
	char *argv[] = ARGS("one", "-o", "out", "two", "-a", "-", "--", "-x", "--all-cpus");
	struct demo d;
	int first;

	cr_assert_eq(parse(&spec, ARGC(argv), argv, &d, &first), 0);
	cr_assert_eq(ARGC(argv) - first, 5);
	cr_assert_str_eq(argv[first], "one");
	cr_assert_str_eq(argv[first + 1], "two");
	cr_assert_str_eq(argv[first + 2], "-");
	cr_assert_str_eq(argv[first + 3], "-x");
	cr_assert_str_eq(argv[first + 4], "--all-cpus");
	cr_assert_str_eq(d.output, "out");
	cr_assert(d.all);
}

Test(opts, first_argument_ends_the_options_if_the_command_wants_that)
{
	char *argv[] = ARGS("-a", "ls", "-l");
	struct opt_spec stops = spec;
	struct demo d;
	int first;

	stops.stop_at_word = true;
	cr_assert_eq(parse(&stops, ARGC(argv), argv, &d, &first), 0);
	cr_assert_eq(first, 2);
	cr_assert_str_eq(argv[2], "ls");
	cr_assert_str_eq(argv[3], "-l");
}

Test(opts, option_with_an_implied_value_needs_no_argument)
{
	char *argv[] = ARGS("-z", "file", "--compress");
	struct demo d;
	int first;

	cr_assert_eq(parse(&spec, ARGC(argv), argv, &d, &first), 0);
	cr_assert_str_eq(d.level, "6");
	cr_assert_str_eq(argv[first], "file");
}

Test(opts, hidden_alias_works)
{
	char *argv[] = ARGS("--mmap-pages=1M");
	struct demo d;
	int first;

	cr_assert_eq(parse(&spec, ARGC(argv), argv, &d, &first), 0);
	cr_assert_eq(d.ring, 1 << 20);
}

static const struct {
	const char *args[4];
	const char *want;
} errors[] = {
	{ { "--duraton=1" },
	  "unknown option --duraton (did you mean --duration?); see dial9-prof demo --help" },
	{ { "--zzzzzz" }, "unknown option --zzzzzz; see dial9-prof demo --help" },
	{ { "-aX" }, "unknown option -X; see dial9-prof demo --help" },
	{ { "-o" }, "-o needs a value; see dial9-prof demo --help" },
	{ { "--output" }, "--output needs a value; see dial9-prof demo --help" },
	{ { "--all-cpus=1" }, "unexpected value for --all-cpus" },
	{ { "-F", "0" }, "bad value '0' for -F: expected a number from 1 to 50000" },
	{ { "--freq=fast" }, "bad value 'fast' for --freq: expected a number from 1 to 50000" },
	{ { "-F", "50001" }, "bad value '50001' for -F: expected a number from 1 to 50000" },
	{ { "--count=" }, "bad value '' for --count: expected a number of 0 or more" },
	{ { "-m", "4Q" }, "bad value '4Q' for -m: expected a size such as 4096, 64K, 4M or 1G" },
	{ { "-d", "soon" },
	  "bad value 'soon' for -d: expected a time such as 10 (seconds), 500ms or 5m" },
	{ { "--switch-stacks", "all" },
	  "bad value 'all' for --switch-stacks: expected one of none, user, both" },
	{ { "-p", "0" },
	  "bad value '0' for -p: expected numbers above 0 separated by commas, such as 17 or 17,42" },
	{ { "-p", "17,x" },
	  "bad value '17,x' for -p: expected numbers above 0 separated by commas, such as 17 or 17,42" },
	{ { "-p", "17 x" },
	  "bad value '17 x' for -p: expected numbers above 0 separated by commas, such as 17 or 17,42" },
	{ { "-p", " " },
	  "bad value ' ' for -p: expected numbers above 0 separated by commas, such as 17 or 17,42" },
	{ { "-t", "7", "8,0" },
	  "bad value '8,0' for -t: expected numbers above 0 separated by commas, such as 17 or 17,42" },
	{ { "--nice=-21" }, "bad value '-21' for --nice: expected a number from -20 to 19" },
	{ { "--nice", "20" }, "bad value '20' for --nice: expected a number from -20 to 19" },
	{ { "--nice", "-" }, "bad value '-' for --nice: expected a number from -20 to 19" },
	{ { "-C", "3-1" }, "bad value '3-1' for -C: expected CPU numbers such as 0-3,8" },
};

Test(opts, each_error_is_one_helpful_line, .init = cr_redirect_stderr)
{
	char want[4096] = "", got[4096];
	struct demo d;
	int first;

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		char *argv[6] = { (char *)"demo" };
		int argc = 1;

		for (int a = 0; errors[i].args[a]; a++)
			argv[argc++] = (char *)errors[i].args[a];
		cr_expect_eq(parse(&spec, argc, argv, &d, &first), -EINVAL);
		opts_fini(&spec, &d);
		strcat(strcat(strcat(want, "dial9-prof: demo: "), errors[i].want), "\n");
	}
	read_stream(cr_get_redirected_stderr(), got, sizeof(got));
	cr_assert_str_eq(got, want);
}

static const char help_text[] =
	"Usage: dial9-prof demo [OPTIONS] [FILE]\n"
	"\n"
	"Shows what options look like.\n"
	"\n"
	"Target:\n"
	"  -p, --pid=PID,...       record these processes\n"
	"  -a, --all-cpus          record everything\n"
	"  -C, --cpu=CPUS          only these CPUs\n"
	"\n"
	"Events:\n"
	"  -F, --freq=HZ           take this many samples a second on each CPU, which is\n"
	"                          a long sentence that has to be wrapped\n"
	"  -c, --count=N           period\n"
	"  -e, --event=EVENT       add a tracepoint\n"
	"      --switch-stacks=none|user|both\n"
	"                          stacks of switches\n"
	"      --no-callchain      no stacks\n"
	"\n"
	"Output:\n"
	"  -m, --ring-size=SIZE    ring size\n"
	"  -d, --duration=DUR      how long\n"
	"  -o, --output=FILE       where to\n"
	"  -z, --compress[=LEVEL]  compress\n"
	"  -v, --verbose           say more\n"
	"  -h, --help              this text\n"
	"\n"
	"Examples:\n"
	"  dial9-prof demo -a\n";

/* Of standard output, which is redirected. */
static void expect_printed(char *option, const char *text)
{
	char *argv[] = ARGS(option, "--nonsense");
	char got[4096];
	struct demo d;
	int first;

	cr_assert_eq(parse(&spec, ARGC(argv), argv, &d, &first), 1);
	fflush(stdout);
	read_stream(cr_get_redirected_stdout(), got, sizeof(got));
	cr_assert_str_eq(got, text);
}

Test(opts, help_is_printed_to_standard_output_in_columns, .init = cr_redirect_stdout)
{
	expect_printed("-h", help_text);
}

static const char completion_text[] =
	"-p\t--pid\tPID,...\trecord these processes\n"
	"-a\t--all-cpus\t-\trecord everything\n"
	"-C\t--cpu\tCPUS\tonly these CPUs\n"
	"-F\t--freq\tHZ\ttake this many samples a second on each CPU, which is a long sentence that "
	"has to be wrapped\n"
	"-c\t--count\tN\tperiod\n"
	"-e\t--event\tEVENT\tadd a tracepoint\n"
	"-\t--switch-stacks\tnone|user|both\tstacks of switches\n"
	"-\t--no-callchain\t-\tno stacks\n"
	"-m\t--ring-size\tSIZE\tring size\n"
	"-d\t--duration\tDUR\thow long\n"
	"-o\t--output\tFILE\twhere to\n"
	"-z\t--compress\t[LEVEL]\tcompress\n"
	"-v\t--verbose\t-\tsay more\n"
	"-h\t--help\t-\tthis text\n";

Test(opts, completion_prints_a_line_per_option_except_hidden_ones, .init = cr_redirect_stdout)
{
	expect_printed("--completion", completion_text);
}

Test(opts, subcommand_matches_whole_and_not_by_prefix)
{
	static const char *const words[] = { "sym", NULL, "symoff" };

	cr_assert_eq(opts_word("sym,dso", 3, words, 3), 0);
	cr_assert_eq(opts_word("symoff", 6, words, 3), 2);
	cr_assert_eq(opts_word("symo", 4, words, 3), -1);
	cr_assert_eq(opts_word("", 0, words, 3), -1);
	cr_assert_eq(opts_word("symoff", 6, words, 2), -1);
}

Test(opts, nearest_finds_only_typos_and_prefixes)
{
	static const char *const words[] = { "report", "script", "info", "dump", "offcpu" };
	static const struct {
		const char *word, *want;
	} cases[] = {
		{ "reprot", "report" }, { "rport", "report" }, { "scirpt", "script" },
		{ "off", "offcpu" },	{ "inf", "info" },     { "dmup", "dump" },
		{ "xyzzy", NULL },	{ "", NULL },	       { "q", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *got = opts_nearest(cases[i].word, words, 5);

		if (cases[i].want)
			cr_expect(got && !strcmp(got, cases[i].want), "%s gave %s", cases[i].word,
				  got ? got : "nothing");
		else
			cr_expect_null(got, "%s gave %s", cases[i].word, got);
	}
}
