/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_TESTS_RECORD_MEMBUF_H
#define D9_TESTS_RECORD_MEMBUF_H

/* A BPF ring buffer in plain memory, and the kernel's side of it. */
#include <criterion/criterion.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/ring/ring.h"

struct membuf {
	struct ring ring;
	uint8_t *data;
	unsigned long producer, consumer;
};

static inline void membuf_init(struct membuf *m, size_t sz)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);
	int i;

	cr_assert(fd >= 0 && !ftruncate(fd, sz));
	m->data = mmap(NULL, 2 * sz, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(m->data, MAP_FAILED);
	for (i = 0; i < 2; i++)
		cr_assert_neq(mmap(m->data + i * sz, sz, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_FIXED, fd, 0),
			      MAP_FAILED);
	close(fd);
	m->producer = m->consumer = 0;
	m->ring = (struct ring){
		.data = m->data,
		.consumer = &m->consumer,
		.producer = &m->producer,
		.sz = sz,
	};
}

static inline void membuf_fini(struct membuf *m)
{
	munmap(m->data, 2 * m->ring.sz);
}

static inline bool membuf_has_room(const struct membuf *m, size_t len)
{
	size_t frame = (len + BPF_RINGBUF_HDR_SZ + 7) & ~7UL;

	return m->producer + frame - __atomic_load_n(&m->consumer, __ATOMIC_ACQUIRE) <= m->ring.sz;
}

static inline void membuf_set_header(struct membuf *m, uint32_t at, uint32_t word)
{
	memcpy(m->data + at, &word, sizeof(word));
}

/* Writes a record and returns where its header is. */
static inline uint32_t membuf_put(struct membuf *m, const void *rec, size_t len, uint32_t bits)
{
	uint32_t at = m->producer & (m->ring.sz - 1);

	cr_assert(membuf_has_room(m, len));
	memcpy(m->data + at + BPF_RINGBUF_HDR_SZ, rec, len);
	membuf_set_header(m, at, len | bits);
	__atomic_store_n(&m->producer, m->producer + ((len + BPF_RINGBUF_HDR_SZ + 7) & ~7UL),
			 __ATOMIC_RELEASE);
	return at;
}

#endif /* D9_TESTS_RECORD_MEMBUF_H */
