// SPDX-License-Identifier: BSD-2-Clause
/*
 * `symbolize`: places get the names that addr2line has for them, wherever the file is that has them, and from no
 * other file. All that the trace held it still holds, in order; and what has its names gets no more.
 */
#include "run_cmd.h"

#include "../support/chance.h"
#include "../support/random_events.h"
#include "../symbol/support.h"
#include "base/buf.h"
#include "base/str.h"
#include "trace/reader.h"
#include "trace/value.h"

TestSuite(symbolize, .timeout = 100);

#define PLACES_MAX 256

/* ---- support ----------------------------------------------------------------------------------- */

/* A program with debug information, and some places in its code. */
struct program {
	char path[PATH_MAX]; /* where the trace says that it was */
	uint8_t id[SYMBOLIZER_BUILD_ID_MAX];
	size_t id_sz;
	char hex[2 * SYMBOLIZER_BUILD_ID_MAX + 1];
	struct section text;
	uint64_t offs[PLACES_MAX];
	size_t cnt;
};

/* In functions: of what lies between them addr2line says the one before. */
static void add_places(struct program *p, const char *whole)
{
	unsigned long long addr, size;
	char cmd[PATH_MAX + 32], line[512], type;
	FILE *f;

	snprintf(cmd, sizeof(cmd), "nm -S --defined-only %s", whole);
	f = popen(cmd, "r");
	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %llx %c", &addr, &size, &type) != 3 ||
		    (type != 't' && type != 'T') || addr < p->text.addr ||
		    addr + size > p->text.addr + p->text.size)
			continue;
		for (uint64_t at = addr; at < addr + size && p->cnt < PLACES_MAX; at += 7)
			p->offs[p->cnt++] = at - p->text.addr + p->text.off;
	}
	pclose(f);
}

/* In a directory of its own, as "app", which may be taken away. */
static void program_init(struct program *p, const char *name)
{
	const char *whole = stimulus(name);
	struct buf hex = { 0 };
	int fd = open(whole, O_RDONLY);

	shell("mkdir -p %s/bin && cp %s %s/bin/app", scratch(), whole, scratch());
	snprintf(p->path, sizeof(p->path), "%s/bin/app", scratch());
	cr_assert_eq(symbolizer_build_id(fd, p->id, &p->id_sz), 0);
	close(fd);
	str_hex(&hex, p->id, p->id_sz);
	snprintf(p->hex, sizeof(p->hex), "%s", buf_cstr(&hex));
	buf_free(&hex);
	p->text = section_of(whole, ".text");
	p->cnt = 0;
	add_places(p, whole);
}

static void put_program(struct make *m, uint32_t id, const struct program *p, size_t id_sz)
{
	dial9_enc_begin(m->enc, m->module, RUN_SEC);
	dial9_enc_put_u64(m->enc, id);
	make_str(m, p->path);
	dial9_enc_put_bytes(m->enc, p->id, id_sz);
	dial9_enc_put_u64(m->enc, PROF_MODULE_ELF);
	make_end(m);
}

static void put_mapping(struct make *m, uint32_t id, uint64_t off, uint64_t size)
{
	MAKE_NUMBERS(m, RUN_SEC, "ProcMapsEntry", { "pid", 10 }, { "start", 0x550000000000 },
		     { "end", 0x550000000000 + size }, { "offset", off }, { "module_id", id });
}

static void put_places(struct make *m, uint32_t id, const struct program *p)
{
	for (size_t i = 0; i < p->cnt; i++) {
		const uint64_t frame = make_frame(id, p->offs[i]);

		make_sample(m, (2 + i) * RUN_SEC, 10, 10, PROF_SOURCE_SAMPLE, 0, &frame, 1);
	}
}

/* The trace of one sample at each place. */
static void program_trace(struct make *m, const struct program *p)
{
	make_init(m, NULL);
	put_program(m, 1, p, p->id_sz);
	put_places(m, 1, p);
}

struct bytes {
	char *data;
	size_t sz;
};

