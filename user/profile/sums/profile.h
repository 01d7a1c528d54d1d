/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_PROFILE_SUMS_PROFILE_H
#define D9_PROFILE_SUMS_PROFILE_H

#include "trace/read/trace.h"

/* Frames beyond this are dropped at the root end; kernels give at most a few hundred. */
#define PROFILE_DEPTH_MAX 1024

/* Keys to group rows by. */
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

/* Keys of the task and CPU, equal for all frames of a stack. */
#define PROFILE_TASK_KEYS                                                                          \
	(1u << PROFILE_COMM | 1u << PROFILE_PID | 1u << PROFILE_TID | 1u << PROFILE_PART |         \
	 1u << PROFILE_CPU | 1u << PROFILE_CGROUP | 1u << PROFILE_STATE)

/* A row of a flat profile. Fields that are not in the keys are NAMES_NONE. */
struct profile_row {
	union {
		struct {
			uint32_t sym; /* string id; NAMES_NONE: unknown */
			uint32_t inlined; /* 1: inlined; with PROFILE_SYM */
			/* index of the first of its group, see names_module(); 0: unknown */
			uint32_t module;
			uint32_t comm; /* string id */
			uint32_t pid, tid;
			uint32_t part; /* index */
			uint32_t cpu;
			uint32_t cgroup; /* string id */
			uint32_t file, line; /* string id; both with PROFILE_SRCLINE */
			uint32_t state; /* enum interval_state; samples are INTERVAL_RUNNING */
		};
		uint32_t key[12]; /* the same, for comparisons */
	};
	uint64_t self; /* samples with this leaf */
	uint64_t total; /* samples with this in the stack, each counted once */
	uint64_t self_weight, total_weight; /* the same by weight: see profile_weigh() */
	uint64_t run_ns; /* CPU time from switches: see cpu_time.h; 0 in a flat profile */
	uint64_t last_stack; /* private: the stack counted last */
};

struct profile_rows {
	struct profile_row *v;
	size_t cnt, cap;
};

/* A function of a stack; an inlined function is one of its own. */
struct profile_frame {
	uint32_t sym; /* string id, or NAMES_NONE */
	uint32_t module; /* index of the first of its group; 0 when unknown */
	uint32_t file, line; /* string id, or NAMES_NONE; of the instruction, not of the function */
	bool inlined; /* into the next one */
	bool named; /* false: sym is NAMES_NONE, or a label such as "[libc.so.6]" */
};

/* Distinct stacks of distinct threads, with counts. */
struct profile_stack {
	size_t at; /* in the arena of frames */
	uint32_t len;
	uint32_t pid, tid, comm, part;
	uint32_t cpu, cgroup, state; /* NAMES_NONE unless requested by profile_keep() */
	bool by_time; /* intervals, not samples */
	uint64_t samples; /* or intervals */
	uint64_t ns; /* of intervals */
};

struct profile;

/* Sums CPU samples of a trace; @names is borrowed and must outlive it. Free with profile_free(). */
int profile_new(const struct names *names, struct profile **out);
void profile_free(struct profile *p);

/*
 * Before the first sample: also groups stacks by PROFILE_CPU, PROFILE_CGROUP and PROFILE_STATE, as
 * far as they are in @keys. Otherwise these are unknown in rows.
 */
void profile_keep(struct profile *p, unsigned int keys);

/*
 * From now on inlined functions are not in stacks: their samples count for the function that
 * contains them.
 */
void profile_fold_inlined(struct profile *p);

/*
 * Adds an interval in a state (enum interval_state), with stack, thread and CPU of @ev. Its weight
 * is its time, so use profile_weigh() to give samples their time as weight. Returns the number of its
 * stack in profile_stacks(), as profile_add() does.
 */
uint32_t profile_add_time(struct profile *p, const struct trace_event *ev, uint32_t state,
			  uint64_t ns);
/* Removes all intervals added. */
void profile_forget_times(struct profile *p);

/* Removes all samples of a recording; profile_samples() still counts them. */
void profile_forget_samples(struct profile *p, uint32_t part);

/* Adds one sample. Switch-out stacks are not CPU samples; do not add them. */
uint32_t profile_add(struct profile *p, const struct trace_event *ev);

/*
 * Sets the weight of a sample of each recording, such as the time that it stands for; default 1.
 * @weight has @cnt elements; recordings beyond have weight 0.
 */
void profile_weigh(struct profile *p, const uint64_t *weight, size_t cnt);

uint64_t profile_samples(const struct profile *p);
/* Total weight of all samples. */
uint64_t profile_weight(const struct profile *p);
/* Total weight of a stack. */
uint64_t profile_stack_weight(const struct profile *p, const struct profile_stack *s);
/*
 * Whether the weight of its samples is unknown, because profile_weigh() has none for the recording.
 */
bool profile_stack_is_weightless(const struct profile *p, const struct profile_stack *s);
const struct names *profile_names(const struct profile *p);

/*
 * Rows grouped by @keys (a mask of 1 << enum profile_key), largest self weight first. Symbols are
 * looked up now, so call it at the end of the trace. Overwrites @rows; free rows->v.
 */
void profile_flat(struct profile *p, unsigned int keys, struct profile_rows *rows);
/* Sorts rows by total; equal ones in the order of profile_flat(). */
void profile_sort_total(struct profile *p, struct profile_rows *rows);

/* The key fields of a stack for @keys, of PROFILE_TASK_KEYS; the other fields are unset. */
struct profile_row profile_task_row(const struct profile *p, const struct profile_stack *s,
				    unsigned int keys);

/*
 * Modules with samples at unresolved addresses: rows with `module`, `self` and `self_weight`. A
 * group has a row for each status.
 */
void profile_unnamed(struct profile *p, struct profile_rows *rows);

/* All stacks, for other aggregations. Borrowed until the next profile_add(). */
const struct profile_stack *profile_stacks(const struct profile *p, size_t *cnt);

/* Its addresses, leaf first, s->len of them; NULL: none. Borrowed until the next profile_add(). */
const uint64_t *profile_stack_frames(const struct profile *p, const struct profile_stack *s);

/*
 * The functions of a stack, leaf first, each inlined one before the function that contains it.
 * Borrowed until the next call.
 */
const struct profile_frame *profile_expand(struct profile *p, const struct profile_stack *s,
					   size_t *cnt);

#endif /* D9_PROFILE_SUMS_PROFILE_H */
