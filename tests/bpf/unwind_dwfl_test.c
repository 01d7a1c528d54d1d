// SPDX-License-Identifier: BSD-2-Clause
/* LINK: -ldw */
/*
 * User stacks frame by frame against libdwfl's, an unwinder of another hand: each program is stopped
 * again and again, walked by libdwfl while it stands, and the last stack that the recorder has of it
 * from that time must be the same, but for the reasons that enum outcome lists.
 *
 * D9_UNWIND_STOPS=2500 makes many stops; D9_UNWIND_PROGRAMS=xz,node names the programs.
 */
#include <criterion/criterion.h>
#include <elfutils/libdwfl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "tests/bpf/workload.h"

TestSuite(unwind_dwfl, .fini = live_cleanup, .timeout = 1200);

enum { STOPS = 200, PROGRAMS_MAX = 16, FRAMES_MAX = 127, PLACES_MAX = 64 };

enum outcome {
	EQUAL, /* every frame */
	MOVED_ON, /* the first address differs: it was another stop */
	NOT_RECORDED, /* no switch-out of that time */
	DWFL_SHORT, /* libdwfl gave up; its frames are ours, and ours go on to the root */
	UNSUPPORTED, /* ours ends at a rule that is not followed, or with a copy, and was equal up to there */
	DIFFERENT,
	OUTCOME_CNT,
};

static const char *const outcome_names[OUTCOME_CNT] = {
	[EQUAL] = "equal",
	[MOVED_ON] = "moved on",
	[NOT_RECORDED] = "not recorded",
	[DWFL_SHORT] = "libdwfl ended early",
	[UNSUPPORTED] = "rule not supported",
	[DIFFERENT] = "different",
};

struct truth {
	uint64_t pc;
	bool exact; /* an interrupted frame, or its neighbour: pc may point to an instruction */
};

struct stop {
	size_t program;
	uint64_t from_ns, to_ns;
	struct truth truth[FRAMES_MAX];
	uint32_t truth_cnt;
	uint64_t frames[FRAMES_MAX]; /* recorded */
	uint32_t frame_cnt;
	uint8_t user_end;
	bool recorded;
};

/* An executable mapping of a file, from /proc at the end. */
struct place {
	uint64_t start, end, offset;
	char path[128];
};

struct target {
	const struct workload *prog;
	struct live_proc proc;
	Dwfl *dwfl;
	uint32_t pid;
	unsigned int outcomes[OUTCOME_CNT];
	uint64_t frames; /* that were equal */
	struct place places[PLACES_MAX];
	size_t place_cnt;
};

static struct target targets[PROGRAMS_MAX];
static size_t target_cnt;
static struct stop *stops;
static size_t stop_cnt;

/* ---- libdwfl ----------------------------------------------------------------------------------- */

/* Debug information has nothing that .eh_frame lacks, and looking for it takes time. */
static int no_debuginfo(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **out)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = { .find_elf = dwfl_linux_proc_find_elf,
					  .find_debuginfo = no_debuginfo };

static int add_dwfl_frame(Dwfl_Frame *frame, void *arg)
{
	struct stop *stop = arg;
	struct truth *t = &stop->truth[stop->truth_cnt];

	if (!dwfl_frame_pc(frame, &t->pc, &t->exact))
		return DWARF_CB_ABORT;
	return ++stop->truth_cnt == FRAMES_MAX ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static void walk(struct target *t, struct stop *stop)
{
	bool fresh = !t->dwfl;

	if (fresh)
		t->dwfl = dwfl_begin(&callbacks);
	dwfl_report_begin(t->dwfl);
	cr_assert_eq(dwfl_linux_proc_report(t->dwfl, t->proc.pid), 0);
	dwfl_report_end(t->dwfl, NULL, NULL);
	if (fresh)
		cr_assert_eq(dwfl_linux_proc_attach(t->dwfl, t->proc.pid, false), 0);
	dwfl_getthread_frames(t->dwfl, t->proc.pid, add_dwfl_frame, stop);
	cr_assert_gt(stop->truth_cnt, 0, "%s: %s", t->prog->name, dwfl_errmsg(-1));
}

/* ---- stops ------------------------------------------------------------------------------------- */

static void halt(const struct target *t)
{
	siginfo_t info;

	cr_assert_eq(kill(t->proc.pid, SIGSTOP), 0);
	cr_assert_eq(waitid(P_PID, t->proc.pid, &info, WSTOPPED | WEXITED), 0);
	cr_assert_eq(info.si_code, CLD_STOPPED, "%s ended", t->prog->name);
}

/* Only one runs at a time. */
static void start_all(void)
{
	for (const struct workload *prog = workloads; prog->name; prog++) {
		struct target *t = &targets[target_cnt];

		if (!prog->shell || !workload_wanted(prog))
			continue;
		cr_assert_lt(target_cnt++, PROGRAMS_MAX);
		*t = (struct target){ .prog = prog };
		workload_start(&t->proc, prog->shell);
		t->pid = t->proc.pid;
		workload_await_work(&t->proc, 100);
		halt(t);
	}
	cr_assert_geq(target_cnt, 1);
}

static void stop_once(struct target *t, struct stop *stop)
{
	const struct timespec nap = { .tv_nsec = 500000 + rand() % 4000000 };

	kill(t->proc.pid, SIGCONT);
	nanosleep(&nap, NULL);
	stop->program = t - targets;
	stop->from_ns = clock_mono_ns();
	halt(t);
	walk(t, stop);
	stop->to_ns = clock_mono_ns();
}

static void read_places(struct target *t)
{
	char path[32], line[512], perms[5];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%u/maps", t->pid);
	maps = fopen(path, "re");
	cr_assert(maps);
	while (t->place_cnt < PLACES_MAX && fgets(line, sizeof(line), maps)) {
		struct place *p = &t->places[t->place_cnt];

		if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %127s", &p->start, &p->end, perms,
			   &p->offset, p->path) == 5 &&
		    perms[2] == 'x' && p->path[0] == '/')
			t->place_cnt++;
	}
	fclose(maps);
}

