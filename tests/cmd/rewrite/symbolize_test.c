// SPDX-License-Identifier: BSD-2-Clause
/*
 * `symbolize`: addresses get the names that addr2line prints, from the right file in any directory, and from no
 * other file.
 */
#include "tests/cmd/symbolize_run.h"

#include "symbol/elf/debuginfod.h"
#include "tests/support/debug_server.h"

#include <sched.h>

TestSuite(symbolize, .timeout = 100);

/* ---- names ------------------------------------------------------------------------------------- */

Test(symbolize, every_address_has_the_functions_and_lines_of_addr2line)
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

/* Where a file may be if it is not where the trace says. */
struct elsewhere {
	const char *make; /* a shell command: $W the whole file, $H its build-id, $A its path */
	bool symfs, cache; /* that directory is this option's argument */
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

Test(symbolize, moved_file_is_found_below_symfs_and_in_the_debuginfod_cache)
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
		{ "objcopy --only-keep-debug $W app.debug", true, false },
		{ "objcopy -S $W $A; mkdir -p .$(dirname $A) && objcopy --only-keep-debug $W .$A.debug",
		  true, false },
		/* the file below symfs has no symbols, the file here has */
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

/* The trace is unchanged, and the summary has the reason. */
static void expect_nothing_new(struct make *m, const char *why)
{
	struct bytes in = bytes_of(m), out;
	char *output;

	out = symbolize(&in, NULL, NULL, &output);
	cr_expect(same(&in, &out), "%s", why);
	run_expect_in(output, why);
	free(output);
	free(in.data);
	free(out.data);
	make_fini(m);
}

/* ---- the kernel -------------------------------------------------------------------------------- */

/* A program as a kernel: its offsets count from _stext. */
static void kernel_init(struct program *p)
{
	program_init(p, "c-gcc");
	shell("objcopy --add-symbol _stext=.text:0,global --add-symbol _etext=.text:%#llx,global "
	      "%s %s/vmlinux",
	      (unsigned long long)p->text.size, stimulus("c-gcc"), scratch());
	for (size_t i = 0; i < p->cnt; i++)
		p->offs[i] -= p->text.off;
	p->text.off = 0;
}

/* One sample at each address of a kernel of that release. */
static void kernel_trace(struct make *m, const struct program *p, size_t id_sz)
{
	const char *const kv[] = { "kernel", "6.1.0-9-amd64", NULL };

	make_init(m, NULL);
	make_metadata(m, RUN_SEC, kv);
	dial9_enc_begin(m->enc, m->module, RUN_SEC);
	dial9_enc_put_u64(m->enc, 7);
	make_str(m, "[kernel.kallsyms]");
	dial9_enc_put_bytes(m->enc, p->id, id_sz);
	dial9_enc_put_u64(m->enc, PROF_MODULE_KERNEL);
	make_end(m);
	for (size_t i = 0; i < p->cnt; i++) {
		const uint64_t frame = PROF_FRAME_KERNEL | make_frame(7, p->offs[i]);

		make_sample(m, (2 + i) * RUN_SEC, 10, 10, PROF_SOURCE_SAMPLE, 0, &frame, 1);
	}
}

Test(symbolize, kernel_has_the_symbols_and_lines_of_its_vmlinux_at_any_address)
{
	static const char *const places[] = {
		"usr/lib/debug/boot/vmlinux-6.1.0-9-amd64",
		"usr/lib/debug/lib/modules/6.1.0-9-amd64/vmlinux",
		"boot/vmlinux-6.1.0-9-amd64",
		NULL,
	};
	char option[PATH_MAX], *got, *want;
	static struct program p;
	struct bytes in, out;
	struct make m;

	kernel_init(&p);
	kernel_trace(&m, &p, p.id_sz);
	in = bytes_of(&m);
	want = addr2line(&p, stimulus("c-gcc"), true);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(option, sizeof(option), "--vmlinux=%s/vmlinux", scratch());
		if (places[i]) {
			shell("rm -rf %s/d && mkdir -p $(dirname %s/d/%s) && cp %s/vmlinux %s/d/%s",
			      scratch(), scratch(), places[i], scratch(), scratch(), places[i]);
			snprintf(option, sizeof(option), "--symfs=%s/d", scratch());
		}
		out = symbolize(&in, option, NULL, NULL);
		expect_good(&out);
		got = frames_of(&out, true);
		cr_expect_str_eq(got, want, "%s", option);
		free(got);
		free(out.data);
	}
	free(want);
	free(in.data);
	make_fini(&m);
}

