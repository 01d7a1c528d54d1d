// SPDX-License-Identifier: BSD-2-Clause
/* Which tracepoints a pattern selects. The tracefs is a directory made here, so no root is needed. */
#include "record/tracepoint/eventset.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/tracefs/format.h"
#include "prof_events.h"
#include "tests/record/support.h"

static const char *const systems[] = { "sched", "block", "ftrace" };

static const struct {
	const char *system, *name;
} made[] = {
	{ "sched", "sched_switch" },	   { "sched", "sched_waking" },
	{ "sched", "sched_wakeup_new" },   { "sched", "sched_migrate_task" },
	{ "sched", "sched_process_fork" }, { "sched", "sched_process_exec" },
	{ "sched", "sched_process_exit" }, { "block", "block_rq_issue" },
	{ "block", "block_rq_complete" },  { "block", "block_plug" },
	{ "ftrace", "function" },
};
enum { MADE_CNT = sizeof(made) / sizeof(made[0]) };

static char dir[] = "/tmp/d9-tracefs-XXXXXX";
static int tracefs;

static void write_at(const char *system, const char *name, const char *file, const char *text)
{
	struct buf path = { 0 };
	int fd;

	buf_printf(&path, "events/%s/%s/%s", system, name, file);
	fd = openat(tracefs, buf_cstr(&path), O_WRONLY | O_CREAT, 0600);
	cr_assert_geq(fd, 0, "%s", buf_cstr(&path));
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	buf_free(&path);
}

static void make_event(const char *system, const char *name, int id)
{
	struct buf text = { 0 };

	buf_printf(&text, "events/%s/%s", system, name);
	cr_assert_eq(mkdirat(tracefs, buf_cstr(&text), 0700), 0);
	buf_clear(&text);
	buf_printf(&text, "%d\n", id);
	write_at(system, name, "id", buf_cstr(&text));
	buf_clear(&text);
	buf_printf(
		&text,
		"name: %s\nID: %d\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		"\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"x=%%d\", REC->x\n",
		name, id);
	write_at(system, name, "format", buf_cstr(&text));
	buf_free(&text);
}

static void setup(void)
{
	struct buf path = { 0 };
	size_t i;

	cr_assert_not_null(mkdtemp(dir));
	tracefs = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_eq(mkdirat(tracefs, "events", 0700), 0);
	for (i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
		buf_clear(&path);
		buf_printf(&path, "events/%s", systems[i]);
		cr_assert_eq(mkdirat(tracefs, buf_cstr(&path), 0700), 0);
	}
	for (i = 0; i < MADE_CNT; i++)
		make_event(made[i].system, made[i].name, 300 + (int)i);
	buf_free(&path);
}

static void teardown(void)
{
	struct buf cmd = { 0 };

	close(tracefs);
	buf_printf(&cmd, "rm -r %s", dir);
	cr_expect_eq(system(buf_cstr(&cmd)), 0);
	buf_free(&cmd);
}

static int make_set(bool sched, const char *a, const char *b, struct eventset **set)
{
	const char *patterns[] = { a, b };

	return eventset_new(tracefs,
			    &(struct eventset_cfg){ .sched = sched,
						    .patterns = patterns,
						    .pattern_cnt = (a != NULL) + (b != NULL) },
			    set);
}

/* The names of a set, with a space before each. */
static const char *names(bool sched, const char *a, const char *b)
{
	static struct buf out;
	struct eventset *set = NULL;
	size_t i;

	buf_clear(&out);
	cr_assert_eq(make_set(sched, a, b, &set), 0);
	for (i = 0; i < set->cnt; i++)
		buf_printf(&out, " %s", set->defs[i]->name);
	eventset_free(set);
	return buf_cstr(&out);
}

Test(eventset, scheduler_set_has_seven_events, .init = setup, .fini = teardown)
{
	cr_expect_str_eq(names(true, NULL, NULL),
			 " sched:sched_switch sched:sched_waking sched:sched_wakeup_new "
			 "sched:sched_migrate_task sched:sched_process_fork "
			 "sched:sched_process_exec sched:sched_process_exit");
	cr_expect_str_eq(names(false, NULL, NULL), "");
}

Test(eventset, four_events_have_their_own_programs, .init = setup, .fini = teardown)
{
	struct eventset *set = NULL;
	size_t i;

	cr_assert_eq(make_set(true, "block:block_plug", NULL, &set), 0);
	cr_expect_eq(set->hot[EVENTSET_SWITCH], 0);
	cr_expect_eq(set->hot[EVENTSET_WAKEUP], 1);
	cr_expect_eq(set->hot[EVENTSET_WAKEUP_NEW], 2);
	cr_expect_eq(set->hot[EVENTSET_MIGRATE], 3);
	for (i = 0; i < set->cnt; i++)
		cr_expect_eq(eventset_is_hot(set, i), i < 4, "%s", set->defs[i]->name);
	eventset_free(set);
	cr_assert_eq(make_set(false, "block:*", "sched:sched_migrate_task", &set), 0);
	cr_expect_eq(set->hot[EVENTSET_SWITCH], -1);
	cr_expect_eq(set->hot[EVENTSET_MIGRATE], 3);
	eventset_free(set);
}

