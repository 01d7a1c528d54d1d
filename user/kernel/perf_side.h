/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_PERF_SIDE_H
#define D9_KERNEL_PERF_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum perf_side_type {
	PERF_SIDE_MMAP, /* executable mappings and data mappings alike: see prot */
	PERF_SIDE_COMM,
	PERF_SIDE_FORK,
	PERF_SIDE_EXIT,
	PERF_SIDE_KSYMBOL, /* a BPF image or another piece of kernel text came or went */
	PERF_SIDE_LOST, /* the kernel dropped records */
	/* These are made by whoever reads the rings, in place of records. */
	PERF_SIDE_FULL, /* the ring had no room: something may be missing from here on */
	PERF_SIDE_DAMAGED, /* records that do not hold together or have an impossible time */
	PERF_SIDE_STALLED, /* a ring that was not read for long */
	PERF_SIDE_OTHER, /* a type we do not read; only type, time, pid and tid are set */
};

#define PERF_BUILD_ID_MAX 20

struct perf_side {
	enum perf_side_type type;
	uint64_t time; /* 0 when the record has none */
	uint32_t cpu;
	uint32_t pid, tid; /* FORK: the child; EXIT: the one that ends */
	uint32_t ppid, ptid; /* FORK and EXIT: the parent */
	/* MMAP; KSYMBOL uses addr, len and name */
	uint64_t addr, len, pgoff;
	uint32_t prot, flags;
	uint32_t maj, min; /* 0 when there is a build-id instead */
	uint64_t ino;
	uint8_t build_id[PERF_BUILD_ID_MAX];
	uint8_t build_id_sz; /* 0: none */
	bool comm_exec; /* COMM: the name came with an exec */
	bool unregister; /* KSYMBOL: it went */
	bool looked; /* set by who hands it on: perf_ring_look() has given it before */
	uint64_t lost; /* LOST and DAMAGED: how many records; STALLED: 1 */
	uint64_t since; /* LOST, DAMAGED, STALLED: before this time all is there; set by the merge */
	const char *name; /* file name, comm or symbol; NUL-terminated; borrowed: see below */
	size_t name_len;
};

/*
 * Decodes one whole record (header included), every length checked: 0 or -EBADMSG. out->name points
 * into rec or is "".
 */
int perf_side_parse(const void *rec, size_t sz, struct perf_side *out);

#endif /* D9_KERNEL_PERF_SIDE_H */
