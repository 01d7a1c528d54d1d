// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shared by the reading commands: selection of file, threads, CPUs and time. Owns the meaning of those options;
 * independent of how selected events are used.
 *
 * A time may be relative to the start, a share of the whole, or wall-clock time. Its value on the trace's clock is
 * known only after the first event or the ClockSyncEvent. So windows are resolved while reading. Only shares need
 * the end in advance. A stream of several recordings may have several clocks: each has a separate window.
 */
#include "cmd/common/select.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/common/cmd.h"
#include "cmd/common/report_text.h"
#include "profile/sched/intervals.h"
#include "trace/source/recording_id.h"
#include "trace/source/source_set.h"

#define NS_PER_SEC 1000000000ULL

/* Whether the files are parts of one recording: the first @len bytes of @a name all of them. */
static bool are_parts(const char *a, const char *b, size_t *len)
{
	struct recording_id x, y;
	uint64_t number;
	bool yes;

	if (!source_set_is_same(a, b) || !source_set_parse(a, len, &number))
		return false;
	recording_id_read(a, &x);
	recording_id_read(b, &y);
	yes = recording_id_is_same(&x, &y);
	recording_id_fini(&x);
	recording_id_fini(&y);
	return yes;
}

static void report_unexpected(const char *command, const char *used, const char *unexpected)
{
	size_t len;

	if (are_parts(used, unexpected, &len))
		log_error("%s: %s and %s are parts of one recording: name %.*s to read all of it",
			  command, used, unexpected, (int)len, used);
	else
		log_error(
			"%s: unexpected argument '%s': only one trace is read; see dial9-prof %s --help",
			command, unexpected, command);
}

const char *select_input(const struct select_opts *o, int argc, char **argv, int first)
{
	if (argc - first > (o->input ? 0 : 1)) {
		report_unexpected(argv[0], o->input ? o->input : argv[first],
				  argv[o->input ? first : first + 1]);
		return NULL;
	}
	if (o->input)
		return o->input;
	return first < argc ? argv[first] : CMD_DEFAULT_FILE;
}

int select_run(const struct opt_spec *spec, int argc, char **argv, void *opts,
	       const struct select_opts *sel, int (*fn)(const void *opts, const char *path))
{
	int first, code = CMD_USAGE;
	const char *path;

	switch (opts_parse(spec, argc, argv, opts, &first)) {
	case 0:
		path = select_input(sel, argc, argv, first);
		if (path)
			code = fn(opts, path);
		break;
	case 1:
		code = CMD_OK;
		break;
	}
	opts_fini(spec, opts);
	return code;
}

/* ---- times ------------------------------------------------------------------------------------- */

/* SECONDS[.FRACTION] up to *@end, in units of 1e-9. */
static int parse_decimal(const char *s, const char **end, uint64_t *out)
{
	uint64_t v = 0, scale = NS_PER_SEC;

	if (!isdigit((unsigned char)*s))
		return -EINVAL;
	for (; isdigit((unsigned char)*s); s++) {
		v = v * 10 + (uint64_t)(*s - '0');
		if (v > UINT64_MAX / NS_PER_SEC / 2)
			return -ERANGE;
	}
	v *= NS_PER_SEC;
	if (*s == '.')
		for (s++; isdigit((unsigned char)*s); s++) {
			scale /= 10;
			v += scale * (uint64_t)(*s - '0');
		}
	*end = s;
	*out = v;
	return 0;
}

static int parse_clock(const char *s, uint64_t *out)
{
	uint64_t sum = 0, part;

	for (int i = 0; i < 3; i++) {
		if (parse_decimal(s, &s, &part) || (i < 2 && part % NS_PER_SEC) ||
		    part >= (i ? 60 : 24) * NS_PER_SEC)
			return -EINVAL;
		sum = sum * (i ? 60 : 1) + part;
		if (i < 2 && *s++ != ':')
			return -EINVAL;
	}
	*out = sum;
	return *s ? -EINVAL : 0;
}

