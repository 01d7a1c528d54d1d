// SPDX-License-Identifier: BSD-2-Clause
/* Requests are sent, answers are received, and nothing in between blocks the caller. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbol/broker/sym_client.h"
#include "tests/symbol/support.h"

#define SECOND 1000000000ull

struct got {
	size_t answers, names, frames, modules, statuses, stop_after;
	int error;
	size_t build_id_sz;
	enum sym_client_status status;
	char detail[128];
	uint32_t module_id;
	size_t module_names; /* of this module */
	char *text; /* frames, one a line */
	size_t text_sz;
	FILE *out;
};

static int on_answer(void *ctx, const struct sym_client_answer *a)
{
	struct got *g = ctx;

	g->answers++;
	switch (a->kind) {
	case SYM_CLIENT_MODULE:
		g->modules++;
		g->error = a->error;
		g->build_id_sz = a->build_id_sz;
		break;
	case SYM_CLIENT_STATUS:
		g->statuses++;
		g->status = a->status;
		snprintf(g->detail, sizeof(g->detail), "%s", a->detail);
		break;
	case SYM_CLIENT_NAME:
		cr_assert_eq(strlen(a->name), a->name_len);
		g->names++;
		g->module_names += a->module_id == g->module_id;
		break;
	case SYM_CLIENT_FRAME:
		cr_assert_eq(strlen(a->name), a->name_len);
		cr_assert_eq(a->file ? strlen(a->file) : 0, a->file_len);
		g->frames++;
		break;
	case SYM_CLIENT_TABLE:
		cr_assert_fail("nobody asked for a table");
		break;
	}
	if (g->out && a->kind == SYM_CLIENT_FRAME)
		fprintf(g->out, "%u %" PRIx64 " %u %s %s:%u\n", a->module_id, a->offset, a->depth,
			a->name, a->file ? a->file : "", a->line);
	return g->stop_after && g->answers == g->stop_after;
}

static struct sym_client *start(const struct sym_client_cfg *cfg)
{
	static const struct sym_client_cfg plain;
	struct sym_client *w;

	cr_assert_eq(sym_client_new(cfg ? cfg : &plain, &w), 0);
	return w;
}

static void add(struct sym_client *w, uint32_t id, const char *path)
{
	const struct sym_client_module m = { .pid = getpid(), .path = path };

	cr_assert_eq(sym_client_add_module(w, id, &m), 0);
}

static size_t request_text(struct sym_client *w, uint32_t id, const char *path, unsigned int step)
{
	struct section text = section_of(path, ".text");
	size_t cnt = 0, i;

	for (i = 0; i < text.size; i += step, cnt++)
		sym_client_ask(w, id, text.off + i);
	return cnt;
}

static void finish(struct sym_client *w, struct got *g)
{
	uint64_t deadline = clock_mono_ns() + 30 * SECOND;

	while (!sym_client_idle(w)) {
		cr_assert_lt(clock_mono_ns(), deadline, "no answers for 30 s");
		sym_client_wait(w, deadline);
		cr_assert_geq(sym_client_receive(w, on_answer, g, SIZE_MAX), 0);
	}
}

/* Until all answers wait to be received. */
static void collect(struct sym_client *w, size_t asked)
{
	uint64_t deadline = clock_mono_ns() + 30 * SECOND;

	while (sym_client_answered(w) < 2 * asked) {
		cr_assert_lt(clock_mono_ns(), deadline, "no answers for 30 s");
		sym_client_step(w);
	}
}

TestSuite(symworker, .timeout = 60);

