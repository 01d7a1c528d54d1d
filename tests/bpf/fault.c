// SPDX-License-Identifier: BSD-2-Clause
/*
 * fault.c - checks of a recording next to a hostile program
 *
 * While the recorder runs, its memory and the size of its file are noted. A name's time is when the
 * file had grown past its SymbolTableEntry: that is when another reader could have seen it.
 *
 * The limits hold on a machine that has nothing else to do. The neighbour wants a CPU of its own all
 * the time: where it gets a half, the machine is busy, and the limits are twice as long.
 */
#include "tests/bpf/fault.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hmap.h"

#define SECOND_NS 1000000000ULL
#define NAMED_WITHIN_NS (2 * SECOND_NS)
#define GROWS_WITHIN_NS (2 * SECOND_NS) /* it is written each second, and the machine may be busy */
#define ENDS_WITHIN_NS (3 * (int64_t)SECOND_NS)
#define GIVEN_UP_AFTER_NS (20 * SECOND_NS)
#define STEP_NS 50000000L

enum { FLAT_KB = 64 * 1024, FLAT_FDS = 16, BUSY_MAX = 8 };
enum { NEIGHBOUR_MS = 600000, ARGS_MAX = 16 };

void fault_begin_late(struct fault *f)
{
	*f = (struct fault){ .mem_max_kb = FAULT_MEM_MAX_KB };
	live_stimulus(&f->neighbour, "spinner", "70", live_number(NEIGHBOUR_MS), NULL);
}

void fault_go(struct fault *f)
{
	cr_assert_eq(write(f->neighbour.in, "\n", 1), 1);
}

void fault_begin(struct fault *f)
{
	fault_begin_late(f);
	fault_go(f);
}

static uint64_t cpu_ns(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	cr_assert_eq(clock_getcpuclockid(pid, &clock), 0);
	cr_assert_eq(clock_gettime(clock, &ts), 0);
	return ts.tv_sec * SECOND_NS + ts.tv_nsec;
}

void fault_record(struct fault *f, unsigned int seconds, ...)
{
	const char *a[ARGS_MAX] = { 0 };
	size_t cnt = 0;
	va_list ap;

	va_start(ap, seconds);
	do
		cr_assert_lt(cnt, ARGS_MAX - 1);
	while ((a[cnt++] = va_arg(ap, const char *)));
	va_end(ap);
	f->duration_ns = seconds * SECOND_NS;
	live_record(&f->rec, "-q", "-a", "-d", live_number(seconds), a[0], a[1], a[2], a[3], a[4],
		    a[5], a[6], a[7], NULL);
	live_recording(&f->rec);
	f->began_ns = clock_mono_ns();
	f->neighbour_ns = cpu_ns(f->neighbour.pid);
}

uint64_t fault_status(pid_t pid, const char *key)
{
	unsigned long long v = 0;
	char path[64], line[256];
	size_t len = strlen(key);
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, len) && line[len] == ':')
			sscanf(line + len + 1, "%llu", &v);
	if (file)
		fclose(file);
	return v;
}

static uint64_t count_fds(pid_t pid)
{
	uint64_t cnt = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && readdir(dir))
		cnt++;
	if (dir)
		closedir(dir);
	return cnt;
}

static void add_use(struct fault *f)
{
	struct fault_use use = {
		.ns = clock_mono_ns(),
		.rss_kb = fault_status(f->rec.proc.pid, "VmRSS"),
		.fds = count_fds(f->rec.proc.pid),
	};
	uint64_t kb = fault_status(f->rec.proc.pid, "VmHWM");
	struct stat st;

	if (kb > f->hwm_kb)
		f->hwm_kb = kb;
	f->use = array_reserve(f->use, &f->use_cap, f->use_cnt + 1, sizeof(*f->use));
	f->use[f->use_cnt++] = use;
	if (stat(f->rec.path, &st))
		return;
	if (f->growth_cnt && f->growth[f->growth_cnt - 1].size == (uint64_t)st.st_size)
		return;
	f->growth = array_reserve(f->growth, &f->growth_cap, f->growth_cnt + 1, sizeof(*f->growth));
	f->growth[f->growth_cnt++] =
		(struct fault_growth){ .ns = clock_mono_ns(), .size = st.st_size };
}