/* Units of durations; times on the trace's own clock have none. */
static bool parse_unit(const char **s, uint64_t *ns)
{
	static const struct {
		const char *unit;
		uint64_t part; /* of a second */
	} units[] = { { "s", 1 }, { "ms", 1000 }, { "us", 1000000 }, { "ns", NS_PER_SEC } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(*s, units[i].unit)) {
			*s += strlen(*s);
			*ns /= units[i].part;
			return true;
		}
	return false;
}

static int parse_time(const char *s, struct select_time *t)
{
	const char *end;
	int err;

	t->kind = SELECT_NONE;
	if (!*s)
		return 0;
	if (strchr(s, ':')) {
		t->kind = SELECT_CLOCK;
		return parse_clock(s, &t->value);
	}
	t->kind = *s == '+' ? SELECT_RELATIVE : SELECT_ABSOLUTE;
	err = parse_decimal(s + (*s == '+'), &end, &t->value);
	if (err)
		return err;
	if (parse_unit(&end, &t->value))
		t->kind = SELECT_RELATIVE;
	if (*end == '%' && t->kind == SELECT_ABSOLUTE) {
		t->kind = SELECT_PERCENT;
		t->value /= 1000;
		end++;
		if (t->value > 100 * 1000000ULL)
			return -ERANGE;
	}
	return *end ? -EINVAL : 0;
}

/* Ends of one kind compare before anything is known of the trace; others may or may not. */
static bool is_reversed(const struct select_time *from, const struct select_time *to)
{
	return from->kind != SELECT_NONE && from->kind == to->kind && from->value > to->value;
}

static int compile_time(struct select *sel, const struct select_opts *o)
{
	char first[64];
	const char *comma;
	size_t n;

	comma = strchr(o->time, ',');
	n = comma ? (size_t)(comma - o->time) : strlen(o->time);
	if (n < sizeof(first)) {
		memcpy(first, o->time, n);
		first[n] = '\0';
		sel->has_time =
			comma && !parse_time(first, &sel->from) && !parse_time(comma + 1, &sel->to);
	}
	if (!sel->has_time) {
		log_error("bad value '%s' for --time: expected A,B with seconds, +seconds, 100ms, "
			  "10%% or 12:34:56",
			  o->time);
		return -EINVAL;
	}
	if (is_reversed(&sel->from, &sel->to)) {
		log_error("--time %s ends before it begins", o->time);
		return -EINVAL;
	}
	return 0;
}

int select_init(struct select *sel, const struct select_opts *o)
{
	int err;

	memset(sel, 0, sizeof(*sel));
	sel->opts = o;
	err = o->time ? compile_time(sel, o) : 0;
	if (err)
		return err;
	if (o->cgroups.cnt)
		sel->cgroups = xcalloc(1, sizeof(*sel->cgroups));
	sel->cpus_seen = xcalloc(o->cpus.cnt + 1, sizeof(*sel->cpus_seen));
	sel->cpus_unseen = o->cpus.cnt;
	return 0;
}

void select_fini(struct select *sel)
{
	if (sel->cgroups)
		hmap_fini(sel->cgroups);
	free(sel->cgroups);
	free(sel->windows);
	free(sel->cpus_seen);
	memset(sel, 0, sizeof(*sel));
}

bool select_wants_scan(const struct select *sel)
{
	return sel->has_time &&
	       (sel->from.kind == SELECT_PERCENT || sel->to.kind == SELECT_PERCENT);
}

bool select_is_absolute(const struct select *sel, uint64_t *from_ns, uint64_t *to_ns)
{
	*from_ns = sel->from.value;
	*to_ns = sel->to.value;
	return sel->has_time && sel->from.kind == SELECT_ABSOLUTE &&
	       sel->to.kind == SELECT_ABSOLUTE;
}