/* Of another build, and without a build-id in the trace. */
Test(symbolize, file_that_is_not_the_kernel_names_nothing)
{
	static const char *const files[] = {
		"objcopy --update-section .note.gnu.build-id=id",
		"",
	};
	static const char *const why[] = { "the file found is another build", "without build ID" };
	char option[PATH_MAX], *output;
	static struct program p;
	struct bytes in, out;
	struct make m;

	kernel_init(&p);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		kernel_trace(&m, &p, i == 1 ? 0 : p.id_sz);
		in = bytes_of(&m);
		shell("cd %s && objcopy -O binary --only-section=.note.gnu.build-id vmlinux id && "
		      "printf x | dd of=id bs=1 seek=20 conv=notrunc 2>/dev/null; "
		      "%s %s vmlinux other",
		      scratch(), files[i], *files[i] ? "" : "cp");
		snprintf(option, sizeof(option), "--vmlinux=%s/other", scratch());
		out = symbolize(&in, option, NULL, &output);
		cr_expect(same(&in, &out), "%s", files[i]);
		run_expect_in(output, why[i]);
		free(output);
		free(in.data);
		free(out.data);
		make_fini(&m);
	}
}

/* ---- what is not the file ---------------------------------------------------------------------- */

Test(symbolize, file_of_another_build_is_never_used)
{
	static struct program p;
	struct make m;

	program_init(&p, "c-gcc");
	program_trace(&m, &p);
	shell("cp %s %s", stimulus("c-clang"), p.path);
	expect_nothing_new(&m, "the file found is another build; use --symfs DIR or --debuginfod");
	program_trace(&m, &p);
	shell("rm %s", p.path);
	expect_nothing_new(&m, "no file with its build ID found; use --symfs DIR or --debuginfod");
	program_init(&p, "c-gcc");
	make_init(&m, NULL);
	put_program(&m, 1, &p, 0);
	put_places(&m, 1, &p);
	expect_nothing_new(&m, "in files without a build ID");
}

/* Its own headers do not say where code was, so the mapping must, and must be the right one. */
/* Once, and also if the trace has no figures of a recorder, as one from perf.data. */
Test(symbolize, file_without_the_symbols_gets_its_reason)
{
	static struct program p;
	struct bytes in, out, again;
	struct make m;
	struct run r;

	program_init(&p, "c-gcc");
	program_trace(&m, &p);
	in = bytes_of(&m);
	make_fini(&m);
	shell("strip %s", p.path);
	out = symbolize(&in, NULL, NULL, NULL);
	expect_good(&out);
	r = run_cmd(cmd_info, make_fd(out.data, out.sz), "info", "--modules", "-", NULL);
	run_expect_in(r.out,
		      "/bin/app: no symbols at these addresses; debug symbols may have them\n");
	run_free(&r);
	again = symbolize(&out, NULL, NULL, NULL);
	cr_expect(same(&again, &out));
	free(again.data);
	free(out.data);
	free(in.data);
}

Test(symbolize, debug_file_alone_needs_a_mapping_that_fits)
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
		/* reported before its module, and after it */
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

Test(symbolize, existing_symbols_stay_and_labels_are_replaced)
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
	/* and with lines the symbol gets one */
	out = symbolize(&in, "--lines", NULL, NULL);
	with_lines = frames_of(&out, true);
	cr_expect_not_null(strstr(with_lines, " mine "), "%s", with_lines);
	cr_expect_not_null(strstr(with_lines, "inlined.c:"), "%s", with_lines);
	free(with_lines);
	free(in.data);
	free(out.data);
	make_fini(&m);
}

/* Each address has a symbol and a line, and the module status says so. */
static struct bytes named_trace(const struct program *p, const char *detail)
{
	struct bytes in;
	struct make m;

