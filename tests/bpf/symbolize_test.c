// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program is recorded without names, stripped, and its debug file put below another root: what `symbolize` makes
 * of the recording has, at every place of the program that was met, the functions that addr2line has for it.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/hmap.h"
#include "tests/bpf/support.h"

TestSuite(symbolize_live, .fini = live_cleanup);

/* In a shell, where $1 and $2 are these. */
static void shell(const char *command, const char *a, const char *b)
{
	char cmd[1024];

	snprintf(cmd, sizeof(cmd), "set -- '%s' '%s'; %s", a, b, command);
	cr_assert_eq(system(cmd), 0, "%s", cmd);
}

static void run(const char *const *args)
{
	struct live_proc p;
	int code = live_run(&p, args, NULL);
	struct buf output = live_errors(&p);

	cr_assert_eq(code, 0, "exit code %d: %s", code, buf_cstr(&output));
	buf_free(&output);
	live_proc_fini(&p);
}

/* Functions at a frame, innermost first, or "??". */
static void put_functions(struct buf *out, const struct names *n, uint64_t frame)
{
	const struct names_symbol *sym = names_symbol(n, frame);

	for (uint32_t i = sym ? sym->cnt : 0; i-- > 0;)
		if (sym->frames[i].name != NAMES_NONE && !sym->frames[i].label)
			buf_printf(out, "%s\n", names_str(n, sym->frames[i].name, NULL));
	if (!out->len)
		buf_addstr(out, "??\n");
}

/* The same of a place in a file whose code lies where its offsets say. */
static void put_functions_of(struct buf *out, const char *file, uint64_t offset)
{
	char cmd[512], line[512];
	bool function = true;
	FILE *f;

	snprintf(cmd, sizeof(cmd), "addr2line -f -i -e %s 0x%llx", file,
		 (unsigned long long)offset);
	f = popen(cmd, "r");
	cr_assert_not_null(f);
	for (; fgets(line, sizeof(line), f); function = !function)
		if (function)
			buf_addstr(out, line);
	cr_assert_eq(pclose(f), 0);
}

/* How many places of the program there are; each is compared when the trace should have names. */
static size_t check_places(const char *trace, const char *app, const char *whole)
{
	struct hmap seen = { 0 };
	struct live_trace lt;
	struct trace_event ev;
	size_t cnt;

	live_open(&lt, trace, false);
	while (live_event(&lt, &ev))
		for (uint32_t i = 0; ev.kind == TRACE_SAMPLE && i < ev.frame_cnt; i++) {
			const uint64_t frame = ev.frames[i];
			const struct names_module *m =
				names_module(lt.names, names_frame_module(frame));
			struct buf got = { 0 }, want = { 0 };

			if (strcmp(names_str(lt.names, m->path, NULL), app) != 0 ||
			    hmap_get(&seen, frame))
				continue;
			hmap_set(&seen, frame, &lt);
			put_functions(&got, lt.names, frame);
			if (whole)
				put_functions_of(&want, whole, frame & PROF_FRAME_OFFSET_MASK);
			else
				buf_addstr(&want, "??\n");
			cr_expect_str_eq(buf_cstr(&got), buf_cstr(&want), "at %llx",
					 (unsigned long long)(frame & PROF_FRAME_OFFSET_MASK));
			buf_free(&got);
			buf_free(&want);
		}
	live_close(&lt);
	cnt = seen.cnt;
	hmap_fini(&seen);
	return cnt;
}

Test(symbolize_live, stripped_program_gets_the_names_of_its_debug_file)
{
	/* theirs are valid for a while only */
	char *app = strdup(live_path("app")), *whole = strdup(live_built("stimuli/demo"));
	char *root = strdup(live_path("root")), *trace = strdup(live_path("t.bin"));
	char *named = strdup(live_path("named.bin"));
	const char *record[] = { "--no-names", "-q", "-F",    "499", "-o", trace,
				 "--",	       app,  "--now", "1",   NULL };
	const char *symbolize[] = { "symbolize", "--symfs", root, trace, "-o", named, NULL };
	size_t cnt;

	shell("cp $1 $2", whole, app);
	run(record);
	cnt = check_places(trace, app, NULL);
	cr_assert_gt(cnt, 10, "%zu places", cnt);
	shell("objcopy -S $1 $2", whole, app);
	shell("id=$(readelf -n $1 | sed -n 's/.*Build ID: //p'); d=$2/.build-id/${id%${id#??}}; "
	      "mkdir -p $d && objcopy --only-keep-debug $1 $d/${id#??}.debug",
	      whole, root);
	run(symbolize);
	cr_expect_eq(check_places(named, app, whole), cnt);
	free(app);
	free(whole);
	free(root);
	free(trace);
	free(named);
}