/* Local midnight of the day on which the part starts, on its clock; may be negative. */
static int64_t midnight(const struct part *part, uint64_t first_ts)
{
	int64_t offset = (int64_t)(part->real - part->mono), start;
	struct tm tm;
	time_t day;

	start = (int64_t)(first_ts + (uint64_t)offset);
	day = (time_t)(start / (int64_t)NS_PER_SEC);
	if (!localtime_r(&day, &tm))
		return 0;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	return (int64_t)((uint64_t)mktime(&tm) * NS_PER_SEC - (uint64_t)offset);
}

static uint64_t resolve_one(const struct select_time *t, const struct part *part, uint64_t first,
			    uint64_t last, uint64_t otherwise)
{
	int64_t ts;

	switch (t->kind) {
	case SELECT_ABSOLUTE:
		return t->value;
	case SELECT_RELATIVE:
		return first + t->value < first ? UINT64_MAX : first + t->value;
	case SELECT_PERCENT:
		return first + (uint64_t)((double)(last - first) * (double)t->value / 1e8);
	case SELECT_CLOCK:
		ts = (int64_t)((uint64_t)midnight(part, first) + t->value);
		return ts > 0 ? (uint64_t)ts : 0;
	case SELECT_NONE:
		break;
	}
	return otherwise;
}

static struct select_window *window_at(struct select *sel, uint32_t i)
{
	sel->windows =
		array_reserve(sel->windows, &sel->window_cap, (size_t)i + 1, sizeof(*sel->windows));
	while (sel->window_cnt <= i)
		sel->windows[sel->window_cnt++] = (struct select_window){ .to_ns = UINT64_MAX };
	return &sel->windows[i];
}

static void window_add(struct select_window *w, uint64_t first, uint64_t last)
{
	if (!w->seen || first < w->first_ts)
		w->first_ts = first;
	if (!w->seen || last > w->last_ts)
		w->last_ts = last;
	w->seen = true;
}

static void resolve(struct select *sel, const struct names *n, uint32_t part,
		    struct select_window *w)
{
	bool clock = sel->from.kind == SELECT_CLOCK || sel->to.kind == SELECT_CLOCK;
	const struct part *p = names_part(n, part);

	/* a part may lack what another one on its clock knows */
	if (!p->synced)
		p = names_part(n, p->clock);
	w->from_ns = resolve_one(&sel->from, p, w->first_ts, w->last_ts, 0);
	w->to_ns = resolve_one(&sel->to, p, w->first_ts, w->last_ts, UINT64_MAX);
	w->resolved = !clock || p->synced;
	if (w->from_ns > w->to_ns && w->resolved && sel->to.kind != SELECT_NONE && !sel->reversed) {
		log_error("--time %s ends before it begins in this trace", sel->opts->time);
		sel->reversed = true;
	}
}

/* Only now it is known which parts are on one clock. */
static void join_windows(struct select *sel, const struct names *n)
{
	for (uint32_t i = 0; i < sel->window_cnt; i++) {
		uint32_t clock = names_part(n, i)->clock;

		if (clock < i && sel->windows[i].seen)
			window_add(&sel->windows[clock], sel->windows[i].first_ts,
				   sel->windows[i].last_ts);
	}
	for (uint32_t i = 0; i < sel->window_cnt; i++)
		if (sel->windows[i].seen)
			resolve(sel, n, i, &sel->windows[i]);
}

int select_scan(struct select *sel, struct reader *r)
{
	struct trace_event ev;
	int ret;

	while ((ret = reader_next(r, &ev)) == 1)
		if (ev.has_ts && !trace_is_naming(ev.kind))
			window_add(window_at(sel, ev.part), ev.ts, ev.ts);
	if (ret)
		return ret;
	ret = reader_rewind(r);
	if (ret) {
		log_error("--time with a percentage needs a regular file, %s is not",
			  reader_input(r));
		return ret;
	}
	join_windows(sel, reader_names(r));
	return 0;
}

