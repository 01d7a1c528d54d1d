/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Process metadata of one CPU: a dummy perf event and its ring
 *
 * The kernel writes at data_head; we read at our own position and publish it as data_tail. A record
 * that wraps around the end of the ring is copied first, so decoders do not handle wrapping. The
 * record size comes from shared memory and is checked against the amount that the kernel wrote.
 * After an invalid size the next record cannot be found: the rest is skipped, and the result is
 * -EBADMSG.
 */
#include "kernel/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"

/* A mapping with the longest path; symbol records of several listeners can be nearly as long. */
enum { RECORD_MAX = 8192 };

/* Position of one of the two readers */
struct reading {
	uint64_t head; /* as last read */
	uint64_t tail; /* next record */
	uint64_t wrapped[65536 / 8]; /* the largest possible record */
};

struct perf_ring {
	int fd; /* the first event, which owns the ring */
	int later_fd; /* the event that fills the ring since the CPU came back online */
	uint32_t cpu;
	struct perf_event_mmap_page *page; /* MAP_FAILED until mapped */
	size_t map_sz;
	const uint8_t *data;
	size_t data_sz; /* a power of two */
	struct reading given, looked; /* looked is at most briefly before given */
	/* records may be missing after head: no room for the largest record, or no event */
	bool full;
};

static int open_dummy(uint32_t cpu, bool build_id, bool ksymbol, int *fd)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.sample_period = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.ksymbol = ksymbol,
		.build_id = build_id,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = clock_mono_id(),
		/* Each record wakes the poller: stack unwinding may depend on it. */
		.watermark = 1,
		.wakeup_watermark = 1,
	};
	long ret = syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (ret < 0)
		return -errno;
	*fd = (int)ret;
	return 0;
}

static int map_ring(struct perf_ring *r, size_t ring_sz)
{
	size_t page_sz = sysconf(_SC_PAGESIZE);
	size_t sz = page_sz;

	while (sz < ring_sz && sz < (1UL << 30))
		sz *= 2;
	r->page = mmap(NULL, page_sz + sz, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (r->page == MAP_FAILED)
		return -errno;
	r->map_sz = page_sz + sz;
	r->data = (const uint8_t *)r->page + page_sz;
	r->data_sz = sz;
	return 0;
}

static int open_event(uint32_t cpu, int *fd)
{
	int err = open_dummy(cpu, true, true, fd);

	if (err == -EINVAL) /* build-ids came with 5.12, ksymbol with 5.1 */
		err = open_dummy(cpu, false, true, fd);
	if (err == -EINVAL)
		err = open_dummy(cpu, false, false, fd);
	return err;
}

int perf_ring_open(uint32_t cpu, size_t ring_sz, struct perf_ring **out)
{
	struct perf_ring *r = xcalloc(1, sizeof(*r));
	int err;

	r->fd = r->later_fd = -1;
	r->cpu = cpu;
	r->page = MAP_FAILED;
	err = open_event(cpu, &r->fd);
	if (!err)
		err = map_ring(r, ring_sz);
	if (err) {
		perf_ring_close(r);
		return err;
	}
	*out = r;
	return 0;
}

int perf_ring_renew(struct perf_ring *r)
{
	int fd, err = open_event(r->cpu, &fd);

	if (err)
		return err;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd)) {
		err = -errno;
		close(fd);
		return err;
	}
	if (r->later_fd >= 0)
		close(r->later_fd);
	r->later_fd = fd;
	r->full = true;
	return 0;
}

void perf_ring_close(struct perf_ring *r)
{
	if (!r)
		return;
	if (r->page != MAP_FAILED)
		munmap(r->page, r->map_sz);
	if (r->later_fd >= 0)
		close(r->later_fd);
	if (r->fd >= 0)
		close(r->fd);
	free(r);
}

uint32_t perf_ring_cpu(const struct perf_ring *r)
{
	return r->cpu;
}

int perf_ring_fd(const struct perf_ring *r)
{
	return r->fd;
}

bool perf_ring_is_filled(const struct perf_ring *r, size_t parts)
{
	return __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE) - r->given.tail >
	       r->data_sz / parts;
}

static void copy_out(const struct perf_ring *r, uint64_t pos, void *to, size_t sz)
{
	size_t off = pos & (r->data_sz - 1);
	size_t first = r->data_sz - off < sz ? r->data_sz - off : sz;

	memcpy(to, r->data + off, first);
	memcpy((uint8_t *)to + first, r->data, sz - first);
}

static void load_head(const struct perf_ring *r, struct reading *at)
{
	at->head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

/* The record at the tail, contiguous; NULL if its size is invalid */
static const uint8_t *get_record(const struct perf_ring *r, struct reading *at, size_t *sz)
{
	struct perf_event_header header = { .size = 0 };
	size_t off = at->tail & (r->data_sz - 1);

	if (at->head - at->tail >= sizeof(header))
		copy_out(r, at->tail, &header, sizeof(header));
	if (header.size < sizeof(header) || header.size > at->head - at->tail)
		return NULL;
	*sz = header.size;
	if (off + header.size <= r->data_sz)
		return r->data + off;
	copy_out(r, at->tail, at->wrapped, header.size);
	return (const uint8_t *)at->wrapped;
}

/* Decodes the record at the tail and moves the tail past it: 1 or -EBADMSG. */
static int pass_record(const struct perf_ring *r, struct reading *at, struct perf_side *out)
{
	const uint8_t *rec;
	size_t sz;

	rec = get_record(r, at, &sz);
	if (!rec) {
		at->tail = at->head;
		return -EBADMSG;
	}
	at->tail += sz;
	return perf_side_parse(rec, sz, out) ? -EBADMSG : 1;
}

int perf_ring_next(struct perf_ring *r, struct perf_side *out)
{
	struct reading *at = &r->given;

	/* The previous record is no longer used: give its space back to the kernel. */
	__atomic_store_n(&r->page->data_tail, at->tail, __ATOMIC_RELEASE);
	if (r->looked.tail < at->tail)
		r->looked.tail = at->tail;
	if (at->tail == at->head && r->full) {
		r->full = false;
		*out = (struct perf_side){ .type = PERF_SIDE_FULL, .cpu = r->cpu, .name = "" };
		return 1;
	}
	if (at->tail == at->head) {
		load_head(r, at);
		/* The kernel reports dropped records only after there is room again. */
		r->full = at->head - at->tail + RECORD_MAX > r->data_sz;
	}
	if (at->tail == at->head)
		return 0;
	return pass_record(r, at, out);
}

bool perf_ring_is_looked(const struct perf_ring *r)
{
	return r->looked.tail >= r->given.tail;
}

int perf_ring_peek(struct perf_ring *r, struct perf_side *out)
{
	if (r->looked.head <= r->looked.tail)
		load_head(r, &r->looked);
	return r->looked.head == r->looked.tail ? 0 : pass_record(r, &r->looked, out);
}