static struct bytes bytes_of(struct make *m)
{
	struct bytes b;
	const void *data = dial9_enc_data(m->enc, &b.sz);

	b.data = malloc(b.sz + 1);
	memcpy(b.data, data, b.sz);
	return b;
}

/* What symbolize makes of them, with up to two more words; what it says in *said, if that is not NULL. */
static struct bytes symbolize(const struct bytes *in, const char *a, const char *b, char **said)
{
	char out[] = "/tmp/d9-symbolize-XXXXXX", word[40];
	struct bytes f;
	struct stat st;
	struct run r;
	int fd;

	close(mkstemp(out));
	unlink(out);
	snprintf(word, sizeof(word), "-o%s", out);
	r = run_cmd(cmd_symbolize, make_fd(in->data, in->sz), "symbolize", "-", word, a,
		    a ? b : NULL, NULL);
	cr_assert_eq(r.code, CMD_OK, "exit code %d: %s", r.code, r.err);
	fd = open(out, O_RDONLY);
	cr_assert_geq(fd, 0, "%s", r.err);
	cr_assert_eq(fstat(fd, &st), 0);
	f.sz = (size_t)st.st_size;
	f.data = malloc(f.sz + 1);
	cr_assert_eq(pread(fd, f.data, f.sz, 0), st.st_size);
	close(fd);
	unlink(out);
	if (said)
		*said = r.err;
	else
		free(r.err);
	free(r.out);
	return f;
}

static bool same(const struct bytes *a, const struct bytes *b)
{
	return a->sz == b->sz && !memcmp(a->data, b->data, a->sz);
}

static void expect_good(const struct bytes *b)
{
	struct run r = run_cmd(cmd_info, make_fd(b->data, b->sz), "info", "--verify", "-", NULL);

	cr_assert_eq(r.code, CMD_OK, "%s%s", r.out, r.err);
	run_free(&r);
}

static void add_frame(struct buf *out, const struct names *n, uint64_t frame, bool lines)
{
	const struct names_symbol *sym = names_symbol(n, frame);
	bool any = false;

	buf_addx(out, frame & PROF_FRAME_OFFSET_MASK);
	for (uint32_t i = sym ? sym->cnt : 0; i-- > 0;) {
		if (sym->frames[i].name == NAMES_NONE || sym->frames[i].label)
			continue;
		any = true;
		buf_printf(out, " %s", names_str(n, sym->frames[i].name, NULL));
		if (lines && sym->frames[i].file != NAMES_NONE && sym->frames[i].line)
			buf_printf(out, " %s:%u", names_str(n, sym->frames[i].file, NULL),
				   sym->frames[i].line);
	}
	buf_addstr(out, any ? "\n" : " ??\n");
}

/* Each frame of each sample, with its functions, innermost first. */
static char *frames_of(const struct bytes *b, bool lines)
{
	struct buf out = { 0 };
	struct trace_event ev;
	struct source *src;
	struct reader *r;

	cr_assert_eq(source_open_fd(make_fd(b->data, b->sz), "the trace", &src), 0);
	cr_assert_eq(reader_new(src, READER_NAMES_AHEAD, &r), 0);
	while (reader_next(r, &ev) == 1)
		for (uint32_t i = 0; ev.kind == TRACE_SAMPLE && i < ev.frame_cnt; i++)
			add_frame(&out, reader_names(r), ev.frames[i], lines);
	reader_free(r);
	return buf_steal(&out);
}