	program_trace(&m, p);
	for (size_t i = 0; i < p->cnt; i++) {
		uint64_t frame = make_frame(1, p->offs[i]);

		make_symbol(&m, 9 * RUN_SEC, frame, 0, frame, "mine", "mine.c", 7);
	}
	make_status(&m, 9 * RUN_SEC, 1, PROF_STATUS_NAMED, detail);
	in = bytes_of(&m);
	make_fini(&m);
	return in;
}

Test(symbolize, inlined_functions_of_missing_files_can_be_added_later)
{
	static struct program p;
	struct bytes in, out, again;
	char *frames, *output;

	program_init(&p, "c-gcc");
	in = named_trace(&p, "");
	out = symbolize(&in, "--lines", NULL, &output);
	cr_expect(same(&in, &out), "nothing is known to be missing");
	cr_expect_null(strstr(output, "inlined"), "%s", output);
	free(in.data);
	free(out.data);
	free(output);

	in = named_trace(&p, "parts of it are missing");
	out = symbolize(&in, NULL, NULL, NULL);
	cr_expect(same(&in, &out), "nobody asked for it");
	free(out.data);
	out = symbolize(&in, "--lines", NULL, &output);
	frames = frames_of(&out, true);
	cr_expect_not_null(strstr(output, "addresses in"), "%s", output);
	cr_expect_not_null(strstr(output, "inlined functions added"), "%s", output);
	cr_expect_null(strstr(output, "nothing was written"), "%s", output);
	cr_expect_null(strstr(output, "has no symbols there"), "%s", output);
	cr_expect_not_null(strstr(frames, "rotate"), "%s", frames);
	cr_expect_not_null(strstr(frames, " mine "), "%s", frames);
	again = symbolize(&out, "--lines", NULL, NULL);
	cr_expect(same(&again, &out), "nothing is missing any longer");
	free(frames);
	free(output);
	free(in.data);
	free(out.data);
	free(again.data);
}

/* A program whose .dwo files are missing: the trace says so, and so does the command. */
Test(symbolize, inlined_functions_that_cannot_be_found_are_reported)
{
	static const char lacks[] = ".dwo files are missing";
	static struct program p;
	struct bytes in, out, again;
	char path[64], *output;
	struct make m;
	struct run r;
	int fd;

	program_init(&p, "split-c-5/split");
	program_trace(&m, &p);
	in = bytes_of(&m);
	out = symbolize(&in, "--lines", NULL, &output);
	cr_expect_not_null(strstr(output, "without inlined functions"), "%s", output);
	cr_expect_not_null(strstr(output, lacks), "%s", output);
	cr_expect_not_null(memmem(out.data, out.sz, lacks, strlen(lacks)));
	free(output);
	again = symbolize(&out, "--lines", NULL, &output);
	cr_expect(same(&again, &out));
	cr_expect_not_null(strstr(output, lacks), "%s", output);
	free(output);
	snprintf(path, sizeof(path), "%s/lacks.bin", scratch());
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	cr_assert_eq(write(fd, out.data, out.sz), (ssize_t)out.sz);
	close(fd);
	r = run_cmd(cmd_symbolize, make_fd("", 0), "symbolize", path, "--lines", NULL);
	cr_expect_eq(r.code, CMD_OK);
	run_expect_in(r.err, "nothing was written");
	run_free(&r);
	shell("cd %s && test ! -e lacks.bin.old", scratch());
	free(in.data);
	free(out.data);
	free(again.data);
	make_fini(&m);
}

/* ---- servers ----------------------------------------------------------------------------------- */

/* The trace of a program that is missing here, and the output of symbolize with such a server. */
static struct bytes run_with_server(const struct bytes *in, enum debug_server_way way,
				    const char *file, const char *output)
{
	char option[96], cache[128], *words;
	struct debug_server server;
	struct bytes out;

	snprintf(cache, sizeof(cache), "%s/cache", scratch());
	shell("rm -rf %s", cache);
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
	debug_server_start(&server, way, file);
	snprintf(option, sizeof(option), "--debuginfod=%s", server.url);
	out = symbolize(in, option, "--debuginfod-timeout=2", &words);
	run_expect_in(words, output);
	cr_expect_gt(*server.asked, 0, "way %d", way);
	free(words);
	debug_server_stop(&server);
	unsetenv("DEBUGINFOD_CACHE_PATH");
	return out;
}

