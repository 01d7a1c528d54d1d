/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_BPF_WORKLOAD_H
#define D9_TESTS_BPF_WORKLOAD_H

#include "tests/bpf/support.h"

/*
 * For tests of user stacks: programs as distributions build them, without frame pointers, and the way
 * back from the frames of a trace to addresses.
 */

struct workload {
	const char *name;
	const char *needs; /* what must be there, NULL for what is built here */
	const char *shell; /* the command, which runs until it is killed; NULL: there is none */
	/* for a second or so, DATA being a file of noise, SOURCE one in C; may be empty */
	const char *once[8];
	bool by_hand; /* too much for each run of the tests */
};

/* Ends with a name of NULL. */
extern const struct workload workloads[];

/* Whether it is to run here. D9_UNWIND_PROGRAMS=xz,node names them; others do not run then. */
bool workload_wanted(const struct workload *prog);
/* Starts it; its input is /dev/urandom. */
void workload_start(struct live_proc *p, const char *shell);
/* The words of prog->once, for the recorder to run. Valid until the next call. */
const char *const *workload_once(const struct workload *prog);
/* Waits until it has used that CPU time: it is at work by then. */
void workload_await_work(const struct live_proc *p, unsigned int ms);
/* Kills it. */
void workload_kill(struct live_proc *p);
/* A number from the environment, or @otherwise. */
unsigned int workload_number(const char *variable, unsigned int otherwise);

/* Executable mappings of processes, from a trace. {0} is empty. */
struct workload_maps {
	struct workload_map *v;
	size_t cnt, cap;
};

struct workload_map {
	uint32_t pid;
	uint64_t start, end, offset;
	uint32_t module_id;
};

/* Takes a ProcMapsEntry, and leaves other events alone. */
void workload_maps_add(struct workload_maps *m, const struct trace_event *ev);
void workload_maps_fini(struct workload_maps *m);
/* Whether that frame of a process may be that address. */
bool workload_is_at(const struct workload_maps *m, const struct names *n, uint32_t pid,
		    uint64_t frame, uint64_t addr);

/* The user frames of an event: the part after the kernel frames; NULL if there are none. */
const uint64_t *workload_user(const struct trace_event *ev, uint32_t *cnt);
/* Whether frames from @at on are in these functions, innermost first; NULL ends the names. */
bool workload_has_callers(const struct live_trace *lt, const uint64_t *user, uint32_t cnt,
			  uint32_t at, const char *const *names);

/* Records samples and switches, with user stacks, of a stimulus that runs @rounds rounds. */
void workload_record(struct live_rec *rec, const char *stimulus, int64_t rounds);

#endif
