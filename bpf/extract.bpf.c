// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * extract.bpf.c - programs for tracepoints whose records can be built by extracts (prof_extract.h)
 *
 * They run at the tracepoint itself, also while another program runs on that CPU. The kernel only rejects a nested
 * run of the same program. So each of these tracepoints has two programs, one after the other. The first builds the
 * record, and is marked busy while it does. The second builds the record if the first is busy, that is if the event
 * interrupted the first and the kernel rejected it. Events that interrupt both are lost, and so are events during
 * the first or last instructions of the first program. The kernel counts the rejected runs of the first program,
 * and we count the records of the second.
 *
 * To lose fewer events during those instructions, there are several such pairs, called lanes. Events that can
 * interrupt each other use different lanes where possible: the first lane is for events in interrupts only.
 *
 * Each program has its own memory for its record. The record of an interrupting event reaches the ring before the
 * record of the interrupted event, which has the earlier time. Readers see these two out of order.
 *
 * Cookies of such programs need Linux 6.10.
 */
#include "generic.bpf.h"
#include "prof_extract.h"

enum {
	EFAULT = 14,
	EVENT_BYTES = 4096, /* a power of two */
	NULL_TEXT_SZ = 7,
	ARG_SLOTS = 16, /* a power of two */
};

_Static_assert(PROF_EXTRACT_ARGS <= ARG_SLOTS, "each argument has a slot");
_Static_assert(PROF_EXTRACT_RECORD_MAX < EVENT_BYTES, "the bound changes no place in a record");

struct extract_place {
	__u64 args[ARG_SLOTS];
	__u32 end; /* of the unfinished record */
	__u32 spare;
	__u8 rec[PROF_REC_MAX];
};

struct extract_place_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2 * PROF_EXTRACT_LANES);
	__type(key, __u32);
	__type(value, struct extract_place);
};

struct extract_place_map extract_places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_extract);
} extracts SEC(".maps");

struct prof_cpu_extract cpu_extracts[PROF_CPUS_MAX] __attribute__((aligned(64)));

static __always_inline __u64 number_of(const struct prof_extract_step *s, __u64 v)
{
	__u32 unused = 64 - 8 * (__u32)s->from;

	v <<= unused & 63;
	return s->is_signed ? (__u64)((__s64)v >> (unused & 63)) : v >> (unused & 63);
}

static __always_inline int put_number(__u8 *to, __u8 size, __u64 v)
{
	switch (size) {
	case 1:
		*to = v;
		return 0;
	case 2:
		*(__u16 *)to = v;
		return 0;
	case 4:
		*(__u32 *)to = v;
		return 0;
	default:
		*(__u64 *)to = v;
		return 0;
	}
}

/* Like the kernel: the text of a null pointer is "(null)". */
static __always_inline int put_text(struct extract_place *p, __u8 *raw, __u32 at, const void *text)
{
	__u32 end = PROF_BOUND_INDEX(p->end, EVENT_BYTES);
	long n = NULL_TEXT_SZ;

	if (text)
		n = bpf_probe_read_kernel_str(raw + end, PROF_EXTRACT_TEXT_MAX, text);
	else
		__builtin_memcpy(raw + end, "(null)", NULL_TEXT_SZ);
	if (n <= 0 || n > PROF_EXTRACT_TEXT_MAX)
		return -EFAULT;
	*(__u32 *)(raw + at) = (__u32)n << 16 | end;
	p->end = end + n;
	return 0;
}

/* Follows the pointers of a step. */
static __always_inline int follow(const struct prof_extract_step *s, __u64 *at)
{
	__u32 i;

	for (i = 0; i < PROF_EXTRACT_HOPS && i < s->hop_cnt; i++) {
		if (i && bpf_probe_read_kernel(at, sizeof(*at), (void *)*at))
			return -EFAULT;
		*at += s->hops[i];
	}
	return 0;
}

/* One step of an extract. Returns 0, or an error if it failed. A global function: the verifier checks it once. */
__attribute__((noinline)) int extract_step(struct extract_place *p,
					   const struct prof_extract_step *s)
{
	__u64 v, number = 0;
	__u32 at;
	__u8 *raw;

	if (!p || !s)
		return -EFAULT;
	at = PROF_BOUND_INDEX(s->at, PROF_EXTRACT_FIXED_MAX);
	raw = p->rec + sizeof(struct prof_rec);
	if (s->kind == PROF_EXTRACT_JIFFIES)
		return put_number(raw + at, s->size, bpf_jiffies64());
	if (s->arg >= PROF_EXTRACT_ARGS)
		return -EFAULT;
	v = p->args[PROF_BOUND_INDEX(s->arg, ARG_SLOTS)];
	if (follow(s, &v))
		return -EFAULT;
	if (s->kind == PROF_EXTRACT_CHARS)
		return bpf_probe_read_kernel(
			raw + at, PROF_BOUND_SIZE(s->size, PROF_EXTRACT_FIXED_MAX), (void *)v);
	if (s->kind == PROF_EXTRACT_TEXT)
		return put_text(p, raw, at, (void *)v);
	if (!s->hop_cnt)
		number = v;
	else if (bpf_probe_read_kernel(&number,
				       PROF_BOUND_SIZE(s->kind == PROF_EXTRACT_TEXT_AT ? 8 :
											 s->from,
						       sizeof(number)),
				       (void *)v))
		return -EFAULT;
	if (s->kind == PROF_EXTRACT_TEXT_AT)
		return put_text(p, raw, at, (void *)number);
	number = number_of(s, number);
	return put_number(raw + at, s->size, s->kind == PROF_EXTRACT_BOOL ? !!number : number);
}