Test(symbolize, debuginfod_servers_are_asked_for_missing_files)
{
	static struct program p;
	char debug[PATH_MAX];
	const struct {
		enum debug_server_way way;
		const char *file, *output;
		bool found;
	} servers[] = {
		{ DEBUG_SERVER_FILE, stimulus("c-gcc"), "1 file downloaded, 0 not found", true },
		{ DEBUG_SERVER_DEBUGINFO, debug, "1 file downloaded, 0 not found", true },
		{ DEBUG_SERVER_NOTHING, debug, "0 files downloaded, 2 not found", false },
		{ DEBUG_SERVER_FILE, stimulus("c-clang"), "another build", false },
		{ DEBUG_SERVER_SILENT, debug, "failed (Connection timed out)", false },
	};
	struct bytes in, want, out;
	struct make m;

	if (!debuginfod_available())
		cr_skip("libdebuginfod is not there");
	program_init(&p, "c-gcc");
	snprintf(debug, sizeof(debug), "%s/debug", scratch());
	shell("objcopy --only-keep-debug %s %s", stimulus("c-gcc"), debug);
	make_init(&m, NULL);
	put_mapping(&m, 1, p.text.off & ~0xfffull, 0x1000);
	put_program(&m, 1, &p, p.id_sz);
	put_places(&m, 1, &p);
	in = bytes_of(&m);
	want = symbolize(&in, NULL, NULL, NULL);
	shell("rm %s", p.path);
	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
		out = run_with_server(&in, servers[i].way, servers[i].file, servers[i].output);
		cr_expect(same(&out, servers[i].found ? &want : &in), "server %zu", i);
		free(out.data);
	}
	free(in.data);
	free(want.data);
	make_fini(&m);
}

