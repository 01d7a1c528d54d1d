/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * orc.bpf.h - kernel stacks by the kernel's own ORC tables, for a tenth of the cost of bpf_get_stack()
 *
 * For each address in the kernel's text, the tables give the location of the caller's frame. They are sorted and
 * lie in kernel memory. The loader finds their addresses in /proc/kallsyms some time after the start and writes
 * them to orc_tables. Reads are plain loads by bpf_rdonly_cast(). A fault reads 0, so no address needs to be
 * trusted. bpf_rdonly_cast() is a kfunc of Linux 6.2. Kernels before 5.16 reject programs that name an unknown
 * kfunc, even in code that never runs. Therefore separate programs exist with and without walks.
 *
 * A tracepoint's program starts where the kernel called it. Its context lies in the frame of bpf_trace_run(), at a
 * distance below the return address that depends on the kernel's compiler. The first stack of each kind searches
 * the result of bpf_get_stack() for that distance. The next ORC_CHECKS stacks on each CPU are compared with
 * bpf_get_stack(). If one stack differs, walks stop.
 *
 * Unusual cases are left to bpf_get_stack() and counted:
 *
 * - code outside the kernel's image (modules, BPF, trampolines)
 * - rows by other registers than sp and bp
 * - stacks other than the task's
 * - return addresses that tracers replaced
 * - kernels without ORC tables or bpf_rdonly_cast(), with another row layout (before 6.4), or with hidden addresses
 */
#ifndef D9_ORC_BPF_H
#define D9_ORC_BPF_H

#include "prof.bpf.h"

/* Kinds of walks. */
enum orc_from {
	ORC_OF_SWITCH,
	ORC_OF_WAKEUP,
	ORC_OF_SAMPLE, /* from the registers of its context */
	ORC_FROM_CNT,
};

enum {
	ORC_ROWS = 16384, /* of the cache; a power of two */
	ORC_CHECKS = 64,
	ORC_PARTS = 7, /* bpf_get_stack() walks longer stacks */
};

/* A walk, and memory for the stack that it is compared with. */
struct orc_place {
	__u64 ip, sp, bp;
	__u64 top; /* location of the task's user registers: all frames lie below */
	__u64 ctx; /* address of the program's context */
	__u8 exact; /* ip is not a return address */
	__u8 keep; /* cache the row of ip */
	__u32 checks[ORC_FROM_CNT];
	struct stack_frames check;
};

/* One for samples and one for all other walks, which do not interrupt each other. */
struct orc_place_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct orc_place);
};

extern struct orc_place_map orc_places SEC(".maps");
extern volatile struct prof_orc_tables orc_tables;
/*
 * How a kind of stack starts: ORC_START_* in the first half. From ORC_START_KNOWN on, the first half is the
 * distance in words from the context up to the return address. The second half is the location of the caller's bp
 * relative to the return address.
 */
extern volatile __u64 orc_starts[ORC_FROM_CNT];
extern __u64 orc_rows[ORC_ROWS];
extern const volatile bool cfg_verify_stacks;

enum {
	ORC_START_UNKNOWN,
	ORC_START_KNOWN, /* distances in words, up to: */
	ORC_START_WORDS = 64,
	ORC_START_NEVER,
};

/* Walks from the context p->ctx; @start: a value of orc_starts. Returns the number of frames, or 0. */
int orc_walk_context(struct orc_place *p, struct stack_frames *frames, __u64 start);
/* Walks from the registers in @p. Returns the number of frames, or 0. */
int orc_walk_registers(struct orc_place *p, struct stack_frames *frames);
/* Finds the value of orc_starts from p->ctx and p->check, which has @cnt frames from bpf_trace_run() on. */
__u64 orc_find_start(struct orc_place *p, __u32 cnt);
/* Whether p->check, of @bytes, equals the @cnt frames: 1 or 0. */
int orc_is_same(const struct orc_place *p, const struct stack_frames *frames, __u32 cnt,
		long bytes);

static __always_inline struct prof_kstack_stat *orc_stat(__u32 cpu, enum orc_from from)
{
	return &cpu_stat(cpu)->kstacks[from == ORC_OF_SAMPLE];
}

/* Finds a tracepoint's start in the stack that bpf_get_stack() returns. */
static __always_inline void orc_calibrate(void *ctx, struct orc_place *p, enum orc_from from)
{
	long n = bpf_get_stack(ctx, p->check.at, 8 * PROF_STACK_MAX, 1);

	if (n > 0)
		orc_starts[from] = orc_find_start(p, n / sizeof(*p->check.at));
}

/* Whether bpf_get_stack() returns the same stack, if checks are enabled. */
static __always_inline bool orc_check(void *ctx, struct orc_place *p,
				      const struct stack_frames *frames, __u32 cnt,
				      enum orc_from from, __u32 skip, struct prof_kstack_stat *stat)
{
	long n;

	if (!cfg_verify_stacks) {
		if (p->checks[from] >= ORC_CHECKS)
			return true;
		p->checks[from]++;
	}
	n = bpf_get_stack(ctx, p->check.at, 8 * PROF_STACK_MAX, skip);
	stat->compared++;
	if (orc_is_same(p, frames, cnt, n))
		return true;
	stat->differing++;
	if (!cfg_verify_stacks)
		orc_starts[from] = ORC_START_NEVER;
	return false;
}

/*
 * The current task's stack from a tracepoint's program: the result of bpf_get_stack() without @skip frames. 0: call
 * bpf_get_stack().
 */
static __always_inline __u32 orc_tracepoint_stack(void *ctx, struct stack_frames *frames,
						  enum orc_from from, __u32 skip,
						  struct prof_kstack_stat *stat)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 which = 0, cnt;
	struct orc_place *p = bpf_map_lookup_elem(&orc_places, &which);
	__u64 start = orc_starts[from];

	if (!p || !orc_tables.cnt || start == ORC_START_NEVER)
		return 0;
	*(void *volatile *)&p->ctx = ctx;
	if (start == ORC_START_UNKNOWN) {
		orc_calibrate(ctx, p, from);
		return 0;
	}
	p->top = bpf_task_pt_regs(task);
	cnt = orc_walk_context(p, frames, start);
	return cnt && orc_check(ctx, p, frames, cnt, from, skip, stat) ? cnt : 0;
}

/*
 * The same for a sample in the kernel. Its context begins with the registers. The interrupted address is not
 * cached, because samples hit too many different ones; return addresses are.
 */
static __always_inline __u32 orc_sample_stack(const __u64 *ctx, struct stack_frames *frames,
					      struct prof_kstack_stat *stat)
{
	__u32 which = 1, cnt;
	struct orc_place *p = bpf_map_lookup_elem(&orc_places, &which);

	if (!p || !orc_tables.cnt || orc_starts[ORC_OF_SAMPLE] == ORC_START_NEVER)
		return 0;
	p->ip = ctx[SAMPLED_IP];
	p->sp = ctx[SAMPLED_SP];
	p->bp = ctx[SAMPLED_FP];
	p->exact = 1;
	p->keep = 0;
	p->top = bpf_task_pt_regs(bpf_get_current_task_btf());
	cnt = orc_walk_registers(p, frames);
	return cnt && orc_check((void *)ctx, p, frames, cnt, ORC_OF_SAMPLE, 0, stat) ? cnt : 0;
}

#endif
