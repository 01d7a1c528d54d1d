// SPDX-License-Identifier: BSD-2-Clause
/*
 * eventset.c - selects the tracepoints of a recording
 *
 * Patterns are matched against the list of tracefs: a glob selects this kernel's events, and an unknown name is an
 * error at the start. The scheduler's events are patterns, too.
 */
#include "record/tracepoint/eventset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/opts.h"
#include "base/str.h"
#include "kernel/tracefs/filter.h"
#include "kernel/tracefs/format.h"
#include "kernel/tracefs/tracefs.h"
#include "prof_events.h"

static const char *const sched_events[] = {
	PROF_EV_SCHED_SWITCH,	    PROF_EV_SCHED_WAKING,	PROF_EV_SCHED_WAKEUP_NEW,
	PROF_EV_SCHED_MIGRATE_TASK, PROF_EV_SCHED_PROCESS_FORK, PROF_EV_SCHED_PROCESS_EXEC,
	PROF_EV_SCHED_PROCESS_EXIT,
};

enum { SCHED_TIMES = 4 }; /* the first events, which show when threads run */

static const char *const hot_events[EVENTSET_HOT_CNT] = {
	[EVENTSET_SWITCH] = PROF_EV_SCHED_SWITCH,
	[EVENTSET_WAKEUP] = PROF_EV_SCHED_WAKING,
	[EVENTSET_WAKEUP_NEW] = PROF_EV_SCHED_WAKEUP_NEW,
	[EVENTSET_MIGRATE] = PROF_EV_SCHED_MIGRATE_TASK,
	[EVENTSET_CPU_WATCH] = PROF_EV_CPU_WATCH,
	[EVENTSET_OFF_CPU] = PROF_EV_OFF_CPU,
};

/* The beginning of each format file. */
#define COMMON_FORMAT                                                                              \
	"ID: 0\n"                                                                                  \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"                                 \
	"\n"

/* struct prof_watch_raw in the syntax of a format file. */
static const char watch_format[] =
	"name: cpu_watch\n" COMMON_FORMAT
	"\tfield:unsigned char watch;\toffset:8;\tsize:1;\tsigned:0;\n"
	"\n"
	"print fmt: \"watch=%s\", __print_symbolic(REC->watch, { 0, \"ended\" }, "
	"{ 1, \"begun\" }, { 2, \"begun_unseen\" })\n";

/* struct prof_off_raw. States are encoded as in sched_switch. */
static const char off_format[] =
	"name: off_cpu\n" COMMON_FORMAT "\tfield:u64 off_ns;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 blocked_ns;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long prev_state;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:u32 waker_pid;\toffset:32;\tsize:4;\tsigned:0;\n"
	"\tfield:u16 context;\toffset:36;\tsize:2;\tsigned:0;\n"
	"\tfield:u16 from_cpu;\toffset:38;\tsize:2;\tsigned:0;\n"
	"\tfield:char waker_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:char comm[16];\toffset:56;\tsize:16;\tsigned:0;\n"
	"\tfield:unsigned char woken;\toffset:72;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char unfinished;\toffset:73;\tsize:1;\tsigned:0;\n"
	"\n"
	"print fmt: \"prev_state=%s%s\", (REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, "
	"\"|\", { 0x1, \"S\" }, { 0x2, \"D\" }, { 0x4, \"T\" }, { 0x8, \"t\" }, { 0x10, \"X\" }, "
	"{ 0x20, \"Z\" }, { 0x40, \"P\" }, { 0x80, \"I\" }) : \"R\", REC->prev_state & 0x100 ? \"+\" : \"\"\n";

/* The events of tracefs, listed once. */
struct catalog {
	char **names; /* system:event */
	size_t cnt;
	size_t cap;
};

static int catalog_add(const char *system, const char *name, void *ctx)
{
	struct catalog *cat = ctx;
	struct buf b = { 0 };

	cat->names = array_reserve(cat->names, &cat->cap, cat->cnt + 1, sizeof(*cat->names));
	buf_printf(&b, "%s:%s", system, name);
	cat->names[cat->cnt++] = buf_steal(&b);
	return 0;
}

static void catalog_fini(struct catalog *cat)
{
	size_t i;

	for (i = 0; i < cat->cnt; i++)
		free(cat->names[i]);
	free(cat->names);
}

static struct event_def *find_event(const struct eventset *set, const char *name)
{
	size_t i;

	for (i = 0; i < set->cnt; i++)
		if (!strcmp(set->defs[i]->name, name))
			return set->defs[i];
	return NULL;
}

