/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_RECORD_RING_H
#define D9_RECORD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_rec;

/* The reading end of one BPF ring buffer, mapped. One thread reads it. */
struct ring {
	const uint8_t *data; /* mapped twice in a row, so that every record is contiguous */
	unsigned long *consumer;
	const unsigned long *producer;
	size_t sz;
	unsigned long pos; /* read up to here; the kernel knows of it at ring_publish() */
	unsigned long published;
	size_t fill_max; /* bytes, seen at ring_peek() */
	uint64_t malformed; /* records whose lengths contradicted each other, skipped */
	bool torn; /* what lay behind one was given up, and nobody knows how many that were */
};

/* sz: as the map was made. -errno. The fd stays the caller's. */
int ring_open(int map_fd, size_t sz, struct ring *r);
void ring_close(struct ring *r);

/* Bytes that wait to be read. */
size_t ring_fill(const struct ring *r);

/* The oldest record, whole and with lengths that agree, borrowed until ring_publish(); NULL when
 * there is none yet. */
const struct prof_rec *ring_peek(struct ring *r);
/* Steps over the record that ring_peek() gave. */
void ring_pass(struct ring *r);
/* Gives the space of all records passed back to the kernel. */
void ring_publish(struct ring *r);

#endif
