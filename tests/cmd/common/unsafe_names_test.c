// SPDX-License-Identifier: BSD-2-Clause
/*
 * A trace whose names control terminals, through every command and export format: the raw output is valid
 * UTF-8 without control characters, characters that change the direction of text, and line separators.
 */
#include "tests/cmd/run_cmd.h"

#include "cmd/inspect/dump.h"
#include "cmd/sched/sched.h"
#include "export/formats.h"

/* An escape sequence, its 8-bit form in UTF-8, NEL, directions, separators, invisible characters. */
#define UNSAFE                                                                                     \
	"e\x1b[31m\xc2\x9b"                                                                        \
	"2J\xc2\x85\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xe2\x80\xa9\xd8\x9c\xe2\x80\x8f"           \
	"\xef\xbb\xbf\xf3\xa0\x80\x81\x7f\r\""

/* Invalid UTF-8, which the encoder rejects, is written over these valid bytes afterwards. */
#define PLACEHOLDER "\xc3\xbf\xc3\xbe"
static const char invalid[] = "\xff\x9b\xed\xa0";

#define NAME(s) s UNSAFE PLACEHOLDER

static const struct row {
	run_fn fn;
	const char *word, *a, *b;
} fixed[] = {
	{ cmd_report, "report", "--json", NULL },
	{ cmd_report, "report", "-g", NULL },
	{ cmd_report, "report", "-gfolded", NULL },
	{ cmd_report, "report", "-gflat", NULL },
	{ cmd_report, "report", "-ssym,dso,srcline,comm,cgroup,part", NULL },
	{ cmd_report, "report", "--wall", NULL },
	{ cmd_script, "script", "-F+srcline", NULL },
	{ cmd_script, "script", "--json", NULL },
	{ cmd_info, "info", "--schemas", NULL },
	{ cmd_info, "info", "--json", "--schemas" },
	{ cmd_dump, "dump", NULL, NULL },
	{ cmd_dump, "dump", "--json", NULL },
	{ cmd_diff, "diff", "-g", NULL },
	{ cmd_diff, "diff", "--json", NULL },
	{ cmd_diff, "diff", "--kind=offcpu", NULL },
	{ cmd_diff, "diff", "--kind=latency", NULL },
	{ cmd_offcpu, "offcpu", "--json", NULL },
	{ cmd_offcpu, "offcpu", NULL, NULL },
	{ cmd_offcpu, "offcpu", "--hist", NULL },
	{ sched_latency, "latency", "--worst=9", NULL },
	{ sched_latency, "latency", "--json", NULL },
	{ sched_timehist, "timehist", "-n", NULL },
	{ sched_summary, "summary", NULL, NULL },
	{ sched_summary, "summary", "--json", NULL },
	{ sched_map, "map", "--cols=10", NULL },
	{ cmd_explain, "explain", "-t11", NULL },
	{ cmd_explain, "explain", "-t11", "--json" },
	{ cmd_explain, "explain", "--span=app:enter,app:exit", NULL },
	{ cmd_explain, "explain", "--span=app:enter,app:exit", "--slowest=3" },
	{ cmd_explain, "explain", "--span=app:enter,app:exit", "--json" },
	{ cmd_wakeup, "wakeup", "--by-tid", NULL },
	{ cmd_wakeup, "wakeup", "--json", NULL },
	{ cmd_wakeup, "wakeup", "--chain=11", NULL },
	{ cmd_polls, "polls", "--min=1ns", NULL },
	{ cmd_polls, "polls", "--json", NULL },
	{ cmd_cut, "cut", "-qo/dev/null", NULL },
};

