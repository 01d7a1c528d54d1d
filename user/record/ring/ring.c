// SPDX-License-Identifier: BSD-2-Clause
/*
 * ring.c - our own consumer of a BPF ring buffer
 *
 * The kernel's ring is a page with the consumer's position, a page with the producer's, and the data mapped twice.
 * libbpf's consumer passes on all records of one ring after the other. Merging rings by time needs to peek at a
 * record, and to return space in batches.
 *
 * Records of hot events come in batches. Programs write other records, such as samples, one by one while a batch is
 * collected, so a batch is older than the records before it. Therefore each CPU's batches have a separate reader,
 * which skips all other records. The reader of single records skips batches. An unfinished batch is read as far as
 * it is written (prof_abi.h: struct prof_stage), so that no record is older than the last pass. Space returns to
 * the kernel when all readers have passed it.
 *
 * If another program or a sample interrupts a program, the outer record follows the inner one although its time is
 * earlier. So the reader scans a short distance ahead in single records and returns late ones first. Their space is
 * still returned in the order of the ring.
 *
 * Programs omit the frames of stacks that they have sent before. The reader of batches puts them back: later
 * stages see whole stacks only.
 *
 * Records are validated here: the lengths in a record that ring_peek() returns agree with each other, and later
 * stages do not check them again.
 */
#include "record/ring/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "prof_abi.h"
#include "prof_rec.h"
#include "record/ring/stack_repeats.h"

enum {
	POLLS_MAX = 256, /* polls of a frame that a program is about to finish */
	AHEAD_BYTES = 16384, /* scanned for late records */
	CACHE_LINE = 64,
	PREFETCH_BYTES = 1024, /* some records ahead */
};

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
	r->pos = __atomic_load_n(r->consumer, __ATOMIC_ACQUIRE);
	return 0;
}

void ring_open_staged(struct ring *r, struct prof_stage *stage, uint32_t cpu, struct ring *out)
{
	*out = (struct ring){
		.data = r->data,
		.consumer = r->consumer,
		.producer = r->producer,
		.sz = r->sz,
		.pos = r->pos,
		.next = r->next ? r->next : r,
		.stage = stage,
		.copy = xmalloc(PROF_STAGE_BYTES),
		.cpu = cpu,
		.repeats = stack_repeats_new(cpu),
	};
	r->next = out;
}

void ring_close(struct ring *r)
{
	size_t page = sysconf(_SC_PAGESIZE);

	if (r->consumer && !r->stage) {
		munmap(r->consumer, page);
		munmap((void *)r->producer, page + 2 * r->sz);
	}
	free(r->copy);
	stack_repeats_free(r->repeats);
	*r = (struct ring){ 0 };
}

size_t ring_fill(const struct ring *r)
{
	return __atomic_load_n(r->producer, __ATOMIC_ACQUIRE) - r->pos;
}

size_t ring_backlog(const struct ring *r)
{
	unsigned long from = __atomic_load_n(r->consumer, __ATOMIC_ACQUIRE);
	unsigned long to = __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);

	return to - from;
}

static const uint32_t *header_of(const struct ring *r, unsigned long pos)
{
	return (const uint32_t *)(r->data + (pos & (r->sz - 1)));
}

static const uint32_t *header_at(const struct ring *r)
{
	return header_of(r, r->pos);
}

static const void *frame_of(const struct ring *r, unsigned long pos)
{
	return (const uint8_t *)header_of(r, pos) + BPF_RINGBUF_HDR_SZ;
}

static size_t frame_size(uint32_t hdr)
{
	uint32_t len = hdr & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

	return (len + BPF_RINGBUF_HDR_SZ + 7) & ~7UL;
}

static inline bool well_formed(const struct ring *r, const struct prof_rec *rec, size_t len)
{
	if (len < sizeof(*rec) || rec->size > len)
		return false;
	if (rec->flags & PROF_REC_NUMBERED)
		return r->repeats && stack_repeats_size(rec) == rec->size;
	return prof_rec_stack_offset(rec) + 8UL * (rec->kstack_cnt + rec->ustack_cnt) <= rec->size;
}

