// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* sample.bpf.c - a perf event after its period: records what this CPU runs */
#define SCRATCH sample_scratch
#include "scratch.bpf.h"
#include "select.bpf.h"
#include "stack.bpf.h"

static __always_inline __u32 sampled_kernel_stack(__u64 *ctx, struct prof_rec *rec, __u64 *frames,
						  bool orc)
{
	struct prof_kstack_stat *stat = orc_stat(rec->cpu, ORC_OF_SAMPLE);
	__u32 n = 0;

	if (orc)
		n = orc_sample_stack(ctx, (void *)frames, stat);
	if (n) {
		stat->walked++;
		return n;
	}
	stat->helped++;
	return kernel_stack_helped(ctx, frames, 0, &rec->flags);
}

static __always_inline int on_sample(__u64 *ctx, bool orc)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid(), start;
	__u32 cpu = bpf_get_smp_processor_id();
	struct task_struct *task;
	struct prof_rec *rec;
	__u64 *frames;
	bool user;

	if (!recording || pid_tgid >> 32 == cfg_self_tgid || !is_current_target(pid_tgid))
		return 0;
	rec = scratch_get();
	if (!rec)
		return 0;
	task = bpf_get_current_task_btf();
	user = has_user_stack(task);
	start = clock_now();
	rec_init(rec, PROF_REC_SAMPLE, cpu, start, pid_tgid);
	rec->event = 0;
	rec->raw_len = 0;
	rec->flags |= PROF_REC_STACKS;
	frames = (__u64 *)(rec + 1);
	if (!SAMPLED_IN_USER(ctx[SAMPLED_STATE]))
		rec->kstack_cnt = sampled_kernel_stack(ctx, rec, frames, orc);
	frames += kstack_words(rec);
	if (user)
		user_stack(rec, (void *)frames, UNWIND_OF_SAMPLE);
	rec_output(rec, sizeof(*rec) + 8 * (kstack_words(rec) + ustack_words(rec)), PROF_REC_MAX,
		   PROF_CLASS_SAMPLE);
	count_run(cpu, PROF_PROG_SAMPLE, start);
	return 0;
}

SEC("?perf_event")
int prof_sample(__u64 *ctx)
{
	return on_sample(ctx, false);
}

/* The same, with kernel stacks by ORC. */
SEC("?perf_event")
int prof_sample_orc(__u64 *ctx)
{
	return on_sample(ctx, true);
}
