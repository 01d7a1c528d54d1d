/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_PROCESS_BIRTH_QUEUE_H
#define D9_RECORD_PROCESS_BIRTH_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct perf_side;

/*
 * Metadata records of processes that started while nothing is recorded. If such a process ends some milliseconds before
 * recording goes on, its records are dropped: that costs a tenth of applying them. An event may still refer to it if its
 * last switch, or its parent's wait, comes later than that: then its name is in /proc, or unknown. The records of the
 * others are passed on in their order.
 */
struct birth_queue;

enum birth_queue_answer {
	BIRTH_QUEUE_HELD, /* kept or dropped */
	BIRTH_QUEUE_PASS, /* not about a held process: to be applied now */
	BIRTH_QUEUE_RELEASE, /* applies to held processes, too: release them first, and then apply it */
};

/* Allocates all of its memory. Never fails. dropped: the records of this process are gone. */
struct birth_queue *birth_queue_new(void (*dropped)(void *ctx, uint32_t pid), void *ctx);
void birth_queue_free(struct birth_queue *q);

/* The record's name is copied. Allocates nothing. */
enum birth_queue_answer birth_queue_add(struct birth_queue *q, const struct perf_side *side);
bool birth_queue_is_empty(const struct birth_queue *q);
/* Passes all records on, and forgets them. 0 or the first error of fn; the records are gone all the same. */
int birth_queue_release(struct birth_queue *q, int (*fn)(void *ctx, const struct perf_side *side),
			void *ctx);

#endif
