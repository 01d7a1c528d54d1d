/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_BPF_FAULT_H
#define D9_TESTS_BPF_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/bpf/support.h"

/*
 * A recording of the whole system next to a hostile program, and what must hold whatever that program
 * does: an innocent neighbour's functions are named soon, the file grows, the recording ends in time, the
 * recorder's memory is bounded, and the account is right. Everything asserts by itself.
 *
 *	fault_begin(&f);                starts the neighbour
 *	(starts the enemy)
 *	fault_record(&f, 4, NULL);      begins to record
 *	fault_watch(&f, NULL, NULL);    until the recording has ended by itself
 *	fault_check(&f);
 *	fault_end(&f);
 */

#define FAULT_MEM_MAX_KB (512 * 1024)

/* The file had this size at this time (CLOCK_MONOTONIC, ns). */
struct fault_growth {
	uint64_t ns, size;
};

/* What the recorder used at that time. */
struct fault_use {
	uint64_t ns, rss_kb, fds;
};

/* Ends of threads in a trace, by the name that the trace gives the thread then. */
struct fault_exits {
	uint64_t right, wrong, unknown; /* compared to the event's own field */
	uint64_t early; /* without a name, in the first second: see fault_check_exits() */
	char example[96], nameless[96]; /* a wrong one; one without a name */
};

struct fault {
	struct live_proc neighbour;
	struct live_rec rec;
	uint64_t duration_ns;
	uint64_t began_ns; /* first byte of the file */
	uint64_t ended_ns; /* exit of the recorder */
	struct fault_growth *growth;
	size_t growth_cnt, growth_cap;
	uint64_t neighbour_ns; /* CPU time of the neighbour when the recording began */
	double busy; /* how much longer than alone everything may take */
	struct fault_use *use;
	size_t use_cnt, use_cap;
	uint64_t mem_max_kb; /* what hwm_kb may be: FAULT_MEM_MAX_KB */
	uint64_t hwm_kb; /* most resident memory of the recorder, its children apart */
	int code; /* its exit code */
	unsigned int
		silent; /* helper processes, one after the other, that a name may have to wait for */
};

void fault_begin(struct fault *f);
/* The same, but the neighbour waits for fault_go(). */
void fault_begin_late(struct fault *f);
void fault_go(struct fault *f);

/* record -a -d SECONDS and what else is given, NULL at the end. Returns when the recording is on. */
void fault_record(struct fault *f, unsigned int seconds, ...) __attribute__((sentinel));

/* Lets the stimulus @enemy go, records for 4 s, ends the stimulus, and checks all that must hold. Ends @f. */
void fault_record_enemy(struct fault *f, struct live_proc *enemy);

/* Called about twenty times per second while the recording runs. */
typedef void (*fault_tick_fn)(void *ctx, struct fault *f);
/* Watches until the recorder has ended; twenty seconds more than it should take are a failure. */
void fault_watch(struct fault *f, fault_tick_fn tick, void *ctx);

/* All that must hold. */
void fault_check(struct fault *f);
/* Parts of it. */
void fault_check_end(const struct fault *f);
void fault_check_growth(const struct fault *f);
void fault_check_memory(const struct fault *f);
void fault_check_names(const struct fault *f);
/* Runs `info --json` on the file; its text is in p->output, and the caller frees p. */
void fault_info(const struct fault *f, struct live_proc *p);
void fault_check_account(const struct fault *f);

/*
 * Each sched_process_exit has the name in its own field. A thread without a name is fine only where the trace
 * says that side-band records were lost, and in the first second, when it may end before /proc was read.
 */
void fault_check_exits(const struct fault *f, struct fault_exits *out);
/* Memory and descriptors in the last five seconds equal the ones of the five seconds that began after `seconds`. */
void fault_check_flat(const struct fault *f, unsigned int seconds);

/* Ends the neighbour and frees all. */
void fault_end(struct fault *f);

/* Kills a child, waits for it, and frees it. */
void fault_kill(struct live_proc *p);

/* A line "key:  N" of /proc/PID/status; 0 where there is none. */
uint64_t fault_status(pid_t pid, const char *key);

#endif
