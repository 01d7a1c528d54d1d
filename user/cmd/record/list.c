// SPDX-License-Identifier: BSD-2-Clause
/*
 * list.c - dial9-prof list: the tracepoints of this kernel
 *
 * With -v each event's schema is shown as a recording would register it. An event that cannot be
 * recorded says why.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/opts.h"
#include "base/str.h"
#include "cmd/common/cmd.h"
#include "cmd/common/view.h"
#include "dial9.h"
#include "kernel/tracefs/format.h"
#include "kernel/tracefs/tracefs.h"
#include "record/tracepoint/event.h"
#include "record/tracepoint/field_notes.h"

struct list_opts {
	struct view_opts view;
	bool verbose;
	bool json;
};

static const struct opt memory_table[] = {
	{ .name = "verbose",
	  .key = 'v',
	  .kind = OPT_FLAG,
	  .off = offsetof(struct list_opts, verbose),
	  .help = "Also print the fields and their types in the trace" },
	{ OPT_JSON(offsetof(struct list_opts, json)), .help = "Print one JSON object per line" },
	VIEW_OPT_PAGER(struct list_opts, view),
};

static const struct opt_spec list_spec = {
	.name = "list",
	.usage = "dial9-prof list [OPTIONS] [GLOB...]",
	.brief = "List the tracepoints of this kernel; needs root or CAP_DAC_READ_SEARCH.",
	OPT_ROWS(memory_table),
	.examples = "  dial9-prof list 'sched:*'\n"
		    "  dial9-prof list -v irq:irq_handler_entry\n",
};

struct list {
	const struct list_opts *opts;
	char **globs;
	int glob_cnt;
	int tracefs_fd;
	size_t shown;
	char **names; /* of all, for the error when none is shown */
	size_t cnt, cap;
};

/* A signed field is a Varint where it is not negative, and I64 where one of the event's is. */
static void type_text(struct buf *out, const struct event_def *def, size_t i)
{
	uint8_t compact = dial9_schema_field_type(def->compact, i);
	uint8_t wide = def->wide ? dial9_schema_field_type(def->wide, i) : compact;

	buf_addstr(out, dial9_type_name(compact));
	if (wide != compact)
		buf_printf(out, " | %s", dial9_type_name(wide));
}

/* As the kernel declares the field; NULL of those that the recorder adds. */
static const char *c_type(const struct event_def *def, size_t i)
{
	const struct format_field *f =
		format_find(def->format, dial9_schema_field_name(def->compact, i));

	return f ? f->ctype : NULL;
}

/* What its numbers are, as record --annotate writes it. */
static struct field_note note_of(const struct event_def *def, size_t i)
{
	const char *name = dial9_schema_field_name(def->compact, i);
	const struct format_field *f = format_find(def->format, name);

	return f ? field_notes_of(def->format, f) : field_notes_known(def->name, name);
}

/* "(gauge, kHz)" */
static void note_text(struct buf *out, struct field_note note)
{
	if (note.kind || note.unit)
		buf_printf(out, "(%s%s%s)", note.kind ? note.kind : "",
			   note.kind && note.unit ? ", " : "", note.unit ? note.unit : "");
}

static void show_text(const struct event_def *def)
{
	size_t i, cnt = dial9_schema_field_cnt(def->compact);
	struct buf type = { 0 }, note = { 0 };
	const char *declared;

	printf("%s\n", def->name);
	for (i = 0; i < cnt; i++) {
		buf_clear(&type);
		buf_clear(&note);
		type_text(&type, def, i);
		note_text(&note, note_of(def, i));
		declared = c_type(def, i);
		printf("    %-24s ", dial9_schema_field_name(def->compact, i));
		if (declared)
			printf("%-18s %s", buf_cstr(&type), declared);
		else
			printf("%s", buf_cstr(&type));
		printf("%s%s\n", note.len ? "  " : "", buf_cstr(&note));
	}
	buf_free(&type);
	buf_free(&note);
}

/* The last element of an array, if the field has annotations. */
static void json_note(struct buf *out, struct field_note note)
{
	if (!note.kind && !note.unit)
		return;
	json_object(out, NULL);
	if (note.kind)
		json_str(out, "kind", note.kind);
	if (note.unit)
		json_str(out, "unit", note.unit);
	json_end(out, "}");
}

