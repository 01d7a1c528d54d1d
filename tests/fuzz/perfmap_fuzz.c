// SPDX-License-Identifier: BSD-2-Clause
/*
 * A perf map from an untrusted writer: read at once, and again as it grows, in slices. The first byte selects
 * how it grows. Asserted: both have the same entries, and entries contain the requested address.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/elf/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_on(struct perfmap *p, int fd)
{
	int err;

	do {
		perfmap_slice(p, 0);
		err = perfmap_read(p, fd);
	} while (err == -EAGAIN);
	assert(!err);
}

static void check_same(const struct perfmap *a, const struct perfmap *b, uint64_t addr)
{
	struct perfmap_entry ea, eb;
	int found = perfmap_find(a, addr, &ea);

	assert(found == perfmap_find(b, addr, &eb));
	if (!found)
		return;
	assert(addr >= ea.start && addr - ea.start < ea.size);
	assert(ea.start == eb.start && ea.size == eb.size && ea.name_len == eb.name_len);
	assert(ea.name_len <= PERFMAP_NAME_MAX && !memcmp(ea.name, eb.name, ea.name_len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfmap *whole = perfmap_new(UINT64_MAX), *grown = perfmap_new(UINT64_MAX);
	int fd = memfd_create("map", MFD_CLOEXEC), other = memfd_create("map", MFD_CLOEXEC);
	size_t pos, step = size ? data[0] * 4ul + 1 : 1;
	uint64_t addr;

	assert(fd >= 0 && other >= 0);
	assert(write(fd, data, size) == (ssize_t)size);
	assert(!perfmap_read(whole, fd));
	for (pos = 0; pos < size; pos += step) {
		size_t n = size - pos < step ? size - pos : step;

		assert(write(other, data + pos, n) == (ssize_t)n);
		read_on(grown, other);
	}
	for (addr = 0; addr < 0x200; addr++)
		check_same(whole, grown, addr);
	for (addr = 1; addr; addr <<= 1) {
		check_same(whole, grown, addr);
		check_same(whole, grown, addr - 1);
	}
	perfmap_free(whole);
	perfmap_free(grown);
	close(fd);
	close(other);
	return 0;
}