/* The same by addr2line, of a file that has everything. */
static char *addr2line(const struct program *p, const char *file, bool lines)
{
	char line[PATH_MAX + 64], *name;
	struct buf cmd = { 0 }, out = { 0 };
	bool function = false;
	FILE *f;

	buf_printf(&cmd, "addr2line -a -f -i -e %s", file);
	for (size_t i = 0; i < p->cnt; i++)
		buf_printf(&cmd, " 0x%llx",
			   (unsigned long long)(p->offs[i] - p->text.off + p->text.addr));
	f = popen(buf_cstr(&cmd), "r");
	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "0x", 2)) {
			if (out.len)
				buf_addch(&out, '\n');
			buf_addx(&out, strtoull(line, NULL, 16) - p->text.addr + p->text.off);
			function = true;
			continue;
		}
		name = strstr(line, " (discriminator");
		if (name)
			*name = '\0';
		if (function || (lines && !strstr(line, "?")))
			buf_printf(&out, " %s", line);
		function = !function;
	}
	buf_addch(&out, '\n');
	cr_assert_eq(pclose(f), 0);
	buf_free(&cmd);
	return buf_steal(&out);
}

/* ---- names ------------------------------------------------------------------------------------- */

Test(symbolize, every_place_has_the_functions_and_lines_that_addr2line_says)
{
	static const char *const programs[] = { "c-gcc", "c-clang4", "c-nopie" };
	static struct program p;

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		char *got, *want;
		struct bytes in, out;
		struct make m;

		program_init(&p, programs[i]);
		cr_assert_gt(p.cnt, 40);
		program_trace(&m, &p);
		in = bytes_of(&m);
		out = symbolize(&in, NULL, NULL, NULL);
		expect_good(&out);
		got = frames_of(&out, true);
		want = addr2line(&p, stimulus(programs[i]), true);
		cr_expect_str_eq(got, want, "%s", programs[i]);
		free(got);
		free(want);
		free(in.data);
		free(out.data);
		make_fini(&m);
	}
}

/* Where a file may be that is not where the trace says. */
struct elsewhere {
	const char *make; /* a shell command: $W the whole file, $H its build-id, $A its path */
	bool symfs, cache; /* that directory is one of these */
};

static struct bytes symbolize_elsewhere(const struct program *p, const struct bytes *in,
					const struct elsewhere *e)
{
	char option[64], cache[128];
	struct bytes out;

	shell("rm -rf %s/d && mkdir %s/d && cd %s/d && W=%s H=%s A=%s && %s", scratch(), scratch(),
	      scratch(), stimulus("c-gcc"), p->hex, p->path, e->make);
	snprintf(option, sizeof(option), "--symfs=%s/d", scratch());
	snprintf(cache, sizeof(cache), "%s/d", scratch());
	setenv("DEBUGINFOD_CACHE_PATH", e->cache ? cache : "/nowhere", 1);
	out = symbolize(in, e->symfs ? option : "-q", NULL, NULL);
	unsetenv("DEBUGINFOD_CACHE_PATH");
	return out;
}

#define BY_ID                                                                                      \
	"mkdir -p $P.build-id/${H%${H#??}} && "                                                    \
	"objcopy --only-keep-debug $W $P.build-id/${H%${H#??}}/${H#??}.debug"

Test(symbolize, a_file_that_moved_is_found_below_symfs_and_in_the_cache_of_debuginfod)
{
	static struct program p;
	const struct elsewhere places[] = {
		{ "mkdir -p .$(dirname $A) && cp $W .$A", true, false },
		{ "cp $W app", true, false },
		{ "objcopy -S $W $A; P= ; " BY_ID, true, false },
		{ "objcopy -S $W $A; P=usr/lib/debug/ ; " BY_ID, true, false },
		{ "P= ; " BY_ID, true, false },
		{ "mkdir $H && cp $W $H/executable", false, true },
		{ "mkdir $H && objcopy --only-keep-debug $W $H/debuginfo", false, true },
		{ "objcopy -S $W $A; mkdir $H && objcopy --only-keep-debug $W $H/debuginfo", false,
		  true },
		/* what is below symfs has no symbols, what is here has */
		{ "cp $W $A; objcopy -S $W app", true, false },
	};
	struct bytes in, want;
	struct make m;

	program_init(&p, "c-gcc");
	make_init(&m, NULL);
	put_mapping(&m, 1, p.text.off & ~0xfffull, 0x1000);
	put_program(&m, 1, &p, p.id_sz);
	put_places(&m, 1, &p);
	in = bytes_of(&m);
	want = symbolize(&in, NULL, NULL, NULL);
	cr_assert_gt(want.sz, in.sz);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct bytes got;

		shell("rm -f %s", p.path);
		got = symbolize_elsewhere(&p, &in, &places[i]);
		cr_expect(same(&got, &want), "%s: %zu bytes of %zu", places[i].make, got.sz,
			  want.sz);
		free(got.data);
	}
	free(in.data);
	free(want.data);
	make_fini(&m);
}