/* ---- nothing ----------------------------------------------------------------------------------- */

static bool listed(const struct opt_u32s *list, uint32_t v)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->v[i] == v)
			return true;
	return false;
}

static bool has_task(const struct names *n, const struct opt_u32s *pids,
		     const struct opt_u32s *tids)
{
	size_t pos = 0;
	uint64_t key;
	void *value;

	while (hmap_next(&n->tasks, &pos, &key, &value)) {
		const struct names_task *task = value;

		if (listed(pids, task->pid) || listed(tids, task->tid))
			return true;
	}
	return false;
}

/* On any clock that something happened on. */
static bool meets_trace(const struct select *sel)
{
	for (uint32_t i = 0; i < sel->window_cnt; i++) {
		const struct select_window *w = &sel->windows[i];

		if (w->seen && w->resolved && w->from_ns <= w->last_ts && w->to_ns >= w->first_ts)
			return true;
	}
	return false;
}

/* Only for one clock: each has a start of its own. */
static void put_length(const struct select *sel, struct buf *out)
{
	const struct select_window *w = sel->windows;

	if (sel->window_cnt != 1 || !w->seen || !w->resolved)
		return;
	buf_printf(out, "; the trace is %.3f s long", (double)(w->last_ts - w->first_ts) / 1e9);
	if (sel->from.kind == SELECT_ABSOLUTE || sel->to.kind == SELECT_ABSOLUTE)
		buf_addstr(out, "; use +1,+2 for times from its start");
}

bool select_put_outside(const struct select *sel, struct buf *out)
{
	const char *join = "";

	if (!sel->has_time || meets_trace(sel))
		return false;
	for (uint32_t i = 0; i < sel->window_cnt; i++) {
		const struct select_window *w = &sel->windows[i];

		if (!w->seen || !w->resolved)
			continue;
		buf_addstr(out, *join ? join : "it covers ");
		report_text_time(out, w->first_ts, 0);
		buf_addstr(out, " to ");
		report_text_time(out, w->last_ts, 0);
		join = " and ";
	}
	if (!*join)
		return false;
	buf_printf(out, ", --time %s is outside", sel->opts->time);
	put_length(sel, out);
	return true;
}

const char *select_why_no_task(const struct names *n)
{
	const char *target = names_meta(n, 0, PROF_META_TARGET);

	return target && !strcmp(target, "system") ?
		       ": it did not exist, or did not run during the recording" :
		       "";
}

int select_report_missing(const struct select *sel, const struct reader *r, const char *what)
{
	const struct opt_u32s *pids = &sel->opts->pids, *tids = &sel->opts->tids,
			      *cpus = &sel->opts->cpus, none = { 0 };
	const char *file = reader_input(r);
	struct buf outside = { 0 };

	if (select_put_outside(sel, &outside))
		log_error("no %s in %s: %s", what, file, buf_cstr(&outside));
	else if (cpus->cnt && sel->cpus_unseen == cpus->cnt)
		log_error("no %s in %s: CPU %u is not in the trace", what, file, cpus->v[0]);
	else if (tids->cnt && !has_task(reader_names(r), &none, tids))
		log_error("no %s in %s: thread %u is not in the trace%s", what, file, tids->v[0],
			  select_why_no_task(reader_names(r)));
	else if (pids->cnt && !has_task(reader_names(r), pids, &none))
		log_error("no %s in %s: process %u is not in the trace%s", what, file, pids->v[0],
			  select_why_no_task(reader_names(r)));
	else
		log_error("no %s in %s: none match " SELECT_NAMES, what, file);
	buf_free(&outside);
	return CMD_USAGE;
}

/* ---- threads ----------------------------------------------------------------------------------- */

static bool comm_listed(const struct opt_list *list, const char *comm)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (str_glob(list->v[i], comm))
			return true;
	return false;
}

