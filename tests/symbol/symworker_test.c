// SPDX-License-Identifier: BSD-2-Clause
/* Questions go in, answers come out, and nothing in between makes the asker wait. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "support.h"
#include "symbol/symworker.h"

#define SECOND 1000000000ull

struct got {
	size_t answers, names, frames, modules, stop_after;
	int error;
	bool has_symtab, has_dwarf, order_broken;
	uint64_t last_name_at, first_frame_at; /* position among the answers */
	char *text; /* frames, one a line */
	size_t text_sz;
	FILE *out;
};

static int on_answer(void *ctx, const struct symworker_answer *a)
{
	struct got *g = ctx;

	g->answers++;
	switch (a->kind) {
	case SYMWORKER_MODULE:
		g->modules++;
		g->error = a->error;
		g->has_symtab = a->has_symtab;
		g->has_dwarf = a->has_dwarf;
		g->order_broken |= g->names || a->name;
		break;
	case SYMWORKER_NAME:
		cr_assert_eq(strlen(a->name), a->name_len);
		g->names++;
		g->last_name_at = g->answers;
		break;
	case SYMWORKER_FRAME:
		cr_assert_eq(strlen(a->name), a->name_len);
		cr_assert_eq(a->file ? strlen(a->file) : 0, a->file_len);
		if (!g->frames++)
			g->first_frame_at = g->answers;
		break;
	}
	if (g->out && a->kind == SYMWORKER_FRAME)
		fprintf(g->out, "%u %" PRIx64 " %u %s %s:%u\n", a->module_id, a->offset, a->depth,
			a->name, a->file ? a->file : "", a->line);
	return g->stop_after && g->answers == g->stop_after;
}

static struct symworker *start(const struct symworker_cfg *cfg)
{
	static const struct symworker_cfg plain;
	struct symworker *w;

	cr_assert_eq(symworker_new(cfg ? cfg : &plain, &w), 0);
	return w;
}

static void add(struct symworker *w, uint32_t id, const char *path)
{
	const struct symworker_module m = { .pid = getpid(), .path = path };

	cr_assert_eq(symworker_add_module(w, id, &m), 0);
}

static size_t ask_text(struct symworker *w, uint32_t id, const char *path, unsigned int step)
{
	struct section text = section_of(path, ".text");
	size_t cnt = 0, i;

	for (i = 0; i < text.size; i += step, cnt++)
		symworker_ask(w, id, text.off + i);
	return cnt;
}

static void finish(struct symworker *w, struct got *g)
{
	cr_assert_eq(symworker_finish(w, clock_mono_ns() + 30 * SECOND), 0);
	cr_assert_geq(symworker_take(w, on_answer, g, SIZE_MAX), 0);
	cr_assert(symworker_idle(w));
}

TestSuite(symworker, .timeout = 60);

Test(symworker, answers_names_first_and_then_frames)
{
	struct symworker *w = start(NULL);
	struct got g = { 0 };
	size_t asked;

	add(w, 3, stimulus("c-gcc"));
	asked = ask_text(w, 3, stimulus("c-gcc"), 16);
	finish(w, &g);
	cr_expect_eq(g.modules, 1u);
	cr_expect_eq(g.error, 0);
	cr_expect(g.has_symtab && g.has_dwarf && !g.order_broken);
	cr_expect_gt(g.names, asked / 2);
	cr_expect_gt(g.frames, asked / 2);
	cr_expect_lt(g.last_name_at, g.first_frame_at);
	symworker_free(w);
}

static char *answers_for(struct symworker *w)
{
	struct got g = { 0 };

	g.out = open_memstream(&g.text, &g.text_sz);
	finish(w, &g);
	fclose(g.out);
	cr_assert_gt(g.frames, 0u);
	return g.text;
}

/* Frames are those that the symbolizer gives; offsets come from the last to the first. */
Test(symworker, answers_what_the_symbolizer_says)
{
	const char *path = stimulus("c-gcc");
	struct section text = section_of(path, ".text");
	struct symbolizer_frame f[64];
	struct symworker *w = start(NULL);
	char *expected, *got;
	struct opened o;
	size_t sz, i, k;
	FILE *out = open_memstream(&expected, &sz);

	open_path(&o, path, NULL, 0);
	for (i = 0; i < text.size; i += 8) {
		size_t cnt = symbolizer_frames(o.sym, text.off + i, f, 64);

		for (k = 0; k < cnt; k++)
			fprintf(out, "%u %" PRIx64 " %zu %s %s:%u\n", 9, text.off + i, k, f[k].name,
				f[k].file ? f[k].file : "", f[k].line);
	}
	fclose(out);
	add(w, 9, path);
	ask_text(w, 9, path, 8);
	got = answers_for(w);
	cr_expect_str_eq(got, expected);
	free(got);
	free(expected);
	symbolizer_free(o.sym);
	symworker_free(w);
}

