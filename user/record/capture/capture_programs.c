// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture_programs.c - loads each program of a recording separately
 *
 * The verifier checks one program at a time, so one load judges all programs up to the first refused one. That
 * program is loaded again alone, for its log. The next load skips the judged programs. The number of instructions
 * comes from the verifier's log: Linux 5.15 reports it nowhere else.
 */
#include "record/capture/capture_programs.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "prof_abi.h"
#include "prof_select.h"
#include "prof.skel.h"
#include "record/capture/capture.h"
#include "record/capture/capture_configure.h"
#include "record/capture/capture_cpus.h"
#include "record/capture/capture_field_extract.h"
#include "record/capture/capture_files.h"
#include "record/capture/capture_load.h"
#include "record/capture/capture_orc.h"
#include "record/capture/capture_rings.h"
#include "record/capture/given_btf.h"
#include "record/capture/refusal.h"
#include "record/capture/verdicts.h"

enum {
	PROGRAMS_MAX = 128,
	STATS_BYTES = 1 << 18, /* of log, most of which the verifier removes again */
	LOG_ERRORS = 1, /* BPF_LOG_LEVEL1, BPF_LOG_STATS of the kernel */
	LOG_STATS = 4,
};

struct judge {
	const struct capture_cfg *cfg;
	size_t cpu_cnt;
	bool orc, refused, alternatives;
	struct verdicts *verdicts;
	capture_program_fn fn;
	void *ctx;
	char names[PROGRAMS_MAX][CAPTURE_LOAD_NAME]; /* of the judged programs */
	size_t cnt;
	char *stats; /* STATS_BYTES for each program of an object */
};

static bool is_judged(const struct judge *j, const char *name)
{
	size_t i;

	for (i = 0; i < j->cnt; i++)
		if (!strcmp(j->names[i], name))
			return true;
	return false;
}

static uint32_t processed(const char *log)
{
	const char *at = strstr(log, "processed ");
	uint32_t insns = 0;

	return at && sscanf(at, "processed %u insns", &insns) == 1 ? insns : 0;
}

static void report(struct judge *j, const char *name, uint32_t insns,
		   const struct capture_refusal *refusal)
{
	const struct capture_program program = {
		.name = name,
		.insns = insns,
		.refusal = refusal,
	};

	j->refused |= refusal != NULL;
	snprintf(j->names[j->cnt++], CAPTURE_LOAD_NAME, "%s", name);
	j->fn(j->ctx, &program);
}

static int fail(const char *btf, const struct capture_refusal *why)
{
	struct refusal_facts facts;

	refusal_read(btf, &facts);
	refusal_report("check", &facts, why, NULL);
	return why->err;
}

/* Opens and configures a skeleton. Prints one line and returns NULL on errors. */
static struct prof *open_configured(const struct judge *j, struct capture_refusal *why)
{
	struct capture_rings rings = { 0 };
	struct capture_field_extract extracts = { 0 };
	const struct capture_configure how = {
		.cfg = j->cfg,
		.cpu_cnt = j->cpu_cnt,
		.orc = j->orc,
		.rings = &rings,
		.extracts = &extracts,
	};
	struct prof *skel = prof__open();
	int err;

	if (!skel) {
		log_error("record: cannot open the BPF programs: %s", strerror(errno));
		return NULL;
	}
	err = capture_configure(skel, &how);
	if (!err && capture_files_check(skel, &how, why))
		err = fail(j->cfg->btf, why);
	capture_field_extract_fini(&extracts);
	if (!err)
		return skel;
	prof__destroy(skel);
	return NULL;
}

/* Reports programs known from another configuration, and enables only those not judged yet. */
static size_t choose(struct judge *j, struct prof *skel)
{
	struct bpf_program *prog;
	size_t cnt = 0;

	bpf_object__for_each_program(prog, skel->obj) {
		const char *name = bpf_program__name(prog);
		bool wanted = bpf_program__autoload(prog) && !is_judged(j, name) &&
			      j->cnt + cnt < PROGRAMS_MAX;
		int64_t insns = wanted ? verdicts_find(j->verdicts, skel, prog) : -1;

		if (insns >= 0) {
			report(j, name, insns, NULL);
			wanted = false;
		}
		bpf_program__set_autoload(prog, wanted);
		cnt += wanted;
	}
	return cnt;
}