/* The group or one above it, by its whole path, without the first slash, or by its own name. */
static bool cgroup_listed(const struct opt_list *list, const char *path)
{
	char *part = xstrdup(path), *end = part + strlen(part);
	bool found = false;

	while (!found) {
		const char *base = strrchr(part, '/');

		for (size_t i = 0; i < list->cnt && !found; i++)
			found = str_glob(list->v[i], part) ||
				(*part == '/' && part[1] && str_glob(list->v[i], part + 1)) ||
				(base && base[1] && str_glob(list->v[i], base + 1));
		end = memrchr(part, '/', (size_t)(end - part));
		if (!end || end == part)
			break;
		*end = '\0';
	}
	free(part);
	return found;
}

static bool cgroup_match(const struct select *sel, const struct names *n, uint32_t cgroup)
{
	static char yes, no;
	const void *verdict = cgroup == NAMES_NONE ? &no : hmap_get(sel->cgroups, cgroup);

	if (!verdict) {
		verdict =
			cgroup_listed(&sel->opts->cgroups, names_str(n, cgroup, NULL)) ? &yes : &no;
		hmap_set(sel->cgroups, cgroup, (void *)verdict);
	}
	return verdict == &yes;
}

static bool task_match(const struct select *sel, const struct names *n,
		       const struct names_task *task)
{
	const struct select_opts *o = sel->opts;

	if (o->pids.cnt && !listed(&o->pids, task->pid))
		return false;
	if (o->tids.cnt && !listed(&o->tids, task->tid))
		return false;
	if (o->cgroups.cnt && !cgroup_match(sel, n, task->cgroup))
		return false;
	return !o->comms.cnt || comm_listed(&o->comms, names_str(n, task->comm, NULL));
}

static bool wants_threads(const struct select_opts *o)
{
	return o->pids.cnt || o->tids.cnt || o->comms.cnt || o->cgroups.cnt;
}

static bool tid_match(const struct select *sel, const struct reader *r, uint32_t tid)
{
	const struct names_task unknown = {
		.tid = tid, .pid = TRACE_NONE, .comm = NAMES_NONE, .cgroup = NAMES_NONE
	};
	const struct names_task *task = trace_task(reader_trace(r), tid);

	return task_match(sel, reader_names(r), task ? task : &unknown);
}

static bool cpu_match(const struct select *sel, uint32_t cpu)
{
	return !sel->opts->cpus.cnt || cpu == TRACE_NONE || listed(&sel->opts->cpus, cpu);
}

bool select_by_thread(const struct select *sel)
{
	return wants_threads(sel->opts);
}

bool select_opts_are_used(const struct select_opts *opts)
{
	return opts->time || opts->cpus.cnt || wants_threads(opts);
}

bool select_is_used(const struct select *sel)
{
	return select_opts_are_used(sel->opts);
}

bool select_match_thread(const struct select *sel, const struct reader *r, uint32_t tid,
			 uint32_t cpu)
{
	return cpu_match(sel, cpu) && (!wants_threads(sel->opts) || tid_match(sel, r, tid));
}

bool select_match_task(const struct select *sel, const struct names *n,
		       const struct names_task *task, uint32_t cpu)
{
	return cpu_match(sel, cpu) && task_match(sel, n, task);
}

struct names_task select_interval_task(const struct reader *r, uint32_t now,
				       const struct interval *i)
{
	const struct names_task *first = names_task_first(reader_names(r), i->part, i->tid);
	const struct names_task *known = NULL;
	struct names_task task = { .tid = i->tid,
				   .pid = i->pid,
				   .comm = i->comm,
				   .exe = NAMES_NONE,
				   .cgroup = NAMES_NONE };

	if (i->part == now)
		known = trace_task(reader_trace(r), i->tid);
	if (!known || (!known->recorded && first))
		known = first;
	if (!known)
		return task;
	task.cgroup = known->cgroup;
	if (task.pid == NAMES_NONE)
		task.pid = known->pid;
	if (task.comm == NAMES_NONE)
		task.comm = known->comm;
	return task;
}

