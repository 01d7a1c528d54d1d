// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* sample.bpf.c - a perf event that has counted its period: where is this CPU? */
#define SCRATCH sample_scratch
#include "scratch.bpf.h"
#include "stack.bpf.h"

SEC("perf_event")
int prof_sample(struct bpf_perf_event_data *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid(), start;
	__u32 cpu = bpf_get_smp_processor_id();
	struct prof_rec *rec;
	__u64 *frames;

	if (!recording || pid_tgid >> 32 == cfg_self_tgid || !is_target(pid_tgid, pid_tgid >> 32))
		return 0;
	rec = scratch_get();
	if (!rec)
		return 0;
	start = bpf_ktime_get_ns();
	rec_init(rec, PROF_REC_SAMPLE, cpu, start, pid_tgid);
	rec->event = 0;
	rec->raw_len = 0;
	rec->flags |= PROF_REC_STACKS;
	frames = (__u64 *)(rec + 1);
	rec->kstack_cnt = kernel_stack(ctx, frames, 0, &rec->flags);
	frames += rec->kstack_cnt & 127;
	user_stack(rec, bpf_get_current_task_btf(), frames, UNWIND_OF_SAMPLE);
	rec_output(rec,
		   sizeof(*rec) +
			   8 * ((rec->kstack_cnt & 127) + (rec->ustack_cnt & USER_WORDS_MASK)),
		   PROF_CLASS_SAMPLE);
	count_run(cpu, PROF_PROG_SAMPLE, start);
	return 0;
}