/* A generic event with a string, a list and a map. Its name and its field name are unsafe too. */
static void make_generic(struct make *m, uint64_t ts)
{
	const struct dial9_str kv[][2] = { { { NAME("k"), strlen(NAME("k")) },
					     { NAME("v"), strlen(NAME("v")) } } };
	struct dial9_schema *s =
		MAKE_SCHEMA(NAME("app:event"), { NAME("field"), DIAL9_STRING },
			    { "common_pid", DIAL9_VARINT }, { "map", DIAL9_STRING_MAP });

	dial9_enc_begin(m->enc, s, ts);
	make_str(m, NAME("text"));
	dial9_enc_put_u64(m->enc, 11);
	dial9_enc_put_map(m->enc, kv, 1);
	make_end(m);
	dial9_schema_free(s);
}

static void make_spans(struct make *m, uint64_t ts)
{
	struct dial9_schema *s = MAKE_SCHEMA("app:enter", { "common_pid", DIAL9_VARINT },
					     { "what", DIAL9_POOLED_STRING });

	dial9_enc_begin(m->enc, s, ts);
	dial9_enc_put_u64(m->enc, 11);
	make_str(m, NAME("what"));
	make_end(m);
	dial9_schema_free(s);
	MAKE_NUMBERS(m, ts + 5000, "app:exit", { "common_pid", 11 });
}

static void make_names(struct make *m, uint64_t ts)
{
	static const char *const kv[] = { "host",	 NAME("host"),	  "kernel",
					  NAME("linux"), "command_line",  NAME("dial9-prof"),
					  "target",	 NAME("command"), "sample_event",
					  NAME("clock"), "sample_hz",	  "99",
					  NAME("key"),	 NAME("value"),	  NULL };

	make_init(m, NULL);
	make_metadata(m, ts, kv);
	make_clock(m, ts, 1700000000 * RUN_SEC);
	make_module(m, ts, 1, NAME("/opt/app"), PROF_MODULE_ELF);
	make_module(m, ts, 2, NAME("/lib/libc"), PROF_MODULE_ELF);
	make_status(m, ts, 2, NAME("no symbols"), NAME("detail"));
	make_task_in(m, ts, 10, 10, NAME("app"), NAME("/group"));
	make_task_in(m, ts, 10, 11, NAME("pool"), NAME("/group"));
	make_tpsym(m, ts, "sched:sched_switch", "prev_state", PROF_TP_SYMBOL, 1, NAME("S"));
}

/* The trace, with the placeholders replaced; free it. */
static char *make_unsafe(size_t *sz)
{
	const uint64_t hot = make_frame(1, 0x310), blank = make_frame(2, 0x910);
	const uint64_t a[] = { hot, blank }, b[] = { blank, hot };
	uint64_t ts = 10 * RUN_SEC;
	const void *bytes;
	struct make m;
	char *data;

	make_names(&m, ts);
	for (int i = 0; i < 20; i++) {
		ts += 1000000;
		make_sample(&m, ts, 10, 10 + i % 2, PROF_SOURCE_SAMPLE, 1, i % 3 ? a : b, 2);
		make_spans(&m, ts);
		make_generic(&m, ts + 10000);
		make_poll_start(&m, ts + 20000, 1, 7, NAME("src/main.rs"));
		MAKE_NUMBERS(&m, ts + 60000, "PollEndEvent", { "worker_id", 1 });
		make_switch(&m, ts + 30000, 1, NAME("pool"), 11, 1, NAME("other"), 12);
		make_sample(&m, ts + 30000, 10, 11, PROF_SOURCE_SWITCH_OUT, 1, a, 2);
		make_waking(&m, ts + 40000, 0, 10, NAME("pool"), 11);
		make_switch(&m, ts + 50000, 1, NAME("other"), 12, 0, NAME("pool"), 11);
	}
	make_lost(&m, ts, NAME("ring"), 3, ts - 7000, ts - 5000);
	make_symbol(&m, ts, hot, 0, make_frame(1, 0x300), NAME("hot"), NAME("app.c"), 21);
	make_symbol(&m, ts, hot, 1, make_frame(1, 0x300), NAME("leaf"), NAME("leaf.h"), 7);
	make_label(&m, ts, blank, NAME("[libc"));
	make_stats(&m, ts, 13, 3);
	bytes = dial9_enc_data(m.enc, sz);
	data = malloc(*sz);
	memcpy(data, bytes, *sz);
	make_fini(&m);
	for (char *at = data; (at = memmem(at, *sz - (size_t)(at - data), PLACEHOLDER, 4));)
		memcpy(at, invalid, 4);
	return data;
}

