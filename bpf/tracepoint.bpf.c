// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * tracepoint.bpf.c - one program for any tracepoint, which copies the kernel's record
 *
 * The first eight bytes of the record are hidden from programs; raw_init() fills in the known part. The kernel does
 * not run this program while another one of its kind runs on that CPU. Therefore events in interrupts use
 * extract.bpf.c where possible.
 *
 * The program returns 1: a 0 would hide the event from every perf user of the machine.
 */
#define SCRATCH tracepoint_scratch
#include "generic.bpf.h"
#include "scratch.bpf.h"

struct event_cfg_map event_cfgs SEC(".maps");

enum {
	TEXT_BYTES = 2048, /* records with texts belong to system calls: six arguments */
};

/* End of the record: the end of its fixed part or of its last dynamic field. */
static __always_inline __u32 raw_length(void *ctx, const struct prof_event_cfg *cfg, __u8 *flags)
{
	__u32 len = cfg->size, word, end;

	if (cfg->dyn_off && !bpf_probe_read_kernel(&word, sizeof(word), ctx + cfg->dyn_off)) {
		end = (word & 0xffff) + (word >> 16);
		if (cfg->dyn_relative)
			end += cfg->dyn_off + sizeof(word);
		if (end > len)
			len = end;
	}
	if (len > PROF_RAW_MAX) {
		len = PROF_RAW_MAX;
		*flags |= PROF_REC_RAW_CUT;
	}
	return len;
}

/* Appends the texts that fields point to, if they are in memory. Returns the new length. */
static __always_inline __u32 add_texts(void *ctx, void *raw, const struct prof_event_cfg *cfg)
{
	__u32 at = PROF_BOUND_INDEX(cfg->text_at, TEXT_BYTES), word_at = at, i, word;
	const void *text;
	long n;

	at += PROF_TEXT_FIELDS * sizeof(word);
	for (i = 0; i < PROF_TEXT_FIELDS; i++) {
		word = 0;
		at = PROF_BOUND_INDEX(at, TEXT_BYTES);
		if (i < cfg->text_cnt &&
		    !bpf_probe_read_kernel(&text, sizeof(text), ctx + cfg->text_off[i])) {
			n = bpf_probe_read_user_str(raw + at, PROF_TEXT_MAX, text);
			if (n > 0 && n <= PROF_TEXT_MAX) {
				word = (__u32)n << 16 | at;
				at += (__u32)n;
			}
		}
		*(__u32 *)(raw + word_at + i * sizeof(word)) = word;
	}
	return at;
}

SEC("tp")
int prof_tracepoint(void *ctx)
{
	__u32 idx = bpf_get_attach_cookie(ctx), cpu = bpf_get_smp_processor_id(), len,
	      stacks_sz = 0;
	__u64 pid_tgid = bpf_get_current_pid_tgid(), start;
	const struct prof_event_cfg *cfg;
	struct prof_rec *rec;
	void *raw;

	if (!recording || !is_cpu_wanted(cpu))
		return 1;
	cfg = bpf_map_lookup_elem(&event_cfgs, &idx);
	rec = scratch_get();
	if (!cfg || !rec || (!is_current_target(pid_tgid) && !names_target(ctx, cfg)))
		return 1;
	start = clock_now();
	rec_init(rec, PROF_REC_TRACEPOINT, cpu, start, pid_tgid);
	rec->event = idx;
	if (cfg->has_context)
		rec->context = context_now(cpu);
	len = raw_length(ctx, cfg, &rec->flags);
	raw = rec + 1;
	if (len <= COMMON_SIZE || len > PROF_RAW_MAX ||
	    bpf_probe_read_kernel(raw + COMMON_SIZE,
				  PROF_BOUND_SIZE(len - COMMON_SIZE, PROF_RAW_MAX - COMMON_SIZE),
				  ctx + COMMON_SIZE)) {
		count_read_failed(cpu, start);
		return 1;
	}
	raw_init(raw, cfg->type, pid_tgid);
	if (cfg->text_cnt)
		len = add_texts(ctx, raw, cfg);
	rec->raw_len = len;
	if (filter_rejects_long(raw, len, cfg->filter))
		goto out;
	len = (len + 7) & ~7U;
	if (cfg_event_stacks && cfg->has_stacks && rec->pid != cfg_self_tgid)
		/* samples and this program exclude each other, so the memory of the sample's walk is free */
		stacks_sz = add_stacks(ctx, rec, len, 0, true, UNWIND_OF_SAMPLE);
	rec_output(rec, sizeof(*rec) + len + stacks_sz, PROF_REC_MAX, PROF_CLASS_TRACEPOINT);
out:
	count_run(cpu, PROF_PROG_TRACEPOINT, start);
	return 1;
}
