// SPDX-License-Identifier: BSD-2-Clause
/*
 * ring.c - our own consumer of a BPF ring buffer
 *
 * The kernel's ring is a page with the consumer's position, a page with the producer's, and the
 * data mapped twice. libbpf's consumer hands over everything there is, ring after ring; merging
 * rings by time needs to look at a record without taking it, and to give space back in batches.
 *
 * This is also the edge where a record is checked: what ring_peek() returns has lengths that agree
 * with each other, and nothing behind it checks them again.
 */
#include "record/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "prof_abi.h"

int ring_open(int map_fd, size_t sz, struct ring *r)
{
	size_t page = sysconf(_SC_PAGESIZE);
	uint8_t *p;

	*r = (struct ring){ .sz = sz };
	p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	r->consumer = (unsigned long *)p;
	p = mmap(NULL, page + 2 * sz, PROT_READ, MAP_SHARED, map_fd, page);
	if (p == MAP_FAILED) {
		int err = -errno;

		munmap(r->consumer, page);
		r->consumer = NULL;
		return err;
	}
	r->producer = (const unsigned long *)p;
	r->data = p + page;
	r->pos = r->published = __atomic_load_n(r->consumer, __ATOMIC_ACQUIRE);
	return 0;
}

void ring_close(struct ring *r)
{
	size_t page = sysconf(_SC_PAGESIZE);

	if (!r->consumer)
		return;
	munmap(r->consumer, page);
	munmap((void *)r->producer, page + 2 * r->sz);
	*r = (struct ring){ 0 };
}

size_t ring_fill(const struct ring *r)
{
	return __atomic_load_n(r->producer, __ATOMIC_ACQUIRE) - r->pos;
}

static size_t frame_size(uint32_t hdr)
{
	uint32_t len = hdr & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

	return (len + BPF_RINGBUF_HDR_SZ + 7) & ~7UL;
}

static bool well_formed(const struct prof_rec *rec, size_t len)
{
	size_t need;

	if (len < sizeof(*rec) || rec->size > len)
		return false;
	need = sizeof(*rec) + ((rec->raw_len + 7UL) & ~7UL) +
	       8UL * (rec->kstack_cnt + rec->ustack_cnt);
	return need <= rec->size;
}

/* Positions or a length that cannot be leave no way to find the next record but the end. How many
 * were in between cannot be known: the account stays open. */
static void give_up(struct ring *r, unsigned long end)
{
	r->malformed++;
	r->torn = true;
	r->pos = end;
}

const struct prof_rec *ring_peek(struct ring *r)
{
	unsigned long end = __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);
	const uint32_t *hdr;
	uint32_t word, len;

	if (end - r->pos > r->sz) {
		give_up(r, end);
		return NULL;
	}
	if (end - r->pos > r->fill_max)
		r->fill_max = end - r->pos;
	while (r->pos < end) {
		hdr = (const uint32_t *)(r->data + (r->pos & (r->sz - 1)));
		word = __atomic_load_n(hdr, __ATOMIC_ACQUIRE);
		if (word & BPF_RINGBUF_BUSY_BIT)
			return NULL;
		if (frame_size(word) > end - r->pos) {
			give_up(r, end);
			return NULL;
		}
		len = word & ~BPF_RINGBUF_DISCARD_BIT;
		if (!(word & BPF_RINGBUF_DISCARD_BIT)) {
			const void *rec = (const uint8_t *)hdr + BPF_RINGBUF_HDR_SZ;

			if (well_formed(rec, len))
				return rec;
			r->malformed++;
		}
		r->pos += frame_size(word);
	}
	return NULL;
}

void ring_pass(struct ring *r)
{
	const uint32_t *hdr = (const uint32_t *)(r->data + (r->pos & (r->sz - 1)));

	r->pos += frame_size(*hdr);
}

void ring_publish(struct ring *r)
{
	if (r->pos == r->published)
		return;
	__atomic_store_n(r->consumer, r->pos, __ATOMIC_RELEASE);
	r->published = r->pos;
}