/* Owns format. */
static int add_format(struct eventset *set, struct format_event *format)
{
	struct event_def *def;
	int err = event_def_new(format, &def), i;

	if (err)
		return err;
	set->defs = array_reserve(set->defs, &set->cap, set->cnt + 1, sizeof(*set->defs));
	for (i = 0; i < EVENTSET_HOT_CNT; i++)
		if (!strcmp(def->name, hot_events[i]))
			set->hot[i] = set->cnt;
	set->defs[set->cnt++] = def;
	return 0;
}

static int load_event(struct eventset *set, int tracefs_fd, const char *name)
{
	const char *colon = strchr(name, ':');
	struct format_event *format;
	char *system;
	int err;

	if (find_event(set, name))
		return 0;
	system = xstrndup(name, colon - name);
	err = format_load(tracefs_fd, system, colon + 1, &format);
	free(system);
	return err ? err : add_format(set, format);
}

/* Adds a pattern's event. Events with their own program have separate options for stacks. */
static int add_event(struct eventset *set, int tracefs_fd, const char *name, const char *filter)
{
	struct event_def *def;
	int err = load_event(set, tracefs_fd, name);

	if (err)
		return err;
	def = find_event(set, name);
	def->cfg.has_stacks = !def->has_context;
	return event_def_filter(def, filter);
}

/* Adds an event that is not a tracepoint of the kernel. */
static int add_own(struct eventset *set, const char *text, size_t len)
{
	struct format_event *format;
	int err = format_parse(text, len, "dial9", &format, NULL);

	return err ? err : add_format(set, format);
}

/* The kernel's internal events. */
static bool is_ftrace(const char *name)
{
	return !strncmp(name, "ftrace:", 7);
}

/* The event of that name in any system, or the one with the nearest name; NULL: none. */
static const char *nearest_in_systems(const struct catalog *cat, const char *event)
{
	const char **events = xcalloc(cat->cnt + 1, sizeof(*events)), *near, *found = NULL;
	size_t cnt = 0;

	for (size_t i = 0; i < cat->cnt; i++)
		if (!is_ftrace(cat->names[i]))
			events[cnt++] = strchr(cat->names[i], ':') + 1;
	near = opts_nearest(event, events, cnt);
	for (size_t i = 0; near && i < cat->cnt && !found; i++)
		if (!is_ftrace(cat->names[i]) && !strcmp(strchr(cat->names[i], ':') + 1, near))
			found = cat->names[i];
	free(events);
	return found;
}

static int unknown_event(const struct catalog *cat, const char *pattern)
{
	const bool has_system = strchr(pattern, ':');
	const char *near =
		has_system ? opts_nearest(pattern, (const char *const *)cat->names, cat->cnt) :
			     nearest_in_systems(cat, pattern);

	if (!has_system && near)
		log_error("record: '%s' is not an event: events are named system:event (did you "
			  "mean %s?); dial9-prof list shows them",
			  pattern, near);
	else if (!has_system)
		log_error("record: '%s' is not an event: events are named system:event, such as "
			  "sched:sched_switch; dial9-prof list shows them",
			  pattern);
	else if (is_ftrace(pattern))
		log_error("record: '%s' cannot be recorded: nothing can attach to ftrace's own "
			  "events",
			  pattern);
	else if (near)
		log_error("record: this kernel has no event '%s' (did you mean %s?); "
			  "dial9-prof list shows them",
			  pattern, near);
	else
		log_error("record: this kernel has no event '%s'; dial9-prof list shows them",
			  pattern);
	return has_system ? -ENOENT : -EINVAL;
}

static int add_glob(struct eventset *set, int tracefs_fd, const struct catalog *cat,
		    const char *pattern, const char *filter)
{
	bool any = false;
	size_t i;
	int err;

	for (i = 0; i < cat->cnt; i++) {
		if (!str_glob(pattern, cat->names[i]) || is_ftrace(cat->names[i]))
			continue;
		any = true;
		err = add_event(set, tracefs_fd, cat->names[i], filter);
		if (err)
			return err;
	}
	return any ? 0 : unknown_event(cat, pattern);
}

static bool is_plain(const char *pattern)
{
	return strchr(pattern, ':') && !strpbrk(pattern, "*?[");
}

