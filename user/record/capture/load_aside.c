// SPDX-License-Identifier: BSD-2-Clause
/*
 * load_aside.c - several programs in the verifier at the same time
 *
 * The verifier needs most of the time before a recording starts, mainly for two programs: the one of switches and the
 * one of samples. libbpf loads one program after the other. Before it loads one of the two, it calls prepare() with the
 * finished instructions. A thread loads a copy of them, and libbpf loads an empty program in their place. In the end
 * the loaded program replaces the empty one under its descriptor.
 *
 * libbpf does not look up the tracepoint of a program whose section has a registered handler.
 */
#include "record/capture/load_aside.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "prof_abi.h"
#include "prof_select.h"
#include "prof.skel.h"

#define SWITCH "sched_switch"

enum { SAMPLES, SWITCHES, ASIDES };

/* The first program of a section. */
struct aside {
	const struct bpf_program *prog; /* NULL: none is loaded in the thread */
	pthread_t thread;
	struct bpf_insn *insns;
	size_t insn_cnt;
	void *funcs, *lines;
	struct bpf_prog_load_opts opts;
	int fd; /* result, or -errno */
};

/* libbpf fixes the context of the callback at its registration, for the whole process. */
static struct aside asides[ASIDES];
static bool registered[ASIDES], enabled;

static void *run(void *ctx)
{
	struct aside *a = ctx;

	a->fd = bpf_prog_load(bpf_program__type(a->prog), bpf_program__name(a->prog),
			      "Dual BSD/GPL", a->insns, a->insn_cnt, &a->opts);
	return NULL;
}

static void *copy(const void *from, size_t sz)
{
	return sz ? memcpy(xcalloc(1, sz), from, sz) : NULL;
}

static int start_thread(struct aside *a)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&a->thread, NULL, run, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

static void free_copies(struct aside *a)
{
	free(a->insns);
	free(a->funcs);
	free(a->lines);
	*a = (struct aside){ 0 };
}

/* Replaces the program that libbpf loads by `return 0`. */
static int empty(struct bpf_program *prog, struct bpf_prog_load_opts *opts)
{
	static struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	opts->func_info = opts->line_info = NULL;
	opts->func_info_cnt = opts->line_info_cnt = 0;
	return bpf_program__set_insns(prog, nothing, sizeof(nothing) / sizeof(nothing[0]));
}

static int prepare(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	struct aside *a = &asides[cookie];

	if (!enabled || a->prog)
		return 0;
	*a = (struct aside){
		.prog = prog,
		.insn_cnt = bpf_program__insn_cnt(prog),
		.opts = *opts,
	};
	a->insns = copy(bpf_program__insns(prog), a->insn_cnt * sizeof(*a->insns));
	a->funcs = copy(opts->func_info, (size_t)opts->func_info_cnt * opts->func_info_rec_size);
	a->lines = copy(opts->line_info, (size_t)opts->line_info_cnt * opts->line_info_rec_size);
	a->opts.func_info = a->funcs;
	a->opts.line_info = a->lines;
	if (start_thread(a)) {
		free_copies(a);
		return 0;
	}
	return empty(prog, opts);
}

static void register_section(int which, const char *section, enum bpf_prog_type type,
			     enum bpf_attach_type attach)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = which,
		    .prog_prepare_load_fn = prepare);

	if (!registered[which])
		registered[which] = libbpf_register_prog_handler(section, type, attach, &opts) > 0;
}

void load_aside_begin(void)
{
	register_section(SAMPLES, "perf_event", BPF_PROG_TYPE_PERF_EVENT, 0);
	register_section(SWITCHES, "tp_btf/" SWITCH, BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP);
	enabled = true;
}

int load_aside_find_targets(struct prof *skel)
{
	struct bpf_program *prog;
	int err = 0;

	if (!registered[SWITCHES])
		return 0;
	bpf_object__for_each_program(prog, skel->obj)
		if (!err && bpf_program__autoload(prog) &&
		    !strcmp(bpf_program__section_name(prog), "tp_btf/" SWITCH))
			err = bpf_program__set_attach_target(prog, 0, SWITCH);
	return err;
}

/* Replaces the empty program. */
static int finish(struct aside *a, struct prof *skel)
{
	int at, err = 0;

	if (!a->prog)
		return 0;
	pthread_join(a->thread, NULL);
	at = skel ? bpf_program__fd(a->prog) : -1;
	if (a->fd < 0)
		err = a->fd;
	else if (at >= 0 && dup3(a->fd, at, O_CLOEXEC) < 0)
		err = -errno;
	if (a->fd >= 0)
		close(a->fd);
	free_copies(a);
	return err;
}

int load_aside_end(struct prof *skel)
{
	int i, one, err = 0;

	enabled = false;
	for (i = 0; i < ASIDES; i++) {
		one = finish(&asides[i], skel);
		err = err ? err : one;
	}
	return err;
}