/* Builds the record except for its first eight bytes. */
static __always_inline int make_record(void *ctx, struct extract_place *p, __u32 event,
				       const struct prof_event_cfg *cfg)
{
	const struct prof_extract *extract = bpf_map_lookup_elem(&extracts, &event);
	__u32 i, args_sz;

	if (!extract || extract->arg_cnt > PROF_EXTRACT_ARGS)
		return -EFAULT;
	args_sz = extract->arg_cnt * sizeof(p->args[0]);
	if (bpf_probe_read_kernel(p->args, PROF_BOUND_SIZE(args_sz, sizeof(p->args)), ctx))
		return -EFAULT;
	__builtin_memset(p->rec + sizeof(struct prof_rec), 0, PROF_EXTRACT_FIXED_MAX);
	p->end = cfg->size;
	for (i = 0; i < PROF_EXTRACT_STEPS && i < extract->cnt; i++)
		if (extract_step(p, &extract->steps[i]))
			return -EFAULT;
	return 0;
}

/* Builds the record of a wanted event. Returns its length, or 0 if it is not wanted. */
static __always_inline __u32 build_event_record(void *ctx, struct extract_place *p, __u32 event,
						const struct prof_event_cfg *cfg, __u32 cpu)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	bool is_current = is_current_target(pid_tgid);
	struct prof_rec *rec = (void *)p->rec;

	if (!is_current && !cfg->pid_cnt)
		return 0;
	rec_init(rec, PROF_REC_TRACEPOINT, cpu, clock_now(), pid_tgid);
	rec->event = event;
	if (cfg->has_context)
		rec->context = context_now(cpu);
	if (make_record(ctx, p, event, cfg)) {
		if (is_current)
			count_read_failed(cpu, rec->ts);
		return 0;
	}
	raw_init(rec + 1, cfg->type, pid_tgid);
	if (!is_current && !names_target(rec + 1, cfg))
		return 0;
	return p->end;
}

/* NULL for a CPU without a place: it has no second program and no walks of user stacks. */
static __always_inline struct prof_cpu_extract *extract_of(__u32 cpu)
{
	return cpu < PROF_CPUS_MAX ? &cpu_extracts[PROF_BOUND_INDEX(cpu, PROF_CPUS_MAX)] : NULL;
}

#define EXTRACT_PLAIN(word) (*(volatile __typeof__(word) *)&(word))

/* There is only one place for the walk of a user stack. */
static __always_inline __u32 extract_stacks(void *ctx, struct prof_rec *rec, __u32 len,
					    struct prof_cpu_extract *r)
{
	bool user = r && !EXTRACT_PLAIN(r->walking);
	__u32 sz;

	if (user)
		EXTRACT_PLAIN(r->walking) = 1;
	sz = add_stacks(ctx, rec, len, TRACING_FRAMES, user, UNWIND_OF_EVENT);
	if (user)
		EXTRACT_PLAIN(r->walking) = 0;
	return sz;
}

/* @place: belongs to this program. */
static __always_inline void record_event(void *ctx, __u32 cpu, struct prof_cpu_extract *r,
					 __u32 place)
{
	__u32 event = bpf_get_attach_cookie(ctx), len, stacks_sz = 0;
	const struct prof_event_cfg *cfg;
	struct extract_place *p;
	struct prof_rec *rec;

	if (!recording || !is_cpu_wanted(cpu))
		return;
	cfg = bpf_map_lookup_elem(&event_cfgs, &event);
	p = bpf_map_lookup_elem(&extract_places, &place);
	if (!cfg || !p)
		return;
	rec = (void *)p->rec;
	len = build_event_record(ctx, p, event, cfg, cpu);
	if (!len || len > PROF_EXTRACT_RECORD_MAX)
		return;
	rec->raw_len = len;
	if (filter_rejects_long((void *)(rec + 1), len, cfg->filter))
		goto out;
	len = (len + 7) & ~7U;
	if (cfg_event_stacks && cfg->has_stacks && rec->pid != cfg_self_tgid)
		stacks_sz = extract_stacks(ctx, rec, len, r);
	rec_output(rec, sizeof(*rec) + len + stacks_sz, PROF_REC_MAX, PROF_CLASS_TRACEPOINT);
out:
	count_run(cpu, PROF_PROG_EXTRACT, rec->ts);
}

static __always_inline int make(void *ctx, __u32 lane)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct prof_cpu_extract *r = extract_of(cpu);

	if (r)
		EXTRACT_PLAIN(r->busy[lane]) = 1;
	record_event(ctx, cpu, r, 2 * lane);
	if (r)
		EXTRACT_PLAIN(r->busy[lane]) = 0;
	return 0;
}

static __always_inline int stand_in(void *ctx, __u32 lane)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct prof_cpu_extract *r = extract_of(cpu);

	if (!r || !EXTRACT_PLAIN(r->busy[lane]))
		return 0;
	r->stood_in[lane]++;
	record_event(ctx, cpu, r, 2 * lane + 1);
	return 0;
}

#define LANE(number)                                                                               \
	SEC("?raw_tp")                                                                             \
	int prof_extract_##number(void *ctx)                                                       \
	{                                                                                          \
		return make(ctx, number);                                                          \
	}                                                                                          \
                                                                                                   \
	SEC("?raw_tp")                                                                             \
	int prof_extract_stand_in_##number(void *ctx)                                              \
	{                                                                                          \
		return stand_in(ctx, number);                                                      \
	}

LANE(0)
LANE(1)
LANE(2)