static void show_json(const char *name, const struct event_def *def, const char *why)
{
	size_t i, cnt = def ? dial9_schema_field_cnt(def->compact) : 0;
	struct buf out = { 0 }, type = { 0 };

	json_object(&out, NULL);
	json_str(&out, "event", name);
	if (why) {
		json_str(&out, "error", why);
	} else {
		json_array(&out, "fields");
		for (i = 0; i < cnt; i++) {
			buf_clear(&type);
			type_text(&type, def, i);
			json_array(&out, NULL);
			json_str(&out, NULL, dial9_schema_field_name(def->compact, i));
			json_str(&out, NULL, buf_cstr(&type));
			json_str(&out, NULL, c_type(def, i));
			json_note(&out, note_of(def, i));
			json_end(&out, "]");
		}
		json_end(&out, "]");
	}
	json_end(&out, "}\n");
	buf_print(&out, stdout);
	buf_free(&type);
}

/* The kernel gives out ftrace's own events through no attachment. */
static const char *not_attachable(const char *system)
{
	return strcmp(system, "ftrace") ? NULL :
					  "programs cannot attach to events of ftrace itself";
}

static int load_def(const struct list *list, const char *system, const char *name,
		    struct event_def **def, const char **why)
{
	struct format_event *format;
	struct buf path = { 0 }, text = { 0 };
	int err;

	*why = not_attachable(system);
	if (*why)
		return -ENOTSUP;
	buf_printf(&path, "events/%s/%s/format", system, name);
	err = tracefs_read(list->tracefs_fd, buf_cstr(&path), &text);
	*why = "cannot read its format";
	if (!err)
		err = format_parse(buf_cstr(&text), text.len, system, &format, why);
	if (!err) {
		err = event_def_new(format, def);
		*why = "a field has no dial9 type";
	}
	buf_free(&path);
	buf_free(&text);
	return err;
}

static void show(const struct list *list, const char *system, const char *name, const char *full)
{
	struct event_def *def = NULL;
	const char *why;

	if (!list->opts->verbose && !list->opts->json) {
		puts(full);
		return;
	}
	if (load_def(list, system, name, &def, &why)) {
		if (list->opts->json)
			show_json(full, NULL, why);
		else
			printf("%s\n    cannot be recorded: %s\n", full, why);
		return;
	}
	if (list->opts->json)
		show_json(full, def, NULL);
	else
		show_text(def);
	event_def_free(def);
}

static int on_event(const char *system, const char *name, void *ctx)
{
	struct list *list = ctx;
	struct buf full = { 0 };
	bool wanted = !list->glob_cnt;
	int i;

	buf_printf(&full, "%s:%s", system, name);
	for (i = 0; i < list->glob_cnt; i++)
		wanted |= str_glob(list->globs[i], buf_cstr(&full));
	if (wanted) {
		show(list, system, name, buf_cstr(&full));
		list->shown++;
	}
	list->names = array_reserve(list->names, &list->cap, list->cnt + 1, sizeof(*list->names));
	list->names[list->cnt++] = buf_steal(&full);
	return 0;
}

static int nothing_shown(const struct list *list)
{
	const char *glob = list->globs[0], *near;
	char others[32] = "";

	near = opts_nearest(glob, (const char *const *)list->names, list->cnt);
	if (list->glob_cnt > 1)
		snprintf(others, sizeof(others), " or the %d after it", list->glob_cnt - 1);
	if (!strchr(glob, ':'))
		log_error("list: no event matches '%s'%s (expected system:event, such as "
			  "'irq:*' or '*:sched_switch'); dial9-prof list prints all",
			  glob, others);
	else if (near)
		log_error(
			"list: no event matches '%s'%s (did you mean %s?); dial9-prof list prints "
			"all",
			glob, others, near);
	else
		log_error("list: no event matches '%s'%s; dial9-prof list prints all", glob,
			  others);
	return CMD_START;
}

static int list_events(struct list *list)
{
	struct view view;
	int err, code;

	err = tracefs_open(&list->tracefs_fd);
	if (err)
		return CMD_START;
	view_begin(&view, &list->opts->view, true);
	err = tracefs_each_event(list->tracefs_fd, on_event, list);
	close(list->tracefs_fd);
	code = view_end(&view);
	if (err) {
		log_error("list: cannot read the events of tracefs: %s", strerror(-err));
		return CMD_START;
	}
	return list->shown || !list->glob_cnt ? code : nothing_shown(list);
}

int cmd_list(int argc, char **argv)
{
	struct list_opts o = { 0 };
	struct list list = { .opts = &o };
	int first, code = CMD_USAGE, err;

	err = opts_parse(&list_spec, argc, argv, &o, &first);
	if (err == 1)
		code = CMD_OK;
	if (!err) {
		list.globs = argv + first;
		list.glob_cnt = argc - first;
		code = list_events(&list);
		for (size_t i = 0; i < list.cnt; i++)
			free(list.names[i]);
		free(list.names);
	}
	opts_fini(&list_spec, &o);
	return code;
}