static void choose_one(struct prof *skel, const char *name)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, skel->obj)
		bpf_program__set_autoload(prog, !strcmp(name, bpf_program__name(prog)));
}

/* Loads one program alone, with the verifier's full log. */
static int judge_refused(struct judge *j, const char *name)
{
	struct capture_refusal refusal = { 0 };
	struct prof *skel = open_configured(j, &refusal);
	int err = 0;

	if (!skel)
		return refusal.err ? refusal.err : -EINVAL;
	choose_one(skel, name);
	if (!capture_load(skel, &refusal))
		report(j, name, 0, NULL);
	else if (capture_refusal_is_verifiers(&refusal))
		report(j, name, 0, &refusal);
	else
		err = fail(j->cfg->btf, &refusal);
	capture_refusal_fini(&refusal);
	prof__destroy(skel);
	return err;
}

static void want_stats(struct judge *j, struct prof *skel)
{
	struct bpf_program *prog;
	char *at = j->stats;

	bpf_object__for_each_program(prog, skel->obj) {
		if (!bpf_program__autoload(prog))
			continue;
		bpf_program__set_log_level(prog, LOG_STATS);
		*at = '\0';
		bpf_program__set_log_buf(prog, at, STATS_BYTES);
		at += STATS_BYTES;
	}
}

/* Reports the loaded programs: all, or those before the refused one. */
static void report_loaded(struct judge *j, const struct prof *skel, const char *refused)
{
	struct bpf_program *prog;
	size_t sz;

	bpf_object__for_each_program(prog, skel->obj) {
		uint32_t insns;

		if (!bpf_program__autoload(prog))
			continue;
		if (!strcmp(bpf_program__name(prog), refused))
			break;
		insns = processed(bpf_program__log_buf(prog, &sz));
		if (!*refused)
			verdicts_add(j->verdicts, skel, prog, insns);
		report(j, bpf_program__name(prog), insns, NULL);
	}
}

/* 0: all are judged. 1: some remain. */
static int judge_some(struct judge *j)
{
	struct capture_refusal why = { 0 };
	struct prof *skel = open_configured(j, &why);
	size_t cnt;
	int err = 0;

	if (!skel)
		return why.err ? why.err : -EINVAL;
	cnt = choose(j, skel);
	want_stats(j, skel);
	if (cnt && capture_load(skel, &why)) {
		if (!capture_refusal_is_verifiers(&why))
			err = fail(j->cfg->btf, &why);
		else
			report_loaded(j, skel, why.program);
		if (!err)
			err = judge_refused(j, why.program);
		err = err ? err : 1;
	} else if (cnt) {
		report_loaded(j, skel, "");
	}
	capture_refusal_fini(&why);
	prof__destroy(skel);
	return err;
}

static int judge_all(void *ctx)
{
	struct judge *j = ctx;
	int orc, err = 0;

	for (orc = !j->cfg->no_orc && capture_orc_is_likely(); !err && orc >= 0; orc--) {
		j->orc = orc;
		do {
			err = judge_some(j);
		} while (err == 1);
		if (!j->alternatives && !j->refused)
			break;
	}
	return err;
}

int capture_programs(const struct capture_cfg *cfg, bool alternatives, struct verdicts *verdicts,
		     capture_program_fn fn, void *ctx)
{
	struct judge *j = xcalloc(1, sizeof(*j));
	struct capture_cpus cpus = { 0 };
	int err = capture_cpus_init(&cpus);

	j->cfg = cfg;
	j->alternatives = alternatives;
	j->verdicts = verdicts;
	j->fn = fn;
	j->ctx = ctx;
	j->stats = xcalloc(PROGRAMS_MAX, STATS_BYTES);
	j->cpu_cnt = err ? 0 : (size_t)cpus.v[cpus.cnt - 1].cpu + 1;
	if (!err)
		err = cfg->btf ? given_btf_run("check", cfg->btf, judge_all, j) : judge_all(j);
	capture_cpus_fini(&cpus);
	free(j->stats);
	free(j);
	return err;
}