int select_learn_tasks(struct reader *r)
{
	struct trace_event ev;
	int ret;

	if (!reader_can_rewind(r))
		return 0;
	reader_skip_tasks(r);
	reader_skip_kinds(r, TRACE_KINDS_QUIET | 1u << TRACE_SAMPLE);
	while ((ret = reader_next(r, &ev)) == 1)
		;
	return ret ? ret : reader_rewind(r);
}

int select_learn(const struct select *sel, struct reader *r)
{
	return select_by_thread(sel) ? select_learn_tasks(r) : 0;
}

/* A switch or wakeup concerns the other thread as much as the thread in which it happened. */
static bool other_match(const struct select *sel, const struct reader *r,
			const struct trace_event *ev)
{
	uint64_t tid;

	if (ev->kind != TRACE_SCHED_SWITCH && ev->kind != TRACE_SCHED_WAKING)
		return false;
	if (!trace_u64(ev, ev->kind == TRACE_SCHED_SWITCH ? ROLE_NEXT_PID : ROLE_PID, &tid) ||
	    tid >= TRACE_NONE)
		return false;
	return tid_match(sel, r, (uint32_t)tid);
}

static void observe_cpu(struct select *sel, uint32_t cpu)
{
	for (size_t i = 0; i < sel->opts->cpus.cnt; i++)
		if (sel->opts->cpus.v[i] == cpu && !sel->cpus_seen[i]) {
			sel->cpus_seen[i] = true;
			sel->cpus_unseen--;
		}
}

void select_observe(struct select *sel, const struct reader *r, const struct trace_event *ev)
{
	const struct names *n = reader_names(r);
	struct select_window *w;

	if (sel->cpus_unseen)
		observe_cpu(sel, ev->cpu);
	if (!sel->has_time || !ev->has_ts || trace_is_naming(ev->kind))
		return;
	w = window_at(sel, names_part(n, ev->part)->clock);
	if (ev->ts > w->last_ts)
		w->last_ts = ev->ts;
	if (w->resolved)
		return;
	if (!w->seen)
		window_add(w, ev->ts, ev->ts);
	resolve(sel, n, ev->part, w);
}

bool select_window(const struct select *sel, uint32_t clock, uint64_t *from, uint64_t *to)
{
	if (!sel->has_time || clock >= sel->window_cnt || !sel->windows[clock].seen)
		return false;
	*from = sel->windows[clock].from_ns;
	*to = sel->windows[clock].to_ns;
	return true;
}

bool select_overlaps(const struct select *sel, const struct reader *r, uint32_t part,
		     uint64_t first, uint64_t last)
{
	const struct select_window *w;
	uint32_t clock;

	if (!sel->has_time)
		return true;
	clock = names_part(reader_names(r), part)->clock;
	if (clock >= sel->window_cnt)
		return true;
	w = &sel->windows[clock];
	return last >= w->from_ns && first <= w->to_ns;
}

bool select_is_reversed(const struct select *sel)
{
	return sel->reversed;
}

bool select_match(const struct select *sel, const struct reader *r, const struct trace_event *ev)
{
	const struct names_task task = {
		.tid = ev->tid, .pid = ev->pid, .comm = ev->comm, .cgroup = ev->cgroup
	};
	const struct select_opts *o = sel->opts;

	if (sel->has_time && (!ev->has_ts || !select_overlaps(sel, r, ev->part, ev->ts, ev->ts)))
		return false;
	if (o->cpus.cnt && !listed(&o->cpus, ev->cpu))
		return false;
	if (!wants_threads(o))
		return true;
	return task_match(sel, reader_names(r), &task) || other_match(sel, r, ev);
}