static void end_all(void)
{
	for (size_t i = 0; i < target_cnt; i++) {
		workload_kill(&targets[i].proc);
		dwfl_end(targets[i].dwfl);
	}
}

static void record_pids(struct live_rec *rec)
{
	struct buf pids = { 0 };

	for (size_t i = 0; i < target_cnt; i++)
		buf_printf(&pids, "%s%u", i ? "," : "", targets[i].pid);
	live_record(rec, "-p", buf_cstr(&pids), "--no-samples", "--switch-stacks", "user", NULL);
	live_recording(rec);
	buf_free(&pids);
}

/* ---- the recording ----------------------------------------------------------------------------- */

/* The stop whose time this is; they do not overlap. */
static struct stop *stop_at(uint64_t ts)
{
	size_t lo = 0, hi = stop_cnt;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (stops[mid].to_ns < ts)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < stop_cnt && stops[lo].from_ns <= ts ? &stops[lo] : NULL;
}

static void compare_stack(const struct trace_event *ev)
{
	struct stop *stop = stop_at(ev->ts);
	const uint64_t *user;
	uint32_t cnt;

	if (!stop || ev->tid != targets[stop->program].pid)
		return;
	user = workload_user(ev, &cnt);
	stop->recorded = true;
	stop->frame_cnt = cnt < FRAMES_MAX ? cnt : FRAMES_MAX;
	if (user)
		memcpy(stop->frames, user, stop->frame_cnt * sizeof(*user));
	stop->user_end = ev->user_end & PROF_USER_END_MASK;
}

/*
 * A program may have some of its own file mapped twice, as node has the functions that come with it; a trace
 * has one mapping of a module that is not looked up by address.
 */
static bool is_in_file_at(const struct target *t, const struct names *n, uint64_t frame,
			  uint64_t addr)
{
	const struct names_module *m = names_module(n, names_frame_module(frame));
	const char *path = m->announced ? names_str(n, m->path, NULL) : NULL;

	for (size_t i = 0; path && i < t->place_cnt; i++) {
		const struct place *p = &t->places[i];

		if (addr >= p->start && addr < p->end && !strcmp(p->path, path))
			return addr - p->start + p->offset == (frame & PROF_FRAME_OFFSET_MASK);
	}
	return false;
}

static bool is_at(const struct workload_maps *maps, const struct names *n, const struct target *t,
		  uint64_t frame, uint64_t addr)
{
	return workload_is_at(maps, n, t->pid, frame, addr) || is_in_file_at(t, n, frame, addr);
}

static bool same(const struct workload_maps *maps, const struct names *n, const struct stop *stop,
		 uint32_t i)
{
	const struct truth *t = &stop->truth[i];
	const struct target *target = &targets[stop->program];

	if ((!i || t->exact) && is_at(maps, n, target, stop->frames[i], t->pc))
		return true;
	return i && is_at(maps, n, target, stop->frames[i], t->pc - 1);
}

