// SPDX-License-Identifier: BSD-2-Clause
/*
 * A side-band ring of any content, read record by record, and the tasks that result from it.
 *
 * The input begins with the size of the ring and the place where reading starts; then come portions, each a
 * length and that number of bytes, as if the kernel had written them between two reads of the ring. The ring's
 * reader is included as a whole, under another name, so that its memory is ours; nothing else of it is touched.
 * Asserted is what must hold for any bytes: the reader needs at most as many steps for a portion as it can
 * contain records, returns all space, and returns no malformed record.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define perf_ring_close sideband_close
#define perf_ring_cpu sideband_cpu
#define perf_ring_fd sideband_fd
#define perf_ring_is_filled sideband_is_filled
#define perf_ring_is_looked sideband_is_looked
#define perf_ring_peek sideband_look
#define perf_ring_next sideband_next
#define perf_ring_open sideband_open
#define perf_ring_renew sideband_renew
#include "kernel/perf_ring.c"

#include "kernel/perf_side.h"
#include "record/process/tasks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

enum { SMALLEST = 16384, SIZES = 3, TASKS_MAX = 64 }; /* twice the largest record, and more */

struct input {
	const uint8_t *at;
	size_t sz;
};

static size_t next_number(struct input *in)
{
	size_t v = 0;

	for (int i = 0; i < 2 && in->sz; i++) {
		v = v << 8 | *in->at++;
		in->sz--;
	}
	return v;
}

/* As the kernel writes: never more than there is room for. */
static size_t write_portion(struct perf_ring *r, uint8_t *ring, struct input *in)
{
	uint64_t head = r->page->data_head;
	size_t room = r->data_sz - (head - r->page->data_tail), len = next_number(in);

	len = len < in->sz ? len : in->sz;
	len = len < room ? len : room;
	for (size_t i = 0; i < len; i++)
		ring[(head + i) & (r->data_sz - 1)] = in->at[i];
	in->at += len;
	in->sz -= len;
	r->page->data_head = head + len;
	return len;
}

static void check_record(const struct perf_side *side, size_t ring_sz)
{
	assert(side->name && strlen(side->name) == side->name_len);
	assert(side->name_len < ring_sz);
	assert(side->build_id_sz <= PERF_BUILD_ID_MAX);
	assert(side->type <= PERF_SIDE_OTHER);
}

/* Records come to the tasks in order of time, and of a few pids, so that they meet. */
static void send_records(struct tasks *tasks, struct perf_side *side, uint64_t time)
{
	side->time = time;
	side->pid %= TASKS_MAX;
	side->tid %= TASKS_MAX;
	side->ppid %= TASKS_MAX;
	side->ptid %= TASKS_MAX;
	tasks_side(tasks, side);
}

static void read_portion(struct perf_ring *r, size_t len, struct tasks *tasks, uint64_t *time)
{
	struct perf_side side;
	size_t steps = 0;
	int got;

	while ((got = sideband_next(r, &side)) != 0) {
		assert(++steps <= len / sizeof(struct perf_event_header) + 2);
		if (got < 0)
			continue;
		check_record(&side, r->data_sz);
		send_records(tasks, &side, ++*time);
	}
	assert(r->page->data_tail == r->page->data_head);
}

/* Reading ahead returns the same, and returns no space. */
static void check_portion(struct perf_ring *r, size_t len)
{
	uint64_t tail = r->page->data_tail;
	struct perf_side side;
	size_t steps = 0;
	int got;

	while ((got = sideband_look(r, &side)) != 0) {
		assert(++steps <= len / sizeof(struct perf_event_header) + 2);
		if (got > 0)
			check_record(&side, r->data_sz);
	}
	assert(r->page->data_tail == tail);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct input in = { .at = data, .sz = sz };
	size_t ring_sz = (size_t)SMALLEST << next_number(&in) % SIZES;
	struct perf_event_mmap_page *page = calloc(1, sizeof(*page));
	struct perf_ring *r = calloc(1, sizeof(*r));
	struct tasks *tasks = tasks_new(true);
	uint8_t *ring = calloc(1, ring_sz);
	uint64_t time = 1;
	size_t len;

	r->page = page;
	r->data = ring;
	r->data_sz = ring_sz;
	page->data_head = page->data_tail = next_number(&in);
	r->given.tail = r->given.head = page->data_head;
	r->looked.tail = r->looked.head = page->data_head;
	while (in.sz) {
		len = write_portion(r, ring, &in);
		if (len & 1)
			check_portion(r, len);
		read_portion(r, len, tasks, &time);
	}
	tasks_expire(tasks, time + 10000000000);
	tasks_free(tasks);
	free(ring);
	free(r);
	free(page);
	return 0;
}