Test(symworker, says_why_a_module_has_no_names)
{
	const uint8_t id[20] = { 1 };
	struct symworker_module m = { .path = stimulus("c-gcc"),
				      .build_id = id,
				      .build_id_sz = 20 };
	struct symworker *w = start(NULL);
	struct got g = { 0 };

	cr_assert_eq(symworker_add_module(w, 1, &m), 0);
	symworker_ask(w, 1, 0x1200);
	finish(w, &g);
	cr_expect_eq(g.error, -ESTALE);

	add(w, 2, "/nonexistent");
	symworker_ask(w, 2, 0x1200);
	finish(w, &g);
	cr_expect_eq(g.error, -ENOENT);

	add(w, 3, "/etc/passwd");
	finish(w, &g);
	cr_expect_eq(g.error, -ENOEXEC);
	cr_expect_eq(g.modules, 3u);
	cr_expect_eq(g.answers, 3u);
	m.build_id_sz = SYMBOLIZER_BUILD_ID_MAX + 1;
	cr_expect_eq(symworker_add_module(w, 4, &m), -EINVAL);
	symworker_free(w);
}

Test(symworker, gives_names_only_when_told)
{
	const struct symworker_cfg cfg = { .no_dwarf = true };
	struct symworker *w = start(&cfg);
	struct got g = { 0 };

	add(w, 0, stimulus("c-gcc"));
	ask_text(w, 0, stimulus("c-gcc"), 16);
	finish(w, &g);
	cr_expect_gt(g.names, 10u);
	cr_expect_eq(g.frames, 0u);
	cr_expect(!g.has_dwarf);
	symworker_free(w);
}

Test(symworker, hands_out_no_more_than_was_asked_for)
{
	struct symworker *w = start(NULL);
	struct got g = { 0 };

	add(w, 0, stimulus("c-gcc"));
	ask_text(w, 0, stimulus("c-gcc"), 16);
	cr_assert_eq(symworker_finish(w, clock_mono_ns() + 30 * SECOND), 0);
	cr_expect_eq(symworker_take(w, on_answer, &g, 5), 5);
	cr_expect_eq(g.answers, 5u);
	cr_expect(!symworker_idle(w));
	g.stop_after = 7;
	cr_expect_eq(symworker_take(w, on_answer, &g, 100), 2);
	cr_expect_eq(g.answers, 7u);
	finish(w, &g);
	cr_expect_eq(symworker_take(w, on_answer, &g, 100), 0);
	symworker_free(w);
}

Test(symworker, ignores_offsets_of_unknown_modules)
{
	struct symworker *w = start(NULL);
	struct got g = { 0 };

	symworker_ask(w, 77, 0x1000);
	finish(w, &g);
	cr_expect_eq(g.answers, 0u);
	symworker_free(w);
}

Test(symworker, replaces_a_module)
{
	struct symworker *w = start(NULL);
	struct got g = { 0 };

	add(w, 5, "/nonexistent");
	add(w, 5, stimulus("c-gcc"));
	ask_text(w, 5, stimulus("c-gcc"), 16);
	finish(w, &g);
	cr_expect_eq(g.modules, 2u);
	cr_expect_eq(g.error, 0);
	cr_expect_gt(g.frames, 10u);
	symworker_free(w);
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

/* Three modules share little memory: each answer is still what it would be with a lot. */
Test(symworker, answers_the_same_within_little_memory)
{
	static const char *const programs[] = { "rust", "cxx-gcc", "c-gz" };
	const struct symworker_cfg little = { .dwarf_mem_max = 3 << 20 };
	char *texts[2], **lines[2];
	size_t cnt[2], n;
	int i, k;

	for (i = 0; i < 2; i++) {
		struct symworker *w = start(i ? &little : NULL);

		for (k = 0; k < 3; k++)
			add(w, k, stimulus(programs[k]));
		for (k = 0; k < 3; k++)
			ask_text(w, k, stimulus(programs[k]), 64);
		texts[i] = answers_for(w);
		cnt[i] = sorted_lines(texts[i], &lines[i]);
		symworker_free(w);
	}
	cr_assert_eq(cnt[0], cnt[1]);
	for (n = 0; n < cnt[0]; n++)
		cr_assert_str_eq(lines[0][n], lines[1][n]);
	for (i = 0; i < 2; i++) {
		free(lines[i]);
		free(texts[i]);
	}
}

static bool is_mapped(const char *path)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4096];
	bool found = false;

	while (fgets(line, sizeof(line), f))
		found |= strstr(line, path) != NULL;
	fclose(f);
	return found;
}

