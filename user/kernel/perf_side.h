/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_PERF_SIDE_H
#define D9_KERNEL_PERF_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum perf_side_type {
	PERF_SIDE_MMAP, /* executable mappings and data mappings; see prot */
	PERF_SIDE_COMM,
	PERF_SIDE_FORK,
	PERF_SIDE_EXIT,
	PERF_SIDE_KSYMBOL, /* a BPF image or other kernel text was added or removed */
	PERF_SIDE_LOST, /* the kernel dropped records */
	/* The following are made by readers of the rings. */
	PERF_SIDE_FULL, /* the ring was full: records may be missing from here on */
	PERF_SIDE_DAMAGED, /* damaged records, or records with an impossible time */
	PERF_SIDE_STALLED, /* the ring was not read for a long time */
	PERF_SIDE_OTHER, /* unknown type; only type, time, pid and tid are set */
};

#define PERF_BUILD_ID_MAX 20

struct perf_side {
	enum perf_side_type type;
	uint64_t time; /* 0 if the record has none */
	uint32_t cpu;
	uint32_t pid, tid; /* FORK: the child; EXIT: the exiting thread */
	uint32_t ppid, ptid; /* FORK and EXIT: the parent */
	/* MMAP; KSYMBOL uses addr, len and name */
	uint64_t addr, len, pgoff;
	uint32_t prot, flags;
	uint32_t maj, min; /* 0 if there is a build-id instead */
	uint64_t ino;
	uint8_t build_id[PERF_BUILD_ID_MAX];
	uint8_t build_id_sz; /* 0: none */
	bool comm_exec; /* COMM: an exec set the name */
	bool unregister; /* KSYMBOL: it was removed */
	bool looked; /* set by the caller of the decoder: perf_ring_peek() has returned it before */
	uint64_t lost; /* LOST and DAMAGED: number of records; STALLED: 1 */
	/* LOST, DAMAGED, STALLED: records before this time are complete; set by the merge */
	uint64_t since;
	const char *name; /* file name, comm or symbol; NUL-terminated; borrowed, see below */
	size_t name_len;
};

/*
 * Decodes one whole record, including its header, with all lengths checked: 0 or -EBADMSG.
 * out->name points into rec or is "".
 */
int perf_side_parse(const void *rec, size_t sz, struct perf_side *out);

#endif /* D9_KERNEL_PERF_SIDE_H */