static bool is_unsafe(uint32_t c)
{
	return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0) || c == 0x61c ||
	       c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || c == 0xfeff || c >= 0xe0000;
}

/* The code point at @s; UINT32_MAX: invalid UTF-8. Independent of the decoder under test. */
static uint32_t decode(const unsigned char *s, size_t n, size_t *len)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t c = *s;

	*len = c < 0x80 ? 1 : c >> 5 == 6 ? 2 : c >> 4 == 14 ? 3 : c >> 3 == 30 ? 4 : 0;
	if (!*len || *len > n)
		return UINT32_MAX;
	c = *len == 1 ? c : c & (0x7fu >> *len);
	for (size_t i = 1; i < *len; i++) {
		if (s[i] >> 6 != 2)
			return UINT32_MAX;
		c = c << 6 | (s[i] & 0x3f);
	}
	return c < least[*len] || c >> 11 == 0x1b || c > 0x10ffff ? UINT32_MAX : c;
}

static void expect_safe_text(const struct row *row, const char *what, const char *text)
{
	const size_t n = strlen(text);
	size_t len;

	for (size_t i = 0; i < n; i += len) {
		const uint32_t c = decode((const unsigned char *)text + i, n - i, &len);

		if (c != UINT32_MAX && !is_unsafe(c))
			continue;
		cr_expect(false, "%s %s %s: %s has U+%04X at %zu: ...%.60s", row->word,
			  row->a ? row->a : "", row->b ? row->b : "", what, c, i,
			  text + (i > 40 ? i - 40 : 0));
		return;
	}
}

static bool is_binary(const char *format)
{
	return !strcmp(format, "pprof") || !strcmp(format, "perfetto");
}

static void check_row(const struct row *row, const char *data, size_t sz)
{
	const bool before = row->fn == cmd_export;
	char good[32];
	int fd = make_fd(data, sz);
	struct run r;

	snprintf(good, sizeof(good), "/dev/fd/%d", fd);
	r = run_cmd(row->fn, make_fd(data, sz), row->word, before ? row->a : "-",
		    before		? "-" :
		    row->fn == cmd_diff ? good :
		    row->a		? row->a :
					  NULL,
		    row->fn == cmd_diff ? row->a : row->b, NULL);
	close(fd);
	cr_expect_eq(r.code, CMD_OK, "%s %s: %s", row->word, row->a ? row->a : "", r.err);
	expect_safe_text(row, "standard error", r.err);
	if (!before || !is_binary(row->a))
		expect_safe_text(row, "standard output", r.out);
	run_free(&r);
}

Test(unsafe_names, every_command_escapes_names)
{
	size_t sz;
	char *data = make_unsafe(&sz);

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		check_row(&fixed[i], data, sz);
	free(data);
}

Test(unsafe_names, every_export_format_escapes_names)
{
	size_t sz;
	char *data = make_unsafe(&sz);

	for (size_t i = 0; export_formats[i]; i++) {
		struct row row = { cmd_export, "export", export_formats[i]->name, NULL };

		if (export_formats[i]->directory) /* no text: nothing to escape */
			continue;
		check_row(&row, data, sz);
		if (!strcmp(row.a, "folded") || !strcmp(row.a, "speedscope"))
			for (const char *const *kind =
				     (const char *const[]){ "--kind=offcpu", "--kind=wall", NULL };
			     *kind; kind++) {
				row.b = *kind;
				check_row(&row, data, sz);
			}
	}
	free(data);
}