Test(eventset, watch_event_of_a_cpu_is_unknown_to_the_kernel, .init = setup, .fini = teardown)
{
	const struct eventset_cfg cfg = { .sched = true, .neighbours = true };
	const struct prof_watch_raw raw = { .watch = PROF_WATCH_BEGUN_UNSEEN };
	struct eventset *set = NULL;
	const struct event_def *def;

	cr_assert_eq(eventset_new(tracefs, &cfg, &set), 0);
	cr_assert_eq(set->hot[EVENTSET_CPU_WATCH], (int)set->cnt - 1);
	cr_expect(eventset_is_hot(set, set->cnt - 1), "nothing is attached to it");
	def = set->defs[set->cnt - 1];
	cr_expect_str_eq(def->name, PROF_EV_CPU_WATCH);
	cr_expect(def->is_watch);
	cr_assert_eq(def->field_cnt, 1);
	cr_expect_str_eq(def->names[0], PROF_F_WATCH);
	cr_expect_eq(event_field_int(&def->fields[0], (const uint8_t *)&raw, sizeof(raw)),
		     PROF_WATCH_BEGUN_UNSEEN);
	cr_assert_eq(def->format->symbol_cnt, 3);
	cr_expect_str_eq(def->format->symbols[1].name, "begun");
	eventset_free(set);
	cr_assert_eq(make_set(true, NULL, NULL, &set), 0);
	cr_expect_eq(set->hot[EVENTSET_CPU_WATCH], -1);
	eventset_free(set);
}

Test(eventset, names_globs_and_lists_are_joined_without_repeated_events, .init = setup,
     .fini = teardown)
{
	cr_expect_str_eq(names(false, "block:block_rq_issue", NULL), " block:block_rq_issue");
	cr_expect_str_eq(names(false, "block:*rq*", NULL),
			 " block:block_rq_complete block:block_rq_issue");
	cr_expect_str_eq(names(false, "block:block_plug,sched:sched_waking", NULL),
			 " block:block_plug sched:sched_waking");
	cr_expect_str_eq(names(false, "block:block_rq_issue", "block:*,block:block_plug"),
			 " block:block_rq_issue block:block_plug block:block_rq_complete");
	cr_expect_str_eq(names(false, "*:*plug", NULL), " block:block_plug");
}

Test(eventset, globs_skip_events_without_attachment, .init = setup, .fini = teardown)
{
	cr_expect_null(strstr(names(false, "*:*", NULL), "ftrace"));
}

static void expect_error(const char *pattern, int want, const char *line)
{
	struct eventset *set = NULL;
	const char *output;
	int err;

	support_catch_stderr();
	err = make_set(false, pattern, NULL, &set);
	output = support_stderr();
	cr_expect_eq(err, want, "%s: %d", pattern, err);
	cr_expect_null(set);
	cr_expect_str_eq(output, line);
}

Test(eventset, unknown_event_is_one_line_with_the_nearest_name, .init = setup, .fini = teardown)
{
	expect_error("sched:sched_swich", -ENOENT,
		     "dial9-prof: record: this kernel has no event 'sched:sched_swich' (did you "
		     "mean sched:sched_switch?); dial9-prof list shows them\n");
	expect_error("nvme:*", -ENOENT,
		     "dial9-prof: record: this kernel has no event 'nvme:*'; dial9-prof list shows "
		     "them\n");
	expect_error("block:block_plug,nvme:nvme_sq", -ENOENT,
		     "dial9-prof: record: this kernel has no event 'nvme:nvme_sq'; dial9-prof list "
		     "shows them\n");
	expect_error(
		"ftrace:function", -ENOENT,
		"dial9-prof: record: 'ftrace:function' cannot be recorded: nothing can attach to ftrace's own events\n");
}

Test(eventset, name_without_a_system_is_one_error_line, .init = setup, .fini = teardown)
{
	expect_error("sched_switch", -EINVAL,
		     "dial9-prof: record: 'sched_switch' is not an event: events are named "
		     "system:event (did you mean sched:sched_switch?); dial9-prof list shows "
		     "them\n");
	expect_error("sched_swich", -EINVAL,
		     "dial9-prof: record: 'sched_swich' is not an event: events are named "
		     "system:event (did you mean sched:sched_switch?); dial9-prof list shows "
		     "them\n");
	expect_error("nothing_alike", -EINVAL,
		     "dial9-prof: record: 'nothing_alike' is not an event: events are named "
		     "system:event, such as sched:sched_switch; dial9-prof list shows them\n");
	expect_error(
		"", -EINVAL,
		"dial9-prof: record: '' is not an event: events are named system:event, such as "
		"sched:sched_switch; dial9-prof list shows them\n");
	expect_error(
		",", -EINVAL,
		"dial9-prof: record: ',' is not an event: events are named system:event, such as "
		"sched:sched_switch; dial9-prof list shows them\n");
}

Test(eventset, name_with_a_path_opens_no_other_file, .init = setup, .fini = teardown)
{
	struct eventset *set = NULL;
	int err;

	support_catch_stderr();
	err = make_set(false, "sched:../block/block_plug", NULL, &set);
	support_stderr();
	cr_expect_eq(err, -ENOENT);
	cr_expect_null(set);
}