/* Records were skipped: the numbers of stacks are valid no more. */
static void restart_repeats(struct ring *r)
{
	if (!r->repeats)
		return;
	stack_repeats_forget(r->repeats);
	__atomic_fetch_add(&r->stage->repeat_epoch, 1, __ATOMIC_RELAXED);
}

/* Starts reading a batch record by record. */
static void begin_batch(struct ring *r, const void *at, size_t sz, uint16_t cnt, bool in_ring)
{
	r->expanded = NULL;
	r->at = at;
	r->end = r->at + sz;
	r->left = cnt;
	r->in_ring = in_ring;
}

/*
 * Impossible positions or lengths: skip to the end, because the next record cannot be found. The number of skipped
 * records is unknown, so event accounting stays open. Another reader may skip this way between ring_peek() and
 * ring_pass(): at is then NULL, or no frame is at peeked, and ring_pass() does nothing.
 */
static void skip_to_end(struct ring *r, unsigned long end)
{
	struct ring *other = r;

	r->malformed++;
	r->torn = true;
	do {
		if (other->in_ring)
			begin_batch(other, NULL, 0, 0, false);
		other->pos = end;
		other->peeked = end + 1;
		other->late_cnt = 0;
		restart_repeats(other);
		other = other->next;
	} while (other && other != r);
}

enum found { FOUND_END, FOUND_BUSY, FOUND_FRAME };

/* The frame at pos, with its header. Or the frame is being written, or there is none yet. */
static enum found find_frame(struct ring *r, uint32_t *hdr)
{
	unsigned long end = __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);

	if (end - r->pos > r->sz) {
		skip_to_end(r, end);
		return FOUND_END;
	}
	if (end - r->pos > r->fill_max)
		r->fill_max = end - r->pos;
	if (r->pos == end)
		return FOUND_END;
	*hdr = __atomic_load_n(header_at(r), __ATOMIC_ACQUIRE);
	if (*hdr & BPF_RINGBUF_BUSY_BIT)
		return FOUND_BUSY;
	if (frame_size(*hdr) > end - r->pos) {
		skip_to_end(r, end);
		return FOUND_END;
	}
	return FOUND_FRAME;
}

static bool is_batch_of(const struct ring *r, const struct prof_batch *batch, size_t len)
{
	return r->stage && len >= sizeof(*batch) && batch->kind == PROF_REC_BATCH &&
	       batch->size == sizeof(*batch) && batch->cpu == r->cpu;
}

static bool is_anothers(const struct ring *r, const void *frame, size_t len)
{
	const struct ring *other;

	for (other = r->next; other && other != r; other = other->next)
		if (is_batch_of(other, frame, len))
			return true;
	return false;
}

/* ---- late records -------------------------------------------------------------------------------- */

static struct ring_late *find_late(struct ring *r, unsigned long pos)
{
	unsigned int i;

	for (i = 0; i < r->late_cnt; i++)
		if (r->late[i].pos == pos)
			return &r->late[i];
	return NULL;
}

/* Passes the frame at pos, and removes it from the late records. */
static void step(struct ring *r, uint32_t hdr)
{
	struct ring_late *late = find_late(r, r->pos);

	if (late)
		*late = r->late[--r->late_cnt];
	r->pos += frame_size(hdr);
}

static void note_time(struct ring *r, uint64_t ts)
{
	if (ts >= r->newest)
		r->newest = ts;
	else
		r->late[r->late_cnt++] = (struct ring_late){ .pos = r->seen, .ts = ts };
}

