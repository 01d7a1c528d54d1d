/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * filter.bpf.h - --filter: evaluates prof_filter.h's filters on a record
 *
 * A filter checks the record as it would be written. Records of the generic program lie in a per-CPU place that is
 * long enough for any of them. Records of the scheduler's programs are short and lie on the stack: a program that
 * interrupts one of them needs no second place.
 */
#ifndef D9_FILTER_BPF_H
#define D9_FILTER_BPF_H

#include "prof.bpf.h"
#include "prof_filter.h"

enum {
	FILTER_LONG = 16384,
	FILTER_SHORT = 128,
};

/* Eight bytes more than a record can have: numbers are read in units of eight bytes. */
struct filter_long {
	__u8 bytes[FILTER_LONG + 8];
};

struct filter_short {
	__u8 bytes[FILTER_SHORT + 8] __attribute__((aligned(8)));
};

struct filter_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_filter);
};

struct filter_pattern_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_filter_pattern);
};

extern struct filter_map filters SEC(".maps");
extern struct filter_pattern_map filter_patterns SEC(".maps");
extern const volatile bool cfg_filters;

_Static_assert(PROF_RAW_MAX + sizeof(struct prof_filter_context) <= FILTER_LONG, "records fit");
_Static_assert(sizeof(struct prof_rec) + sizeof(struct filter_long) <= PROF_REC_MAX, "as scratch");

/* Global functions, like the steps of a walk: the verifier checks each only once. @filter: an index. */
int filter_run_long(struct filter_long *at, __u32 len, __u32 filter);
int filter_run_short(struct filter_short *at, __u32 len, __u32 filter);

static __always_inline void filter_note_context(__u8 *end)
{
	struct prof_filter_context *c = (void *)(end - sizeof(*c));

	bpf_get_current_comm(c->comm, sizeof(c->comm));
	c->cpu = bpf_get_smp_processor_id();
}

/* @filter: from the event's configuration. The constant lets the verifier skip the filters' code. */
static __always_inline bool filter_rejects_long(struct filter_long *at, __u32 len, __u16 filter)
{
	if (!cfg_filters || !filter)
		return false;
	filter_note_context(at->bytes + FILTER_LONG);
	return !filter_run_long(at, len, filter - 1);
}

/* @filter: not 0. */
static __always_inline bool filter_wants_short(struct filter_short *at, __u32 len, __u16 filter)
{
	filter_note_context(at->bytes + FILTER_SHORT);
	return filter_run_short(at, len, filter - 1);
}

#endif