void fault_watch(struct fault *f, fault_tick_fn tick, void *ctx)
{
	const struct timespec step = { .tv_nsec = STEP_NS };
	const uint64_t latest = f->began_ns + f->duration_ns + GIVEN_UP_AFTER_NS;
	int status;

	for (;;) {
		add_use(f);
		if (waitpid(f->rec.proc.pid, &status, WNOHANG) == f->rec.proc.pid)
			break;
		cr_assert_lt(clock_mono_ns(), latest, "the recording does not end");
		if (tick)
			tick(ctx, f);
		nanosleep(&step, NULL);
	}
	f->ended_ns = clock_mono_ns();
	f->busy = (double)(f->ended_ns - f->began_ns) /
		  (double)(cpu_ns(f->neighbour.pid) - f->neighbour_ns + 1);
	f->busy = f->busy < 1 ? 1 : f->busy > BUSY_MAX ? BUSY_MAX : f->busy;
	f->code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	f->rec.proc.pid = 0;
	add_use(f);
}

/* ---- what must hold ---------------------------------------------------------------------------- */

void fault_check_end(const struct fault *f)
{
	const int64_t took = f->ended_ns - f->began_ns, asked = f->duration_ns;
	struct buf text = live_errors(&f->rec.proc);

	cr_expect_eq(f->code, 0, "exit code %d: %s", f->code, text.data);
	fprintf(stderr, "busy %.1f; ended %.2f s late, at most %llu MB\n", f->busy,
		(took - asked) / 1e9, (unsigned long long)f->hwm_kb / 1024);
	cr_expect_leq((double)took, asked + ENDS_WITHIN_NS * f->busy,
		      "it ended after %.1f s, asked for %.1f", took / 1e9, asked / 1e9);
	buf_free(&text);
}

void fault_check_growth(const struct fault *f)
{
	uint64_t end = f->began_ns + f->duration_ns, before = f->began_ns, longest = 0;

	for (size_t i = 0; i < f->growth_cnt && before < end; i++) {
		if (f->growth[i].ns > before && f->growth[i].ns - before > longest)
			longest = f->growth[i].ns - before;
		before = f->growth[i].ns;
	}
	if (before < end && end - before > longest)
		longest = end - before;
	fprintf(stderr, "longest without growth %.2f s\n", longest / 1e9);
	cr_expect_leq((double)longest, GROWS_WITHIN_NS * f->busy,
		      "the file did not grow for %.1f s", longest / 1e9);
}

void fault_check_memory(const struct fault *f)
{
	cr_expect_gt(f->hwm_kb, 0);
	cr_expect_leq(f->hwm_kb, f->mem_max_kb, "the recorder took %llu MB",
		      (unsigned long long)f->hwm_kb / 1024);
}

/* When the file had been written up to there. */
static uint64_t written_at(const struct fault *f, uint64_t offset)
{
	for (size_t i = 0; i < f->growth_cnt; i++)
		if (f->growth[i].size >= offset)
			return f->growth[i].ns;
	return f->ended_ns;
}

/* The first frame in user space; 0 when there is none. */
static uint64_t user_frame(const struct trace_event *ev)
{
	for (uint32_t i = 0; i < ev->frame_cnt; i++)
		if (!(ev->frames[i] & PROF_FRAME_KERNEL))
			return ev->frames[i];
	return 0;
}

/* Whether it lies in the neighbour's own program, where everything has a name. */
static bool is_own(const struct live_trace *lt, uint64_t frame)
{
	const struct names_module *module = names_module(lt->names, names_frame_module(frame));
	const char *path = strrchr(names_str(lt->names, module->path, NULL), '/');

	return path && !strcmp(path, "/spinner");
}

/* The first sample of each of the neighbour's addresses: address -> index into `times` + 1. */
struct firsts {
	struct hmap at;
	uint64_t times[4096], frames[4096];
	uint64_t named[4096]; /* 0: never */
	size_t cnt;
	size_t samples, strays; /* all after the limit; those in no known module */
};

static void note_sample(struct firsts *s, const struct live_trace *lt, const struct trace_event *ev,
			const struct fault *f)
{
	uint64_t frame = user_frame(ev), addr;

	if (frame && ev->ts > f->began_ns + NAMED_WITHIN_NS * f->busy) {
		s->samples++;
		s->strays += !names_frame_module(frame);
	}
	if (!frame || !is_own(lt, frame))
		return;
	addr = names_frame_addr(lt->names, frame);
	if (hmap_get(&s->at, addr) || s->cnt == 4096)
		return;
	s->times[s->cnt] = ev->ts;
	s->frames[s->cnt] = addr;
	hmap_set(&s->at, addr, (void *)(uintptr_t)++s->cnt);
}

