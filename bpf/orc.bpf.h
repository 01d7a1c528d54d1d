/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * orc.bpf.h - kernel stacks by the kernel's own ORC tables, for a tenth of what bpf_get_stack() costs
 *
 * The tables say of each place in the kernel's text where its caller's frame is. They lie in the kernel's
 * memory, sorted; the loader finds their addresses in /proc/kallsyms, some time after the start, and writes
 * them to orc_tables. Reads are plain loads by bpf_rdonly_cast(), which a fault makes 0; so no address has to
 * be trusted. That is a kfunc of Linux 6.2. Kernels before 5.16 refuse programs that name one they do not
 * have, even in code that never runs: programs that walk are therefore others than those that do not.
 *
 * A tracepoint's program starts where the kernel called it: its context lies in the frame of bpf_trace_run(),
 * as far below the return address as the kernel's compiler has put it. The first stack of each kind looks for
 * that distance in what bpf_get_stack() gives, and the next ORC_CHECKS on each CPU are compared with it: one
 * that differs, and no more are walked.
 *
 * Whatever is unusual is left to bpf_get_stack(), and counted: code outside the kernel's image (modules, BPF,
 * trampolines), rows by other registers than sp and bp, another stack than the task's, return addresses that
 * tracers put in place of the true ones. So are all stacks of a kernel without ORC tables, without
 * bpf_rdonly_cast(), with rows of another layout (before 6.4), or that hides its addresses.
 */
#ifndef D9_ORC_BPF_H
#define D9_ORC_BPF_H

#include "prof.bpf.h"

/* Whose stacks are taken. */
enum orc_from {
	ORC_OF_SWITCH,
	ORC_OF_WAKEUP,
	ORC_OF_SAMPLE, /* by the registers of its context */
	ORC_FROM_CNT,
};

enum {
	ORC_ROWS = 16384, /* of the cache; a power of two */
	ORC_CHECKS = 64,
	ORC_FRAMES_MAX = 120, /* a longer one is bpf_get_stack()'s */
};

struct orc_frames {
	__u64 at[PROF_STACK_MAX];
};

/* A walk, and room for what it is compared with. */
struct orc_place {
	__u64 ip, sp, bp;
	__u64 top; /* where the task's user registers are: all frames lie below */
	__u64 ctx; /* of the program, as a number */
	__u8 exact; /* ip is not a return address */
	__u8 keep; /* its row goes to the cache */
	__u32 checks[ORC_FROM_CNT];
	struct orc_frames check;
};

/* One for samples, one for all others, which do not interrupt each other. */
struct orc_place_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct orc_place);
};

extern struct orc_place_map orc_places SEC(".maps");
extern volatile struct prof_orc_tables orc_tables;
/*
 * How a kind of stack starts: ORC_START_*, and from ORC_START_KNOWN on in its second half where the frame of
 * the context's owner has the caller's bp, against the return address, which is so many words above the context.
 */
extern volatile __u64 orc_starts[ORC_FROM_CNT];
extern __u64 orc_rows[ORC_ROWS];
extern const volatile bool cfg_verify_stacks;

enum {
	ORC_START_UNKNOWN,
	ORC_START_KNOWN, /* and all words up to: */
	ORC_START_WORDS = 64,
	ORC_START_NEVER,
};

/* Walks from the context that p->ctx is, in the way that @start says. Frames, or 0. */
int orc_walk_context(struct orc_place *p, struct orc_frames *frames, __u64 start);
/* Walks from the registers in @p. Frames, or 0. */
int orc_walk_registers(struct orc_place *p, struct orc_frames *frames);
/* orc_starts' of a kind: from p->ctx, and p->check with @cnt frames from bpf_trace_run()'s on. */
__u64 orc_find_start(struct orc_place *p, __u32 cnt);
/* Whether p->check, of @bytes, is the same as @cnt frames: 1 or 0. */
int orc_is_same(const struct orc_place *p, const struct orc_frames *frames, __u32 cnt, long bytes);

static __always_inline struct prof_kstack_stat *orc_stat(__u32 cpu, enum orc_from from)
{
	return &cpu_stat(cpu)->kstacks[from == ORC_OF_SAMPLE];
}

/* Tells a tracepoint's start from the stack that bpf_get_stack() gives for it. */
static __always_inline void orc_calibrate(void *ctx, struct orc_place *p, enum orc_from from)
{
	long n = bpf_get_stack(ctx, p->check.at, sizeof(p->check.at), 1);

	if (n > 0)
		orc_starts[from] = orc_find_start(p, n / sizeof(*p->check.at));
}

/* Whether bpf_get_stack() gives the same, if that is asked for. */
static __always_inline bool orc_check(void *ctx, struct orc_place *p,
				      const struct orc_frames *frames, __u32 cnt,
				      enum orc_from from, __u32 skip, struct prof_kstack_stat *stat)
{
	long n;

	if (!cfg_verify_stacks) {
		if (p->checks[from] >= ORC_CHECKS)
			return true;
		p->checks[from]++;
	}
	n = bpf_get_stack(ctx, p->check.at, sizeof(p->check.at), skip);
	stat->compared++;
	if (orc_is_same(p, frames, cnt, n))
		return true;
	stat->differing++;
	if (!cfg_verify_stacks)
		orc_starts[from] = ORC_START_NEVER;
	return false;
}

/*
 * The current task's stack, from a tracepoint's program: what bpf_get_stack() gives when it leaves out @skip
 * frames. 0: that has to be asked.
 */
static __always_inline __u32 orc_tracepoint_stack(void *ctx, struct orc_frames *frames,
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
 * The same from a sample's registers, of which its context begins; what was interrupted was the kernel. The places that samples hit are too many for the cache; those that they were called from are not.
 */
static __always_inline __u32 orc_sample_stack(const __u64 *ctx, struct orc_frames *frames,
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