static bool has_name(const struct bytes *b)
{
	char *frames = frames_of(b, false), *at = frames;
	bool any = false;

	for (; (at = strchr(at, ' ')); at++)
		any |= at[1] != '?';
	free(frames);
	return any;
}

/* The trace is as it was, and the summary says why. */
static void expect_nothing_new(struct make *m, const char *why)
{
	struct bytes in = bytes_of(m), out;
	char *said;

	out = symbolize(&in, NULL, NULL, &said);
	cr_expect(same(&in, &out), "%s", why);
	run_expect_in(said, why);
	free(said);
	free(in.data);
	free(out.data);
	make_fini(m);
}

Test(symbolize, a_file_of_another_build_is_never_used)
{
	static struct program p;
	struct make m;

	program_init(&p, "c-gcc");
	program_trace(&m, &p);
	shell("cp %s %s", stimulus("c-clang"), p.path);
	expect_nothing_new(&m, "the file here is of another build (--symfs DIR)");
	program_trace(&m, &p);
	shell("rm %s", p.path);
	expect_nothing_new(&m, "no file here has its build-id (--symfs DIR)");
	program_init(&p, "c-gcc");
	make_init(&m, NULL);
	put_program(&m, 1, &p, 0);
	put_places(&m, 1, &p);
	expect_nothing_new(&m, "in files without a build-id");
}

/* Its own headers do not say where code was, so the mapping must, and must be the right one. */
Test(symbolize, a_debug_file_alone_names_nothing_without_a_mapping_that_fits)
{
	static struct program p;
	const struct {
		uint64_t off[2], size;
		bool named;
	} maps[] = {
		{ { 0x1000 }, 0x1000, true },	       { { 0x1000 }, 0x2000, false },
		{ { 0x1000, 0x2000 }, 0x1000, false }, { { 0 }, 0, false },
		{ { 0x1234 }, 0x1000, false },
	};

	program_init(&p, "c-gcc");
	cr_assert_eq(p.text.off & ~0xfffull, 0x1000);
	shell("objcopy --only-keep-debug %s %s", stimulus("c-gcc"), p.path);
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		struct bytes in, out;
		struct make m;

		make_init(&m, NULL);
		/* told before its module, and behind it */
		if (maps[i].size)
			put_mapping(&m, 1, maps[i].off[0], maps[i].size);
		put_program(&m, 1, &p, p.id_sz);
		if (maps[i].off[1])
			put_mapping(&m, 1, maps[i].off[1], maps[i].size);
		put_places(&m, 1, &p);
		in = bytes_of(&m);
		out = symbolize(&in, NULL, NULL, NULL);
		cr_expect_eq(has_name(&out), maps[i].named, "mapping %zu", i);
		free(in.data);
		free(out.data);
		make_fini(&m);
	}
}

