// SPDX-License-Identifier: BSD-2-Clause
/*
 * No wrong frame, whatever happens to code and processes while stacks are walked: of the stimulus
 * unwind_maze it is known who calls whom, and which library each of its threads was in at which time.
 * A stack may be shorter than the truth when it says so; what it has must be the truth.
 *
 * D9_UNWIND_SECONDS=300 makes it a long one.
 */
/* ALONE: CPU time */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tests/bpf/workload.h"
#include "tests/stimuli/unwind_maze.h"

TestSuite(unwind_stress, .fini = live_cleanup, .timeout = 3600);

enum { SECONDS = 10, SHOWN = 5, OTHERS_MAX = 6 };

enum place { STEP, CALL, PHASE, INTO, WORK, CHILD, THREAD, MAIN, LOSE, OTHER };

struct spot {
	enum place place;
	char letter; /* STEP and CALL */
	int step;
};

static struct maze_phase *phases;
static size_t phase_cnt;

static struct figures {
	uint64_t stacks, complete, no_list, in_phase, in_library, frames;
	uint64_t wrong;
	uint64_t unplaced; /* leaves that the recorder knew no file for any more, and said so */
	int64_t evicted, left_out, last_bytes;
	uint64_t by_end[PROF_END_CNT];
} figures;

/* ---- the truth --------------------------------------------------------------------------------- */