/* Listing tracefs is slow: only for globs, and for error messages. */
static int add_pattern(struct eventset *set, int tracefs_fd, struct catalog *cat,
		       const char *pattern, const char *filter)
{
	const char *colon = strchr(pattern, ':');
	uint32_t id;
	char *system;
	int err;

	if (is_plain(pattern) && !is_ftrace(pattern)) {
		system = xstrndup(pattern, colon - pattern);
		err = tracefs_event_id(tracefs_fd, system, colon + 1, &id);
		free(system);
		if (!err)
			return add_event(set, tracefs_fd, pattern, filter);
	}
	if (!cat->cnt) {
		err = tracefs_each_event(tracefs_fd, catalog_add, cat);
		if (err)
			return err;
	}
	return add_glob(set, tracefs_fd, cat, pattern, filter);
}

static int add_list(struct eventset *set, int tracefs_fd, struct catalog *cat, const char *list,
		    const char *filter)
{
	char *copy = xstrdup(list), *save = NULL, *word;
	int err = 0;

	word = strtok_r(copy, ",", &save);
	if (!word)
		err = unknown_event(cat, list);
	for (; word && !err; word = strtok_r(NULL, ",", &save))
		err = add_pattern(set, tracefs_fd, cat, word, filter);
	free(copy);
	return err;
}

static bool has_ipis(int tracefs_fd)
{
	static const char *const names[] = { "irq_work_entry", "call_function_entry",
					     "call_function_single_entry" };
	uint32_t id;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (tracefs_event_id(tracefs_fd, "irq_vectors", names[i], &id))
			return false;
	return true;
}

/* A watch promises all switches of a CPU, and readers expect all switches of a thread. */
static int check_filters(const struct eventset *set)
{
	int i = set->hot[EVENTSET_SWITCH];

	if (i < 0 || !set->defs[i]->filter)
		return 0;
	if (set->hot[EVENTSET_CPU_WATCH] < 0) {
		log_warn("record: --filter drops switches: running, runnable and blocked times of "
			 "threads will be wrong");
		return 0;
	}
	log_error(
		"record: --neighbours needs all switches; remove --filter of " PROF_EV_SCHED_SWITCH);
	return -EINVAL;
}

/* Switches and off-CPU intervals would be redundant. */
static int check_off_cpu(const struct eventset *set)
{
	if (set->hot[EVENTSET_OFF_CPU] < 0 ||
	    (set->hot[EVENTSET_SWITCH] < 0 && set->hot[EVENTSET_WAKEUP] < 0))
		return 0;
	log_error(
		"record: --min-block and --max-block record off-CPU intervals instead of switches "
		"and wakeups: not with " PROF_EV_SCHED_SWITCH " or " PROF_EV_SCHED_WAKING);
	return -EINVAL;
}

static void number_filters(struct eventset *set)
{
	size_t i;

	for (i = 0; i < set->cnt; i++) {
		if (!set->defs[i]->filter)
			continue;
		set->defs[i]->cfg.filter = ++set->filter_cnt;
		set->pattern_cnt += set->defs[i]->filter->pattern_cnt;
	}
}

int eventset_new(int tracefs_fd, const struct eventset_cfg *cfg, struct eventset **out)
{
	struct eventset *set = xcalloc(1, sizeof(*set));
	struct catalog cat = { 0 };
	size_t i;
	int err = 0;

	for (i = 0; i < EVENTSET_HOT_CNT; i++)
		set->hot[i] = -1;
	set->has_ipis = has_ipis(tracefs_fd);
	for (i = cfg->off_cpu ? SCHED_TIMES : 0;
	     cfg->sched && !err && i < sizeof(sched_events) / sizeof(sched_events[0]); i++)
		err = load_event(set, tracefs_fd, sched_events[i]);
	if (!err && cfg->neighbours)
		err = add_own(set, watch_format, sizeof(watch_format) - 1);
	if (!err && cfg->off_cpu)
		err = add_own(set, off_format, sizeof(off_format) - 1);
	for (i = 0; i < cfg->pattern_cnt && !err; i++)
		err = add_list(set, tracefs_fd, &cat, cfg->patterns[i],
			       cfg->filters ? cfg->filters[i] : NULL);
	catalog_fini(&cat);
	number_filters(set);
	if (!err)
		err = check_filters(set);
	if (!err)
		err = check_off_cpu(set);
	if (err)
		eventset_free(set);
	else
		*out = set;
	return err;
}

void eventset_free(struct eventset *set)
{
	size_t i;

	if (!set)
		return;
	for (i = 0; i < set->cnt; i++)
		event_def_free(set->defs[i]);
	free(set->defs);
	free(set);
}

bool eventset_is_hot(const struct eventset *set, size_t idx)
{
	int i;

	for (i = 0; i < EVENTSET_HOT_CNT; i++)
		if (set->hot[i] == (int)idx)
			return true;
	return false;
}
