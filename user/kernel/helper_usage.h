/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_KERNEL_HELPER_USAGE_H
#define D9_KERNEL_HELPER_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HELPER_PROCESSES_MAX = 64 };
#define HELPER_USAGE_READ_NS 20000000000ULL /* between two reads of a process's shared memory */

struct helper_process {
	uint32_t pid;
	char name[16];
	bool ended;
	uint64_t cpu_ns; /* its own */
	uint64_t children_ns; /* of its children that have ended */
	uint64_t bytes; /* resident memory; shared pages count in part */
	uint64_t peak_bytes; /* highest reading */
	uint64_t read_ns; /* time of the last read of its shared memory */
	uint64_t read_cpu_ns; /* CPU time before that read */
	uint64_t read_bytes; /* proportional, at that time */
	uint64_t read_own; /* anonymous, at that time */
};

/* What processes and their children use. {0} before the first reading. */
struct helper_usage {
	uint64_t cpu_ns; /* also of children that have ended; may step back by a clock tick when one ends */
	uint64_t bytes;
	uint32_t cnt; /* processes */
	struct helper_process v[HELPER_PROCESSES_MAX]; /* each one; further processes have no row */
	size_t v_cnt;
};

/*
 * Reads /proc for processes (0: none) and their children. A process that has ended keeps its row until
 * helper_usage_forget_ended().
 */
void helper_usage_read(const uint32_t *pids, size_t cnt, struct helper_usage *u);
/* Reads one process into its row, without its children and the sums. */
void helper_usage_read_one(uint32_t pid, struct helper_usage *u);
void helper_usage_forget_ended(struct helper_usage *u);

#endif