Test(symbolize, names_that_are_there_stay_and_labels_give_way)
{
	static struct program p;
	char *frames, *with_lines;
	struct bytes in, out;
	uint64_t named, label;
	struct make m;

	program_init(&p, "c-gcc");
	/* some way into a function with debug information */
	p.offs[0] = p.offs[20];
	p.offs[1] = p.offs[21];
	p.cnt = 2;
	named = make_frame(1, p.offs[0]);
	label = make_frame(1, p.offs[1]);
	program_trace(&m, &p);
	make_symbol(&m, 9 * RUN_SEC, named, 0, named, "mine", "", 0);
	make_label(&m, 9 * RUN_SEC, label, "[app]");
	make_status(&m, 9 * RUN_SEC, 1, PROF_STATUS_GONE, "");
	in = bytes_of(&m);
	out = symbolize(&in, NULL, NULL, NULL);
	frames = frames_of(&out, false);
	cr_expect_not_null(strstr(frames, " mine\n"), "%s", frames);
	cr_expect_null(strstr(frames, "??"), "%s", frames);
	free(frames);
	free(out.data);
	/* and with lines the name gets one */
	out = symbolize(&in, "--lines", NULL, NULL);
	with_lines = frames_of(&out, true);
	cr_expect_not_null(strstr(with_lines, " mine "), "%s", with_lines);
	cr_expect_not_null(strstr(with_lines, "inlined.c:"), "%s", with_lines);
	free(with_lines);
	free(in.data);
	free(out.data);
	make_fini(&m);
}

/* ---- segments ---------------------------------------------------------------------------------- */

/* A segment of a recording of this host in which module 1 is that program. */
static void put_segment(struct make *m, const struct program *p, const char *host)
{
	const char *const kv[] = { "host", host, "start_realtime_ns", host, NULL };

	make_metadata(m, RUN_SEC, kv);
	put_program(m, 1, p, p->id_sz);
	put_places(m, 1, p);
}

Test(symbolize, one_number_may_be_another_module_in_each_segment)
{
	static struct program a, b;
	struct bytes in, out, again;
	char *got, *want_a, *want_b;
	struct buf want = { 0 };
	struct make m;
	struct run r;

	program_init(&b, "c-clang4");
	shell("mv %s %s/bin/other", b.path, scratch());
	snprintf(b.path, sizeof(b.path), "%s/bin/other", scratch());
	program_init(&a, "c-gcc");
	make_init(&m, NULL);
	put_segment(&m, &a, "first");
	cr_assert_eq(dial9_enc_reset(m.enc), 0);
	put_segment(&m, &a, "first");
	cr_assert_eq(dial9_enc_reset(m.enc), 0);
	put_segment(&m, &b, "second");
	in = bytes_of(&m);
	out = symbolize(&in, NULL, NULL, NULL);
	expect_good(&out);
	got = frames_of(&out, false);
	want_a = addr2line(&a, stimulus("c-gcc"), false);
	want_b = addr2line(&b, stimulus("c-clang4"), false);
	buf_printf(&want, "%s%s%s", want_a, want_a, want_b);
	cr_expect_str_eq(got, buf_cstr(&want));
	/* what was two recordings still is */
	r = run_cmd(cmd_info, make_fd(out.data, out.sz), "info", "-", NULL);
	run_expect_in(r.out, "6 segments");
	run_expect_in(r.out, " 2 recordings in one file");
	run_free(&r);
	again = symbolize(&out, NULL, NULL, NULL);
	cr_expect(same(&out, &again));
	buf_free(&want);
	free(got);
	free(want_a);
	free(want_b);
	free(in.data);
	free(out.data);
	free(again.data);
	make_fini(&m);
}

/* ---- all else ---------------------------------------------------------------------------------- */

static void text_hex(struct buf *out, struct dial9_str s, bool nested)
{
	str_hex(out, s.ptr, s.len);
}

static void pool_id(struct buf *out, const struct dial9_value *v, bool defined)
{
	if (!defined)
		buf_addstr(out, "undefined");
}

static const struct value_style style = {
	VALUE_STYLE_PLAIN,	.absent = "none", .sep = " ",	    .colon = ":",
	.f64 = value_print_f64, .text = text_hex, .bytes = str_hex, .pooled = pool_id,
};

