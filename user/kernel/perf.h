/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_PERF_H
#define D9_KERNEL_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Thin wrappers of perf_event_open. Those that open return 0 and an fd (close-on-exec, disabled
 * where there is something to enable) that the caller closes, or -errno, silently: the caller knows
 * what it was for. perf_open_error() words the remedy.
 */

/* For attaching a BPF program with a cookie: pid = self, cpu = -1. */
int perf_open_tracepoint(uint32_t id, int *fd);

enum perf_sampler {
	PERF_SAMPLER_AUTO,
	PERF_SAMPLER_CPU_CLOCK,
	PERF_SAMPLER_CYCLES
};

struct perf_sampler_cfg {
	enum perf_sampler which; /* AUTO: cycles where there is a PMU, cpu-clock otherwise */
	uint32_t hz; /* cpu-clock: period 1e9 / hz ns; cycles: frequency hz */
	uint64_t period; /* when not 0: that many ns or cycles, hz is not used */
	bool exclude_kernel, exclude_user;
	bool include_idle;
};

/* A sampler of everything on one CPU, disabled. *is_cycles says which clock it got. */
int perf_open_sampler(uint32_t cpu, const struct perf_sampler_cfg *cfg, int *fd, bool *is_cycles);
/* /proc/sys/kernel/perf_event_max_sample_rate, 0 when it cannot be read. */
uint32_t perf_max_rate(void);
int perf_enable(int fd);
int perf_disable(int fd);

/* What to tell the user about a failed open: a static sentence, without a full stop. */
const char *perf_open_error(int err);

/*
 * Side-band: what processes map, their names, births and deaths on one CPU, times in
 * CLOCK_MONOTONIC. One dummy event and one ring a CPU.
 */
struct perf_ring;

/* ring_sz: bytes of data, rounded up to a power of two of pages. Enabled at once. */
int perf_ring_open(uint32_t cpu, size_t ring_sz, struct perf_ring **out);
void perf_ring_close(struct perf_ring *r);

enum perf_side_type {
	PERF_SIDE_MMAP, /* executable mappings and data mappings alike: see prot */
	PERF_SIDE_COMM,
	PERF_SIDE_FORK,
	PERF_SIDE_EXIT,
	PERF_SIDE_KSYMBOL, /* a BPF image or another piece of kernel text came or went */
	PERF_SIDE_LOST,
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
	uint64_t lost; /* LOST: how many records */
	const char *name; /* file name, comm or symbol; NUL-terminated; borrowed: see below */
	size_t name_len;
};

/*
 * The next record: 1 and *out, whose strings are borrowed until the next call; 0 when there is
 * none; -EBADMSG for a record that does not hold together, which is skipped. Space is given back to
 * the kernel as records are passed.
 */
int perf_ring_next(struct perf_ring *r, struct perf_side *out);
/* The time of the record that perf_ring_next() would give; 0 when there is none. */
uint64_t perf_ring_peek_time(struct perf_ring *r);
uint32_t perf_ring_cpu(const struct perf_ring *r);

/*
 * Decodes one whole record (header included), every length checked: 0 or -EBADMSG. out->name points
 * into rec or is "".
 */
int perf_side_parse(const void *rec, size_t sz, struct perf_side *out);

#endif /* D9_KERNEL_PERF_H */
