// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory for an encoder's frames. It does not know what they are.
 *
 * Small buffers come from malloc(). A stream that is encoded in memory fills its buffer once, so the
 * first access to each page costs more than the encoding of the events on it. Large buffers are
 * therefore mappings that begin at a multiple of the size of a huge page, and the kernel is asked for
 * huge pages: one page fault for 2 MiB. Growing moves page tables and copies nothing.
 */
#include "frame_buf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Bytes of the mapping of a buffer of sz bytes: whole huge pages. 0: too large */
static size_t mapped_size(size_t sz)
{
	return (sz + FRAME_BUF_MAPPED - 1) & ~(FRAME_BUF_MAPPED - 1);
}

static void unmap(uint8_t *from, const uint8_t *to)
{
	if (from != to)
		munmap(from, (size_t)(to - from));
}

/* Address space of sz bytes that begins at a multiple of a huge page; NULL if there is none. */
static uint8_t *map_aligned(size_t sz, int protection)
{
	uint8_t *map, *start;

	if (!sz || sz > SIZE_MAX - FRAME_BUF_MAPPED)
		return NULL;
	map = mmap(NULL, sz + FRAME_BUF_MAPPED, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	start = (uint8_t *)mapped_size((uintptr_t)map);
	unmap(map, start);
	unmap(start + sz, map + sz + FRAME_BUF_MAPPED);
	return start;
}

static uint8_t *map_new(size_t sz)
{
	uint8_t *buf = map_aligned(sz, PROT_READ | PROT_WRITE);

	/* Without huge pages everything works, only slower. */
	if (buf)
		madvise(buf, sz, MADV_HUGEPAGE);
	return buf;
}

static uint8_t *move_mapping(uint8_t *old, size_t old_sz, size_t sz)
{
	/* PROT_NONE: the kernel's limit of memory counts only the added bytes. */
	uint8_t *buf = map_aligned(sz, PROT_NONE);
	void *anywhere;

	if (buf && mremap(old, old_sz, sz, MREMAP_MAYMOVE | MREMAP_FIXED, buf) != MAP_FAILED)
		return buf;
	/*
	 * Not enough address space for both, or for one more mapping: huge pages matter less. @buf stays, because
	 * older kernels unmap it before they fail, and then it may be another thread's.
	 */
	anywhere = mremap(old, old_sz, sz, MREMAP_MAYMOVE);
	return anywhere == MAP_FAILED ? NULL : anywhere;
}

void *frame_buf_grow(void *old, size_t old_sz, size_t sz)
{
	uint8_t *buf;

	if (sz < FRAME_BUF_MAPPED)
		return realloc(old, sz);
	if (old_sz >= FRAME_BUF_MAPPED)
		return move_mapping(old, mapped_size(old_sz), mapped_size(sz));
	buf = map_new(mapped_size(sz));
	if (!buf)
		return NULL;
	if (old_sz)
		memcpy(buf, old, old_sz);
	free(old);
	return buf;
}

void frame_buf_free(void *buf, size_t sz)
{
	if (sz < FRAME_BUF_MAPPED)
		free(buf);
	else
		munmap(buf, mapped_size(sz));
}