Test(symbolize, no_server_is_asked_unless_requested)
{
	static struct program p;
	struct debug_server server;
	struct bytes in, out;
	struct make m;

	program_init(&p, "c-gcc");
	program_trace(&m, &p);
	shell("rm %s", p.path);
	in = bytes_of(&m);
	debug_server_start(&server, DEBUG_SERVER_FILE, stimulus("c-gcc"));
	setenv("DEBUGINFOD_URLS", server.url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", "/nowhere", 1);
	out = symbolize(&in, NULL, NULL, NULL);
	cr_expect(same(&in, &out));
	cr_expect_eq(*server.asked, 0);
	debug_server_stop(&server);
	free(in.data);
	free(out.data);
	make_fini(&m);
}

/* ---- the kernel ----------------------------------------------------------------------------------- */

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

/* A frame in this function, in a trace of this boot or of another one. */
static void expect_kernel_name(const char *function, const char *boot_id, const char *name)
{
	const char *const kv[] = { "boot_id", boot_id, NULL };
	uint64_t frame =
		PROF_FRAME_KERNEL | ((kernel_function(function) + 8) & PROF_FRAME_OFFSET_MASK);
	struct bytes in, out;
	struct make m;
	char *frames;

	make_init(&m, NULL);
	make_metadata(&m, RUN_SEC, kv);
	make_sample(&m, RUN_SEC, 10, 10, PROF_SOURCE_SAMPLE, 0, &frame, 1);
	in = bytes_of(&m);
	out = symbolize(&in, NULL, NULL, NULL);
	frames = frames_of(&out, false);
	cr_expect_not_null(strstr(frames, name), "%s", frames);
	free(frames);
	free(in.data);
	free(out.data);
	make_fini(&m);
}

Test(symbolize, kernel_addresses_have_symbols_of_the_running_kernel)
{
	char boot[64] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");

	cr_assert_not_null(f);
	cr_assert_eq(fscanf(f, "%63s", boot), 1);
	fclose(f);
	if (!kernel_function("do_exit"))
		cr_skip("this user may not see where the kernel is");
	expect_kernel_name("do_exit", boot, " do_exit\n");
	expect_kernel_name("do_exit", "another", " ??\n");
	/* boot code, which is gone now */
	expect_kernel_name("start_kernel", boot, " start_kernel\n");
}

/* The note in /sys/kernel/notes, found by its head: sizes 4 and 20, type 3, "GNU". */
static bool read_kernel_build_id(char id[21])
{
	static const uint8_t head[] = { 4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0 };
	uint8_t notes[4096];
	FILE *f = fopen("/sys/kernel/notes", "r");
	size_t sz = f ? fread(notes, 1, sizeof(notes), f) : 0;
	const uint8_t *at = memmem(notes, sz, head, sizeof(head));

	if (f)
		fclose(f);
	if (!at || at + sizeof(head) + 20 > notes + sz)
		return false;
	memcpy(id, at + sizeof(head), 20);
	id[20] = '\0';
	/* the trace takes it as text */
	return strlen(id) == 20;
}

/* Of another boot, or of an unknown one as in files of perf. */
Test(symbolize, the_kernels_places_have_names_while_the_same_image_runs)
{
	uint64_t addr = kernel_function("do_exit"), start = kernel_function("_stext");
	char id[21];

	if (!addr || !read_kernel_build_id(id))
		cr_skip("this user may not see where the kernel is");
	for (int same = 1; same >= 0; same--) {
		uint64_t frame =
			PROF_FRAME_KERNEL | 1ULL << PROF_FRAME_MODULE_SHIFT | (addr + 8 - start);
		struct bytes in, out;
		struct make m;
		char *frames;

		if (!same)
			id[0] = id[0] == 'x' ? 'y' : 'x';
		make_init(&m, NULL);
		make_module_with(&m, RUN_SEC, 1, "[kernel.kallsyms]", id, PROF_MODULE_KERNEL);
		make_sample(&m, RUN_SEC, 10, 10, PROF_SOURCE_SAMPLE, 0, &frame, 1);
		in = bytes_of(&m);
		out = symbolize(&in, NULL, NULL, NULL);
		frames = frames_of(&out, false);
		cr_expect_not_null(strstr(frames, same ? " do_exit\n" : " ??\n"), "%s", frames);
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

Test(symbolize, without_an_output_the_trace_is_replaced_and_kept_as_old)
{
	static struct program p;
	char path[64], old[72];
	struct bytes in, out;
	struct stat before, after;
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
	/* with nothing to add the file is not changed */
	cr_assert_eq(stat(path, &before), 0);
	r = run_cmd(cmd_symbolize, make_fd("", 0), "symbolize", path, NULL);
	cr_expect_eq(r.code, CMD_OK);
	run_expect_in(r.err, "every address has a symbol; nothing was written");
	run_free(&r);
	cr_assert_eq(stat(path, &after), 0);
	cr_expect_eq(before.st_ino, after.st_ino);
	expect_file(old, &in);
	free(in.data);
	free(out.data);
	make_fini(&m);
}

Test(symbolize, interrupt_leaves_no_temporary_file)
{
	static struct program p;
	char dir[64], out[80], option[96], cache[80];
	struct debug_server server;
	struct make m;
	int status, fd;
	pid_t pid;

	if (!debuginfod_available())
		cr_skip("libdebuginfod is not there");
	program_init(&p, "c-gcc");
	program_trace(&m, &p);
	shell("rm %s", p.path);
	fd = make_file(&m);
	snprintf(dir, sizeof(dir), "%s/out", scratch());
	snprintf(out, sizeof(out), "-o%s/t.bin", dir);
	snprintf(cache, sizeof(cache), "%s/cache", scratch());
	shell("mkdir %s && echo older > %s/t.bin", dir, dir);
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
	debug_server_start(&server, DEBUG_SERVER_SILENT, p.path);
	snprintf(option, sizeof(option), "--debuginfod=%s", server.url);
	pid = fork();
	if (!pid) {
		struct run r = run_cmd(cmd_symbolize, fd, "symbolize", "-", out, option, NULL);

		_exit(r.code);
	}
	/* it is waiting for the server now */
	while (!*(volatile unsigned int *)server.asked && waitpid(pid, &status, WNOHANG) == 0)
		sched_yield();
	cr_assert_eq(kill(pid, SIGINT), 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT, "status %x", status);
	shell("test \"$(ls %s)\" = t.bin && test \"$(cat %s/t.bin)\" = older", dir, dir);
	debug_server_stop(&server);
	close(fd);
	make_fini(&m);
}