static int by_thread(const void *a, const void *b)
{
	const struct maze_phase *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static void read_phases(const char *path)
{
	struct buf log = { 0 };
	char part[4096];
	size_t n;
	FILE *f = fopen(path, "re");

	cr_assert(f);
	while ((n = fread(part, 1, sizeof(part), f)) > 0)
		buf_add(&log, part, n);
	fclose(f);
	phases = (struct maze_phase *)log.data;
	phase_cnt = log.len / sizeof(*phases);
	cr_assert_gt(phase_cnt, 10);
	qsort(phases, phase_cnt, sizeof(*phases), by_thread);
}

/* What a thread was in then; NULL: not known. */
static const struct maze_phase *phase_at(uint32_t tid, uint64_t ts)
{
	const struct maze_phase key = { .tid = tid, .from_ns = ts };
	size_t lo = 0, hi = phase_cnt;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (by_thread(&phases[mid], &key) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && phases[lo - 1].tid == tid && phases[lo - 1].to_ns >= ts ? &phases[lo - 1] :
									       NULL;
}

static struct spot spot_of(const struct names *n, uint64_t frame)
{
	static const struct {
		const char *name;
		enum place place;
	} places[] = {
		{ "maze_phase", PHASE },   { "maze_dlopen", INTO }, { "maze_over", INTO },
		{ "maze_again", INTO },	   { "maze_work", WORK },   { "maze_child", CHILD },
		{ "maze_thread", THREAD }, { "maze_lose", LOSE },   { "main", MAIN },
	};
	const struct names_symbol *sym = names_symbol(n, frame);
	const char *name = sym ? names_str(n, sym->frames[0].name, NULL) : "";
	size_t len = strcspn(name, ".");
	struct spot s = { .place = OTHER };

	if (sscanf(name, "maze_call_%c", &s.letter) == 1)
		s.place = CALL;
	else if (len == 8 && sscanf(name, "maze_%c_%d", &s.letter, &s.step) == 2)
		s.place = STEP;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (len == strlen(places[i].name) && !strncmp(name, places[i].name, len))
			s.place = places[i].place;
	return s;
}

/* Whether @caller may call @callee; @lose: a handler of signals stands between. */
static bool may_call(const struct spot *callee, const struct spot *caller, bool lose)
{
	switch (callee->place) {
	case STEP:
		return callee->step ? caller->place == STEP && caller->letter == callee->letter &&
					      caller->step == callee->step - 1 :
				      caller->place == CALL && caller->letter == callee->letter;
	case CALL:
		return caller->place == PHASE;
	case PHASE:
		return caller->place == INTO;
	case INTO:
		return caller->place == WORK || caller->place == CHILD || caller->place == MAIN;
	case WORK:
		return caller->place == THREAD;
	case CHILD:
		return caller->place == WORK || caller->place == OTHER;
	case THREAD:
	case MAIN:
	case LOSE:
		return caller->place == OTHER;
	case OTHER:
		return lose || (caller->place != STEP && caller->place != CALL);
	}
	return false;
}

/* ---- what was recorded ------------------------------------------------------------------------- */

/* What is wrong with a stack, or NULL. */
static const char *fault(const struct names *n, const uint64_t *frames, uint32_t cnt, uint8_t end,
			 char letter)
{
	struct spot here = { .place = OTHER }, next;
	bool lose = end & PROF_USER_SIGNAL; /* of a leaf: on its way back from a handler */
	bool rooted = false, any = false;

	for (uint32_t i = 0; i < cnt; i++, here = next) {
		const struct names_module *m = names_module(n, names_frame_module(frames[i]));

		next = spot_of(n, frames[i]);
		if (!m->announced && !names_frame_module(frames[i]) && i + 1 == cnt &&
		    (end & PROF_USER_END_MASK) == PROF_END_NO_TABLE) {
			figures.unplaced++;
			return NULL;
		}
		if (!m->announced || m->kind == PROF_MODULE_ANON)
			return "a frame in no file";
		if (i && !may_call(&here, &next, lose))
			return "no such call";
		if (letter && next.place == STEP && next.letter != letter)
			return "another library's function";
		lose = next.place == LOSE || (here.place == LOSE && i) || (lose && !i);
		rooted |= next.place == MAIN || next.place == THREAD;
		any |= next.place != OTHER;
	}
	if ((end & PROF_USER_END_MASK) != PROF_END_COMPLETE)
		return NULL;
	return !cnt				       ? "complete without a frame" :
	       here.place != OTHER || (any && !rooted) ? "complete without a root" :
							 NULL;
}

static void show(const struct names *n, const struct trace_event *ev, const char *what,
		 const struct maze_phase *phase)
{
	printf("%s, thread %u of %u, end %u", what, ev->tid, ev->pid, ev->user_end);
	if (phase)
		printf(", %llu us in a phase of %c",
		       (unsigned long long)(ev->ts - phase->from_ns) / 1000, phase->letter);
	puts(":");
	for (uint32_t i = 0; i < ev->frame_cnt; i++) {
		const struct names_symbol *sym = names_symbol(n, ev->frames[i]);
		const struct names_module *m = names_module(n, names_frame_module(ev->frames[i]));

		printf("  %s+%llx  %s\n", names_str(n, m->path, NULL),
		       (unsigned long long)(ev->frames[i] & PROF_FRAME_OFFSET_MASK),
		       sym ? names_str(n, sym->frames[0].name, NULL) : "?");
	}
}

static bool has_library(const struct names *n, const uint64_t *frames, uint32_t cnt)
{
	for (uint32_t i = 0; i < cnt; i++)
		if (spot_of(n, frames[i]).place == STEP)
			return true;
	return false;
}

static void check_stack(const struct live_trace *lt, const struct trace_event *ev)
{
	uint8_t end = ev->user_end & PROF_USER_END_MASK;
	const struct maze_phase *phase = phase_at(ev->tid, ev->ts);
	const uint64_t *frames;
	const char *what;
	uint32_t cnt;

	if (end == PROF_END_NOT_WALKED)
		return;
	frames = workload_user(ev, &cnt);
	figures.stacks++;
	figures.by_end[end < PROF_END_CNT ? end : 0]++;
	if (end == PROF_END_NO_LIST) {
		/* the walk without tables, which promises nothing but the leaf */
		figures.no_list++;
		cnt = cnt ? 1 : 0;
	}
	figures.complete += end == PROF_END_COMPLETE;
	figures.in_phase += phase != NULL;
	figures.in_library += has_library(lt->names, frames, cnt);
	figures.frames += cnt;
	what = fault(lt->names, frames, cnt, ev->user_end, phase ? (char)phase->letter : 0);
	if (!what)
		return;
	if (figures.wrong++ < SHOWN)
		show(lt->names, ev, what, phase);
}

static void print_figures(void)
{
	const struct figures *f = &figures;

	printf("%llu stacks, %llu frames: %llu complete, %llu in a phase, %llu in a library, %llu "
	       "wrong; %lld tables evicted, %lld left out, %lld bytes; by end:",
	       (unsigned long long)f->stacks, (unsigned long long)f->frames,
	       (unsigned long long)f->complete, (unsigned long long)f->in_phase,
	       (unsigned long long)f->in_library, (unsigned long long)f->wrong,
	       (long long)f->evicted, (long long)f->left_out, (long long)f->last_bytes);
	for (int i = 0; i < PROF_END_CNT; i++)
		if (f->by_end[i])
			printf(" %d: %llu", i, (unsigned long long)f->by_end[i]);
	puts("");
}

static bool is_of_maze(const struct names *n, const struct trace_event *ev)
{
	return ev->comm != NAMES_NONE && !strcmp(names_str(n, ev->comm, NULL), "unwind_maze");
}

static void check_stats(const struct trace_event *ev)
{
	figures.evicted = live_int(ev, "unwind_evicted");
	figures.left_out = live_int(ev, "unwind_tables_left_out");
	figures.last_bytes = live_int(ev, "rss_bytes");
}

static void start_maze(struct live_proc *maze, char *log, size_t sz, unsigned int seconds)
{
	snprintf(log, sz, "%s", live_path("phases"));
	live_stimulus(maze, "unwind_maze", live_number(seconds), "7", log, NULL);
}

static void check_stacks(struct live_rec *rec, const char *log)
{
	struct live_trace lt;
	struct trace_event ev;

	read_phases(log);
	live_open(&lt, rec->path, false);
	while (live_event(&lt, &ev))
		if (ev.kind == TRACE_STATS)
			check_stats(&ev);
		else if (ev.kind == TRACE_SAMPLE && is_of_maze(lt.names, &ev))
			check_stack(&lt, &ev);
	print_figures();
	live_close(&lt);
	free(phases);
	cr_assert_eq(figures.wrong, 0, "%llu wrong stacks", (unsigned long long)figures.wrong);
}

/* Programs whose tables are larger than all room for them, in turn more and less at work. */
Test(unwind_stress, no_frame_is_wrong_while_tables_are_evicted_for_lack_of_room)
{
	unsigned int seconds = workload_number("D9_UNWIND_SECONDS", SECONDS / 2), i, cnt = 0;
	struct live_proc maze, others[OTHERS_MAX];
	struct live_rec rec;
	char log[128];

	for (i = 0; workloads[i].name && cnt < OTHERS_MAX; i++)
		if (workloads[i].shell && !workloads[i].by_hand && workload_wanted(&workloads[i]))
			workload_start(&others[cnt++], workloads[i].shell);
	start_maze(&maze, log, sizeof(log), seconds);
	live_record(&rec, "-a", "-F", "999", "--switch-stacks", "user", "--unwind-mem", "1M", NULL);
	live_recording(&rec);
	live_go(&maze);
	cr_assert_eq(live_stop(&rec), 0);
	live_end(&maze);
	for (i = 0; i < cnt; i++)
		workload_kill(&others[i]);
	check_stacks(&rec, log);
	cr_assert_gt(figures.in_phase, 10 * seconds);
	cr_expect(!cnt || figures.evicted + figures.left_out, "there was room for all");
	cr_expect_leq(figures.unplaced * 1000, figures.stacks, "%llu leaves without a file",
		      (unsigned long long)figures.unplaced);
}

Test(unwind_stress, no_frame_is_wrong_while_code_and_processes_come_and_go)
{
	unsigned int seconds = workload_number("D9_UNWIND_SECONDS", SECONDS);
	struct live_proc maze;
	struct live_rec rec;
	char log[128];

	start_maze(&maze, log, sizeof(log), seconds);
	live_record(&rec, "-F", "3999", "--switch-stacks", "user", "-p", live_number(maze.pid),
		    NULL);
	live_recording(&rec);
	live_go(&maze);
	cr_assert_eq(live_stop(&rec), 0);
	live_end(&maze);
	check_stacks(&rec, log);
	cr_assert_gt(figures.in_phase, 100 * seconds);
	cr_assert_gt(figures.in_library, 100 * seconds);
	cr_assert_geq(figures.complete * 10, figures.stacks * 3);
	cr_assert_eq(figures.unplaced, 0);
}
