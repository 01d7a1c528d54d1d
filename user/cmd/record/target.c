// SPDX-License-Identifier: BSD-2-Clause
/*
 * target.c - whom to record, as the command line says it: for record, and for top, which starts one
 *
 * Numbers, a COMMAND and -a say who may be a target, and exclude each other. All else narrows that; and some
 * of it is enough by itself, since it means the whole system then.
 */
#include "cmd/record/target.h"

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

const char *target_complaint(const struct target_opts *o, bool command)
{
	int cnt = count(o, command);

	if (!cnt && !is_enough(o))
		return "whom to record? -p PID, -t TID, -a for the whole system, -G, -u, "
		       "--comm, --thread or -C for a part of it, or -- COMMAND";
	/* of the whole system a command may say how long */
	if (cnt > 1 && !(cnt == 2 && o->all && command))
		return "-p, -t, -a and a COMMAND exclude each other, but for -a -- COMMAND (to stop "
		       "after a time: --duration 10)";
	if (o->as_root && !command)
		return "--as-root is for a COMMAND";
	if (target_is_system(o, command))
		return o->no_inherit ?
			       "--no-inherit is for -p and a COMMAND: of the whole system whoever "
			       "matches is a target, new or not" :
			       NULL;
	if (o->include_self)
		return "--include-self is for -a: the recorder is none of -p, -t or a COMMAND";
	if (o->no_kthread)
		return "--no-kthread is for -a: of -p, -t and a COMMAND you know what they are";
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
		.no_kthread = o->no_kthread,
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

struct giver {
	void (*word)(void *ctx, const char *word);
	void *ctx;
};

static void give_numbers(const struct giver *g, const char *option, const struct opt_u32s *numbers)
{
	char text[32];

	for (size_t i = 0; i < numbers->cnt; i++) {
		snprintf(text, sizeof(text), "%s%u", option, numbers->v[i]);
		g->word(g->ctx, text);
	}
}

static void give_list(const struct giver *g, const char *option, const struct opt_list *list)
{
	for (size_t i = 0; i < list->cnt; i++) {
		g->word(g->ctx, option);
		g->word(g->ctx, list->v[i]);
	}
}

void target_each_word(const struct target_opts *o, void (*word)(void *ctx, const char *word),
		      void *ctx)
{
	const struct giver g = { word, ctx };
	const struct {
		bool given;
		const char *word;
	} flags[] = { { o->all, "-a" },
		      { o->no_inherit, "--no-inherit" },
		      { o->as_root, "--as-root" },
		      { o->no_kthread, "--no-kthread" },
		      { o->include_self, "--include-self" } };

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i].given)
			word(ctx, flags[i].word);
	give_numbers(&g, "-p", &o->pids);
	give_numbers(&g, "-t", &o->tids);
	give_numbers(&g, "-C", &o->cpus);
	give_list(&g, "-G", &o->cgroups);
	give_list(&g, "-u", &o->users);
	give_list(&g, "--comm", &o->comms);
	give_list(&g, "--no-comm", &o->no_comms);
	give_list(&g, "--thread", &o->threads);
}