/* A name in brackets only says that there is none. */
static void note_symbol(struct firsts *s, const struct live_trace *lt, const struct trace_event *ev,
			const struct fault *f)
{
	uint64_t addr = live_int(ev, PROF_F_ADDR);
	size_t i = (uintptr_t)hmap_get(&s->at, addr);

	if (i && !s->named[i - 1] && *live_text(lt, ev, PROF_F_SYMBOL_NAME) != '[')
		s->named[i - 1] = written_at(f, ev->offset + ev->bytes);
}

/* Whatever it was sampled at, unless that came so late that its name may be the end's. */
static void check_firsts(const struct firsts *s, const struct fault *f)
{
	uint64_t end = f->began_ns + f->duration_ns, worst = 0;
	size_t unnamed = 0, counted = 0, which = 0;

	for (size_t i = 0; i < s->cnt; i++) {
		if (s->times[i] + NAMED_WITHIN_NS > end)
			continue;
		counted++;
		if (!s->named[i]) {
			unnamed++;
			which = i;
		} else if (s->named[i] > s->times[i] && s->named[i] - s->times[i] > worst) {
			worst = s->named[i] - s->times[i];
		}
	}
	fprintf(stderr, "slowest name of %zu: %.2f s; %zu unnamed\n", counted, worst / 1e9,
		unnamed);
	fprintf(stderr, "%zu of %zu later samples in no known file\n", s->strays, s->samples);
	cr_expect_leq(10 * s->strays, s->samples, "%zu of %zu samples lie in no known file",
		      s->strays, s->samples);
	cr_expect_gt(s->cnt, 0, "the neighbour was not sampled");
	cr_expect_eq(unnamed, 0,
		     "%zu of the neighbour's %zu addresses have no name: %llx, sampled at %.1f s",
		     unnamed, counted, (unsigned long long)s->frames[which],
		     (s->times[which] - f->began_ns) / 1e9);
	cr_expect_leq((double)worst, NAMED_WITHIN_NS * f->busy * (f->silent > 1 ? f->silent : 1),
		      "a name of the neighbour came after %.1f s", worst / 1e9);
}

void fault_check_names(const struct fault *f)
{
	struct firsts *s = xcalloc(1, sizeof(*s));
	struct live_trace lt;
	struct trace_event ev;

	live_open(&lt, f->rec.path, false);
	while (live_event(&lt, &ev)) {
		if (ev.kind == TRACE_SAMPLE && ev.pid == (uint32_t)f->neighbour.pid)
			note_sample(s, &lt, &ev, f);
		else if (ev.kind == TRACE_SYMBOL)
			note_symbol(s, &lt, &ev, f);
	}
	check_firsts(s, f);
	live_close(&lt);
	hmap_fini(&s->at);
	free(s);
}

void fault_info(const struct fault *f, struct live_proc *p)
{
	const char *args[] = { "info", "--json", f->rec.path, NULL };

	cr_assert_eq(live_run(p, args, NULL), 0);
}

static uint64_t number_of(const char *json, const char *key)
{
	const char *at = strstr(json, key);

	cr_assert(at, "no %s in: %s", key, json);
	return strtoull(at + strlen(key), NULL, 10);
}

void fault_check_account(const struct fault *f)
{
	uint64_t produced, written, lost;
	struct live_proc info;

	fault_info(f, &info);
	produced = number_of(info.output.data, "\"produced\":");
	written = number_of(info.output.data, "\"written\":");
	lost = number_of(strstr(info.output.data, "\"written\":"), "\"lost\":");
	cr_expect_gt(produced, 0);
	cr_expect_eq(produced, written + lost, "produced %llu, written %llu, lost %llu",
		     (unsigned long long)produced, (unsigned long long)written,
		     (unsigned long long)lost);
	live_proc_fini(&info);
}

void fault_check(struct fault *f)
{
	fault_check_end(f);
	fault_check_growth(f);
	fault_check_memory(f);
	fault_check_names(f);
	fault_check_account(f);
}

/* Most memory and descriptors in five seconds from `from_ns` on. */
static struct fault_use most(const struct fault *f, uint64_t from_ns)
{
	struct fault_use out = { 0 };

	for (size_t i = 0; i < f->use_cnt; i++) {
		const struct fault_use *u = &f->use[i];

		if (u->ns < from_ns || u->ns > from_ns + 5 * SECOND_NS)
			continue;
		out.rss_kb = u->rss_kb > out.rss_kb ? u->rss_kb : out.rss_kb;
		out.fds = u->fds > out.fds ? u->fds : out.fds;
	}
	return out;
}