/* Stops when the list of late records is full. */
static void scan_ahead(struct ring *r)
{
	unsigned long end = __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);
	const struct prof_rec *rec;
	uint32_t hdr;

	if ((long)(r->seen - r->pos) < 0)
		r->seen = r->pos;
	while (r->late_cnt < RING_LATE_MAX && r->seen - r->pos < AHEAD_BYTES && r->seen != end &&
	       end - r->seen <= r->sz) {
		hdr = __atomic_load_n(header_of(r, r->seen), __ATOMIC_ACQUIRE);
		if (hdr & BPF_RINGBUF_BUSY_BIT || frame_size(hdr) > end - r->seen)
			break;
		rec = frame_of(r, r->seen);
		if (!(hdr & BPF_RINGBUF_DISCARD_BIT) && well_formed(r, rec, hdr))
			note_time(r, rec->ts);
		r->seen += frame_size(hdr);
	}
}

/* ---- single records ------------------------------------------------------------------------------ */

/* The first record that was not passed; skips other frames. */
static const struct prof_rec *find_unpassed(struct ring *r)
{
	const struct ring_late *late;
	const void *rec;
	uint32_t hdr;

	for (; find_frame(r, &hdr) == FOUND_FRAME; step(r, hdr)) {
		if (hdr & BPF_RINGBUF_DISCARD_BIT)
			continue;
		rec = frame_of(r, r->pos);
		late = find_late(r, r->pos);
		if (!well_formed(r, rec, hdr))
			r->malformed += !is_anothers(r, rec, hdr);
		else if (!late || !late->passed)
			return rec;
	}
	return NULL;
}

static const struct prof_rec *peek_single(struct ring *r)
{
	const struct prof_rec *first = find_unpassed(r);
	uint64_t ts;
	unsigned int i;

	if (!first)
		return NULL;
	scan_ahead(r);
	r->peeked = r->pos;
	ts = first->ts;
	for (i = 0; i < r->late_cnt; i++) {
		if (r->late[i].passed || r->late[i].ts >= ts)
			continue;
		ts = r->late[i].ts;
		r->peeked = r->late[i].pos;
	}
	return frame_of(r, r->peeked);
}

static void pass_single(struct ring *r)
{
	struct ring_late *late = find_late(r, r->peeked);

	if (r->peeked == r->pos)
		step(r, *header_at(r));
	else if (late)
		late->passed = true;
}

/* ---- batches ------------------------------------------------------------------------------------- */

/* Goes to the next batch of this CPU, if there is one. */
static enum found find_batch(struct ring *r, const struct prof_batch **out, uint32_t *len)
{
	enum found found;
	uint32_t hdr;

	while ((found = find_frame(r, &hdr)) == FOUND_FRAME) {
		*out = frame_of(r, r->pos);
		*len = hdr;
		if (!(hdr & BPF_RINGBUF_DISCARD_BIT) && is_batch_of(r, *out, hdr))
			break;
		r->pos += frame_size(hdr);
	}
	return found;
}

/* ---- unfinished batches -------------------------------------------------------------------------- */

enum copied { COPIED_NOTHING, COPIED_RECORDS, COPIED_TOO_LATE };

/* Copies the records collected so far. COPIED_TOO_LATE: a program is passing them on, or has just done so. */
static enum copied copy_staged(struct ring *r)
{
	__u64 from = __atomic_load_n(&r->stage->taken, __ATOMIC_ACQUIRE);
	__u64 to = __atomic_load_n(&r->stage->head, __ATOMIC_ACQUIRE);
	size_t at = PROF_STAGE_POS(from), end = PROF_STAGE_POS(to);

	if (PROF_STAGE_SEQ(from) != PROF_STAGE_SEQ(to))
		return COPIED_TOO_LATE;
	if (end <= at || end > PROF_STAGE_BYTES)
		return COPIED_NOTHING;
	memcpy(r->copy, r->stage->data + at, end - at);
	/* orders all reads before it */
	if (!__atomic_compare_exchange_n(&r->stage->taken, &from, to, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED))
		return COPIED_TOO_LATE;
	r->copy_sz = end - at;
	r->copy_seq = PROF_STAGE_SEQ(to);
	r->copy_cnt = PROF_STAGE_CNT(to) - PROF_STAGE_CNT(from);
	return COPIED_RECORDS;
}