static void add_with_build_id(struct symworker *w, uint32_t id, const char *path)
{
	uint8_t build_id[SYMBOLIZER_BUILD_ID_MAX];
	struct symworker_module m = { .path = path, .build_id = build_id };
	int fd = open(path, O_RDONLY);

	cr_assert_eq(symbolizer_build_id(fd, build_id, &m.build_id_sz), 0);
	cr_assert_gt(m.build_id_sz, 0u);
	close(fd);
	cr_assert_eq(symworker_add_module(w, id, &m), 0);
}

/* Asks of three files by turns, and counts those held at the end. */
static char *answers_by_turns(size_t open_max, size_t *held)
{
	const char *paths[] = { stimulus("c-gcc"), stimulus("cxx-gcc"), stimulus("c-gz") };
	const struct symworker_cfg cfg = { .open_max = open_max };
	struct symworker *w = start(&cfg);
	struct got g = { 0 };
	uint32_t i;

	g.out = open_memstream(&g.text, &g.text_sz);
	for (i = 0; i < 3; i++)
		add_with_build_id(w, i, paths[i]);
	for (i = 0; i < 30; i++) {
		struct section text = section_of(paths[i % 3], ".text");

		symworker_ask(w, i % 3, text.off + text.size / 30 * i);
		finish(w, &g);
	}
	for (i = 0, *held = 0; i < 3; i++)
		*held += is_mapped(paths[i]);
	fclose(g.out);
	cr_expect_eq(g.modules, 3u);
	cr_expect_gt(g.frames, 10u);
	symworker_free(w);
	return g.text;
}

Test(symworker, answers_the_same_with_few_files_open)
{
	size_t all, few;
	char *with_all = answers_by_turns(0, &all), *with_few = answers_by_turns(1, &few);

	cr_expect_eq(all, 3u);
	cr_expect_eq(few, 1u);
	cr_expect_str_eq(with_few, with_all);
	free(with_all);
	free(with_few);
}

/* Names of what is asked later do not wait for frames of what was asked before. */
Test(symworker, answers_new_names_before_old_frames)
{
	struct symworker *w = start(NULL);
	struct got g = { 0 };

	add(w, 0, stimulus("rust"));
	add(w, 1, stimulus("c-gcc"));
	ask_text(w, 0, stimulus("rust"), 8);
	while (!g.frames)
		cr_assert_geq(symworker_take(w, on_answer, &g, SIZE_MAX), 0);
	ask_text(w, 1, stimulus("c-gcc"), 16);
	finish(w, &g);
	cr_expect_gt(g.last_name_at, g.first_frame_at);
	cr_expect_lt(g.last_name_at, g.answers - 1000);
	symworker_free(w);
}

/* Six modules that take more than the bound together: all but the last one are given back. */
Test(symworker, gives_memory_back_module_by_module)
{
	const struct symworker_cfg cfg = { .dwarf_mem_max = 5 << 20 };
	size_t before = mallinfo2().uordblks, held[6];
	struct symworker *w = start(&cfg);
	struct got g = { 0 };
	uint32_t id;

	for (id = 0; id < 6; id++) {
		add(w, id, stimulus("rust"));
		ask_text(w, id, stimulus("rust"), 64);
		finish(w, &g);
		held[id] = mallinfo2().uordblks - before;
	}
	cr_expect_leq(held[5], 3 * held[0]);
	symworker_free(w);
}

/* A library may be overwritten in place while it is mapped. */
Test(symworker, survives_a_file_that_shrinks)
{
	struct symworker *w = start(NULL);
	struct got g = { 0 };
	struct section text;
	char path[128];

	snprintf(path, sizeof(path), "%s/shrinks", scratch());
	shell("cp %s %s", stimulus("rust"), path);
	text = section_of(path, ".text");
	add(w, 0, path);
	symworker_ask(w, 0, text.off);
	finish(w, &g);
	cr_assert_eq(g.modules, 1u);
	cr_assert_eq(truncate(path, 100), 0);
	ask_text(w, 0, stimulus("rust"), 256);
	finish(w, &g);
	cr_expect_eq(g.modules, 1u);
	symworker_free(w);
}

Test(symworker, can_be_freed_with_work_left)
{
	struct symworker *w = start(NULL);
	uint64_t begin;

	add(w, 0, stimulus("rust"));
	ask_text(w, 0, stimulus("rust"), 1);
	cr_expect_eq(symworker_finish(w, clock_mono_ns()), -ETIMEDOUT);
	begin = clock_mono_ns();
	symworker_free(w);
	cr_expect_lt(clock_mono_ns() - begin, 2 * SECOND);
	symworker_free(NULL);
}

Test(symworker, never_asks_a_debuginfod_server)
{
	struct symworker *w;

	setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1", 1);
	w = start(NULL);
	cr_expect_null(getenv("DEBUGINFOD_URLS"));
	symworker_free(w);
}
