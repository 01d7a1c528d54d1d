// SPDX-License-Identifier: BSD-2-Clause
/*
 * check.c - dial9-prof check: whether a recording can start here, and what it would lack
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/opts.h"
#include "cmd/common/cmd.h"
#include "cmd/common/view.h"
#include "cmd/record/check.h"
#include "cmd/record/check_programs.h"
#include "record/capture/given_btf.h"

struct check_opts {
	struct view_opts view;
	bool json;
	const char *programs, *btf;
	int verbose;
};

static const struct opt check_table[] = {
	OPT_ROW_JSON(offsetof(struct check_opts, json)),
	{ .name = "programs",
	  .kind = OPT_STR,
	  .off = offsetof(struct check_opts, programs),
	  .arg = "GLOB",
	  .implied = "*",
	  .help = "Load each BPF program alone in each configuration whose name matches GLOB and "
		  "print the instructions that the verifier processed; for bug reports "
		  "(default *)" },
	{ .name = "btf",
	  .kind = OPT_STR,
	  .off = offsetof(struct check_opts, btf),
	  .arg = "FILE",
	  .help = "Read the types of this kernel from FILE, if /sys/kernel/btf/vmlinux is hidden" },
	{ .name = "verbose",
	  .key = 'v',
	  .kind = OPT_COUNT,
	  .off = offsetof(struct check_opts, verbose),
	  .help = "With --programs, also print the verifier's log of refused programs; -vv adds "
		  "libbpf's messages" },
	VIEW_OPT_PAGER(struct check_opts, view),
};

static const struct opt_spec check_spec = {
	.name = "check",
	.usage = "dial9-prof check [OPTIONS]",
	.brief =
		"Check whether a recording can start here: what is missing, its effect, and the fix.",
	OPT_ROWS(check_table),
	.examples = "  sudo dial9-prof check\n"
		    "  dial9-prof check --json\n",
};

static const char *const states[] = {
	[CHECK_GOOD] = "ok",
	[CHECK_LIMITED] = "limited",
	[CHECK_BAD] = "missing",
};

static bool need_option(const struct check_row *row)
{
	return row->state != CHECK_GOOD && row->option;
}

/* A command that fixes several rows is printed in full for the first one only. */
static void print_fix(const char *mend, const char *before)
{
	bool again = before && strchr(mend, ' ') && !strcmp(mend, before);

	printf("%9sfix: %s\n", "", again ? "the same command" : mend);
}

static void print_verdict(const struct check *c)
{
	const char *with = "with ";

	if (!check_can_record(c)) {
		puts("Recording cannot start.");
		return;
	}
	fputs("Recording can start", stdout);
	for (size_t i = 0; i < c->cnt; i++)
		if (need_option(&c->rows[i])) {
			printf(" %s%s", with, c->rows[i].option);
			with = "and ";
		}
	puts(".");
}

void check_print_text(const struct check *c)
{
	const char *mend = NULL;

	for (size_t i = 0; i < c->cnt; i++) {
		const struct check_row *row = &c->rows[i];

		printf("%-8s %-22s %s\n", states[row->state], row->name, row->detail);
		if (row->costs)
			printf("%9swithout it: %s\n", "", row->costs);
		if (row->mend) {
			print_fix(row->mend, mend);
			mend = row->mend;
		}
	}
	print_verdict(c);
}

void check_print_json(const struct check *c)
{
	struct buf out = { 0 };

	json_object(&out, NULL);
	json_bool(&out, "can_record", check_can_record(c));
	json_array(&out, "checks");
	for (size_t i = 0; i < c->cnt; i++) {
		const struct check_row *row = &c->rows[i];

		json_object(&out, NULL);
		json_str(&out, "state", states[row->state]);
		json_str(&out, "name", row->name);
		json_str(&out, "detail", row->detail);
		json_str(&out, "option", need_option(row) ? row->option : NULL);
		json_str(&out, "costs", row->costs);
		json_str(&out, "fix", row->mend);
		json_end(&out, "}");
	}
	json_end(&out, "]}\n");
	buf_print(&out, stdout);
}

static int print_programs(const struct check_opts *o)
{
	struct view view;
	int code, shown;

	view_begin(&view, &o->view, true);
	code = check_programs(o->programs, o->btf, o->json, o->verbose);
	shown = view_end(&view);
	return shown == CMD_OK ? code : shown;
}

static int print_check(const struct check_opts *o)
{
	struct check check = { 0 };
	struct view view;
	int code;

	check_probe(&check, o->btf);
	view_begin(&view, &o->view, true);
	if (o->json)
		check_print_json(&check);
	else
		check_print_text(&check);
	code = view_end(&view);
	if (code == CMD_OK && !check_can_record(&check))
		code = CMD_START;
	check_fini(&check);
	return code;
}

static int nothing(void *ctx)
{
	return 0;
}

/* A bad file has one line, not one for each recording that is tried. */
static int run(const struct check_opts *o)
{
	if (o->btf && given_btf_run("check", o->btf, nothing, NULL))
		return CMD_START;
	return o->programs ? print_programs(o) : print_check(o);
}

int cmd_check(int argc, char **argv)
{
	struct check_opts o = { 0 };
	int first, code = CMD_USAGE, err;

	err = opts_parse(&check_spec, argc, argv, &o, &first);
	if (err == 1)
		code = CMD_OK;
	if (!err && first < argc)
		log_error("check: unexpected argument '%s'; see dial9-prof check --help",
			  argv[first]);
	else if (!err) {
		log_set_level(o.verbose > 1 ? LOG_LEVEL_DEBUG :
			      o.programs    ? LOG_LEVEL_QUIET :
					      LOG_LEVEL_WARN);
		code = run(&o);
	}
	opts_fini(&check_spec, &o);
	return code;
}
