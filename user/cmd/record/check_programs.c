// SPDX-License-Identifier: BSD-2-Clause
/*
 * check_programs.c - dial9-prof check --programs: each BPF program in each configuration
 *
 * A configuration is a command line of record, so it loads the same programs as record. A test compares these
 * options with the options of record.
 */
#include "cmd/record/check_programs.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "cmd/common/cmd.h"
#include "cmd/record/record.h"
#include "record/capture/capture_load.h"
#include "record/capture/verdicts.h"
#include "record/recorder_programs.h"

#define EVENTS "irq:*,timer:*,syscalls:sys_enter_openat,syscalls:sys_exit_openat"
#define FILTER "prev_state != 0 && next_comm ~ \"a*\""

const struct check_configuration check_configurations[] = {
	{ .name = "default", .words = { "-a" } },
	{ .name = "process", .words = { "-p", "1" } },
	{ .name = "no-inherit", .words = { "-p", "1", "--no-inherit" } },
	{ .name = "thread", .words = { "-t", "1" } },
	{ .name = "fp", .words = { "-a", "--call-graph", "fp" } },
	{ .name = "no-call-graph", .words = { "-a", "--call-graph", "no" } },
	{ .name = "max-stack", .words = { "-a", "--max-stack", "8" } },
	{ .name = "no-stacks", .words = { "-a", "--switch-stacks", "none", "--no-samples" } },
	{ .name = "user-stacks",
	  .words = { "-a", "--switch-stacks", "user", "--waker-stacks", "user", "--event-stacks",
		     "user", "-e", EVENTS } },
	{ .name = "all-stacks",
	  .words = { "-a", "--switch-stacks", "both", "--waker-stacks", "both", "--event-stacks",
		     "both", "-e", EVENTS } },
	{ .name = "all-stacks-fp",
	  .words = { "-a", "--call-graph", "fp", "--waker-stacks", "both", "--event-stacks", "both",
		     "-e", EVENTS } },
	{ .name = "verify-stacks",
	  .words = { "-a", "--debug", "verify-stacks", "--waker-stacks", "both" } },
	{ .name = "neighbours", .words = { "-p", "1", "--neighbours" } },
	{ .name = "neighbours-all",
	  .words = { "-p", "1", "--neighbours", "--waker-stacks", "both", "--event-stacks", "both",
		     "-e", EVENTS } },
	{ .name = "events", .words = { "-a", "-e", EVENTS } },
	{ .name = "no-sched", .words = { "-p", "1", "--no-sched", "-e", EVENTS } },
	{ .name = "filter",
	  .words = { "-a", "-e", "sched:sched_switch", "--filter", FILTER, "-e",
		     "sched:sched_waking,sched:sched_wakeup_new,sched:sched_migrate_task",
		     "--filter", "prio < 100", "-e", "irq:*", "--filter", "common_pid != 1" } },
	{ .name = "min-block", .words = { "-a", "--min-block", "1ms", "--max-block", "1s" } },
	{ .name = "min-block-process", .words = { "-p", "1", "--min-block", "1ms" } },
	{ .name = "min-block-fp",
	  .words = { "-a", "--min-block", "1ms", "--call-graph", "fp", "--switch-stacks",
		     "user" } },
	{ .name = "summary", .words = { "-a", "--summary" } },
	{ .name = "summary-process", .words = { "-p", "1", "--summary" } },
	{ .name = "flight",
	  .words = { "-a", "--flight", "10s", "--trigger-latency", "offcpu>10ms",
		     "--trigger-latency", "runq>10ms" } },
	{ .name = "flight-event",
	  .words = { "-p", "1", "--flight", "10s", "--trigger-latency", "runq>10ms", "--trigger",
		     "irq:softirq_raise/vec == 1/" } },
	{ .name = "sched-sample", .words = { "-a", "--sched-sample", "1/4" } },
	{ .name = "max-overhead", .words = { "-a", "--max-overhead", "1" } },
	{ .name = "user", .words = { "-a", "-u", "0" } },
	{ .name = "cgroup", .words = { "-a", "-G", "." } },
	{ .name = "name",
	  .words = { "-a", "--comm", "a*", "--no-comm", "b*", "--thread", "c*", "--no-kthread" } },
	{ .name = "selected-all",
	  .words = { "-p", "1", "-u", "0", "--comm", "*", "-C", "0", "--waker-stacks", "both",
		     "--event-stacks", "both", "-e", EVENTS } },
	{ .name = "selected-min-block",
	  .words = { "-a", "-u", "0", "--comm", "a*", "-C", "0", "--min-block", "1ms" } },
	{ .name = "selected-summary", .words = { "-a", "-u", "0", "--comm", "a*", "--summary" } },
	{ .name = "cpus", .words = { "-C", "0" } },
	{ .name = "include-self", .words = { "-a", "--include-self" } },
	{ .name = "ring-size", .words = { "-a", "--ring-size", "4096", "--debug", "one-ring" } },
	{ .name = "unwind-mem", .words = { "-a", "--unwind-mem", "1M" } },
	/* the last: see boot */
	{ .name = "clockid",
	  .words = { "-a", "-k", "boot", "--waker-stacks", "both" },
	  .boot = true },
};
const size_t check_configuration_cnt =
	sizeof(check_configurations) / sizeof(check_configurations[0]);

