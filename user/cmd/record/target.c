// SPDX-License-Identifier: BSD-2-Clause
/*
 * target.c - the targets on the command line: for record, and for top, which starts a recording
 *
 * Pids, a COMMAND and -a define the candidates, and exclude each other. Other options filter these; some are
 * sufficient alone, and then imply the whole system.
 */
#include "cmd/record/target.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"

static bool is_enough(const struct target_opts *o)
{
	return o->cpus.cnt || o->cgroups.cnt || o->users.cnt || o->comms.cnt || o->threads.cnt;
}

/* How many of -a, -p, -t and a command were given. */
static int count(const struct target_opts *o, bool command)
{
	return o->all + (o->pids.cnt > 0) + (o->tids.cnt > 0) + command;
}

bool target_is_system(const struct target_opts *o, bool command)
{
	return o->all || (!count(o, command) && is_enough(o));
}

const char *target_conflict(const struct target_opts *o, bool command)
{
	int cnt = count(o, command);

	if (!cnt && !is_enough(o))
		return "no target given; use -p PID, -t TID, -a for the whole system, -G, -u, "
		       "--comm, --thread or -C for a part of it, or -- COMMAND";
	/* of the whole system a command may say how long */
	if (cnt > 1 && !(cnt == 2 && o->all && command))
		return "-p, -t, -a and COMMAND exclude each other, except -a -- COMMAND (to stop "
		       "after a time use --duration 10)";
	if (o->as_root && !command)
		return "--as-root needs COMMAND";
	if (target_is_system(o, command))
		return o->no_inherit ? "--no-inherit needs -p or COMMAND" : NULL;
	if (o->include_self)
		return "--include-self needs -a";
	if (o->task.no_kthread)
		return "--no-kthread needs -a";
	return NULL;
}

static struct selection_words words(const struct opt_list *list)
{
	return (struct selection_words){ list->v, list->cnt };
}

struct selection_cfg target_selection(const struct target_opts *o)
{
	return (struct selection_cfg){
		.cpus = o->cpus.v,
		.cpu_cnt = o->cpus.cnt,
		.cgroups = words(&o->cgroups),
		.users = words(&o->users),
		.comms = words(&o->comms),
		.no_comms = words(&o->no_comms),
		.threads = words(&o->threads),
		.task = o->task,
	};
}

void target_describe(const struct target_opts *o, struct buf *out)
{
	const struct selection_cfg selection = target_selection(o);
	struct buf narrowed = { 0 }, cpus = { 0 };

	for (size_t i = 0; i < o->pids.cnt; i++)
		buf_printf(out, "%s%u", i ? "," : "pid ", o->pids.v[i]);
	for (size_t i = 0; i < o->tids.cnt; i++)
		buf_printf(out, "%s%u", i ? "," : "tid ", o->tids.v[i]);
	selection_describe(&selection, &narrowed);
	selection_describe_cpus(&selection, &cpus);
	if (o->all && !narrowed.len && !cpus.len)
		buf_addstr(out, "all");
	if (narrowed.len)
		buf_printf(out, "%s%s", out->len ? ", " : "", buf_cstr(&narrowed));
	if (cpus.len)
		buf_printf(out, "%sCPU %s", out->len ? ", " : "", buf_cstr(&cpus));
	buf_free(&narrowed);
	buf_free(&cpus);
}

struct option_writer {
	void (*word)(void *ctx, const char *word);
	void *ctx;
};

static void write_value(const struct option_writer *w, const struct opt *opt, const char *value)
{
	struct buf text = { 0 };

	if (opt->key)
		buf_printf(&text, "-%c", opt->key);
	else
		buf_printf(&text, "--%s", opt->name);
	if (value)
		buf_printf(&text, "%s%s", opt->key ? "" : "=", value);
	w->word(w->ctx, buf_cstr(&text));
	buf_free(&text);
}

static void write_number(const struct option_writer *w, const struct opt *opt, int64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, number);
	write_value(w, opt, text);
}

/* A kind that no row has yet needs a line here: a test writes every row. */
static void write_option(const struct option_writer *w, const struct opt *opt, const void *at)
{
	const bool are_numbers = opt->kind == OPT_PIDS || opt->kind == OPT_CPUS;
	const struct opt_list *list = opt->kind == OPT_LIST ? at : NULL;
	const struct opt_u32s *numbers = are_numbers ? at : NULL;

	if (opt->kind == OPT_FLAG && *(const bool *)at)
		write_value(w, opt, NULL);
	if (opt->kind == OPT_STR && *(const char *const *)at)
		write_value(w, opt, *(const char *const *)at);
	if (opt->kind == OPT_U32 && *(const uint32_t *)at)
		write_number(w, opt, *(const uint32_t *)at);
	if (opt->kind == OPT_INT && *(const int *)at)
		write_number(w, opt, *(const int *)at);
	for (size_t i = 0; list && i < list->cnt; i++)
		write_value(w, opt, list->v[i]);
	for (size_t i = 0; numbers && i < numbers->cnt; i++)
		write_number(w, opt, numbers->v[i]);
}

void target_each_word(const struct target_opts *o, void (*word)(void *ctx, const char *word),
		      void *ctx)
{
	struct holder {
		struct target_opts target;
	};
	static const struct opt rows[] = { TARGET_OPTS(struct holder, target) };
	const struct option_writer w = { word, ctx };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		write_option(&w, &rows[i], (const char *)o + rows[i].off);
}
