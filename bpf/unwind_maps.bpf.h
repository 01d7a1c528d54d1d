/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * unwind_maps.bpf.h - the maps with prof_unwind.h's tables, lists and processes
 *
 * The loader maps all of it and writes it without system calls. Programs only read it, except for processes, which
 * fork and exec update at once. Mapped arrays need Linux 5.5, an atomic compare-and-swap needs 5.12 (on arm64
 * 5.18). Chunks have equal sizes, so that the lookup stays inlined.
 */
#ifndef D9_UNWIND_MAPS_BPF_H
#define D9_UNWIND_MAPS_BPF_H

#include "prof.bpf.h"
#include "prof_unwind.h"

struct unwind_chunk_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROF_UNWIND_CHUNK_BLOCKS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 4 * PROF_UNWIND_BLOCK_WORDS);
};

struct unwind_chunk_maps {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct unwind_chunk_map);
};

struct unwind_module_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct prof_unwind_module);
};

struct unwind_map_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct prof_unwind_map);
};

struct unwind_proc_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROF_UNWIND_PROC_PROBES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct prof_unwind_proc);
};

extern struct unwind_chunk_maps unwind_chunks SEC(".maps");
extern struct unwind_module_map unwind_modules SEC(".maps");
extern struct unwind_map_map unwind_maps SEC(".maps");
extern struct unwind_proc_map unwind_procs SEC(".maps");

/* @i: which of a process's places. */
static __always_inline struct prof_unwind_proc *unwind_proc_place(__u32 tgid, __u32 i)
{
	__u32 idx = PROF_BOUND_MASK(prof_unwind_hash(tgid) + i, cfg_unwind_procs - 1);

	return bpf_map_lookup_elem(&unwind_procs, &idx);
}

/* NULL: the process is unknown. */
static __always_inline struct prof_unwind_proc *unwind_proc_find(__u32 tgid)
{
	struct prof_unwind_proc *p;
	__u32 i;

	for (i = 0; i < PROF_UNWIND_PROC_PROBES; i++) {
		p = unwind_proc_place(tgid, i);
		if (p && p->tgid == tgid)
			return p;
	}
	return NULL;
}

#endif
