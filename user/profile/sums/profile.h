/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_PROFILE_H
#define D9_PROFILE_SUMS_PROFILE_H

#include "trace/read/trace.h"

/* Frames of a stack beyond this are dropped at the root end; kernels give at most a few hundred. */
#define PROFILE_DEPTH_MAX 1024

/* What rows are told apart by. */
enum profile_key {
	PROFILE_SYM,
	PROFILE_DSO,
	PROFILE_COMM,
	PROFILE_PID,
	PROFILE_TID,
	PROFILE_PART,
	PROFILE_CPU,
	PROFILE_CGROUP,
	PROFILE_SRCLINE,
	PROFILE_STATE,
	PROFILE_KEY_CNT,
};

/* Keys that are the same in all of a stack: those of the task that ran, and of where. */
#define PROFILE_TASK_KEYS                                                                          \
	(1u << PROFILE_COMM | 1u << PROFILE_PID | 1u << PROFILE_TID | 1u << PROFILE_PART |         \
	 1u << PROFILE_CPU | 1u << PROFILE_CGROUP | 1u << PROFILE_STATE)

/* One line of a flat profile. Fields of keys that were not asked for are NAMES_NONE. */
struct profile_row {
	union {
		struct {
			uint32_t sym; /* string id; NAMES_NONE: no name is known */
			uint32_t inlined; /* 1: a function as it stands in others; of PROFILE_SYM */
			uint32_t module; /* index, see names_module(), the first of its group; 0:
					    unknown */
			uint32_t comm; /* string id */
			uint32_t pid, tid;
			uint32_t part; /* index */
			uint32_t cpu;
			uint32_t cgroup; /* string id */
			uint32_t file, line; /* string id; both of PROFILE_SRCLINE */
			uint32_t state; /* enum interval_state; samples are of running threads */
		};
		uint32_t key[12]; /* the same, to compare */
	};
	uint64_t self; /* samples that ended here */
	uint64_t total; /* samples that passed through here, each counted once */
	uint64_t self_weight, total_weight; /* the same by weight: see profile_weigh() */
	uint64_t run_ns; /* on a CPU, from the switches: see cpu_time.h; 0 in a flat profile */
	uint64_t last_stack; /* private: the stack counted last */
};

struct profile_rows {
	struct profile_row *v;
	size_t cnt, cap;
};

/* One function of a stack after inlined functions were told apart. */
struct profile_frame {
	uint32_t sym; /* string id, or NAMES_NONE */
	uint32_t module; /* index of the first of its group; 0 when unknown */
	uint32_t file, line; /* string id, or NAMES_NONE; of the instruction, not of the function */
	bool inlined; /* into the next one */
	bool named; /* false: sym is NAMES_NONE, or a label such as "[libc.so.6]" */
};

/* Distinct stacks of distinct threads with how often each was seen. */
struct profile_stack {
	size_t at; /* in the arena of frames */
	uint32_t len;
	uint32_t pid, tid, comm, part;
	uint32_t cpu, cgroup, state; /* NAMES_NONE unless profile_keep() asks for them */
	bool by_time; /* of intervals, not of samples */
	uint64_t samples; /* or how many intervals */
	uint64_t ns; /* of intervals */
};

struct profile;

/* Sums CPU samples of a trace; @names is borrowed and must outlive it. Free with profile_free(). */
int profile_new(const struct names *names, struct profile **out);
void profile_free(struct profile *p);

/*
 * Before the first sample: tells stacks apart also by those of @keys that are costly, PROFILE_CPU,
 * PROFILE_CGROUP and PROFILE_STATE. Without it rows of these keys are of nothing known.
 */
void profile_keep(struct profile *p, unsigned int keys);

/* From now on inlined functions are left out of stacks: what they did is done by who holds them. */
void profile_fold_inlined(struct profile *p);

/*
 * Adds an interval of a thread in that state (enum interval_state), with the stack, the thread and the CPU
 * that @ev says. It weighs its time; so profile_weigh() must give samples their time, too.
 */
void profile_add_time(struct profile *p, const struct trace_event *ev, uint32_t state, uint64_t ns);
/* Takes all of these away again. */
void profile_forget_times(struct profile *p);

/* Adds one sample. Stacks of switch-outs are no CPU samples: the caller keeps them away. */
void profile_add(struct profile *p, const struct trace_event *ev);

/*
 * What a sample of each part of the stream counts, such as the time for which it stands; 1 in all
 * parts until this is called. @weight has @cnt numbers; parts beyond count 0.
 */
void profile_weigh(struct profile *p, const uint64_t *weight, size_t cnt);

uint64_t profile_samples(const struct profile *p);
/* The sum of the weights of all samples. */
uint64_t profile_weight(const struct profile *p);
/* What all samples of a stack weigh together. */
uint64_t profile_stack_weight(const struct profile *p, const struct profile_stack *s);
/* Of samples whose weight nobody knows, where profile_weigh() gave their part none. */
bool profile_stack_is_weightless(const struct profile *p, const struct profile_stack *s);
const struct names *profile_names(const struct profile *p);

/*
 * Rows told apart by @keys (a mask of 1 << enum profile_key), most weight of self samples first. Names are
 * resolved now, so call it when the trace has ended. What @rows held is overwritten; free rows->v.
 */
void profile_flat(struct profile *p, unsigned int keys, struct profile_rows *rows);
/* Puts rows in the order of their totals; of equal ones in that of profile_flat(). */
void profile_sort_total(struct profile *p, struct profile_rows *rows);

/* The fields of a row that @keys, of PROFILE_TASK_KEYS, give to all of a stack; the others are none. */
struct profile_row profile_task_row(const struct profile *p, const struct profile_stack *s,
				    unsigned int keys);

/*
 * Modules in which samples ended at an address without a name: rows with `module`, `self` and
 * `self_weight`. A group has a row for each status.
 */
void profile_unnamed(struct profile *p, struct profile_rows *rows);

/* All stacks, for other aggregations. Borrowed until the next profile_add(). */
const struct profile_stack *profile_stacks(const struct profile *p, size_t *cnt);

/* Its addresses, s->len of them, leaf first; NULL: none. Borrowed likewise. */
const uint64_t *profile_stack_frames(const struct profile *p, const struct profile_stack *s);

/*
 * The functions of a stack, leaf first, inlined ones before the function that holds them. Borrowed
 * until the next call.
 */
const struct profile_frame *profile_expand(struct profile *p, const struct profile_stack *s,
					   size_t *cnt);

#endif /* D9_PROFILE_SUMS_PROFILE_H */
