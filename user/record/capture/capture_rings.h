/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_CAPTURE_RINGS_H
#define D9_RECORD_CAPTURE_CAPTURE_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof;
struct prof_stage;
struct ring;
struct stack_repeats_check;

struct capture_rings_cfg {
	size_t ring_cnt;
	size_t ring_bytes; /* per ring: a power of two of at least a page */
	bool samples; /* reserve the last part of each ring for samples */
	bool stacks; /* staged records have stacks */
};

/* Sources of records: rings, and the stages that collect records of hot events. */
struct capture_rings {
	struct ring *readers; /* one per ring, then one per stage */
	size_t ring_cnt;
	size_t ring_bytes;
	size_t stage_cnt; /* possible CPUs */
	size_t repeat_cnt; /* places for stacks per CPU */
	size_t reader_cnt;
	struct prof_stage *stages;
	int *fds; /* of the rings; NULL: no rings */
	size_t fd_cnt;
	int epoll_fd; /* of all rings */
};

/* Sets the programs' constants about rings, before load. -errno. */
int capture_rings_size(struct prof *skel, const struct capture_rings_cfg *cfg,
		       struct capture_rings *r);
/* Makes and maps them. Prints one line and returns -errno; call capture_rings_fini() even on errors. */
int capture_rings_init(const struct prof *skel, struct capture_rings *r);
void capture_rings_fini(struct capture_rings *r);

/* Whether a ring has filled up to an eighth since the last call: only then epoll_fd is readable. */
bool capture_rings_read_wakeups(const struct capture_rings *r);
/* Adds the rings to another epoll instance, for the same event. 0 or -errno. */
int capture_rings_watch(const struct capture_rings *r, int epoll_fd);
/* Percent of the fullest ring. Any thread may call it. */
unsigned int capture_rings_fill(const struct capture_rings *r);

/* Sums over all stages: begun records, and events during another event's record. */
void capture_rings_count(const struct capture_rings *r, uint64_t *produced, uint64_t *nested);
/* Sums over all readers. */
void capture_rings_check(const struct capture_rings *r, struct stack_repeats_check *sum);

#endif
