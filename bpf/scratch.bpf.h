/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * scratch.bpf.h - per-CPU memory to build a record of unknown size
 *
 * Each object that includes this has separate memory. Tracepoint and perf_event programs never interrupt each
 * other, but both may interrupt a tp_btf program.
 */
#ifndef D9_SCRATCH_BPF_H
#define D9_SCRATCH_BPF_H

#include "prof.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u8[PROF_REC_MAX]);
} SCRATCH SEC(".maps");

static __always_inline struct prof_rec *scratch_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&SCRATCH, &zero);
}

#endif
