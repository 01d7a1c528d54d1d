/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_RING_RING_H
#define D9_RECORD_RING_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_rec;
struct prof_stage;
struct stack_repeats;

enum { RING_LATE_MAX = 8 };

/* A record whose time is before the time of an earlier record in the ring. */
struct ring_late {
	unsigned long pos;
	uint64_t ts;
	bool passed;
};

/*
 * The reading end of a mapped BPF ring buffer, or of a part of its records: several readers may share a ring, each
 * with separate records in order of time. One thread uses them all.
 */
struct ring {
	const uint8_t *data; /* mapped twice in a row, so that every record is contiguous */
	unsigned long *consumer;
	const unsigned long *producer;
	size_t sz;
	unsigned long pos; /* read up to here; ring_publish() reports it to the kernel */
	size_t fill_max; /* bytes, maximum at ring_peek() */
	uint64_t malformed; /* records whose lengths contradicted each other, skipped */
	bool torn; /* an unknown number of records after a malformed one was skipped */
	unsigned long peeked; /* position of ring_peek()'s last result, without a stage */
	unsigned long seen; /* late records are known up to here; */
	uint64_t newest; /* the latest time up to there */
	struct ring_late late[RING_LATE_MAX]; /* from pos on */
	unsigned int late_cnt;
	struct ring *next; /* the next reader of the same ring (circular); NULL: only one */

	/* The stage of the CPU whose batches this reader reads. NULL: it reads single records */
	struct prof_stage *stage;
	uint8_t *copy; /* the last records copied from the stage */
	uint32_t cpu;
	uint32_t copy_seq; /* the copied batch */
	size_t copy_sz; /* unread bytes; 0: none */
	uint16_t copy_cnt;
	const uint8_t *at, *end; /* the batch or the copy that is being read, if at < end */
	uint16_t left; /* records in it */
	bool in_ring; /* it is the batch at pos */
	struct stack_repeats *repeats; /* of this CPU's stacks */
	const struct prof_rec
		*expanded; /* the record at `at` with its frames; NULL: not needed yet */
};

/* sz: as the map was made. -errno. The caller keeps the fd. */
int ring_open(int map_fd, size_t sz, struct ring *r);
/*
 * Makes a second reader of r's ring for the batches of @cpu, and for unfinished ones in @stage. From here on r
 * skips them. The stage must outlive the reader; do not copy either reader afterwards.
 */
void ring_open_staged(struct ring *r, struct prof_stage *stage, uint32_t cpu, struct ring *out);
void ring_close(struct ring *r);

/* Unread bytes. */
size_t ring_fill(const struct ring *r);
/* Bytes that the kernel cannot write to yet. Any thread may call it. */
size_t ring_backlog(const struct ring *r);

/*
 * The next record, validated: the oldest one, within a limited distance. Borrowed until ring_publish(), for a stage
 * until the next ring_peek(); NULL if there is none yet.
 */
const struct prof_rec *ring_peek(struct ring *r);
/* Steps over ring_peek()'s last record. */
void ring_pass(struct ring *r);
/* Both at once: steps over it, and returns the record after it. */
const struct prof_rec *ring_next(struct ring *r);
/* Returns the space that all readers of the ring have passed to the kernel. */
void ring_publish(struct ring *r);

#endif
