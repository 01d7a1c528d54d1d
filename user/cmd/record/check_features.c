// SPDX-License-Identifier: BSD-2-Clause
/*
 * check_features.c - what this kernel can record: the programs of each option, loaded as record loads them
 *
 * A row is an option of record. Programs that several options share are loaded once.
 */
#include "cmd/record/check_features.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "base/buf.h"
#include "cmd/record/check.h"
#include "cmd/record/check_programs.h"
#include "record/capture/capture_features.h"
#include "record/capture/capture_load.h"
#include "record/capture/verdicts.h"
#include "record/recorder_programs.h"
#include "record/target/selection.h"

#define EVENT "irq:softirq_entry"

/* What one option needs. */
struct feature {
	const char *name; /* the option */
	struct check_configuration line; /* of record, with it */
	const char *costs; /* without it */
};

static const struct feature all = {
	"record -a",
	{ .words = { "-a" } },
	"no recording with default options",
};

/* What may still be recorded if that is not. */
static const struct feature instead[] = {
	{ "--no-sched", { .words = { "-a", "--no-sched" } }, NULL },
	{ "--summary", { .words = { "-a", "--summary" } }, NULL },
};

static const struct feature features[] = {
	{ "-p, -t, COMMAND", { .words = { "-p", "1" } }, "only the whole system can be recorded" },
	{ "--call-graph fp",
	  { .words = { "-a", "--call-graph", "fp" } },
	  "no stacks with frame pointers" },
	{ "--switch-stacks none",
	  { .words = { "-a", "--switch-stacks", "none", "--no-samples" } },
	  "no recording without stacks" },
	{ "--waker-stacks", { .words = { "-a", "--waker-stacks", "both" } }, "no waker stacks" },
	{ "-e", { .words = { "-a", "-e", EVENT } }, "no tracepoints" },
	{ "--event-stacks",
	  { .words = { "-a", "--event-stacks", "both", "-e", EVENT } },
	  "no stacks of tracepoints" },
	{ "--neighbours",
	  { .words = { "-p", "1", "--neighbours" } },
	  "no record of who ran instead" },
	{ "--min-block", { .words = { "-a", "--min-block", "1ms" } }, "no off-CPU intervals" },
	{ "--summary", { .words = { "-a", "--summary" } }, "no sums computed in the kernel" },
	{ "--trigger-latency",
	  { .words = { "-a", "--flight", "10s", "--trigger-latency", "offcpu>10ms",
		       "--trigger-latency", "runq>10ms" } },
	  "no latency triggers" },
	{ "-u, --comm",
	  { .words = { "-a", "-u", "0", "--comm", "a*" } },
	  "no selection of processes" },
};

struct tried {
	struct verdicts *verdicts;
	const char *btf;
	size_t cnt;
	int err; /* -errno of all programs together */
	bool orc; /* a program that walks kernel stacks was loaded */
	struct buf refused; /* of what the feature cannot do without: the first */
	struct buf of_all; /* the same, of the first row */
	struct buf missing; /* features that a recording does without */
};

static void on_program(void *ctx, const struct capture_program *p)
{
	struct tried *t = ctx;
	const struct capture_feature *f = capture_feature_of(p->name);
	const struct capture_refusal *why = p->refusal;

	t->cnt++;
	if (!why) {
		t->orc |= strstr(p->name, "_orc") != NULL;
		return;
	}
	if (f && f->leave_out) {
		if (!f->same && !strstr(buf_cstr(&t->missing), f->name))
			buf_printf(&t->missing, "%s%s", t->missing.len ? ", " : "", f->name);
	} else if (!t->refused.len) {
		buf_printf(&t->refused, "%s: %s", p->name,
			   why->reason[0] ? why->reason : strerror(-why->err));
	}
}

static int load(const struct recorder_cfg *cfg, void *ctx)
{
	struct tried *t = ctx;

	return recorder_programs(cfg, false, t->verdicts, on_program, t);
}

/* Whether a recording can start with it. */
static bool try(const struct feature *f, struct tried *t)
{
	t->cnt = 0;
	t->refused.len = t->missing.len = 0;
	t->err = check_configured(&f->line, t->btf, load, t);
	return !t->err && !t->refused.len;
}

/* Several rows may use one program. */
static bool is_as_all(const struct tried *t)
{
	return t->refused.len && t->refused.len == t->of_all.len &&
	       !memcmp(t->refused.data, t->of_all.data, t->refused.len);
}

static void add_row(struct check *c, const struct feature *f, const struct tried *t)
{
	const char *const report = "please report the output of dial9-prof check --programs -v";

	if (is_as_all(t))
		check_add(c, f->name, CHECK_LIMITED, "refused, like record -a");
	else if (t->refused.len)
		check_explain(check_add(c, f->name, CHECK_LIMITED, "refused: %s", t->refused.data),
			      f->costs, report);
	else if (!t->cnt)
		check_explain(check_add(c, f->name, CHECK_LIMITED, "cannot be tested here"),
			      f->costs, NULL);
	else if (t->missing.len)
		check_explain(check_add(c, f->name, CHECK_LIMITED, "without %s", t->missing.data),
			      "the rest is recorded", report);
	else
		check_add(c, f->name, CHECK_GOOD, "%zu BPF programs", t->cnt);
}

/* A recording that is refused may start with other options. */
static void add_instead(struct check *c, struct tried *t)
{
	struct check_row *row = &c->rows[c->cnt - 1];
	size_t i;

	row->state = CHECK_BAD;
	for (i = 0; i < sizeof(instead) / sizeof(instead[0]); i++)
		if (try(&instead[i], t) && !t->missing.len) {
			row->state = CHECK_LIMITED;
			row->option = instead[i].name;
			return;
		}
}

/* Uses the same programs as -u. */
static void add_cgroup(struct check *c)
{
	__u64 id;

	if (selection_cgroup_id("/proc/mounts", ".", &id))
		check_explain(check_add(c, "-G", CHECK_LIMITED, "no cgroup2 is mounted"),
			      "no selection by cgroup",
			      "sudo mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified");
	else
		check_add(c, "-G", CHECK_GOOD, "cgroup2 is mounted");
}

/* The number of files was reported when they were counted. */
static void add_files(struct check *c)
{
	struct rlimit lim = { 0 };

	getrlimit(RLIMIT_NOFILE, &lim);
	check_explain(check_add(c, "open files", CHECK_BAD,
				"limit is too low: \"ulimit -n\" is %ju", (uintmax_t)lim.rlim_cur),
		      "nothing can be recorded", "a higher \"ulimit -n\"");
}

void check_features(struct check *c, const char *btf)
{
	struct tried t = { .verdicts = verdicts_new(), .btf = btf };
	bool good = try(&all, &t);
	size_t i;

	if (t.err == -EMFILE || t.err == -ENFILE) {
		add_files(c);
		verdicts_free(t.verdicts);
		return;
	}
	add_row(c, &all, &t);
	if (!good) {
		buf_add(&t.of_all, t.refused.data, t.refused.len);
		add_instead(c, &t);
	}
	check_add(c, "kernel stacks", CHECK_GOOD, "with %s", t.orc ? "ORC" : "bpf_get_stack()");
	for (i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		try(&features[i], &t);
		add_row(c, &features[i], &t);
	}
	add_cgroup(c);
	buf_free(&t.refused);
	buf_free(&t.missing);
	buf_free(&t.of_all);
	verdicts_free(t.verdicts);
}