void fault_check_flat(const struct fault *f, unsigned int seconds)
{
	struct fault_use early = most(f, f->began_ns + seconds * SECOND_NS);
	struct fault_use late = most(f, f->began_ns + f->duration_ns - 5 * SECOND_NS);

	fprintf(stderr, "after %u s %llu MB, %llu descriptors; at the end %llu MB, %llu\n", seconds,
		(unsigned long long)early.rss_kb / 1024, (unsigned long long)early.fds,
		(unsigned long long)late.rss_kb / 1024, (unsigned long long)late.fds);
	cr_expect_gt(early.rss_kb, 0);
	cr_expect_leq(late.rss_kb, early.rss_kb + FLAT_KB, "memory grew from %llu to %llu kB",
		      (unsigned long long)early.rss_kb, (unsigned long long)late.rss_kb);
	cr_expect_leq(late.fds, early.fds + FLAT_FDS, "descriptors grew from %llu to %llu",
		      (unsigned long long)early.fds, (unsigned long long)late.fds);
}

/* /proc adds to a kernel worker's name what it works for. */
static bool is_worker_of(const char *own, const char *recorded)
{
	return !strncmp(own, "kworker/", 8) && !strncmp(own, recorded, strlen(own));
}

static void note_exit(struct fault_exits *out, const struct live_trace *lt,
		      const struct trace_event *ev, const struct fault *f)
{
	const char *own = live_text(lt, ev, PROF_F_COMM);
	const char *recorded = names_str(lt->names, ev->comm, NULL);

	if (ev->comm == NAMES_NONE && ev->ts < f->began_ns + SECOND_NS) {
		out->early++;
	} else if (ev->comm == NAMES_NONE) {
		out->unknown++;
		snprintf(out->nameless, sizeof(out->nameless), "%u: %s, after %.3f s", ev->tid, own,
			 ((double)ev->ts - (double)f->began_ns) / 1e9);
	} else if (!strcmp(own, recorded) || is_worker_of(own, recorded)) {
		out->right++;
	} else {
		out->wrong++;
		snprintf(out->example, sizeof(out->example), "%u: %s, recorded %s", ev->tid, own,
			 recorded);
	}
}

/* On a busy machine the word of a birth may come late: one in ten thousand may have no name for that. */
enum { LATE_PER = 10000 };

void fault_check_exits(const struct fault *f, struct fault_exits *out)
{
	uint64_t sideband_lost = 0, late;
	struct live_trace lt;
	struct trace_event ev;

	*out = (struct fault_exits){ 0 };
	live_open(&lt, f->rec.path, false);
	while (live_event(&lt, &ev)) {
		if (live_is(&ev, PROF_EV_SCHED_PROCESS_EXIT))
			note_exit(out, &lt, &ev, f);
		else if (ev.kind == TRACE_LOST &&
			 !strncmp(live_text(&lt, &ev, PROF_F_KIND), PROF_LOST_SIDEBAND,
				  strlen(PROF_LOST_SIDEBAND)))
			sideband_lost += live_int(&ev, PROF_F_COUNT);
	}
	live_close(&lt);
	late = 1 + (out->right + out->wrong) / LATE_PER;
	fprintf(stderr,
		"exits: %llu right, %llu wrong, %llu unknown, %llu early; %llu side-band records lost\n",
		(unsigned long long)out->right, (unsigned long long)out->wrong,
		(unsigned long long)out->unknown, (unsigned long long)out->early,
		(unsigned long long)sideband_lost);
	cr_expect_eq(out->wrong, 0, "%llu exits under a wrong name, as %s",
		     (unsigned long long)out->wrong, out->example);
	cr_expect(out->unknown <= late || sideband_lost,
		  "%llu exits without a name, as %s, and nothing lost",
		  (unsigned long long)out->unknown, out->nameless);
}

void fault_kill(struct live_proc *p)
{
	kill(p->pid, SIGKILL);
	live_proc_fini(p);
}

void fault_record_enemy(struct fault *f, struct live_proc *enemy)
{
	cr_assert_eq(write(enemy->in, "\n", 1), 1);
	fault_record(f, 4, NULL);
	fault_watch(f, NULL, NULL);
	fault_kill(enemy);
	fault_check(f);
	fault_end(f);
}

void fault_end(struct fault *f)
{
	fault_kill(&f->neighbour);
	live_proc_fini(&f->rec.proc);
	free(f->growth);
	free(f->use);
	*f = (struct fault){ 0 };
}