static enum outcome compare(const struct workload_maps *maps, const struct names *n,
			    const struct stop *stop)
{
	uint32_t i = 0;

	if (!stop->recorded)
		return NOT_RECORDED;
	while (i < stop->frame_cnt && i < stop->truth_cnt && same(maps, n, stop, i))
		i++;
	if (!i)
		return stop->frame_cnt ? MOVED_ON : DIFFERENT;
	/* while an exception rewrites the stack the next frame is nonsense: libdwfl ends there, too */
	if (i == stop->frame_cnt && i == stop->truth_cnt &&
	    (stop->user_end == PROF_END_COMPLETE || stop->user_end == PROF_END_FULL ||
	     stop->user_end == PROF_END_NO_RETURN || stop->user_end == PROF_END_NO_PROGRESS))
		return EQUAL;
	if (i == stop->truth_cnt && stop->user_end == PROF_END_COMPLETE)
		return DWFL_SHORT;
	if (i == stop->frame_cnt &&
	    (stop->user_end == PROF_END_UNSUPPORTED || stop->user_end == PROF_END_COPY_LIMIT))
		return UNSUPPORTED;
	return DIFFERENT;
}

static void show(const struct live_trace *lt, const struct stop *stop)
{
	uint32_t cnt = stop->frame_cnt > stop->truth_cnt ? stop->frame_cnt : stop->truth_cnt;

	printf("%s: %u frames recorded (end %u), libdwfl has %u\n",
	       targets[stop->program].prog->name, stop->frame_cnt, stop->user_end, stop->truth_cnt);
	for (uint32_t i = 0; i < cnt; i++) {
		const struct names_module *m = names_module(
			lt->names, i < stop->frame_cnt ? names_frame_module(stop->frames[i]) : 0);

		printf("  %2u  %14llx  %s+%llx\n", i,
		       i < stop->truth_cnt ? (unsigned long long)stop->truth[i].pc : 0,
		       names_str(lt->names, m->path, NULL),
		       i < stop->frame_cnt ?
			       (unsigned long long)(stop->frames[i] & PROF_FRAME_OFFSET_MASK) :
			       0);
	}
}

static void read_trace(const char *path, struct live_trace *lt, struct workload_maps *maps)
{
	struct trace_event ev;

	live_open(lt, path, false);
	while (live_event(lt, &ev)) {
		workload_maps_add(maps, &ev);
		if (ev.kind == TRACE_SAMPLE && ev.source == PROF_SOURCE_SWITCH_OUT)
			compare_stack(&ev);
	}
	live_assert_no_loss(lt);
}

static void compare_all(const char *path, unsigned int all[OUTCOME_CNT])
{
	struct workload_maps maps = { 0 };
	struct live_trace lt;
	unsigned int shown = 0;

	read_trace(path, &lt, &maps);
	for (size_t i = 0; i < stop_cnt; i++) {
		enum outcome o = compare(&maps, lt.names, &stops[i]);

		targets[stops[i].program].outcomes[o]++;
		targets[stops[i].program].frames += o == EQUAL ? stops[i].truth_cnt : 0;
		all[o]++;
		if (o == DIFFERENT && shown++ < 5)
			show(&lt, &stops[i]);
	}
	workload_maps_fini(&maps);
	live_close(&lt);
}

static void print_outcomes(void)
{
	for (size_t i = 0; i < target_cnt; i++) {
		printf("%-12s", targets[i].prog->name);
		for (int o = 0; o < OUTCOME_CNT; o++)
			if (targets[i].outcomes[o])
				printf("  %s %u", outcome_names[o], targets[i].outcomes[o]);
		printf("  (%llu frames)\n", (unsigned long long)targets[i].frames);
	}
}

Test(unwind_dwfl, stacks_equal_the_stacks_of_libdwfl_frame_by_frame)
{
	unsigned int all[OUTCOME_CNT] = { 0 };
	struct live_rec rec;

	unsetenv("DEBUGINFOD_URLS");
	stop_cnt = workload_number("D9_UNWIND_STOPS", STOPS);
	stops = xcalloc(stop_cnt, sizeof(*stops));
	start_all();
	record_pids(&rec);
	for (size_t i = 0; i < stop_cnt; i++)
		stop_once(&targets[i % target_cnt], &stops[i]);
	cr_assert_eq(live_stop(&rec), 0);
	for (size_t i = 0; i < target_cnt; i++)
		read_places(&targets[i]);
	compare_all(rec.path, all);
	print_outcomes();
	end_all();
	free(stops);
	cr_assert_eq(all[DIFFERENT], 0, "%u of %zu stacks differ", all[DIFFERENT], stop_cnt);
	cr_assert_geq(all[EQUAL] * 10, stop_cnt * 9, "only %u of %zu are equal", all[EQUAL],
		      stop_cnt);
	cr_assert_leq(all[UNSUPPORTED] * 100, stop_cnt);
}