/* If a batch has fewer records than its header says, the missing ones are lost. */
static void finish(struct ring *r)
{
	if (r->at < r->end && !r->left) {
		r->torn = true;
		r->malformed++;
	}
	r->malformed += r->left;
	if (r->at < r->end || r->left)
		restart_repeats(r);
	if (r->in_ring)
		r->pos += frame_size(*header_at(r));
	else
		r->copy_sz = 0;
	begin_batch(r, NULL, 0, 0, false);
}

/*
 * A copy precedes the rest of the same batch, and follows earlier batches. While a frame is being written, which
 * takes a program less than a microsecond, these batches are not known.
 */
static bool next_piece(struct ring *r)
{
	const struct prof_batch *batch;
	unsigned int polls;
	enum found found;
	enum copied copied;
	uint32_t len;

	for (polls = 0; polls < POLLS_MAX; polls++) {
		found = find_batch(r, &batch, &len);
		if (found == FOUND_BUSY)
			continue;
		if (found == FOUND_FRAME &&
		    (!r->copy_sz || (int32_t)(batch->seq - r->copy_seq) < 0)) {
			begin_batch(r, batch + 1, len - sizeof(*batch), batch->cnt, true);
			return true;
		}
		if (r->copy_sz) {
			begin_batch(r, r->copy, r->copy_sz, r->copy_cnt, false);
			return true;
		}
		copied = copy_staged(r);
		if (copied == COPIED_NOTHING)
			break;
	}
	return false;
}

/* Another CPU wrote the records, so each of their cache lines is a miss that takes longer than their translation. */
static void prefetch(const uint8_t *from, size_t sz)
{
	const uint8_t *p;

	for (p = from; p < from + sz; p += CACHE_LINE)
		__builtin_prefetch(p);
}

static const struct prof_rec *expand(struct ring *r, const struct prof_rec *rec)
{
	if (!r->expanded)
		r->expanded = stack_repeats_expand(r->repeats, rec);
	return r->expanded;
}

static const struct prof_rec *peek_staged(struct ring *r)
{
	const struct prof_rec *rec;

	while (r->at || next_piece(r)) {
		rec = (const void *)r->at;
		if (r->left && well_formed(r, rec, r->end - r->at) && rec->size % 8 == 0) {
			prefetch(r->at + PREFETCH_BYTES, rec->size);
			return rec->flags & PROF_REC_NUMBERED ? expand(r, rec) : rec;
		}
		finish(r);
	}
	return NULL;
}

static void pass_staged(struct ring *r)
{
	if (!r->at)
		return;
	r->at += ((const struct prof_rec *)r->at)->size;
	r->left--;
	r->expanded = NULL;
	if (r->at == r->end)
		finish(r);
}

/* ---- both ---------------------------------------------------------------------------------------- */

const struct prof_rec *ring_peek(struct ring *r)
{
	return r->stage ? peek_staged(r) : peek_single(r);
}

void ring_pass(struct ring *r)
{
	if (r->stage)
		pass_staged(r);
	else
		pass_single(r);
}

const struct prof_rec *ring_next(struct ring *r)
{
	ring_pass(r);
	return ring_peek(r);
}

/* Skips frames of other readers. */
static void skip(struct ring *r)
{
	const struct prof_batch *batch;
	uint32_t len;

	if (!r->stage)
		find_unpassed(r);
	else if (!r->in_ring)
		find_batch(r, &batch, &len);
}

void ring_publish(struct ring *r)
{
	unsigned long pos = r->pos;
	struct ring *other;

	for (other = r->next; other && other != r; other = other->next) {
		skip(other);
		if ((long)(other->pos - pos) < 0)
			pos = other->pos;
	}
	if (pos != *r->consumer)
		__atomic_store_n(r->consumer, pos, __ATOMIC_RELEASE);
}
