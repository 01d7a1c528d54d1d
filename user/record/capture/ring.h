/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_CAPTURE_RING_H
#define D9_RECORD_CAPTURE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_rec;
struct prof_stage;

enum { RING_LATE_MAX = 8 };

/* A record whose time is before that of one in front of it. */
struct ring_late {
	unsigned long pos;
	uint64_t ts;
	bool passed;
};

/*
 * The reading end of one BPF ring buffer, mapped; or of some of what is in it: several readers may share
 * a ring, each with its own records in order of time. One thread reads them all.
 */
struct ring {
	const uint8_t *data; /* mapped twice in a row, so that every record is contiguous */
	unsigned long *consumer;
	const unsigned long *producer;
	size_t sz;
	unsigned long pos; /* read up to here; the kernel knows of it at ring_publish() */
	size_t fill_max; /* bytes, seen at ring_peek() */
	uint64_t malformed; /* records whose lengths contradicted each other, skipped */
	bool torn; /* what lay behind one was given up, and nobody knows how many that were */
	unsigned long peeked; /* where what ring_peek() gave last is, without a stage */
	unsigned long seen; /* late records are known up to here, */
	uint64_t newest; /* of which this is the latest time */
	struct ring_late late[RING_LATE_MAX]; /* from pos on */
	unsigned int late_cnt;
	struct ring *
		next; /* the next reader of the same ring, around in a circle; NULL: there is none */

	/* Of a reader of the records that one CPU gathers. NULL: of all others */
	struct prof_stage *stage;
	uint8_t *copy; /* what was taken from there last */
	uint32_t cpu;
	uint32_t copy_seq; /* the batch that it belongs to */
	size_t copy_sz; /* not read yet; 0: nothing */
	uint16_t copy_cnt;
	const uint8_t *at, *end; /* the batch or the copy that is being read, where at < end */
	uint16_t left; /* records in it */
	bool in_ring; /* it is the batch at pos */
};

/* sz: as the map was made. -errno. The fd stays the caller's. */
int ring_open(int map_fd, size_t sz, struct ring *r);
/*
 * Makes a second reader of r's ring, which reads the batches that @cpu passes on, and what is not passed
 * on yet: r reads those no longer. The stage must outlive it; neither may be copied afterwards.
 */
void ring_open_staged(struct ring *r, struct prof_stage *stage, uint32_t cpu, struct ring *out);
void ring_close(struct ring *r);

/* Bytes that wait to be read. */
size_t ring_fill(const struct ring *r);

/*
 * The next record, whole and with lengths that agree: the oldest one, where not too much lies in front of it.
 * Borrowed until ring_publish(), and of a stage until the next ring_peek(); NULL when there is none yet.
 */
const struct prof_rec *ring_peek(struct ring *r);
/* Steps over the record that ring_peek() gave. */
void ring_pass(struct ring *r);
/* Gives the space of all that every reader of the ring has passed back to the kernel. */
void ring_publish(struct ring *r);

#endif