struct results {
	const char *configuration;
	bool json, verbose;
	const char *btf;
	struct verdicts *verdicts;
	size_t cnt, refused, skipped, tried;
	bool denied; /* by missing rights, which an error line names */
	struct buf rows; /* of JSON */
};

static void add_json(struct results *r, const struct capture_program *p)
{
	struct buf *out = &r->rows;

	if (out->len)
		json_line(out);
	json_object(out, NULL);
	json_str(out, "configuration", r->configuration);
	json_str(out, "program", p->name);
	json_bool(out, "loaded", !p->refusal);
	if (p->insns)
		json_u64(out, "insns", p->insns);
	if (p->refusal) {
		json_str(out, "error", strerror(-p->refusal->err));
		json_text(out, "reason", p->refusal->reason, strlen(p->refusal->reason));
	}
	if (p->refusal && p->refusal->log)
		json_text(out, "log", p->refusal->log, strlen(p->refusal->log));
	json_end(out, "}");
}

static void print_text(const struct results *r, const struct capture_program *p)
{
	const struct capture_refusal *why = p->refusal;

	if (!why) {
		printf("%-20s %-36s ok      %8u\n", r->configuration, p->name, p->insns);
		return;
	}
	printf("%-20s %-36s refused %8s %s\n", r->configuration, p->name, "",
	       why->reason[0] ? why->reason : strerror(-why->err));
	if (r->verbose && why->log)
		puts(why->log);
}

static void on_program(void *ctx, const struct capture_program *p)
{
	struct results *r = ctx;

	if (!r->cnt++ && !r->json)
		printf("%-20s %-36s %-7s %8s\n", "CONFIGURATION", "PROGRAM", "RESULT", "INSNS");
	r->refused += p->refusal != NULL;
	if (r->json)
		add_json(r, p);
	else
		print_text(r, p);
}

static int load(const struct recorder_cfg *cfg, void *ctx)
{
	struct results *r = ctx;

	return recorder_programs(cfg, true, r->verdicts, on_program, r);
}

int check_configured(const struct check_configuration *c, const char *btf,
		     int (*use)(const struct recorder_cfg *, void *), void *ctx)
{
	char *argv[sizeof(c->words) / sizeof(c->words[0]) + 4] = { (char *)"record" };
	int argc = 1;

	for (; c->words[argc - 1]; argc++)
		argv[argc] = (char *)c->words[argc - 1];
	if (btf) {
		argv[argc++] = (char *)"--btf";
		argv[argc++] = (char *)btf;
	}
	if (c->boot)
		clock_count_suspend();
	return record_configured(argc, argv, use, ctx);
}

static void run(struct results *r, const struct check_configuration *c)
{
	int err;

	r->configuration = c->name;
	r->tried++;
	err = check_configured(c, r->btf, load, r);
	r->skipped += err != 0;
	/* the others would fail likewise */
	r->denied = err == -EPERM || err == -EACCES;
}

static void print_end(const struct results *r)
{
	struct utsname uts = { .release = "?", .machine = "?" };

	uname(&uts);
	if (r->json)
		printf("{\"kernel\":\"%s\",\"machine\":\"%s\",\"refused\":%zu,\"skipped\":%zu,"
		       "\"programs\":[%s]}\n",
		       uts.release, uts.machine, r->refused, r->skipped,
		       r->rows.len ? r->rows.data : "");
	else
		printf("Linux %s %s: %zu of %zu programs refused; %zu of %zu configurations skipped\n",
		       uts.release, uts.machine, r->refused, r->cnt, r->skipped, r->tried);
}

static int no_match(const char *glob)
{
	struct buf names = { 0 };
	size_t i;

	for (i = 0; i < check_configuration_cnt; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", check_configurations[i].name);
	log_error("check: no configuration matches '%s'; expected one of %s", glob,
		  buf_cstr(&names));
	buf_free(&names);
	return CMD_USAGE;
}

int check_programs(const char *glob, const char *btf, bool json, bool verbose)
{
	struct results r = {
		.json = json, .verbose = verbose, .btf = btf, .verdicts = verdicts_new()
	};

	for (size_t i = 0; i < check_configuration_cnt && !r.denied; i++)
		if (!fnmatch(glob, check_configurations[i].name, 0))
			run(&r, &check_configurations[i]);
	buf_cstr(&r.rows);
	if (r.tried && !r.denied)
		print_end(&r);
	buf_free(&r.rows);
	verdicts_free(r.verdicts);
	if (!r.tried)
		return no_match(glob);
	return r.refused || r.denied || r.skipped == r.tried ? CMD_START : CMD_OK;
}