/* Events as lines, pools resolved. */
static char *events(const struct bytes *b)
{
	struct dial9_dec_opts opts = { .sz = sizeof(opts), .data = b->data, .data_sz = b->sz };
	struct buf out = { 0 };
	struct dial9_dec *dec;
	struct dial9_frame f;
	int ret;

	cr_assert_eq(dial9_dec_new(&opts, &dec), 0);
	while ((ret = dial9_dec_next(dec, &f)) == 1) {
		if (f.kind != DIAL9_FRAME_EVENT)
			continue;
		buf_printf(&out, "%s %d %llu:", dial9_schema_name(f.event.schema), f.event.has_ts,
			   (unsigned long long)f.event.ts);
		for (size_t i = 0; i < f.event.value_cnt; i++) {
			buf_addch(&out, ' ');
			value_print(&out, &style, dec, &f.event.values[i]);
		}
		buf_addch(&out, '\n');
	}
	cr_assert_eq(ret, 0, "not a clean end: %d", ret);
	dial9_dec_free(dec);
	return buf_steal(&out);
}

static bool only_names(const char *line)
{
	static const char *const names[] = { "SymbolTableEntry ", "ModuleEvent ", "ModuleStatus ",
					     "SegmentMetadataEvent " };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_starts(line, names[i]))
			return true;
	return false;
}

/* Each event of @in is one of @out, in that order, and what else is there gives names. */
static void expect_all_of(const struct bytes *in, const struct bytes *out, uint64_t seed)
{
	char *was = events(in), *is = events(out), *a = was, *b = is;

	for (size_t len; *b; b += len) {
		len = strcspn(b, "\n") + 1;
		if (!strncmp(a, b, len))
			a += len;
		else
			cr_assert(only_names(b), "seed %llu: %.200s", (unsigned long long)seed, b);
	}
	cr_assert_eq(*a, 0, "seed %llu: lost %.200s", (unsigned long long)seed, a);
	free(was);
	free(is);
}

/* Anything that an encoder can be made to write, and between that a program's places and names. */
static void put_chances(struct make *m, struct chance *c, const struct program *p)
{
	const char *const kv[] = { "host", "here", "start_realtime_ns", "1", NULL };

	for (size_t i = 0; i < 60; i++) {
		uint32_t id = 1 + chance_below(c, 3);
		uint64_t frame = make_frame(id, p->offs[chance_below(c, (uint32_t)p->cnt)]);
		uint64_t ts = chance_below(c, 1000) * RUN_SEC;
		const uint64_t stack[] = { frame, frame + chance_below(c, 20), chance_number(c) };

		switch (chance_below(c, 10)) {
		case 0:
			put_program(m, id, p, chance_below(c, 4) ? p->id_sz : 0);
			break;
		case 1:
			make_symbol(m, ts, frame, chance_below(c, 2), frame, "known", "k.c", 3);
			break;
		case 2:
			make_label(m, ts, frame, "[app]");
			break;
		case 3:
			make_metadata(m, ts, kv + 2 * chance_below(c, 2));
			break;
		case 4:
			put_mapping(m, id, 0x1000, 0x1000);
			break;
		case 5:
			if (!chance_below(c, 4))
				cr_assert_eq(dial9_enc_reset(m->enc), 0);
			break;
		default:
			make_sample(m, ts, 10, 10, PROF_SOURCE_SAMPLE, 0, stack,
				    chance_below(c, 4));
		}
	}
}

Test(symbolize, every_event_is_there_once_and_in_order_and_once_is_as_good_as_twice)
{
	struct dial9_enc_opts opts = { .sz = sizeof(opts), .level = DIAL9_LEVEL_4 };
	static struct program p;
	size_t more = 0;

	program_init(&p, "c-gcc");
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct chance c = { seed };
		struct bytes in, out, again;
		struct random_events r;
		struct make m;

		make_init(&m, &opts);
		put_chances(&m, &c, &p);
		if (seed % 2) {
			random_run(&r, seed, 40, m.enc);
			put_chances(&m, &c, &p);
			random_fini(&r);
		}
		in = bytes_of(&m);
		out = symbolize(&in, seed % 3 ? "-q" : "--lines", NULL, NULL);
		expect_good(&out);
		expect_all_of(&in, &out, seed);
		again = symbolize(&out, seed % 3 ? "-q" : "--lines", NULL, NULL);
		cr_assert(same(&out, &again), "seed %llu", (unsigned long long)seed);
		more += out.sz > in.sz;
		free(in.data);
		free(out.data);
		free(again.data);
		make_fini(&m);
	}
	cr_assert_gt(more, 30);
}