Test(symworker, answers_with_names_and_frames)
{
	struct sym_client *w = start(NULL);
	struct got g = { 0 };
	size_t asked;

	add(w, 3, stimulus("c-gcc"));
	asked = request_text(w, 3, stimulus("c-gcc"), 16);
	finish(w, &g);
	cr_expect_eq(g.modules, 0u);
	cr_expect_eq(g.status, SYM_CLIENT_NAMED);
	cr_expect_gt(g.names, asked / 2);
	cr_expect_gt(g.frames, asked / 2);
	cr_expect_eq(sym_client_restarts(w), 0u);
	sym_client_free(w);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Which module comes first depends on memory. Changes text. */
static size_t sorted_lines(char *text, char ***lines)
{
	size_t cnt = 0, i;
	char *p, *save;

	for (p = text; *p; p++)
		cnt += *p == '\n';
	*lines = calloc(cnt, sizeof(char *));
	for (i = 0, p = strtok_r(text, "\n", &save); p; p = strtok_r(NULL, "\n", &save))
		(*lines)[i++] = p;
	qsort(*lines, cnt, sizeof(char *), compare_lines);
	return cnt;
}

static char *answers_for(struct sym_client *w)
{
	struct got g = { 0 };

	g.out = open_memstream(&g.text, &g.text_sz);
	finish(w, &g);
	fclose(g.out);
	cr_assert_gt(g.frames, 0u);
	return g.text;
}

/* Frames equal the frames of the symbolizer; offsets are requested from the last to the first. */
Test(symworker, answers_equal_the_answers_of_the_symbolizer)
{
	const char *path = stimulus("c-gcc");
	struct section text = section_of(path, ".text");
	struct symbolizer_frame f[64];
	struct sym_client *w = start(NULL);
	char *expected, *got, **lines[2];
	struct opened o;
	size_t sz, cnt, i, k;
	FILE *out = open_memstream(&expected, &sz);

	open_path(&o, path, NULL, 0);
	for (i = 0; i < text.size; i += 8) {
		cnt = symbolizer_frames(o.sym, text.off + i, f, 64);
		for (k = 0; k < cnt; k++)
			fprintf(out, "%u %" PRIx64 " %zu %s %s:%u\n", 9, text.off + i, k, f[k].name,
				f[k].file ? f[k].file : "", f[k].line);
	}
	fclose(out);
	add(w, 9, path);
	request_text(w, 9, path, 8);
	got = answers_for(w);
	cnt = sorted_lines(expected, &lines[0]);
	cr_assert_eq(sorted_lines(got, &lines[1]), cnt);
	for (i = 0; i < cnt; i++)
		cr_expect_str_eq(lines[1][i], lines[0][i]);
	free(lines[0]);
	free(lines[1]);
	free(got);
	free(expected);
	symbolizer_free(o.sym);
	sym_client_free(w);
}

/* Inlined functions come from files that only openers can open; without them names and one note are left. */
Test(symworker, requests_the_files_of_split_debug_information)
{
	struct sym_client *w;
	struct got with = { 0 }, without = { 0 };
	char path[128];
	size_t asked;

	snprintf(path, sizeof(path), "%s/split", scratch());
	copy_split("c-5");
	w = start(NULL);
	add(w, 1, path);
	asked = request_text(w, 1, path, 4);
	finish(w, &with);
	cr_expect_eq(with.status, SYM_CLIENT_NAMED);
	cr_expect_str_eq(with.detail, "");
	cr_expect_gt(with.frames, asked);
	cr_expect_eq(sym_client_restarts(w), 0u);
	sym_client_free(w);
	/* FIFOs without a writer */
	shell("cd %s && for f in *.dwo; do rm $f && mkfifo $f || exit; done", scratch());
	w = start(NULL);
	add(w, 1, path);
	request_text(w, 1, path, 4);
	finish(w, &without);
	cr_expect_eq(without.status, SYM_CLIENT_NAMED);
	cr_expect_str_eq(
		without.detail,
		".dwo files are missing (searched: build directory, own directory, PROGRAM.dwp)");
	cr_expect_eq(without.names, with.names, "nothing else is lost");
	cr_expect_gt(without.frames, asked / 2, "lines stay");
	cr_expect_lt(without.frames, with.frames);
	cr_expect_eq(sym_client_restarts(w), 0u);
	sym_client_free(w);
}

/* Frames of the program "split" in scratch(), without the files of these units. */
static size_t frames_of_split(const char *units, const char *detail)
{
	struct got g = { 0 };
	struct sym_client *w;
	char path[128];

	snprintf(path, sizeof(path), "%s/split", scratch());
	shell("cd %s && cp kept/*.dwo . && for u in %s; do rm split-$u.dwo || exit; done",
	      scratch(), units);
	w = start(NULL);
	add(w, 1, path);
	request_text(w, 1, path, 4);
	finish(w, &g);
	cr_expect_str_eq(g.detail, detail);
	cr_expect_eq(sym_client_restarts(w), 0u);
	sym_client_free(w);
	return g.frames;
}

/* The missing file of one unit does not affect the other one, in either order of requests. */
Test(symworker, requests_each_file_even_if_others_are_missing)
{
	static const char missing[] =
		".dwo files are missing (searched: build directory, own directory, PROGRAM.dwp)";
	size_t all, none, a, b;

	copy_split("c-5");
	shell("cd %s && mkdir kept && mv *.dwo kept", scratch());
	all = frames_of_split("", "");
	none = frames_of_split("numbers inlined", missing);
	a = frames_of_split("numbers", missing);
	b = frames_of_split("inlined", missing);
	cr_expect_gt(a, none);
	cr_expect_gt(b, none);
	cr_expect_eq(a - none + b - none, all - none, "%zu %zu %zu %zu", all, none, a, b);
}

Test(symworker, reports_why_a_module_has_no_symbols)
{
	const uint8_t id[20] = { 1 };
	struct sym_client_module m = { .path = stimulus("c-gcc"),
				       .build_id = id,
				       .build_id_sz = 20 };
	struct sym_client *w = start(NULL);
	struct got g = { 0 };

	cr_assert_eq(sym_client_add_module(w, 1, &m), 0);
	sym_client_ask(w, 1, 0x1200);
	finish(w, &g);
	cr_expect_eq(g.status, SYM_CLIENT_REPLACED);

	add(w, 2, "/nonexistent");
	sym_client_ask(w, 2, 0x1200);
	finish(w, &g);
	cr_expect_eq(g.status, SYM_CLIENT_GONE);

	add(w, 3, "/etc/passwd");
	sym_client_ask(w, 3, 0);
	finish(w, &g);
	cr_expect_eq(g.status, SYM_CLIENT_NOT_ELF);

	add(w, 4, "/dev/zero");
	sym_client_ask(w, 4, 0);
	finish(w, &g);
	cr_expect_eq(g.status, SYM_CLIENT_NOT_ELF);
	cr_expect_eq(g.statuses, 4u);
	cr_expect_eq(g.answers, 4u);
	m.build_id_sz = SYMBOLIZER_BUILD_ID_MAX + 1;
	cr_expect_eq(sym_client_add_module(w, 5, &m), -EINVAL);
	cr_expect_eq(sym_client_add_module(w, 4, &(struct sym_client_module){ .path = "/x" }),
		     -EEXIST);
	sym_client_free(w);
}

Test(symworker, identifies_a_file_by_its_build_id_alone)
{
	const struct sym_client_module m = { .kind = SYM_CLIENT_IDENTIFY,
					     .pid = getpid(),
					     .path = stimulus("c-gcc") };
	const struct sym_client_module none = { .kind = SYM_CLIENT_IDENTIFY,
						.pid = getpid(),
						.path = "/etc/passwd" };
	struct sym_client *w = start(NULL);
	struct got g = { 0 };

	cr_assert_eq(sym_client_add_module(w, 9, &m), 0);
	cr_expect_eq(sym_client_identifying(w), 1u);
	finish(w, &g);
	cr_expect_eq(sym_client_identifying(w), 0u);
	cr_expect_eq(g.modules, 1u);
	cr_expect_eq(g.error, 0);
	cr_expect_eq(g.build_id_sz, 20u);
	cr_assert_eq(sym_client_add_module(w, 10, &none), 0);
	finish(w, &g);
	cr_expect_eq(g.error, -ENOEXEC);
	cr_expect_eq(g.build_id_sz, 0u);
	cr_expect_eq(g.answers, 2u);
	sym_client_free(w);
}

Test(symworker, returns_only_names_on_request)
{
	const struct sym_client_cfg cfg = { .no_dwarf = true };
	struct sym_client *w = start(&cfg);
	struct got g = { 0 };

	add(w, 0, stimulus("c-gcc"));
	request_text(w, 0, stimulus("c-gcc"), 16);
	finish(w, &g);
	cr_expect_gt(g.names, 10u);
	cr_expect_eq(g.frames, 0u);
	sym_client_free(w);
}

Test(symworker, returns_at_most_the_requested_number_of_answers)
{
	struct sym_client *w = start(NULL);
	struct got g = { 0 };

	add(w, 0, stimulus("c-gcc"));
	collect(w, request_text(w, 0, stimulus("c-gcc"), 16));
	cr_expect_eq(sym_client_receive(w, on_answer, &g, 5), 5);
	cr_expect_eq(g.answers, 5u);
	cr_expect(!sym_client_idle(w));
	g.stop_after = 7;
	cr_expect_eq(sym_client_receive(w, on_answer, &g, 100), 2);
	cr_expect_eq(g.answers, 7u);
	finish(w, &g);
	cr_expect_eq(sym_client_receive(w, on_answer, &g, 100), 0);
	sym_client_free(w);
}

Test(symworker, ignores_offsets_of_unknown_modules)
{
	struct sym_client *w = start(NULL);
	struct got g = { 0 };

	sym_client_ask(w, 77, 0x1000);
	finish(w, &g);
	cr_expect_eq(g.answers, 0u);
	sym_client_free(w);
}

/* A sanitizer's own memory counts as the worker's. */
#if defined(__SANITIZE_ADDRESS__)
#define WORKER_MEM_MAX (1 << 30)
#else
#define WORKER_MEM_MAX 0 /* the default */
#endif

/* Three modules share little memory: each answer still equals the one with much memory. */
Test(symworker, answers_the_same_with_little_memory)
{
	static const char *const programs[] = { "rust", "cxx-gcc", "c-gz" };
	const struct sym_client_cfg little = { .mem_max = 7 << 20,
					       .worker_mem_max = WORKER_MEM_MAX };
	char *texts[2], **lines[2];
	size_t cnt[2], n;
	int i, k;

	for (i = 0; i < 2; i++) {
		struct sym_client *w = start(i ? &little : NULL);

		for (k = 0; k < 3; k++)
			add(w, k, stimulus(programs[k]));
		for (k = 0; k < 3; k++)
			request_text(w, k, stimulus(programs[k]), 64);
		texts[i] = answers_for(w);
		cnt[i] = sorted_lines(texts[i], &lines[i]);
		sym_client_free(w);
	}
	cr_assert_eq(cnt[0], cnt[1]);
	for (n = 0; n < cnt[0]; n++)
		cr_assert_str_eq(lines[0][n], lines[1][n]);
	for (i = 0; i < 2; i++) {
		free(lines[i]);
		free(texts[i]);
	}
}

/* Only root may see a worker's mappings. */
static size_t mapped_by(pid_t pid, const char *path)
{
	char line[4096];
	size_t found = 0;
	FILE *f;

	snprintf(line, sizeof(line), "/proc/%d/maps", pid);
	f = fopen(line, "r");
	cr_assert_not_null(f, "%s", line);
	while (fgets(line, sizeof(line), f))
		found |= strstr(line, path) != NULL;
	fclose(f);
	return found;
}

/* Resident bytes of mappings of that file. */
static size_t resident_of(pid_t pid, const char *path)
{
	char line[4096];
	size_t kb, sum = 0;
	bool ours = false;
	FILE *f;

	snprintf(line, sizeof(line), "/proc/%d/smaps", pid);
	f = fopen(line, "r");
	cr_assert_not_null(f, "%s", line);
	while (fgets(line, sizeof(line), f)) {
		if (strchr(line, '-') && strchr(line, '-') < strchr(line, ' '))
			ours = strstr(line, path) != NULL;
		if (ours && sscanf(line, "Rss: %zu", &kb) == 1)
			sum += kb * 1024;
	}
	fclose(f);
	return sum;
}

/* A worker may send its answer before it unmaps the pages. */
static void expect_none_resident(const char *worker, const char *path)
{
	const uint64_t deadline = clock_mono_ns() + 10 * SECOND;
	const pid_t pid = find_worker(worker);

	cr_expect(mapped_by(pid, path), "%s", worker);
	while (resident_of(pid, path))
		cr_assert_lt(clock_mono_ns(), deadline, "%s", worker);
}

/* Pages that only a worker maps are its memory. */
Test(symworker, keeps_no_page_of_a_file_mapped_between_requests)
{
	const char *path = stimulus("rust");
	struct got g = { 0 };
	struct sym_client *w;

	if (geteuid())
		cr_skip_test("needs root: looks at what a worker has mapped");
	w = start(NULL);
	add(w, 1, path);
	request_text(w, 1, path, 64);
	finish(w, &g);
	cr_expect_gt(g.frames, 10u);
	expect_none_resident("d9-names", path);
	expect_none_resident("d9-lines", path);
	sym_client_free(w);
}

static void add_with_build_id(struct sym_client *w, uint32_t id, const char *path)
{
	uint8_t build_id[SYMBOLIZER_BUILD_ID_MAX];
	struct sym_client_module m = { .path = path, .build_id = build_id };
	int fd = open(path, O_RDONLY);

	cr_assert_eq(symbolizer_build_id(fd, build_id, &m.build_id_sz), 0);
	cr_assert_gt(m.build_id_sz, 0u);
	close(fd);
	cr_assert_eq(sym_client_add_module(w, id, &m), 0);
}

/* Requests from three files alternately, and counts those in memory at the end. */
static char *answers_by_turns(size_t open_max, size_t *held)
{
	const char *paths[] = { stimulus("c-gcc"), stimulus("cxx-gcc"), stimulus("c-gz") };
	const struct sym_client_cfg cfg = { .open_max = open_max };
	struct sym_client *w = start(&cfg);
	struct got g = { 0 };
	uint32_t i;

	g.out = open_memstream(&g.text, &g.text_sz);
	for (i = 0; i < 3; i++)
		add_with_build_id(w, i, paths[i]);
	for (i = 0; i < 30; i++) {
		struct section text = section_of(paths[i % 3], ".text");

		sym_client_ask(w, i % 3, text.off + text.size / 30 * i);
		finish(w, &g);
	}
	for (i = 0, *held = 0; i < 3; i++)
		*held += mapped_by(find_worker("d9-names"), paths[i]);
	fclose(g.out);
	cr_expect_gt(g.frames, 10u);
	sym_client_free(w);
	return g.text;
}

Test(symworker, answers_the_same_with_few_files_open)
{
	size_t all, few;
	char *with_all, *with_few;

	if (geteuid())
		cr_skip_test("needs root: looks at what a worker has mapped");
	with_all = answers_by_turns(0, &all);
	with_few = answers_by_turns(1, &few);
	cr_expect_eq(all, 3u);
	cr_expect_eq(few, 1u);
	cr_expect_str_eq(with_few, with_all);
	free(with_all);
	free(with_few);
}

/* Symbols of later requests do not wait for frames of earlier requests. */
/* The frames of the old module cannot come: their worker is stopped. */
Test(symworker, answers_new_names_before_old_frames)
{
	struct sym_client *w = start(NULL);
	uint64_t deadline = clock_mono_ns() + 30 * SECOND;
	struct got g = { .module_id = 1 };
	pid_t lines;

	add(w, 0, stimulus("rust"));
	add(w, 1, stimulus("c-gcc"));
	lines = find_worker("d9-lines");
	cr_assert_eq(kill(lines, SIGSTOP), 0);
	request_text(w, 0, stimulus("rust"), 2);
	request_text(w, 1, stimulus("c-gcc"), 16);
	while (!g.module_names) {
		cr_assert_lt(clock_mono_ns(), deadline, "no name for 30 s");
		sym_client_wait(w, clock_mono_ns() + SECOND / 10);
		cr_assert_geq(sym_client_receive(w, on_answer, &g, SIZE_MAX), 0);
	}
	cr_expect_eq(g.frames, 0u);
	cr_assert_eq(kill(lines, SIGCONT), 0);
	finish(w, &g);
	cr_expect_gt(g.frames, 1000u);
	sym_client_free(w);
}

static size_t memory_of(pid_t pid)
{
	unsigned long size, resident, shared;
	char path[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	f = fopen(path, "r");
	cr_assert_eq(fscanf(f, "%lu %lu %lu", &size, &resident, &shared), 3);
	fclose(f);
	return (resident - shared) * sysconf(_SC_PAGESIZE);
}

/* Six modules that together need more than the limit: all except the last one are released. */
Test(symworker, releases_memory_module_by_module)
{
	const struct sym_client_cfg cfg = { .mem_max = 12 << 20 };
	struct sym_client *w;
	size_t held[6];
	struct got g = { 0 };
	uint32_t id;

#ifdef __SANITIZE_ADDRESS__
	cr_skip_test("the sanitizer keeps what is freed");
#endif
	w = start(&cfg);
	for (id = 0; id < 6; id++) {
		add(w, id, stimulus("rust"));
		request_text(w, id, stimulus("rust"), 64);
		finish(w, &g);
		held[id] = memory_of(find_worker("d9-lines"));
	}
	cr_expect_leq(held[5], 3 * held[0]);
	sym_client_free(w);
}

enum { BIG_MAPS = 6, BIG_MAP_LINES = 400000 };

/* A process that lives, with a map of 16 MB for profilers. */
static pid_t start_with_big_map(char *path, size_t sz)
{
	pid_t pid = fork();
	FILE *f;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	snprintf(path, sz, "/tmp/perf-%d.map", pid);
	f = fopen(path, "w");
	cr_assert_not_null(f, "%s", path);
	for (int i = 0; i < BIG_MAP_LINES; i++)
		fprintf(f, "%x 10 function_with_a_long_name_%07d\n", 0x10000 + 16 * i, i);
	fclose(f);
	return pid;
}

/* Any process may write such a map: its own symbols end, symbols of files do not. */
Test(symworker, perf_maps_of_many_processes_share_a_part_of_the_memory)
{
	const struct sym_client_cfg cfg = { .mem_max = 56 << 20 };
	struct got file = { 0 };
	pid_t pids[BIG_MAPS];
	char paths[BIG_MAPS][64];
	struct sym_client *w;
	size_t before;
	int i;

#ifdef __SANITIZE_ADDRESS__
	cr_skip_test("the sanitizer keeps what is freed");
#endif
	w = start(&cfg);
	before = memory_of(find_worker("d9-names"));
	for (i = 0; i < BIG_MAPS; i++) {
		struct sym_client_module m = { .kind = SYM_CLIENT_PERFMAP };
		struct got g = { 0 };

		m.pid = pids[i] = start_with_big_map(paths[i], sizeof(paths[i]));
		m.path = paths[i];
		cr_assert_eq(sym_client_add_module(w, 1 + i, &m), 0);
		sym_client_ask(w, 1 + i, 0x10000);
		finish(w, &g);
		cr_expect_eq(g.status, SYM_CLIENT_GAVE_UP);
		cr_expect_gt(g.names, 0u, "lines before the limit are read");
	}
	cr_expect_leq(memory_of(find_worker("d9-names")) - before, 16u << 20);
	add(w, 0, stimulus("rust"));
	request_text(w, 0, stimulus("rust"), 64);
	finish(w, &file);
	cr_expect_eq(file.status, SYM_CLIENT_NAMED);
	cr_expect_eq(sym_client_restarts(w), 0u);
	sym_client_free(w);
	for (i = 0; i < BIG_MAPS; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
		unlink(paths[i]);
	}
}

/* A library may be overwritten in place while it is mapped. */
Test(symworker, survives_a_file_that_shrinks)
{
	struct sym_client *w = start(NULL);
	struct got g = { 0 };
	struct section text;
	char path[128];

	snprintf(path, sizeof(path), "%s/shrinks", scratch());
	shell("cp %s %s", stimulus("rust"), path);
	text = section_of(path, ".text");
	add(w, 0, path);
	sym_client_ask(w, 0, text.off);
	finish(w, &g);
	cr_assert_eq(g.status, SYM_CLIENT_NAMED);
	cr_assert_eq(truncate(path, 100), 0);
	request_text(w, 0, stimulus("rust"), 256);
	finish(w, &g);
	cr_expect_eq(g.status, SYM_CLIENT_NAMED);
	cr_expect_eq(sym_client_restarts(w), 0u);
	sym_client_free(w);
}

Test(symworker, can_be_freed_with_unfinished_work)
{
	struct sym_client *w = start(NULL);
	uint64_t begin;

	add(w, 0, stimulus("rust"));
	request_text(w, 0, stimulus("rust"), 1);
	sym_client_wait(w, clock_mono_ns());
	cr_expect(!sym_client_idle(w));
	begin = clock_mono_ns();
	sym_client_free(w);
	cr_expect_lt(clock_mono_ns() - begin, 2 * SECOND);
	sym_client_free(NULL);
}