/* Where this kernel has a function, or 0. */
static uint64_t kernel_function(const char *name)
{
	unsigned long long addr = 0, at;
	char line[512], other[256];
	FILE *f = fopen("/proc/kallsyms", "r");

	while (f && !addr && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %*c %255s", &at, other) == 2 && !strcmp(other, name))
			addr = at;
	if (f)
		fclose(f);
	return addr;
}

Test(symbolize, the_kernels_places_have_names_while_it_runs)
{
	uint64_t addr = kernel_function("do_exit");
	char boot[64] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");

	cr_assert_not_null(f);
	cr_assert_eq(fscanf(f, "%63s", boot), 1);
	fclose(f);
	if (!addr)
		cr_skip("this user may not see where the kernel is");
	for (int same_boot = 0; same_boot < 2; same_boot++) {
		const char *const kv[] = { "boot_id", same_boot ? boot : "another", NULL };
		uint64_t frame = PROF_FRAME_KERNEL | ((addr + 8) & PROF_FRAME_OFFSET_MASK);
		struct bytes in, out;
		struct make m;
		char *frames;

		make_init(&m, NULL);
		make_metadata(&m, RUN_SEC, kv);
		make_sample(&m, RUN_SEC, 10, 10, PROF_SOURCE_SAMPLE, 0, &frame, 1);
		in = bytes_of(&m);
		out = symbolize(&in, NULL, NULL, NULL);
		frames = frames_of(&out, false);
		cr_expect_not_null(strstr(frames, same_boot ? " do_exit\n" : " ??\n"), "%s",
				   frames);
		free(frames);
		free(in.data);
		free(out.data);
		make_fini(&m);
	}
}

/* ---- files ------------------------------------------------------------------------------------- */

static void expect_file(const char *path, const struct bytes *want)
{
	struct bytes got;
	struct stat st;
	int fd = open(path, O_RDONLY);

	cr_assert_geq(fd, 0, "%s: %s", path, strerror(errno));
	cr_assert_eq(fstat(fd, &st), 0);
	got = (struct bytes){ malloc((size_t)st.st_size + 1), (size_t)st.st_size };
	cr_assert_eq(pread(fd, got.data, got.sz, 0), st.st_size);
	cr_expect(same(&got, want), "%s: %zu bytes, not %zu", path, got.sz, want->sz);
	free(got.data);
	close(fd);
}

Test(symbolize, without_an_output_the_trace_itself_gets_the_names_and_is_kept_as_old)
{
	static struct program p;
	char path[64], old[72];
	struct bytes in, out;
	struct stat before, behind;
	struct make m;
	struct run r;
	int fd;

	program_init(&p, "c-gcc");
	program_trace(&m, &p);
	in = bytes_of(&m);
	out = symbolize(&in, NULL, NULL, NULL);
	snprintf(path, sizeof(path), "%s/t.bin", scratch());
	snprintf(old, sizeof(old), "%s.old", path);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	cr_assert_eq(write(fd, in.data, in.sz), (ssize_t)in.sz);
	close(fd);
	r = run_cmd(cmd_symbolize, make_fd("", 0), "symbolize", path, NULL);
	cr_expect_eq(r.code, CMD_OK);
	run_free(&r);
	expect_file(path, &out);
	expect_file(old, &in);
	/* with nothing to add it is not touched */
	cr_assert_eq(stat(path, &before), 0);
	r = run_cmd(cmd_symbolize, make_fd("", 0), "symbolize", path, NULL);
	cr_expect_eq(r.code, CMD_OK);
	run_expect_in(r.err, "every place has a name: nothing is written");
	run_free(&r);
	cr_assert_eq(stat(path, &behind), 0);
	cr_expect_eq(before.st_ino, behind.st_ino);
	expect_file(old, &in);
	free(in.data);
	free(out.data);
	make_fini(&m);
}
